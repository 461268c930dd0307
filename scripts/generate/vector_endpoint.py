"""What a vehicle endpoint holds, by Docs/protocol.md. For vector_conversations.py."""

from typing import ClassVar

FULL = 1
MORE = 32
PUBLISHED = range(0x0100, 0x0200)


class Endpoint:
    """The state of an endpoint that has received some frames."""

    def __init__(self, limits):
        self.limits = limits
        self.forget()

    def forget(self):
        """Without a session (REQ-VIEW-02, REQ-VIEW-11)."""
        self.session, self.cursor, self.snapshot, self.snapshot_end = 0, 0, None, 0
        self.is_complete, self.fields = True, {}

    # What is kept when a route or guidance begins anew.
    SESSION: ClassVar = {"phase", "client_id", "suspended", "withheld"}
    ROUTE: ClassVar = {
        "generation",
        "maneuvers",
        "lane_guidances",
        "segments",
        "upcoming_maneuver_ids",
        "current_lane_guidance_id",
        "current_segment_id",
        "maneuver_state",
        "trip_travel_estimates",
        "time_remaining_color",
        "maneuver_travel_estimates",
        "speed_limit",
        "next_speed_limit",
    }
    # Values that say something even if they are empty.
    MEANINGFUL: ClassVar = {"trip_travel_estimates", "speed_limit"}

    def state(self):
        """As Protos/vectors/README.md defines it."""
        if self.session == 0:
            return {"phase": "none"}
        state = {"session_id": self.session, "cursor": str(self.cursor), "complete": self.is_complete and self.snapshot != FULL}
        empty = ([], {}, 0, "", False, None)
        return state | {key: value for key, value in self.fields.items() if value not in empty or (key in self.MEANINGFUL and value == {})}

    def resumption(self):
        """The session and the cursor of its next Hello (REQ-RESUME-04)."""
        return (0, 0) if self.session == 0 or self.snapshot == FULL else (self.session, self.cursor)

    def welcome(self, resumed):
        if not resumed:
            self.forget()

    def receive(self, name, message, flags=0, session=0, sequence=0, is_publication=False):
        """Applies a frame; the name is None if its type is not known."""
        if is_publication:
            if session != self.session or session == 0:
                return
            if self.snapshot != FULL:
                self.cursor = sequence
            self.is_complete = not flags & MORE
        handler = getattr(self, f"on_{name}", None)
        if handler is not None:
            handler(message, session)

    # Snapshots and the end

    def on_SnapshotBegin(self, message, session):
        if message["kind"] == FULL:
            self.forget()
            self.fields["phase"] = "preview"
        self.session, self.snapshot = session, message["kind"]
        self.snapshot_end = int(message.get("to_sequence", 0))
        self.fields |= {
            "client_id": message["client_id"],
            "suspended": message.get("suspended", False),
            "withheld": message.get("withheld", []),
        }

    def on_SnapshotEnd(self, _, session):
        if self.snapshot is not None and session == self.session:
            self.cursor, self.snapshot, self.is_complete = self.snapshot_end, None, True

    def on_SessionSuspended(self, _, session):
        self.fields["suspended"] = True

    def on_SessionRestored(self, _, session):
        self.fields["suspended"] = False

    def on_SessionEnded(self, message, _):
        if message.get("session_id", 0) in (0, self.session):
            self.forget()

    def on_FinishGuidance(self, _, session):
        self.forget()

    on_CancelGuidance = on_FinishGuidance

    def on_PublishExtension(self, message, _):
        """A state takes the place of the one with its key; one that is not retained only removes it (REQ-EXT-16)."""
        if message["state"] is None:
            return
        held = [each for each in self.fields.get("extensions", []) if each["key"] != message["state"]]
        if message["retained"]:
            held.append({"name": message["name"], "key": message["state"], "content": message.get("content", "")})
        self.fields["extensions"] = sorted(held, key=lambda each: (each["name"], each["key"]))

    # Guidance

    def keep(self, keys):
        self.fields = {key: value for key, value in self.fields.items() if key in keys}

    def on_StartGuidance(self, message, _):
        self.keep(self.SESSION)
        self.fields |= {"phase": "active", "trip": message["trip"]}
        self.begin(message.get("generation", 0), message["route"])

    def on_ResumeGuidance(self, message, _):
        self.fields["phase"] = "active"
        self.fields.pop("pause", None)
        if "route" in message:
            self.keep(set(self.fields) - self.ROUTE)
            self.begin(message.get("generation", 0), message["route"])

    def begin(self, generation, route):
        """A new route (REQ-GEN-03, REQ-ROUTE-06, REQ-ROUTE-07, REQ-ROUTE-10)."""
        segments = route.get("segments", [])
        self.fields |= {
            "generation": generation,
            **{key: route.get(key, []) for key in ("maneuvers", "lane_guidances", "segments", "upcoming_maneuver_ids")},
            "current_lane_guidance_id": route.get("current_lane_guidance_id", 0),
            "current_segment_id": route.get("current_segment_id", segments[0]["id"] if segments else ""),
            "trip_travel_estimates": route.get("trip_travel_estimates"),
            "maneuver_travel_estimates": {},
        }
        if "maneuver_travel_estimates" in route and route.get("upcoming_maneuver_ids"):
            self.fields["maneuver_travel_estimates"] = {str(route["upcoming_maneuver_ids"][0]): route["maneuver_travel_estimates"]}

    def on_PauseGuidance(self, message, _):
        self.fields |= {"phase": "paused", "pause": message, "maneuver_state": 0}

    # Elements of the route

    def add(self, key, added, limit):
        """The ring rule (REQ-SLOT-01)."""
        ids = [each["id"] for each in added]
        held = [each for each in self.fields.get(key, []) if each["id"] not in ids] + added
        self.fields[key] = held[-limit:] if limit else held
        return [each["id"] for each in self.fields[key]]

    def on_AddManeuvers(self, message, _):
        held = self.add("maneuvers", message.get("maneuvers", []), self.limits.get("maneuvers_stored_max", 0))
        self.fields["upcoming_maneuver_ids"] = [each for each in self.fields.get("upcoming_maneuver_ids", []) if each in held]
        estimates = self.fields.get("maneuver_travel_estimates", {})
        self.fields["maneuver_travel_estimates"] = {key: value for key, value in estimates.items() if int(key) in held}

    def on_AddLaneGuidances(self, message, _):
        held = self.add("lane_guidances", message.get("lane_guidances", []), self.limits.get("lane_guidances_stored_max", 0))
        if self.fields.get("current_lane_guidance_id", 0) not in held:
            self.fields["current_lane_guidance_id"] = 0

    def on_AddRouteSegments(self, message, _):
        self.add("segments", message.get("segments", []), 0)

    # States

    def on_TripPreviews(self, message, _):
        self.fields["trips"] = message.get("trips", [])
        self.fields["selected_trip_id"] = message.get("selected_trip_id", "")

    def on_UpdateTrip(self, message, _):
        self.fields["trip"] = message["trip"]

    def on_UpcomingManeuvers(self, message, _):
        self.fields["upcoming_maneuver_ids"] = message.get("maneuver_ids", [])

    def on_CurrentLaneGuidance(self, message, _):
        self.fields["current_lane_guidance_id"] = message.get("lane_guidance_id", 0)

    def on_CurrentRoadName(self, message, _):
        self.fields["name_variants"] = message.get("name_variants", [])

    def on_UpdateManeuverState(self, message, _):
        self.fields["maneuver_state"] = message.get("state", 0)

    def on_UpdateTripEstimates(self, message, _):
        self.fields["trip_travel_estimates"] = message["travel_estimates"]
        self.fields["time_remaining_color"] = message.get("time_remaining_color", 0)

    def on_UpdateManeuverEstimates(self, message, _):
        estimates = self.fields.setdefault("maneuver_travel_estimates", {})
        self.fields["maneuver_travel_estimates"] = {**estimates, str(message["maneuver_id"]): message["travel_estimates"]}

    def on_UpdateSpeedLimit(self, message, _):
        self.fields |= {"speed_limit": message["limit"], "next_speed_limit": message.get("next")}

    def on_CurrentRouteSegment(self, message, _):
        self.fields["current_segment_id"] = message["segment_id"]

    def on_ShowAlert(self, message, _):
        self.fields["alert"] = message["alert"]

    def on_DismissAlert(self, _, __):
        self.fields["alert"] = None
