"""The same as waymark_nav, blocking: for programs without asyncio.

    with Endpoint("car", "cluster") as car:
        for update in car.updates():
            print(update.name, update.state.next_maneuver)

All objects run on one loop in the background, so they may be used by several threads. A `timeout`, in seconds, raises TimeoutError, and
withdraws what the call has asked for, as cancelling does in asyncio. Handlers are called in threads of their own and may block; a thread
runs to its end also if its request has ended, and its answer is not sent then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeVar

import waymark_nav
from waymark_nav import core, messages as m
from waymark_nav._blocking import Feed as Feed, Peer, background, in_thread, threaded
from waymark_nav._wire import Message
from waymark_nav.core import Entry, Update, VehicleState
from waymark_nav.messages import CancelReason, Outcome, SessionEndReason

T = TypeVar("T")


class Endpoint(Peer[waymark_nav.Endpoint]):
    """One endpoint of a vehicle. See waymark_nav.Endpoint."""

    def __init__(
        self,
        vehicle: str,
        endpoint: str = "cluster",
        address: str | None = None,
        *,
        without: Iterable[m.Feature] = (),
        limits: m.VehicleLimits | None = None,
        distance_units: m.DistanceUnits = m.DistanceUnits.AS_PUBLISHED,
        locale: str = "",
        guidance_wanted: bool = True,
        on_prompt: Callable[[m.Prompt], bool] | None = None,
        on_destination: Callable[[m.ShareDestination], bool] | None = None,
        asks_for_simulated_drives: bool = False,
        display_name: str = "",
        credential: bytes = b"",
        keepalive_milliseconds: int = 0,
        receive_frame_bytes_max: int = 0,
        report_ignored: bool = False,
        extensions: Iterable[str] = (),
        reconnection: core.Reconnection | None = None,
    ) -> None:
        """See waymark_nav.Endpoint."""
        super().__init__(
            waymark_nav.Endpoint(
                vehicle,
                endpoint,
                address,
                without=without,
                limits=limits,
                distance_units=distance_units,
                locale=locale,
                guidance_wanted=guidance_wanted,
                on_prompt=threaded(on_prompt),
                on_destination=threaded(on_destination),
                asks_for_simulated_drives=asks_for_simulated_drives,
                display_name=display_name,
                credential=credential,
                keepalive_milliseconds=keepalive_milliseconds,
                receive_frame_bytes_max=receive_frame_bytes_max,
                report_ignored=report_ignored,
                extensions=extensions,
                reconnection=reconnection,
            )
        )

    @property
    def state(self) -> VehicleState:
        """What the endpoint holds now."""
        return self._peer.state

    def updates(self) -> Feed[Update]:
        """What is received from now on, for one more reader. It begins with the present state, as an update named "current"."""
        return Feed(background.call(self._peer.updates))

    def states(self) -> Feed[VehicleState]:
        """The state, now and after every change; a slow reader gets only the newest."""
        return Feed(background.call(self._peer.states))

    def mark_shown(self, sequence: int) -> None:
        """Everything up to a number is on the display: for the client's receipts."""
        background.call(self._peer.mark_shown, sequence)

    def request_waypoint(
        self, waypoint: m.Waypoint, *, segment_id: str = "", request_id: str | None = None, timeout: float | None = None
    ) -> Outcome:
        """Asks the client that guides to stop somewhere on the way; returns how the request ended."""
        return background.run(self._peer.request_waypoint(waypoint, segment_id=segment_id, request_id=request_id), timeout)

    def request_destination(self, destination: m.Waypoint, *, request_id: str | None = None, timeout: float | None = None) -> Outcome:
        """Asks for a drive to a place, like request_waypoint()."""
        return background.run(self._peer.request_destination(destination, request_id=request_id), timeout)

    def start_trip(self, trip_id: str, route_choice_id: int = 0, *, request_id: str | None = None, timeout: float | None = None) -> Outcome:
        """Asks the client to start a trip of the previews, like request_waypoint(). See waymark_nav.Endpoint.start_trip()."""
        return background.run(self._peer.start_trip(trip_id, route_choice_id, request_id=request_id), timeout)

    def withdraw(self, request_id: str) -> None:
        """Takes a request back: the call that waits for it returns WITHDRAWN, or the outcome if the gateway has decided before."""
        background.call(self._peer.withdraw, request_id)

    def cancel_navigation(
        self, reason: CancelReason = CancelReason.USER_STOPPED, *, timeout: float | None = None
    ) -> SessionEndReason | None:
        """Ends guidance at once; returns why the session ended. See waymark_nav.Endpoint.cancel_navigation()."""
        return background.run(self._peer.cancel_navigation(reason), timeout)

    def allow_navigation(self) -> None:
        """Lets clients guide again after the vehicle navigated itself."""
        background.call(self._peer.allow_navigation)

    def answer_prompt(self, request_id: str, accepted: bool) -> None:
        """Answers a prompt; the first answer of the vehicle's endpoints counts. The result of `on_prompt` does the same."""
        background.call(self._peer.answer_prompt, request_id, accepted)

    def answer_share(self, share_id: str, outcome: Outcome = Outcome.ACCEPTED) -> None:
        """Takes a shared destination, or not. The result of `on_destination` does the same."""
        background.call(self._peer.answer_share, share_id, outcome)

    def respond_to_alert(self, alert_id: int, action_id: int = 0) -> None:
        """Answers the alert that is shown: an action, or 0 to dismiss it."""
        background.call(self._peer.respond_to_alert, alert_id, action_id)

    def set_route_source(self, source: m.RouteSource) -> None:
        """Tells the client what the vehicle does with the route."""
        background.call(self._peer.set_route_source, source)

    def select_preview(self, trip_id: str, route_choice_id: int = 0) -> None:
        """Tells the client which trip of the previews is selected. See waymark_nav.Endpoint.select_preview()."""
        background.call(self._peer.select_preview, trip_id, route_choice_id)

    def set_route_feedback(self, feedback: m.UpdateRouteFeedback) -> None:
        """Tells the client how far the vehicle gets on the route with its charge."""
        background.call(self._peer.set_route_feedback, feedback)

    def want_destination(self, trip_id: str = "") -> None:
        """Asks the client to share the destination of a trip preview, or, while guided, of the trip that is driven (empty)."""
        background.call(self._peer.want_destination, trip_id)

    def update_settings(self, settings: m.VehicleSettings) -> None:
        """Tells the client how the display is set; what is not given stays as it was."""
        background.call(self._peer.update_settings, settings)

    def set_ready(self, ready: bool = True) -> None:
        """Tells the client whether the display is ready to show."""
        background.call(self._peer.set_ready, ready)

    def zoom(self, direction: m.ZoomDirection) -> None:
        """Asks the client to zoom the cluster's map."""
        background.call(self._peer.zoom, direction)

    def simulate_drive(self, action: m.SimulationAction, speed: float = 1) -> None:
        """Asks the client that guides to simulate a drive, or to stop. See waymark_nav.Endpoint.simulate_drive()."""
        background.call(self._peer.simulate_drive, action, speed)

    def send_extension(self, name: str, content: bytes) -> None:
        """Sends the client content of an extension. See waymark_nav.Endpoint.send_extension()."""
        background.call(self._peer.send_extension, name, content)


class Offer:
    """An answer to a waypoint request: the vehicle's user is asked with these estimates. See waymark_nav.Offer."""

    def __init__(self, travel_estimates: m.TravelEstimates, when_accepted: Callable[[], None] | None = None) -> None:
        self.travel_estimates = travel_estimates
        self.when_accepted = when_accepted


class OwnPrompt:
    """An answer to a waypoint request: this client asks its user by itself. See waymark_nav.OwnPrompt."""

    def __init__(self, ask: Callable[[], bool], when_accepted: Callable[[], None] | None = None) -> None:
        self.ask = ask
        self.when_accepted = when_accepted


class Accept:
    """An answer to a destination request: this client drives there. See waymark_nav.Accept."""

    def __init__(self, when_accepted: Callable[[], None] | None = None, with_preview: bool = False) -> None:
        self.when_accepted = when_accepted
        self.with_preview = with_preview


WaypointAnswer = Offer | OwnPrompt | Outcome
DestinationAnswer = Accept | Outcome
StartTripAnswer = Accept | Outcome


def _later(function: Callable[[], T]) -> Callable[[], Awaitable[T]]:
    return lambda: in_thread(function)


def _accept(answer: Accept | Outcome) -> waymark_nav.Accept | Outcome:
    if isinstance(answer, Outcome):
        return answer
    return waymark_nav.Accept(answer.when_accepted and _later(answer.when_accepted), answer.with_preview)


def _waypoint_answer(answer: WaypointAnswer) -> waymark_nav.Offer | waymark_nav.OwnPrompt | Outcome:
    if isinstance(answer, Outcome):
        return answer
    when_accepted = None if answer.when_accepted is None else _later(answer.when_accepted)
    if isinstance(answer, Offer):
        return waymark_nav.Offer(answer.travel_estimates, when_accepted)
    return waymark_nav.OwnPrompt(_later(answer.ask), when_accepted)


class Session:
    """A session of a client: what it publishes there. See waymark_nav.Session."""

    def __init__(self, session: waymark_nav.Session) -> None:
        self._session = session

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the session, unless it has ended."""
        background.run(self._session.__aexit__(kind, error, trace))

    @property
    def id(self) -> int:
        """The id on the wire; 0 while the gateway does not have the session."""
        return self._session.id

    @property
    def state(self) -> VehicleState:
        """What was published and not refused."""
        return self._session.state

    @property
    def vehicles(self) -> dict[str, m.VehicleStatus]:
        """The standing of each vehicle that has not left."""
        return background.call(lambda: self._session.vehicles)

    @property
    def end_reason(self) -> SessionEndReason | None:
        """Why it ended; None while it has not, UNSPECIFIED if it is not known."""
        return self._session.end_reason

    def events(self) -> Feed[waymark_nav.SessionEvent]:
        """What happens, for one more reader. It begins with the standing of each vehicle; SessionEnded is the last event."""
        return Feed(background.call(self._session.events))

    def ready(self, vehicle: str | None = None, *, timeout: float | None = None) -> str:
        """Waits until a display of a vehicle, None: of any, is ready to show; returns the vehicle's name."""
        return background.run(self._session.ready(vehicle), timeout)

    def accepted(self, *, timeout: float | None = None) -> None:
        """Waits until the gateway has acknowledged everything that was published."""
        background.run(self._session.accepted(), timeout)

    def publish(self, message: Message) -> None:
        """Publishes any message that clients publish. The other methods fill in the generation; here it must be given."""
        background.run(self._session.publish(message))

    def publish_extension(self, name: str, content: bytes, *, key: int | None = None, retained: bool = False) -> None:
        """Publishes content of an extension: an event, or with a key a state. See waymark_nav.Session.publish_extension()."""
        background.run(self._session.publish_extension(name, content, key=key, retained=retained))

    def preview(self, trips: Sequence[m.Trip], selected: str = "") -> None:
        """Shows trips to choose from; none: hides them."""
        background.run(self._session.preview(trips, selected))

    def start(self, trip: m.Trip, route: m.RouteInformation) -> None:
        """Starts guidance, or starts it over."""
        background.run(self._session.start(trip, route))

    def update_trip(self, trip: m.Trip) -> None:
        """The trip has changed."""
        background.run(self._session.update_trip(trip))

    def add_maneuvers(self, maneuvers: Sequence[m.Maneuver]) -> None:
        """Adds maneuvers to the route."""
        background.run(self._session.add_maneuvers(maneuvers))

    def add_lane_guidances(self, lane_guidances: Sequence[m.LaneGuidance]) -> None:
        """Adds lane guidances to the route."""
        background.run(self._session.add_lane_guidances(lane_guidances))

    def add_segments(self, segments: Sequence[m.RouteSegment]) -> None:
        """Adds segments to the route."""
        background.run(self._session.add_segments(segments))

    def set_upcoming_maneuvers(self, maneuver_ids: Sequence[int]) -> None:
        """The next maneuvers, nearest first."""
        background.run(self._session.set_upcoming_maneuvers(maneuver_ids))

    def set_lane_guidance(self, lane_guidance_id: int) -> None:
        """The lanes to show now; 0: none."""
        background.run(self._session.set_lane_guidance(lane_guidance_id))

    def set_road_name(self, *variants: str) -> None:
        """The road the vehicle is on, longest variant first; none: not known."""
        background.run(self._session.set_road_name(*variants))

    def set_maneuver_state(self, state: m.ManeuverState) -> None:
        """How near the first upcoming maneuver is."""
        background.run(self._session.set_maneuver_state(state))

    def set_segment(self, segment_id: str) -> None:
        """The segment that the vehicle is on."""
        background.run(self._session.set_segment(segment_id))

    def update_trip_estimates(self, estimates: m.TravelEstimates, color: m.TimeRemainingColor = m.TimeRemainingColor.DEFAULT) -> None:
        """How far and how long the whole trip still is."""
        background.run(self._session.update_trip_estimates(estimates, color))

    def update_maneuver_estimates(self, maneuver_id: int, estimates: m.TravelEstimates) -> None:
        """How far it is to a maneuver."""
        background.run(self._session.update_maneuver_estimates(maneuver_id, estimates))

    def set_speed_limit(self, limit: m.SpeedLimit, ahead: m.SpeedLimitAhead | None = None) -> None:
        """The speed limit where the vehicle is, and the next different one; None: none is known ahead."""
        background.run(self._session.set_speed_limit(limit, ahead))

    def pause(self, reason: m.PauseReason, *description: str) -> None:
        """Guidance stands still."""
        background.run(self._session.pause(reason, *description))

    def resume(self, route: m.RouteInformation | None = None, reason: m.RerouteReason = m.RerouteReason.UNKNOWN) -> None:
        """Guidance continues after a pause, on a new route or as it was."""
        background.run(self._session.resume(route, reason))

    def reroute(self, route: m.RouteInformation, reason: m.RerouteReason = m.RerouteReason.UNKNOWN) -> None:
        """Guidance continues on a new route: pauses with REROUTING, and resumes."""
        background.run(self._session.reroute(route, reason))

    def show_alert(self, alert: m.NavigationAlert) -> None:
        """Shows an alert, in place of the one before."""
        background.run(self._session.show_alert(alert))

    def dismiss_alert(self, alert_id: int, dismissal: m.AlertDismissal = m.AlertDismissal.SYSTEM_DISMISSED) -> None:
        """Removes the alert that is shown; also after a vehicle has answered it."""
        background.run(self._session.dismiss_alert(alert_id, dismissal))

    def share_destination(
        self, destination: m.Waypoint, share_id: str | None = None, *, trip_id: str = "", timeout: float | None = None
    ) -> dict[str, Outcome]:
        """Offers a trip's destination to the vehicles; returns what each has said."""
        return background.run(self._session.share_destination(destination, share_id, trip_id=trip_id), timeout)

    def finish(self) -> None:
        """Arrived: ends the session."""
        background.run(self._session.finish())

    def cancel(self) -> None:
        """Ends the session before the destination."""
        background.run(self._session.cancel())


class Client(Peer[waymark_nav.Client]):
    """A navigation client. See waymark_nav.Client."""

    def __init__(
        self,
        client: str,
        address: str | None = None,
        *,
        priority: int = 0,
        without: Iterable[m.Feature] = (),
        on_destination: Callable[[m.DestinationRequest], DestinationAnswer] | None = None,
        on_simulate_drive: Callable[[m.SimulateDrive], None] | None = None,
        display_name: str = "",
        credential: bytes = b"",
        keepalive_milliseconds: int = 0,
        receive_frame_bytes_max: int = 0,
        report_ignored: bool = False,
        extensions: Iterable[str] = (),
        reconnection: core.Reconnection | None = None,
    ) -> None:
        """See waymark_nav.Client. `on_simulate_drive` is called on another thread."""

        async def answer(request: m.DestinationRequest) -> waymark_nav.Accept | Outcome:
            assert on_destination is not None
            return _accept(await in_thread(on_destination, request))

        super().__init__(
            waymark_nav.Client(
                client,
                address,
                priority=priority,
                without=without,
                on_destination=None if on_destination is None else answer,
                on_simulate_drive=on_simulate_drive,
                display_name=display_name,
                credential=credential,
                keepalive_milliseconds=keepalive_milliseconds,
                receive_frame_bytes_max=receive_frame_bytes_max,
                report_ignored=report_ignored,
                extensions=extensions,
                reconnection=reconnection,
            )
        )

    def open_session(
        self,
        *vehicles: str,
        receipts_every_milliseconds: int = 0,
        on_waypoint: Callable[[m.WaypointRequest, Session], WaypointAnswer] | None = None,
        on_start_trip: Callable[[m.StartTripRequest, Session], StartTripAnswer] | None = None,
        timeout: float | None = None,
    ) -> Session:
        """Opens a session for vehicles, now or when they connect; without a name for any vehicle that asked for guidance."""

        async def answer(request: m.WaypointRequest, session: waymark_nav.Session) -> waymark_nav.Offer | waymark_nav.OwnPrompt | Outcome:
            assert on_waypoint is not None
            return _waypoint_answer(await in_thread(on_waypoint, request, Session(session)))

        async def start(request: m.StartTripRequest, session: waymark_nav.Session) -> waymark_nav.Accept | Outcome:
            assert on_start_trip is not None
            return _accept(await in_thread(on_start_trip, request, Session(session)))

        opening = self._peer.open_session(
            *vehicles,
            receipts_every_milliseconds=receipts_every_milliseconds,
            on_waypoint=None if on_waypoint is None else answer,
            on_start_trip=None if on_start_trip is None else start,
        )
        return Session(background.run(opening, timeout))


class Observer(Peer[waymark_nav.Observer]):
    """An observer. See waymark_nav.Observer."""

    def __init__(
        self,
        observer: str,
        address: str,
        *,
        state: bool = True,
        events: bool = True,
        frames: bool = False,
        vehicles: Iterable[str] = (),
        clients: Iterable[str] = (),
        sessions: Iterable[int] = (),
        kinds: Iterable[m.ObservedKind] = (),
        display_name: str = "",
        credential: bytes = b"",
        keepalive_milliseconds: int = 0,
        receive_frame_bytes_max: int = 0,
        reconnection: core.Reconnection | None = None,
    ) -> None:
        """See waymark_nav.Observer."""
        super().__init__(
            waymark_nav.Observer(
                observer,
                address,
                state=state,
                events=events,
                frames=frames,
                vehicles=vehicles,
                clients=clients,
                sessions=sessions,
                kinds=kinds,
                display_name=display_name,
                credential=credential,
                keepalive_milliseconds=keepalive_milliseconds,
                receive_frame_bytes_max=receive_frame_bytes_max,
                reconnection=reconnection,
            )
        )

    def entries(self) -> Feed[Entry]:
        """What it is told from now on, for one more reader."""
        return Feed(background.call(self._peer.entries))

    @property
    def visibility(self) -> m.Visibility:
        """What the gateway lets it see; UNSPECIFIED without a connection."""
        return self._peer.visibility

    @property
    def vehicles(self) -> Mapping[str, m.VehicleRecord]:
        """The vehicles, by id."""
        return background.call(lambda: self._peer.vehicles)

    @property
    def clients(self) -> Mapping[str, m.ClientRecord]:
        """The navigation clients, by id."""
        return background.call(lambda: self._peer.clients)

    @property
    def sessions(self) -> Mapping[int, m.SessionRecord]:
        """The sessions, by id."""
        return background.call(lambda: self._peer.sessions)

    @property
    def requests(self) -> Mapping[tuple[str, str], m.RequestRecord]:
        """The open requests, by vehicle and request id."""
        return background.call(lambda: self._peer.requests)

    @property
    def guidance(self) -> Mapping[int, VehicleState]:
        """What is published in each session; only if `state` and `frames` are wanted."""
        return background.call(lambda: self._peer.guidance)

    @property
    def without_guidance(self) -> frozenset[int]:
        """The sessions that `guidance` leaves out, those with most content, because all of it would take too much memory."""
        return background.call(lambda: self._peer.without_guidance)

    def complete(self, *, timeout: float | None = None) -> None:
        """Waits until it holds all records."""
        background.run(self._peer.complete(), timeout)

    def simulate_drive(self, action: m.SimulationAction, client: str, vehicle: str = "", speed: float = 1) -> None:
        """Asks a client to simulate a drive, or to stop. See waymark_nav.Observer.simulate_drive()."""
        background.call(self._peer.simulate_drive, action, client, vehicle, speed)

    def measures(self, *, connections: bool = True, sessions: bool = True, timeout: float | None = None) -> m.Counters:
        """The gateway's counters, what waits for connections, and what sessions have; the whole answer."""
        return background.run(self._peer.measures(connections=connections, sessions=sessions), timeout)

    def counters(self, *, timeout: float | None = None) -> dict[tuple[m.CounterName, int], int]:
        """The gateway's counters, by name and label."""
        return background.run(self._peer.counters(), timeout)
