"""What only the blocking objects have; test_peers.py has the rest, for both kinds."""

from __future__ import annotations

import inspect
import threading
import time

import pytest

import waymark_nav
from waymark_nav import messages as m, sync
from waymark_nav.messages import Outcome, SessionEndReason

from conftest import Gateway
from drive import CAFE, TRIP, place, route, shows


@pytest.mark.parametrize("name", ["Endpoint", "Client", "Session", "Observer"])
def test_a_blocking_object_has_every_method_and_argument_of_its_twin(name: str) -> None:
    blocking, twin = getattr(sync, name), getattr(waymark_nav, name)
    for member, value in inspect.getmembers(twin):
        if member.startswith("_") and member != "__init__":
            continue
        assert hasattr(blocking, member), member
        if not inspect.isfunction(value):
            continue
        own, theirs = inspect.signature(getattr(blocking, member)).parameters, inspect.signature(value).parameters
        if name == "Session" and member == "__init__":
            continue
        assert [each for each in own if each != "timeout"] == list(theirs), member
        assert {each: own[each].default for each in theirs} == {each: theirs[each].default for each in theirs}, member


def test_a_program_without_asyncio_guides_a_cluster(gateway: Gateway) -> None:
    with sync.Endpoint("car", "cluster", gateway.vehicle) as car, sync.Client("app", gateway.navigation) as client:
        updates = car.updates()
        with client.open_session("car") as session:
            session.start(TRIP, route())
            assert next(update for update in updates if shows("Turn left")(update)).state.client == "app"
            session.finish()
            for event in session.events():
                if isinstance(event.message, m.SessionEnded):
                    break
            assert session.end_reason == SessionEndReason.FINISHED


def test_a_timeout_withdraws_what_was_asked_for(gateway: Gateway) -> None:
    answered = threading.Event()

    def wait(request: m.WaypointRequest, session: sync.Session) -> Outcome:
        answered.wait(60)
        return Outcome.BUSY

    with sync.Endpoint("car", "cluster", gateway.vehicle) as car, sync.Client("app", gateway.navigation) as client:
        session = client.open_session("car", on_waypoint=wait)
        events, updates = session.events(), car.updates()
        session.start(TRIP, route())
        next(update for update in updates if shows("Turn left")(update))
        with pytest.raises(TimeoutError):
            car.request_waypoint(CAFE, timeout=0.0)
        # Sent or not, the request is over: another one is the next that the client hears the end of.
        answered.set()
        assert car.request_waypoint(CAFE, request_id="second", timeout=60) == Outcome.BUSY
        outcome = next(event.message for event in events if isinstance(event.message, m.RequestOutcome))
        assert (outcome.request_id == "second") == (outcome.outcome == Outcome.BUSY)
        with pytest.raises(TimeoutError):
            car.connections().next(0.0) if not car.is_connected else client.open_session("bus").ready("bus", timeout=0.0)


def test_a_thread_of_a_handler_counts_until_it_ends(gateway: Gateway) -> None:
    asked, answer = threading.Event(), threading.Event()

    def wait(request: m.DestinationRequest) -> Outcome:
        asked.set()
        answer.wait(60)
        return Outcome.BUSY

    with sync.Endpoint("car", "cluster", gateway.vehicle) as car, sync.Client("app", gateway.navigation, on_destination=wait) as client:
        call = threading.Thread(target=lambda: car.request_destination(CAFE, request_id="drive"))
        call.start()
        asked.wait(60)
        car.withdraw("drive")
        call.join(60)
        while client._peer._answering:
            time.sleep(0.001)
        (task,) = client._peer._tasks
        answer.set()
        while not task.done():
            time.sleep(0.001)


def test_a_feed_raises_timeout_error_and_continues(gateway: Gateway) -> None:
    with sync.Endpoint("car", "cluster", gateway.vehicle) as car:
        states = car.states()
        assert states.next(60).session == 0
        with pytest.raises(TimeoutError):
            states.next(0.0)
        with sync.Client("app", gateway.navigation) as client:
            session = client.open_session("car")
            session.start(TRIP, route())
            while states.next(60).trip is None:
                pass


def test_a_handler_may_block_and_call(gateway: Gateway) -> None:
    """A destination request whose handler opens a session, and waits for it."""
    driven: list[sync.Session] = []
    done = threading.Event()

    with sync.Endpoint("car", "cluster", gateway.vehicle) as car:

        def drive() -> None:
            session = client.open_session("car")
            session.start(TRIP, route("Drive home"))
            driven.append(session)
            done.set()

        with sync.Client("app", gateway.navigation, on_destination=lambda request: sync.Accept(drive)) as client:
            updates = car.updates()
            assert car.request_destination(place("Home"), timeout=60) == Outcome.ACCEPTED
            assert next(update for update in updates if shows("Drive home")(update)).state.session
            assert done.wait(60)
            assert driven[0].end_reason is None
