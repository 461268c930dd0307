"""No input crashes a machine, and what the network does changes nothing."""

from __future__ import annotations

import asyncio
import os
import random

import pytest

import waymark_nav
from waymark_nav import VehicleState, _json, messages as m
from waymark_nav._wire import encode
from waymark_nav.core import (
    Asked,
    Client,
    ClientSettings,
    Endpoint,
    EndpointSettings,
    Event,
    Observer,
    ObserverSettings,
    Peer,
    Session,
    Update,
)
from waymark_nav.frames import Frame
from waymark_nav.messages import BODIES, MessageType, Outcome

from bodies import Bodies
from conftest import Gateway
from drive import TRIP, meters, run, until
from scripted import Gateway as Scripted


def peers() -> list[Peer]:
    client = Client(ClientSettings(client="app", destinations=True))
    client.open_session(("car",))
    client.open_session(None)
    endpoint = Endpoint(EndpointSettings(vehicle="car", prompts=True, destinations=True))
    endpoint.request(m.WaypointRequest(request_id="a", waypoint=TRIP.origin))
    return [endpoint, client, Observer(ObserverSettings(observer="monitor", wanted=m.Observe(state=True, frames=True)))]


#: More than a few are for a search: WAYMARK_SEEDS=500 scripts/python.sh -k survives.
SEEDS = range(int(os.environ.get("WAYMARK_SEEDS", "3")))
#: Where sums leave a range.
EXTREMES = (0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1)


class App:
    """An app that uses its peer at random, and prints what it is told."""

    def __init__(self, machine: Peer, values: random.Random) -> None:
        self.machine = machine
        self.values = values
        self.sessions: list[Session] = []
        self.state = VehicleState()

    def act(self) -> None:
        match self.machine:
            case Client():
                if len(self.sessions) < 3:
                    self.sessions.append(self.machine.open_session(("car",)))
                self.publish(self.values.choice(self.sessions))
            case Endpoint():
                self.machine.mark_shown(self.values.choice(EXTREMES))
                self.machine.request(m.WaypointRequest(request_id=str(self.values.randrange(3)), waypoint=TRIP.origin))
                self.machine.cancel_navigation(m.CancelReason(self.values.randrange(1, 3)))
            case Observer():
                self.machine.read_counters(connections=True, sessions=True)

    def publish(self, session: Session) -> None:
        if session.end_reason is not None or not session.has_room:
            self.sessions.remove(session)
        elif session.content.trip is None:
            session.publish(m.StartGuidance(trip=TRIP, generation=session.new_generation(), route=maneuvers(1)))
        else:
            session.publish(m.CurrentRoadName(name_variants=(str(self.values.random()),)))

    def told(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case Asked() if isinstance(self.machine, Client):
                    answer = self.values.choice((m.Answer.ESTIMATES, m.Answer.OWN_PROMPT, m.Answer.ACCEPT, m.Answer.DECLINE))
                    reason = Outcome.BUSY if answer is m.Answer.DECLINE else None
                    self.machine.answer(event.request, answer, meters(9) if answer is m.Answer.ESTIMATES else None, reason)
                case Update():
                    _json.line(_json.message(event))
                    _json.line(_json.state(event.state))
                    _json.line(_json.change(event.state, self.state) or {})
                    self.state = event.state


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("role", range(3), ids=["endpoint", "client", "observer"])
def test_a_machine_survives_whatever_a_gateway_sends(seed: int, role: int) -> None:
    bodies = Bodies(seed)
    values = bodies.values
    machine = peers()[role]
    gateway = Scripted(machine)
    app = App(machine, values)
    gateway.welcome()
    ends = {MessageType.GOODBYE, MessageType.WELCOME, MessageType.HELLO}
    kinds = [kind for kind in BODIES if kind not in ends] + [0x0020, 0x01E1]
    for _ in range(2_000):
        kind = values.choice(kinds)
        body = bodies.body(kind) if kind in BODIES else values.randbytes(3)
        if kind == MessageType.SESSION_OPENED and values.random() < 0.5:
            body = encode(m.SessionOpened(request_id=f"session-{values.randrange(1, 3)}", session_id=values.randrange(1, 4)))
        if kind == MessageType.SNAPSHOT_BEGIN and values.random() < 0.5:
            body = encode(m.SnapshotBegin(kind=m.SnapshotKind(values.randrange(1, 3)), client_id="app"))
        sequence = values.choice(EXTREMES) if values.random() < 0.3 else values.randrange(50)
        gateway.send(Frame(kind, body, values.choice((0, 1, 2, 3, 3, 2**32 - 1)), sequence, values.randrange(64)))
        gateway.now += values.random()
        machine.tick(gateway.now)
        if values.random() < 0.1:
            app.act()
        gateway.sent_frames()
        app.told(gateway.events())
        if values.random() < 0.01 or not machine.is_connected:
            assert not machine.is_over
            sessions = tuple(
                m.ResumedSession(session_id=session_id, sequence=values.choice(EXTREMES), phase=m.SessionPhase(values.randrange(1, 5)))
                for session_id in (1, 2, 3)
            )
            gateway.reconnect(resumed=values.random() < 0.5, sessions=sessions)
    assert not machine.is_over


#: What a client and an endpoint hold alike. A new route voids the description of a pause at both.
CONTENT = (
    "phase", "pause_reason", "pause_description", "trip", "maneuvers", "upcoming_maneuvers", "current_road_name", "maneuver_state",
    "trip_estimates", "time_remaining_color", "maneuver_estimates", "alert", "generation",
)  # fmt: skip


def content(state: VehicleState) -> dict[str, object]:
    return {name: getattr(state, name) for name in CONTENT}


def maneuvers(first: int) -> m.RouteInformation:
    each = tuple(m.Maneuver(id=number) for number in range(first, first + 4))
    return m.RouteInformation(maneuvers=each, upcoming_maneuver_ids=(first, first + 1))


@pytest.mark.parametrize("seed", range(4))
def test_both_sides_hold_the_same_whatever_connections_are_lost(gateway: Gateway, seed: int) -> None:
    values = random.Random(seed)

    async def publish(session: waymark_nav.Session, number: int) -> None:
        upcoming = session.state.upcoming_maneuvers
        match values.randrange(9):
            case 0:
                await session.set_road_name(f"Street {number}")
            case 1:
                await session.update_trip_estimates(meters(number), m.TimeRemainingColor(number % 4))
            case 2 | 3 if upcoming:
                await session.update_maneuver_estimates(values.choice(upcoming), meters(number))
            case 4 if session.state.phase is waymark_nav.Phase.ACTIVE and upcoming:
                await session.set_upcoming_maneuvers(upcoming[1:] or [session.state.maneuvers[-1].id])
                await session.set_maneuver_state(m.ManeuverState.INITIAL)
            case 5:
                await session.pause(m.PauseReason.LOADING, str(number))
            case 6 if session.state.phase is waymark_nav.Phase.PAUSED:
                await session.resume(maneuvers(number + 1) if values.random() < 0.5 else None)
            case 7:
                await session.show_alert(m.NavigationAlert(id=number + 1, title_variants=(str(number),)))
            case _:
                await session.update_trip(m.Trip(id=str(number), origin=TRIP.origin, destination=TRIP.destination))

    async def drive() -> None:
        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation) as client,
        ):
            states = car.states()
            session = await client.open_session("car")
            await session.start(TRIP, maneuvers(1))
            for number in range(1_000, 1_300):
                await publish(session, number)
                if values.random() < 0.1:
                    await asyncio.sleep(0)
                if values.random() < 0.02:
                    values.choice((car, client))._cut()
            await session.accepted()
            await until(states, lambda state: content(state) == content(session.state))

    run(drive())
