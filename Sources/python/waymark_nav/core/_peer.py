"""What the three roles have in common, without I/O: one connection after another, each with a Hello that resumes the one before.

A program that drives a peer calls opening(), opened(), failed(), receive(), lost() and tick() when something happens, and does what
wants_transport(), take_output(), wants_end, wants_cut(), wants_abort(), next_event() and deadline say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from waymark_nav._wire import Message
from waymark_nav.core._connection import DRAIN_TIMEOUT, Connection
from waymark_nav.errors import ClosedError, ConnectionFailedError, RefusedError, Rejection, WaymarkError
from waymark_nav.frames import Frame
from waymark_nav.messages import CloseCode, Goodbye, Hello, Role, Welcome

VERSION_MIN = VERSION_MAX = 2

#: Close codes after which a peer does not connect again with the same Hello.
NO_RECONNECTION = frozenset({CloseCode.NORMAL, CloseCode.TAKEN_OVER, CloseCode.NOT_AUTHENTICATED})
#: Close codes after which only another gateway, or another configuration, may accept the same Hello.
SELDOM_RECONNECTION = frozenset({
    CloseCode.BAD_MAGIC, CloseCode.UNSUPPORTED_VERSION, CloseCode.FRAME_TOO_LARGE, CloseCode.UNKNOWN_MESSAGE_TYPE,
    CloseCode.UNEXPECTED_MESSAGE, CloseCode.HANDSHAKE_INVALID, CloseCode.ROLE_NOT_ALLOWED, CloseCode.NOT_AUTHORIZED,
})  # fmt: skip
#: The shortest wait after one of them, in seconds.
SELDOM_DELAY_MIN = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnection:
    """When to connect again; each wait is twice as long as the one before. In seconds."""

    #: After the first failure.
    first_delay: float = 0.1
    #: The longest wait. After a connection that lasted at least as long, the next wait is `first_delay` again.
    delay_max: float = 10.0
    #: Attempts to connect for the first time; a lost connection is always followed by attempts until one succeeds.
    first_attempts_max: int = 1
    #: The shortest wait after a refusal that only another gateway or another configuration can lift, such as that of a role or a version;
    #: less than 10 minutes counts as 10 minutes. None: such a refusal ends the connection for good, with its reason,
    #: as it always does before the first Welcome.
    refusal_delay: float | None = SELDOM_DELAY_MIN


class Event:
    """Something that a machine tells its program."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Connecting(Event):
    """The peer connects, for the first time or after a loss."""

    #: Why the connection before was lost; empty: not known, or there was none.
    reason: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Connected(Event):
    """The gateway has welcomed the peer."""

    #: The gateway still knew it.
    resumed: bool


@dataclass(frozen=True, slots=True)
class Closed(Event):
    """The last event: there will be no other connection."""

    error: WaymarkError


@dataclass(frozen=True, slots=True)
class Traced(Event):
    """A frame that causes no other event. Only a peer that is traced tells it."""

    frame: Frame
    #: Why a frame that was received is ignored; None: this peer sent it.
    rejection: Rejection | None


class Peer:
    """A peer in any role."""

    #: Of a subclass.
    role: Role

    def __init__(self, reconnection: Reconnection, *, jitter: Callable[[], float] = lambda: 0.0) -> None:
        self._reconnection = reconnection
        self._jitter = jitter
        self._events: deque[Event] = deque()
        self._connection: Connection | None = None
        self._token = b""
        self._failures = 0
        self._was_welcomed = False
        self._is_closing = False
        #: When close() is given up; None: it was not called.
        self._close_until: float | None = None
        self._next_attempt: float | None = 0.0
        self._is_open = False
        self.error: WaymarkError | None = None
        #: Whether Traced events are told; for tools that must see every frame.
        self.is_traced = False
        self._tell(Connecting())

    # What a role does

    def _hello(self) -> Hello:
        raise NotImplementedError

    def _welcomed(self, welcome: Welcome, now: float) -> None:
        raise NotImplementedError

    def _received(self, whole: Frame, message: Message | None, now: float) -> None:
        """One frame for the role; message is None if this version does not know the type."""
        raise NotImplementedError

    def _unreadable(self, whole: Frame, now: float) -> None:
        """A frame of a known type for the role whose body breaks a rule. It tells nothing."""

    def _dequeue(self, now: float) -> list[Frame]:
        """Removes and returns what to send now."""
        raise NotImplementedError

    def _ended(self, error: WaymarkError) -> None:
        """There will be no other connection."""

    def _role_deadline(self) -> float | None:
        return None

    def _role_tick(self, now: float) -> None:
        """Does what is due in the role."""

    def _owed_bytes(self) -> int:
        """Bytes that _dequeue() would return because the gateway asked for them, without those that have a bound of their own."""
        return 0

    # What the program calls

    @property
    def is_over(self) -> bool:
        """Whether there will be no other connection."""
        return self.error is not None

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection that was welcomed."""
        return self._connection is not None and self._connection.is_active

    @property
    def welcome(self) -> Welcome | None:
        """The last Welcome."""
        return self._connection.welcome if self._connection is not None else None

    def wants_transport(self, now: float) -> bool:
        """Whether to open a transport now."""
        return not self.is_over and not self._is_open and self._next_attempt is not None and now >= self._next_attempt

    @property
    def owed_bytes(self) -> int:
        """Bytes that wait to be written because the gateway asked for them. They have a bound: beyond it the connection is cut."""
        return self._owed_bytes() if self._connection is None else self._connection.owed_bytes

    def wants_abort(self, now: float) -> bool:
        """Whether to close the transport at once, without what is not written: the gateway reads nothing, or does not close its side."""
        if not self._is_open or self._connection is None:
            return False
        return self._connection.is_stuck(now) or (self._close_until is not None and now >= self._close_until)

    def wants_cut(self, now: float) -> bool:
        """Whether to close the transport now."""
        connection = self._connection
        if not self._is_open or connection is None:
            return False
        return self.wants_abort(now) or (connection.is_closed and not connection.has_left)

    @property
    def wants_end(self) -> bool:
        """Whether to close the transport for writing. Not altogether: bytes that were not read would make the system drop the Goodbye."""
        connection = self._connection
        return self._is_open and connection is not None and connection.has_left and not connection.has_output

    @property
    def deadline(self) -> float | None:
        """When tick() is due, or a transport is to be opened."""
        due = [each for each in (self._role_deadline(), None if self._is_open else self._next_attempt) if each is not None]
        if self._connection is not None and self._is_open:
            due.append(self._connection.deadline)
            if self._close_until is not None:
                due.append(self._close_until)
        return min(due) if due and not self.is_over else None

    def opening(self) -> None:
        """A transport is being opened."""
        self._is_open = True
        self._next_attempt = None

    def opened(self, now: float) -> None:
        """The transport is open."""
        self.opening()
        self._connection = Connection(self._hello(), now, self._owed_bytes)
        if self._is_closing:
            self._connection.leave(CloseCode.NORMAL, "", now)

    def failed(self, reason: str, now: float) -> None:
        """The transport could not be opened."""
        self._end_of_connection(reason, now)

    def receive(self, data: bytes, now: float) -> None:
        """Bytes have arrived."""
        connection = self._connection
        if connection is None:
            return
        for whole in connection.receive(data, now):
            message: Message | None = None
            if whole.is_known:
                try:
                    message = whole.decode()
                except Rejection as rejection:
                    if self.is_traced:
                        self._tell(Traced(whole, rejection))
                    self._unreadable(whole, now)
                    continue  # A peer ignores what it cannot use.
            if isinstance(message, Welcome):
                self._activate(message, now)
            else:
                self._received(whole, message, now)
                connection.cut_if_owed_too_much(now)

    def lost(self, now: float) -> None:
        """The transport is closed."""
        self._end_of_connection("", now)

    def tick(self, now: float) -> None:
        """Does what is due."""
        if self._connection is not None:
            self._connection.tick(now)
        self._role_tick(now)

    def take_output(self, now: float) -> bytes:
        """Removes and returns the bytes to write now."""
        connection = self._connection
        if connection is None or not self._is_open:
            return b""
        if connection.is_active:
            for whole in self._dequeue(now):
                connection.send(whole, now)
                if self.is_traced:
                    self._tell(Traced(whole, None))
            if self._is_closing:
                connection.leave(CloseCode.NORMAL, "", now)
        return connection.take_output()

    def next_event(self) -> Event | None:
        """Removes and returns the oldest event; None if there is none."""
        return self._events.popleft() if self._events else None

    def close(self, now: float) -> None:
        """Sends what is queued, says Goodbye, and does not connect again."""
        self._is_closing = True
        if self._close_until is None:
            self._close_until = now + DRAIN_TIMEOUT
        if not self._is_open:
            self._finish(ClosedError())
        elif self._connection is not None and not self._connection.is_active:
            self._connection.leave(CloseCode.NORMAL, "", now)

    # Connections

    def _tell(self, event: Event) -> None:
        self._events.append(event)

    def _activate(self, welcome: Welcome, now: float) -> None:
        self._was_welcomed = True
        self._token = welcome.resumption_token
        self._tell(Connected(welcome.resumed))
        self._welcomed(welcome, now)

    def _end_of_connection(self, reason: str, now: float) -> None:
        connection, self._connection = self._connection, None
        self._is_open = False
        if self.is_over:
            return
        lifetime = now - connection.welcomed_at if connection is not None and connection.welcomed_at is not None else None
        if lifetime is not None and lifetime >= self._reconnection.delay_max:
            self._failures = 0
        self._failures += 1
        error = self._final_error(connection, reason)
        if error is not None:
            self._finish(error)
            return
        if lifetime is not None:
            self._disconnected(now)
        self._tell(Connecting(_reason(connection, reason)))
        hint = connection.goodbye.reconnect_after_milliseconds / 1_000 if connection is not None and connection.goodbye else 0.0
        policy = self._reconnection
        delay = min(policy.first_delay * 2 ** min(self._failures - 1, 20), policy.delay_max)
        if connection is not None and connection.goodbye is not None and connection.goodbye.code in SELDOM_RECONNECTION:
            delay = max(policy.refusal_delay or 0.0, SELDOM_DELAY_MIN)
        self._next_attempt = now + max(hint, delay * (1 + self._jitter() / 4))

    def _disconnected(self, now: float) -> None:
        """A connection that was welcomed is lost; another one follows."""

    def _final_error(self, connection: Connection | None, reason: str) -> WaymarkError | None:
        """Why there will be no other connection; None if there will."""
        if self._is_closing:
            return ClosedError()
        goodbye = connection.goodbye if connection is not None else None
        refuses = self._reconnection.refusal_delay is None or not self._was_welcomed
        if connection is not None and connection.foreign is not None and not self._was_welcomed:
            return ConnectionFailedError(f"what listens there is not waymarkd, but {_kind(connection.foreign)}")
        if goodbye is not None and (goodbye.code in NO_RECONNECTION or (refuses and goodbye.code in SELDOM_RECONNECTION)):
            return self._refusal(goodbye)
        if self._was_welcomed or self._failures < self._reconnection.first_attempts_max:
            return None
        if goodbye is not None and goodbye.code != CloseCode.HANDSHAKE_TIMEOUT:
            return self._refusal(goodbye)
        if reason:
            return ConnectionFailedError(reason)
        what = "does not answer" if goodbye is not None else "closed the connection without an answer"
        return ConnectionFailedError(f"what listens there {what}; it may not be waymarkd")

    def _refusal(self, goodbye: Goodbye) -> RefusedError:
        retry_after = goodbye.reconnect_after_milliseconds / 1_000 or None
        if goodbye.code in NO_RECONNECTION:
            retry_after = None
        elif goodbye.code in SELDOM_RECONNECTION:
            retry_after = max(self._reconnection.refusal_delay or 0.0, SELDOM_DELAY_MIN)
        return RefusedError(goodbye.code, goodbye.reason, limit=goodbye.limit, limit_value=goodbye.limit_value, retry_after=retry_after)

    def _finish(self, error: WaymarkError) -> None:
        self.error = error
        self._next_attempt = None
        self._ended(error)
        self._tell(Closed(error))


def _reason(connection: Connection | None, reason: str) -> str:
    """Why a connection was lost; the reason is that of its transport."""
    if connection is None:
        return reason
    return connection.fault or (connection.goodbye.reason if connection.goodbye is not None else "") or reason


def _kind(data: bytes) -> str:
    """What the first bytes of a stream say that it is."""
    if data.startswith((b"HTTP/", b"<")):
        return "a web server"
    if data.startswith(b"SSH-"):
        return "an SSH server"
    return "a TLS server" if data.startswith(b"\x15\x03") else "something else"
