"""Drives a machine with asyncio: transports, timers, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from waymark_nav._address import Address
from waymark_nav.core import Closed, Connected, Event, Peer
from waymark_nav.errors import ClosedError, WaymarkError

#: For a transport to open, in seconds.
CONNECT_TIMEOUT = 10.0


class Link(asyncio.Protocol):
    """The connections of one peer, one after another."""

    def __init__(self, machine: Peer, address: Address, handle: Callable[[Event], None]) -> None:
        self._machine = machine
        self._address = address
        self._handle = handle
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._opening: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_woken = False
        self._is_paused = False
        self._has_ended = False
        self._first: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[None] = self._loop.create_future()

    # What the peer's object calls

    @property
    def now(self) -> float:
        """What the machine's clock shows."""
        return self._loop.time()

    async def open(self) -> None:
        """Connects; returns with the first Welcome. Raises why there is none."""
        self.wake()
        try:
            await asyncio.shield(self._first)
        except asyncio.CancelledError:
            await self.close()
            raise

    async def close(self) -> None:
        """Sends what is queued and ends the connection; takes a few seconds at most."""
        self._machine.close(self._loop.time())
        if self._opening is not None:
            self._opening.cancel()
        self.wake()
        await asyncio.shield(self._over)

    def wake(self) -> None:
        """The machine may have something to do. What is sent until the loop's next turn becomes one write."""
        if not self._is_woken:
            self._is_woken = True
            self._loop.call_soon(self._pump)

    def cut(self) -> None:
        """Closes the transport as a network failure would. For tests."""
        if self._transport is not None:
            self._transport.abort()

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._is_paused = self._has_ended = False
        self._machine.opened(self._loop.time())
        self._pump()

    def data_received(self, data: bytes) -> None:
        self._machine.receive(data, self._loop.time())
        self._pump()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._machine.lost(self._loop.time())
        self._pump()

    def pause_writing(self) -> None:
        # The machine bounds what waits then because the gateway asked for it.
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        self.wake()

    # Doing what the machine wants

    def _pump(self) -> None:
        self._is_woken = False
        now = self._loop.time()
        machine = self._machine
        self._tell()
        if self._transport is not None:
            if machine.wants_abort(now):
                # Otherwise the transport would wait until the gateway has read what was written.
                self._transport.abort()
            elif not self._transport.is_closing():
                self._write(self._transport, now)
        elif self._opening is None and machine.wants_transport(now):
            machine.opening()
            self._opening = self._loop.create_task(self._connect())
        self._tell()
        self._arm(now)

    def _write(self, transport: asyncio.Transport, now: float) -> None:
        machine = self._machine
        if not self._is_paused and (data := machine.take_output(now)):
            transport.write(data)
        if machine.wants_end and not self._has_ended:
            self._has_ended = True
            transport.write_eof()
        if machine.wants_cut(now):
            transport.close()

    def _tell(self) -> None:
        while (event := self._machine.next_event()) is not None:
            if isinstance(event, Connected) and not self._first.done():
                self._first.set_result(None)
            self._handle(event)
            if isinstance(event, Closed):
                self._finish(event.error)

    def _finish(self, error: WaymarkError) -> None:
        if not self._first.done():
            self._first.set_exception(error)
            self._first.exception()  # It is no fault if nothing waits for it.
        if not self._over.done():
            self._over.set_result(None)

    def _arm(self, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self._machine.deadline
        # A transport that is being aborted ends by itself.
        if deadline is not None and (self._transport is None or not self._machine.wants_abort(now)):
            self._timer = self._loop.call_at(max(deadline, now), self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._machine.tick(self._loop.time())
        self._pump()

    async def _connect(self) -> None:
        reason = ""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                if self._address.path:
                    await self._loop.create_unix_connection(lambda: self, self._address.path)
                else:
                    await self._loop.create_connection(lambda: self, self._address.host, self._address.port)
        except TimeoutError:
            reason = f"cannot connect to {self._address}: no answer in {CONNECT_TIMEOUT:.0f} seconds"
        except OSError as error:
            reason = self._address.explain(error)
        except asyncio.CancelledError:
            reason = str(ClosedError())
        self._opening = None
        if reason:
            self._machine.failed(reason, self._loop.time())
            self._pump()
