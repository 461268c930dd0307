"""Bodies: messages to bytes and back.

A decoded body satisfies every rule of the protos, as at the gateway: what a field may hold is checked while it is read, and the first fault
in the order of the bytes is the one that is reported.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, TypeVar

from waymark_nav.errors import Rejection

# What a field's value looks like on the wire.
UINT32, UINT64, SINT32, BOOL, ENUM, DOUBLE, STRING, BYTES, MESSAGE = range(9)

MALFORMED, INVALID_TEXT, OUT_OF_RANGE, MISSING, UNKNOWN_REFERENCE, DUPLICATE = range(1, 7)
LIMIT_REACHED, INCONSISTENT = 14, 15

#: Fields of one body that this version does not know.
UNKNOWN_FIELDS_MAX = 1_024

_NAME = re.compile(rb"[A-Za-z0-9._:-]*")
_EXTENSION = re.compile(rb"[a-z0-9.-]*")
_DOUBLE = struct.Struct("<d")
_RAW_MAX = {UINT32: 2**32 - 1, UINT64: 2**64 - 1, SINT32: 2**32 - 1, BOOL: 1, ENUM: 2**32 - 1}


class OpenEnum(IntEnum):
    """An enumeration to which later versions of the protocol may add values: those that this version does not know are kept."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, int) or not 0 <= value <= 2**31 - 1:
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNRECOGNIZED_{value}"
        member._value_ = value
        return member

    def __str__(self) -> str:
        return self._name_

    def __format__(self, spec: str) -> str:
        return format(self._name_, spec)

    @property
    def is_recognized(self) -> bool:
        """Whether this version knows the value."""
        return self._value_ in type(self)._value2member_map_


class Message:
    """A message of the protocol. Values of subclasses are immutable, and equal if all their fields are.

    Why these methods are here: dataclass() would compile them for each of a hundred classes, about an eighth of the time of an import.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self is other or all(get(self) == get(other) for get in PLANS[type(self)].getters)

    def __hash__(self) -> int:
        return hash((type(self), *(get(self) for get in PLANS[type(self)].getters)))

    def __repr__(self) -> str:
        plan = PLANS[type(self)]
        values = [(field.name, get(self), default) for field, get, default in zip(plan.fields, plan.getters, plan.defaults, strict=True)]
        given = ", ".join(f"{name}={value!r}" for name, value, default in values if value != default)
        return f"{type(self).__name__}({given})"


M = TypeVar("M", bound=Message)


class Field:
    """One field of a message, with its rule."""

    __slots__ = (
        "bit", "count", "form", "is_angle", "is_extension", "is_name", "is_optional", "is_repeated", "is_required", "is_zigzag", "key",
        "kind", "lower", "members", "name", "number", "of", "position", "raw_max", "sums", "upper", "zero",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        field_name: str,
        kind: int,
        *,
        of: type[Any] | None = None,
        lower: int | None = None,
        upper: int | None = None,
        count: int = 0,
        sums: int = 0,
        zero: bool = False,
        required: bool = False,
        name: bool = False,
        extension: bool = False,
        optional: bool = False,
    ) -> None:
        self.number, self.name, self.kind = number, field_name, kind
        self.of: Any = of
        self.form = 0 if kind <= ENUM else 1 if kind == DOUBLE else 2
        self.key = number << 3 | self.form
        self.bit = 1 << number
        self.count, self.sums, self.zero = count, sums, zero
        self.is_repeated, self.is_required, self.is_name, self.is_optional = count > 0, required, name, optional
        self.is_extension = extension
        self.is_zigzag = kind == SINT32
        self.raw_max = _RAW_MAX.get(kind, 0)
        self.lower = lower if lower is not None else -(2**31) if kind == SINT32 else 0
        self.upper = upper if upper is not None else 2**31 - 1 if kind == SINT32 else self.raw_max
        # Whether it is an angle in degrees: only angles have this range.
        self.is_angle = kind == SINT32 and (self.lower, self.upper) == (-180, 180)
        self.members: dict[int, Any] = of._value2member_map_ if kind == ENUM and of is not None else {}
        self.position = 0


class Plan:
    """How the messages of one class are read and written."""

    __slots__ = ("by_key", "by_number", "cls", "defaults", "fields", "getters", "lists", "required", "setters", "sums")

    def __init__(self, cls: type[Message], fields: tuple[Field, ...]) -> None:
        self.cls = cls
        self.fields = fields
        self.by_key = {field.key: field for field in fields}
        self.by_number = {field.number: field for field in fields}
        self.defaults: list[Any] = []
        self.setters: list[Callable[[Any, Any], None]] = [cls.__dict__[field.name].__set__ for field in fields]
        self.getters: list[Callable[[Any], Any]] = [cls.__dict__[field.name].__get__ for field in fields]
        self.required = 0
        self.sums = [field for field in fields if field.sums]
        for position, field in enumerate(fields):
            field.position = position
            if field.is_required:
                self.required |= field.bit
            self.defaults.append(_default(field))
        self.lists = tuple(field.position for field in fields if field.is_repeated)


#: By class.
PLANS: dict[type[Message], Plan] = {}


def define(cls: type[Message], *fields: Field) -> None:
    """Makes the messages of a class readable and writable."""
    PLANS[cls] = Plan(cls, fields)


def _default(field: Field) -> Any:
    """What a field holds that was not sent."""
    if field.is_repeated:
        return ()
    if field.is_optional or field.kind == MESSAGE:
        return None
    if field.kind == ENUM:
        return field.members.get(0)
    return {BOOL: False, DOUBLE: 0.0, STRING: "", BYTES: b""}.get(field.kind, 0)


# Reading


def decode(cls: type[M], body: bytes) -> M:
    """Reads a body.

    Raises Rejection with the code and the field that the gateway would name.
    """
    message: M = _read(_plan(cls), body, 0, len(body), [0])
    check = CHECKS.get(cls)
    if check is not None:
        check(message)
    return message


#: What must hold between the fields of a body, by its class.
CHECKS: dict[type[Message], Callable[[Any], None]] = {}


def _plan(cls: type[Message]) -> Plan:
    return PLANS[cls]


def _read(plan: Plan, data: bytes, at: int, end: int, unknown: list[int]) -> Any:
    """Reads the message in data[at:end]; unknown counts the unknown fields of the body."""
    values = plan.defaults.copy()
    by_key = plan.by_key
    # Of each list of differences, the sum so far.
    totals: dict[int, int] = {}
    seen = 0
    field: Field | None = None
    try:
        while at < end:
            field = None
            key = data[at]
            if key < 0x80:
                at += 1
            else:
                key, at = _tag_or_length(data, at, end)
            field = by_key.get(key)
            if field is None:
                field = plan.by_number.get(key >> 3)
                if field is None:
                    at = _skip(data, at, end, key, unknown)
                    continue
                at = _packed(field, values, totals, data, at, end, key & 7, bool(seen & field.bit))
                seen |= field.bit
                continue
            if field.is_repeated:
                items = values[field.position]
                if not items:
                    items = values[field.position] = []
                if len(items) >= field.count:
                    raise Rejection(OUT_OF_RANGE, "", f"more than {field.count} elements")
            elif seen & field.bit:
                raise Rejection(MALFORMED, "", "occurs twice")
            else:
                items = None
            seen |= field.bit
            if field.form == 0:
                value: Any
                if at < end and data[at] < 0x80:
                    value = data[at]
                    at += 1
                else:
                    value, at = _varint(data, at, end)
                if field.is_zigzag or value > field.raw_max or not field.lower <= value <= field.upper:
                    value = _number(field, value)
                if field.sums:
                    totals[field.number] = _summed(field, totals.get(field.number, 0) + value)
                elif field.kind == ENUM:
                    member = field.members.get(value)
                    value = field.of(value) if member is None and field.of is not None else member
                elif field.kind == BOOL:
                    value = value == 1
            else:
                value, at = _other(field, data, at, end, unknown)
            if items is None:
                values[field.position] = value
            else:
                items.append(value)
    except Rejection as rejection:
        if field is None:
            raise
        raise rejection.inside(_at(field, values)) from None
    return _made(plan, values, seen)


def _made(plan: Plan, values: list[Any], seen: int) -> Any:
    """The message with these values, if all required fields were seen."""
    if plan.required & ~seen:
        absent = min((field for field in plan.fields if field.is_required and not seen & field.bit), key=lambda each: each.number)
        raise Rejection(MISSING, absent.name, "must be there")
    if plan.sums:
        _check_sums(plan, values)
    for position in plan.lists:
        if values[position] != ():
            values[position] = tuple(values[position])
    message = object.__new__(plan.cls)
    for set_value, value in zip(plan.setters, values, strict=True):
        set_value(message, value)
    return message


def _other(field: Field, data: bytes, at: int, end: int, unknown: list[int]) -> tuple[Any, int]:
    """Reads a value that is not a number of variable length; returns it and where it ends."""
    if field.form == 1:
        if end - at < 8:
            raise _cut()
        value = _DOUBLE.unpack_from(data, at)[0]
        if not field.lower <= value <= field.upper:
            raise Rejection(OUT_OF_RANGE, "", f"not within {field.lower} ... {field.upper}")
        return value, at + 8
    if at < end and data[at] < 0x80:
        size = data[at]
        at += 1
    else:
        size, at = _tag_or_length(data, at, end)
    stop = at + size
    if stop > end:
        raise _cut()
    return _read(PLANS[field.of], data, at, stop, unknown) if field.kind == MESSAGE else _text(field, data[at:stop]), stop


def _at(field: Field, values: list[Any]) -> str:
    """The path of the value that is read now."""
    return f"{field.name}[{len(values[field.position])}]" if field.is_repeated else field.name


def _check_sums(plan: Plan, values: list[Any]) -> None:
    """The lists of differences of a message are equally long."""
    first = plan.sums[0]
    for other in plan.sums[1:]:
        if len(values[other.position]) != len(values[first.position]):
            raise Rejection(INCONSISTENT, other.name, f"not as long as {first.name}")


def _number(field: Field, value: int) -> int:
    """Checks a number that is not certainly in its range."""
    if value > field.raw_max:
        raise Rejection(OUT_OF_RANGE, "", "neither false nor true" if field.kind == BOOL else "more than 32 bits")
    if field.is_zigzag:
        value = (value >> 1) ^ -(value & 1)
    if not field.lower <= value <= field.upper and not (value == 0 and field.zero):
        raise _out_of_bounds(field, value)
    # 180 and -180 are the same angle.
    return -180 if value == 180 and field.is_angle else value


def _text(field: Field, data: bytes) -> Any:
    """Checks a text or bytes."""
    size = len(data)
    if not field.lower <= size <= field.upper and not (size == 0 and field.zero):
        raise _out_of_bounds(field, size)
    if field.kind == BYTES:
        return bytes(data)
    if 0 in data:
        raise Rejection(INVALID_TEXT, "", "has a NUL in it")
    if field.is_name and not _NAME.fullmatch(data):
        raise Rejection(INVALID_TEXT, "", "has a character that names do not have")
    if field.is_extension and not (_EXTENSION.fullmatch(data) and b"." in data):
        raise Rejection(INVALID_TEXT, "", "is not the name of an extension, e.g. org.example.tyres")
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        raise Rejection(INVALID_TEXT, "", "is not UTF-8") from None


def _packed(field: Field, values: list[Any], totals: dict[int, int], data: bytes, at: int, end: int, form: int, is_given: bool) -> int:
    """Reads a field whose form on the wire is not that of one value: packed numbers, or a fault."""
    items: list[Any] = values[field.position] if field.is_repeated else []
    if form != 2 or field.form != 0 or not field.is_repeated:
        if field.is_repeated and len(items) >= field.count:
            raise Rejection(OUT_OF_RANGE, "", f"more than {field.count} elements")
        if is_given and not field.is_repeated:
            raise Rejection(MALFORMED, "", "occurs twice")
        raise Rejection(MALFORMED, "", f"has wire type {form} in place of {field.form}")
    if not items:
        items = values[field.position] = []
    size, at = _tag_or_length(data, at, end)
    stop = at + size
    if stop > end:
        raise _cut()
    total = totals.get(field.number, 0)
    lower, upper, zigzag, raw_max = field.lower, field.upper, field.is_zigzag, field.raw_max
    count, sums, enumeration = field.count, field.sums, field.of if field.kind == ENUM else None
    append = items.append
    while at < stop:
        if len(items) >= count:
            raise Rejection(OUT_OF_RANGE, "", f"more than {count} elements")
        value: Any = data[at]
        if value < 0x80:
            at += 1
        else:
            value, at = _varint(data, at, stop)
        if zigzag and value <= raw_max:
            value = (value >> 1) ^ -(value & 1)
            if not lower <= value <= upper and not (value == 0 and field.zero):
                raise _out_of_bounds(field, value)
            if value == 180 and field.is_angle:
                value = -180
            if sums:
                total += value
                if not -sums <= total <= sums:
                    raise _bad_sum()
        elif value > raw_max or not lower <= value <= upper:
            value = _number(field, value)
        append(value if enumeration is None else enumeration(value))
    if sums:
        totals[field.number] = total
    return stop


def _summed(field: Field, total: int) -> int:
    if not -field.sums <= total <= field.sums:
        raise _bad_sum()
    return total


def _bad_sum() -> Rejection:
    return Rejection(OUT_OF_RANGE, "", "the sum is not a valid coordinate")


def _skip(data: bytes, at: int, end: int, key: int, unknown: list[int]) -> int:
    """Skips a field that this version does not know."""
    if key >> 3 == 0:
        raise Rejection(MALFORMED, "", "a field number is out of range")
    unknown[0] += 1
    if unknown[0] > UNKNOWN_FIELDS_MAX:
        raise Rejection(LIMIT_REACHED, "", f"more than {UNKNOWN_FIELDS_MAX} unknown fields")
    form = key & 7
    if form == 0:
        _, at = _varint(data, at, end)
    elif form == 2:
        size, at = _tag_or_length(data, at, end)
        at += size
    elif form in (1, 5):
        at += 8 if form == 1 else 4
    else:
        raise Rejection(MALFORMED, "", f"an unknown field has wire type {form}")
    if at > end:
        raise _cut()
    return at


def _tag_or_length(data: bytes, at: int, end: int) -> tuple[int, int]:
    start = at
    value, at = _varint(data, at, end)
    if at - start > 5 or value > 2**32 - 1:
        raise Rejection(MALFORMED, "", "a tag or length is too long")
    return value, at


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if shift == 63 and byte > 1:
                break
            return value, at
        shift += 7
        if shift > 63:
            break
    else:
        raise _cut()
    raise Rejection(MALFORMED, "", "a varint is too long")


def _cut() -> Rejection:
    return Rejection(MALFORMED, "", "ends too early")


def _out_of_bounds(field: Field, value: int) -> Rejection:
    # In protobuf 0, the empty text and an absent field are the same.
    if value == 0 and field.is_required:
        return Rejection(MISSING, "", "must be there")
    unit = " bytes" if field.kind in (STRING, BYTES) else ""
    return Rejection(OUT_OF_RANGE, "", f"not within {field.lower} ... {field.upper}{unit}")


# Writing


def encode(message: Message) -> bytes:
    """Writes a body. Does not check it: see validate()."""
    out = bytearray()
    _write(_plan(type(message)), message, out)
    return bytes(out)


def validate(message: M) -> tuple[M, bytes]:
    """Checks a message as its receiver will; returns it as the receiver reads it, and its body.

    Raises Rejection with the field, also for a value whose type is wrong.
    """
    body = encode(message)
    return decode(type(message), body), body


#: What Python says of a value that cannot be written.
_WRONG = (TypeError, AttributeError, ValueError, OverflowError, KeyError, struct.error)


def _write(plan: Plan, message: Message, out: bytearray) -> None:
    for field, get in zip(plan.fields, plan.getters, strict=True):
        value = get(message)
        if field.is_repeated:
            _write_list(field, value, out)
        elif value if not field.is_optional else value is not None:
            try:
                _write_value(field, value, out)
            except Rejection as rejection:
                raise rejection.inside(field.name) from None
            except _WRONG as error:
                raise _wrong(field.name, value, error) from None


def _wrong(name: str, value: object, error: Exception) -> Rejection:
    return Rejection(MALFORMED, name, f"cannot be {value!r:.60}: {error}")


def _write_list(field: Field, values: Iterable[Any], out: bytearray) -> None:
    if not isinstance(values, list | tuple):
        raise Rejection(MALFORMED, field.name, f"must be a list or a tuple, not {type(values).__name__}")
    items = bytearray()
    for index, value in enumerate(values):
        try:
            if field.form != 0:
                _write_value(field, value, out)
            else:
                _put(items, _raw(field, value))
        except Rejection as rejection:
            raise rejection.inside(f"{field.name}[{index}]") from None
        except _WRONG as error:
            raise _wrong(f"{field.name}[{index}]", value, error) from None
    if items:
        _put(out, field.number << 3 | 2)
        _put(out, len(items))
        out += items


def _write_value(field: Field, value: Any, out: bytearray) -> None:
    _put(out, field.key)
    if field.form == 0:
        _put(out, _raw(field, value))
    elif field.form == 1:
        out += _DOUBLE.pack(value)
    elif field.kind == MESSAGE:
        if type(value) is not field.of:
            raise TypeError(f"must be a {field.of.__name__ if field.of else 'message'}")
        inner = bytearray()
        _write(_plan(type(value)), value, inner)
        _put(out, len(inner))
        out += inner
    else:
        # A text that is not UTF-8 is written as it is, so that the check of the body names it.
        data = value.encode("utf-8", "surrogatepass") if field.kind == STRING else bytes(value)
        _put(out, len(data))
        out += data


def _raw(field: Field, value: Any) -> int:
    """The number on the wire: what its type does not hold is refused when the body is checked."""
    number = int(value) if isinstance(value, int) else _not_whole(value)
    if not (0 if field.kind == UINT64 else -(2**63)) <= number < 2**64:
        raise Rejection(OUT_OF_RANGE, "", "does not fit into 64 bits")
    if field.is_zigzag:
        return number << 1 if number >= 0 else (-number << 1) - 1
    return number if number >= 0 else number + 2**64


def _not_whole(value: Any) -> int:
    raise TypeError(f"must be a whole number, not {type(value).__name__}")


def _put(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
