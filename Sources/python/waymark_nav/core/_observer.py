"""An observer without I/O: it sees who is connected, which sessions and requests there are, and what crosses."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from waymark_nav import messages as m
from waymark_nav._wire import Message, validate
from waymark_nav.core import _state as state_of
from waymark_nav.core._peer import VERSION_MAX, VERSION_MIN, Event, Peer, Reconnection
from waymark_nav.core._state import Phase, VehicleState
from waymark_nav.errors import Rejection
from waymark_nav.frames import HEADER_BYTES, Frame, Splitter, Violation, frame

#: The content of all sessions, in bytes of the frames that brought it. Decoded it takes several times as much.
CONTENT_BYTES_MAX = 67_108_864
#: Values of one answer to read_counters(): thirty times as many as a gateway has by its default limits. Parts beyond it are left out.
COUNTERS_MAX = 1_048_576
#: Simulated drives that are asked for and wait for a connection.
SIMULATIONS_MAX = 16

_NO_LIMITS = m.VehicleLimits()
_ADDING = (m.AddManeuvers, m.AddLaneGuidances, m.AddRouteSegments)
_ENTRIES = (m.ObservationBegin, m.ObservedRecords, m.ObservedEvent, m.ObservedFrames, m.ObservationGap, m.Counters)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserverSettings:
    """Who an observer is, and what it wants."""

    observer: str
    #: `after_number` is not used.
    wanted: m.Observe = field(default_factory=lambda: m.Observe(state=True, events=True))
    display_name: str = ""
    software: str = ""
    #: The listener's pre-shared key.
    credential: bytes = b""
    #: 0: the gateway's default.
    keepalive_milliseconds: int = 0
    #: The largest frame that it takes, header included, from 4 096 on; 0: any.
    receive_frame_bytes_max: int = 0
    reconnection: Reconnection = field(default_factory=Reconnection)

    def hello(self, token: bytes = b"") -> m.Hello:
        """The Hello of this observer."""
        return m.Hello(
            version_min=VERSION_MIN,
            version_max=VERSION_MAX,
            role=m.Role.OBSERVER,
            observer=m.ObserverHello(observer_id=self.observer),
            display_name=self.display_name,
            software=self.software,
            credential=self.credential,
            keepalive_milliseconds=self.keepalive_milliseconds,
            receive_frame_bytes_max=self.receive_frame_bytes_max,
            resumption_token=token,
        )


@dataclass(slots=True)
class Records:
    """What an observer holds of the gateway's state."""

    #: Frames are wanted, too.
    has_frames: bool = False
    #: All of it has arrived.
    is_complete: bool = False
    vehicles: dict[str, m.VehicleRecord] = field(default_factory=dict)
    clients: dict[str, m.ClientRecord] = field(default_factory=dict)
    sessions: dict[int, m.SessionRecord] = field(default_factory=dict)
    #: By vehicle and request id.
    requests: dict[tuple[str, str], m.RequestRecord] = field(default_factory=dict)
    #: What the client of each session has published; only if frames are wanted, too.
    guidance: dict[int, VehicleState] = field(default_factory=dict)
    #: Sessions without guidance until they end or the state is told again: the content of all would be more than 64 MiB of frames. Those
    #: with most of it are chosen.
    without_guidance: set[int] = field(default_factory=set)
    #: The bytes of the frames of each session's content, by the type of the message.
    _sizes: dict[int, dict[type[Message], int]] = field(default_factory=dict, init=False, repr=False)
    _size: int = field(default=0, init=False, repr=False)

    def apply(self, records: m.ObservedRecords, now: float) -> None:
        """Replaces and removes records."""
        self.vehicles |= {record.vehicle_id: record for record in records.vehicles}
        self.clients |= {record.client_id: record for record in records.clients}
        self.sessions |= {record.session_id: record for record in records.sessions}
        self.requests |= {(record.key.vehicle_id, record.key.request_id): record for record in records.requests}
        for record in records.sessions:
            if self.has_frames and record.session_id not in self.guidance:
                self._forget(record.session_id)
        for retained in records.retained:
            if retained.is_first or retained.session_id not in self.guidance:
                self._forget(retained.session_id)
            self._publish(retained.frames, now)
        for vehicle in records.vehicles_gone:
            self.vehicles.pop(vehicle, None)
        for client in records.clients_gone:
            self.clients.pop(client, None)
        for session in records.sessions_gone:
            self.sessions.pop(session, None)
            self.without_guidance.discard(session)
            self._drop(session)
        for key in records.requests_gone:
            self.requests.pop((key.vehicle_id, key.request_id), None)
        self.is_complete = self.is_complete or records.is_last

    def crossed(self, frames: m.ObservedFrames, now: float) -> None:
        """Applies what a client has published."""
        if frames.direction == m.Direction.IN and frames.session_id and not frames.rejected:
            self._publish(frames.frames, now)

    def _forget(self, session: int) -> None:
        self._drop(session)
        if session not in self.without_guidance:
            self.guidance[session] = VehicleState(phase=Phase.PREVIEW, session=session)

    def _drop(self, session: int) -> None:
        self.guidance.pop(session, None)
        self._size -= sum(self._sizes.pop(session, {}).values())

    def _count(self, session: int, message: Message, size: int) -> None:
        """Counts a publication that is held, and drops the largest sessions if all are too large."""
        sizes = self._sizes.setdefault(session, {})
        before = sum(sizes.values())
        if isinstance(message, m.StartGuidance) or (isinstance(message, m.ResumeGuidance) and message.route is not None):
            # The new route replaces everything.
            sizes.clear()
        sizes[type(message)] = size + (sizes.get(type(message), 0) if isinstance(message, _ADDING) else 0)
        self._size += sum(sizes.values()) - before
        if self._size <= CONTENT_BYTES_MAX:
            return
        # An eighth at once, because all sessions are looked at.
        for largest in sorted(self._sizes, key=lambda each: (-sum(self._sizes[each].values()), each)):
            if self._size <= CONTENT_BYTES_MAX // 8 * 7:
                break
            self._drop(largest)
            self.without_guidance.add(largest)

    def _publish(self, data: bytes, now: float) -> None:
        for whole, message in frames_in(data):
            state = self.guidance.get(whole.session)
            if state is not None and whole.is_published and message is not None:
                new = state_of.apply(state, whole, message, _NO_LIMITS, now)
                self.guidance[whole.session] = replace(new, session=whole.session)
                self._count(whole.session, message, HEADER_BYTES + len(whole.body))


def frames_in(data: bytes) -> Iterator[tuple[Frame, Message | None]]:
    """The frames that an observer is told of, with their messages; None for one that this version cannot read."""
    splitter = Splitter()
    splitter.feed(data)
    try:
        for whole in splitter.frames():
            try:
                yield whole, whole.decode() if whole.is_known else None
            except Rejection:
                yield whole, None
    except Violation:
        return  # What follows are no frames.


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Event):
    """Something that an observer is told.

    Its message is an ObservationBegin, ObservedRecords, ObservedEvent, ObservedFrames, ObservationGap, Counters or Error.
    """

    message: Message
    #: So many entries were dropped before this one, because the reader was too slow.
    missed: int = 0


@dataclass(frozen=True, slots=True)
class CountersRead(Event):
    """An answer to read_counters(), whole."""

    number: int
    counters: m.Counters


class Observer(Peer):
    """An observer."""

    role = m.Role.OBSERVER

    def __init__(self, settings: ObserverSettings, *, jitter: Callable[[], float] = lambda: 0.0) -> None:
        validate(settings.hello())
        super().__init__(settings.reconnection, jitter=jitter)
        self.settings = settings
        self._wanted, _ = validate(settings.wanted)
        self.records = self._no_records()
        #: Of the last entry.
        self.number = 0
        self._is_waiting = True
        #: The question that the gateway has to answer, and what it has answered so far.
        self._asked: m.ReadCounters | None = None
        self._is_asked = False
        self._answer: list[m.Counters] = []
        self._value_count = 0
        self._answer_count = 0
        #: What is to be asked after it.
        self._next_question: m.ReadCounters | None = None
        #: What is asked of clients and is not sent yet; the newest. What was lost with a connection is not repeated.
        self._simulations: deque[m.SimulateDrive] = deque(maxlen=SIMULATIONS_MAX)

    def observe(self, wanted: m.Observe) -> None:
        """Wants something else from now on. Raises Rejection if the gateway would refuse it."""
        self._wanted, _ = validate(wanted)
        self._is_waiting = True

    def simulate(self, drive: m.SimulateDrive) -> None:
        """Asks a client to simulate a drive, or to stop. Raises Rejection if the gateway would refuse it."""
        valid, _ = validate(drive)
        self._simulations.append(valid)

    def read_counters(self, *, connections: bool = False, sessions: bool = False) -> int:
        """Asks for Counters; CountersRead with the number that is returned has them. Several questions may get one answer."""
        before = self._next_question or m.ReadCounters()
        question = m.ReadCounters(connections=connections or before.connections, sessions=sessions or before.sessions)
        if self._asked is None:
            self._asked = question
            return self._answer_count + 1
        self._next_question = question
        return self._answer_count + 2

    def _no_records(self) -> Records:
        return Records(has_frames=self._wanted.frames)

    def _hello(self) -> m.Hello:
        return self.settings.hello(self._token)

    def _welcomed(self, welcome: m.Welcome, now: float) -> None:
        if not welcome.resumed:
            self.number = 0
            self.records = self._no_records()
        self._is_waiting = True
        self._is_asked = False
        self._answer, self._value_count = [], 0

    def _dequeue(self, now: float) -> list[Frame]:
        frames = []
        if self._is_waiting:
            self._is_waiting = False
            frames.append(frame(replace(self._wanted, after_number=self.number)))
        if self._asked is not None and not self._is_asked:
            self._is_asked = True
            frames.append(frame(self._asked))
        frames += [frame(drive) for drive in self._simulations]
        self._simulations.clear()
        return frames

    def _received(self, whole: Frame, message: Message | None, now: float) -> None:
        match message:
            case m.ObservationBegin():
                if message.kind != m.SnapshotKind.MISSED:
                    self.records = self._no_records()
                self.number = max(self.number, message.number)
            case m.ObservedRecords():
                self.records.apply(message, now)
                self.number = max(self.number, message.number)
            case m.ObservedEvent():
                self.number = message.number
            case m.ObservedFrames():
                self.number = message.number
                self.records.crossed(message, now)
            case m.ObservationGap():
                self.number = max(self.number, message.next_number - 1)
            case m.Counters() if self._asked is not None:
                self._answered(message)
        if isinstance(message, (*_ENTRIES, m.Error)):
            self._tell(Entry(message=message))

    def _answered(self, part: m.Counters) -> None:
        # A gateway that was restarted begins an answer again. The counters are in the first part.
        if part.counters:
            self._answer, self._value_count = [], 0
        if self._value_count < COUNTERS_MAX or part.is_last:
            self._answer.append(part)
            self._value_count += len(part.counters) + len(part.connections) + len(part.sessions)
        if not part.is_last:
            return
        whole = replace(
            self._answer[0],
            counters=tuple(each for part in self._answer for each in part.counters),
            connections=tuple(each for part in self._answer for each in part.connections),
            sessions=tuple(each for part in self._answer for each in part.sessions),
            is_last=True,
        )
        self._answer_count += 1
        self._answer, self._value_count = [], 0
        self._asked, self._next_question, self._is_asked = self._next_question, None, False
        self._tell(CountersRead(self._answer_count, whole))
