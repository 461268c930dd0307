"""A vehicle endpoint without I/O: what it holds, what it asks for, what it sends again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from waymark_nav import messages as m
from waymark_nav._wire import Message, validate
from waymark_nav.core import _state as state_of
from waymark_nav.core._connection import clock_nanoseconds
from waymark_nav.core._outbox import REQUESTS, Outbox, denies_requests
from waymark_nav.core._peer import VERSION_MAX, VERSION_MIN, Event, Peer, Reconnection
from waymark_nav.core._state import VehicleState
from waymark_nav.errors import WaymarkError
from waymark_nav.frames import Flags, Frame, type_name
from waymark_nav.messages import Feature, Outcome, OutcomeCause, SessionEndReason

#: What an endpoint may ask for.
ENDPOINT_FEATURES = frozenset(Feature) - {
    Feature.UNSPECIFIED,
    Feature.WAYPOINT_REQUESTS,
    Feature.DESTINATION_REQUESTS,
    Feature.TRIP_REQUESTS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSettings:
    """Who an endpoint is, and what it shows and answers."""

    vehicle: str
    endpoint: str = "cluster"
    #: Features that the gateway need not send.
    without: frozenset[Feature] = frozenset()
    limits: m.VehicleLimits = field(default_factory=m.VehicleLimits)
    distance_units: m.DistanceUnits = m.DistanceUnits.AS_PUBLISHED
    #: BCP 47, e.g. "de-LI".
    locale: str = ""
    #: Takes guidance from sessions opened for any vehicle that asked.
    guidance_wanted: bool = True
    #: It answers prompts.
    prompts: bool = False
    #: It answers shared destinations.
    destinations: bool = False
    #: It asks clients to simulate drives.
    simulations: bool = False
    #: For humans.
    display_name: str = ""
    software: str = ""
    #: The listener's pre-shared key.
    credential: bytes = b""
    #: 0: the gateway's default.
    keepalive_milliseconds: int = 0
    #: The largest frame that it takes, header included, from 4 096 on; 0: any.
    receive_frame_bytes_max: int = 0
    #: The gateway says which messages of this endpoint it ignores.
    report_ignored: bool = False
    #: The extensions that it takes or sends, e.g. "org.example.tyres".
    extensions: tuple[str, ...] = ()
    reconnection: Reconnection = field(default_factory=Reconnection)

    def hello(self, token: bytes = b"", session: int = 0, sequence: int = 0) -> m.Hello:
        """The Hello of this endpoint."""
        features = ENDPOINT_FEATURES - self.without
        if not self.prompts:
            features -= {Feature.PROMPTS}
        if not self.destinations:
            features -= {Feature.DESTINATION_SHARING}
        if not self.simulations:
            features -= {Feature.SIMULATED_DRIVES}
        return m.Hello(
            version_min=VERSION_MIN,
            version_max=VERSION_MAX,
            role=m.Role.VEHICLE_ENDPOINT,
            vehicle=m.VehicleHello(
                vehicle_id=self.vehicle,
                endpoint=self.endpoint,
                features=tuple(sorted(features)),
                limits=self.limits,
                preferences=m.VehiclePreferences(distance_units=self.distance_units, locale=self.locale),
                guidance_wanted=self.guidance_wanted,
            ),
            display_name=self.display_name,
            software=self.software,
            credential=self.credential,
            keepalive_milliseconds=self.keepalive_milliseconds,
            receive_frame_bytes_max=self.receive_frame_bytes_max,
            resumption_token=token,
            resume_session_id=session,
            resume_sequence=sequence,
            report_ignored=self.report_ignored,
            extensions=self.extensions,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Event):
    """Something that an endpoint received, and the state after it."""

    #: The message's name in the protocol, e.g. "updateTripEstimates"; without a message "current" or "forgotten".
    name: str
    #: None: there is no message, or it is a publication that this version does not know.
    message: Message | None
    #: What the endpoint holds now.
    state: VehicleState
    #: The frame; None without one.
    frame: Frame | None = None
    #: So many updates were dropped before this one, because the reader was too slow.
    missed: int = 0

    @property
    def session(self) -> int:
        """The session's id on the wire; 0 for none."""
        return self.frame.session if self.frame is not None else self.state.session

    @property
    def sequence(self) -> int:
        """The publication's number; of another message of the session, the number up to which it is held."""
        if self.frame is None:
            return 0
        is_of_session = self.frame.session != 0 and self.frame.session == self.state.session
        return self.state.sequence if self.frame.sequence == 0 and is_of_session else self.frame.sequence

    @property
    def key(self) -> int | None:
        """Of a state of an extension, which one it is; None for an event, and for other messages."""
        is_state = isinstance(self.message, m.PublishExtension) and self.frame is not None and bool(self.frame.flags & Flags.STATE)
        return self.frame.key if is_state and self.frame is not None else None

    @property
    def is_fitted(self) -> bool:
        """The gateway cut the content to this endpoint's limits."""
        return self.frame is not None and bool(self.frame.flags & Flags.FITTED)

    @property
    def has_more(self) -> bool:
        """A part of a publication; more parts with the same number follow."""
        return self.frame is not None and bool(self.frame.flags & Flags.MORE)

    @property
    def is_from_gateway(self) -> bool:
        """The gateway sent it, not the client."""
        return self.frame is not None and bool(self.frame.flags & Flags.GATEWAY)


@dataclass(frozen=True, slots=True)
class RequestEnded(Event):
    """A request of this endpoint has ended."""

    request_id: str
    outcome: Outcome
    #: The client shows previews first.
    preview_follows: bool = False
    #: Who decided, and why; UNSPECIFIED: the gateway has not said, or this endpoint ended the request.
    cause: OutcomeCause = OutcomeCause.UNSPECIFIED
    #: The endpoint of the vehicle that decided, or that came first; empty: none.
    decided_by: str = ""
    #: The client that was asked last, or the one of the vehicle's session; empty: none.
    client_id: str = ""


@dataclass(frozen=True, slots=True)
class StopEnded(Event):
    """Guidance that cancel_navigation() was to end has ended."""

    number: int
    #: None: there was no session, or it is not known why it ended.
    reason: SessionEndReason | None


@dataclass(slots=True)
class _Stop:
    number: int
    reason: m.CancelReason
    session: int

    @property
    def is_unbound(self) -> bool:
        """It names no session."""
        return self.reason != m.CancelReason.OWN_NAVIGATION_STARTED and self.session == 0


class Endpoint(Peer):
    """One endpoint of a vehicle."""

    role = m.Role.VEHICLE_ENDPOINT

    def __init__(self, settings: EndpointSettings, *, jitter: Callable[[], float] = lambda: 0.0) -> None:
        validate(settings.hello())
        super().__init__(settings.reconnection, jitter=jitter)
        self.settings = settings
        #: What it holds.
        self.state = VehicleState()
        self._outbox = Outbox()
        self._requests: set[str] = set()
        self._stops: list[_Stop] = []
        self._stop_count = 0
        self._receipt_interval = 0.0
        self._receipt_due: float | None = None
        self._shown = 0
        #: When the display first showed `_shown`; None: nothing is shown.
        self._shown_at: float | None = None
        #: What the endpoint held when something last arrived, and since when.
        self._received_upto = 0
        self._received_at: float | None = None

    # What the vehicle says

    def send(self, message: Message, session: int = 0) -> None:
        """Queues a message of the vehicle. Raises Rejection if the gateway would refuse it."""
        checked, _ = validate(message)
        self._outbox.send(checked, session)

    def request(self, request: m.WaypointRequest | m.DestinationRequest | m.StartTripRequest) -> None:
        """Makes a request; RequestEnded tells its outcome. The same id again is the same request."""
        validate(request)
        if request.request_id not in self._requests:
            self._requests.add(request.request_id)
            # A waypoint is for the drive that the user sees, not for a later one; a trip is one of the previews that the user sees.
            self._outbox.send(request, 0 if isinstance(request, m.DestinationRequest) else self.state.session)

    def withdraw(self, request_id: str) -> None:
        """Takes a request back."""
        if request_id not in self._requests:
            return
        if self._outbox.remove_unsent(("request", request_id)):
            self._end_request(request_id, Outcome.WITHDRAWN)
        else:
            self._outbox.send(m.WithdrawRequest(request_id=request_id))

    def cancel_navigation(self, reason: m.CancelReason) -> int:
        """Ends guidance; StopEnded with the number that is returned tells how it ended."""
        self._stop_count += 1
        number = self._stop_count
        stop = _Stop(number, reason, 0 if reason == m.CancelReason.OWN_NAVIGATION_STARTED else self.state.session)
        if stop.is_unbound and not self.is_connected:
            self._tell(StopEnded(number, None))
            return number
        self.send(m.CancelNavigation(reason=reason), stop.session)
        self._stops.append(stop)
        return number

    def give_up_stop(self, number: int) -> None:
        """The caller of cancel_navigation() no longer waits. A message that is not sent yet is not sent."""
        stop = next((each for each in self._stops if each.number == number), None)
        if stop is None:
            return
        self._stops.remove(stop)
        if not any(each.reason == stop.reason and each.session == stop.session for each in self._stops):
            is_own = stop.reason == m.CancelReason.OWN_NAVIGATION_STARTED
            self._outbox.give_up(("own", 0) if is_own else ("stop", stop.session))

    def mark_shown(self, sequence: int, now: float | None = None) -> None:
        """Everything up to a number is on the display, since `now`: for the client's receipts."""
        if sequence > self._shown:
            self._shown, self._shown_at = sequence, now

    # As a peer

    def _hello(self) -> m.Hello:
        is_whole = self.state.session != 0 and not self.state.in_snapshot
        session, sequence = (self.state.session, self.state.sequence) if is_whole and self._token else (0, 0)
        return self.settings.hello(self._token, session, sequence)

    def _welcomed(self, welcome: m.Welcome, now: float) -> None:
        self._outbox.welcomed(welcome.resumed)
        if not welcome.resumed:
            # Requests that were sent get no outcome any more.
            for request_id in sorted(self._requests):
                if not self._outbox.is_requesting(request_id):
                    self._end_request(request_id, Outcome.GONE)
        if self.state.session != 0 and (not welcome.resumed or self.state.in_snapshot):
            # A snapshot follows if there is a session.
            self.state = VehicleState()
            self._tell(Update(name="forgotten", message=None, state=self.state))

    def _disconnected(self, now: float) -> None:
        # A stop that names no session is not sent again: it could end guidance that the user has not seen.
        self._end_stops(None, lambda stop: stop.is_unbound)

    def _ended(self, error: WaymarkError) -> None:
        for request_id in list(self._requests):
            self._end_request(request_id, Outcome.GONE)
        self._end_stops(None, lambda stop: True)

    def _received(self, whole: Frame, message: Message | None, now: float) -> None:
        if message is None and not whole.is_published:
            return  # Of a later version of the protocol.
        before = self.state.session
        self.state = state_of.apply(self.state, whole, message, self.settings.limits, now)
        if whole.session not in (0, before, self.state.session):
            return  # Of a session that is not held.
        self._outbox.received(message, whole.session)
        self._answered(whole, message)
        if isinstance(message, m.SnapshotBegin):
            # Content that was shown stays so in a session that goes on.
            if message.kind == m.SnapshotKind.FULL:
                self._shown, self._shown_at = 0, None
                self._received_upto, self._received_at = 0, None
            self._receipt_interval = message.receipts_every_milliseconds / 1_000
            if not self._receipt_interval:
                self._receipt_due = None
        self._note_received(now)
        if whole.is_published or isinstance(message, m.SnapshotEnd):
            self._schedule_receipt(now)
        self._tell(Update(name=type_name(whole.type), message=message, state=self.state, frame=whole))

    def _unreadable(self, whole: Frame, now: float) -> None:
        # Moves the cursor all the same.
        self.state = state_of.apply(self.state, whole, None, self.settings.limits, now)
        self._note_received(now)
        if whole.is_published:
            self._schedule_receipt(now)

    def _note_received(self, now: float) -> None:
        """The endpoint may hold more now."""
        if self.state.session == 0 or self.state.in_snapshot or self.state.sequence <= self._received_upto:
            return
        self._received_upto, self._received_at = self.state.sequence, now

    def _schedule_receipt(self, now: float) -> None:
        """The cursor may have changed."""
        if self._receipt_interval and self._receipt_due is None:
            self._receipt_due = now + self._receipt_interval

    def _answered(self, whole: Frame, message: Message | None) -> None:
        match message:
            case m.RequestOutcome():
                self._end_request(message.request_id, message.outcome, message)
            case m.Error():
                self._refused(message)
            case m.FinishGuidance():
                self._end_stops(SessionEndReason.FINISHED, lambda stop: 0 != stop.session == whole.session)
            case m.CancelGuidance():
                self._end_stops(SessionEndReason.CANCELLED_BY_CLIENT, lambda stop: 0 != stop.session == whole.session)
            case m.SnapshotBegin():
                self._end_stops(None, lambda stop: stop.session not in (0, whole.session))
            case m.SessionEnded():
                is_own = message.reason == SessionEndReason.OWN_NAVIGATION_STARTED
                own = m.CancelReason.OWN_NAVIGATION_STARTED
                self._end_stops(message.reason if message.session_id or is_own else None, lambda stop: (
                    is_own if stop.reason == own else stop.is_unbound or stop.session == message.session_id
                ))  # fmt: skip

    def _refused(self, error: m.Error) -> None:
        if denies_requests(error):
            for request_id in list(self._requests):
                self._end_request(request_id, Outcome.NOT_SUPPORTED)
            self._end_stops(None, lambda stop: True)
        elif error.message_type in REQUESTS:
            self._end_request(error.request_id, Outcome.INVALID)
        elif error.message_type == m.MessageType.WITHDRAW_REQUEST and not self._outbox.is_requesting(error.request_id):
            self._end_request(error.request_id, Outcome.WITHDRAWN)

    def _end_request(self, request_id: str, outcome: Outcome, said: m.RequestOutcome | None = None) -> None:
        if request_id in self._requests:
            self._requests.remove(request_id)
            # A peer treats an outcome that it does not know as INVALID, and a cause as not said.
            outcome = outcome if outcome.is_recognized else Outcome.INVALID
            if said is None:
                self._tell(RequestEnded(request_id, outcome))
            else:
                cause = said.cause if said.cause.is_recognized else OutcomeCause.UNSPECIFIED
                self._tell(RequestEnded(request_id, outcome, said.preview_follows, cause, said.endpoint, said.client_id))

    def _end_stops(self, reason: SessionEndReason | None, is_over: Callable[[_Stop], bool]) -> None:
        over = [stop for stop in self._stops if is_over(stop)]
        self._stops = [stop for stop in self._stops if stop not in over]
        for stop in over:
            self._tell(StopEnded(stop.number, reason))

    def _dequeue(self, now: float) -> list[Frame]:
        return self._outbox.dequeue()

    def _role_deadline(self) -> float | None:
        return self._receipt_due if self.is_connected else None

    def _role_tick(self, now: float) -> None:
        if self._receipt_due is None or now < self._receipt_due or not self.is_connected:
            return
        self._receipt_due = None
        if self.state.session != 0 and not self.state.in_snapshot:
            received = self.state.sequence
            # What is shown is at most what was received; a larger number of the app says nothing of when.
            shown_at = self._shown_at if self._shown <= received else None
            receipt = m.Receipt(
                received_sequence=received,
                shown_sequence=min(self._shown, received),
                received_nanoseconds=None if self._received_at is None else clock_nanoseconds(self._received_at),
                shown_nanoseconds=None if shown_at is None else clock_nanoseconds(shown_at),
            )
            self._outbox.send(receipt, self.state.session)
