"""A gateway that asks or tells without end makes no program hold more than Docs/client.md says."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

import waymark_nav
from waymark_nav import messages as m
from waymark_nav._feed import QUEUED_BYTES_MAX, Source
from waymark_nav._wire import Message
from waymark_nav.core import (
    Asked,
    Client,
    ClientSettings,
    Connecting,
    CountersRead,
    Endpoint,
    EndpointSettings,
    Observer,
    ObserverSettings,
    Peer,
    _client,
    _connection,
    _observer,
)
from waymark_nav.frames import Splitter, frame
from waymark_nav.messages import CloseCode, Outcome

from drive import TRIP, place, run
from scripted import TOKEN, Gateway

OWED = _connection.OWED_BYTES_MAX


def peers() -> list[Peer]:
    return [
        Endpoint(EndpointSettings(vehicle="car")),
        Client(ClientSettings(client="app", destinations=True)),
        Observer(ObserverSettings(observer="monitor")),
    ]


# Pongs


@pytest.mark.parametrize("role", range(3), ids=["endpoint", "client", "observer"])
def test_a_gateway_that_pings_a_million_times_and_reads_nothing_is_cut(role: int) -> None:
    machine = peers()[role]
    gateway = Gateway(machine)
    gateway.welcome()
    gateway.sent()
    gateway.events()
    read = frame(m.Ping(nonce=7)).encode() * 1_000
    for _ in range(1_000):
        machine.receive(read, gateway.now)
        assert machine.owed_bytes <= OWED
    assert not machine.is_connected
    assert machine.wants_cut(gateway.now)
    assert machine.wants_abort(gateway.now)
    assert machine.take_output(gateway.now) == b""
    gateway.cut()
    (connecting,) = gateway.events(Connecting)
    assert connecting.reason.startswith("the gateway reads nothing: ")
    assert not machine.is_over
    gateway.now = machine.deadline or 0
    gateway.welcome(resumed=True)
    assert machine.is_connected


def test_a_gateway_that_reads_late_gets_every_pong() -> None:
    machine = peers()[0]
    gateway = Gateway(machine)
    gateway.welcome()
    pong = frame(m.Pong(nonce=7)).encode()
    count = OWED // len(pong)
    machine.receive(frame(m.Ping(nonce=7)).encode() * count, gateway.now)
    assert machine.is_connected
    assert len(gateway.sent()) == count
    assert machine.owed_bytes == 0


def guided() -> tuple[Gateway, Client]:
    machine = Client(ClientSettings(client="app"))
    gateway = Gateway(machine)
    gateway.welcome()
    machine.open_session(("car",))
    gateway.say(m.SessionOpened(request_id="session-1", session_id=7))
    gateway.sent()
    gateway.events()
    return gateway, machine


def request(number: int) -> m.WaypointRequest:
    return m.WaypointRequest(request_id=f"r{number}", waypoint=place("Café"), vehicle_id="car")


def test_a_gateway_that_asks_and_reads_no_answer_is_cut() -> None:
    gateway, machine = guided()
    for number in range(20_000):
        gateway.say(request(number), session=7)
        for asked in gateway.events(Asked):
            machine.answer(asked.request, m.Answer.DECLINE, reason=Outcome.NOT_SUPPORTED)
        if not machine.is_connected:
            break
        assert machine.owed_bytes <= OWED + 100
    assert not machine.is_connected
    assert machine.wants_abort(gateway.now)
    gateway.reconnect(resumed=True)
    assert machine.owed_bytes == 0


def test_an_app_is_asked_4096_questions_at_a_time_and_further_ones_are_declined_as_busy() -> None:
    gateway, _ = guided()
    for number in range(5_000):
        gateway.say(request(number), session=7)
    assert len(gateway.events(Asked)) == _client.INQUIRIES_MAX
    answers = gateway.sent()
    assert len(answers) == 5_000 - _client.INQUIRIES_MAX
    assert answers[-1] == m.RequestAnswer(request_id="r4999", vehicle_id="car", answer=m.Answer.DECLINE, reason=Outcome.BUSY)
    gateway.say(m.RequestOutcome(request_id="r0", vehicle_id="car", outcome=Outcome.TIMED_OUT), session=7)
    for number in range(5_000, 5_010):
        gateway.say(request(number), session=7)
    assert len(gateway.events(Asked)) == 1


def test_requests_of_a_lost_connection_make_room_for_others() -> None:
    gateway, _ = guided()
    for number in range(_client.INQUIRIES_MAX):
        gateway.say(request(number), session=7)
    found = m.ResumedSession(session_id=7, sequence=0, phase=m.SessionPhase.PREVIEW)
    gateway.reconnect(resumed=True, sessions=(found,))
    gateway.events()
    gateway.say(request(5_000), session=7)
    assert [asked.request.request_id for asked in gateway.events(Asked)] == ["r5000"]


# What is told


def test_a_slow_reader_has_frames_of_16_mebibytes_at_most() -> None:
    source: Source[bytes] = Source(lambda element: None, size=len)
    feed = source.open()
    for _ in range(100):
        source.tell(bytes(1_000_000))
    assert len(feed._queue) == QUEUED_BYTES_MAX // 1_000_000
    # The newest element is there whatever its size.
    source.tell(bytes(QUEUED_BYTES_MAX + 1))
    assert len(feed._queue) == 1


def told(session: int, *messages: Message) -> bytes:
    return b"".join(frame(message, session, 1).encode() for message in messages)


def observer() -> tuple[Gateway, Observer]:
    wanted = m.Observe(state=True, events=True, frames=True)
    machine = Observer(ObserverSettings(observer="monitor", wanted=wanted))
    gateway = Gateway(machine)
    gateway.welcome()
    gateway.say(m.ObservationBegin(kind=m.SnapshotKind.FULL, instant_microseconds=1))
    return gateway, machine


def test_the_sessions_with_most_content_are_held_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_observer, "CONTENT_BYTES_MAX", 8_000)
    gateway, machine = observer()
    sessions = tuple(m.SessionRecord(session_id=number, client_id="app", phase=m.SessionPhase.ACTIVE) for number in range(1, 101))
    gateway.say(m.ObservedRecords(sessions=sessions, is_last=True, instant_microseconds=1))
    records = machine.records
    assert len(records.guidance) == 100

    def publish(session: int, *messages: Message) -> None:
        data = told(session, *messages)
        records.crossed(m.ObservedFrames(number=1, direction=m.Direction.IN, session_id=session, frames=data), 0.0)
        assert records._size <= 8_000
        assert records._size == sum(sum(each.values()) for each in records._sizes.values())

    start = m.StartGuidance(trip=TRIP, generation=1, route=m.RouteInformation())
    for session in range(1, 101):
        publish(session, start)
        if session == 5:
            more = tuple(m.Maneuver(id=number) for number in range(1, 100))
            publish(session, *(m.AddManeuvers(maneuvers=(each,), generation=1) for each in more))
    assert 5 in records.without_guidance
    assert 5 not in records.guidance
    assert 20 < len(records.guidance) < 100
    assert len(records.guidance) + len(records.without_guidance) == 100
    # What such a session publishes later is not all of it.
    publish(5, m.CurrentRoadName(name_variants=("A",)))
    assert 5 not in records.guidance
    records.apply(m.ObservedRecords(sessions_gone=tuple(range(1, 101)), instant_microseconds=1), 0.0)
    assert (records._size, records.guidance, records.without_guidance) == (0, {}, set())


def test_parts_of_counters_without_an_end_are_left_out_beyond_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_observer, "COUNTERS_MAX", 1_000)
    gateway, machine = observer()
    machine.read_counters(sessions=True)
    gateway.sent()
    sessions = tuple(m.SessionMeasure(session_id=7) for _ in range(100))
    for is_last in [*([False] * 50), True]:
        gateway.say(m.Counters(sessions=sessions, is_last=is_last, instant_microseconds=1))
    assert [len(read.counters.sessions) for read in gateway.events(CountersRead)] == [1_100]


# On asyncio


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def serve(serve_one: Serve, client: Callable[[str], Awaitable[None]]) -> None:
    """Runs a client against a gateway that a test plays, on a socket of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "s"))

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await serve_one(reader, writer)
            except (ConnectionError, asyncio.CancelledError):
                pass
            finally:
                writer.transport.abort()

        async with await asyncio.start_unix_server(answer, path, limit=1_024):
            await client(f"unix:{path}")


WELCOME = m.Welcome(
    version=2,
    keepalive_milliseconds=600_000,
    receive_frame_bytes_max=1_048_576,
    send_frame_bytes_max=16_777_216,
    resumption_token=TOKEN,
    gateway_instance="gateway",
    gateway_epoch=1,
)


async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, resumed: bool = False) -> None:
    splitter = Splitter()
    while True:
        splitter.feed(await reader.read(1))
        if next(splitter.frames(), None) is not None:
            break
    writer.write(frame(replace(WELCOME, resumed=resumed)).encode())
    await writer.drain()


def test_a_peer_leaves_a_gateway_that_floods_it_and_connects_again() -> None:
    connections = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        is_first = connections == 1
        await welcome(reader, writer, resumed=not is_first)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        while is_first:
            writer.write(frame(m.Ping(nonce=7)).encode() * 1_000)
            await writer.drain()
        await asyncio.sleep(60)

    async def watch(address: str) -> None:
        async with asyncio.timeout(30), waymark_nav.Endpoint("car", "cluster", address) as car:
            reasons = []
            async for state in car.connections():
                if isinstance(state, waymark_nav.Connecting):
                    reasons.append(state.reason)
                if state == waymark_nav.Connected(resumed=True):
                    break
            assert any(reason.startswith("the gateway reads nothing: ") for reason in reasons)

    run(serve(flood, watch))


@pytest.mark.parametrize("way", ["goodbye", "close"])
def test_a_connection_ends_in_time_also_if_the_gateway_does_not_read(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written and is not read keeps a transport of asyncio open."""
    monkeypatch.setattr(_connection, "DRAIN_TIMEOUT", 0.2)
    monkeypatch.setattr("waymark_nav.core._peer.DRAIN_TIMEOUT", 0.2)
    connections = 0
    is_full, is_there_again = asyncio.Event(), asyncio.Event()

    async def stay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await welcome(reader, writer)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        if connections == 1:
            # More than a socket takes, less than makes the peer cut the connection.
            writer.write(frame(m.Ping(nonce=7)).encode() * 15_000)
            await writer.drain()
            if way == "goodbye":
                writer.write(frame(m.Goodbye(code=CloseCode.SHUTTING_DOWN)).encode())
                await writer.drain()
            await asyncio.sleep(0.5)
            is_full.set()
        else:
            is_there_again.set()
        await asyncio.sleep(60)

    async def connect(address: str) -> None:
        async with asyncio.timeout(20):
            car = waymark_nav.Endpoint("car", "cluster", address)
            await car.connect()
            await is_full.wait()
            if way == "goodbye":
                await is_there_again.wait()
            await car.close()
            assert not car.is_connected

    run(serve(stay, connect))
