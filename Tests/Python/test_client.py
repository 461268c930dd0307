"""Navigation clients without I/O: what they keep, resume and say again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from waymark_nav import Rejection, SessionEndedError, messages as m
from waymark_nav._wire import Message
from waymark_nav.core import (
    Asked,
    Client,
    ClientSettings,
    InquiryEnded,
    OpeningRefused,
    Progress,
    Session,
    SessionMessage,
    SessionOpen,
    SessionOver,
    ShareEnded,
    SimulationAsked,
)
from waymark_nav.core._session import KEPT_COUNT_MAX
from waymark_nav.frames import Frame
from waymark_nav.messages import Answer, ErrorCode, Feature, Outcome, OutcomeCause, SessionEndReason

from drive import CAFE, TRIP, meters, place, route
from scripted import Gateway


def joined(vehicle: str = "car") -> m.VehicleStatus:
    return m.VehicleStatus(vehicle_id=vehicle, standing=m.VehicleStanding.JOINED)


def connected(**values: object) -> tuple[Client, Gateway]:
    machine = Client(ClientSettings(client="app", **values))  # type: ignore[arg-type]
    gateway = Gateway(machine)
    gateway.welcome()
    gateway.events()
    return machine, gateway


def opened(**values: object) -> tuple[Client, Gateway, Session]:
    """A client with session 7."""
    machine, gateway = connected(**values)
    session = machine.open_session(("car",))
    (opening,) = gateway.sent()
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=7, vehicles=(joined(),)))
    gateway.events()
    return machine, gateway, session


def guided(**values: object) -> tuple[Client, Gateway, Session]:
    machine, gateway, session = opened(**values)
    session.publish(m.StartGuidance(trip=TRIP, generation=session.new_generation(), route=route()))
    gateway.sent()
    return machine, gateway, session


def estimates(distance: int, generation: int = 1) -> m.UpdateManeuverEstimates:
    return m.UpdateManeuverEstimates(generation=generation, maneuver_id=1, travel_estimates=meters(distance))


def numbered(frames: list[Frame]) -> list[tuple[int, Message]]:
    return [(whole.sequence, whole.decode()) for whole in frames]


def test_publications_are_numbered_and_kept_until_they_are_acknowledged() -> None:
    _, gateway, session = guided()
    for number in range(3):
        session.publish(estimates(number))
        gateway.sent()
    assert not session.is_accepted
    gateway.say(m.Acknowledgement(sequence=3), 7)
    assert not session.is_accepted
    gateway.say(m.Acknowledgement(sequence=4), 7)
    assert session.is_accepted
    assert gateway.events(Progress) == [Progress(session)] * 2


def test_what_the_gateway_does_not_have_is_sent_again_with_its_numbers() -> None:
    _, gateway, session = guided()
    for distance in (400, 300, 200):
        session.publish(m.PauseGuidance(reason=m.PauseReason.LOADING, description_variants=(str(distance),)))
        session.publish(estimates(distance))
        gateway.sent()
    found = m.ResumedSession(session_id=7, sequence=3, phase=m.SessionPhase.PAUSED)
    gateway.reconnect(resumed=True, sessions=(found,))
    frames = gateway.sent_frames()
    assert [whole.sequence for whole in frames] == [4, 5, 6, 7]
    assert frames[-1].decode() == estimates(200)
    gateway.say(m.Acknowledgement(sequence=7), 7)
    assert session.is_accepted


def test_while_there_is_no_connection_only_the_newest_value_of_a_state_is_kept() -> None:
    _, gateway, session = guided()
    gateway.say(m.Acknowledgement(sequence=1), 7)
    gateway.cut()
    for distance in range(1_000, 0, -1):
        session.publish(estimates(distance))
        session.publish(m.CurrentRoadName(name_variants=(str(distance),)))
    session.publish(m.PauseGuidance(reason=m.PauseReason.LOADING))
    session.publish(estimates(0))
    gateway.now += 10
    gateway.welcome(resumed=True, sessions=(m.ResumedSession(session_id=7, sequence=1, phase=m.SessionPhase.ACTIVE),))
    assert numbered(gateway.sent_frames()) == [
        (2, estimates(1)),
        (3, m.CurrentRoadName(name_variants=("1",))),
        (4, m.PauseGuidance(reason=m.PauseReason.LOADING)),
        (5, estimates(0)),
    ]


def test_a_session_that_a_gateway_has_up_to_the_largest_number_keeps_that_number() -> None:
    _, gateway, session = guided()
    lying = m.ResumedSession(session_id=7, sequence=2**64 - 1, phase=m.SessionPhase.ACTIVE)
    orphan = m.ResumedSession(session_id=9, sequence=2**64 - 1, phase=m.SessionPhase.ACTIVE)
    gateway.reconnect(resumed=True, sessions=(lying, orphan))
    session.publish(m.CurrentRoadName(name_variants=("A",)))
    assert {frame.sequence for frame in gateway.sent_frames() if frame.is_published} == {2**64 - 1}


def test_a_restarted_gateway_is_told_the_present_state_of_the_drive() -> None:
    _, gateway, session = guided()
    session.publish(m.CurrentRoadName(name_variants=("Main street",)))
    for distance in (400, 300):
        session.publish(estimates(distance))
    session.publish(m.UpdateManeuverState(generation=1, state=m.ManeuverState.PREPARE))
    session.publish(m.ShowAlert(alert=m.NavigationAlert(id=1, title_variants=("Works",))))
    gateway.sent()
    before = session.content
    gateway.reconnect(resumed=False)
    (opening,) = gateway.sent()
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=9, vehicles=(joined(),)))
    frames = gateway.sent_frames()
    assert [(whole.session, whole.sequence) for whole in frames] == [(9, number) for number in range(1, 7)]
    start = frames[0].decode()
    assert isinstance(start, m.StartGuidance)
    assert (start.generation, start.route.maneuver_travel_estimates) == (2, meters(300))
    assert session.content.generation == 2
    kept = ("trip", "maneuvers", "upcoming_maneuvers", "current_road_name", "maneuver_state", "maneuver_estimates", "alert", "phase")
    assert [getattr(session.content, name) for name in kept] == [getattr(before, name) for name in kept]


def test_a_session_that_ended_meanwhile_is_over() -> None:
    machine, gateway, session = guided()
    other = machine.open_session(("bus",))
    (opening,) = gateway.sent()
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=8, vehicles=(joined("bus"),)))
    gateway.events()
    ended = m.ResumedSession(session_id=7, phase=m.SessionPhase.ENDED, end_reason=int(SessionEndReason.REPLACED))
    gateway.reconnect(resumed=True, sessions=(ended,))
    over = {event.session: event.reason for event in gateway.events(SessionOver)}
    assert over == {session: SessionEndReason.REPLACED, other: SessionEndReason.UNSPECIFIED}
    with pytest.raises(SessionEndedError):
        session.publish(estimates(1))


def test_an_opening_is_repeated_after_a_loss_and_refused_by_its_id() -> None:
    machine, gateway = connected()
    session = machine.open_session(None, receipts_every_milliseconds=100)
    (opening,) = gateway.sent()
    gateway.reconnect(resumed=True)
    assert gateway.sent() == [opening]
    assert isinstance(opening, m.OpenSession)
    error = m.Error(code=ErrorCode.LIMIT_REACHED, message_type=m.MessageType.OPEN_SESSION, request_id=opening.request_id)
    gateway.say(error)
    assert gateway.events(OpeningRefused) == [OpeningRefused(session, error)]


def test_a_session_that_no_caller_waits_for_is_ended() -> None:
    machine, gateway = connected()
    session = machine.open_session(("car",))
    (opening,) = gateway.sent()
    machine.abandon(session)
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=7))
    assert [(whole.session, whole.sequence, whole.decode()) for whole in gateway.sent_frames()] == [(7, 1, m.CancelGuidance())]
    # It may have been lost: the gateway says which sessions there are.
    orphan = m.ResumedSession(session_id=7, sequence=4, phase=m.SessionPhase.PREVIEW)
    gateway.reconnect(resumed=True, sessions=(orphan,))
    assert [(whole.session, whole.sequence) for whole in gateway.sent_frames()] == [(7, 5)]


def test_a_mistake_is_told_to_its_caller_and_nothing_is_sent() -> None:
    _, gateway, session = guided()
    wrong: list[tuple[Message, ErrorCode, str]] = [
        (m.UpcomingManeuvers(generation=1, maneuver_ids=(1, 9)), ErrorCode.UNKNOWN_REFERENCE, "maneuver_ids[1]"),
        (m.AddManeuvers(generation=1, maneuvers=(m.Maneuver(id=1),)), ErrorCode.DUPLICATE, "maneuvers[0].id"),
        (m.CurrentRouteSegment(generation=1, segment_id="leg"), ErrorCode.UNKNOWN_REFERENCE, "segment_id"),
        (m.CurrentLaneGuidance(generation=1, lane_guidance_id=3), ErrorCode.UNKNOWN_REFERENCE, "lane_guidance_id"),
        (
            m.AddRouteSegments(generation=1, segments=(m.RouteSegment(id="leg", origin=CAFE, destination=CAFE),)),
            ErrorCode.INCONSISTENT,
            "segments",
        ),
        (m.UpdateTripEstimates(travel_estimates=meters(50_000_001)), ErrorCode.OUT_OF_RANGE, "travel_estimates.distance_remaining_meters"),
        (
            m.ResumeGuidance(generation=2, route=replace(route(), current_lane_guidance_id=4)),
            ErrorCode.UNKNOWN_REFERENCE,
            "route.current_lane_guidance_id",
        ),
    ]
    before = session.content
    for message, code, field in wrong:
        with pytest.raises(Rejection) as refused:
            session.publish(message)
        assert (refused.value.code, refused.value.field) == (code, field)
    assert session.content == before
    assert gateway.sent() == []


def test_a_publication_that_the_gateway_refuses_is_removed_from_the_content() -> None:
    _, gateway, session = guided()
    session.publish(m.CurrentRoadName(name_variants=("Main street",)))
    session.publish(m.UpdateManeuverState(generation=1, state=m.ManeuverState.EXECUTE))
    session.publish(estimates(5))
    frames = gateway.sent_frames()
    state = next(whole for whole in frames if whole.type == m.MessageType.UPDATE_MANEUVER_STATE)
    error = m.Error(code=ErrorCode.WRONG_STATE, field="state", message_type=state.type, session_id=7, sequence=state.sequence)
    gateway.say(error)
    assert gateway.events(SessionMessage) == [SessionMessage(session, error)]
    assert session.content.maneuver_state == m.ManeuverState.CONTINUE
    assert session.content.current_road_name == ("Main street",)
    gateway.say(m.Acknowledgement(sequence=4), 7)
    assert session.is_accepted


def test_a_maneuver_state_is_never_taken_for_the_next_maneuver() -> None:
    _, gateway, session = guided()
    gateway.cut()
    for message in (
        m.UpdateManeuverState(generation=1, state=m.ManeuverState.EXECUTE),
        m.UpdateManeuverState(generation=1, state=m.ManeuverState.CONTINUE),
        m.UpcomingManeuvers(generation=1, maneuver_ids=(2,)),
        m.UpdateManeuverState(generation=1, state=m.ManeuverState.INITIAL),
    ):
        session.publish(message)
    gateway.now += 10
    gateway.welcome(resumed=True, sessions=(m.ResumedSession(session_id=7, sequence=1, phase=m.SessionPhase.ACTIVE),))
    sent = gateway.sent()
    assert [type(message).__name__ for message in sent] == ["UpdateManeuverState"] * 2 + ["UpcomingManeuvers", "UpdateManeuverState"]


def test_what_waits_for_acknowledgement_is_bounded() -> None:
    _, gateway, session = guided()
    count = 1
    while session.has_room:
        session.publish(m.PauseGuidance(reason=m.PauseReason.LOADING))
        gateway.sent()
        count += 1
    assert count == KEPT_COUNT_MAX
    gateway.say(m.Acknowledgement(sequence=64), 7)
    assert session.has_room


def test_a_long_route_is_divided_into_frames_that_the_gateway_takes() -> None:
    _, gateway, session = opened()
    session.frame_bytes_max = 4_096
    maneuvers = tuple(m.Maneuver(id=number, instruction_variants=("Turn left " * 10,)) for number in range(1, 200))
    long = m.RouteInformation(maneuvers=maneuvers, upcoming_maneuver_ids=(3, 4), maneuver_travel_estimates=meters(80))
    session.publish(m.StartGuidance(trip=TRIP, generation=session.new_generation(), route=long))
    frames = gateway.sent_frames()
    assert all(24 + len(whole.body) <= 4_096 for whole in frames)
    assert session.content.maneuvers == maneuvers
    assert session.content.upcoming_maneuvers == (3, 4)
    assert session.content.next_estimates == meters(80)
    with pytest.raises(Rejection) as refused:
        session.publish(m.CurrentRoadName(name_variants=("x" * 512,) * 8))
    assert refused.value.code == ErrorCode.LIMIT_REACHED


def test_what_the_operator_withholds_is_left_out_and_said_when_it_is_allowed() -> None:
    machine = Client(ClientSettings(client="app"))
    gateway = Gateway(machine)
    withheld = m.FeatureGrant(feature=Feature.MANEUVERS, reason=m.WithheldReason.POLICY)
    gateway.welcome(features=(withheld,))
    session = machine.open_session(("car",))
    gateway.sent()
    gateway.say(m.SessionOpened(request_id=session.opening.request_id, session_id=7))
    session.publish(m.StartGuidance(trip=TRIP, generation=session.new_generation(), route=route()))
    session.publish(estimates(100))
    (start,) = gateway.sent()
    assert isinstance(start, m.StartGuidance)
    assert start.route == m.RouteInformation(trip_travel_estimates=meters(9_000))
    gateway.say(m.Acknowledgement(sequence=1), 7)
    assert session.is_accepted
    gateway.reconnect(resumed=True, sessions=(m.ResumedSession(session_id=7, sequence=1, phase=m.SessionPhase.ACTIVE),))
    start, *others = gateway.sent()
    assert isinstance(start, m.StartGuidance)
    assert (start.generation, start.route.maneuvers) == (2, route().maneuvers)
    assert estimates(100, generation=2) in others


def test_a_drive_that_another_gateway_cannot_take_ends() -> None:
    _, gateway, session = guided()
    session.publish(m.CurrentRoadName(name_variants=("x" * 512,) * 8))
    gateway.sent()
    gateway.reconnect(resumed=False, receive_frame_bytes_max=4_096)
    (over,) = gateway.events(SessionOver)
    assert over == SessionOver(session, SessionEndReason.UNSPECIFIED)
    assert gateway.sent() == []


TYRES = "org.example.tyres"


def published(whole: Frame) -> tuple[int, int, bytes]:
    """The flags, the key and the content of an extension."""
    message = whole.decode()
    assert isinstance(message, m.PublishExtension)
    assert message.name == TYRES
    return whole.flags, whole.key, message.content


def with_extension() -> tuple[Client, Gateway, Session]:
    """A client with session 7, which publishes an extension."""
    machine = Client(ClientSettings(client="app", extensions=(TYRES,)))
    gateway = Gateway(machine)
    gateway.welcome(extensions=(TYRES,))
    session = machine.open_session(("car",))
    gateway.sent()
    gateway.say(m.SessionOpened(request_id=session.opening.request_id, session_id=7, vehicles=(joined(),)))
    gateway.events()
    return machine, gateway, session


def test_extensions_are_published_with_the_flags_of_the_page() -> None:
    _, gateway, session = with_extension()
    session.publish_extension(TYRES, b"72", 1, retained=True)
    session.publish_extension(TYRES, b"6", 1, retained=False)
    session.publish_extension(TYRES, b"x", None, retained=False)
    # The newest content of a state that is not sent yet is the only one that is sent.
    assert [published(whole) for whole in gateway.sent_frames()] == [(8, 1, b"6"), (0, 0, b"x")]
    for name, content, key, retained in (
        ("tyres", b"", None, False), (TYRES, b"x" * 65_537, None, False), (TYRES, b"", 65_536, False), (TYRES, b"", None, True),
    ):  # fmt: skip
        with pytest.raises(Rejection):
            session.publish_extension(name, content, key, retained)


def test_the_states_of_extensions_are_said_again_to_a_restarted_gateway() -> None:
    _, gateway, session = with_extension()
    session.publish_extension(TYRES, b"70", 2, retained=True)
    session.publish_extension(TYRES, b"71", 1, retained=True)
    session.publish_extension(TYRES, b"5", 2, retained=False)
    session.publish_extension(TYRES, b"event", None, retained=False)
    gateway.sent()
    gateway.reconnect(resumed=False, extensions=(TYRES,))
    (opening,) = gateway.sent()
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=8, vehicles=(joined(),)))
    assert [published(whole) for whole in gateway.sent_frames()] == [(24, 1, b"71")]


def test_an_extension_that_the_operator_withholds_is_not_sent_until_it_is_granted() -> None:
    machine = Client(ClientSettings(client="app", extensions=(TYRES,)))
    gateway = Gateway(machine)
    gateway.welcome()
    session = machine.open_session(("car",))
    gateway.sent()
    gateway.say(m.SessionOpened(request_id=session.opening.request_id, session_id=7, vehicles=(joined(),)))
    session.publish_extension(TYRES, b"72", 1, retained=True)
    assert gateway.sent() == []
    resumed = m.ResumedSession(session_id=7, phase=m.SessionPhase.PREVIEW)
    gateway.reconnect(resumed=True, sessions=(resumed,), extensions=(TYRES,))
    assert [published(whole) for whole in gateway.sent_frames()] == [(24, 1, b"72")]


def test_an_extension_of_an_endpoint_is_told_with_its_session() -> None:
    _, gateway, session = with_extension()
    sent = m.VehicleExtension(name=TYRES, content=b"ok", vehicle_id="car", endpoint="cluster")
    gateway.say(sent, 7)
    assert gateway.events(SessionMessage) == [SessionMessage(session, sent)]


# Simulated drives


def test_a_client_is_asked_to_simulate_drives_in_order() -> None:
    machine = Client(ClientSettings(client="app", simulations=True))
    gateway = Gateway(machine)
    gateway.welcome()
    start = m.SimulateDrive(action=m.SimulationAction.START, speed_percent=2_000, client_id="app")
    stop = m.SimulateDrive(action=m.SimulationAction.STOP, vehicle_id="car", endpoint="cluster")
    gateway.say(start)
    gateway.say(stop)
    assert gateway.events(SimulationAsked) == [SimulationAsked(start), SimulationAsked(stop)]


def test_a_client_declares_simulated_drives_only_if_it_simulates_them() -> None:
    for simulates in (False, True):
        hello = ClientSettings(client="app", simulations=simulates).hello()
        assert hello.navigation is not None
        assert (Feature.SIMULATED_DRIVES in hello.navigation.features) == simulates


# Requests of vehicles

STOP = m.WaypointRequest(request_id="stop", waypoint=CAFE, vehicle_id="car")


def test_a_request_is_answered_once_and_its_outcome_told_once() -> None:
    machine, gateway, session = guided()
    gateway.say(STOP, 7)
    assert gateway.events(Asked) == [Asked(session, STOP)]
    machine.answer(STOP, Answer.ESTIMATES, meters(900))
    (answer,) = gateway.sent()
    assert answer == m.RequestAnswer(request_id="stop", vehicle_id="car", answer=Answer.ESTIMATES, travel_estimates=meters(900))
    outcome = m.RequestOutcome(request_id="stop", vehicle_id="car", outcome=Outcome.ACCEPTED)
    gateway.say(outcome, 7)
    gateway.say(outcome, 7)
    assert gateway.events(InquiryEnded) == [InquiryEnded(session, STOP, Outcome.ACCEPTED)]
    machine.answer(STOP, Answer.ACCEPT)  # Too late.
    assert gateway.sent() == []


@pytest.mark.parametrize(
    ("said", "cause"),
    [(OutcomeCause.PROMPT_ANSWERED, OutcomeCause.PROMPT_ANSWERED), (OutcomeCause(999), OutcomeCause.UNSPECIFIED)],
)
def test_a_client_is_told_who_decided_and_why(said: OutcomeCause, cause: OutcomeCause) -> None:
    machine, gateway, session = guided()
    gateway.say(STOP, 7)
    machine.answer(STOP, Answer.ESTIMATES, meters(900))
    outcome = m.RequestOutcome(request_id="stop", vehicle_id="car", outcome=Outcome.DECLINED_BY_USER, cause=said, endpoint="hud")
    gateway.say(outcome, 7)
    assert gateway.events(InquiryEnded) == [InquiryEnded(session, STOP, Outcome.DECLINED_BY_USER, cause, "hud")]


@pytest.mark.parametrize("request_message", [replace(STOP, vehicle_id=""), m.DestinationRequest(request_id="go", destination=CAFE)])
def test_a_request_that_names_no_vehicle_cannot_be_answered_and_is_ignored(
    request_message: m.WaypointRequest | m.DestinationRequest,
) -> None:
    _, gateway, _ = guided(destinations=True)
    gateway.say(request_message, 7)
    assert gateway.events(Asked) == []


def test_after_a_loss_an_old_request_is_not_answered_and_its_outcome_is_still_told() -> None:
    machine, gateway, session = guided()
    gateway.say(STOP, 7)
    gateway.reconnect(resumed=True, sessions=(m.ResumedSession(session_id=7, sequence=1, phase=m.SessionPhase.ACTIVE),))
    assert not machine.is_asked(STOP)
    machine.answer(STOP, Answer.ESTIMATES, meters(900))
    assert gateway.sent() == []
    gateway.say(m.VehicleChanged(vehicle=joined()), 7)
    assert gateway.events(InquiryEnded) == [InquiryEnded(session, STOP, Outcome.GONE)]


def test_a_client_is_asked_for_a_drive_only_if_it_answers_such_requests() -> None:
    machine = Client(ClientSettings(client="app"))
    hello = Gateway(machine).open()
    assert hello.navigation is not None
    assert Feature.DESTINATION_REQUESTS not in hello.navigation.features
    machine, gateway = connected(destinations=True)
    request = m.DestinationRequest(request_id="go", destination=place("Home"), vehicle_id="car")
    gateway.say(request)
    assert gateway.events(Asked) == [Asked(None, request)]
    machine.answer(request, Answer.DECLINE, reason=Outcome.BUSY)
    assert gateway.sent() == [m.RequestAnswer(request_id="go", vehicle_id="car", answer=Answer.DECLINE, reason=Outcome.BUSY)]


# Shares


def share(gateway: Gateway, session: Session, share_id: str = "there") -> None:
    session.publish(m.ShareDestination(share_id=share_id, destination=TRIP.destination))
    gateway.sent()


def status(vehicle: str, stage: m.ShareStage, outcome: Outcome = Outcome.UNSPECIFIED) -> m.DestinationShareStatus:
    return m.DestinationShareStatus(share_id="there", vehicle_id=vehicle, stage=stage, outcome=outcome)


def test_a_share_ends_when_every_vehicle_has_answered_or_left() -> None:
    _, gateway, session = guided()
    for vehicle in ("bus", "van"):
        gateway.say(m.VehicleChanged(vehicle=joined(vehicle)), 7)
    share(gateway, session)
    for vehicle in ("car", "bus", "van"):
        gateway.say(status(vehicle, m.ShareStage.WILL_SHARE), 7)
    gateway.say(status("car", m.ShareStage.DID_SHARE), 7)
    gateway.say(status("bus", m.ShareStage.DID_FAIL_TO_SHARE, Outcome.TIMED_OUT), 7)
    assert gateway.events(ShareEnded) == []
    left = m.VehicleStatus(vehicle_id="van", standing=m.VehicleStanding.LEFT, end_reason=SessionEndReason.VEHICLE_GONE)
    gateway.say(m.VehicleChanged(vehicle=left), 7)
    (ended,) = gateway.events(ShareEnded)
    assert ended.outcomes == {"car": Outcome.ACCEPTED, "bus": Outcome.TIMED_OUT}


def test_the_destination_of_a_preview_is_shared_before_guidance() -> None:
    machine, gateway = connected()
    session = machine.open_session(("car",))
    gateway.sent()
    gateway.say(m.SessionOpened(request_id=session.opening.request_id, session_id=7, vehicles=(joined(),)))
    session.publish(m.TripPreviews(trips=(TRIP,)))
    shared = m.ShareDestination(share_id="there", destination=TRIP.destination, trip_id=TRIP.id)
    session.publish(shared)
    assert gateway.sent()[-1] == shared


def test_the_outcome_of_a_share_is_not_known_after_a_loss() -> None:
    _, gateway, session = guided()
    share(gateway, session)
    with pytest.raises(Rejection):
        session.publish(m.ShareDestination(share_id="there", destination=CAFE))
    gateway.reconnect(resumed=True, sessions=(m.ResumedSession(session_id=7, sequence=2, phase=m.SessionPhase.ACTIVE),))
    assert gateway.events(ShareEnded) == [ShareEnded(session, "there", None)]


def test_messages_about_a_session_are_told_with_it() -> None:
    _, gateway, session = guided()
    messages: list[Message] = [
        m.VehicleSettings(ready_to_show=True, vehicle_id="car", endpoint="cluster"),
        m.ZoomCluster(direction=m.ZoomDirection.IN, vehicle_id="car", endpoint="cluster"),
        m.DestinationShareWanted(vehicle_id="car", endpoint="cluster"),
        m.UpdateRouteFeedback(generation=1, vehicle_id="car"),
        m.ReceiptReport(gateway_sequence=1),
    ]
    for message in messages:
        gateway.say(message, 7)
        gateway.say(message, 6)
    assert gateway.events(SessionMessage) == [SessionMessage(session, message) for message in messages]
    gateway.say(m.SessionEnded(session_id=7, reason=SessionEndReason(99)))
    assert gateway.events(SessionOver) == [SessionOver(session, SessionEndReason.UNSPECIFIED)]


def test_a_session_is_opened_in_order_with_what_the_gateway_says_of_its_vehicles() -> None:
    machine, gateway = connected()
    session = machine.open_session(("car", "bus"))
    gateway.sent()
    refused = m.VehicleStatus(vehicle_id="bus", standing=m.VehicleStanding.REFUSED, refusal=ErrorCode.VEHICLE_BUSY)
    gateway.say(m.SessionOpened(request_id=session.opening.request_id, session_id=7, vehicles=(joined(), refused)))
    told = gateway.events()
    assert told[0] == SessionOpen(session)
    assert [event.message.vehicle for event in told[1:]] == [joined(), refused]
    assert session.present_vehicles == {"car"}
