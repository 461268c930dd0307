"""Frames: a header of 24 bytes, then a body."""

import struct
from dataclasses import dataclass, field
from typing import Any

from .schema import MESSAGES, NUMBERS, TYPES, Malformed, decode

HEADER = struct.Struct(">2sBBHHIIQ")
FLAGS = {"SKIPPABLE": 1, "GATEWAY": 2, "FITTED": 4, "STATE": 8, "RETAINED": 16, "MORE": 32}
PUBLISHED = range(0x100, 0x200)


@dataclass
class Frame:
    type: int
    body: bytes = b""
    flags: int = 0
    key: int = 0
    session: int = 0
    sequence: int = 0
    magic: bytes = b"WM"
    version: int = 1
    length: int | None = None
    """What the header says, if it is not the body's length."""
    at: float = 0.0
    decoded: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self):
        return TYPES.get(self.type, f"0x{self.type:04X}")

    @property
    def is_publication(self):
        return self.type in PUBLISHED

    def pack(self):
        length = len(self.body) if self.length is None else self.length
        return HEADER.pack(self.magic, self.version, self.flags, self.type, self.key, length, self.session, self.sequence) + self.body

    def decode(self):
        """Fills `decoded`; returns the fault of a body that cannot be decoded."""
        if self.name in MESSAGES:
            try:
                self.decoded = decode(self.name, self.body)
            except Malformed as error:
                return str(error)
        return ""


def type_number(name):
    if name in NUMBERS:
        return NUMBERS[name]
    return int(name, 16) if isinstance(name, str) else name


def flag_bits(names):
    if isinstance(names, int):
        return names
    return sum(FLAGS[name] for name in names)


def flag_names(bits):
    names = [name for name, bit in FLAGS.items() if bits & bit]
    return names + [f"bit {index}" for index in range(6, 8) if bits & 1 << index]


class Reader:
    """Cuts a stream into frames."""

    def __init__(self):
        self.data = b""
        self.fault = ""

    def feed(self, news):
        self.data += news
        frames = []
        while len(self.data) >= HEADER.size and not self.fault:
            magic, version, flags, kind, key, length, session, sequence = HEADER.unpack_from(self.data)
            if magic != b"WM" or version != 1:
                self.fault = f"a frame begins with {self.data[:3].hex(' ')} in place of 57 4d 01"
            elif length > 16_777_216:
                self.fault = f"a frame has a body of {length} bytes"
            elif len(self.data) < HEADER.size + length:
                break
            else:
                body = self.data[HEADER.size : HEADER.size + length]
                self.data = self.data[HEADER.size + length :]
                frames.append(Frame(kind, body, flags, key, session, sequence))
        return frames
