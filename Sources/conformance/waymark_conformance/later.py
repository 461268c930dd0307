"""An invented later minor version: what it may add (REQ-COMPAT-01) is added to every frame that the suite sends on a connection.

Fields with unknown numbers, in the message and in all that are in it; the flags that have no name; and before each frame one of a type that
does not exist, with SKIPPABLE. Values, roles and limits are in the cases themselves.
"""

import contextlib

from .frames import FLAGS, Frame, type_number
from .schema import FIELDS, MESSAGES, TYPES, Malformed, key, split, varint

# One field of each kind, with numbers that no message has: a number, eight bytes, a text, four bytes.
FIELD_NUMBERS = (1001, 1002, 1003, 1004)
FIRST = key(1001, 0) + varint(7)
LAST = key(1002, 1) + bytes(range(8)) + key(1003, 2) + varint(5) + b"later" + key(1004, 5) + bytes(range(4))
# Which flags have a name is in the page's table of flags.
UNNAMED = 0xFF & ~sum(FLAGS.values())
# Types without a name, one in each range that is not published, and beyond all of them.
NEW_TYPES = (0x00F7, 0x02F7, 0x03F7, 0x0400, 0xFFFF)
# Bodies of this size are as long as they may be.
FILLED_MIN = 1 << 23
HELLO, GOODBYE, WELCOME = (type_number(name) for name in ("Hello", "Goodbye", "Welcome"))


def body_with_fields(name, body):
    """The body of a message with unknown fields before and behind the others, also within."""
    out = FIRST
    for number, kind, value in split(body):
        out += key(number, kind)
        if kind == 0:
            out += varint(value)
            continue
        inner = FIELDS[name].get(number, ("", {}))[1].get("type")
        if inner in MESSAGES:
            value = body_with_fields(inner, value)
        out += (varint(len(value)) if kind == 2 else b"") + value
    return out + LAST


class LaterVersion:
    """What the later version makes of the frames of one connection."""

    def __init__(self):
        self.count = 0

    def frames(self, frame):
        """The frames to send in place of one."""
        with contextlib.suppress(Malformed):  # Some cases send what is no message.
            if frame.type in TYPES and len(frame.body) < FILLED_MIN:
                frame.body = body_with_fields(TYPES[frame.type], frame.body)
        frame.flags |= UNNAMED
        if frame.type in (HELLO, WELCOME, GOODBYE):
            return [frame]
        self.count += 1
        new = Frame(NEW_TYPES[self.count % len(NEW_TYPES)], b"\xff" * (self.count % 3), FLAGS["SKIPPABLE"] | UNNAMED, session=frame.session)
        return [new, frame]
