"""What a receiver makes of a body: the message, or the code and the field of the first fault. For vectors.py.

Written from Docs/protocol.md ("Bodies") and the protos, not from a codec.
"""

import math
import struct

from vector_schema import FIXED32, FIXED64, LENGTH, RANGES, UNKNOWN, VARINT, tag

UNKNOWN_FIELDS_MAX = 1_024
LONG_MAX = 2**64 - 1
NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")

EXTENSION_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789.-")


class Refusal(Exception):
    """The code of a fault, and the field's path."""

    def __init__(self, code, path):
        super().__init__(code, path)
        self.code, self.path = code, path


def read(protos, shape, body):
    """The message in a body. Raises Refusal."""
    message = Reader(protos, body).message(shape, len(body), "")
    contradictions(protos, shape, message, "")
    return message


def inside(path, name, index=None):
    name = name if index is None else f"{name}[{index}]"
    return f"{path}.{name}" if path else name


class Values(list):
    """The values of a field, and the sum of those of a list of differences."""

    total = 0


class Reader:
    """The first pass, in the order of the bytes."""

    def __init__(self, protos, body):
        self.protos, self.body, self.at, self.unknown = protos, body, 0, 0

    def message(self, shape, end, path):
        message, lists = {}, {}
        known = {rule.number: rule for rule in shape.rules}
        seen = set()
        while self.at < end:
            start = self.at
            key = self.short(end, path)
            rule = known.get(key >> 3)
            if rule is None:
                self.skip(key, end, path)
                canonical = tag(key >> 3, key & 7) + self.body[self.after_tag : self.at]
                message[UNKNOWN] = message.get(UNKNOWN, "") + canonical.hex()
                continue
            seen.add(rule.name)
            self.field(rule, key & 7, end, path, lists.setdefault(rule.name, Values()))
            assert self.at > start
        for rule in shape.rules:
            if rule.required and rule.name not in seen:
                raise Refusal("MISSING", inside(path, rule.name))
        lines = [rule for rule in shape.rules if rule.sum_max]
        for rule in lines[1:]:
            if len(lists.get(rule.name, [])) != len(lists.get(lines[0].name, [])):
                raise Refusal("INCONSISTENT", inside(path, rule.name))
        for rule in shape.rules:
            values = lists.get(rule.name, [])
            if rule.repeated and values:
                message[rule.name] = values
            elif values and (rule.oneof or rule.form == "message" or values[0] not in (0, "", "0")):
                message[rule.name] = values[0]
        return message

    def field(self, rule, wire_type, end, path, values):
        """One occurrence of a field."""
        if wire_type == LENGTH and rule.repeated and rule.form == "number":
            inner = self.length(end, self.path(rule, path, values))
            while self.at < inner:
                self.add(rule, inner, path, values)
            return
        at = self.path(rule, path, values)
        if len(values) >= rule.count_max:
            raise Refusal("OUT_OF_RANGE" if rule.repeated else "MALFORMED", at)
        if wire_type != rule.wire_type:
            raise Refusal("MALFORMED", at)
        self.add(rule, end, path, values)

    @staticmethod
    def path(rule, path, values):
        return inside(path, rule.name, len(values) if rule.repeated else None)

    def add(self, rule, end, path, values):
        """Reads one value."""
        at = self.path(rule, path, values)
        if len(values) >= rule.count_max:
            raise Refusal("OUT_OF_RANGE", at)
        if rule.form == "number":
            value = self.number(rule, end, at)
            if rule.sum_max:
                values.total += value
                if abs(values.total) > rule.sum_max:
                    raise Refusal("OUT_OF_RANGE", at)
        elif rule.form == "double":
            if end - self.at < 8:
                raise Refusal("MALFORMED", at)
            value = struct.unpack_from("<d", self.body, self.at)[0]
            self.at += 8
            if math.isnan(value) or not rule.lower <= value <= rule.upper:
                raise Refusal("OUT_OF_RANGE", at)
        else:
            value = self.block(rule, end, at)
        values.append(value)

    def number(self, rule, end, at):
        value = self.varint(end, at)
        limit = LONG_MAX if rule.type == "uint64" else 1 if rule.type == "bool" else RANGES["uint32"][1]
        if value > limit:
            raise Refusal("OUT_OF_RANGE", at)
        if rule.is_zigzag:
            value = value >> 1 ^ -(value & 1)
        self.bound(rule, value, at)
        if rule.type == "bool":
            return bool(value)
        return str(value) if rule.type == "uint64" else value

    def block(self, rule, end, at):
        """A value with a length."""
        stop = self.length(end, at)
        if rule.form == "message":
            return self.message(self.protos.shapes[rule.type], stop, at)
        content = self.body[self.at : stop]
        self.bound(rule, len(content), at)
        self.at = stop
        if rule.form == "bytes":
            return content.hex()
        is_extension = EXTENSION_BYTES.issuperset(content) and b"." in content
        if 0 in content or (rule.is_name and not NAME_BYTES.issuperset(content)) or (rule.is_extension and not is_extension):
            raise Refusal("INVALID_TEXT", at)
        try:
            return content.decode("utf-8", "strict")
        except UnicodeDecodeError:
            raise Refusal("INVALID_TEXT", at) from None

    @staticmethod
    def bound(rule, value, at):
        if not rule.allows(value):
            raise Refusal("MISSING" if value == 0 and rule.required else "OUT_OF_RANGE", at)

    def skip(self, key, end, path):
        if key >> 3 == 0:
            raise Refusal("MALFORMED", path)
        self.unknown += 1
        if self.unknown > UNKNOWN_FIELDS_MAX:
            raise Refusal("LIMIT_REACHED", path)
        self.after_tag = self.at
        if key & 7 == VARINT:
            self.varint(end, path)
        elif key & 7 == LENGTH:
            self.at = self.length(end, path)
        elif key & 7 in (FIXED64, FIXED32):
            self.at += 8 if key & 7 == FIXED64 else 4
        else:
            raise Refusal("MALFORMED", path)
        if self.at > end:
            raise Refusal("MALFORMED", path)

    def length(self, end, at):
        length = self.short(end, at)
        if length > end - self.at:
            raise Refusal("MALFORMED", at)
        return self.at + length

    def short(self, end, at):
        """A tag or a length."""
        start = self.at
        value = self.varint(end, at)
        if self.at - start > 5 or value > RANGES["uint32"][1]:
            raise Refusal("MALFORMED", at)
        return value

    def varint(self, end, at):
        value = 0
        for shift in range(0, 70, 7):
            if self.at >= end:
                break
            byte = self.body[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value > LONG_MAX:
                    break
                return value
        raise Refusal("MALFORMED", at)


# The second pass: fields that contradict each other, in the order of their numbers.


def contradictions(protos, shape, message, path):
    """Raises Refusal for the first contradiction."""
    for rule in shape.rules:
        at = inside(path, rule.name)
        code = CHECKS.get((shape.name, rule.name), lambda _: None)(message)
        if code:
            raise Refusal(code if isinstance(code, str) else code[0], at if isinstance(code, str) else at + code[1])
        values = message.get(rule.name)
        if rule.form == "message" and values is not None:
            below = protos.shapes[rule.type]
            for index, each in enumerate(values if rule.repeated else [values]):
                contradictions(protos, below, each, inside(path, rule.name, index) if rule.repeated else at)
        key = UNIQUE.get((shape.name, rule.name))
        if key is not None and values:
            unique(values, key, at)


def unique(values, key, at):
    seen = set()
    for index, each in enumerate(values):
        value = each[key] if key else each
        if value in seen:
            raise Refusal("DUPLICATE", f"{at}[{index}]" + (f".{key}" if key else ""))
        seen.add(value)


# Lists whose elements differ, and in which field of theirs.
UNIQUE = {
    ("VehicleSet", "vehicle_ids"): "",
    ("Trip", "route_choices"): "id",
    ("TripPreviews", "trips"): "id",
    ("NavigationAlert", "actions"): "id",
    **{(each, "maneuvers"): "id" for each in ("RouteInformation", "AddManeuvers")},
    **{(each, "lane_guidances"): "id" for each in ("RouteInformation", "AddLaneGuidances")},
    **{(each, "segments"): "id" for each in ("RouteInformation", "AddRouteSegments")},
}


def only_with(field, condition):
    """The field is given if and only if the condition holds."""

    def check(message):
        if condition(message):
            return None if field in message else "MISSING"
        return "INCONSISTENT" if field in message else None

    return check


def one_of(field, elements, key):
    """The field names one of the elements."""
    return lambda message: (
        "UNKNOWN_REFERENCE" if field in message and message[field] not in [each[key] for each in message.get(elements, [])] else None
    )


def canonical(angle):
    """The angle of 180 and of -180 degrees is the same."""
    return -180 if angle == 180 else angle


def exit_angle(message):
    angle = canonical(message.get("junction_exit_angle_degrees"))
    others = [canonical(each) for each in message.get("junction_element_angles_degrees", [])]
    return ("INCONSISTENT", f"[{others.index(angle)}]") if angle in others else None


def highlighted(message):
    angle = canonical(message.get("highlighted_angle_degrees"))
    if angle is None or (angle in [canonical(each) for each in message.get("angles_degrees", [])] and message.get("status", 0) != 0):
        return None
    return "INCONSISTENT"


def with_value(field):
    """A field of a speed limit is given with LIMITED, and not with UNKNOWN and NONE."""
    limited = only_with(field, lambda message: message.get("status", 0) == 1)
    return lambda message: limited(message) if message.get("status", 0) <= 2 else None


def rising(message):
    points = [span.get("first_point", 0) for span in message.get("speed_limits", [])]
    wrong = [index for index in range(1, len(points)) if points[index] <= points[index - 1]]
    return ("INCONSISTENT", f"[{wrong[0]}].first_point") if wrong else None


def together(field, other):
    """The field is given if the other one is."""
    return lambda message: "INCONSISTENT" if field not in message and other in message else None


def receipt(message):
    shown, received = (int(message.get(field, 0)) for field in ("shown_sequence", "received_sequence"))
    return "INCONSISTENT" if shown > received else None


def decline_reason(message):
    code = only_with("reason", lambda message: message["answer"] == 4)(message)
    # NOT_SUPPORTED, DECLINED_BY_USER, BUSY, INVALID, TOO_LARGE; a value that is not known is INVALID.
    is_wrong = message.get("reason") in (1, 6, 8, 9, 10)
    return code or ("OUT_OF_RANGE" if is_wrong else None)


def pair(message_name):
    return {
        (message_name, "vehicle_id"): together("vehicle_id", "endpoint"),
        (message_name, "endpoint"): together("endpoint", "vehicle_id"),
    }


CHECKS = {
    ("FeatureGrant", "reason"): only_with("reason", lambda message: not message.get("granted")),
    ("Hello", "version_max"): lambda message: "INCONSISTENT" if message["version_max"] < message["version_min"] else None,
    ("Hello", "vehicle"): only_with("vehicle", lambda message: message["role"] == 1),
    ("Hello", "navigation"): only_with("navigation", lambda message: message["role"] == 2),
    ("Hello", "observer"): only_with("observer", lambda message: message["role"] == 3),
    ("ResumedSession", "end_reason"): lambda message: "INCONSISTENT" if "end_reason" in message and message["phase"] != 4 else None,
    ("OpenSession", "vehicles"): lambda message: "MISSING" if "vehicles" not in message and not message.get("any_that_asked") else None,
    ("OpenSession", "any_that_asked"): lambda message: "INCONSISTENT" if "vehicles" in message and message.get("any_that_asked") else None,
    ("VehicleStatus", "refusal"): only_with("refusal", lambda message: message["standing"] == 3),
    ("VehicleStatus", "end_reason"): only_with("end_reason", lambda message: message["standing"] == 4),
    ("Trip", "selected_route_choice_id"): one_of("selected_route_choice_id", "route_choices", "id"),
    ("TripPreviews", "selected_trip_id"): one_of("selected_trip_id", "trips", "id"),
    ("Maneuver", "junction_element_angles_degrees"): exit_angle,
    ("Lane", "highlighted_angle_degrees"): highlighted,
    ("SpeedLimit", "value"): with_value("value"),
    ("SpeedLimit", "unit"): with_value("unit"),
    ("RouteSegment", "speed_limits"): rising,
    ("RequestAnswer", "travel_estimates"): only_with("travel_estimates", lambda message: message["answer"] == 1),
    ("RequestAnswer", "reason"): decline_reason,
    ("RequestOutcome", "preview_follows"): lambda message: (
        "INCONSISTENT" if message.get("preview_follows") and message["outcome"] != 1 else None
    ),
    ("DestinationShareStatus", "outcome"): only_with("outcome", lambda message: message["stage"] == 3),
    ("AlertResponse", "dismissal"): lambda message: "INCONSISTENT" if "dismissal" in message and "action_id" in message else None,
    **pair("AlertResponse"),
    **pair("VehicleSettings"),
    **pair("ZoomCluster"),
    **pair("VehicleExtension"),
    **pair("SelectPreview"),
    ("SimulateDrive", "vehicle_id"): together("vehicle_id", "endpoint"),
    **pair("DestinationShareWanted"),
    ("Receipt", "shown_sequence"): receipt,
    ("EndpointReceipt", "shown_sequence"): receipt,
}
