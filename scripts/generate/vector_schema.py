"""The messages of the protos with their rules, and how a message is written as JSON and as protobuf. For vectors.py.

A message is a dictionary, as Protos/vectors/README.md defines its JSON form.
"""

import re
import struct
from dataclasses import dataclass, field

from protocol import FILES, brackets, parse

VARINT, FIXED64, LENGTH, GROUP, FIXED32 = 0, 1, 2, 3, 5
WIRE_TYPES = {"double": FIXED64, "text": LENGTH, "bytes": LENGTH, "message": LENGTH, "number": VARINT}
# The lowest and the highest value of a type.
RANGES = {
    "uint32": (0, 2**32 - 1),
    "sint32": (-(2**31), 2**31 - 1),
    "uint64": (0, 2**64 - 1),
    "bool": (0, 1),
    "enum": (0, 2**31 - 1),
}
# The key of the fields with unknown numbers.
UNKNOWN = "?"


@dataclass
class Rule:
    """A field of a message, and what its brackets demand."""

    name: str
    number: int
    type: str
    repeated: bool
    oneof: bool
    form: str = "number"
    required: bool = False
    count_max: int = 1
    # Of a number; of the length of a text or of bytes.
    lower: float = 0
    upper: float = 0
    or_zero: bool = False
    is_name: bool = False
    is_extension: bool = False
    sum_max: int = 0

    @property
    def wire_type(self):
        return WIRE_TYPES[self.form]

    @property
    def is_zigzag(self):
        return self.type == "sint32"

    def allows(self, value):
        return self.lower <= value <= self.upper or (value == 0 and self.or_zero)


@dataclass
class Shape:
    """A message."""

    name: str
    file: str
    # Of its frame; None for a message that is only in others.
    type_number: int | None
    sender: str
    rules: list = field(default_factory=list)

    def rule(self, name):
        return next(rule for rule in self.rules if rule.name == name)


class Protos:
    """All messages and enumerations."""

    def __init__(self):
        definitions = [definition for name in FILES for definition in parse(name)]
        self.enums = {each.name: [value.number for value in each.members] for each in definitions if each.kind == "enum"}
        self.removed = {each.name: sorted(each.reserved) for each in definitions if each.kind == "enum"}
        self.shapes = {}
        messages = [each for each in definitions if each.kind == "message"]
        names = {each.name for each in messages}
        for each in messages:
            said = brackets(each.text)
            number = int(said[0].removeprefix("type "), 16) if said else None
            shape = Shape(each.name, each.file, number, said[1] if said else "")
            shape.rules = [self.rule(member, names) for member in sorted(each.members, key=lambda each: each.number)]
            self.shapes[each.name] = shape
        self.frames = sorted((each for each in self.shapes.values() if each.type_number is not None), key=lambda each: each.type_number)

    def rule(self, member, messages):
        rule = Rule(member.name, member.number, member.type, member.repeated, member.oneof)
        if member.type in messages:
            rule.form = "message"
        elif member.type in ("string", "bytes", "double"):
            rule.form = "text" if member.type == "string" else member.type
        elif member.type in self.enums:
            rule.lower, rule.upper = RANGES["enum"]
        else:
            rule.lower, rule.upper = RANGES[member.type]
        items = brackets(member.text)
        rule.required = "required" in items
        for item in items:
            self.apply(rule, item.removeprefix("each "), item)
        if rule.required and not rule.repeated and rule.form in ("number", "text") and rule.lower <= 0 <= rule.upper:
            rule.lower = 1
        return rule

    @staticmethod
    def apply(rule, demand, item):
        if match := re.fullmatch(r"at most ([\d ]+)", demand):
            rule.count_max = count(match[1])
        elif match := re.fullmatch(r"sums within ([\d ]+)", demand):
            rule.sum_max = count(match[1])
        elif match := re.fullmatch(r"at most ([\d ]+) bytes", demand):
            rule.lower, rule.upper = 0, count(match[1])
        elif match := re.fullmatch(r"(0 or )?([\d ]+) bytes", demand):
            rule.lower = rule.upper = count(match[2])
            rule.or_zero = bool(match[1])
        elif match := re.fullmatch(r"(0 or )?(-?[\d ]+) \.\.\. (-?[\d ]+)", demand):
            rule.lower, rule.upper, rule.or_zero = count(match[2]), count(match[3]), bool(match[1])
        elif demand == "a name":
            rule.is_name = True
            rule.lower, rule.upper = (1 if rule.repeated else 0), 64
        elif demand == "an extension":
            rule.is_extension = True
            rule.lower, rule.upper = 3, 128
        elif item not in ("required", "place"):
            raise SystemExit(f"{rule.name}: not understood: {item}")


def count(text):
    return int(text.replace(" ", ""))


# Writing


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number, wire_type):
    return varint(number << 3 | wire_type)


def block(number, content):
    """A field with a length."""
    return tag(number, LENGTH) + varint(len(content)) + content


def raw(rule, value):
    """A number as its varint."""
    if rule.is_zigzag:
        return (value << 1 ^ value >> 31) & 0xFFFFFFFF
    return int(value)


def value_bytes(protos, rule, value):
    """One value without its tag."""
    if rule.form == "number":
        return varint(raw(rule, int(value) if rule.type == "uint64" else value))
    if rule.form == "double":
        return struct.pack("<d", value)
    if rule.form == "message":
        content = encode(protos, protos.shapes[rule.type], value)
    else:
        content = bytes.fromhex(value) if rule.form == "bytes" else value.encode()
    return varint(len(content)) + content


def field_bytes(protos, rule, value):
    """A field with its tag; a list of numbers is packed."""
    if rule.repeated and rule.form == "number":
        return block(rule.number, b"".join(value_bytes(protos, rule, each) for each in value)) if value else b""
    values = value if rule.repeated else [value]
    return b"".join(tag(rule.number, rule.wire_type) + value_bytes(protos, rule, each) for each in values)


def encode(protos, shape, message, path=(), omit="", insert=b""):
    """The body of a message as libraries of protobuf write it.

    In the message at `path`, a list of pairs of a field's name and an index, `insert` is written in place of the field `omit`, or
    at the end.
    """
    out = b""
    for rule in shape.rules:
        value = message.get(rule.name)
        if path and rule.name == path[0][0]:
            below = protos.shapes[rule.type]
            values = value if rule.repeated else [value]
            for index, each in enumerate(values):
                if index == path[0][1]:
                    out += block(rule.number, encode(protos, below, each, path[1:], omit, insert))
                else:
                    out += field_bytes(protos, rule, [each] if rule.repeated else each)
        elif not path and rule.name == omit:
            out += insert
        elif value is not None:
            out += field_bytes(protos, rule, value)
    if not path and not omit:
        out += insert
    return out + bytes.fromhex(message.get(UNKNOWN, ""))
