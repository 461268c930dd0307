"""A drive through Heidelberg, as the inspector's server would tell it at a time."""

import json
import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).with_name("fixtures")
BEGIN = datetime(2026, 11, 23, 17, 0, tzinfo=UTC)
SPEED = 18.0
"""Metres a second."""


def fixture(name: str) -> Any:
    return json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))


def instant(at: float) -> str:
    return (BEGIN + timedelta(seconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def meters(one: list[float], other: list[float]) -> float:
    x = math.radians(other[1] - one[1]) * math.cos(math.radians((one[0] + other[0]) / 2))
    return math.hypot(x, math.radians(other[0] - one[0])) * 6_371_009


class Drive:
    """The published side, the side that the endpoint `cluster` holds, and what is derived from them."""

    def __init__(self) -> None:
        self.route = fixture("heidelberg")
        self.segment = self.route["segments"][0]
        self.line = self.segment["coordinates"]
        self.places = [maneuver.pop("at") for maneuver in self.route["maneuvers"]]
        self.total = self.route["tripTravelEstimates"]["distanceMeters"]
        starts, gone = [], 0
        for maneuver in self.route["maneuvers"]:
            gone += maneuver.get("initialTravelEstimates", {}).get("distanceMeters", 0)
            starts.append(gone)
        self.starts = starts

    def traveled(self, at: float) -> float:
        return min(self.total, 350 + at * SPEED)

    def point(self, along: float) -> list[float]:
        length = sum(meters(a, b) for a, b in pairwise(self.line))
        rest = length * along / self.total
        for a, b in pairwise(self.line):
            step = meters(a, b)
            if rest <= step:
                share = rest / step if step else 0
                return [round(a[axis] + (b[axis] - a[axis]) * share, 6) for axis in (0, 1)]
            rest -= step
        return self.line[-1]

    def state(self, at: float) -> dict[str, Any]:
        gone = self.traveled(at)
        ids = [maneuver["id"] for maneuver, start in zip(self.route["maneuvers"], self.starts, strict=True) if start > gone - 20]
        ids = ids or [self.route["maneuvers"][-1]["id"]]
        following = next(m for m in self.route["maneuvers"] if m["id"] == ids[0])
        left = max(0, int(self.starts[ids[0] - 1] - gone))
        nearness = "execute" if left < 40 else "prepare" if left < 300 else "initial" if left < 900 else "continue"
        lanes = following.get("linkedLaneGuidance") if left < 600 else None
        road = next(
            (
                m["roadFollowingManeuverVariants"]
                for m in reversed(self.route["maneuvers"][: ids[0] - 1])
                if "roadFollowingManeuverVariants" in m
            ),
            ["Sofienstraße"],
        )
        state = {
            "session": 7,
            "client": "demo-nav",
            "suspended": False,
            "phase": "active",
            "generation": 2,
            "withheld": {},
            "previews": [],
            "trip": {
                "id": "t1",
                "origin": self.segment["origin"],
                "destination": self.segment["destination"],
                "waypoints": [
                    {
                        "center": [49.3887, 8.6613],
                        "nameVariants": ["Charging station Eppelheimer Straße"],
                        "stopKind": "charging",
                        "thresholdMeters": 60,
                        "charge": {"arrivalBatteryPerMille": 120, "departureBatteryPerMille": 800},
                    }
                ],
                "isDestinationShareable": True,
                "routeSegmentsAvailable": True,
            },
            "maneuvers": self.route["maneuvers"],
            "upcomingManeuvers": ids,
            "maneuverState": nearness,
            "laneGuidances": self.route["laneGuidances"],
            "segments": [{**{k: v for k, v in self.segment.items() if k != "coordinates"}, "points": len(self.line)}],
            "currentSegment": self.segment["id"],
            "currentRoadName": road,
            "tripEstimates": {
                "distanceMeters": int(self.total - gone),
                "timeSeconds": int((self.total - gone) / SPEED * 1.3),
                "displayTenths": round((self.total - gone) / 100),
                "displayUnit": "kilometers",
            },
            "timeRemainingColor": "default",
            "maneuverEstimates": [
                {
                    "maneuver": ids[0],
                    "distanceMeters": left,
                    "timeSeconds": int(left / SPEED),
                    **(
                        {"displayTenths": round(left / 100), "displayUnit": "kilometers"}
                        if left > 999
                        else {"displayTenths": round(left, -1) * 10, "displayUnit": "meters"}
                    ),
                }
            ],
        }
        if lanes:
            state["currentLaneGuidance"] = lanes
        return state

    def why(self, state: dict[str, Any], slots: int) -> list[dict[str, Any]]:
        rows = [
            {
                "side": "held",
                "path": "segments",
                "reason": "withheld",
                "feature": "routeSegments",
                "code": "noConsent",
                "text": "the user has not agreed to share the route",
                "next": "The vehicle's owner allows it in the settings of waymarkd: share-route.",
            },
            {"side": "published", "path": "alert", "reason": "notPublished", "text": "the client shows no alert"},
            {
                "side": "published",
                "path": "trip/destination/entryPoints",
                "reason": "notPublished",
                "text": "the client knows no more entry points",
            },
        ]
        for identity in state["upcomingManeuvers"][slots:]:
            rows.append(
                {
                    "side": "held",
                    "path": f"maneuvers/{identity}",
                    "reason": "slots",
                    "limit": "maneuversStored",
                    "value": slots,
                    "text": f"the endpoint stores {slots} maneuvers; this one comes later",
                    "next": "It is sent when the vehicle is nearer.",
                }
            )
        if "currentLaneGuidance" not in state:
            rows.append(
                {"side": "published", "path": "currentLaneGuidance", "reason": "notPublished", "text": "the client shows no lanes here"}
            )
        rows.append(
            {
                "side": "held",
                "path": f"maneuvers/{state['upcomingManeuvers'][0]}/instructionVariants",
                "reason": "fitted",
                "limit": "maneuverInstruction",
                "value": 40,
                "text": "1 of 2 variants fits into 40 bytes",
            }
        )
        return rows

    def vehicle(self, at: float, endpoint: str = "cluster", without: tuple[str, ...] = (), slots: int = 4) -> dict[str, Any]:
        published = self.state(at)
        held = json.loads(json.dumps(published))
        held["withheld"] = {"routeSegments": "noConsent"}
        held["segments"] = []
        held.pop("currentSegment")
        held["upcomingManeuvers"] = held["upcomingManeuvers"][:slots]
        held["maneuvers"] = [m for m in held["maneuvers"] if m["id"] in held["upcomingManeuvers"]]
        why = self.why(published, slots)
        if endpoint == "hud" or "laneGuidance" in without:
            held["laneGuidances"] = []
            held.pop("currentLaneGuidance", None)
            why.insert(
                0,
                {
                    "side": "held",
                    "path": "laneGuidances",
                    "reason": "withheld",
                    "feature": "laneGuidance",
                    "code": "notRequested",
                    "text": "the endpoint did not ask for lanes",
                    "next": "Let its Hello ask for laneGuidance.",
                },
            )
        following = held["maneuvers"][0]
        estimate = held["maneuverEstimates"][0]
        answer = fixture("vehicle")
        cluster = {**answer["vehicle"]["endpoints"][0], "received": 810 + int(at), "shown": 809 + int(at)}
        hud = {
            "endpoint": "hud",
            "connected": True,
            "since": instant(1),
            "ready": True,
            "features": ["maneuvers"],
            "withheld": {"laneGuidance": "notRequested", "routeSegments": "noConsent"},
            "received": 770 + int(at),
            "shown": 768 + int(at),
            "waitingBytes": 18230,
            "conflated": 41,
            "standing": ["slow"],
        }
        answer["vehicle"]["endpoints"] = [cluster, hud]
        gone = self.traveled(at)
        answer.update(
            at=at,
            time=instant(at),
            now=instant(at),
            number=1290 + int(at * 10),
            routeKey="7-2-5",
            published=published,
            held=held,
            why=why,
            heldBy={**answer["heldBy"], "endpoint": endpoint, "received": 810 + int(at), "published": 811 + int(at)},
            card={
                "maneuver": following["id"],
                "chosenVariant": following["instructionVariants"][-1],
                "road": following.get("roadFollowingManeuverVariants", [""])[0] or None,
                "distanceMeters": estimate["distanceMeters"],
                "maneuverState": held["maneuverState"],
            },
            arrival={
                "time": instant(at + held["tripEstimates"]["timeSeconds"]),
                "utcOffsetMinutes": 60,
                "derived": True,
                "basis": "time left, from when it was published",
            },
            position={
                "coordinate": self.point(gone),
                "segment": self.segment["id"],
                "derived": True,
                "basis": "the point of the line at length minus distance left",
                "lengthMeters": self.total,
                "distanceLeftMeters": self.total - gone,
            },
        )
        answer["session"]["sequence"] = 811 + int(at)
        if answer["card"]["road"] is None:
            del answer["card"]["road"]
        return answer

    def tables(self, at: float) -> dict[str, Any]:
        answer = fixture("tables")
        vehicle = self.vehicle(at)
        upcoming = vehicle["published"]["upcomingManeuvers"]
        held = {m["id"]: m for m in vehicle["held"]["maneuvers"]}
        rows = []
        for order, (maneuver, place) in enumerate(zip(self.route["maneuvers"], self.places, strict=True), 1):
            identity = maneuver["id"]
            row = {
                "order": order,
                "id": identity,
                "state": "current" if identity == upcoming[0] else "upcoming" if identity in upcoming else "past",
                "addedBy": 12,
                "published": maneuver,
                "segment": "leg-1",
                "at": place,
                "why": [],
                "chosenVariant": 0,
                "distanceFromPreviousMeters": maneuver.get("initialTravelEstimates", {}).get("distanceMeters", 0),
                "derived": ["distanceFromPreviousMeters"],
            }
            if identity in held:
                row["held"] = held[identity]
                row["why"] = [
                    {**one, "path": one["path"].split("/", 2)[2]}
                    for one in vehicle["why"]
                    if one["path"].startswith(f"maneuvers/{identity}/")
                ]
            else:
                row["why"] = [{**one, "path": ""} for one in vehicle["why"] if one["path"] == f"maneuvers/{identity}"] or [
                    {
                        "side": "held",
                        "path": "",
                        "reason": "slots",
                        "limit": "maneuversStored",
                        "value": 4,
                        "text": "the endpoint stores 4 maneuvers; this one is past",
                    }
                ]
            rows.append(row)
        links = {m.get("linkedLaneGuidance"): m["id"] for m in self.route["maneuvers"]}
        current = vehicle["published"].get("currentLaneGuidance")
        answer.update(
            at=at,
            time=instant(at),
            maneuvers=rows,
            stops=vehicle["published"]["trip"]["waypoints"],
            laneGuidances=[
                {
                    "order": order,
                    "id": one["id"],
                    "current": one["id"] == current,
                    "linkedFrom": [links[one["id"]]] if one["id"] in links else [],
                    "addedBy": 12,
                    "published": one,
                    "held": one,
                    "why": [],
                }
                for order, one in enumerate(self.route["laneGuidances"], 1)
            ],
        )
        answer["segments"] = [
            {
                **{k: v for k, v in self.segment.items() if k != "coordinates"},
                "order": 1,
                "current": True,
                "points": {"published": len(self.line)},
                "lengthMeters": self.total,
                "derived": ["lengthMeters"],
                "why": [
                    {
                        "side": "held",
                        "path": "",
                        "reason": "withheld",
                        "feature": "routeSegments",
                        "code": "noConsent",
                        "text": "the user has not agreed to share the route",
                    }
                ],
            }
        ]
        return answer

    def destinations(self, at: float) -> dict[str, Any]:
        answer = fixture("destinations")
        answer.update(at=at, time=instant(at))
        answer["destinations"][0]["destination"] = self.segment["destination"]
        return answer

    def map(self, at: float) -> dict[str, Any]:
        destination = self.segment["destination"]
        stop = self.state(at)["trip"]["waypoints"][0]
        return {
            "source": "live",
            "at": at,
            "routeKey": "7-2-5",
            "segments": [
                {
                    "id": "leg-1",
                    "current": True,
                    "published": {"coordinates": self.line},
                    "why": [
                        {
                            "side": "held",
                            "path": "coordinates",
                            "reason": "withheld",
                            "feature": "routeSegments",
                            "code": "noConsent",
                            "text": "the user has not agreed to share the route",
                        }
                    ],
                }
            ],
            "maneuvers": [
                {"id": m["id"], "coordinate": place, "segment": "leg-1", "derived": True}
                for m, place in zip(self.route["maneuvers"], self.places, strict=True)
            ],
            "places": [{"role": "origin", **self.segment["origin"]}, {"role": "stop", **stop}, {"role": "destination", **destination}],
            "position": {"coordinate": self.point(self.traveled(at)), "segment": "leg-1", "derived": True},
        }

    def update_rows(self, at: float, count: int = 24) -> list[dict[str, Any]]:
        messages = ["updateManeuverEstimates", "updateTripEstimates", "updateManeuverState", "currentRoadName", "currentLaneGuidance"]
        rows = []
        for index in range(count):
            moment = max(0.0, at - index)
            state = self.state(moment)
            estimate, trip = state["maneuverEstimates"][0], state["tripEstimates"]
            rows.append(
                {
                    "entry": f"e-{1290 - index}",
                    "number": 1290 - index,
                    "at": moment,
                    "time": instant(moment),
                    "message": messages[index % 5],
                    "sequence": 812 - index,
                    "session": 7,
                    "client": "demo-nav",
                    "bytes": 38 + index % 5,
                    "phase": "active",
                    "generation": 2,
                    "maneuverState": state["maneuverState"],
                    "currentRoadName": state["currentRoadName"][0],
                    "destination": "Leisberg 3",
                    "arrival": instant(moment + trip["timeSeconds"]),
                    "timeLeftSeconds": trip["timeSeconds"],
                    "distanceLeftMeters": trip["distanceMeters"],
                    "distanceLeftShown": {"tenths": trip["displayTenths"], "unit": "kilometers"},
                    "toManeuverMeters": estimate["distanceMeters"],
                    "toManeuverShown": {"tenths": estimate["displayTenths"], "unit": estimate["displayUnit"]},
                    "upcoming": state["upcomingManeuvers"][:6],
                    "maneuverCount": 11,
                    "laneGuidance": state.get("currentLaneGuidance", 0),
                    "laneGuidanceCount": 4,
                    "arrivalBatteryPerMille": 310,
                    "utcOffsetMinutes": 60,
                    "fittedFor": ["car/cluster"] if index % 5 == 0 else [],
                    "rejected": index == 9,
                    "changed": [
                        ["toManeuverMeters", "toManeuverShown"],
                        ["distanceLeftMeters", "timeLeftSeconds"],
                        ["maneuverState"],
                        ["currentRoadName"],
                        ["laneGuidance"],
                    ][index % 5],
                    "derived": ["arrival", "fittedFor"],
                }
            )
        return rows
