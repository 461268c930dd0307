"""One connection of a peer, without I/O: handshake, keepalive, goodbye.

awaiting Welcome ──Welcome──▶ active ──Goodbye, fault, silence──▶ closed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

from waymark_nav.core._partial import PartialMessage
from waymark_nav.errors import Rejection
from waymark_nav.frames import FRAME_BYTES_MAX, HEADER_BYTES, Frame, Splitter, Violation, frame
from waymark_nav.messages import CloseCode, Goodbye, Hello, MessageType, Ping, Pong, Welcome

#: For the Welcome, in seconds.
HANDSHAKE_TIMEOUT = 5.0
#: For the gateway to close the transport after a Goodbye, in seconds.
DRAIN_TIMEOUT = 2.0
SILENT_INTERVALS_MAX = 3
#: Bytes that wait to be written because the gateway asked for them: Pongs, and a client's answers. Beyond it the connection is cut. A read
#: of asyncio cannot ask for more, so that a gateway that reads is not cut, however much it asks for in one go.
OWED_BYTES_MAX = 262_144
_CONTROL = range(0x0001, 0x0010)


def clock_nanoseconds(now: float) -> int:
    """What messages say that the clock showed."""
    return max(0, int(now * 1_000_000_000))


class ConnectionState(Enum):
    """Where a connection is."""

    AWAITING_WELCOME = "awaiting Welcome"
    ACTIVE = "active"
    CLOSED = "closed"


class Connection:
    """From the open transport to its end."""

    def __init__(self, hello: Hello, now: float, role_bytes: Callable[[], int] = lambda: 0) -> None:
        """role_bytes: how many bytes the role has queued because the gateway asked for them."""
        self.state = ConnectionState.AWAITING_WELCOME
        self.welcome: Welcome | None = None
        self.welcomed_at: float | None = None
        #: How it ended, by either side; None: the transport was cut.
        self.goodbye: Goodbye | None = None
        #: The first bytes of a peer that does not speak the protocol.
        self.foreign: bytes | None = None
        #: Why this side has cut it; empty: it has not.
        self.fault = ""
        self._splitter = Splitter(hello.receive_frame_bytes_max or FRAME_BYTES_MAX)
        self._partial = PartialMessage()
        self._output = bytearray()
        #: How many bytes of it are Pongs.
        self._pong_bytes = 0
        self._role_bytes = role_bytes
        self._interval = 0.0
        self._heard = self._sent = self._began = now
        self._closed_at: float | None = None
        #: This side has said Goodbye.
        self.has_left = False
        self._nonce = 0
        self.send(frame(hello), now)

    @property
    def is_active(self) -> bool:
        """Whether messages may be sent."""
        return self.state is ConnectionState.ACTIVE

    @property
    def deadline(self) -> float:
        """When tick() is due."""
        if self._closed_at is not None:
            return self._closed_at + DRAIN_TIMEOUT
        if self.state is ConnectionState.AWAITING_WELCOME:
            return self._began + HANDSHAKE_TIMEOUT
        return min(self._sent + self._interval / 2, self._heard + SILENT_INTERVALS_MAX * self._interval)

    def send(self, whole: Frame, now: float) -> None:
        """Queues a frame."""
        self._output += whole.encode()
        self._sent = now

    def take_output(self) -> bytes:
        """Removes and returns the bytes to write."""
        data = bytes(self._output)
        self._output.clear()
        self._pong_bytes = 0
        return data

    @property
    def owed_bytes(self) -> int:
        """Bytes that wait to be written because the gateway asked for them."""
        return self._pong_bytes + self._role_bytes()

    def cut_if_owed_too_much(self, now: float) -> None:
        """Cuts the connection if the gateway asks and does not read the answers: without a bound they would fill the memory.

        Without a Goodbye: it would wait behind what is not read, and a gateway that reads it forgets this peer.
        """
        count = self.owed_bytes
        if count > OWED_BYTES_MAX and not self.is_closed:
            self.fault = f"the gateway reads nothing: {count} bytes wait that it asked for"
            self._output.clear()
            self._pong_bytes = 0
            self._close(now)

    @property
    def has_output(self) -> bool:
        """Whether bytes wait to be written."""
        return bool(self._output)

    def receive(self, data: bytes, now: float) -> Iterator[Frame]:
        """Reads bytes; returns the frames for the role, the Welcome among them."""
        if self.state is ConnectionState.CLOSED:
            return
        self._splitter.feed(data)
        self._heard = now
        try:
            for part in self._splitter.frames():
                # A part of a message that may not come now is not kept.
                is_expected = (part.type == MessageType.WELCOME) != self.is_active
                whole = self._partial.add(part) if is_expected else part
                if whole is not None and self._is_for_role(whole, now):
                    yield whole
                if self.is_closed:
                    return
        except Violation as violation:
            if violation.code == CloseCode.BAD_MAGIC:
                self.foreign = violation.data
            self.leave(violation.code, violation.reason, now)

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is sent or read."""
        return self.state is ConnectionState.CLOSED

    def _is_for_role(self, whole: Frame, now: float) -> bool:
        if whole.type not in _CONTROL:
            if not self.is_active:
                self.leave(CloseCode.UNEXPECTED_MESSAGE, "expected Welcome or Goodbye", now)
            return self.is_active
        try:
            message = whole.decode()
        except (KeyError, Rejection):
            return False  # A later gateway may have more types; a body that breaks a rule is of no use.
        if isinstance(message, Goodbye):
            self.goodbye = message
            self._close(now)
        elif isinstance(message, Welcome) and not self.is_active:
            self._activate(message, now)
            return True
        elif not self.is_active or isinstance(message, Hello | Welcome):
            self.leave(CloseCode.UNEXPECTED_MESSAGE, "expected another message", now)
        elif isinstance(message, Ping):
            times = None if message.sent_nanoseconds is None else clock_nanoseconds(now)
            pong = frame(Pong(nonce=message.nonce, received_nanoseconds=times, sent_nanoseconds=times))
            self.send(pong, now)
            self._pong_bytes += HEADER_BYTES + len(pong.body)
            self.cut_if_owed_too_much(now)
        return whole.type == MessageType.ERROR

    def _activate(self, welcome: Welcome, now: float) -> None:
        self.state = ConnectionState.ACTIVE
        self.welcome = welcome
        self.welcomed_at = now
        if welcome.send_frame_bytes_max:
            self._splitter.frame_bytes_max = min(self._splitter.frame_bytes_max, max(welcome.send_frame_bytes_max, 4_096))
        self._interval = min(max(welcome.keepalive_milliseconds, 1_000), 600_000) / 1_000

    def tick(self, now: float) -> None:
        """Does what is due."""
        if self.is_closed or now < self.deadline:
            return
        if self.state is ConnectionState.AWAITING_WELCOME:
            self._end(CloseCode.HANDSHAKE_TIMEOUT, "no Welcome in time", now)
        elif now >= self._heard + SILENT_INTERVALS_MAX * self._interval:
            self._end(CloseCode.KEEPALIVE_TIMEOUT, "nothing heard for three intervals", now)
        else:
            self._nonce += 1
            self.send(frame(Ping(nonce=self._nonce)), now)

    def is_stuck(self, now: float) -> bool:
        """Whether the gateway has not closed the transport in time after a Goodbye, or reads nothing."""
        return bool(self.fault) or (self._closed_at is not None and now >= self._closed_at + DRAIN_TIMEOUT)

    def leave(self, code: CloseCode, reason: str, now: float) -> None:
        """Says Goodbye; sends nothing more."""
        if self.is_closed:
            return
        self.send(frame(Goodbye(code=code, reason=reason)), now)
        self.has_left = True
        self._end(code, reason, now)

    def _end(self, code: CloseCode, reason: str, now: float) -> None:
        """Ends the connection, and keeps why. Without a Goodbye, the next Hello resumes the state that one would end."""
        self.goodbye = Goodbye(code=code, reason=reason)
        self._close(now)

    def _close(self, now: float) -> None:
        self.state = ConnectionState.CLOSED
        self._closed_at = now
