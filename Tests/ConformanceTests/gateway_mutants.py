"""Gateways with one bug each: waymarkd behind a proxy that changes frames.

A mutation gets each frame that the gateway sends (`down`) or that a peer sends (`up`), and returns the frames to pass on; a number
among them is a pause in seconds. `memory` is a dictionary of one direction of a connection; its `connection` is one of both directions,
its `gateway` one of all connections. A mutation of both directions has the same name in `DOWN` and in `UP`.
"""

import asyncio
import contextlib
import socket
from typing import Any

from waymark_conformance.frames import FLAGS, Frame, Reader, type_number
from waymark_conformance.schema import Malformed, decode, encode

DOWN: dict[str, Any] = {}
UP: dict[str, Any] = {}


def down(name, *types):
    """Registers a mutation of what the gateway sends, for some types or for all."""

    def register(function):
        DOWN[name] = (types, function)
        return function

    return register


def up(name, *types):
    """Registers a mutation of what peers send."""

    def register(function):
        UP[name] = (types, function)
        return function

    return register


def edited(frame, change):
    """The frame with its body changed."""
    body = decode(frame.name, frame.body)
    body.pop("unknown", None)
    change(body)
    frame.body = encode(frame.name, body)
    return [frame]


def edit(name, message, change, register=down):
    """Registers a mutation that changes the body of one type."""
    register(name, message)(lambda frame, memory: edited(frame, change))


def drop(name, *types, register=down):
    register(name, *types)(lambda frame, memory: [])


def twice(name, *types):
    down(name, *types)(lambda frame, memory: [frame, frame])


def without(name, message, *fields, register=down):
    edit(name, message, lambda body: [body.pop(field, None) for field in fields], register)


def header(name, change, *types, register=down):
    def mutate(frame, memory):
        change(frame)
        return [frame]

    register(name, *types)(mutate)


OWN = ["SnapshotBegin", "SnapshotEnd", "SessionSuspended", "SessionRestored"]
STATES = ["CurrentRoadName", "UpdateManeuverState", "UpcomingManeuvers", "UpdateTripEstimates"]

drop("sends no Acknowledgement", "Acknowledgement")
edit("acknowledges one number too many", "Acknowledgement", lambda body: body.update(sequence=body["sequence"] + 1))
edit("acknowledges one number too few", "Acknowledgement", lambda body: body.update(sequence=max(1, body["sequence"] - 1)))
twice("acknowledges everything twice", "Acknowledgement")
down("acknowledges too late", "Acknowledgement")(lambda frame, memory: [0.8, frame])
edit(
    "tells observers of Pings",
    "ObservedFrames",
    lambda body: body.update(frames=body.get("frames", "") + Frame(type_number("Ping")).pack().hex()),
)
edit("answers Pings with another nonce", "Pong", lambda body: body.update(nonce=body.get("nonce", 0) ^ 1))
drop("answers no Ping", "Pong")
twice("answers Pings twice", "Pong")
drop("sends no Ping", "Ping")
edit("agrees on a version that the peer does not have", "Welcome", lambda body: body.update(version=1))
without("sends no resumption token", "Welcome", "resumption_token")
edit("says that nothing is resumed", "Welcome", lambda body: body.update(resumed=False))
edit("says that everything is resumed", "Welcome", lambda body: body.update(resumed=True))
edit("names another instance on each connection", "Welcome", lambda body: body.update(gateway_instance=body["resumption_token"]))
edit("has no epoch", "Welcome", lambda body: body.update(gateway_epoch=0))
edit("agrees on another interval", "Welcome", lambda body: body.update(keepalive_milliseconds=body["keepalive_milliseconds"] * 2))
edit("does not lower the size of frames", "Welcome", lambda body: body.update(receive_frame_bytes_max=1_048_576))
edit("says that it sends frames of any size", "Welcome", lambda body: body.update(send_frame_bytes_max=16_777_216))
header(
    "does not say that more vehicles of a session follow",
    lambda frame: setattr(frame, "flags", frame.flags & ~FLAGS["MORE"]),
    "SessionOpened",
)
header(
    "does not say that it made a request smaller",
    lambda frame: setattr(frame, "flags", frame.flags & ~FLAGS["FITTED"]),
    "WaypointRequest",
)
header(
    "does not say that more of what crossed follows",
    lambda frame: setattr(frame, "flags", frame.flags & ~FLAGS["MORE"]),
    "ObservedFrames",
)
edit(
    "lists only granted features",
    "Welcome",
    lambda body: body.update(features=[each for each in body["features"] if each.get("granted")]),
)
without("names no sessions to a client that resumes", "Welcome", "sessions")
edit(
    "names the number after the last to a client that resumes",
    "Welcome",
    lambda body: [session.update(sequence=session.get("sequence", 0) + 1) for session in body.get("sessions", [])],
)
without("does not say which limits hold", "Welcome", "negotiated_limits")
edit("sends every snapshot as a full one", "SnapshotBegin", lambda body: body.update(kind="FULL", from_sequence=0))
edit("sends every snapshot as one of missed frames", "SnapshotBegin", lambda body: body.update(kind="MISSED"))
edit("says that a snapshot begins at 0", "SnapshotBegin", lambda body: body.update(from_sequence=0))
edit(
    "says that a snapshot ends one number later",
    "SnapshotBegin",
    lambda body: body.update(to_sequence=body.get("to_sequence", 0) + 1),
)
drop("does not end snapshots", "SnapshotEnd")
without("does not say how old a snapshot is", "SnapshotBegin", "age_milliseconds")
edit(
    "says the age in seconds",
    "SnapshotBegin",
    lambda body: "age_milliseconds" in body and body.update(age_milliseconds=body["age_milliseconds"] // 1000),
)
without("does not say how old estimates are in a snapshot", "SnapshotBegin", "estimates_age_milliseconds")
edit(
    "says of estimates the age of the newest publication",
    "SnapshotBegin",
    lambda body: "estimates_age_milliseconds" in body and body.update(estimates_age_milliseconds=body["age_milliseconds"]),
)
without("does not list what is withheld", "SnapshotBegin", "withheld")
without("does not name the client of a session", "SnapshotBegin", "client_display_name")
without("does not say that the client is away", "SnapshotBegin", "suspended")
without("asks for no receipts", "SnapshotBegin", "receipts_every_milliseconds")
edit("ends each session with USER_STOPPED", "SessionEnded", lambda body: body.update(reason="USER_STOPPED"))
header("sends SessionEnded with the session in its header", lambda frame: setattr(frame, "session", 7), "SessionEnded")
edit("ends no session by its id", "SessionEnded", lambda body: body.update(session_id=0))
drop("does not send SessionEnded", "SessionEnded")
twice("sends SessionEnded twice", "SessionEnded")
drop("does not say that the client is away in the middle of a session", "SessionSuspended")
drop("does not say that the client is back", "SessionRestored")
drop("sends no Error", "Error")
without("names no field in an Error", "Error", "field")
edit("sends each Error with INCONSISTENT", "Error", lambda body: body.update(code="INCONSISTENT"))
without("names no number in an Error", "Error", "sequence")
edit(
    "names no vehicle when several are refused",
    "Error",
    lambda body: body.get("field") == "vehicles.vehicle_ids[0]" and body.update(field="vehicles.vehicle_ids"),
)
without("names no session in an Error", "Error", "session_id")
without("does not say that a publication was rejected", "ObservedFrames", "rejected")


@down("sends SessionEnded behind FinishGuidance and CancelGuidance", "FinishGuidance", "CancelGuidance")
def end_twice(frame, memory):
    ended = {"session_id": frame.session, "reason": "FINISHED" if frame.name == "FinishGuidance" else "CANCELLED_BY_CLIENT"}
    return [frame, Frame(type_number("SessionEnded"), encode("SessionEnded", ended))]


without("names no request in an Error", "Error", "request_id")
drop("closes without a Goodbye", "Goodbye")
edit("closes with INTERNAL", "Goodbye", lambda body: body.update(code="INTERNAL"))
without("gives no reason in a Goodbye", "Goodbye", "reason")
without("names no limit in an Error", "Error", "limit")
without("names no limit in a Goodbye", "Goodbye", "limit")


def rename_code(name, code, other):
    """Registers a mutation that takes one close code for another."""
    edit(name, "Goodbye", lambda body: body.update(code=other) if body.get("code") == code else None)


rename_code("calls a wrong key NOT_AUTHORIZED", "NOT_AUTHENTICATED", "NOT_AUTHORIZED")
rename_code("calls changed rules NOT_AUTHORIZED", "RULES_CHANGED", "NOT_AUTHORIZED")
rename_code("calls another version HANDSHAKE_INVALID", "UNSUPPORTED_VERSION", "HANDSHAKE_INVALID")
rename_code("calls an unknown role HANDSHAKE_INVALID", "ROLE_NOT_ALLOWED", "HANDSHAKE_INVALID")
down("sends a Ping after its Goodbye", "Goodbye")(lambda frame, memory: [frame, Frame(type_number("Ping"))])
header("numbers publications anew", lambda frame: setattr(frame, "sequence", frame.sequence + 1), "publication")
header("sends publications without numbers", lambda frame: setattr(frame, "sequence", 0), "publication")
header("sends publications without their session", lambda frame: setattr(frame, "session", 0), "publication")
header("numbers its own messages", lambda frame: setattr(frame, "sequence", 1), *OWN)
header(
    "sends the session id in the wrong byte order",
    lambda frame: setattr(frame, "session", int.from_bytes(frame.session.to_bytes(4, "little"), "big")),
)
header("sets a reserved flag", lambda frame: setattr(frame, "flags", frame.flags | 64), *OWN)
header("forgets FITTED", lambda frame: setattr(frame, "flags", frame.flags & ~(FLAGS["FITTED"] | FLAGS["MORE"])), "publication")
header("forgets MORE", lambda frame: setattr(frame, "flags", frame.flags & ~FLAGS["MORE"]), "publication")
header("sets MORE in the last part, too", lambda frame: setattr(frame, "flags", frame.flags | (frame.flags & 4) << 3), "publication")
header("loses the key of extensions", lambda frame: setattr(frame, "key", 0), "publication")
header("loses the flags of extensions", lambda frame: setattr(frame, "flags", frame.flags & ~25), "publication")
header("sends a key in its own frames", lambda frame: setattr(frame, "key", 5), *OWN)
drop("forwards no extensions", "PublishExtension")
edit("forwards extensions without their content", "PublishExtension", lambda body: body.pop("content", None))
drop("forwards no extensions of endpoints", "VehicleExtension")
edit("does not say which endpoint an extension is of", "VehicleExtension", lambda body: body.pop("endpoint", None))
edit("lists no extensions in Welcome", "Welcome", lambda body: body.pop("extensions", None))
drop("drops types that it does not know", "0x01E2", "0x0180", "0x01E1", "0x01E5")
edit("drops unknown fields", "CurrentRoadName", lambda body: None)


def exit_below_180(body):
    for each in body.get("maneuvers", []):
        if each.get("junction_exit_angle_degrees") == 180:
            each["junction_exit_angle_degrees"] = 179


edit("takes 180 and -180 for two angles", "AddManeuvers", exit_below_180, register=up)
edit("does not forward unknown values", "AddManeuvers", lambda body: [each.pop("type", None) for each in body.get("maneuvers", [])])
header(
    "clears flags that it does not know in frames that it fits",
    lambda frame: setattr(frame, "flags", frame.flags & 63 if frame.flags & FLAGS["FITTED"] else frame.flags),
    "publication",
)
edit(
    "refuses peers of a later version",
    "Hello",
    lambda body: body.update(version_min=body["version_max"]),
    up,
)
up("ignores a Goodbye with a code of a later version", "Goodbye")(
    lambda frame, memory: [frame] if isinstance(decode(frame.name, frame.body)["code"], str) else []
)
edit(
    "takes an unknown reason to cancel for the vehicle's own navigation",
    "CancelNavigation",
    lambda body: isinstance(body.get("reason"), int) and body.update(reason="OWN_NAVIGATION_STARTED"),
    up,
)
edit(
    "promises limits of a later version",
    "Welcome",
    lambda body: "negotiated_limits" in body and body["negotiated_limits"].update(vehicles_per_session_max=65_536, route_segments_max=4096),
)
drop("does not prompt", "Prompt")
without("prompts without a deadline", "Prompt", "deadline_milliseconds")
drop("does not say that a prompt is over", "PromptOver")
edit("ends prompts with ACCEPTED", "PromptOver", lambda body: body.update(outcome="ACCEPTED"))
edit("ends requests with ACCEPTED", "RequestOutcome", lambda body: body.update(outcome="ACCEPTED"))
down("ends a request twice", "RequestOutcome")(lambda frame, memory: [frame, Frame(frame.type, frame.body, session=frame.session)])
drop("does not end requests", "RequestOutcome")
header("sends clients outcomes without the session", lambda frame: setattr(frame, "session", 0), "RequestOutcome")
without("does not say which client accepted", "RequestOutcome", "client_id")
edit("says that a client has decided each request", "RequestOutcome", lambda body: body.update(cause="CLIENT_ANSWERED"))
edit("names an endpoint with each outcome", "RequestOutcome", lambda body: body.update(endpoint="e"))
without("does not name the vehicle in a request", "WaypointRequest", "vehicle_id")
without("does not forward the place of a request", "WaypointRequest", "segment_id")
without("does not name the endpoint of settings", "VehicleSettings", "endpoint")
drop("does not forward settings", "VehicleSettings")
drop("does not forward zooms", "ZoomCluster")
drop("does not forward answers to alerts", "AlertResponse")
drop("does not forward simulated drives", "SimulateDrive")
without("does not name the endpoint of a simulated drive", "SimulateDrive", "endpoint")
header("forwards simulated drives without their session", lambda frame: setattr(frame, "session", 0), "SimulateDrive")
drop("does not forward route sources", "UpdateRouteSource")
twice("forwards a route source twice", "UpdateRouteSource")
drop("does not forward selections of previews", "SelectPreview")
without("does not name the endpoint of a selection", "SelectPreview", "endpoint")
without("does not forward the selected route choice", "SelectPreview", "route_choice_id")
drop("does not ask to start trips", "StartTripRequest")
without("does not name the vehicle in a request to start a trip", "StartTripRequest", "vehicle_id")
without("does not forward the route choice of a start", "StartTripRequest", "route_choice_id")
without("does not say that previews follow", "RequestOutcome", "preview_follows")
edit(
    "takes each acceptance for one with previews",
    "RequestOutcome",
    lambda body: body["outcome"] == "ACCEPTED" and body.update(preview_follows=True),
)
edit(
    "takes an acceptance with previews for one without",
    "RequestAnswer",
    lambda body: body["answer"] == "ACCEPT_WITH_PREVIEW" and body.update(answer="ACCEPT"),
    up,
)
edit("names the field of an unknown trip wrongly", "Error", lambda body: body.get("field") == "trip_id" and body.update(field="trips"))
drop("does not forward feedback on the route", "UpdateRouteFeedback")
twice("forwards feedback on the route twice", "UpdateRouteFeedback")
without("does not forward the stops of feedback on the route", "UpdateRouteFeedback", "stops")
drop("does not forward that a destination is wanted", "DestinationShareWanted")
without("does not name the trip whose destination is wanted", "DestinationShareWanted", "trip_id")
without("does not forward the trip of a shared destination", "ShareDestination", "trip_id")
drop("does not tell of changes of vehicles", "VehicleChanged")
edit("says that vehicles are always joined", "VehicleChanged", lambda body: body["vehicle"].update(standing="JOINED"))
edit("does not list endpoints", "VehicleChanged", lambda body: body["vehicle"].pop("endpoints", None))
without("opens sessions without vehicles", "SessionOpened", "vehicles")
edit("names another session than it opened", "SessionOpened", lambda body: body.update(session_id=body["session_id"] ^ 1))
edit("does not say that a share is on its way", "DestinationShareStatus", lambda body: body.update(stage="DID_SHARE"))
without("does not say why a share failed", "DestinationShareStatus", "outcome")
drop("sends no reports of receipts", "ReceiptReport")
without("answers a Ping that has a time without its own", "Pong", "received_nanoseconds", "sent_nanoseconds")
without("asks for no times", "Ping", "sent_nanoseconds")
edit("reports no delays", "ReceiptReport", lambda body: [each.pop("shown_delay_microseconds", None) for each in body["endpoints"]])
without("reports receipts without numbers", "ReceiptReport", "endpoints")
twice("forwards publications twice", "publication")
drop("drops the maneuver state", "UpdateManeuverState")
drop("drops the end of alerts", "DismissAlert")
edit(
    "shortens texts to one variant",
    "CurrentRoadName",
    lambda body: body.update(name_variants=[*body.get("name_variants", [])[:1], "x"]),
)
edit(
    "shows distances without their unit",
    "UpdateTripEstimates",
    lambda body: body["travel_estimates"].get("distance_remaining_to_display", {}).update(unit="METERS"),
)
edit(
    "rounds displayed distances otherwise",
    "UpdateTripEstimates",
    lambda body: body["travel_estimates"].get("distance_remaining_to_display", {}).update(value_tenths=10),
)


def spans(body):
    """The speed limits of all segments of a StartGuidance."""
    return [span for segment in body["route"].get("segments", []) for span in segment.get("speed_limits", [])]


edit(
    "keeps the indexes of speed limits when it thins a line",
    "StartGuidance",
    lambda body: [span.update(first_point=2 * span["first_point"]) for span in spans(body) if span.get("first_point")],
)
edit(
    "converts speed limits to the endpoint's units",
    "UpdateSpeedLimit",
    lambda body: body["limit"].get("value") and body["limit"].update(value=body["limit"]["value"] * 5 // 8, unit="MILES_PER_HOUR"),
)
edit("sends no next speed limit", "UpdateSpeedLimit", lambda body: body.pop("next", None))
edit(
    "loses the last point of lines",
    "StartGuidance",
    lambda body: [each["coordinates"]["latitude_e6_deltas"].pop() for each in body["route"].get("segments", []) if "coordinates" in each],
)
edit(
    "leaves exit labels in",
    "StartGuidance",
    lambda body: [each.update(highway_exit_label="1") for each in body["route"].get("maneuvers", [])],
)
edit(
    "sends the first maneuver of a route only",
    "StartGuidance",
    lambda body: body["route"].update(maneuvers=body["route"].get("maneuvers", [])[:1]),
)


@down("sends states before events", "publication")
def reorder(frame, memory):
    """Swaps each event with the state that follows it."""
    held = memory.pop("held", None)
    if held is not None:
        return [frame, held]
    if frame.name in ("StartGuidance", "AddManeuvers", "0x01E2", "PauseGuidance"):
        memory["held"] = frame
        return []
    return [frame]


@down("sends content of a session after its end", "SessionEnded")
def late(frame, memory):
    session = decode(frame.name, frame.body).get("session_id", 0)
    return [frame, Frame(type_number("CurrentRoadName"), b"\x0a\x01A", session=session, sequence=1)] if session else [frame]


@down("forwards only the settings that have changed", "VehicleSettings")
def partial(frame, memory):
    """Leaves out what the client was told before."""
    told = decode(frame.name, frame.body)
    path = told["vehicle_id"], told["endpoint"]
    known, memory[path] = memory.get(path, {}), told
    names = ("compass", "speed_limit", "content_style", "limited_user_interfaces", "ready_to_show")
    return edited(frame, lambda body: [body.pop(each, None) for each in names if each in known and known[each] == told.get(each)])


@down("does not tell a peer's Goodbye", "ObservedRecords", "ObservedEvent", "ObservedFrames")
def untold(frame, memory):
    """Leaves each Goodbye out of what an observer is told, and numbers the rest without it."""
    if "574d01000003" in decode(frame.name, frame.body).get("frames", ""):
        memory["untold"] = memory.get("untold", 0) + 1
        return []
    return edited(frame, lambda body: body.get("number") and body.update(number=body["number"] - memory.get("untold", 0)))


@down("sends a frame before the Welcome", "Welcome")
def early(frame, memory):
    return [Frame(type_number("Ping"), b"\x08\x01"), frame]


# What peers send, changed: the gateway behind the proxy then does something else than the peer said.

edit(
    "sends content that was not requested",
    "Hello",
    lambda body: "vehicle" in body and body["vehicle"].update(features=list(range(1, 13))),
    up,
)
edit("ignores limits", "Hello", lambda body: "vehicle" in body and body["vehicle"].pop("limits", None), up)
edit("ignores distance units", "Hello", lambda body: "vehicle" in body and body["vehicle"].pop("preferences", None), up)
without("ignores cursors", "Hello", "resume_sequence", register=up)
without("ignores tokens", "Hello", "resumption_token", register=up)
without("ignores keepalive intervals", "Hello", "keepalive_milliseconds", register=up)
without("ignores keys of listeners", "Hello", "credential", register=up)
without("does not report ignored frames", "Hello", "report_ignored", register=up)
edit("does not report ignored frames to observers", "Hello", lambda body: "observer" in body and body.pop("report_ignored", None), up)
edit("ignores priorities", "Hello", lambda body: "navigation" in body and body["navigation"].pop("priority", None), up)
edit("ignores that guidance is wanted", "Hello", lambda body: "vehicle" in body and body["vehicle"].pop("guidance_wanted", None), up)
header("accepts reserved flags", lambda frame: setattr(frame, "flags", frame.flags & ~38), "publication", register=up)
edit(
    "sends speed limits to endpoints that show none",
    "VehicleSettings",
    lambda body: body.get("speed_limit") == "DISABLED" and body.update(speed_limit="USER_PREFERENCE"),
    up,
)
drop("ignores withdrawals", "WithdrawRequest", register=up)
edit("inverts answers to prompts", "PromptAnswer", lambda body: body.update(accepted=not body.get("accepted", False)), up)
edit("ends guidance for another reason", "CancelNavigation", lambda body: body.update(reason="OWN_NAVIGATION_STARTED"), up)
drop("ignores AllowNavigation", "AllowNavigation", register=up)
edit("declines requests for another reason", "RequestAnswer", lambda body: body.get("reason") and body.update(reason="INVALID"), up)
drop("does not read receipts", "Receipt", register=up)
header(
    "takes messages of other sessions for those of the current",
    lambda frame: setattr(frame, "session", 0),
    "WaypointRequest",
    "CancelNavigation",
    "ZoomCluster",
    register=up,
)
drop("ignores a peer's Goodbye", "Goodbye", register=up)
up("takes only whole frames for a sign of life")(lambda frame, memory: [frame])


@up("numbers publications by itself", "publication")
def renumber(frame, memory):
    frame.sequence = memory[frame.session] = memory.get(frame.session, 0) + 1
    return [frame]


@down("repeats no selection to a client that resumes", "Welcome", "SelectPreview")
def forget_selection(frame, memory):
    if frame.name == "Welcome":
        memory["resumed"] = decode(frame.name, frame.body).get("resumed", False)
        return [frame]
    return [] if memory.get("resumed") else [frame]


@up("treats each request as a new one", "WaypointRequest")
def rename(frame, memory):
    memory["count"] = memory.get("count", 0) + 1
    return edited(frame, lambda body: body.update(request_id=body["request_id"] + "x" * (memory["count"] - 1)))


# Memory of the tokens that peers got. A peer is known by its role and ids.


def peer_of(hello):
    """The role and the ids of a Hello."""
    part = hello.get("vehicle") or hello.get("navigation") or hello.get("observer") or {}
    return hello["role"], *(part.get(key, "") for key in ("vehicle_id", "endpoint", "client_id", "observer_id"))


def tokens_of(memory, peer):
    """The tokens that a peer got, the newest last."""
    return memory["gateway"].setdefault("tokens", {}).setdefault(peer, [])


def note_token(frame, memory):
    """Keeps the token of a Welcome, and whether it was followed by a frame."""
    peer = memory["connection"].get("peer")
    tokens_of(memory, peer).append(decode(frame.name, frame.body)["resumption_token"])
    memory["gateway"].setdefault("heard", set()).discard(peer)
    return [frame]


def with_newest_token(name, is_kept):
    """Registers a gateway that takes an older token like the newest, as long as `is_kept` says so."""

    def hello(frame, memory):
        if frame.name != "Hello":
            memory["gateway"].setdefault("heard", set()).add(memory["connection"].get("peer"))
            return [frame]
        body = decode(frame.name, frame.body)
        peer = memory["connection"]["peer"] = peer_of(body)
        tokens = tokens_of(memory, peer)
        if body.get("resumption_token") not in tokens[:-1] or not is_kept(memory, peer):
            return [frame]
        return edited(frame, lambda body: body.update(resumption_token=tokens[-1]))

    up(name)(hello)
    down(name, "Welcome")(note_token)


with_newest_token("keeps the older token for ever", lambda memory, peer: True)
with_newest_token("lets a late Hello take over", lambda memory, peer: peer not in memory["gateway"].get("heard", ()))


@up("burns the token of a lost Welcome", "Hello")
def burn(frame, memory):
    """Removes a token that a Hello had before."""
    used = memory["gateway"].setdefault("used", set())
    token = decode(frame.name, frame.body).get("resumption_token", "")
    if token in used:
        return edited(frame, lambda body: body.pop("resumption_token"))
    used.add(token)
    return [frame]


@down("forgets ended sessions with the Welcome that lists them", "Welcome")
def forget_ended(frame, memory):
    told = memory["gateway"].setdefault("ended", set())

    def change(body):
        ended = {each["session_id"] for each in body.get("sessions", []) if each["phase"] == "ENDED"}
        body["sessions"] = [each for each in body.get("sessions", []) if each["session_id"] not in ended & told]
        told.update(ended)

    return edited(frame, change)


@up("sends what was missed from 0", "Hello")
def note_cursor(frame, memory):
    body = decode(frame.name, frame.body)
    memory["connection"]["is at 0"] = "resume_session_id" in body and "resume_sequence" not in body
    return [frame]


@down("sends what was missed from 0", "SnapshotBegin")
def missed_from_0(frame, memory):
    """Resumes an endpoint that names a session and the cursor 0."""
    return edited(frame, lambda body: body.update(kind="MISSED")) if memory["connection"].pop("is at 0", False) else [frame]


class Proxy:
    """Connections to a gateway through a mutation; without a name frames pass as they are."""

    def __init__(self, name):
        same = ((), lambda frame, memory: [frame])
        self.down, self.up = DOWN.get(name, None if name else same), UP.get(name, None if name else same)
        self.servers, self.memory = {}, {}

    async def route(self, port):
        """The address of the proxy before a port."""
        if port not in self.servers:

            async def serve(reader, writer):
                await self.serve(port, reader, writer)

            self.servers[port] = await asyncio.start_server(serve, "127.0.0.1", 0, limit=65_536)
        return self.servers[port].sockets[0].getsockname()

    async def serve(self, port, reader, writer):
        # Small, so that what a peer does not read waits at the gateway.
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        plug = socket.socket()
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        plug.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(plug, ("127.0.0.1", port))
        except OSError:
            writer.close()
            plug.close()
            return
        gateway_reader, gateway_writer = await asyncio.open_connection(sock=plug, limit=16_384)
        connection: dict[str, Any] = {}
        await asyncio.gather(
            self.pump(reader, gateway_writer, self.up, connection),
            self.pump(gateway_reader, writer, self.down, connection),
            return_exceptions=True,
        )

    async def pump(self, reader, writer, mutation, connection):
        cutter = Reader()
        memory: dict[str, Any] = {"connection": connection, "gateway": self.memory}
        with contextlib.suppress(ConnectionError, OSError):
            while news := await reader.read(65_536):
                if not mutation:
                    writer.write(news)
                    await writer.drain()
                    continue
                for frame in cutter.feed(news):
                    await self.pass_on(frame, mutation, memory, writer)
                if cutter.fault:
                    writer.write(cutter.data)
                    cutter.data = b""
                await writer.drain()
        writer.close()

    @staticmethod
    async def pass_on(frame, mutation, memory, writer):
        types, function = mutation
        frames = [frame]
        if not types or frame.name in types or ("publication" in types and frame.is_publication):
            with contextlib.suppress(Malformed, KeyError, IndexError):
                frames = function(frame, memory)
        for each in frames:
            if isinstance(each, float):
                await asyncio.sleep(each)
            else:
                writer.write(each.pack())

    def end(self):
        for server in self.servers.values():
            server.close()
