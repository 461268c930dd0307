"""Bodies: encoding, decoding and checking of messages by the description in protocol.json, which is made from the protos."""

import json
import struct
from importlib import resources
from typing import Any

VARINTS = {"uint32", "uint64", "bool", "sint32"}
WIDTH = {"uint32": 32, "uint64": 64, "sint32": 32, "bool": 64}
# The largest varint of a type; that of an enumeration is 0x7FFFFFFF.
VARINT_MAX = {"uint32": 0xFFFFFFFF, "sint32": 0xFFFFFFFF, "bool": 1}


def load(name):
    """A file of the folder data, also from within the zipapp."""
    return json.loads(resources.files(__package__).joinpath("data", name).read_text(encoding="utf-8"))


PROTOCOL = load("protocol.json")
# The version of the page, in numbers: `major` in each frame, `minor` in Hello and Welcome.
VERSION = PROTOCOL["version"]
MESSAGES, ENUMERATIONS = PROTOCOL["messages"], PROTOCOL["enumerations"]
TYPES = {message["type"]: name for name, message in MESSAGES.items() if "type" in message}
NUMBERS = {name: number for number, name in TYPES.items()}
NAMES = {name: {number: value for value, number in values.items()} for name, values in ENUMERATIONS.items()}
FIELDS = {name: {field["number"]: (key, field) for key, field in message["fields"].items()} for name, message in MESSAGES.items()}


class Malformed(Exception):
    """A body, or a case, that is not the message that it is said to be."""


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("a varint does not end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def key(number, kind):
    return varint(number << 3 | kind)


def scalar(field, value):
    """A number of a varint type as it is on the wire."""
    if field["type"] in ENUMERATIONS:
        if isinstance(value, str):
            value = ENUMERATIONS[field["type"]][value]
        return varint(value)
    if field["type"] == "sint32":
        return varint(value << 1 if value >= 0 else (-value << 1) - 1)
    return varint(int(value))


def encode(name, values):
    """The body of a message from its JSON form, in the order of the keys given. Bytes are written as hexadecimal digits."""
    out = b""
    for field_name, value in values.items():
        if field_name not in MESSAGES[name]["fields"]:
            raise Malformed(f"{name} has no field {field_name}")
        field = MESSAGES[name]["fields"][field_name]
        number, kind = field["number"], field["type"]
        elements = value if field.get("repeated") else [value]
        if kind in VARINTS or kind in ENUMERATIONS:
            if field.get("repeated"):
                packed = b"".join(scalar(field, each) for each in elements)
                out += key(number, 2) + varint(len(packed)) + packed if elements else b""
            else:
                out += key(number, 0) + scalar(field, value)
            continue
        for each in elements:
            if kind == "double":
                out += key(number, 1) + struct.pack("<d", each)
                continue
            if kind == "string":
                data = each.encode("utf-8", "surrogateescape")
            elif kind == "bytes":
                data = bytes.fromhex(each)
            else:
                data = encode(kind, each)
            out += key(number, 2) + varint(len(data)) + data
    return out


def split(data):
    """The fields of a body: number, kind of value, value."""
    at, fields = 0, []
    while at < len(data):
        tag, at = read_varint(data, at)
        kind = tag & 7
        if tag >> 3 == 0:
            raise Malformed("a field has the number 0")
        if kind == 0:
            value, at = read_varint(data, at)
        else:
            if kind == 2:
                size, at = read_varint(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise Malformed(f"a field has the wire type {kind}")
            if at + size > len(data):
                raise Malformed("a field is cut short")
            value, at = data[at : at + size], at + size
        fields.append((tag >> 3, kind, value))
    return fields


def number_of(field, value):
    """A number of the field's type from a varint."""
    if field["type"] == "sint32":
        value &= 0xFFFFFFFF
        return value >> 1 if not value & 1 else -((value + 1) >> 1)
    if field["type"] == "bool":
        return value != 0
    if field["type"] in ENUMERATIONS:
        return NAMES[field["type"]].get(value, value)
    return value & (0xFFFFFFFF if field["type"] == "uint32" else (1 << 64) - 1)


def read_field(field, kind, value):
    """The values of one occurrence of a field."""
    type_name = field["type"]
    if type_name in VARINTS or type_name in ENUMERATIONS:
        if kind == 0:
            return [number_of(field, value)]
        if kind != 2 or not field.get("repeated"):
            raise Malformed("a number has the wrong wire type")
        out, at = [], 0
        while at < len(value):
            item, at = read_varint(value, at)
            out.append(number_of(field, item))
        return out
    if type_name == "double":
        if kind != 1:
            raise Malformed("a double has the wrong wire type")
        return [struct.unpack("<d", value)[0]]
    if kind != 2:
        raise Malformed("a text or message has the wrong wire type")
    if type_name == "string":
        return [value.decode("utf-8", "backslashreplace")]
    if type_name == "bytes":
        return [value.hex()]
    return [decode(type_name, value)]


def decode(name, data):
    """The JSON form of a body. Unknown fields are under the key "unknown", as their numbers."""
    out: dict[str, Any] = {}
    for number, kind, value in split(data):
        if number not in FIELDS[name]:
            out.setdefault("unknown", []).append(number)
            continue
        field_name, field = FIELDS[name][number]
        values = read_field(field, kind, value)
        if field.get("repeated"):
            out.setdefault(field_name, []).extend(values)
        else:
            out[field_name] = values[-1]
    return out


# Checking what the page and the protos demand of a body.


def count(text):
    return int(text.replace(" ", ""))


def is_name(text):
    return 1 <= len(text) <= 64 and all(each.isascii() and (each.isalnum() or each in "._:-") for each in text)


def is_extension(text):
    return (
        3 <= len(text) <= 128
        and "." in text
        and all(each.isascii() and (each.isdigit() or each.islower() or each in ".-") for each in text)
    )


def faults(name, data, path=""):
    """What is wrong with a body, as sentences; empty if nothing is."""
    try:
        fields = split(data)
    except Malformed as error:
        return [f"{path or name}: {error}"]
    out: list[str] = []
    seen: dict[str, list[Any]] = {}
    for number, kind, value in fields:
        if number not in FIELDS[name]:
            continue
        field_name, field = FIELDS[name][number]
        where = f"{path}{field_name}"
        if not field.get("repeated") and field_name in seen:
            out.append(f"{where} is given twice")
        try:
            values = read_field(field, kind, value)
        except Malformed as error:
            out.append(f"{where}: {error}")
            continue
        seen.setdefault(field_name, []).extend(values)
        if field["type"] == "string":
            out += text_faults(where, value)
        elif field["type"] in MESSAGES:
            out += faults(field["type"], value, f"{where}.")
        elif kind == 0 and value > (0x7FFFFFFF if field["type"] in ENUMERATIONS else VARINT_MAX.get(field["type"], value)):
            out.append(f"{where} is {value}")
    for field_name, field in MESSAGES[name]["fields"].items():
        out += rule_faults(f"{path}{field_name}", field, seen.get(field_name, []))
    return out


def text_faults(where, value):
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return [f"{where} is not UTF-8"]
    return [f"{where} contains NUL"] if b"\0" in value else []


def rule_faults(where, field, values):
    """What the brackets of the field's comment demand."""
    out, rules = [], field.get("rules", [])
    is_text = field["type"] in ("string", "bytes")
    size = (lambda each: len(each.encode())) if field["type"] == "string" else (lambda each: len(each) // 2)
    if "required" in rules and (not values or (not field.get("repeated") and values[-1] in (0, "", "UNSPECIFIED"))):
        return [f"{where} is required"]
    for rule in rules:
        rule = rule.removeprefix("each ")
        if rule in ("required", "place") or rule.startswith("sums within"):
            continue
        if rule == "a name":
            out += [f"{where} is no name: {each}" for each in values if each and not is_name(each)]
            continue
        if rule == "an extension":
            out += [f"{where} is no name of an extension: {each}" for each in values if not is_extension(each)]
            continue
        zero = rule.startswith("0 or ")
        bounds = rule.removeprefix("0 or ")
        if bounds.startswith("at most ") and not bounds.endswith(" bytes"):
            low, high = 0, count(bounds.removeprefix("at most "))
            if len(values) > high:
                out.append(f"{where} has {len(values)} elements, more than {high}")
            continue
        if bounds.endswith(" bytes"):
            bounds = bounds.removesuffix(" bytes")
            low, high = (0, count(bounds[8:])) if bounds.startswith("at most ") else (count(bounds),) * 2
        else:
            low, high = (count(each) for each in bounds.split(" ... "))
        for each in values:
            amount = size(each) if is_text else each
            if isinstance(amount, str):
                amount = ENUMERATIONS[field["type"]][amount]
            if not (low <= amount <= high or (zero and amount == 0)):
                out.append(f"{where} is {amount}, not within {bounds}")
    return out


def default(field):
    """What an absent field means."""
    if field.get("repeated"):
        return []
    if field["type"] in ENUMERATIONS:
        return NAMES[field["type"]].get(0, 0)
    return {"string": "", "bytes": "", "bool": False, "double": 0.0}.get(field["type"], None if field["type"] in MESSAGES else 0)
