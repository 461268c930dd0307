"""An observer on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from waymark_nav import core, messages as m
from waymark_nav._feed import Feed, Source
from waymark_nav._peer import SOFTWARE, AsyncPeer, jitter, speed_percent
from waymark_nav.core import Closed, CountersRead, Entry, Event, VehicleState


class Observer(AsyncPeer[core.Observer]):
    """Sees who is connected, which sessions and requests there are, and what crosses; takes no part in it.

        async with Observer("monitor", "unix:/run/waymark/observer.sock") as observer:
            async for entry in observer.entries():
                print(entry.message)

    The gateway must have a listener for observers; there is none by default. It reconnects after a loss and gets what it missed.
    """

    def __init__(
        self,
        observer: str,
        address: str,
        *,
        state: bool = True,
        events: bool = True,
        frames: bool = False,
        vehicles: Iterable[str] = (),
        clients: Iterable[str] = (),
        sessions: Iterable[int] = (),
        kinds: Iterable[m.ObservedKind] = (),
        display_name: str = "",
        credential: bytes = b"",
        keepalive_milliseconds: int = 0,
        receive_frame_bytes_max: int = 0,
        reconnection: core.Reconnection | None = None,
    ) -> None:
        """An observer; raises Rejection if the gateway would refuse its Hello or what it wants.

        state, events, frames: what it wants.
        vehicles, clients, sessions, kinds: only what concerns these; empty: everything.
        """
        wanted = m.Observe(
            vehicle_ids=tuple(vehicles),
            client_ids=tuple(clients),
            session_ids=tuple(sessions),
            kinds=tuple(kinds),
            state=state,
            events=events,
            frames=frames,
        )
        settings = core.ObserverSettings(
            observer=observer,
            wanted=wanted,
            display_name=display_name,
            software=SOFTWARE,
            credential=credential,
            keepalive_milliseconds=keepalive_milliseconds,
            receive_frame_bytes_max=receive_frame_bytes_max,
            reconnection=reconnection or core.Reconnection(),
        )
        super().__init__(core.Observer(settings, jitter=jitter), address)
        self._entries: Source[Entry] = Source(lambda entry: None, lambda entry, count: replace(entry, missed=count), _size)
        self._counters: dict[int, list[asyncio.Future[m.Counters]]] = {}
        self._completing: set[asyncio.Future[None]] = set()

    def entries(self) -> Feed[Entry]:
        """What it is told from now on, for one more reader."""
        return self._entries.open()

    @property
    def visibility(self) -> m.Visibility:
        """What the gateway lets it see; UNSPECIFIED without a connection."""
        welcome = self._machine.welcome
        return m.Visibility.UNSPECIFIED if welcome is None else welcome.visibility

    @property
    def vehicles(self) -> Mapping[str, m.VehicleRecord]:
        """The vehicles, by id."""
        return MappingProxyType(dict(self._machine.records.vehicles))

    @property
    def clients(self) -> Mapping[str, m.ClientRecord]:
        """The navigation clients, by id."""
        return MappingProxyType(dict(self._machine.records.clients))

    @property
    def sessions(self) -> Mapping[int, m.SessionRecord]:
        """The sessions, by id."""
        return MappingProxyType(dict(self._machine.records.sessions))

    @property
    def requests(self) -> Mapping[tuple[str, str], m.RequestRecord]:
        """The open requests, by vehicle and request id."""
        return MappingProxyType(dict(self._machine.records.requests))

    @property
    def guidance(self) -> Mapping[int, VehicleState]:
        """What is published in each session; only if `state` and `frames` are wanted."""
        return MappingProxyType(dict(self._machine.records.guidance))

    @property
    def without_guidance(self) -> frozenset[int]:
        """The sessions that `guidance` leaves out, those with most content, because all of it would take too much memory."""
        return frozenset(self._machine.records.without_guidance)

    async def complete(self) -> None:
        """Waits until it holds all records."""
        while not self._machine.records.is_complete:
            self._check_open()
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._completing.add(waiter)
            try:
                await waiter
            finally:
                self._completing.discard(waiter)

    def simulate_drive(self, action: m.SimulationAction, client: str, vehicle: str = "", speed: float = 1) -> None:
        """Asks a client, which was connected by itself, to simulate a drive, `speed` times as fast as real time, or to stop.

        vehicle: the one that the client guides and that it is about; empty: all of them. It reaches a client that simulates drives, if the
        gateway's access rules allow it; otherwise entries() has an Error. What was lost with a connection is not repeated.
        """
        self._check_open()
        self._machine.simulate(
            m.SimulateDrive(action=action, speed_percent=speed_percent(speed), client_id=client, vehicle_id=vehicle),
        )
        self._wake()

    async def counters(self) -> dict[tuple[m.CounterName, int], int]:
        """The gateway's counters, by name and label."""
        counters = await self.measures(connections=False, sessions=False)
        return {(counter.name, counter.label): counter.value for counter in counters.counters}

    async def measures(self, *, connections: bool = True, sessions: bool = True) -> m.Counters:
        """The gateway's counters, what waits for connections, and what sessions have; the whole answer."""
        self._check_open()
        number = self._machine.read_counters(connections=connections, sessions=sessions)
        self._wake()
        waiter: asyncio.Future[m.Counters] = asyncio.get_running_loop().create_future()
        self._counters.setdefault(number, []).append(waiter)
        return await waiter

    def _handle(self, event: Event) -> None:
        match event:
            case Entry():
                self._entries.tell(event)
                if self._machine.records.is_complete:
                    for completing in self._completing:
                        if not completing.done():
                            completing.set_result(None)
            case CountersRead():
                for waiter in self._counters.pop(event.number, []):
                    if not waiter.done():
                        waiter.set_result(event.counters)
            case Closed():
                self._entries.finish()
                for waiter in [each for waiters in self._counters.values() for each in waiters]:
                    if not waiter.done():
                        waiter.set_exception(event.error)
                for completing in self._completing:
                    if not completing.done():
                        completing.set_exception(event.error)


def _size(entry: Entry) -> int:
    """The bytes of the frames of an entry."""
    match entry.message:
        case m.ObservedFrames():
            return len(entry.message.frames)
        case m.ObservedRecords():
            return sum(len(retained.frames) for retained in entry.message.retained)
        case _:
            return 0
