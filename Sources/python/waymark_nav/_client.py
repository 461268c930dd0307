"""A navigation client on asyncio."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from waymark_nav import core, messages as m
from waymark_nav._feed import Feed, Source
from waymark_nav._peer import SOFTWARE, AsyncPeer, answer_of, jitter, logger
from waymark_nav._wire import Message
from waymark_nav.core import _client as told, _session as sessions
from waymark_nav.core._state import VehicleState
from waymark_nav.errors import ClosedError, OutcomeUnknownError, Rejection, SessionEndedError, VehicleRefusedError
from waymark_nav.messages import Answer, Outcome, SessionEndReason

_REFUSALS = (m.ErrorCode.VEHICLE_BUSY, m.ErrorCode.VEHICLE_NAVIGATES_ITSELF, m.ErrorCode.NOT_AUTHORIZED)


@dataclass(frozen=True, slots=True)
class Offer:
    """An answer to a waypoint request: the vehicle's user is asked with these estimates of the trip with the stop."""

    travel_estimates: m.TravelEstimates
    #: Runs if the user agrees: it publishes the new route.
    when_accepted: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """An answer to a waypoint request: this client asks its user by itself."""

    #: Whether the user agrees.
    ask: Callable[[], Awaitable[bool]]
    #: Runs once the request has ended as accepted.
    when_accepted: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Accept:
    """An answer to a destination request: this client drives there. To a request to start a trip: it starts guidance on it."""

    #: Runs once the request has ended as accepted: it opens a session, or starts guidance.
    when_accepted: Callable[[], Awaitable[None]] | None = None
    #: Only of a destination: the session shows previews, and the vehicle's user starts one of them.
    with_preview: bool = False


#: An Outcome declines, with one of NOT_SUPPORTED, DECLINED_BY_USER, BUSY, INVALID, TOO_LARGE.
WaypointAnswer = Offer | OwnPrompt | Outcome
DestinationAnswer = Accept | Outcome
StartTripAnswer = Accept | Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent:
    """Something that a session is told.

    Its message is a VehicleChanged, VehicleSettings, UpdateRouteSource, SelectPreview, UpdateRouteFeedback, ZoomCluster, AlertResponse,
    DestinationShareWanted, VehicleExtension,
    DestinationShareStatus, ReceiptReport, RequestOutcome (of a vehicle's request), Error (a publication was refused), or, as the last one,
    SessionEnded.
    """

    message: Message
    #: So many events were dropped before this one, because the reader was too slow.
    missed: int = 0


def _key(event: SessionEvent) -> Hashable:
    match event.message:
        case m.VehicleChanged(vehicle=status):
            return "vehicle", status.vehicle_id
        case m.UpdateRouteSource():
            return "route source", event.message.vehicle_id
        case m.SelectPreview():
            return "preview", event.message.vehicle_id
        case m.UpdateRouteFeedback():
            return "route feedback", event.message.vehicle_id
        case m.ReceiptReport():
            return "receipts"
    return None


class Session:
    """A session of a client: what it publishes there. Open one with Client.open_session().

    Each method that publishes returns when the publication is queued; it waits only while too many are not acknowledged. It raises
    Rejection, with the field, for what the gateway would refuse, and SessionEndedError after the end.
    """

    def __init__(
        self,
        client: Client,
        machine: sessions.Session,
        on_waypoint: Callable[[m.WaypointRequest, Session], Awaitable[WaypointAnswer] | WaypointAnswer] | None,
        on_start_trip: Callable[[m.StartTripRequest, Session], Awaitable[StartTripAnswer] | StartTripAnswer] | None = None,
    ) -> None:
        self._client = client
        self._machine = machine
        self._on_waypoint = on_waypoint
        self._on_start_trip = on_start_trip
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._events: Source[SessionEvent] = Source(_key, lambda event, count: replace(event, missed=count))
        self._progress: set[asyncio.Future[None]] = set()
        self._shares: dict[str, asyncio.Future[dict[str, Outcome]]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the session, unless it has ended."""
        if self.end_reason is None and self._machine.own_end is None and not self._client._machine.is_over:
            self._machine.publish(m.CancelGuidance())
            self._client._wake()

    # What is known of it

    @property
    def id(self) -> int:
        """The id on the wire; 0 while the gateway does not have the session."""
        return self._machine.id

    @property
    def state(self) -> VehicleState:
        """What was published and not refused."""
        return self._machine.content

    @property
    def vehicles(self) -> dict[str, m.VehicleStatus]:
        """The standing of each vehicle that has not left."""
        return dict(self._machine.vehicles)

    @property
    def end_reason(self) -> SessionEndReason | None:
        """Why it ended; None while it has not, UNSPECIFIED if it is not known."""
        return self._machine.end_reason

    def events(self) -> Feed[SessionEvent]:
        """What happens, for one more reader. It begins with the standing of each vehicle; SessionEnded is the last event."""
        if self.end_reason is not None:
            return self._events.open(SessionEvent(message=m.SessionEnded(session_id=self._machine.id, reason=self.end_reason)))
        present = [SessionEvent(message=m.VehicleChanged(vehicle=status)) for status in self._machine.vehicles.values()]
        return self._events.open(*present)

    async def ready(self, vehicle: str | None = None) -> str:
        """Waits until a display of a vehicle, None: of any, is ready to show; returns the vehicle's name.

        Raises VehicleRefusedError if the vehicle was refused, SessionEndedError if it has left or the session has ended.
        """
        async for event in self.events():
            match event.message:
                case m.VehicleChanged(vehicle=status) if vehicle in (None, status.vehicle_id):
                    if status.standing == m.VehicleStanding.JOINED and any(endpoint.ready for endpoint in status.endpoints):
                        return status.vehicle_id
                    if vehicle is not None and status.standing == m.VehicleStanding.REFUSED:
                        raise VehicleRefusedError(status.refusal, f"{vehicle}: {status.refusal.name}")
                    if vehicle is not None and status.standing == m.VehicleStanding.LEFT:
                        raise SessionEndedError(status.end_reason)
        raise SessionEndedError(self.end_reason or SessionEndReason.UNSPECIFIED)

    async def accepted(self) -> None:
        """Waits until the gateway has acknowledged everything that was published. Raises SessionEndedError if it cannot any more."""
        while not self._machine.is_accepted:
            if self.end_reason is not None:
                if sessions.is_own_end(self.end_reason):
                    return
                raise SessionEndedError(self.end_reason)
            await self._next_progress()

    # Publishing

    async def publish(self, message: Message) -> None:
        """Publishes any message that clients publish. The other methods fill in the generation; here it must be given."""
        await self._room()
        self._machine.publish(message)
        self._client._wake()

    async def publish_extension(self, name: str, content: bytes, *, key: int | None = None, retained: bool = False) -> None:
        """Publishes content that this client and endpoints agree on, at most 65 536 bytes: an event, or with a key a state.

        name: one of the client's extensions; only endpoints that have it too get the content. If the operator withholds it, none does.
        key: which of the session's states it is, of at most 64: slow endpoints get only its newest content. A key is of one extension.
        retained: endpoints that join later get the state, until guidance starts over; without it, an endpoint holds it no longer.
        """
        await self._room()
        if name not in self._client._machine.settings.extensions:
            raise Rejection(m.ErrorCode.NOT_GRANTED, "name", "is not one of the client's extensions")
        self._machine.publish_extension(name, content, key, retained)
        self._client._wake()

    async def preview(self, trips: Sequence[m.Trip], selected: str = "") -> None:
        """Shows trips to choose from; none: hides them."""
        await self.publish(m.TripPreviews(trips=tuple(trips), selected_trip_id=selected))

    async def start(self, trip: m.Trip, route: m.RouteInformation) -> None:
        """Starts guidance, or starts it over."""
        await self._room()
        await self.publish(m.StartGuidance(trip=trip, generation=self._machine.new_generation(), route=route))

    async def update_trip(self, trip: m.Trip) -> None:
        """The trip has changed."""
        await self.publish(m.UpdateTrip(trip=trip))

    async def add_maneuvers(self, maneuvers: Sequence[m.Maneuver]) -> None:
        """Adds maneuvers to the route."""
        await self._room()
        await self.publish(m.AddManeuvers(generation=self._machine.generation, maneuvers=tuple(maneuvers)))

    async def add_lane_guidances(self, lane_guidances: Sequence[m.LaneGuidance]) -> None:
        """Adds lane guidances to the route."""
        await self._room()
        await self.publish(m.AddLaneGuidances(generation=self._machine.generation, lane_guidances=tuple(lane_guidances)))

    async def add_segments(self, segments: Sequence[m.RouteSegment]) -> None:
        """Adds segments to the route."""
        await self._room()
        await self.publish(m.AddRouteSegments(generation=self._machine.generation, segments=tuple(segments)))

    async def set_upcoming_maneuvers(self, maneuver_ids: Sequence[int]) -> None:
        """The next maneuvers, nearest first."""
        await self._room()
        await self.publish(m.UpcomingManeuvers(generation=self._machine.generation, maneuver_ids=tuple(maneuver_ids)))

    async def set_lane_guidance(self, lane_guidance_id: int) -> None:
        """The lanes to show now; 0: none."""
        await self._room()
        await self.publish(m.CurrentLaneGuidance(generation=self._machine.generation, lane_guidance_id=lane_guidance_id))

    async def set_road_name(self, *variants: str) -> None:
        """The road the vehicle is on, longest variant first; none: not known."""
        await self.publish(m.CurrentRoadName(name_variants=variants))

    async def set_maneuver_state(self, state: m.ManeuverState) -> None:
        """How near the first upcoming maneuver is."""
        await self._room()
        await self.publish(m.UpdateManeuverState(generation=self._machine.generation, state=state))

    async def set_segment(self, segment_id: str) -> None:
        """The segment that the vehicle is on."""
        await self._room()
        await self.publish(m.CurrentRouteSegment(generation=self._machine.generation, segment_id=segment_id))

    async def update_trip_estimates(self, estimates: m.TravelEstimates, color: m.TimeRemainingColor = m.TimeRemainingColor.DEFAULT) -> None:
        """How far and how long the whole trip still is."""
        await self.publish(m.UpdateTripEstimates(travel_estimates=estimates, time_remaining_color=color))

    async def update_maneuver_estimates(self, maneuver_id: int, estimates: m.TravelEstimates) -> None:
        """How far it is to a maneuver."""
        await self._room()
        generation = self._machine.generation
        await self.publish(m.UpdateManeuverEstimates(generation=generation, maneuver_id=maneuver_id, travel_estimates=estimates))

    async def set_speed_limit(self, limit: m.SpeedLimit, ahead: m.SpeedLimitAhead | None = None) -> None:
        """The speed limit where the vehicle is, and the next different one; None: none is known ahead."""
        await self.publish(m.UpdateSpeedLimit(limit=limit, next=ahead))

    async def pause(self, reason: m.PauseReason, *description: str) -> None:
        """Guidance stands still."""
        await self.publish(m.PauseGuidance(reason=reason, description_variants=description))

    async def resume(self, route: m.RouteInformation | None = None, reason: m.RerouteReason = m.RerouteReason.UNKNOWN) -> None:
        """Guidance continues after a pause, on a new route or as it was."""
        await self._room()
        generation = self._machine.generation if route is None else self._machine.new_generation()
        await self.publish(m.ResumeGuidance(generation=generation, reason=reason, route=route))

    async def reroute(self, route: m.RouteInformation, reason: m.RerouteReason = m.RerouteReason.UNKNOWN) -> None:
        """Guidance continues on a new route: pauses with REROUTING, and resumes."""
        await self.pause(m.PauseReason.REROUTING)
        await self.resume(route, reason)

    async def show_alert(self, alert: m.NavigationAlert) -> None:
        """Shows an alert, in place of the one before."""
        await self.publish(m.ShowAlert(alert=alert))

    async def dismiss_alert(self, alert_id: int, dismissal: m.AlertDismissal = m.AlertDismissal.SYSTEM_DISMISSED) -> None:
        """Removes the alert that is shown; also after a vehicle has answered it."""
        await self.publish(m.DismissAlert(alert_id=alert_id, dismissal=dismissal))

    async def share_destination(self, destination: m.Waypoint, share_id: str | None = None, *, trip_id: str = "") -> dict[str, Outcome]:
        """Offers a trip's destination to the vehicles; returns what each has said.

        Before guidance the trip is one of the trip previews; while guided it need not be named: it is the one that is driven.

        Raises OutcomeUnknownError if the connection is lost meanwhile; Rejection if the gateway refuses it.
        """
        identity = share_id or f"share-{secrets.token_hex(8)}"
        await self.publish(m.ShareDestination(share_id=identity, destination=destination, trip_id=trip_id))
        waiter: asyncio.Future[dict[str, Outcome]] = asyncio.get_running_loop().create_future()
        self._shares[identity] = waiter
        try:
            return await waiter
        except asyncio.CancelledError:
            self._machine.drop_share(identity)
            raise
        finally:
            self._shares.pop(identity, None)

    async def finish(self) -> None:
        """Arrived: ends the session."""
        await self.publish(m.FinishGuidance())

    async def cancel(self) -> None:
        """Ends the session before the destination."""
        await self.publish(m.CancelGuidance())

    async def _room(self) -> None:
        """Waits until another publication can be kept."""
        while not self._machine.has_room and self.end_reason is None:
            await self._next_progress()

    async def _next_progress(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._progress.add(waiter)
        try:
            await waiter
        finally:
            self._progress.discard(waiter)

    # Events

    def _tell(self, message: Message) -> None:
        self._events.tell(SessionEvent(message=message))

    def _made_progress(self) -> None:
        for waiter in self._progress:
            if not waiter.done():
                waiter.set_result(None)

    def _end(self, reason: SessionEndReason) -> None:
        if not self._opened.done():
            self._opened.set_exception(SessionEndedError(reason))
            self._opened.exception()
        self._tell(m.SessionEnded(session_id=self._machine.id, reason=reason))
        self._events.finish()
        self._made_progress()

    def _end_share(self, ended: told.ShareEnded) -> None:
        waiter = self._shares.get(ended.share_id)
        if waiter is None or waiter.done():
            return
        if ended.outcomes is not None:
            waiter.set_result(ended.outcomes)
        elif ended.rejection is not None:
            waiter.set_exception(ended.rejection)
        elif self.end_reason is not None:
            waiter.set_exception(SessionEndedError(self.end_reason))
        else:
            waiter.set_exception(OutcomeUnknownError("the connection was lost before all vehicles had answered; share it again"))


class Client(AsyncPeer[told.Client]):
    """A navigation client: guides vehicles.

        async with Client("app") as client:
            async with await client.open_session("car") as session:
                await session.start(trip, route)

    It reconnects after a loss and restores its sessions. Handlers may be functions or coroutine functions. The task of a coroutine is
    cancelled when its request ends or the connection is lost: the gateway needs no answer any more.
    """

    _default_socket = "navigation.sock"

    def __init__(
        self,
        client: str,
        address: str | None = None,
        *,
        priority: int = 0,
        without: Iterable[m.Feature] = (),
        on_destination: Callable[[m.DestinationRequest], Awaitable[DestinationAnswer] | DestinationAnswer] | None = None,
        on_simulate_drive: Callable[[m.SimulateDrive], None] | None = None,
        display_name: str = "",
        credential: bytes = b"",
        keepalive_milliseconds: int = 0,
        receive_frame_bytes_max: int = 0,
        report_ignored: bool = False,
        extensions: Iterable[str] = (),
        reconnection: core.Reconnection | None = None,
    ) -> None:
        """A client; raises Rejection if the gateway would refuse its Hello.

        client: a name of 1 to 64 of A-Z a-z 0-9 . _ : -
        address: tcp:HOST:PORT or unix:/path; None: the socket of this user's waymarkd, or of the system's.
        priority: higher wins, -1 000 to 1 000.
        on_destination: answers a vehicle that asks for a drive; None: the gateway does not ask this client.
        on_simulate_drive: simulates a drive, or stops to, when a vehicle or an observer asks for it: from then on the client moves along
        its routes by itself. A function that returns at once; None: the gateway does not ask this client.
        credential: the listener's pre-shared key.
        receive_frame_bytes_max: the largest frame that it takes, in bytes with its header, from 4 096 on; 0: any.
        extensions: those that it publishes or handles, at most 32 names such as org.example.tyres.
        """
        settings = told.ClientSettings(
            client=client,
            priority=priority,
            destinations=on_destination is not None,
            simulations=on_simulate_drive is not None,
            without=frozenset(without),
            display_name=display_name,
            software=SOFTWARE,
            credential=credential,
            keepalive_milliseconds=keepalive_milliseconds,
            receive_frame_bytes_max=receive_frame_bytes_max,
            report_ignored=report_ignored,
            extensions=tuple(extensions),
            reconnection=reconnection or core.Reconnection(),
        )
        super().__init__(told.Client(settings, jitter=jitter), address)
        self._on_destination = on_destination
        self._on_simulate_drive = on_simulate_drive
        self._sessions: dict[int, Session] = {}
        self._when_accepted: dict[tuple[str, str], Callable[[], Awaitable[None]]] = {}
        #: The handlers that run for requests that have not ended.
        self._answering: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def open_session(
        self,
        *vehicles: str,
        receipts_every_milliseconds: int = 0,
        on_waypoint: Callable[[m.WaypointRequest, Session], Awaitable[WaypointAnswer] | WaypointAnswer] | None = None,
        on_start_trip: Callable[[m.StartTripRequest, Session], Awaitable[StartTripAnswer] | StartTripAnswer] | None = None,
    ) -> Session:
        """Opens a session for vehicles, now or when they connect; without a name for any vehicle that asked for guidance.

        on_waypoint: answers a vehicle that asks to stop on the way; None declines.
        on_start_trip: answers a vehicle that asks to start a trip of the previews; None declines.
        Raises VehicleRefusedError if no vehicle takes the session. Cancelling the call ends a session that the gateway opens nevertheless.
        """
        self._check_open()
        machine = self._machine.open_session(vehicles or None, receipts_every_milliseconds)
        session = self._sessions[id(machine)] = Session(self, machine, on_waypoint, on_start_trip)
        self._wake()
        try:
            await session._opened
        except asyncio.CancelledError:
            self._machine.abandon(machine)
            self._sessions.pop(id(machine), None)
            self._wake()
            raise
        return session

    # Events

    def _handle(self, event: core.Event) -> None:
        match event:
            case told.SessionOpen():
                if (session := self._sessions.get(id(event.session))) is not None and not session._opened.done():
                    session._opened.set_result(None)
                self._wake()
            case told.SessionMessage():
                if (session := self._sessions.get(id(event.session))) is not None:
                    session._tell(event.message)
            case told.Progress():
                if (session := self._sessions.get(id(event.session))) is not None:
                    session._made_progress()
            case told.SessionOver():
                if (session := self._sessions.pop(id(event.session), None)) is not None:
                    session._end(event.reason)
            case told.ShareEnded():
                if (session := self._sessions.get(id(event.session))) is not None:
                    session._end_share(event)
            case told.OpeningRefused():
                self._refuse(event)
            case core.Connecting() | core.Closed():
                # A lost connection ends every request.
                for key in list(self._answering):
                    self._stop_answering(key)
            case told.Asked() if len(self._tasks) >= told.INQUIRIES_MAX:
                self._machine.answer(event.request, Answer.DECLINE, reason=Outcome.BUSY)
                self._wake()
            case told.Asked():
                # A request that comes again is answered once.
                key = event.request.vehicle_id, event.request.request_id
                self._stop_answering(key)
                self._answering[key] = self._spawn(self._answer(event))
            case told.SimulationAsked():
                self._simulate(event.drive)
            case told.InquiryEnded():
                self._end_inquiry(event)

    def _simulate(self, drive: m.SimulateDrive) -> None:
        if self._on_simulate_drive is None:
            return
        try:
            self._on_simulate_drive(drive)
        except Exception:
            logger.exception("the handler of simulated drives failed")

    def _refuse(self, event: told.OpeningRefused) -> None:
        session = self._sessions.pop(id(event.session), None)
        if session is None:
            return
        error = event.error
        if session._opened.done():
            # Opened before a restart of the gateway, which does not open it again.
            logger.warning("the gateway does not open the session again: %s", error.reason)
            session._end(SessionEndReason.UNSPECIFIED)
        elif error.code in _REFUSALS:
            session._opened.set_exception(VehicleRefusedError(error.code, error.reason))
        else:
            session._opened.set_exception(Rejection.of(error))

    async def _answer(self, asked: told.Asked) -> None:
        request = asked.request
        answer: Offer | OwnPrompt | Accept | Outcome = Outcome.NOT_SUPPORTED
        try:
            if isinstance(request, m.DestinationRequest):
                if self._on_destination is not None:
                    answer = await answer_of(self._on_destination, request)
            elif (session := self._sessions.get(id(asked.session))) is not None:
                if isinstance(request, m.StartTripRequest):
                    if (start := session._on_start_trip) is not None:
                        answer = await answer_of(lambda trip: start(trip, session), request)
                elif (handler := session._on_waypoint) is not None:
                    answer = await answer_of(lambda waypoint: handler(waypoint, session), request)
            await self._send_answer(request, answer)
        except ClosedError:
            pass
        except Exception:
            logger.exception("a handler of requests failed; the request is declined")
            self._machine.answer(request, Answer.DECLINE, reason=Outcome.INVALID)
        finally:
            key = request.vehicle_id, request.request_id
            if self._is_answering(key):
                del self._answering[key]
        self._wake()

    def _is_answering(self, key: tuple[str, str]) -> bool:
        """Whether this task is the handler of a request that has not ended."""
        return self._answering.get(key) is asyncio.current_task()

    def _stop_answering(self, key: tuple[str, str]) -> None:
        """The request has ended, so its handler need not answer."""
        if (task := self._answering.pop(key, None)) is not None:
            self._cancel(task)

    async def _send_answer(self, request: told.Request, answer: Offer | OwnPrompt | Accept | Outcome) -> None:
        key = (request.vehicle_id, request.request_id)
        if not self._is_answering(key):
            return  # The handler was cancelled, and continued nevertheless.
        if isinstance(answer, Outcome):
            self._machine.answer(request, Answer.DECLINE, reason=answer)
            return
        if answer.when_accepted is not None and self._machine.is_asked(request):
            self._when_accepted[key] = answer.when_accepted
        if isinstance(answer, Offer):
            self._machine.answer(request, Answer.ESTIMATES, answer.travel_estimates)
        elif isinstance(answer, Accept):
            is_preview = answer.with_preview and isinstance(request, m.DestinationRequest)
            self._machine.answer(request, Answer.ACCEPT_WITH_PREVIEW if is_preview else Answer.ACCEPT)
        else:
            self._machine.answer(request, Answer.OWN_PROMPT)
            self._wake()
            is_accepted = await answer.ask()
            if not self._is_answering(key):
                return
            if is_accepted:
                self._machine.answer(request, Answer.ACCEPT)
            else:
                self._machine.answer(request, Answer.DECLINE, reason=Outcome.DECLINED_BY_USER)

    def _end_inquiry(self, event: told.InquiryEnded) -> None:
        request = event.request
        self._stop_answering((request.vehicle_id, request.request_id))
        if (session := self._sessions.get(id(event.session))) is not None:
            message = m.RequestOutcome(
                request_id=request.request_id,
                vehicle_id=request.vehicle_id,
                outcome=event.outcome,
                cause=event.cause,
                endpoint=event.decided_by,
            )
            session._tell(message)
        when_accepted = self._when_accepted.pop((request.vehicle_id, request.request_id), None)
        if when_accepted is not None and event.outcome == Outcome.ACCEPTED:
            self._spawn(self._carry_out(when_accepted))

    async def _carry_out(self, when_accepted: Callable[[], Awaitable[None]]) -> None:
        try:
            await when_accepted()
        except Exception:
            logger.exception("what was offered to a vehicle could not be carried out")
