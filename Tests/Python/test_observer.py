"""Observers without I/O: the records that they hold, and how they resume."""

from __future__ import annotations

from dataclasses import replace

import pytest

from waymark_nav import Phase, Rejection, messages as m
from waymark_nav._wire import Message
from waymark_nav.core import CountersRead, Observer, ObserverSettings, frames_in
from waymark_nav.frames import Frame, frame

from drive import TRIP, meters, route
from scripted import TOKEN, Gateway

ALL = m.Observe(state=True, events=True, frames=True)


def connected(wanted: m.Observe = ALL) -> tuple[Observer, Gateway]:
    machine = Observer(ObserverSettings(observer="monitor", wanted=wanted))
    gateway = Gateway(machine)
    gateway.welcome()
    gateway.events()
    return machine, gateway


def published(message: Message, sequence: int, **values: object) -> m.ObservedFrames:
    data = frame(message, 7, sequence).encode()
    settings: dict[str, object] = {"number": sequence, "direction": m.Direction.IN, "session_id": 7, "frames": data}
    return m.ObservedFrames(**(settings | values))  # type: ignore[arg-type]


SESSION = m.SessionRecord(session_id=7, client_id="app", phase=m.SessionPhase.PREVIEW)


def test_an_observer_says_what_it_wants() -> None:
    _, gateway = connected()
    assert gateway.sent() == [ALL]
    with pytest.raises(Rejection) as refused:
        Observer(ObserverSettings(observer="monitor", wanted=m.Observe(vehicle_ids=("",))))
    assert refused.value.field == "vehicle_ids[0]"


def test_records_are_replaced_and_removed_by_their_keys() -> None:
    machine, gateway = connected()
    gateway.say(m.ObservationBegin(kind=m.SnapshotKind.FULL))
    car = m.VehicleRecord(vehicle_id="car")
    gateway.say(m.ObservedRecords(vehicles=(car, m.VehicleRecord(vehicle_id="bus")), sessions=(SESSION,)))
    assert not machine.records.is_complete
    key = m.RequestKey(vehicle_id="car", request_id="stop")
    request = m.RequestRecord(key=key, client_id="app", stage=m.RequestStage.ASKED)
    gateway.say(m.ObservedRecords(clients=(m.ClientRecord(client_id="app"),), requests=(request,), is_last=True))
    assert machine.records.is_complete
    guided = replace(car, session_id=7)
    gone = ("bus", "unknown")
    gateway.say(m.ObservedRecords(number=1, vehicles=(guided,), vehicles_gone=gone, requests_gone=(key,)))
    records = machine.records
    assert (records.vehicles, list(records.clients), records.requests) == ({"car": guided}, ["app"], {})
    gateway.say(m.ObservedRecords(number=2, sessions_gone=(7,), clients_gone=("app",)))
    assert (records.sessions, records.guidance, records.clients) == ({}, {}, {})


def test_an_observer_with_frames_holds_what_is_published() -> None:
    machine, gateway = connected()
    gateway.say(m.ObservationBegin(kind=m.SnapshotKind.FULL))
    start = frame(m.StartGuidance(trip=TRIP, generation=1, route=route()), 7, 1)
    retained = m.RetainedFrames(session_id=7, frames=start.encode(), is_first=True)
    gateway.say(m.ObservedRecords(sessions=(SESSION,), retained=(retained,), is_last=True))
    estimates = m.UpdateManeuverEstimates(generation=1, maneuver_id=1, travel_estimates=meters(40))
    gateway.say(published(estimates, 2))
    gateway.say(published(m.CurrentRoadName(name_variants=("refused",)), 3, rejected=True))
    gateway.say(published(m.CurrentRoadName(name_variants=("fitted",)), 4, direction=m.Direction.OUT))
    state = machine.records.guidance[7]
    assert (state.phase, state.next_estimates, state.current_road_name) == (Phase.ACTIVE, meters(40), ())
    gateway.say(published(m.FinishGuidance(), 5))
    assert machine.records.guidance[7].phase is Phase.ENDED


def test_an_observer_resumes_behind_its_last_entry() -> None:
    machine, gateway = connected()
    gateway.sent()
    gateway.say(m.ObservationBegin(kind=m.SnapshotKind.FULL, number=4))
    gateway.say(m.ObservedRecords(vehicles=(m.VehicleRecord(vehicle_id="car"),), is_last=True))
    gateway.say(m.ObservedEvent(number=5, kind=m.ObservedKind.ADMITTED))
    gateway.say(m.ObservationGap(dropped=3, next_number=9))
    hello = gateway.reconnect(resumed=True)
    assert hello.resumption_token == TOKEN
    assert gateway.sent() == [replace(ALL, after_number=8)]
    gateway.say(m.ObservationBegin(kind=m.SnapshotKind.MISSED, number=8))
    assert list(machine.records.vehicles) == ["car"]
    gateway.reconnect(resumed=False)
    assert gateway.sent() == [ALL]
    assert machine.records.vehicles == {}


def test_an_answer_with_counters_may_have_several_parts() -> None:
    machine, gateway = connected()
    gateway.sent()
    assert machine.read_counters() == 1
    assert gateway.sent() == [m.ReadCounters()]
    # What is asked while an answer may be on its way gets the next one.
    assert machine.read_counters(sessions=True) == 2
    assert machine.read_counters(connections=True) == 2
    assert gateway.sent() == []
    gateway.say(m.Counters(counters=(m.Counter(name=m.CounterName.SESSIONS, value=2),), is_last=True))
    (read,) = gateway.events(CountersRead)
    assert (read.number, read.counters.counters[0].value) == (1, 2)
    question = m.ReadCounters(connections=True, sessions=True)
    assert gateway.sent() == [question]
    gateway.say(m.Counters(counters=read.counters.counters))
    gateway.reconnect(resumed=True)  # The rest of the answer is lost.
    assert question in gateway.sent()
    waiting = m.ConnectionMeasure(connection_id=1, waiting_bytes=9)
    gateway.say(m.Counters(counters=read.counters.counters))
    gateway.say(m.Counters(connections=(waiting,)))
    gateway.say(m.Counters(sessions=(m.SessionMeasure(session_id=7),), is_last=True))
    (read,) = gateway.events(CountersRead)
    assert (read.number, len(read.counters.counters), read.counters.connections) == (2, 1, (waiting,))
    assert [each.session_id for each in read.counters.sessions] == [7]


def test_an_observer_asks_clients_for_simulated_drives_once() -> None:
    machine, gateway = connected()
    gateway.sent()
    start = m.SimulateDrive(action=m.SimulationAction.START, client_id="app")
    machine.simulate(start)
    assert gateway.sent() == [start]
    gateway.reconnect(resumed=True)
    assert start not in gateway.sent()
    gateway.cut()
    for percent in range(1, 21):
        machine.simulate(m.SimulateDrive(action=m.SimulationAction.START, speed_percent=percent, client_id="app"))
    gateway.reconnect(resumed=True)
    asked = [each.speed_percent for each in gateway.sent() if isinstance(each, m.SimulateDrive)]
    assert asked == list(range(5, 21))
    with pytest.raises(Rejection):
        machine.simulate(m.SimulateDrive(action=m.SimulationAction.UNSPECIFIED, client_id="app"))


def test_an_answer_that_begins_again_has_nothing_of_its_first_beginning() -> None:
    machine, gateway = connected()
    machine.read_counters(connections=True)
    counters = (m.Counter(name=m.CounterName.SESSIONS, value=2),)
    waiting = m.ConnectionMeasure(connection_id=1, waiting_bytes=9)
    # A gateway that was restarted answers the question whole.
    for is_last in (False, True):
        gateway.say(m.Counters(counters=counters))
        gateway.say(m.Counters(connections=(waiting,), is_last=is_last))
    (read,) = gateway.events(CountersRead)
    assert (read.counters.counters, read.counters.connections) == (counters, (waiting,))


def test_frames_that_cannot_be_read_are_told_apart() -> None:
    broken = Frame(m.MessageType.START_GUIDANCE, b"\xff", 7, 1)
    data = frame(m.PauseGuidance(reason=m.PauseReason.LOADING), 7, 2).encode() + broken.encode() + Frame(0x01E1, b"x", 7, 3).encode()
    assert [(whole.sequence, message is None) for whole, message in frames_in(data + b"noise")] == [(2, False), (1, True), (3, True)]
