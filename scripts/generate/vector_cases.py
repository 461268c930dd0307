"""Vectors that are written one by one: fields that contradict each other, several faults, lines, sizes. For vectors.py."""

import random

from vector_rules import Refusal, read
from vector_schema import GROUP, LENGTH, VARINT, block, encode, tag, varint

PLACE = {"center": {"latitude": 47.141, "longitude": 9.5215}}
TRIP = {"id": "t", "origin": PLACE, "destination": PLACE}
SEGMENT = {"id": "s", "origin": PLACE, "destination": PLACE}
# The same letter in Unicode's two forms.
COMPOSED, DECOMPOSED = "\u00e9", "e\u0301"
TOKEN = "000102030405060708090a0b0c0d0e0f"
WELCOME = {"version": 2, "resumption_token": TOKEN, "gateway_instance": "g", "gateway_epoch": "1"}
ANSWER = {"request_id": "r", "vehicle_id": "v"}
ESTIMATES = {"distance_remaining_meters": 1}
HELLO = {"version_min": 2, "version_max": 2}
VEHICLE, NAVIGATION, OBSERVER = {"vehicle_id": "v", "endpoint": "e"}, {"client_id": "c"}, {"observer_id": "o"}


def lanes(*lanes):
    return {"generation": 1, "lane_guidances": [{"id": 1, "lanes": list(lanes)}]}


def maneuvers(*maneuvers):
    return {"generation": 1, "maneuvers": list(maneuvers)}


def span(point, value):
    limit = {"limit": {"status": 1, "value": value, "unit": 1}}
    return {"first_point": point, **limit} if point else limit


def spans(*spans):
    return {"generation": 1, "segments": [{**SEGMENT, "speed_limits": list(spans)}]}


def previews(*ids, selected=None):
    message = {"trips": [{**TRIP, "id": each} for each in ids]}
    return message if selected is None else {**message, "selected_trip_id": selected}


def status(**fields):
    return {"vehicle": {"vehicle_id": "v", **fields}}


def records(**fields):
    return {"vehicles": [{"vehicle_id": "v", "endpoints": [{"endpoint": "e", **fields}]}]}


def choices(*ids):
    return [{"id": each} for each in ids]


# The message, its fields, and what is wrong with them.
# Messages that the gateway sends on with the vehicle and the endpoint that sent them, and the fields that they need.
SENT_ON = (
    ("AlertResponse", {"alert_id": 1}),
    ("VehicleSettings", {}),
    ("ZoomCluster", {"direction": 1}),
    ("VehicleExtension", {"name": "a.b"}),
    ("SelectPreview", {"trip_id": "t"}),
    ("DestinationShareWanted", {}),
)
CONTRADICTIONS = [
    ("Hello", {**HELLO, "version_min": 3, "role": 2, "navigation": NAVIGATION}, "INCONSISTENT", "version_max"),
    ("Hello", {**HELLO, "role": 1}, "MISSING", "vehicle"),
    ("Hello", {**HELLO, "role": 2}, "MISSING", "navigation"),
    ("Hello", {**HELLO, "role": 1, "navigation": NAVIGATION}, "MISSING", "vehicle"),
    ("Hello", {**HELLO, "role": 2, "vehicle": VEHICLE}, "INCONSISTENT", "vehicle"),
    ("Hello", {**HELLO, "role": 1, "vehicle": VEHICLE, "navigation": NAVIGATION}, "INCONSISTENT", "navigation"),
    ("Hello", {**HELLO, "role": 2, "vehicle": VEHICLE, "navigation": NAVIGATION}, "INCONSISTENT", "vehicle"),
    ("Hello", {**HELLO, "role": 3}, "MISSING", "observer"),
    ("Hello", {**HELLO, "role": 3, "vehicle": VEHICLE, "observer": OBSERVER}, "INCONSISTENT", "vehicle"),
    ("Hello", {**HELLO, "role": 2, "navigation": NAVIGATION, "observer": OBSERVER}, "INCONSISTENT", "observer"),
    ("Hello", {**HELLO, "role": 3, "navigation": NAVIGATION}, "INCONSISTENT", "navigation"),
    ("Welcome", {**WELCOME, "features": [{"feature": 1}]}, "MISSING", "features[0].reason"),
    ("Welcome", {**WELCOME, "features": [{"feature": 1, "granted": True, "reason": 1}]}, "INCONSISTENT", "features[0].reason"),
    (
        "Welcome",
        {**WELCOME, "sessions": [{"session_id": 1, "phase": 2, "end_reason": 1}]},
        "INCONSISTENT",
        "sessions[0].end_reason",
    ),
    ("OpenSession", {"request_id": "r"}, "MISSING", "vehicles"),
    (
        "OpenSession",
        {"request_id": "r", "vehicles": {"vehicle_ids": ["v"]}, "any_that_asked": True},
        "INCONSISTENT",
        "any_that_asked",
    ),
    ("OpenSession", {"request_id": "r", "vehicles": {"vehicle_ids": ["v", "w", "v"]}}, "DUPLICATE", "vehicles.vehicle_ids[2]"),
    ("VehicleChanged", status(standing=3), "MISSING", "vehicle.refusal"),
    ("VehicleChanged", status(standing=4), "MISSING", "vehicle.end_reason"),
    ("VehicleChanged", status(standing=1, refusal=11), "INCONSISTENT", "vehicle.refusal"),
    ("VehicleChanged", status(standing=2, end_reason=1), "INCONSISTENT", "vehicle.end_reason"),
    (
        "VehicleChanged",
        status(standing=1, endpoints=[{"endpoint": "e", "withheld": [{"feature": 1}]}]),
        "MISSING",
        "vehicle.endpoints[0].withheld[0].reason",
    ),
    (
        "SnapshotBegin",
        {"kind": 1, "client_id": "c", "withheld": [{"feature": 5, "granted": True, "reason": 4}]},
        "INCONSISTENT",
        "withheld[0].reason",
    ),
    ("Receipt", {"received_sequence": "3", "shown_sequence": "4"}, "INCONSISTENT", "shown_sequence"),
    (
        "ObservedRecords",
        records(receipt={"shown_sequence": "1"}),
        "INCONSISTENT",
        "vehicles[0].endpoints[0].receipt.shown_sequence",
    ),
    ("ObservedRecords", records(settings={"vehicle_id": "v"}), "INCONSISTENT", "vehicles[0].endpoints[0].settings.endpoint"),
    ("ObservedRecords", records(withheld=[{"feature": 1}]), "MISSING", "vehicles[0].endpoints[0].withheld[0].reason"),
    (
        "ReceiptReport",
        {"endpoints": [{"vehicle_id": "v", "endpoint": "e", "shown_sequence": "1"}]},
        "INCONSISTENT",
        "endpoints[0].shown_sequence",
    ),
    ("TripPreviews", previews("a", "b", "a"), "DUPLICATE", "trips[2].id"),
    ("TripPreviews", previews("a", selected="b"), "UNKNOWN_REFERENCE", "selected_trip_id"),
    ("TripPreviews", previews(COMPOSED, selected=DECOMPOSED), "UNKNOWN_REFERENCE", "selected_trip_id"),
    ("UpdateTrip", {"trip": {**TRIP, "route_choices": choices(1, 1)}}, "DUPLICATE", "trip.route_choices[1].id"),
    (
        "UpdateTrip",
        {"trip": {**TRIP, "route_choices": choices(1), "selected_route_choice_id": 2}},
        "UNKNOWN_REFERENCE",
        "trip.selected_route_choice_id",
    ),
    ("UpdateTrip", {"trip": {**TRIP, "selected_route_choice_id": 1}}, "UNKNOWN_REFERENCE", "trip.selected_route_choice_id"),
    ("AddManeuvers", maneuvers({"id": 2}, {"id": 1}, {"id": 2}), "DUPLICATE", "maneuvers[2].id"),
    (
        "AddManeuvers",
        maneuvers({"id": 1, "junction_exit_angle_degrees": 90, "junction_element_angles_degrees": [0, 90]}),
        "INCONSISTENT",
        "maneuvers[0].junction_element_angles_degrees[1]",
    ),
    (
        "AddManeuvers",
        maneuvers({"id": 1, "junction_exit_angle_degrees": 0, "junction_element_angles_degrees": [0]}),
        "INCONSISTENT",
        "maneuvers[0].junction_element_angles_degrees[0]",
    ),
    *(
        (
            "AddManeuvers",
            maneuvers({"id": 1, "junction_exit_angle_degrees": one, "junction_element_angles_degrees": [0, other]}),
            "INCONSISTENT",
            "maneuvers[0].junction_element_angles_degrees[1]",
        )
        for one, other in ((180, -180), (-180, 180))
    ),
    (
        "AddLaneGuidances",
        lanes({"angles_degrees": [0], "highlighted_angle_degrees": 90, "status": 1}),
        "INCONSISTENT",
        "lane_guidances[0].lanes[0].highlighted_angle_degrees",
    ),
    (
        "AddLaneGuidances",
        lanes({"angles_degrees": [0], "highlighted_angle_degrees": 0}),
        "INCONSISTENT",
        "lane_guidances[0].lanes[0].highlighted_angle_degrees",
    ),
    (
        "AddLaneGuidances",
        {"generation": 1, "lane_guidances": [{"id": 1, "lanes": [{}]}] * 2},
        "DUPLICATE",
        "lane_guidances[1].id",
    ),
    ("AddRouteSegments", {"generation": 1, "segments": [SEGMENT, SEGMENT]}, "DUPLICATE", "segments[1].id"),
    (
        "StartGuidance",
        {"trip": TRIP, "generation": 1, "route": {"maneuvers": [{"id": 1}, {"id": 1}]}},
        "DUPLICATE",
        "route.maneuvers[1].id",
    ),
    ("ResumeGuidance", {"generation": 1, "route": {"segments": [SEGMENT, SEGMENT]}}, "DUPLICATE", "route.segments[1].id"),
    (
        "ShowAlert",
        {"alert": {"id": 1, "title_variants": ["x"], "actions": [{"id": 1, "title_variants": ["x"]}] * 2}},
        "DUPLICATE",
        "alert.actions[1].id",
    ),
    ("UpdateSpeedLimit", {"limit": {"status": 1}}, "MISSING", "limit.value"),
    ("UpdateSpeedLimit", {"limit": {"status": 1, "value": 80}}, "MISSING", "limit.unit"),
    ("UpdateSpeedLimit", {"limit": {"status": 1, "unit": 1}}, "MISSING", "limit.value"),
    ("UpdateSpeedLimit", {"limit": {"value": 80, "unit": 1}}, "INCONSISTENT", "limit.value"),
    ("UpdateSpeedLimit", {"limit": {"status": 2, "value": 80}}, "INCONSISTENT", "limit.value"),
    ("UpdateSpeedLimit", {"limit": {"status": 2, "unit": 2}}, "INCONSISTENT", "limit.unit"),
    ("UpdateSpeedLimit", {"limit": {}, "next": {"limit": {"unit": 2}, "distance_meters": 1}}, "INCONSISTENT", "next.limit.unit"),
    ("AddRouteSegments", spans(span(1, 80), span(1, 50)), "INCONSISTENT", "segments[0].speed_limits[1].first_point"),
    ("AddRouteSegments", spans(span(0, 80), span(5, 50), span(4, 30)), "INCONSISTENT", "segments[0].speed_limits[2].first_point"),
    ("AddRouteSegments", spans({"limit": {"status": 1}}, span(0, 50)), "INCONSISTENT", "segments[0].speed_limits[1].first_point"),
    (
        "AddRouteSegments",
        spans(span(0, 80), {"first_point": 1, "limit": {"value": 5}}),
        "INCONSISTENT",
        "segments[0].speed_limits[1].limit.value",
    ),
    (
        "StartGuidance",
        {"trip": TRIP, "route": {"segments": [{**SEGMENT, "speed_limits": [span(2, 80), span(2, 50)]}]}},
        "INCONSISTENT",
        "route.segments[0].speed_limits[1].first_point",
    ),
    ("RequestAnswer", {**ANSWER, "answer": 1}, "MISSING", "travel_estimates"),
    ("RequestAnswer", {**ANSWER, "answer": 3, "travel_estimates": ESTIMATES}, "INCONSISTENT", "travel_estimates"),
    ("RequestAnswer", {**ANSWER, "answer": 4}, "MISSING", "reason"),
    ("RequestAnswer", {**ANSWER, "answer": 2, "reason": 4}, "INCONSISTENT", "reason"),
    *(("RequestAnswer", {**ANSWER, "answer": 4, "reason": each}, "OUT_OF_RANGE", "reason") for each in (1, 6, 8, 9, 10)),
    ("RequestOutcome", {"request_id": "r", "vehicle_id": "v", "outcome": 3, "preview_follows": True}, "INCONSISTENT", "preview_follows"),
    ("AlertResponse", {"alert_id": 1, "action_id": 1, "dismissal": 1}, "INCONSISTENT", "dismissal"),
    *((name, {**fields, "vehicle_id": "v"}, "INCONSISTENT", "endpoint") for name, fields in SENT_ON),
    *((name, {**fields, "endpoint": "e"}, "INCONSISTENT", "vehicle_id") for name, fields in SENT_ON),
    ("SimulateDrive", {"action": 1, "endpoint": "e"}, "INCONSISTENT", "vehicle_id"),
    ("DestinationShareStatus", {"share_id": "s", "vehicle_id": "v", "stage": 3}, "MISSING", "outcome"),
    ("DestinationShareStatus", {"share_id": "s", "vehicle_id": "v", "stage": 1, "outcome": 1}, "INCONSISTENT", "outcome"),
]
# What is near a contradiction, and is none.
AGREEMENTS = [
    ("Hello", {**HELLO, "version_max": 4294967295, "role": 1, "vehicle": VEHICLE}),
    ("Welcome", {**WELCOME, "features": [{"feature": 99, "granted": True}, {"feature": 98, "reason": 99}]}),
    ("Welcome", {**WELCOME, "sessions": [{"session_id": 1, "phase": 4}, {"session_id": 1, "phase": 4, "end_reason": 99}]}),
    ("TripPreviews", previews(COMPOSED, DECOMPOSED, selected=DECOMPOSED)),
    ("TripPreviews", previews("a", "A", " a", "a ")),
    ("AddRouteSegments", {"generation": 1, "segments": [{**SEGMENT, "id": COMPOSED}, {**SEGMENT, "id": DECOMPOSED}]}),
    ("AddManeuvers", maneuvers({"id": 3}, {"id": 2}, {"id": 4294967295})),
    ("AddManeuvers", maneuvers({"id": 1, "junction_exit_angle_degrees": 0, "junction_element_angles_degrees": [1, 1]})),
    ("AddManeuvers", maneuvers({"id": 1, "junction_element_angles_degrees": [0]})),
    ("AddLaneGuidances", lanes({"angles_degrees": [0, 90], "highlighted_angle_degrees": 90, "status": 99})),
    ("AddLaneGuidances", lanes({"angles_degrees": [-180], "highlighted_angle_degrees": 180, "status": 1})),
    ("AddLaneGuidances", lanes({"angles_degrees": [180], "highlighted_angle_degrees": -180, "status": 1})),
    ("AddLaneGuidances", lanes({"status": 2})),
    ("UpdateSpeedLimit", {"limit": {"status": 3, "value": 500, "unit": 9, "kind": 9, "sign": 9}}),
    ("UpdateSpeedLimit", {"limit": {"status": 3}, "next": {"limit": {"status": 1, "value": 1, "unit": 3}}}),
    ("UpdateSpeedLimit", {"limit": {"status": 2, "kind": 1, "sign": 2}, "next": {"limit": {"status": 2}}}),
    # A line may have fewer points.
    ("AddRouteSegments", spans(span(0, 80), span(1, 80), span(4294967295, 80))),
    # What an id refers to is checked with the session's state, not with the body.
    ("UpcomingManeuvers", {"generation": 1, "maneuver_ids": [1, 1, 0]}),
    (
        "StartGuidance",
        {"trip": TRIP, "route": {"upcoming_maneuver_ids": [9], "current_segment_id": "x", "current_lane_guidance_id": 9}},
    ),
    ("RequestAnswer", {**ANSWER, "answer": 4, "reason": 99}),
    ("RequestAnswer", {**ANSWER, "answer": 5}),
    ("RequestOutcome", {"request_id": "r", "vehicle_id": "v", "outcome": 1, "preview_follows": True}),
    ("AlertResponse", {"alert_id": 1, "dismissal": 99}),
    ("Goodbye", {"code": 6}),
    ("ShareDestination", {"share_id": DECOMPOSED, "destination": PLACE}),
]


class Cases:
    """Makes the vectors."""

    def __init__(self, protos):
        self.protos, self.vectors = protos, []

    def add(self, name, message, body, code=None, field=None, file=None):
        shape = self.protos.shapes[message]
        vector = {"name": name, "message": message, "hex": body.hex()}
        try:
            fields = read(self.protos, shape, body)
            assert code is None, f"{name} is valid"
            vector |= {"valid": True, "json": fields}
            if encode(self.protos, shape, fields) == body:
                vector["canonical"] = True
        except Refusal as refusal:
            assert (refusal.code, refusal.path) == (code, field), f"{name}: {refusal}, not {code} {field}"
            vector |= {"valid": False, "code": code, "field": field}
        self.vectors.append((file or shape.file, vector))

    def encoded(self, message, fields):
        return encode(self.protos, self.protos.shapes[message], fields)

    def all(self):
        for index, (message, fields, code, field) in enumerate(CONTRADICTIONS):
            self.add(f"{message}: contradiction {index + 1}, {field}", message, self.encoded(message, fields), code, field)
        for index, (message, fields) in enumerate(AGREEMENTS):
            self.add(f"{message}: agreement {index + 1}", message, self.encoded(message, fields))
        self.several()
        self.varints()
        self.unknown()
        self.lines()
        self.random_lines()
        return self.vectors

    def several(self):
        """Of several faults the first in the order of the checks is reported."""

        def add(name, message, body, code, field):
            return self.add(f"{message}: several faults, {name}", message, body, code, field)

        good = self.encoded("DismissAlert", {"alert_id": 1})

        def text(number):
            return block(number, b"\xff")

        add("in the order of the bytes", "WaypointRequest", text(4) + text(1), "INVALID_TEXT", "vehicle_id")
        add("in the order of the bytes, the other way round", "WaypointRequest", text(1) + text(4), "INVALID_TEXT", "request_id")
        add("a bad field before missing ones", "WaypointRequest", text(4), "INVALID_TEXT", "vehicle_id")
        add("missing fields, the lowest number first", "WaypointRequest", b"", "MISSING", "request_id")
        add("missing fields inside before those outside", "WaypointRequest", block(2, b""), "MISSING", "waypoint.center")
        add("a cut behind a bad field", "WaypointRequest", text(4) + b"\x0a", "INVALID_TEXT", "vehicle_id")
        add("a cut before a missing field", "WaypointRequest", b"\x0a", "MALFORMED", "request_id")
        add("twice before the second value's range", "DismissAlert", good + b"\x08\x00", "MALFORMED", "alert_id")
        add("too long before not UTF-8", "WaypointRequest", block(1, b"\xff" * 65), "OUT_OF_RANGE", "request_id")
        add(
            "too many before the last one's text",
            "CurrentRoadName",
            block(1, b"a") * 8 + text(1),
            "OUT_OF_RANGE",
            "name_variants[8]",
        )
        add(
            "too many before the last one's wire type",
            "CurrentRoadName",
            block(1, b"a") * 8 + b"\x08\x01",
            "OUT_OF_RANGE",
            "name_variants[8]",
        )
        lines = {"segments": [{**SEGMENT, "coordinates": {"latitude_e6_deltas": [1]}}], "generation": 1}
        add(
            "a range before lists of different lengths",
            "AddRouteSegments",
            self.encoded("AddRouteSegments", lines) + block(2, b""),
            "INCONSISTENT",
            "segments[0].coordinates.longitude_e6_deltas",
        )
        add(
            "a range before a contradiction",
            "RequestAnswer",
            self.encoded("RequestAnswer", {**ANSWER, "answer": 1}) + b"\x28\xff\xff\xff\xff\x0f",
            "OUT_OF_RANGE",
            "reason",
        )
        add(
            "a missing field before a contradiction",
            "Hello",
            self.encoded("Hello", {"version_min": 3, "version_max": 2}),
            "MISSING",
            "role",
        )
        add(
            "contradictions in the order of the field numbers",
            "RequestAnswer",
            self.encoded("RequestAnswer", {**ANSWER, "answer": 3, "travel_estimates": ESTIMATES, "reason": 4}),
            "INCONSISTENT",
            "travel_estimates",
        )
        both = {"request_id": "r", "vehicles": {"vehicle_ids": ["v", "v"]}, "any_that_asked": True}
        add(
            "contradictions in the order of the field numbers",
            "OpenSession",
            self.encoded("OpenSession", both),
            "DUPLICATE",
            "vehicles.vehicle_ids[1]",
        )
        add(
            "contradictions in the order of the field numbers",
            "Hello",
            self.encoded("Hello", {"version_min": 3, "version_max": 2, "role": 1}),
            "INCONSISTENT",
            "version_max",
        )
        double = {"id": 1, "junction_exit_angle_degrees": 0, "junction_element_angles_degrees": [0]}
        add(
            "an element's contradiction before equal ids",
            "AddManeuvers",
            self.encoded("AddManeuvers", maneuvers({"id": 2}, {"id": 2}, double)),
            "INCONSISTENT",
            "maneuvers[2].junction_element_angles_degrees[0]",
        )
        start = {"trip": {**TRIP, "selected_route_choice_id": 1}, "route": {"maneuvers": [{"id": 1}] * 2}}
        add(
            "the trip before the route",
            "StartGuidance",
            self.encoded("StartGuidance", start),
            "UNKNOWN_REFERENCE",
            "trip.selected_route_choice_id",
        )
        route = {"maneuvers": [{"id": 1}] * 2, "segments": [SEGMENT] * 2}
        add(
            "the order of the route's lists",
            "StartGuidance",
            self.encoded("StartGuidance", {"trip": TRIP, "route": route}),
            "DUPLICATE",
            "route.maneuvers[1].id",
        )

    def varints(self):
        """Numbers, tags and lengths that are longer than they must be."""

        def add(name, body, *refusal):
            return self.add(f"Ping: {name}", "Ping", body, *refusal)

        for size in range(2, 11):
            add(f"a number in {size} bytes", b"\x08\x85" + b"\x80" * (size - 2) + b"\x00")
        for size in range(2, 6):
            add(f"a tag in {size} bytes", b"\x88" + b"\x80" * (size - 2) + b"\x00\x05")
        add("the highest field number", varint((2**29 - 1) << 3) + b"\x05")
        add("a tag of 33 bits", b"\x80\x80\x80\x80\x10\x05", "MALFORMED", "")
        add("a tag that ends with the body", b"\x88", "MALFORMED", "")
        add("a number that ends with the body", b"\x08\x80", "MALFORMED", "nonce")
        for wire_type in (GROUP, 4, 6, 7):
            add(f"wire type {wire_type}", tag(1, wire_type), "MALFORMED", "nonce")
        for size in range(2, 6):
            body = b"\x0a" + b"\x81" + b"\x80" * (size - 2) + b"\x00a"
            self.add(f"CurrentRoadName: a length in {size} bytes", "CurrentRoadName", body)
        self.add(
            "CurrentRoadName: a length of 4 294 967 295",
            "CurrentRoadName",
            b"\x0a" + varint(2**32 - 1) + b"a",
            "MALFORMED",
            "name_variants[0]",
        )
        self.add(
            "CurrentRoadName: a length of 4 294 967 297",
            "CurrentRoadName",
            b"\x0a" + varint(2**32 + 1) + b"a",
            "MALFORMED",
            "name_variants[0]",
        )

    def unknown(self):
        """Unknown fields: at most 1 024 in a body."""
        few = tag(15, VARINT) + b"\x01"

        def add(name, body, *refusal):
            return self.add(f"PauseGuidance: {name}", "PauseGuidance", body, *refusal)

        add("1 024 unknown fields", b"\x08\x01" + few * 1_024)
        add("1 025 unknown fields", b"\x08\x01" + few * 1_025, "LIMIT_REACHED", "")
        inner = block(1, b"\x0a\x01t" + few * 1_000)
        self.add("UpdateTrip: 1 025 unknown fields in two messages", "UpdateTrip", few * 25 + inner, "LIMIT_REACHED", "trip")
        for name, rest in (("VARINT", b"\x80"), ("FIXED64", bytes(7)), ("LENGTH", b"\x02a"), ("FIXED32", bytes(3))):
            key = tag(15, {"VARINT": 0, "FIXED64": 1, "LENGTH": 2, "FIXED32": 5}[name])
            add(f"an unknown field of wire type {key[0] & 7}, cut", b"\x08\x01" + key + rest, "MALFORMED", "")

    # Lines of coordinates

    def line(self, name, latitudes, longitudes, *refusal, packed=True):
        def listed(number, values):
            values = [varint((each << 1 ^ each >> 63) & 0xFFFFFFFF) for each in values]
            return block(number, b"".join(values)) if packed else b"".join(tag(number, VARINT) + each for each in values)

        segment = encode(self.protos, self.protos.shapes["RouteSegment"], SEGMENT)
        body = b"\x08\x01" + block(2, segment + block(4, listed(1, latitudes) + listed(2, longitudes)))
        self.add(f"AddRouteSegments: a line, {name}", "AddRouteSegments", body, *refusal, file="lines")

    def lines(self):
        at = "segments[0].coordinates."
        north, east = 90_000_000, 180_000_000
        low, high = -(2**31), 2**31 - 1

        def latitude(index):
            return ("OUT_OF_RANGE", f"{at}latitude_e6_deltas[{index}]")

        def longitude(index):
            return ("OUT_OF_RANGE", f"{at}longitude_e6_deltas[{index}]")

        self.line("no points", [], [])
        for packed in (True, False):
            word = "packed" if packed else "not packed"
            self.line(f"one point at 0, {word}", [0], [0], packed=packed)
            self.line(f"the corners of the map, {word}", [north, -2 * north, 2 * north], [east, -2 * east, 2 * east], packed=packed)
            self.line(f"beyond the north pole by one, {word}", [north, 1], [0, 0], *latitude(1), packed=packed)
        self.line("the north pole", [north], [0])
        self.line("the south pole", [-north], [0])
        self.line("beyond the north pole", [north + 1], [0], *latitude(0))
        self.line("beyond the south pole", [-north - 1], [0], *latitude(0))
        self.line("beyond the date line", [0], [east + 1], *longitude(0))
        self.line("beyond the date line in the west", [0], [-east - 1], *longitude(0))
        self.line("beyond and back", [north, 1, -1], [0, 0, 0], *latitude(1))
        self.line("the lowest difference", [low], [0], *latitude(0))
        self.line("the highest difference", [high], [0], *latitude(0))
        self.line("sums that overflow 32 bits", [1, high], [0, 0], *latitude(1))
        self.line("sums that overflow 32 bits and return", [1, high, high, 2], [0] * 4, *latitude(1))
        self.line("negative sums that overflow 32 bits", [-2, low], [0, 0], *latitude(1))
        self.line("one latitude more", [1, 2], [1], "INCONSISTENT", at + "longitude_e6_deltas")
        self.line("one longitude more", [1], [1, 2], "INCONSISTENT", at + "longitude_e6_deltas")
        self.line("no longitudes", [1], [], "INCONSISTENT", at + "longitude_e6_deltas")
        # Readers that add many differences at once must notice the one that leaves the map.
        for count in (31, 32, 63, 64, 65, 127, 128, 200):
            self.line(f"{count} points at the pole", [north] + [0] * (count - 1), [0] * count)
            self.line(f"{count} points, the last beyond the pole", [north] + [0] * (count - 2) + [1], [0] * count, *latitude(count - 1))
            step = 8_191
            self.line(f"{count} long steps up to the pole", [north - step * (count - 1)] + [step] * (count - 1), [0] * count)
            self.line(
                f"{count} long steps beyond the pole",
                [north - step * (count - 1) + 1] + [step] * (count - 1),
                [0] * count,
                *latitude(count - 1),
            )
            self.line(
                f"{count} steps to and fro at the date line",
                [0] * count,
                [east] + [-64, 64] * ((count - 1) // 2) + [0] * (1 - count % 2),
            )

    def random_lines(self):
        """Lines with differences of all lengths, valid or not."""
        source = random.Random(16)
        for index in range(120):
            count = source.choice([2, 9, 40, 70, 150])
            width = source.choice([30, 60, 5_000, 9_000, 2_000_000, 40_000_000])
            values = [[source.randint(-width, width) for _ in range(count)] for _ in range(2)]
            values[0][0] = source.choice([0, 47_141_000, 89_990_000, -89_999_990])
            values[1][0] = source.choice([0, 9_521_500, 179_990_000, -179_999_990])
            refusal = ()
            for name, numbers, limit in (("latitude", values[0], 90_000_000), ("longitude", values[1], 180_000_000)):
                sums = [sum(numbers[: end + 1]) for end in range(count)]
                beyond = [end for end, each in enumerate(sums) if abs(each) > limit]
                if beyond and not refusal:
                    refusal = ("OUT_OF_RANGE", f"segments[0].coordinates.{name}_e6_deltas[{beyond[0]}]")
            self.line(f"random {index + 1}", values[0], values[1], *refusal)


class Large:
    """Vectors of bodies that are too large for a line: parts that are repeated."""

    def __init__(self, protos):
        self.protos, self.vectors = protos, []

    def add(self, name, message, parts, code=None, field=None):
        body = b"".join(part * times for part, times in parts)
        vector = {"name": name, "message": message, "parts": [[part.hex(), times] for part, times in parts]}
        try:
            read(self.protos, self.protos.shapes[message], body)
            assert code is None, f"{name} is valid"
            vector |= {"valid": True}
        except Refusal as refusal:
            assert (refusal.code, refusal.path) == (code, field), f"{name}: {refusal}, not {code} {field}"
            vector |= {"valid": False, "code": code, "field": field}
        self.vectors.append(("large", vector))

    def all(self):
        def element(number, content):
            return block(number, content)

        generation = b"\x08\x01"
        one = {"AddManeuvers": ("maneuvers", b"\x08\x01"), "AddLaneGuidances": ("lane_guidances", b"\x08\x01\x12\x00")}
        for message, (field, content) in one.items():
            self.add(
                f"{message}: 4 096 elements with the same id",
                message,
                [(generation, 1), (element(2, content), 4_096)],
                "DUPLICATE",
                f"{field}[1].id",
            )
            self.add(
                f"{message}: 4 097 elements",
                message,
                [(generation, 1), (element(2, content), 4_097)],
                "OUT_OF_RANGE",
                f"{field}[4096]",
            )
        segment = encode(self.protos, self.protos.shapes["RouteSegment"], SEGMENT)
        for number, name in ((5, "maneuver_ids"), (6, "lane_guidance_ids")):
            for count in (4_096, 4_097):
                tail = tag(number, LENGTH) + varint(count)
                head = generation + tag(2, LENGTH) + varint(len(segment) + len(tail) + count) + segment + tail
                refusal = () if count == 4_096 else ("OUT_OF_RANGE", f"segments[0].{name}[4096]")
                self.add(f"RouteSegment.{name}: {count} elements", "AddRouteSegments", [(head, 1), (b"\x01", count)], *refusal)
        for count, step in ((262_144, b"\x00"), (262_145, b"\x00"), (262_144, b"\x01")):
            self.long_line(count, step, segment, generation)
        session = b"\x08\x01\x18\x01"
        welcome = encode(self.protos, self.protos.shapes["Welcome"], WELCOME)
        self.add("Welcome.sessions: 4 096 elements", "Welcome", [(welcome, 1), (element(7, session), 4_096)])
        self.add(
            "Welcome.sessions: 4 097 elements",
            "Welcome",
            [(welcome, 1), (element(7, session), 4_097)],
            "OUT_OF_RANGE",
            "sessions[4096]",
        )
        receipt = element(2, b"\x0a\x01v\x12\x01e")
        self.add("ReceiptReport.endpoints: 65 536 elements", "ReceiptReport", [(receipt, 65_536)])
        self.add("ReceiptReport.endpoints: 65 537 elements", "ReceiptReport", [(receipt, 65_537)], "OUT_OF_RANGE", "endpoints[65536]")
        return self.vectors

    def long_line(self, count, step, segment, generation):
        """As many points as a segment may have, or one more; with steps of -1 all are on the map."""
        lists = [tag(number, LENGTH) + varint(count) for number in (1, 2)]
        size = sum(len(each) for each in lists) + 2 * count
        middle = tag(4, LENGTH) + varint(size)
        head = generation + tag(2, LENGTH) + varint(len(segment) + len(middle) + size) + segment + middle + lists[0]
        refusal = () if count <= 262_144 else ("OUT_OF_RANGE", "segments[0].coordinates.latitude_e6_deltas[262144]")
        word = "steps of -1" if step == b"\x01" else "steps of 0"
        self.add(
            f"Polyline: {count} points, {word}",
            "AddRouteSegments",
            [(head, 1), (step, count), (lists[1], 1), (step, count)],
            *refusal,
        )
