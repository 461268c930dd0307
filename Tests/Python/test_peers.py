"""Endpoints, clients and observers against a real waymarkd: each test with the objects on asyncio and with the blocking ones."""

from __future__ import annotations

import asyncio
import signal
from types import SimpleNamespace
from typing import Any

import pytest

import waymark_nav
from waymark_nav import ConnectionFailedError, Phase, RefusedError, Rejection, SessionEndedError, VehicleRefusedError, messages as m
from waymark_nav.messages import Outcome, SessionEndReason

from conftest import Gateway
from drive import CAFE, TRIP, is_over, meters, place, route, run, shows, until


def test_a_client_guides_a_cluster(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            car.set_ready()
            updates = car.updates()
            session = await client.open_session("car")
            assert await session.ready("car") == "car"
            await session.start(TRIP, route())
            update = await until(updates, shows("Turn left"))
            assert (update.state.client, update.session) == ("app", session.id)
            await session.set_road_name("Main street")
            await session.update_trip_estimates(meters(800), m.TimeRemainingColor.GREEN)
            await session.update_maneuver_estimates(1, meters(120))
            await session.set_maneuver_state(m.ManeuverState.PREPARE)
            state = (await until(updates, lambda update: update.state.maneuver_state == m.ManeuverState.PREPARE)).state
            assert (state.current_road_name, state.trip_estimates, state.next_estimates) == (("Main street",), meters(800), meters(120))
            await session.pause(m.PauseReason.LOADING, "Loading")
            await session.resume()
            await session.reroute(route("Turn right"), m.RerouteReason.MISSED_TURN)
            await until(updates, shows("Turn right"))
            await session.set_upcoming_maneuvers([2])
            await session.show_alert(m.NavigationAlert(id=1, title_variants=("Works",)))
            await session.dismiss_alert(1)
            await session.accepted()
            with pytest.raises(Rejection) as refused:
                await session.update_maneuver_estimates(9, meters(1))
            assert refused.value.field == "maneuver_id"
            await session.finish()
            assert (await until(updates, is_over)).state.end_reason == SessionEndReason.FINISHED
            await until(session.events(), lambda event: isinstance(event.message, m.SessionEnded))
            assert session.end_reason == SessionEndReason.FINISHED
            with pytest.raises(SessionEndedError):
                await session.finish()

    run(drive())


def test_a_lost_connection_loses_nothing(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            updates, connections = car.updates(), car.connections()
            session = await client.open_session("car")
            await session.start(TRIP, route())
            await until(updates, shows("Turn left"))
            car._cut()
            await session.set_road_name("Main street")
            await until(connections, lambda event: event == waymark_nav.Connected(resumed=True))
            await until(updates, lambda update: update.state.current_road_name == ("Main street",) and update.name == "snapshotEnd")
            client._cut()
            for number in range(50):
                await session.set_road_name(f"Street {number}")
                await session.pause(m.PauseReason.LOADING, str(number))
            await session.accepted()
            update = await until(updates, lambda update: update.state.pause_description == ("49",))
            assert update.state.current_road_name == ("Street 49",)

    run(drive())


def test_a_restarted_gateway_continues_the_drive(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            updates = car.updates()
            session = await client.open_session("car")
            await session.start(TRIP, route())
            await session.set_road_name("Main street")
            await until(updates, lambda update: update.state.current_road_name == ("Main street",))
            old = session.id
            gateway.stop(signal.SIGKILL)
            gateway.start()
            await until(updates, lambda update: update.name == "forgotten")
            update = await until(updates, lambda update: update.state.current_road_name == ("Main street",))
            assert shows("Turn left")(update)
            await session.accepted()
            assert session.id not in (0, old)

    run(drive())


def test_a_vehicle_asks_for_a_stop_and_gets_it(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        prompts: list[m.Prompt] = []

        def agree(prompt: m.Prompt) -> bool:
            prompts.append(prompt)
            return True

        def offer(request: m.WaypointRequest, session: Any) -> Any:
            return api.Offer(meters(900), lambda: session.reroute(route("Turn to the café")))

        async with (
            api.Endpoint("car", "cluster", gateway.vehicle, on_prompt=agree) as car,
            api.Client("app", gateway.navigation) as client,
        ):
            updates = car.updates()
            session = await client.open_session("car", on_waypoint=offer)
            events = session.events()
            await session.start(TRIP, route())
            await until(updates, shows("Turn left"))
            assert await car.request_waypoint(CAFE) == Outcome.ACCEPTED
            assert [(prompt.waypoint, prompt.travel_estimates) for prompt in prompts] == [(CAFE, meters(900))]
            await until(updates, shows("Turn to the café"))
            outcome = await until(events, lambda event: isinstance(event.message, m.RequestOutcome))
            assert outcome.message.outcome == Outcome.ACCEPTED

    run(drive())


@pytest.mark.parametrize("reason", [Outcome.DECLINED_BY_USER, Outcome.BUSY])
def test_a_client_declines_a_stop(gateway: Gateway, api: SimpleNamespace, reason: Outcome) -> None:
    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            session = await client.open_session("car", on_waypoint=lambda request, session: reason)
            await session.start(TRIP, route())
            await until(car.updates(), shows("Turn left"))
            assert await car.request_waypoint(CAFE) == reason

    run(drive())


def test_a_failing_handler_declines_a_stop(gateway: Gateway, api: SimpleNamespace) -> None:
    def fail(request: m.WaypointRequest, session: Any) -> Any:
        raise RuntimeError("no map")

    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            session = await client.open_session("car", on_waypoint=fail)
            await session.start(TRIP, route())
            await until(car.updates(), shows("Turn left"))
            assert await car.request_waypoint(CAFE) == Outcome.INVALID

    run(drive())


def test_a_shared_destination_is_taken_by_the_vehicles_that_want_it(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with (
            api.Endpoint("car", "cluster", gateway.vehicle, on_destination=lambda share: True),
            api.Endpoint("bus", "cluster", gateway.vehicle, on_destination=lambda share: False),
            api.Endpoint("van", "cluster", gateway.vehicle),
            api.Client("app", gateway.navigation) as client,
        ):
            session = await client.open_session("car", "bus", "van")
            await session.start(TRIP, route())
            assert await session.share_destination(TRIP.destination) == {
                "car": Outcome.ACCEPTED,
                "bus": Outcome.DECLINED_BY_USER,
                "van": Outcome.NOT_SUPPORTED,
            }

    run(drive())


def test_a_vehicle_stops_guidance_and_navigates_by_itself(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            updates = car.updates()
            assert await car.cancel_navigation() is None
            session = await client.open_session("car")
            await session.start(TRIP, route())
            await until(updates, shows("Turn left"))
            assert await car.cancel_navigation() == SessionEndReason.USER_STOPPED
            await until(session.events(), lambda event: isinstance(event.message, m.SessionEnded))
            assert session.end_reason == SessionEndReason.USER_STOPPED
            own = m.CancelReason.OWN_NAVIGATION_STARTED
            assert await car.cancel_navigation(own) == SessionEndReason.OWN_NAVIGATION_STARTED
            with pytest.raises(VehicleRefusedError) as refused:
                await client.open_session("car")
            assert refused.value.code == m.ErrorCode.VEHICLE_NAVIGATES_ITSELF
            car.allow_navigation()
            # The gateway reads the requests of one connection in order: with this answer it has read the permission.
            assert await car.request_destination(place("Home")) == Outcome.NOT_SUPPORTED
            session = await client.open_session("car")
            await session.start(TRIP, route())
            await until(updates, shows("Turn left"))

    run(drive())


def test_a_session_for_any_vehicle_that_asked_finds_one(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with api.Client("app", gateway.navigation) as client:
            session = await client.open_session()
            async with (
                api.Endpoint("car", "cluster", gateway.vehicle) as car,
                api.Endpoint("bus", "cluster", gateway.vehicle, guidance_wanted=False),
            ):
                car.set_ready()
                assert await session.ready() == "car"
                assert list(session.vehicles) == ["car"]

    run(drive())


def test_leaving_the_block_of_a_session_ends_it(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            updates = car.updates()
            async with await client.open_session("car") as session:
                await session.start(TRIP, route())
                await until(updates, shows("Turn left"))
            assert (await until(updates, is_over)).state.end_reason == SessionEndReason.CANCELLED_BY_CLIENT

    run(drive())


def test_receipts_say_what_was_shown(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car, api.Client("app", gateway.navigation) as client:
            updates = car.updates()
            session = await client.open_session("car", receipts_every_milliseconds=100)
            events = session.events()
            await session.start(TRIP, route())
            update = await until(updates, shows("Turn left"))
            car.mark_shown(update.sequence)
            await session.set_road_name("Main street")

            def is_shown(event: waymark_nav.SessionEvent) -> bool:
                return isinstance(event.message, m.ReceiptReport) and any(each.shown_sequence >= 1 for each in event.message.endpoints)

            await until(events, is_shown)

    run(drive())


def test_an_observer_sees_who_is_connected_and_what_crosses(gateway: Gateway, api: SimpleNamespace) -> None:
    async def drive() -> None:
        async with (
            api.Observer("monitor", gateway.observer, frames=True) as observer,
            api.Endpoint("car", "cluster", gateway.vehicle) as car,
            api.Client("app", gateway.navigation) as client,
        ):
            await observer.complete()
            assert observer.visibility == m.Visibility.ALL
            entries = observer.entries()
            session = await client.open_session("car")
            await session.start(TRIP, route())
            await until(car.updates(), shows("Turn left"))
            await until(entries, lambda entry: getattr(entry.message, "kind", None) == m.ObservedKind.STARTED)
            counters = await observer.counters()
            assert counters[m.CounterName.SESSIONS, 0] == 1
            measures = await observer.measures()
            assert [(each.session_id, each.sequence) for each in measures.sessions] == [(session.id, 1)]
            assert (list(observer.vehicles), list(observer.clients), list(observer.sessions)) == (["car"], ["app"], [session.id])
            observer._cut()
            await session.finish()
            await until(entries, lambda entry: getattr(entry.message, "kind", None) == m.ObservedKind.SESSION_ENDED)
            assert observer.guidance == {}

    run(drive())


# Errors


def test_without_a_gateway_the_error_says_so(api: SimpleNamespace) -> None:
    async def connect() -> None:
        with pytest.raises(ConnectionFailedError, match="is waymarkd running"):
            async with api.Endpoint("car", "cluster", "unix:/nonexistent/v"):
                pass
        with pytest.raises(ConnectionFailedError, match="nothing listens there; is waymarkd running"):
            async with api.Client("app", "tcp:localhost:1"):
                pass
        with pytest.raises(ValueError, match="is not an address"):
            api.Endpoint("car", "cluster", "udp:somewhere")

    run(connect())


def test_a_listener_of_another_role_refuses(gateway: Gateway, api: SimpleNamespace) -> None:
    async def connect() -> None:
        with pytest.raises(RefusedError) as refused:
            async with api.Endpoint("car", "cluster", gateway.navigation):
                pass
        assert refused.value.code == m.CloseCode.ROLE_NOT_ALLOWED

    run(connect())


def test_calls_after_close_say_that_it_is_closed(gateway: Gateway, api: SimpleNamespace) -> None:
    async def connect() -> None:
        async with api.Endpoint("car", "cluster", gateway.vehicle) as car:
            updates = car.updates()
        with pytest.raises(waymark_nav.ClosedError):
            await car.request_waypoint(CAFE)
        assert [update.name async for update in updates] == ["current"]

    run(connect())


# What only asyncio has


def test_cancelling_a_call_withdraws_its_request(gateway: Gateway) -> None:
    async def drive() -> None:
        asked, answered = asyncio.Event(), asyncio.Event()

        async def wait(request: m.WaypointRequest, session: waymark_nav.Session) -> Outcome:
            asked.set()
            await answered.wait()
            return Outcome.BUSY

        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation) as client,
        ):
            session = await client.open_session("car", on_waypoint=wait)
            events = session.events()
            await session.start(TRIP, route())
            await until(car.updates(), shows("Turn left"))
            async with asyncio.TaskGroup() as group:
                call = group.create_task(car.request_waypoint(CAFE))
                await asked.wait()
                call.cancel()
            assert call.cancelled()
            event = await until(events, lambda event: isinstance(event.message, m.RequestOutcome))
            assert event.message.outcome == Outcome.WITHDRAWN
            answered.set()

    run(drive())


def test_a_request_that_two_calls_wait_for_is_withdrawn_with_the_second(gateway: Gateway) -> None:
    async def drive() -> None:
        asked, answered = asyncio.Event(), asyncio.Event()

        async def wait(request: m.WaypointRequest, session: waymark_nav.Session) -> Outcome:
            asked.set()
            await answered.wait()
            return Outcome.BUSY

        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation) as client,
        ):
            session = await client.open_session("car", on_waypoint=wait)
            await session.start(TRIP, route())
            await until(car.updates(), shows("Turn left"))
            first = asyncio.create_task(car.request_waypoint(CAFE, request_id="stop"))
            second = asyncio.create_task(car.request_waypoint(CAFE, request_id="stop"))
            await asked.wait()
            first.cancel()
            answered.set()
            assert await second == Outcome.BUSY

    run(drive())


def test_a_call_that_waits_over_two_lost_connections_learns_that_its_request_is_gone(gateway: Gateway) -> None:
    async def drive() -> None:
        asked = asyncio.Event()

        async def never(request: m.DestinationRequest) -> Outcome:
            asked.set()
            await asyncio.Event().wait()
            return Outcome.BUSY

        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation, on_destination=never),
        ):
            connections = car.connections()
            call = asyncio.create_task(car.request_destination(CAFE))
            await asked.wait()
            car._cut()
            await until(connections, lambda event: event == waymark_nav.Connected(resumed=True))
            assert not call.done()
            gateway.stop(signal.SIGKILL)
            gateway.start()
            assert await call == Outcome.GONE

    run(drive())


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        *((kind, end) for kind in ("stop", "own prompt") for end in ("withdrawn", "session over", "connection lost", "closed")),
        *(("drive", end) for end in ("withdrawn", "connection lost", "closed")),
    ],
)
def test_the_end_of_a_request_cancels_its_handler(gateway: Gateway, kind: str, end: str) -> None:
    async def drive() -> None:
        asked, cancelled = asyncio.Event(), asyncio.Event()

        async def wait() -> bool:
            asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return True

        async def on_waypoint(request: m.WaypointRequest, session: waymark_nav.Session) -> waymark_nav.OwnPrompt | Outcome:
            if kind == "own prompt":
                return waymark_nav.OwnPrompt(wait)
            await wait()
            return Outcome.BUSY

        async def on_destination(request: m.DestinationRequest) -> Outcome:
            await wait()
            return Outcome.BUSY

        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation, on_destination=on_destination) as client,
        ):
            if kind == "drive":
                call = asyncio.create_task(car.request_destination(CAFE))
            else:
                session = await client.open_session("car", on_waypoint=on_waypoint)
                await session.start(TRIP, route())
                await until(car.updates(), shows("Turn left"))
                call = asyncio.create_task(car.request_waypoint(CAFE))
            await asked.wait()
            match end:
                case "withdrawn":
                    call.cancel()
                case "session over":
                    await session.cancel()
                case "connection lost":
                    client._cut()
                case "closed":
                    await client.close()
            await cancelled.wait()
            if end != "closed":
                await asyncio.sleep(0)
                assert not client._tasks and not client._answering
            outcome = {"withdrawn": None, "session over": Outcome.SESSION_ENDED}.get(end, Outcome.GONE)
            assert (None if call.cancelled() or call.cancelling() else await call) == outcome

    run(drive())


def test_a_handler_that_continues_after_its_cancellation_answers_nothing(gateway: Gateway) -> None:
    async def drive() -> None:
        asked, cancelled, answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def stubborn(request: m.DestinationRequest) -> waymark_nav.Accept:
            asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.set()
                await answered.wait()
            return waymark_nav.Accept()

        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation, on_destination=stubborn, report_ignored=True) as client,
        ):
            call = asyncio.create_task(car.request_destination(CAFE))
            await asked.wait()
            call.cancel()
            await cancelled.wait()
            # It still runs, so it counts.
            (task,) = client._tasks
            answered.set()
            await asyncio.wait((task,))
            assert not client._tasks and not client._machine._control

    run(drive())


def test_a_handler_may_close_its_client(gateway: Gateway) -> None:
    async def drive() -> None:
        closed = asyncio.Event()

        async def leave(request: m.DestinationRequest) -> Outcome:
            await client.close()
            closed.set()
            return Outcome.BUSY

        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation, on_destination=leave) as client,
        ):
            assert await car.request_destination(CAFE) == Outcome.GONE
            await closed.wait()

    run(drive())


def test_cancelling_an_opening_leaves_no_session(gateway: Gateway) -> None:
    async def drive() -> None:
        async with waymark_nav.Client("app", gateway.navigation) as client:
            opening = asyncio.create_task(client.open_session("car"))
            await asyncio.sleep(0)
            opening.cancel()
            async with (
                waymark_nav.Endpoint("car", "cluster", gateway.vehicle),
                waymark_nav.Client("other", gateway.navigation) as other,
            ):
                # The gateway reads one connection in order, so with this answer it has read the end of the other session.
                await client.open_session("bus")
                # It refuses a vehicle that another client guides.
                session = await other.open_session("car")
                assert session.vehicles["car"].standing == m.VehicleStanding.JOINED

    run(drive())


def test_a_handler_may_close_its_endpoint(gateway: Gateway) -> None:
    async def drive() -> None:
        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle, on_destination=lambda share: leave()) as car,
            waymark_nav.Client("app", gateway.navigation) as client,
        ):
            left = asyncio.Event()

            async def leave() -> bool:
                await car.close()
                left.set()
                return True

            session = await client.open_session("car")
            await session.start(TRIP, route())
            await until(car.updates(), shows("Turn left"))
            assert await session.share_destination(TRIP.destination) == {"car": Outcome.GONE}
            await left.wait()

    run(drive())


def test_a_feed_has_one_reader(gateway: Gateway) -> None:
    async def read() -> None:
        async with waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car:
            updates = car.updates()
            await anext(updates)
            first = asyncio.create_task(anext(updates))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="one reader"):
                await anext(updates)
            first.cancel()

    run(read())


def test_a_slow_reader_is_told_what_it_missed(gateway: Gateway) -> None:
    async def drive() -> None:
        async with (
            waymark_nav.Endpoint("car", "cluster", gateway.vehicle) as car,
            waymark_nav.Client("app", gateway.navigation) as client,
        ):
            slow, fast = car.updates(), car.updates()
            session = await client.open_session("car")
            await session.start(TRIP, route())
            count = 400
            for number in range(count):
                await session.pause(m.PauseReason.LOADING, str(number))
                await session.set_road_name(str(number))
            await until(fast, lambda update: update.state.current_road_name == (str(count - 1),))
            update = await anext(slow)
            read = 1
            assert update.missed > 0
            async for later in slow:
                read += 1
                assert later.missed == 0
                if later.state.current_road_name == (str(count - 1),):
                    break
            # Of the road names only the newest was kept; of the events as many as there was room for.
            assert read == 256
            assert later.state.phase is Phase.PAUSED

    run(drive())
