"""Vehicle endpoints without I/O: what they hold, and what they send again."""

from __future__ import annotations

import dataclasses

import pytest

from waymark_nav import ExtensionState, Phase, Rejection, VehicleState, messages as m
from waymark_nav._wire import Message
from waymark_nav.core import Endpoint, EndpointSettings, RequestEnded, StopEnded, Update
from waymark_nav.core._state import changed
from waymark_nav.frames import Flags, Frame, frame
from waymark_nav.messages import CancelReason, Outcome, OutcomeCause, SessionEndReason

from drive import CAFE, TRIP, meters, place, route
from scripted import Gateway

FULL, MISSED = m.SnapshotKind.FULL, m.SnapshotKind.MISSED


def connected(**values: object) -> tuple[Endpoint, Gateway]:
    machine = Endpoint(EndpointSettings(vehicle="car", **values))  # type: ignore[arg-type]
    gateway = Gateway(machine)
    gateway.welcome()
    return machine, gateway


def snapshot(gateway: Gateway, *messages: m.StartGuidance, to: int = 0, session: int = 7, kind: m.SnapshotKind = FULL) -> None:
    gateway.say(m.SnapshotBegin(kind=kind, client_id="app", to_sequence=to), session)
    for number, message in enumerate(messages, 1):
        gateway.say(message, session, number)
    gateway.say(m.SnapshotEnd(), session)


def guided(**values: object) -> tuple[Endpoint, Gateway]:
    """An endpoint that holds a session up to its first number."""
    machine, gateway = connected(**values)
    snapshot(gateway, m.StartGuidance(trip=TRIP, generation=1, route=route()), to=1)
    gateway.events()
    gateway.sent()
    return machine, gateway


def test_an_endpoint_holds_the_newest_value_of_everything() -> None:
    machine, gateway = guided()
    assert machine.state.phase is Phase.ACTIVE
    gateway.say(m.CurrentRoadName(name_variants=("Main street",)), 7, 2)
    gateway.say(m.UpdateManeuverState(generation=1, state=m.ManeuverState.PREPARE), 7, 3)
    gateway.say(m.UpdateManeuverEstimates(generation=1, maneuver_id=1, travel_estimates=meters(150)), 7, 4)
    gateway.say(m.ShowAlert(alert=m.NavigationAlert(id=1, title_variants=("Works",))), 7, 5)
    state = machine.state
    assert state.current_road_name == ("Main street",)
    assert state.maneuver_state == m.ManeuverState.PREPARE
    assert state.next_estimates == meters(150)
    assert state.alert is not None
    gateway.say(m.PauseGuidance(reason=m.PauseReason.REROUTING), 7, 6)
    assert (machine.state.phase, machine.state.maneuver_state) == (Phase.PAUSED, m.ManeuverState.CONTINUE)
    gateway.say(m.ResumeGuidance(generation=2, route=route("Turn right")), 7, 7)
    state = machine.state
    assert (state.phase, state.generation, dict(state.maneuver_estimates)) == (Phase.ACTIVE, 2, {})
    assert state.next_maneuver is not None
    assert state.next_maneuver.instruction_variants == ("Turn right",)
    # Trip, road name and alert stay valid on a new route.
    assert (state.trip, state.current_road_name, state.alert is not None) == (TRIP, ("Main street",), True)
    gateway.say(m.FinishGuidance(), 7, 8)
    assert machine.state == VehicleState(phase=Phase.ENDED, end_reason=SessionEndReason.FINISHED)


def test_a_state_does_not_change_when_another_follows() -> None:
    machine, gateway = guided()
    before = machine.state
    gateway.say(m.UpdateManeuverEstimates(generation=1, maneuver_id=1, travel_estimates=meters(150)), 7, 2)
    assert dict(before.maneuver_estimates) == {}
    assert hash(before) != hash(machine.state)


def test_the_cursor_is_what_the_page_says() -> None:
    machine, gateway = connected()
    gateway.say(m.SnapshotBegin(kind=FULL, client_id="app", to_sequence=9), 7)
    gateway.say(m.StartGuidance(trip=TRIP, generation=1, route=route()), 7, 4)
    assert machine.state.sequence == 0
    assert not machine.state.is_complete
    gateway.say(m.SnapshotEnd(), 7)
    assert machine.state.sequence == 9
    gateway.say(m.CurrentRoadName(), 7, 12)
    assert machine.state.sequence == 12
    # A publication that this version does not know counts as well.
    gateway.send(Frame(0x01E1, b"72", 7, 13, Flags.SKIPPABLE))
    assert machine.state.sequence == 13
    hello = gateway.reconnect(resumed=True)
    assert (hello.resume_session_id, hello.resume_sequence) == (7, 13)
    gateway.say(m.SnapshotBegin(kind=MISSED, client_id="app", from_sequence=13, to_sequence=20), 7)
    gateway.say(m.CurrentRoadName(name_variants=("Side street",)), 7, 15)
    assert machine.state.sequence == 15
    gateway.say(m.SnapshotEnd(), 7)
    assert (machine.state.sequence, machine.state.current_road_name) == (20, ("Side street",))


TYRES = "org.example.tyres"


def extension(content: bytes, sequence: int, key: int | None = None, *, retained: bool = True) -> Frame:
    """A publication of the extension of these tests, in session 7."""
    flags = 0 if key is None else Flags.STATE | (Flags.RETAINED if retained else 0)
    return frame(m.PublishExtension(name=TYRES, content=content), 7, sequence)._replace(flags=int(flags), key=key or 0)


def test_an_endpoint_holds_the_retained_states_of_extensions() -> None:
    machine, gateway = guided(extensions=(TYRES,))
    gateway.events()
    gateway.send(extension(b"70", 2, 2), extension(b"5", 3, 1), extension(b"71", 4, 2), extension(b"puncture", 5))
    assert list(machine.state.extensions) == [ExtensionState(TYRES, 1, b"5"), ExtensionState(TYRES, 2, b"71")]
    assert [update.key for update in gateway.events(Update)] == [2, 1, 2, None]
    gateway.send(extension(b"6", 6, 1, retained=False))
    assert list(machine.state.extensions) == [ExtensionState(TYRES, 2, b"71")]
    gateway.say(m.StartGuidance(trip=TRIP, generation=2, route=route()), 7, 7)
    assert not machine.state.extensions


def test_an_endpoint_holds_a_bounded_number_of_states_of_extensions() -> None:
    machine, gateway = guided()
    gateway.send(*(extension(b"x", 2 + key, key) for key in range(100)))
    assert len(machine.state.extensions) == 64
    assert machine.state.sequence == 101


def test_an_extension_of_an_endpoint_is_sent_once() -> None:
    machine, gateway = guided(extensions=(TYRES,))
    machine.send(m.VehicleExtension(name=TYRES, content=b"ok"), 7)
    assert gateway.sent() == [m.VehicleExtension(name=TYRES, content=b"ok")]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []
    for name in ("tyres", "org.Example", "org.example.tyres/1", ".", ".." * 65):
        with pytest.raises(Rejection):
            machine.send(m.VehicleExtension(name=name), 7)


def test_an_endpoint_asks_for_simulated_drives_once_if_it_may() -> None:
    machine, gateway = guided(simulations=True)
    assert machine.settings.hello().vehicle is not None
    hello = machine.settings.hello()
    assert hello.vehicle is not None
    assert m.Feature.SIMULATED_DRIVES in hello.vehicle.features
    start = m.SimulateDrive(action=m.SimulationAction.START, speed_percent=2_000)
    machine.send(start, 7)
    assert gateway.sent() == [start]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []
    with pytest.raises(Rejection):
        machine.send(m.SimulateDrive(action=m.SimulationAction.START, speed_percent=100_001), 7)


def test_an_endpoint_declares_simulated_drives_only_if_it_asks_for_them() -> None:
    hello = EndpointSettings(vehicle="car").hello()
    assert hello.vehicle is not None
    assert m.Feature.SIMULATED_DRIVES not in hello.vehicle.features


def test_a_part_of_a_snapshot_is_no_place_to_resume_from() -> None:
    machine, gateway = connected()
    gateway.say(m.SnapshotBegin(kind=FULL, client_id="app", to_sequence=9), 7)
    hello = gateway.reconnect(resumed=True)
    assert (hello.resume_session_id, hello.resume_sequence) == (0, 0)
    assert machine.state == VehicleState()
    assert [update.name for update in gateway.events(Update)] == ["snapshotBegin", "forgotten"]


def test_a_restarted_gateway_makes_an_endpoint_forget() -> None:
    machine, gateway = guided()
    gateway.reconnect(resumed=False)
    assert machine.state == VehicleState()


def test_an_endpoint_ignores_the_end_of_another_session_and_publications_of_another() -> None:
    machine, gateway = guided()
    before = machine.state
    gateway.say(m.SessionEnded(session_id=6, reason=SessionEndReason.FINISHED))
    gateway.say(m.CurrentRoadName(name_variants=("Elsewhere",)), 6, 50)
    assert machine.state == before
    gateway.say(m.SessionEnded(session_id=7, reason=SessionEndReason.REPLACED))
    assert machine.state.end_reason == SessionEndReason.REPLACED


def test_an_endpoint_ignores_missed_frames_of_a_session_that_it_does_not_hold() -> None:
    machine, gateway = connected()
    gateway.events()
    snapshot(gateway, m.StartGuidance(trip=TRIP, generation=1, route=route()), to=4, kind=MISSED)
    assert machine.state == VehicleState()
    assert gateway.events(Update) == []
    hello = gateway.reconnect(resumed=True)
    assert (hello.resume_session_id, hello.resume_sequence) == (0, 0)


def test_a_publication_that_the_state_cannot_use_moves_the_cursor_only() -> None:
    machine, gateway = connected()
    snapshot(gateway)
    number = 0

    def receive(*messages: Message) -> None:
        nonlocal number
        for message in messages:
            number += 1
            before = machine.state
            gateway.say(message, 7, number)
            assert machine.state == changed(before, sequence=number), message

    receive(
        m.UpdateTrip(trip=TRIP), m.CurrentRoadName(name_variants=("A",)), m.PauseGuidance(reason=m.PauseReason.LOADING),
        m.ResumeGuidance(generation=1, route=route()), m.AddManeuvers(maneuvers=(m.Maneuver(id=5),)),
    )  # fmt: skip
    number += 1
    gateway.say(m.StartGuidance(trip=TRIP, generation=1, route=route()), 7, number)
    receive(
        m.AddManeuvers(generation=2, maneuvers=(m.Maneuver(id=77),)),
        m.UpcomingManeuvers(maneuver_ids=()),
        m.UpdateManeuverState(generation=2, state=m.ManeuverState.PREPARE),
        m.UpdateManeuverEstimates(generation=2, maneuver_id=1, travel_estimates=meters(9)),
        m.UpdateManeuverEstimates(generation=1, maneuver_id=77, travel_estimates=meters(9)),
        m.CurrentLaneGuidance(generation=1, lane_guidance_id=77),
        m.CurrentRouteSegment(generation=1, segment_id="elsewhere"),
        m.ResumeGuidance(generation=2),
        m.DismissAlert(alert_id=4),
    )
    number += 1
    gateway.say(m.UpcomingManeuvers(generation=1, maneuver_ids=(77, 1)), 7, number)
    assert machine.state.upcoming_maneuvers == (1,)
    # One that it cannot read moves the cursor as well.
    number += 1
    gateway.send(Frame(m.MessageType.CURRENT_ROAD_NAME, b"\x0a\xff", 7, number))
    assert (machine.state.sequence, machine.state.current_road_name) == (number, ())


def test_slots_hold_what_was_added_last() -> None:
    # The example of the page.
    machine, gateway = connected(limits=m.VehicleLimits(maneuvers_stored_max=2))

    def maneuvers(*ids: int) -> tuple[m.Maneuver, ...]:
        return tuple(m.Maneuver(id=each) for each in ids)

    def held() -> tuple[int, ...]:
        return tuple(maneuver.id for maneuver in machine.state.maneuvers)

    first = m.RouteInformation(maneuvers=maneuvers(1, 2), upcoming_maneuver_ids=(1, 2))
    snapshot(gateway, m.StartGuidance(trip=TRIP, generation=1, route=first), to=1)
    gateway.say(m.UpdateManeuverEstimates(generation=1, maneuver_id=1, travel_estimates=meters(5)), 7, 2)
    seen = [held()]
    for number, (added, upcoming) in enumerate((((3,), (2, 3)), ((), ()), ((4, 5), (5,)), ((6,), None), ((4, 5), (4, 5))), 3):
        if added:
            gateway.say(m.AddManeuvers(generation=1, maneuvers=maneuvers(*added)), 7, number, Flags.FITTED)
        if upcoming is not None:
            gateway.say(m.UpcomingManeuvers(generation=1, maneuver_ids=upcoming), 7, number, Flags.FITTED)
            assert set(machine.state.upcoming_maneuvers) <= set(held())
        seen.append(held())
    assert seen == [(1, 2), (2, 3), (2, 3), (4, 5), (5, 6), (4, 5)]
    assert dict(machine.state.maneuver_estimates) == {}


def test_parts_of_a_publication_are_complete_with_the_last_one() -> None:
    machine, gateway = guided()
    gateway.say(m.AddManeuvers(generation=1, maneuvers=(m.Maneuver(id=3),)), 7, 2, Flags.FITTED | Flags.MORE)
    assert not machine.state.is_complete
    gateway.say(m.AddManeuvers(generation=1, maneuvers=(m.Maneuver(id=4),)), 7, 2, Flags.FITTED)
    assert machine.state.is_complete


def test_the_age_is_counted_from_what_the_gateway_says() -> None:
    machine, gateway = connected()
    gateway.say(m.SnapshotBegin(kind=FULL, client_id="app", age_milliseconds=4_000), 7)
    gateway.say(m.StartGuidance(trip=TRIP, generation=1, route=route()), 7, 1)
    gateway.say(m.SnapshotEnd(), 7)
    assert machine.state.age(gateway.now + 1) == 5.0
    gateway.say(m.CurrentRoadName(), 7, 2)
    assert machine.state.age(gateway.now) == 0.0
    gateway.say(m.SessionSuspended(grace_milliseconds=30_000, age_milliseconds=200), 7)
    assert machine.state.suspended
    assert machine.state.age(gateway.now) == pytest.approx(0.2)
    gateway.say(m.SessionRestored(), 7)
    assert not machine.state.suspended


def test_the_age_of_estimates_is_not_that_of_a_road_name() -> None:
    machine, gateway = connected()
    gateway.say(m.SnapshotBegin(kind=FULL, client_id="app", age_milliseconds=100, estimates_age_milliseconds=4_000), 7)
    gateway.say(m.StartGuidance(trip=TRIP, generation=1, route=route()), 7, 1)
    gateway.say(m.SnapshotEnd(), 7)
    assert machine.state.estimates_age(gateway.now + 1) == 5.0
    gateway.say(m.CurrentRoadName(), 7, 2)
    assert machine.state.estimates_age(gateway.now) == 4.0
    estimates = m.TravelEstimates(distance_remaining_meters=900)
    gateway.say(m.UpdateTripEstimates(travel_estimates=estimates), 7, 3)
    assert machine.state.estimates_age(gateway.now) == 0.0
    gateway.say(m.SessionSuspended(grace_milliseconds=30_000, age_milliseconds=0, estimates_age_milliseconds=200), 7)
    assert machine.state.estimates_age(gateway.now) == pytest.approx(0.2)
    gateway.say(m.ResumeGuidance(generation=2, route=m.RouteInformation()), 7, 4)
    assert machine.state.estimates_age(gateway.now) is None
    gateway.say(m.ResumeGuidance(generation=3, route=m.RouteInformation(trip_travel_estimates=estimates)), 7, 5)
    assert machine.state.estimates_age(gateway.now) == 0.0


# Requests


def test_a_request_is_repeated_until_its_outcome_and_told_once() -> None:
    machine, gateway = guided()
    request = m.WaypointRequest(request_id="stop", waypoint=CAFE)
    machine.request(request)
    machine.request(request)
    (whole,) = gateway.sent_frames()
    assert (whole.decode(), whole.session) == (request, 7)
    gateway.reconnect(resumed=True)
    assert request in gateway.sent()
    gateway.reconnect(resumed=True)
    assert request in gateway.sent()
    outcome = m.RequestOutcome(request_id="stop", vehicle_id="car", outcome=Outcome.ACCEPTED)
    gateway.say(outcome)
    gateway.say(outcome)
    assert gateway.events(RequestEnded) == [RequestEnded("stop", Outcome.ACCEPTED)]
    gateway.reconnect(resumed=True)
    assert request not in gateway.sent()


@pytest.mark.parametrize(
    ("said", "cause"),
    [(OutcomeCause.WITHDRAWN, OutcomeCause.WITHDRAWN), (OutcomeCause(999), OutcomeCause.UNSPECIFIED)],
)
def test_the_end_of_a_request_says_who_decided_and_why(said: OutcomeCause, cause: OutcomeCause) -> None:
    machine, gateway = guided()
    machine.request(m.WaypointRequest(request_id="stop", waypoint=CAFE))
    gateway.say(
        m.RequestOutcome(request_id="stop", vehicle_id="car", outcome=Outcome.WITHDRAWN, client_id="app", cause=said, endpoint="hud")
    )
    (ended,) = gateway.events(RequestEnded)
    assert ended == RequestEnded("stop", Outcome.WITHDRAWN, cause=cause, decided_by="hud", client_id="app")


def test_a_request_that_was_sent_is_gone_at_a_gateway_that_does_not_know_the_endpoint() -> None:
    machine, gateway = guided()
    machine.request(m.WaypointRequest(request_id="stop", waypoint=CAFE))
    machine.request(m.DestinationRequest(request_id="go", destination=CAFE))
    gateway.sent()
    gateway.reconnect(resumed=True)
    gateway.events()
    assert len(gateway.sent()) == 2
    gateway.reconnect(resumed=False)
    assert gateway.sent() == []
    assert gateway.events(RequestEnded) == [RequestEnded("go", Outcome.GONE), RequestEnded("stop", Outcome.GONE)]
    # It may be made again, as a new one.
    again = m.WaypointRequest(request_id="stop-2", waypoint=CAFE)
    machine.request(again)
    assert gateway.sent() == [again]


def test_a_request_that_was_never_sent_is_sent_to_a_gateway_that_does_not_know_the_endpoint_and_once() -> None:
    machine, gateway = guided()
    gateway.cut()
    request = m.DestinationRequest(request_id="go", destination=CAFE)
    machine.request(request)
    gateway.now = machine.deadline or 0
    gateway.welcome(resumed=False)
    # The connection is lost before anything is written.
    gateway.reconnect(resumed=False)
    assert gateway.sent() == [request]
    assert gateway.events(RequestEnded) == []
    gateway.reconnect(resumed=False)
    assert gateway.sent() == []
    assert gateway.events(RequestEnded) == [RequestEnded("go", Outcome.GONE)]


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_withdrawal_is_dropped_with_its_request(is_sent: bool) -> None:
    machine, gateway = guided()
    machine.request(m.WaypointRequest(request_id="stop", waypoint=CAFE))
    gateway.sent()
    machine.withdraw("stop")
    if is_sent:
        assert gateway.sent() == [m.WithdrawRequest(request_id="stop")]
    gateway.reconnect(resumed=False)
    assert gateway.sent() == []
    assert gateway.events(RequestEnded) == [RequestEnded("stop", Outcome.GONE)]


def test_an_outcome_of_a_later_version_counts_as_invalid() -> None:
    machine, gateway = guided()
    machine.request(m.DestinationRequest(request_id="go", destination=place("Home")))
    gateway.say(m.RequestOutcome(request_id="go", vehicle_id="car", outcome=Outcome(77)))
    assert gateway.events(RequestEnded) == [RequestEnded("go", Outcome.INVALID)]


def test_a_withdrawn_request_that_was_not_sent_is_not_sent() -> None:
    machine, gateway = guided()
    machine.request(m.WaypointRequest(request_id="stop", waypoint=CAFE))
    machine.withdraw("stop")
    assert gateway.sent() == []
    assert gateway.events(RequestEnded) == [RequestEnded("stop", Outcome.WITHDRAWN)]


def test_a_withdrawal_is_repeated_until_the_outcome_and_the_request_is_not() -> None:
    machine, gateway = guided()
    machine.request(m.WaypointRequest(request_id="stop", waypoint=CAFE))
    gateway.sent()
    machine.withdraw("stop")
    assert gateway.sent() == [m.WithdrawRequest(request_id="stop")]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == [m.WithdrawRequest(request_id="stop")]
    # The gateway never had the request.
    unknown = m.ErrorCode.UNKNOWN_REFERENCE
    gateway.say(m.Error(code=unknown, message_type=m.MessageType.WITHDRAW_REQUEST, request_id="stop"))
    assert gateway.events(RequestEnded) == [RequestEnded("stop", Outcome.WITHDRAWN)]


def test_an_endpoint_that_may_not_make_requests_is_told_for_each() -> None:
    machine, gateway = guided()
    machine.request(m.WaypointRequest(request_id="a", waypoint=CAFE))
    machine.request(m.DestinationRequest(request_id="b", destination=CAFE))
    gateway.say(m.Error(code=m.ErrorCode.NOT_GRANTED, message_type=m.MessageType.WAYPOINT_REQUEST, request_id="a"))
    assert {event.request_id: event.outcome for event in gateway.events(RequestEnded)} == {
        "a": Outcome.NOT_SUPPORTED,
        "b": Outcome.NOT_SUPPORTED,
    }


# The end of guidance


def test_a_stop_ends_its_session_and_never_a_later_one() -> None:
    machine, gateway = guided()
    number = machine.cancel_navigation(CancelReason.USER_STOPPED)
    (whole,) = gateway.sent_frames()
    assert (whole.session, whole.decode()) == (7, m.CancelNavigation(reason=CancelReason.USER_STOPPED))
    gateway.reconnect(resumed=True)
    (again,) = gateway.sent_frames()
    assert again == whole
    snapshot(gateway, session=8)
    assert gateway.events(StopEnded) == [StopEnded(number, None)]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []


def test_a_stop_without_a_session_is_not_repeated() -> None:
    machine, gateway = connected()
    number = machine.cancel_navigation(CancelReason.USER_STOPPED)
    gateway.sent()
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []
    assert gateway.events(StopEnded) == [StopEnded(number, None)]


def test_own_navigation_is_told_to_a_restarted_gateway_until_it_is_allowed_again() -> None:
    machine, gateway = connected()
    own = m.CancelNavigation(reason=CancelReason.OWN_NAVIGATION_STARTED)
    number = machine.cancel_navigation(CancelReason.OWN_NAVIGATION_STARTED)
    assert gateway.sent() == [own]
    gateway.say(m.SessionEnded(session_id=0, reason=SessionEndReason.OWN_NAVIGATION_STARTED))
    assert gateway.events(StopEnded) == [StopEnded(number, SessionEndReason.OWN_NAVIGATION_STARTED)]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []
    gateway.reconnect(resumed=False)
    assert gateway.sent() == [own]
    machine.send(m.AllowNavigation())
    gateway.sent()
    gateway.say(m.SessionEnded(session_id=0, reason=SessionEndReason.OWN_NAVIGATION_STARTED))
    gateway.reconnect(resumed=False)
    assert own not in gateway.sent()


# Settings and receipts


def test_settings_are_merged_and_said_again_to_a_restarted_gateway() -> None:
    machine, gateway = connected()
    machine.send(m.VehicleSettings(ready_to_show=True))
    machine.send(m.VehicleSettings(content_style=m.ContentStyle.DARK))
    both = m.VehicleSettings(ready_to_show=True, content_style=m.ContentStyle.DARK)
    assert gateway.sent() == [both]
    machine.send(m.VehicleSettings(ready_to_show=False))
    changed = m.VehicleSettings(ready_to_show=False, content_style=m.ContentStyle.DARK)
    assert gateway.sent() == [changed]
    gateway.reconnect(resumed=True)  # It may have been lost.
    assert gateway.sent() == [changed]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []
    gateway.reconnect(resumed=False)
    assert gateway.sent() == [changed]


def test_answers_go_only_to_a_gateway_that_asked() -> None:
    machine, gateway = guided()
    machine.send(m.PromptAnswer(request_id="stop", accepted=True))
    gateway.sent()
    gateway.reconnect(resumed=False)
    assert gateway.sent() == []


def test_feedback_on_the_route_is_repeated_once_to_a_gateway_that_has_the_session() -> None:
    machine, gateway = guided()
    feedback = [m.UpdateRouteFeedback(generation=1, stops=(m.StopFeedback(arrival_battery_per_mille=charge),)) for charge in (420, 400)]
    gateway.cut()
    for each in feedback:
        machine.send(each, 7)
    gateway.now += 1
    gateway.welcome(resumed=True)
    assert gateway.sent() == [feedback[1]]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == [feedback[1]]
    gateway.reconnect(resumed=False)
    assert gateway.sent() == []


def test_a_wanted_destination_is_sent_once() -> None:
    machine, gateway = guided()
    wanted = m.DestinationShareWanted(trip_id="trip")
    machine.send(wanted, 7)
    assert gateway.sent() == [wanted]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []


def test_what_is_about_the_moment_is_not_repeated() -> None:
    machine, gateway = guided()
    machine.send(m.ZoomCluster(direction=m.ZoomDirection.IN), 7)
    gateway.cut()
    gateway.now += 1
    gateway.welcome(resumed=True)
    assert gateway.sent() == []


def test_receipts_are_sent_at_most_as_often_as_the_client_wants() -> None:
    machine, gateway = connected()
    gateway.say(m.SnapshotBegin(kind=FULL, client_id="app", receipts_every_milliseconds=500), 7)
    gateway.say(m.SnapshotEnd(), 7)
    for number in range(1, 4):
        gateway.say(m.CurrentRoadName(name_variants=(str(number),)), 7, number)
    begin = nanoseconds(gateway)
    gateway.wait(0.1)
    machine.mark_shown(2, gateway.now)
    shown = nanoseconds(gateway)
    assert gateway.sent() == []
    gateway.wait(0.4)
    assert gateway.sent() == [m.Receipt(received_sequence=3, shown_sequence=2, received_nanoseconds=begin, shown_nanoseconds=shown)]
    gateway.wait(0.5)
    assert gateway.sent() == []
    machine.mark_shown(99, gateway.now)
    gateway.say(m.CurrentRoadName(), 7, 4)
    received = nanoseconds(gateway)
    gateway.wait(0.5)
    # When a number was shown that was not received yet says nothing.
    assert gateway.sent() == [m.Receipt(received_sequence=4, shown_sequence=4, received_nanoseconds=received)]


def nanoseconds(gateway: Gateway) -> int:
    return int(gateway.now * 1_000_000_000)


@pytest.mark.parametrize(("kind", "shown"), [(MISSED, 8), (FULL, 0)])
def test_what_was_shown_stays_so_after_missed_frames_and_not_after_the_whole_state(kind: m.SnapshotKind, shown: int) -> None:
    machine, gateway = connected()
    begin = m.SnapshotBegin(kind=FULL, client_id="app", receipts_every_milliseconds=500, to_sequence=9)
    gateway.say(begin, 7)
    gateway.say(m.SnapshotEnd(), 7)
    machine.mark_shown(8, gateway.now)
    begin_time = nanoseconds(gateway)
    gateway.say(dataclasses.replace(begin, kind=kind, from_sequence=9 if kind == MISSED else 0), 7)
    gateway.say(m.SnapshotEnd(), 7)
    gateway.wait(0.5)
    shown_time = begin_time if shown else None
    receipt = m.Receipt(received_sequence=9, shown_sequence=shown, received_nanoseconds=begin_time, shown_nanoseconds=shown_time)
    assert gateway.sent() == [receipt]


def test_a_receipt_follows_the_end_of_a_snapshot_and_none_a_session_that_wants_none() -> None:
    _, gateway = connected()
    begin = m.SnapshotBegin(kind=FULL, client_id="app", receipts_every_milliseconds=500, to_sequence=9)
    gateway.say(begin, 7)
    gateway.wait(1)
    assert gateway.sent() == []
    gateway.say(m.SnapshotEnd(), 7)
    received = nanoseconds(gateway)
    gateway.wait(0.5)
    assert gateway.sent() == [m.Receipt(received_sequence=9, received_nanoseconds=received)]
    gateway.say(m.CurrentRoadName(), 7, 10)
    snapshot(gateway, session=8)
    gateway.wait(2)
    assert gateway.sent() == []


def test_what_a_caller_can_queue_is_bounded() -> None:
    machine, gateway = guided()
    for number in range(1_000):
        machine.send(m.PromptAnswer(request_id=str(number)))
        machine.send(m.ZoomCluster(direction=m.ZoomDirection.IN), 7)
    assert len(gateway.sent()) == 32


def test_a_state_prints_what_it_has() -> None:
    assert repr(VehicleState()) == "VehicleState()"
    assert repr(VehicleState(session=7, client="app")) == "VehicleState(session=7, client='app')"
