"""Messages that come in several frames."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from waymark_nav import messages as m
from waymark_nav._wire import Message
from waymark_nav.core import Client, ClientSettings, Observer, ObserverSettings
from waymark_nav.core._observer import Entry
from waymark_nav.core._partial import PartialMessage, join
from waymark_nav.frames import Flags, Frame, Violation, frame
from waymark_nav.messages import CloseCode

from scripted import Gateway


def in_parts(*parts: Message, session: int = 0) -> list[Frame]:
    """Frames of which all but the last have MORE."""
    frames = [frame(part, session) for part in parts]
    return [whole._replace(flags=Flags.MORE) for whole in frames[:-1]] + frames[-1:]


def status(vehicle: str, *endpoints: str) -> m.VehicleStatus:
    return m.VehicleStatus(
        vehicle_id=vehicle,
        standing=m.VehicleStanding.JOINED,
        endpoints=tuple(m.EndpointStatus(endpoint=name) for name in endpoints),
    )


def opened(*vehicles: m.VehicleStatus) -> m.SessionOpened:
    return m.SessionOpened(request_id="open", session_id=7, vehicles=vehicles)


def test_a_vehicle_goes_on_in_the_next_part() -> None:
    parts = [opened(status("a"), status("b", "1")), opened(status("b", "2")), opened(status("b", "3"), status("c"))]
    assert join(parts) == opened(status("a"), status("b", "1", "2", "3"), status("c"))
    changed = [m.VehicleChanged(vehicle=status("a", name)) for name in "123"]
    assert join(changed) == m.VehicleChanged(vehicle=status("a", "1", "2", "3"))


def test_records_and_frames_go_on_in_the_next_part() -> None:
    def records(number: int, *names: str, data: bytes, is_first: bool, is_last: bool = False) -> m.ObservedRecords:
        return m.ObservedRecords(
            number=number,
            vehicles=(m.VehicleRecord(vehicle_id="a", endpoints=tuple(m.EndpointRecord(endpoint=name) for name in names)),),
            retained=(m.RetainedFrames(session_id=7, frames=data, is_first=is_first),),
            is_last=is_last,
        )

    parts = [records(3, "1", data=b"abc", is_first=True), records(3, "2", data=b"de", is_first=False, is_last=True)]
    assert join(parts) == records(3, "1", "2", data=b"abcde", is_first=True, is_last=True)
    frames = [m.ObservedFrames(number=4, direction=m.Direction.IN, frames=data) for data in (b"ab", b"c")]
    assert join(frames) == m.ObservedFrames(number=4, direction=m.Direction.IN, frames=b"abc")
    counters = [
        m.Counters(counters=(m.Counter(name=m.CounterName.REQUESTS, value=1),)),
        m.Counters(counters=(m.Counter(name=m.CounterName.SESSIONS, value=2),), is_last=True),
    ]
    assert join(counters) == m.Counters(counters=counters[0].counters + counters[1].counters, is_last=True)


def test_other_messages_come_between_the_parts() -> None:
    partial = PartialMessage()
    first, second = in_parts(opened(status("a")), opened(status("b")))
    ping = frame(m.Ping(nonce=1))
    publication = Frame(0x0103, b"", 7, 1, Flags.FITTED | Flags.MORE)
    assert [partial.add(each) for each in (first, ping, publication)] == [None, ping, publication]
    whole = partial.add(second)
    assert whole is not None
    assert whole.decode() == opened(status("a"), status("b"))
    assert not whole.flags


def test_parts_without_an_end_are_bounded() -> None:
    partial = PartialMessage()
    (part, _) = in_parts(*[m.ObservedFrames(number=1, direction=m.Direction.IN, frames=bytes(8_000_000))] * 2)
    with pytest.raises(Violation) as violation:
        for _ in range(5):
            partial.add(part)
    assert violation.value.code == CloseCode.FRAME_TOO_LARGE


def test_a_client_reads_a_welcome_and_its_vehicles_in_parts() -> None:
    machine = Client(ClientSettings(client="app", receive_frame_bytes_max=4_096))
    gateway = Gateway(machine)
    hello = gateway.open()
    assert hello.receive_frame_bytes_max == 4_096
    welcome = m.Welcome(version=1, resumption_token=bytes(16), gateway_instance="gateway", gateway_epoch=1, send_frame_bytes_max=4_096)
    gateway.send(in_parts(welcome, welcome)[0])
    assert not machine.is_connected
    gateway.send(frame(welcome))
    assert machine.is_connected
    session = machine.open_session(("a", "b"))
    names = [f"{number}" for number in range(20)]
    request = session.opening.request_id
    parts = [m.SessionOpened(request_id=request, session_id=7, vehicles=(status("a", name),)) for name in names]
    gateway.send(*in_parts(*parts))
    assert session.id == 7


def test_a_welcome_in_parts_has_the_extensions_of_all() -> None:
    names = ("org.example.tyres", "com.example.seats", "com.example.mirrors")
    welcome = m.Welcome(version=1, resumption_token=bytes(16), gateway_instance="gateway", gateway_epoch=1, extensions=names)
    assert join([replace(welcome, extensions=names[:1]), replace(welcome, extensions=names[1:])]) == welcome


@pytest.mark.parametrize("seed", range(20))
def test_what_is_cut_anywhere_is_joined(seed: int) -> None:
    source = random.Random(seed)
    data = source.randbytes(source.randint(1, 5_000))
    cuts = sorted(source.choices(range(len(data) + 1), k=4))
    pieces = [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    partial = PartialMessage()
    frames = in_parts(*(m.ObservedFrames(number=9, direction=m.Direction.OUT, frames=piece) for piece in pieces))
    *others, whole = [partial.add(each) for each in frames]
    assert others == [None] * 4
    assert whole is not None
    assert whole.decode() == m.ObservedFrames(number=9, direction=m.Direction.OUT, frames=data)


def test_an_observer_is_told_an_entry_in_parts_once() -> None:
    machine = Observer(ObserverSettings(observer="eye", receive_frame_bytes_max=4_096))
    gateway = Gateway(machine)
    gateway.welcome(send_frame_bytes_max=4_096)
    gateway.sent()
    parts = [m.ObservedFrames(number=1, direction=m.Direction.IN, frames=piece) for piece in (b"WM", b"\x01")]
    gateway.send(*in_parts(*parts))
    (entry,) = gateway.events(Entry)
    assert entry.message == m.ObservedFrames(number=1, direction=m.Direction.IN, frames=b"WM\x01")
    assert machine.number == 1
