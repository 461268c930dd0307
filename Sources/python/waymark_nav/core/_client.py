"""A navigation client without I/O: its sessions, and the requests of vehicles that it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from waymark_nav import messages as m
from waymark_nav._wire import Message, validate
from waymark_nav.core._peer import VERSION_MAX, VERSION_MIN, Event, Peer, Reconnection
from waymark_nav.core._session import Session
from waymark_nav.errors import ClosedError, Rejection, WaymarkError
from waymark_nav.frames import HEADER_BYTES, Frame, frame, next_sequence
from waymark_nav.messages import Feature, Outcome, OutcomeCause, SessionEndReason

#: What a client may provide and answer.
CLIENT_FEATURES = frozenset(Feature) - {Feature.UNSPECIFIED, Feature.REQUESTS, Feature.PROMPTS}

Request = m.WaypointRequest | m.DestinationRequest | m.StartTripRequest

#: Requests of vehicles that have no outcome yet, and handlers that run. Further requests are declined as busy.
INQUIRIES_MAX = 4_096

_OF_SESSION = (
    m.VehicleChanged, m.VehicleSettings, m.UpdateRouteSource, m.ZoomCluster, m.AlertResponse, m.DestinationShareStatus, m.ReceiptReport,
    m.VehicleExtension, m.SelectPreview, m.DestinationShareWanted, m.UpdateRouteFeedback,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """Who a client is, and what it answers."""

    client: str
    #: Higher wins, -1 000 to 1 000.
    priority: int = 0
    #: It drives to places that vehicles ask for.
    destinations: bool = False
    #: It simulates drives when it is asked to.
    simulations: bool = False
    #: Features that it does not provide.
    without: frozenset[Feature] = frozenset()
    display_name: str = ""
    software: str = ""
    #: The listener's pre-shared key.
    credential: bytes = b""
    #: 0: the gateway's default.
    keepalive_milliseconds: int = 0
    #: The largest frame that it takes, header included, from 4 096 on; 0: any.
    receive_frame_bytes_max: int = 0
    #: The gateway says which messages of this client it ignores.
    report_ignored: bool = False
    #: The extensions that it publishes or handles, e.g. "org.example.tyres".
    extensions: tuple[str, ...] = ()
    reconnection: Reconnection = field(default_factory=Reconnection)

    def hello(self, token: bytes = b"") -> m.Hello:
        """The Hello of this client."""
        features = CLIENT_FEATURES - self.without
        if not self.destinations:
            features -= {Feature.DESTINATION_REQUESTS}
        if not self.simulations:
            features -= {Feature.SIMULATED_DRIVES}
        return m.Hello(
            version_min=VERSION_MIN,
            version_max=VERSION_MAX,
            role=m.Role.NAVIGATION_CLIENT,
            navigation=m.NavigationHello(client_id=self.client, features=tuple(sorted(features)), priority=self.priority),
            display_name=self.display_name,
            software=self.software,
            credential=self.credential,
            keepalive_milliseconds=self.keepalive_milliseconds,
            receive_frame_bytes_max=self.receive_frame_bytes_max,
            resumption_token=token,
            report_ignored=self.report_ignored,
            extensions=self.extensions,
        )


@dataclass(frozen=True, slots=True)
class SessionOpen(Event):
    """The gateway has opened a session."""

    session: Session


@dataclass(frozen=True, slots=True)
class OpeningRefused(Event):
    """The gateway does not open a session."""

    session: Session
    error: m.Error


@dataclass(frozen=True, slots=True)
class SessionMessage(Event):
    """A message of the gateway about a session."""

    session: Session
    message: Message


@dataclass(frozen=True, slots=True)
class SessionOver(Event):
    """A session has ended; the last event about it."""

    session: Session
    #: UNSPECIFIED: not known.
    reason: SessionEndReason


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """More of what was published is sent or acknowledged."""

    session: Session


@dataclass(frozen=True, slots=True)
class Asked(Event):
    """A vehicle asks for something."""

    #: None for a destination.
    session: Session | None
    request: Request


@dataclass(frozen=True, slots=True)
class SimulationAsked(Event):
    """A vehicle or an observer asks for a simulated drive, or for its end."""

    drive: m.SimulateDrive


@dataclass(frozen=True, slots=True)
class InquiryEnded(Event):
    """A request that this client was asked has ended."""

    session: Session | None
    request: Request
    outcome: Outcome
    #: Who decided, and why; UNSPECIFIED: the gateway has not said, or this client ended the request.
    cause: OutcomeCause = OutcomeCause.UNSPECIFIED
    #: The endpoint of the vehicle that decided; empty: none.
    decided_by: str = ""


@dataclass(frozen=True, slots=True)
class ShareEnded(Event):
    """All vehicles have answered a share, or it is not known what they say."""

    session: Session
    share_id: str
    #: By vehicle; None: not known.
    outcomes: dict[str, Outcome] | None
    rejection: Rejection | None = None


@dataclass(slots=True)
class _Inquiry:
    session: Session | None
    request: Request
    #: The connection was lost: an answer comes too late.
    is_over: bool = False


class Client(Peer):
    """A navigation client."""

    role = m.Role.NAVIGATION_CLIENT

    def __init__(self, settings: ClientSettings, *, jitter: Callable[[], float] = lambda: 0.0) -> None:
        validate(settings.hello())
        super().__init__(settings.reconnection, jitter=jitter)
        self.settings = settings
        self._sessions: list[Session] = []
        self._session_count = 0
        self._control: list[Frame] = []
        #: The bytes of it that the gateway asked for.
        self._answer_bytes = 0
        self._inquiries: dict[tuple[str, str], _Inquiry] = {}
        #: Sessions that the gateway has opened for callers that no longer wait: the id and the last number.
        self._orphans: list[tuple[int, int]] = []
        self._frame_bytes = 1_048_576
        self._withheld: frozenset[Feature] = frozenset()
        self._withheld_extensions: frozenset[str] = frozenset()

    # What the app says

    def open_session(self, vehicles: tuple[str, ...] | None, receipts_every_milliseconds: int = 0) -> Session:
        """Opens a session for vehicles, None: for any that asked. SessionOpen or OpeningRefused follows."""
        self._session_count += 1
        opening = m.OpenSession(
            request_id=f"session-{self._session_count}",
            vehicles=None if vehicles is None else m.VehicleSet(vehicle_ids=vehicles),
            any_that_asked=vehicles is None,
            receipts_every_milliseconds=receipts_every_milliseconds,
        )
        validate(opening)
        session = Session(opening)
        session.frame_bytes_max = self._frame_bytes
        session.set_withheld(self._withheld, self._withheld_extensions)
        self._sessions.append(session)
        if self.is_connected:
            self._control.append(frame(opening))
        return session

    def abandon(self, session: Session) -> None:
        """The caller no longer waits for a session: the gateway ends it if it opens it."""
        if session in self._sessions:
            self._sessions.remove(session)
            self._control = [each for each in self._control if each != frame(session.opening)]
            if session.id:
                self._control.append(session.end_frame())
            self._end_orphans()

    def answer(self, request: Request, answer: m.Answer, estimates: m.TravelEstimates | None = None, reason: Outcome | None = None) -> None:
        """Answers a request. Does nothing if it has ended. Raises Rejection if the gateway would refuse the answer."""
        inquiry = self._inquiries.get((request.vehicle_id, request.request_id))
        message = m.RequestAnswer(
            request_id=request.request_id,
            vehicle_id=request.vehicle_id,
            answer=answer,
            travel_estimates=estimates,
            reason=reason or Outcome.UNSPECIFIED,
        )
        validate(message)
        if inquiry is not None and not inquiry.is_over:
            self._owe(frame(message))

    def is_asked(self, request: Request) -> bool:
        """Whether the gateway waits for the outcome of a request."""
        inquiry = self._inquiries.get((request.vehicle_id, request.request_id))
        return inquiry is not None and not inquiry.is_over

    # As a peer

    def _hello(self) -> m.Hello:
        return self.settings.hello(self._token)

    def _welcomed(self, welcome: m.Welcome, now: float) -> None:
        self._frame_bytes = min(max(welcome.receive_frame_bytes_max, 4_096), 16_777_216)
        policy = m.WithheldReason.POLICY
        self._withheld = frozenset(grant.feature for grant in welcome.features if not grant.granted and grant.reason == policy)
        self._withheld_extensions = frozenset(self.settings.extensions) - frozenset(welcome.extensions)
        self._control, self._answer_bytes = [], 0
        known = {session.id for session in self._sessions if session.id}
        found = {each.session_id: each for each in welcome.sessions}
        ended = m.SessionPhase.ENDED
        self._orphans = [
            (each.session_id, each.sequence) for each in found.values() if each.phase != ended and each.session_id not in known
        ]
        for inquiry in self._inquiries.values():
            inquiry.is_over = True
        for session in list(self._sessions):
            session.frame_bytes_max = self._frame_bytes
            try:
                self._restore(session, found.get(session.id) if session.id else None, welcome.resumed)
                session.set_withheld(self._withheld, self._withheld_extensions)
            except Rejection:
                # Only if this gateway takes smaller frames than the one before: the drive cannot be said to it.
                self._give_up(session)
        self._end_orphans()

    def _restore(self, session: Session, found: m.ResumedSession | None, resumed: bool) -> None:
        """Continues a session on a new connection, opens it again, or ends it."""
        if session.id == 0:
            self._control.append(frame(session.opening))
        elif found is not None and found.phase == m.SessionPhase.ENDED:
            self._end(session, SessionEndReason(found.end_reason))
        elif found is not None:
            self._fail_shares(session)
            session.resume(found.sequence)
            self._tell(Progress(session))
        elif resumed:
            # The gateway knows this client, so it has ended the session; the message about it was lost.
            self._end(session, SessionEndReason.UNSPECIFIED)
        elif session.own_end is not None:
            self._end(session, session.own_end)
        else:
            self._fail_shares(session)
            for key, inquiry in list(self._inquiries.items()):
                if inquiry.session is session:
                    self._end_inquiry(key, Outcome.GONE)
            session.restart()
            self._control.append(frame(session.opening))

    def _give_up(self, session: Session) -> None:
        """Ends a session, also at the gateway."""
        if session in self._sessions:
            if session.id:
                self._control.append(session.end_frame())
            self._end(session, SessionEndReason.UNSPECIFIED)

    def _end_orphans(self) -> None:
        """Not while a session is being opened: one of them may be the session that is opened again."""
        if any(session.id == 0 for session in self._sessions):
            return
        known = {session.id for session in self._sessions}
        for session_id, sequence in self._orphans:
            if session_id not in known:
                self._owe(frame(m.CancelGuidance(), session_id, next_sequence(sequence)))
        self._orphans = []

    def _ended(self, error: WaymarkError) -> None:
        for session in list(self._sessions):
            own = session.own_end if isinstance(error, ClosedError) and not session.has_queued else None
            self._end(session, own or SessionEndReason.UNSPECIFIED)

    def _owed_bytes(self) -> int:
        return self._answer_bytes

    def _owe(self, whole: Frame) -> None:
        """Queues what the gateway asked for."""
        self._control.append(whole)
        self._answer_bytes += HEADER_BYTES + len(whole.body)

    def _dequeue(self, now: float) -> list[Frame]:
        frames, self._control, self._answer_bytes = self._control, [], 0
        for session in self._sessions:
            if session.id and session.has_queued:
                frames += session.dequeue()
        return frames

    # What the gateway says

    def _received(self, whole: Frame, message: Message | None, now: float) -> None:
        session = self._session(whole.session)
        match message:
            case m.SessionOpened():
                self._opened(message)
            case m.SessionEnded():
                if (over := self._session(message.session_id)) is not None:
                    self._end(over, message.reason if message.reason.is_recognized else SessionEndReason.UNSPECIFIED)
            case m.Error():
                self._refused(message)
            case m.DestinationRequest():
                self._ask(None, message)
            case m.SimulateDrive():
                self._tell(SimulationAsked(message))
            case m.WaypointRequest() | m.StartTripRequest() if session is not None:
                self._ask(session, message)
            case m.RequestOutcome():
                outcome = message.outcome if message.outcome.is_recognized else Outcome.INVALID
                # A cause that is not known is not said.
                cause = message.cause if message.cause.is_recognized else OutcomeCause.UNSPECIFIED
                self._end_inquiry((message.vehicle_id, message.request_id), outcome, cause, message.endpoint)
            case m.Acknowledgement() if session is not None:
                session.acknowledge(message.sequence)
                self._tell(Progress(session))
            case m.VehicleChanged() if session is not None:
                self._vehicle_changed(session, message.vehicle)
            case m.DestinationShareStatus() if session is not None:
                self._shared(session, message)
            case _ if session is not None and isinstance(message, _OF_SESSION):
                self._tell(SessionMessage(session, message))

    def _session(self, session_id: int) -> Session | None:
        return next((session for session in self._sessions if session_id and session.id == session_id), None)

    def _opened(self, opened: m.SessionOpened) -> None:
        session = next((each for each in self._sessions if each.opening.request_id == opened.request_id), None)
        if session is None:
            self._owe(frame(m.CancelGuidance(), opened.session_id, 1))
            return
        session.id = opened.session_id
        session.was_opened = True
        self._tell(SessionOpen(session))
        for status in opened.vehicles:
            self._vehicle_changed(session, status)
        self._end_orphans()

    def _vehicle_changed(self, session: Session, status: m.VehicleStatus) -> None:
        name = status.vehicle_id
        has_left = status.standing == m.VehicleStanding.LEFT
        if has_left:
            session.vehicles.pop(name, None)
        else:
            session.vehicles[name] = status
        self._tell(SessionMessage(session, m.VehicleChanged(vehicle=status)))
        for key, inquiry in list(self._inquiries.items()):
            if inquiry.session is session and key[0] == name and (has_left or inquiry.is_over):
                self._end_inquiry(key, Outcome.SESSION_ENDED if has_left else Outcome.GONE)
        self._finish_shares(session)

    def _refused(self, error: m.Error) -> None:
        if error.message_type == m.MessageType.OPEN_SESSION:
            session = next((each for each in self._sessions if each.opening.request_id == error.request_id), None)
            if session is not None:
                self._sessions.remove(session)
                session.end_reason = SessionEndReason.UNSPECIFIED
                self._tell(OpeningRefused(session, error))
                self._end_orphans()
            return
        session = self._session(error.session_id)
        if session is None:
            return
        refused = session.reject(error.sequence) if error.sequence and error.code != m.ErrorCode.IGNORED else None
        if isinstance(refused, m.ShareDestination) and session.shares.pop(refused.share_id, None) is not None:
            self._tell(ShareEnded(session, refused.share_id, None, Rejection.of(error)))
        self._tell(SessionMessage(session, error))

    def _end(self, session: Session, reason: SessionEndReason) -> None:
        self._sessions.remove(session)
        session.end_reason = reason
        for key, inquiry in list(self._inquiries.items()):
            if inquiry.session is session:
                self._end_inquiry(key, Outcome.SESSION_ENDED)
        for share_id in session.shares:
            self._tell(ShareEnded(session, share_id, None))
        session.shares.clear()
        self._tell(SessionOver(session, reason))
        self._end_orphans()

    # Requests

    def _ask(self, session: Session | None, request: Request) -> None:
        if not request.vehicle_id:
            return  # An answer names the vehicle, which a gateway says with every request.
        key = request.vehicle_id, request.request_id
        if key not in self._inquiries and len(self._inquiries) >= INQUIRIES_MAX and not self._forget_inquiry():
            busy = m.RequestAnswer(
                request_id=request.request_id, vehicle_id=request.vehicle_id, answer=m.Answer.DECLINE, reason=Outcome.BUSY
            )
            self._owe(frame(busy))
            return
        self._inquiries[key] = _Inquiry(session, request)
        self._tell(Asked(session, request))

    def _forget_inquiry(self) -> bool:
        """Ends a request of a connection that was lost; False if there is none."""
        lost = next((key for key, inquiry in self._inquiries.items() if inquiry.is_over), None)
        if lost is not None:
            self._end_inquiry(lost, Outcome.GONE)
        return lost is not None

    def _end_inquiry(
        self, key: tuple[str, str], outcome: Outcome, cause: OutcomeCause = OutcomeCause.UNSPECIFIED, decided_by: str = ""
    ) -> None:
        inquiry = self._inquiries.pop(key, None)
        if inquiry is not None:
            self._tell(InquiryEnded(inquiry.session, inquiry.request, outcome, cause, decided_by))

    # Shares

    def _shared(self, session: Session, status: m.DestinationShareStatus) -> None:
        share = session.shares.get(status.share_id)
        if share is not None:
            if share.asked is None:
                share.asked = frozenset(session.present_vehicles)
            if status.stage == m.ShareStage.DID_SHARE:
                share.outcomes[status.vehicle_id] = Outcome.ACCEPTED
            elif status.stage == m.ShareStage.DID_FAIL_TO_SHARE:
                share.outcomes[status.vehicle_id] = status.outcome if status.outcome.is_recognized else Outcome.INVALID
        self._tell(SessionMessage(session, status))
        self._finish_shares(session)

    def _finish_shares(self, session: Session) -> None:
        for share_id, share in list(session.shares.items()):
            if share.asked is not None and share.asked & session.present_vehicles <= share.outcomes.keys():
                del session.shares[share_id]
                self._tell(ShareEnded(session, share_id, share.outcomes))

    def _fail_shares(self, session: Session) -> None:
        """The connection was lost: the gateway does not say again how the vehicles answered."""
        for share_id in session.sent_shares:
            del session.shares[share_id]
            self._tell(ShareEnded(session, share_id, None))
