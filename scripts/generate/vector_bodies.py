"""Vectors of bodies: each message, and each field of each message, at and beyond its limits. For vectors.py."""

import math
import struct

from vector_rules import Refusal, read
from vector_schema import FIXED32, FIXED64, GROUP, LENGTH, VARINT, block, encode, field_bytes, tag, varint

# A message in place of the smallest one, where fields must agree.
MINIMAL = {
    "FeatureGrant": {"feature": 1, "granted": True},
    "Hello": {
        "version_min": 2,
        "version_max": 2,
        "role": 2,
        "navigation": {"client_id": "a"},
    },
    "OpenSession": {"request_id": "a", "any_that_asked": True},
    "RequestAnswer": {"request_id": "a", "vehicle_id": "a", "answer": 2},
}
# The same for the message with all fields; None removes a field.
FULL = {
    "FeatureGrant": {"granted": None},
    "Hello": {"version_max": 3, "role": 1, "navigation": None, "observer": None},
    "ResumedSession": {"phase": 4},
    "OpenSession": {"any_that_asked": None},
    "VehicleStatus": {"standing": 3, "end_reason": None},
    "Receipt": {"received_sequence": "9", "shown_sequence": "8"},
    "EndpointReceipt": {"received_sequence": "9", "shown_sequence": "8"},
    "Trip": {"selected_route_choice_id": 2},
    "TripPreviews": {"selected_trip_id": "t2"},
    "Lane": {"angles_degrees": [0, 90], "highlighted_angle_degrees": 90, "status": 2},
    "Maneuver": {"junction_exit_angle_degrees": -45, "junction_element_angles_degrees": [0, 90]},
    "RequestAnswer": {"answer": 4, "travel_estimates": None, "reason": 4},
    "RequestOutcome": {"outcome": 1},
    "AlertResponse": {"dismissal": None},
    "DestinationShareStatus": {"stage": 3},
    "SpeedLimit": {"status": 1, "value": 80, "unit": 1},
    "Polyline": {"latitude_e6_deltas": [47141000, -1500], "longitude_e6_deltas": [9521500, 1300]},
}
# Messages that the gateway sends on with the vehicle and the endpoint that sent them.
SENT_ON = ("AlertResponse", "VehicleSettings", "ZoomCluster", "VehicleExtension", "SelectPreview", "DestinationShareWanted")
# What a field needs beside it: other fields of its message, or None to remove one.
BESIDE = {
    ("FeatureGrant", "granted"): {"granted": None},
    ("FeatureGrant", "reason"): {"granted": None},
    ("Hello", "version_min"): {"version_max": 4294967295},
    ("Hello", "observer"): {"role": 3, "navigation": None},
    ("Hello", "vehicle"): {"role": 1, "navigation": None},
    ("ResumedSession", "end_reason"): {"phase": 4},
    ("OpenSession", "vehicles"): {"any_that_asked": None},
    ("VehicleStatus", "refusal"): {"standing": 3},
    ("VehicleStatus", "end_reason"): {"standing": 4},
    ("Receipt", "shown_sequence"): {"received_sequence": str(2**64 - 1)},
    ("EndpointReceipt", "shown_sequence"): {"received_sequence": str(2**64 - 1)},
    ("Trip", "selected_route_choice_id"): {"route_choices": [{"id": 1}, {"id": 4294967295}]},
    ("Lane", "highlighted_angle_degrees"): {"angles_degrees": [-180, 0, 179, 180], "status": 1},
    ("SpeedLimit", "status"): {"value": None, "unit": None},
    ("SpeedLimit", "value"): {"status": 1, "unit": 1},
    ("SpeedLimit", "unit"): {"status": 1, "value": 1},
    ("RequestAnswer", "travel_estimates"): {"answer": 1},
    ("RequestAnswer", "reason"): {"answer": 4},
    ("RequestOutcome", "preview_follows"): {"outcome": 1},
    ("DestinationShareStatus", "outcome"): {"stage": 3},
    **{(each, "vehicle_id"): {"endpoint": "e"} for each in SENT_ON},
    **{(each, "endpoint"): {"vehicle_id": "v"} for each in SENT_ON},
    ("SimulateDrive", "vehicle_id"): {"endpoint": "e"},
    ("SimulateDrive", "endpoint"): {"vehicle_id": "v"},
}
BAD_UTF8 = {
    "a continuation alone": "80",
    "two continuations": "bfbf",
    "a lead without continuation": "c3",
    "a lead before ASCII": "c341",
    "a three-byte character cut": "e282",
    "a four-byte character cut": "f09f98",
    "a two-byte form of A": "c181",
    "a two-byte form of NUL": "c080",
    "a three-byte form of a slash": "e080af",
    "a four-byte form of the euro sign": "f08282ac",
    "a high surrogate": "eda080",
    "a low surrogate": "edbfbf",
    "a pair of surrogates": "eda0bdedb880",
    "above U+10FFFF": "f4908080",
    "a five-byte form": "f888808080",
    "FE": "fe",
    "FF": "ff",
    "wrong behind eight letters": "6162636465666768ff",
    "NUL": "00",
    "NUL in the middle": "610062",
    "NUL behind eight letters": "616263646566676800",
}
GOOD_UTF8 = {
    "two bytes": "\u00e9",
    "three bytes": "\u20ac",
    "four bytes": "\U0001f600",
    "the last of two bytes": "\u07ff",
    "before the surrogates": "\ud7ff",
    "behind the surrogates": "\ue000",
    "U+FFFF": "\uffff",
    "U+10FFFF": "\U0010ffff",
    "a byte order mark": "\ufeffa",
    "a combining character first": "\u0301",
    "control characters": "\x01\x1b\x7f\u0085",
    "right to left": "\u05d0\u202e",
}


class Bodies:
    """Makes vectors of bodies."""

    def __init__(self, protos):
        self.protos = protos
        self.vectors = []
        self.names = set()
        self.containers = self.find_containers()

    # Samples

    def minimal(self, name):
        if name in MINIMAL:
            return MINIMAL[name]
        message = {}
        for rule in self.protos.shapes[name].rules:
            if rule.required:
                message[rule.name] = [self.small(rule)] if rule.repeated else self.small(rule)
        return message

    def small(self, rule):
        if rule.form == "message":
            return self.minimal(rule.type)
        if rule.is_extension:
            return "a.b"
        if rule.form == "text":
            return "a"
        if rule.form == "bytes":
            return "00" * int(rule.lower)
        value = max(1, rule.lower)
        return str(value) if rule.type == "uint64" else value

    def full(self, name):
        message = {}
        for rule in self.protos.shapes[name].rules:
            values = [self.large(rule, index) for index in range(2 if rule.repeated and rule.count_max > 1 else 1)]
            message[rule.name] = values if rule.repeated else values[0]
        message |= FULL.get(name, {})
        return {key: value for key, value in message.items() if value is not None}

    def large(self, rule, index):
        """A value that is not the smallest. Ids differ in a list, and first points rise."""
        if rule.form == "message":
            value = self.full(rule.type)
            if "id" in value and rule.repeated:
                value["id"] = f"t{index + 1}" if isinstance(value["id"], str) else index + 1
            if "first_point" in value:
                value["first_point"] = 2 * index
            return value
        if rule.is_extension:
            return f"org.example.tyres-{index}"
        if rule.form == "text":
            return f"{rule.name[:6]}{index}"[: int(rule.upper)]
        if rule.form == "bytes":
            return bytes(range(1, 1 + min(16, int(rule.upper)))).hex()
        if rule.form == "double":
            return float(rule.upper) / 2 + 0.125 + index
        if rule.type == "bool":
            return True
        value = min(int(rule.upper), max(int(rule.lower), 1) + 1 + index)
        if rule.type == "uint64":
            return str(value + 2**40)
        if rule.type in self.protos.enums:
            return [each for each in self.protos.enums[rule.type] if rule.allows(each)][-1 - index]
        return value

    def find_containers(self):
        """For each message the shortest way to it: the message of a frame, and the path from it."""
        found = {shape.name: (shape, ()) for shape in self.protos.frames}
        queue = list(found)
        while queue:
            name = queue.pop(0)
            shape, path = found[name]
            for rule in self.protos.shapes[name].rules:
                if rule.form == "message" and rule.type not in found:
                    found[rule.type] = (shape, (*path, (rule, name)))
                    queue.append(rule.type)
        return found

    def around(self, name, inner):
        """The message of a frame that has `inner`, a message of type `name`, in it, and the path to that."""
        shape, path = self.containers[name]
        message, names = inner, []
        for rule, outer in reversed(path):
            base = dict(self.minimal(outer))
            for key, value in BESIDE.get((outer, rule.name), {}).items():
                base[key] = value
            base[rule.name] = [message] if rule.repeated else message
            message = {key: value for key, value in base.items() if value is not None}
            names.insert(0, (rule.name, 0))
        return shape, message, names

    # Vectors

    def add(self, name, shape, body, expected=None):
        """Adds a vector. `expected` is True, or a code and a path in which `*` stands for the element's index; None: either."""
        assert name not in self.names, name
        self.names.add(name)
        vector = {"name": name, "message": shape.name, "hex": body.hex()}
        try:
            message = read(self.protos, shape, body)
        except Refusal as refusal:
            assert expected in (None, (refusal.code, refusal.path)), f"{name}: {refusal}, not {expected}"
            vector |= {"valid": False, "code": refusal.code, "field": refusal.path}
        else:
            assert expected in (None, True), f"{name}: valid, not {expected}"
            vector |= {"valid": True, "json": message}
            if encode(self.protos, shape, message) == body:
                vector["canonical"] = True
        self.vectors.append((shape.file, vector))

    def all(self):
        for shape in self.protos.frames:
            self.messages(shape)
        for name in self.containers:
            for rule in self.protos.shapes[name].rules:
                FieldVectors(self, name, rule).all()
            self.unknown(name)
        return self.vectors

    def messages(self, shape):
        """Empty, smallest, full; the small ones cut at each byte."""

        def write(message):
            return encode(self.protos, shape, message)

        self.add(f"{shape.name}: empty", shape, b"")
        minimal, full = write(self.minimal(shape.name)), write(self.full(shape.name))
        if minimal:
            self.add(f"{shape.name}: smallest", shape, minimal, True)
        if full and full != minimal:
            self.add(f"{shape.name}: full", shape, full, True)
        for word, body in (("smallest", minimal), ("full", full)):
            if word == "full" and (full == minimal or len(full) > 48):
                continue
            for size in range(1, len(body)):
                self.add(f"{shape.name}: {word}, cut after {size} of {len(body)} bytes", shape, body[:size])
        fields = [
            field_bytes(self.protos, rule, self.full(shape.name)[rule.name]) for rule in shape.rules if rule.name in self.full(shape.name)
        ]
        if len(fields) > 1:
            self.add(f"{shape.name}: fields in reverse order", shape, b"".join(reversed(fields)), True)
        self.add(f"{shape.name}: field number 0", shape, minimal + b"\x00\x01", ("MALFORMED", ""))
        self.add(f"{shape.name}: a tag of six bytes", shape, minimal + bytes.fromhex("888080808000"), ("MALFORMED", ""))

    def unknown(self, name):
        """Fields with unknown numbers, in a message and where it is in others."""
        rules = self.protos.shapes[name].rules
        numbers = [1 + max([rule.number for rule in rules], default=0), 2000, 2**29 - 1]
        some = (
            tag(numbers[0], VARINT)
            + varint(300)
            + block(numbers[0], b"new")
            + tag(numbers[1], FIXED64)
            + bytes(range(8))
            + tag(numbers[2], FIXED32)
            + bytes(range(4))
        )
        group = tag(numbers[0], GROUP) + tag(numbers[0], 4)
        shape, message, path = self.around(name, self.minimal(name))
        where = ".".join(
            f"{each}[0]" if rule.repeated else each for (each, _), (rule, _) in zip(path, self.containers[name][1], strict=True)
        )

        def write(insert):
            return encode(self.protos, shape, message, path, insert=insert)

        self.add(f"{name}: unknown fields", shape, write(some), True)
        self.add(f"{name}: an unknown field of 9 bytes with the number 1", shape, write(block(numbers[1], b"\x08\x01")), True)
        self.add(f"{name}: a group", shape, write(group), ("MALFORMED", where))
        self.add(f"{name}: an unknown field with wire type 7", shape, write(tag(numbers[0], 7)), ("MALFORMED", where))


class FieldVectors:
    """The vectors of one field."""

    def __init__(self, bodies, name, rule):
        self.bodies, self.protos, self.name, self.rule = bodies, bodies.protos, name, rule
        message = {**bodies.minimal(name), **BESIDE.get((name, rule.name), {})}
        message.pop(rule.name, None)
        message = {key: value for key, value in message.items() if value is not None}
        self.shape, self.message, self.path = bodies.around(name, message)
        ways = bodies.containers[name][1]
        self.at = "".join(f"{way.name}[0]." if way.repeated else f"{way.name}." for way, _ in ways) + rule.name

    def write(self, content):
        return encode(self.protos, self.shape, self.message, self.path, self.rule.name, content)

    def add(self, what, content, expected=None):
        self.bodies.add(f"{self.name}.{self.rule.name}: {what}", self.shape, self.write(content), expected)

    def value(self, what, value, expected=None):
        """One value, in a list of one."""
        self.add(what, field_bytes(self.protos, self.rule, [value] if self.rule.repeated else value), expected)

    def refused(self, code, index=0):
        return (code, self.at + (f"[{index}]" if self.rule.repeated else ""))

    def all(self):
        rule = self.rule
        {"number": self.number, "double": self.double, "text": self.text, "bytes": self.text, "message": self.below}[rule.form]()
        if rule.required:
            self.add("missing", b"", ("MISSING", self.at))
        self.wrong_types()
        sample = self.sample()
        if not rule.repeated:
            self.add("twice", sample * 2, ("MALFORMED", self.at))
            self.add("twice, the second with another wire type", sample + tag(rule.number, FIXED32) + bytes(4), ("MALFORMED", self.at))
        elif rule.count_max <= 256:
            self.counts(sample)
        elif rule.form == "number":
            self.packing(sample)

    def sample(self):
        """The field once, with a value that it may have."""
        rule = self.rule
        value = self.bodies.small(rule)
        if rule.form == "double":
            value = 1.0
        return field_bytes(self.protos, rule, [value] if rule.repeated else value)

    def wrong_types(self):
        rule = self.rule
        others = {
            VARINT: tag(rule.number, VARINT) + b"\x01",
            FIXED64: tag(rule.number, FIXED64) + bytes(8),
            LENGTH: block(rule.number, b""),
            GROUP: tag(rule.number, GROUP) + tag(rule.number, 4),
            FIXED32: tag(rule.number, FIXED32) + bytes(4),
        }
        for wire_type, content in others.items():
            if wire_type == rule.wire_type or (wire_type == LENGTH and rule.repeated and rule.form == "number"):
                continue
            if wire_type in (GROUP, FIXED32) or (wire_type, rule.wire_type) in (
                (VARINT, LENGTH),
                (LENGTH, VARINT),
                (LENGTH, FIXED64),
            ):
                self.add(f"wire type {wire_type}", content, self.refused("MALFORMED"))

    def number(self):
        rule = self.rule

        def one(value):
            return tag(rule.number, VARINT) + varint(value)

        low, high = int(rule.lower), int(rule.upper)
        for what, value in (("minimum", low), ("maximum", high)):
            value = bool(value) if rule.type == "bool" else str(value) if rule.type == "uint64" else value
            self.value(what, value)
        if rule.type == "bool":
            self.add("2", one(2), self.refused("OUT_OF_RANGE"))
            self.add("true in two bytes", tag(rule.number, VARINT) + b"\x81\x00")
            return
        encoded = (lambda value: value << 1 ^ value >> 63) if rule.is_zigzag else lambda value: value
        if high < 2**64 - 1:
            self.add("above the maximum", one(encoded(high + 1)), self.refused("OUT_OF_RANGE"))
            self.add("64 bits", one(2**64 - 1), self.refused("OUT_OF_RANGE"))
        if low != 0 and (rule.is_zigzag or low > 1):
            self.add("below the minimum", one(encoded(low - 1)))
        if low > 0 or rule.is_zigzag:
            self.add("0", one(0))
        self.add("11 bytes", tag(rule.number, VARINT) + b"\x80" * 10 + b"\x00", self.refused("MALFORMED"))
        if rule.type == "uint64":
            self.add("above 64 bits", tag(rule.number, VARINT) + b"\xff" * 9 + b"\x02", self.refused("MALFORMED"))
        if rule.type in self.protos.enums:
            removed = self.protos.removed[rule.type]
            for value in [*removed, max(self.protos.enums[rule.type] + removed) + 1]:
                self.value(f"{value}, which is not known", value)

    def double(self):
        rule = self.rule

        def one(value):
            return tag(rule.number, FIXED64) + struct.pack("<d", value)

        self.value("minimum", float(rule.lower), True)
        self.value("maximum", float(rule.upper), True)
        self.value("a third", 1 / 3, True)
        self.value("minus zero", -0.0, True)
        self.add("above the maximum", one(math.nextafter(rule.upper, math.inf)), self.refused("OUT_OF_RANGE"))
        self.add("below the minimum", one(math.nextafter(rule.lower, -math.inf)), self.refused("OUT_OF_RANGE"))
        for what, value in (("not a number", math.nan), ("infinite", math.inf), ("minus infinite", -math.inf)):
            self.add(what, one(value), self.refused("OUT_OF_RANGE"))

    def text(self):
        rule = self.rule

        def one(content):
            return block(rule.number, content)

        high, letter = int(rule.upper), b"." if rule.is_extension else b"a"
        self.add("empty", one(b""))
        if high <= 4_096:
            self.add("longest", one(letter * high))
            self.add("too long", one(letter * (high + 1)), self.refused("OUT_OF_RANGE"))
        if rule.lower > 1:
            self.add("too short", one(letter * int(rule.lower - 1)), self.refused("OUT_OF_RANGE"))
        self.add("a length beyond the end", tag(rule.number, LENGTH) + varint(100) + b"a")
        if rule.form == "bytes":
            return
        begin = b"a." if rule.is_extension else b"a"
        self.add("NUL", one(begin + b"\x00b"), self.refused("INVALID_TEXT"))
        self.add("not UTF-8", one(begin + b"\xff"), self.refused("INVALID_TEXT"))
        if rule.is_name:
            for what, content in (
                ("a space", b"a b"),
                ("a slash", b"/"),
                ("a letter with an accent", b"\xc3\xa9"),
                ("a line feed", b"a\n"),
                ("an at sign", b"@"),
            ):
                self.add(what, one(content), self.refused("INVALID_TEXT"))
            self.add("all kinds of characters", one(b"AZaz09._:-"))
        elif rule.is_extension:
            for what, content in (
                ("no dot", b"tyres"),
                ("a capital", b"org.Example"),
                ("an underscore", b"org.a_b"),
                ("a colon", b"org.a:b"),
                ("a space", b"org.a b"),
                ("a letter with an accent", b"org.\xc3\xa9"),
                ("a line feed", b"org.a\n"),
            ):
                self.add(what, one(content), self.refused("INVALID_TEXT"))
            self.add("all kinds of characters", one(b"az-09.z-9"))
        else:
            content = ("\u00e9" * (high // 2)).encode()
            self.add("longest, of two-byte characters", one(content), None if self.name == "TripPreviews" else True)
            self.add("too long, of two-byte characters", one(content + b"\xc3\xa9"), self.refused("OUT_OF_RANGE"))
        if (self.name, rule.name) in (("CurrentRoadName", "name_variants"), ("ShareDestination", "share_id")):
            for what, digits in BAD_UTF8.items():
                self.add(f"invalid: {what}", one(bytes.fromhex(digits)), self.refused("INVALID_TEXT"))
            for what, text in GOOD_UTF8.items():
                self.add(f"valid: {what}", one(text.encode()), True)

    def below(self):
        rule = self.rule
        self.add("empty", block(rule.number, b""))
        self.add("a length beyond the end", tag(rule.number, LENGTH) + varint(100), self.refused("MALFORMED"))
        self.add("a length of six bytes", tag(rule.number, LENGTH) + b"\x80\x80\x80\x80\x80\x00", self.refused("MALFORMED"))

    def counts(self, sample):
        """As many elements as there may be, and one more."""
        rule = self.rule
        elements = [self.element(index) for index in range(rule.count_max + 1)]
        joined = b"".join(tag(rule.number, rule.wire_type) + each for each in elements[:-1])
        self.add(f"{rule.count_max} elements", joined)
        more = joined + tag(rule.number, rule.wire_type) + elements[-1]
        self.add(f"{rule.count_max + 1} elements", more, self.refused("OUT_OF_RANGE", rule.count_max))
        if rule.form == "number":
            self.packing(sample)
            self.add(
                f"{rule.count_max + 1} elements, packed",
                block(rule.number, b"".join(elements)),
                self.refused("OUT_OF_RANGE", rule.count_max),
            )
        elif rule.form == "text":
            bad = block(rule.number, b"a.\xff" if rule.is_extension else b"\xff")
            first = block(rule.number, b"a.b" if rule.is_extension else b"a")
            self.add("the second is not UTF-8", first + bad, self.refused("INVALID_TEXT", 1))
            self.add("two alike", first * 2)

    def element(self, index):
        """The bytes of an element without its tag; ids differ."""
        rule = self.rule
        if rule.form == "number":
            return varint(max(1, int(rule.lower)) if not rule.is_zigzag else 2)
        if rule.is_extension:
            return b"\x05" + f"a.{index:03}".encode()
        if rule.form == "text":
            return b"\x03" + f"{index:03}".encode()
        message = dict(self.bodies.minimal(rule.type))
        if "id" in message:
            message["id"] = index + 1 if isinstance(message["id"], int) else f"{index:03}"
            if not self.protos.shapes[rule.type].rule("id").allows(message["id"] if isinstance(message["id"], int) else 3):
                message["id"] = 1
        content = encode(self.protos, self.protos.shapes[rule.type], message)
        return varint(len(content)) + content

    def packing(self, sample):
        rule, one = self.rule, self.element(0)
        unpacked = tag(rule.number, VARINT) + one
        self.add("two, not packed", unpacked * 2)
        self.add("two, packed", block(rule.number, one * 2))
        self.add("packed and not packed", block(rule.number, one * 2) + unpacked + block(rule.number, one))
        self.add("packed, with no element", block(rule.number, b""))
        self.add("packed, cut in the second", block(rule.number, one + b"\x80"), self.refused("MALFORMED", 1))
        self.add("packed, the third above the type", block(rule.number, one * 2 + varint(2**32)), self.refused("OUT_OF_RANGE", 2))
