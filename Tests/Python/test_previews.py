"""Trips to choose from before guidance: what endpoints and clients without I/O say of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from waymark_nav import Rejection, messages as m
from waymark_nav.core import Asked, Client, ClientSettings, Endpoint, EndpointSettings, InquiryEnded, RequestEnded, Session, SessionMessage
from waymark_nav.messages import Answer, Outcome

from drive import CAFE, TRIP, meters, route
from scripted import Gateway

SHOWN = tuple(
    replace(TRIP, id=name, route_choices=(m.RouteChoice(id=1), m.RouteChoice(id=2)), travel_estimates=meters(900)) for name in ("a", "b")
)
PREVIEWS = m.TripPreviews(trips=SHOWN, selected_trip_id="a")
SELECTION = m.SelectPreview(trip_id="b", route_choice_id=2)
START = m.StartTripRequest(request_id="s", trip_id="b", route_choice_id=2)


def choosing() -> tuple[Endpoint, Gateway]:
    """An endpoint that holds trips to choose from."""
    machine = Endpoint(EndpointSettings(vehicle="car"))
    gateway = Gateway(machine)
    gateway.welcome()
    gateway.say(m.SnapshotBegin(kind=m.SnapshotKind.FULL, client_id="app"), 7)
    gateway.say(m.SnapshotEnd(), 7)
    gateway.say(PREVIEWS, 7, 1)
    gateway.events()
    gateway.sent()
    return machine, gateway


def test_an_endpoint_holds_the_trips_and_the_highlighted_one_until_guidance_starts() -> None:
    machine, gateway = choosing()
    assert (machine.state.previews, machine.state.selected_preview) == (SHOWN, "a")
    gateway.say(replace(PREVIEWS, selected_trip_id=""), 7, 2)
    assert machine.state.selected_preview == ""
    gateway.say(m.StartGuidance(trip=SHOWN[1], generation=1, route=route()), 7, 3)
    assert (machine.state.previews, machine.state.selected_preview, machine.state.trip) == ((), "", SHOWN[1])


def test_a_selection_is_of_the_session_and_repeated_once() -> None:
    machine, gateway = choosing()
    machine.send(SELECTION, machine.state.session)
    (whole,) = gateway.sent_frames()
    assert (whole.decode(), whole.session) == (SELECTION, 7)
    gateway.reconnect(resumed=True)
    assert gateway.sent() == [SELECTION]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []


@pytest.mark.parametrize("resumed", [True, False])
def test_a_selection_is_not_repeated_after_newer_previews_or_to_a_gateway_that_forgot_the_endpoint(resumed: bool) -> None:
    machine, gateway = choosing()
    machine.send(SELECTION, machine.state.session)
    gateway.sent()
    if resumed:
        gateway.say(replace(PREVIEWS, selected_trip_id="b"), 7, 2)
    gateway.reconnect(resumed=resumed)
    assert gateway.sent() == []


def test_a_selection_that_was_rejected_is_not_repeated() -> None:
    machine, gateway = choosing()
    machine.send(SELECTION, machine.state.session)
    gateway.sent()
    error = m.Error(code=m.ErrorCode.UNKNOWN_REFERENCE, field="trip_id", reason="is gone", message_type=m.MessageType.SELECT_PREVIEW)
    gateway.say(error)
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []


def test_a_start_is_of_the_session_and_repeated_until_its_outcome() -> None:
    machine, gateway = choosing()
    machine.request(START)
    (whole,) = gateway.sent_frames()
    assert (whole.decode(), whole.session) == (START, 7)
    gateway.reconnect(resumed=True)
    assert gateway.sent() == [START]
    gateway.say(m.RequestOutcome(request_id="s", vehicle_id="car", outcome=Outcome.ACCEPTED))
    assert gateway.events(RequestEnded) == [RequestEnded("s", Outcome.ACCEPTED)]
    gateway.reconnect(resumed=True)
    assert gateway.sent() == []


def test_an_outcome_says_that_previews_follow() -> None:
    machine, gateway = choosing()
    machine.request(m.DestinationRequest(request_id="d", destination=CAFE))
    gateway.say(m.RequestOutcome(request_id="d", vehicle_id="car", outcome=Outcome.ACCEPTED, preview_follows=True))
    assert gateway.events(RequestEnded) == [RequestEnded("d", Outcome.ACCEPTED, True)]


@pytest.mark.parametrize(
    "message", [m.SelectPreview(trip_id=""), m.SelectPreview(trip_id="t" * 129), m.SelectPreview(trip_id="t", vehicle_id="v")]
)
def test_a_selection_that_the_gateway_would_reject_is_not_sent(message: m.SelectPreview) -> None:
    machine, gateway = choosing()
    with pytest.raises(Rejection):
        machine.send(message, 7)
    assert gateway.sent() == []


def previewing() -> tuple[Client, Gateway, Session]:
    """A client that shows trips to choose from in session 7."""
    machine = Client(ClientSettings(client="app"))
    gateway = Gateway(machine)
    gateway.welcome()
    session = machine.open_session(("car",))
    (opening,) = gateway.sent()
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=7))
    session.publish(PREVIEWS)
    assert gateway.sent() == [PREVIEWS]
    gateway.events()
    return machine, gateway, session


def test_a_client_is_told_what_is_selected() -> None:
    _, gateway, session = previewing()
    told = replace(SELECTION, vehicle_id="car", endpoint="cluster")
    gateway.say(told, 7)
    assert gateway.events() == [SessionMessage(session, told)]


def test_a_client_is_asked_to_start_a_trip_and_answers() -> None:
    machine, gateway, session = previewing()
    asked = replace(START, vehicle_id="car")
    gateway.say(asked, 7)
    assert gateway.events() == [Asked(session, asked)]
    machine.answer(asked, Answer.ACCEPT)
    assert gateway.sent() == [m.RequestAnswer(request_id="s", vehicle_id="car", answer=Answer.ACCEPT)]
    gateway.say(m.RequestOutcome(request_id="s", vehicle_id="car", outcome=Outcome.ACCEPTED), 7)
    assert gateway.events() == [InquiryEnded(session, asked, Outcome.ACCEPTED)]


def test_previews_are_shown_again_after_a_restart_of_the_gateway() -> None:
    _, gateway, _ = previewing()
    gateway.reconnect(resumed=False)
    (opening,) = gateway.sent()
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=9))
    assert gateway.sent() == [PREVIEWS]
