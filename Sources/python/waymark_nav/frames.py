"""Frames: a header of 24 bytes and a body."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntFlag
from typing import NamedTuple

from waymark_nav import _checks as _checks
from waymark_nav._wire import Message, decode, encode
from waymark_nav.messages import BODIES, TYPES, CloseCode, MessageType

HEADER = struct.Struct(">2sBBHHIIQ")
HEADER_BYTES = 24
VERSION = 1
#: What a client publishes.
PUBLISHED = range(0x0100, 0x0200)
#: The largest number of a publication.
SEQUENCE_MAX = 2**64 - 1
#: Larger frames than this no peer may agree on.
FRAME_BYTES_MAX = 16_777_216


class Flags(IntFlag):
    """The flags of a frame."""

    #: A receiver that does not know the type ignores the frame.
    SKIPPABLE = 1
    #: The gateway inserted the frame into the session.
    GATEWAY = 2
    #: The content was cut to the receiver's profile.
    FITTED = 4
    #: Of a type that the gateway does not know: only the newest frame of each type and key matters.
    STATE = 8
    #: With STATE: endpoints that join later get the newest frame.
    RETAINED = 16
    #: The gateway made several frames of one publication or message, and this is not the last of them.
    MORE = 32


class Frame(NamedTuple):
    """One frame, its body not decoded."""

    type: int
    body: bytes
    session: int = 0
    sequence: int = 0
    flags: int = 0
    key: int = 0

    @property
    def is_known(self) -> bool:
        """Whether this version knows the type."""
        return self.type in BODIES

    @property
    def is_published(self) -> bool:
        """Whether the frame is a publication."""
        return self.type in PUBLISHED

    def decode(self) -> Message:
        """The body. Raises Rejection if it breaks a rule, KeyError if the type is not known."""
        return decode(BODIES[self.type], self.body)

    def encode(self) -> bytes:
        """The bytes of the frame."""
        header = HEADER.pack(b"WM", VERSION, self.flags, self.type, self.key, len(self.body), self.session, self.sequence)
        return header + self.body


def next_sequence(sequence: int) -> int:
    """The number after one that a gateway may have said. The largest is followed by itself: the header has no larger one."""
    return min(sequence + 1, SEQUENCE_MAX)


def frame(message: Message, session: int = 0, sequence: int = 0) -> Frame:
    """The frame of a message."""
    return Frame(TYPES[type(message)], encode(message), session, sequence)


def type_name(number: int) -> str:
    """The name of a message type as Docs/cluster-json.md has it, e.g. updateTripEstimates."""
    if number not in BODIES:
        return str(number)
    first, *others = MessageType(number).name.lower().split("_")
    return first + "".join(word.capitalize() for word in others)


class Violation(Exception):
    """What follows in the stream are no frames of this protocol."""

    def __init__(self, code: CloseCode, reason: str, data: bytes = b"") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        #: The first bytes.
        self.data = data


class Splitter:
    """Finds the frames in a stream of bytes."""

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        """Adds bytes behind those before."""
        self._data += data

    def frames(self) -> Iterator[Frame]:
        """The whole frames that have arrived. Raises Violation; then nothing of the stream can be read any more."""
        at = 0
        data = self._data
        try:
            while self._check(data, at):
                _, _, flags, kind, key, size, session, sequence = HEADER.unpack_from(data, at)
                end = at + HEADER_BYTES + size
                if end - at > self.frame_bytes_max:
                    raise Violation(CloseCode.FRAME_TOO_LARGE, f"a frame of {end - at} bytes is longer than {self.frame_bytes_max}")
                if len(data) < end:
                    break
                whole = Frame(kind, bytes(data[at + HEADER_BYTES : end]), session, sequence, flags, key)
                at = end
                yield whole
        finally:
            del self._data[:at]

    @staticmethod
    def _check(data: bytearray, at: int) -> bool:
        """Whether a whole header is at a place. What has arrived of its first three bytes is checked at once."""
        start = bytes(data[at : at + 3])
        if not b"WM\x01".startswith(start):
            if not b"WM".startswith(start[:2]):
                raise Violation(CloseCode.BAD_MAGIC, "the stream does not begin like a frame", bytes(data[at : at + 16]))
            raise Violation(CloseCode.UNSUPPORTED_VERSION, f"the major version is {start[2]}", bytes(data[at : at + 16]))
        return len(data) >= at + HEADER_BYTES
