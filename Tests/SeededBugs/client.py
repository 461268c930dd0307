#!/usr/bin/env python3
"""client.py ADDRESS VEHICLE [--bug NAME] [--route NAME] [--seconds N]: a small navigation client on `waymark_nav`, not the rig's.

Without a bug it guides as the protocol says. A bug is a class below `Drive` that overrides one thing; it drives the route that it was
written for, or another one. `--list` prints the bugs. scripts/check/seeded_bugs.py runs them all and counts which are found.
"""

import argparse
import asyncio
import contextlib
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Sources/python"))

from waymark_nav import Client, RefusedError, Session, messages as m

TURNS = {
    "left": (m.ManeuverType.LEFT_TURN, -90),
    "right": (m.ManeuverType.RIGHT_TURN, 90),
    "arrive": (m.ManeuverType.ARRIVE_AT_DESTINATION, 0),
}
STEPS_PER_SECOND = 1


@dataclass(frozen=True)
class Road:
    """A road, and how it ends."""

    name: str
    meters: int
    end: str
    has_lanes: bool = False


@dataclass(frozen=True)
class Route:
    roads: tuple[Road, ...]
    speed: float
    """In metres per second."""

    @property
    def ends(self) -> list[int]:
        """Where each road ends, in metres from the start."""
        return list(accumulate(road.meters for road in self.roads))


def roads(*of: tuple[str, int, str, bool]) -> tuple[Road, ...]:
    return tuple(Road(*road) for road in of)


ROUTES = {
    "town": Route(
        roads(
            ("Markt", 260, "left", True),
            ("Schulgasse", 330, "right", True),
            ("Ringstrasse", 410, "left", True),
            ("Hafenweg", 300, "arrive", False),
        ),
        12,
    ),
    "valley": Route(
        roads(
            ("Landstrasse", 1_700, "right", True),
            ("Feldstrasse", 2_400, "left", False),
            ("Talstrasse", 3_100, "right", True),
            ("Im Bretscha", 1_900, "left", True),
            ("Dorfstrasse", 700, "arrive", False),
        ),
        20,
    ),
    "motorway": Route(
        roads(
            ("Zubringer", 2_200, "right", True),
            ("A 13", 31_000, "right", True),
            ("A 3", 22_000, "left", True),
            ("Uferstrasse", 4_300, "right", False),
            ("Quai", 900, "arrive", False),
        ),
        33,
    ),
}


def point(meters_east: float, meters_north: float) -> m.Coordinate:
    return m.Coordinate(latitude=47.1 + meters_north / 111_320, longitude=9.5 + meters_east / 111_320 / math.cos(math.radians(47.1)))


def polyline(points: list[m.Coordinate]) -> m.Polyline:
    def deltas(values: list[float]) -> tuple[int, ...]:
        whole = [round(value * 1e6) for value in values]
        return tuple(value - before for before, value in zip([0, *whole], whole, strict=False))

    return m.Polyline(
        latitude_e6_deltas=deltas([at.latitude for at in points]), longitude_e6_deltas=deltas([at.longitude for at in points])
    )


def place(at: m.Coordinate, name: str) -> m.Waypoint:
    return m.Waypoint(center=at, name_variants=(name,))


class Drive:
    """A drive without a bug."""

    line = ""
    """The missing rule of the list that the bug belongs to."""
    written_for = "valley"

    def __init__(self, session: Session, route: Route, seconds: float):
        self.session, self.route, self.seconds = session, route, seconds
        self.total = route.ends[-1]
        self.first = 0
        """The index of the road that is driven: the next maneuver is at its end."""
        self.position = 0.0

    # What is published. Bugs override these.

    def instruction(self, road: Road, after: Road | None) -> tuple[str, ...]:
        if road.end == "arrive":
            return ("You have arrived at your destination", "Arrived")
        assert after
        return (f"Turn {road.end} onto {after.name}, and follow it", f"Turn {road.end}")

    def road_name(self, road: Road) -> tuple[str, ...]:
        return (road.name,)

    def current_road(self) -> Road:
        return self.route.roads[self.first]

    def lanes(self, road: Road) -> tuple[m.Lane, ...]:
        angle = TURNS[road.end][1]
        good = m.Lane(angles_degrees=(angle,), highlighted_angle_degrees=angle, status=m.LaneStatus.PREFERRED)
        others = (m.Lane(angles_degrees=(0,)), m.Lane(angles_degrees=(-angle,)))
        return (good, *others) if angle < 0 else (*reversed(others), good)

    def shown_lanes(self) -> int:
        """The id of the lanes that are shown while the present road is driven; 0 for none."""
        return self.first + 1 if self.route.roads[self.first].has_lanes else 0

    def upcoming(self) -> tuple[int, ...]:
        return tuple(range(self.first + 1, min(self.first + 3, len(self.route.roads) + 1)))

    def trip_meters(self) -> float:
        return self.total - self.position

    def trip_seconds(self) -> float:
        return self.trip_meters() / self.route.speed

    def maneuver_meters(self) -> float:
        return self.route.ends[self.first] - self.position

    def maneuver_seconds(self) -> float:
        return self.maneuver_meters() / self.route.speed

    def corners(self) -> list[m.Coordinate]:
        """The start, each corner and the destination."""
        east, north, heading = 0.0, 0.0, 0
        found = [point(east, north)]
        for road in self.route.roads:
            east += road.meters * math.sin(math.radians(heading))
            north += road.meters * math.cos(math.radians(heading))
            heading += TURNS[road.end][1]
            found.append(point(east, north))
        return found

    def segment_line(self, corners: list[m.Coordinate]) -> list[m.Coordinate]:
        return corners

    def segment_of(self, road: int) -> int:
        """The first segment has the first two roads, the second the others."""
        return 0 if road < 2 else 1

    def shown_segment(self) -> int:
        return self.segment_of(self.first)

    # Messages.

    def trip_estimates(self) -> m.TravelEstimates:
        return m.TravelEstimates(distance_remaining_meters=round(self.trip_meters()), time_remaining_seconds=round(self.trip_seconds()))

    def maneuver_estimates(self) -> m.TravelEstimates:
        return m.TravelEstimates(
            distance_remaining_meters=round(self.maneuver_meters()), time_remaining_seconds=round(self.maneuver_seconds())
        )

    def maneuvers(self) -> Iterator[m.Maneuver]:
        for index, (road, after) in enumerate(zip(self.route.roads, [*self.route.roads[1:], None], strict=True)):
            kind, angle = TURNS[road.end]
            yield m.Maneuver(
                id=index + 1,
                type=kind,
                instruction_variants=self.instruction(road, after),
                road_following_maneuver_variants=self.road_name(after) if after else (),
                junction_exit_angle_degrees=angle if after else None,
                linked_lane_guidance_id=index + 1 if road.has_lanes else 0,
                initial_travel_estimates=m.TravelEstimates(
                    distance_remaining_meters=road.meters, time_remaining_seconds=round(road.meters / self.route.speed)
                ),
            )

    def segments(self) -> Iterator[m.RouteSegment]:
        corners, count = self.corners(), len(self.route.roads)
        for index, part in enumerate((range(2), range(2, count))):
            meters = self.total - sum(road.meters for road in self.route.roads[: part[0]])
            first = self.route.roads[part[0]]
            ids = tuple(road + 1 for road in part)
            yield m.RouteSegment(
                id=f"leg-{index + 1}",
                origin=place(corners[part[0]], "Start" if index == 0 else "Stop"),
                destination=place(corners[part[-1] + 1], "Stop" if index == 0 else "Destination"),
                coordinates=polyline(self.segment_line(corners[part[0] : part[-1] + 2])),
                maneuver_ids=ids,
                lane_guidance_ids=tuple(road + 1 for road in part if self.route.roads[road].has_lanes),
                current_maneuver_ids=ids[:2],
                trip_travel_estimates=m.TravelEstimates(
                    distance_remaining_meters=meters, time_remaining_seconds=round(meters / self.route.speed)
                ),
                maneuver_travel_estimates=m.TravelEstimates(
                    distance_remaining_meters=first.meters, time_remaining_seconds=round(first.meters / self.route.speed)
                ),
            )

    def information(self) -> m.RouteInformation:
        return m.RouteInformation(
            maneuvers=tuple(self.maneuvers()),
            lane_guidances=tuple(
                m.LaneGuidance(id=index + 1, lanes=self.lanes(road)) for index, road in enumerate(self.route.roads) if road.has_lanes
            ),
            segments=tuple(self.segments()),
            current_segment_id=f"leg-{self.shown_segment() + 1}",
            upcoming_maneuver_ids=self.upcoming(),
            current_lane_guidance_id=self.shown_lanes(),
            trip_travel_estimates=self.trip_estimates(),
            maneuver_travel_estimates=self.maneuver_estimates(),
        )

    async def start(self) -> None:
        corners = self.corners()
        trip = m.Trip(
            id="trip", origin=place(corners[0], "Start"), destination=place(corners[-1], "Destination"), route_segments_available=True
        )
        await self.session.start(trip, self.information())
        await self.session.set_road_name(*self.road_name(self.current_road()))

    # The drive.

    async def passed(self) -> None:
        """The vehicle has passed a maneuver."""
        await self.session.set_maneuver_state(m.ManeuverState.CONTINUE)
        await self.session.set_lane_guidance(self.shown_lanes())
        await self.session.set_upcoming_maneuvers(self.upcoming())
        await self.session.set_segment(f"leg-{self.shown_segment() + 1}")
        await self.session.set_road_name(*self.road_name(self.current_road()))

    async def publish_estimates(self) -> None:
        await self.session.update_trip_estimates(self.trip_estimates())
        await self.session.update_maneuver_estimates(self.first + 1, self.maneuver_estimates())

    async def step(self, number: int) -> None:
        """What is published at each step, beside what every drive publishes."""

    async def run(self) -> None:
        await self.start()
        steps = round(self.seconds * STEPS_PER_SECOND)
        for number in range(1, steps):
            await asyncio.sleep(1 / STEPS_PER_SECOND)
            self.position = self.total * number / steps
            while self.position >= self.route.ends[self.first]:
                self.first += 1
                await self.passed()
            await self.publish_estimates()
            await self.step(number)
        await self.session.finish()
        await self.session.accepted()


# The bugs, by the rule that was missing.


class TimeDoubles(Drive):
    """From half of the way on, the time to the destination is twice as long, on the same route."""

    line = "time jumps"

    def trip_seconds(self) -> float:
        return super().trip_seconds() * (2 if self.position > self.total / 2 else 1)


class TimeOfOtherRoute(Drive):
    """For a tenth of the way, the time to the destination is that of a route a third as long."""

    line, written_for = "time jumps", "motorway"

    def trip_seconds(self) -> float:
        return super().trip_seconds() / (3 if 0.4 < self.position / self.total < 0.5 else 1)


class LanesMirrored(Drive):
    """Lanes are listed from right to left with mirrored angles: the lit arrow turns to the other side."""

    line = "lane arrows"

    def lanes(self, road: Road) -> tuple[m.Lane, ...]:
        def mirror(lane: m.Lane) -> m.Lane:
            lit = lane.highlighted_angle_degrees
            return m.Lane(
                angles_degrees=tuple(-angle for angle in lane.angles_degrees),
                highlighted_angle_degrees=None if lit is None else -lit,
                status=lane.status,
            )

        return tuple(mirror(lane) for lane in reversed(super().lanes(road)))


class LanesStraight(Drive):
    """The lit arrow always leads straight on, also before a turn."""

    line, written_for = "lane arrows", "town"

    def lanes(self, road: Road) -> tuple[m.Lane, ...]:
        straight = m.Lane(angles_degrees=(0,), highlighted_angle_degrees=0, status=m.LaneStatus.PREFERRED)
        return (m.Lane(angles_degrees=(-90,)), straight, m.Lane(angles_degrees=(90,)))


class LanesOneAhead(Drive):
    """The lanes of the junction after the next are shown."""

    line = "lanes later"

    def shown_lanes(self) -> int:
        later = [index + 1 for index, road in enumerate(self.route.roads) if index > self.first and road.has_lanes]
        return later[0] if later else super().shown_lanes()


class LanesFromPrepare(Drive):
    """On the last third of a road, the lanes of the next road's junction are shown."""

    line, written_for = "lanes later", "town"

    def shown_lanes(self) -> int:
        is_late = self.maneuver_meters() < self.route.roads[self.first].meters / 3
        later = [index + 1 for index, road in enumerate(self.route.roads) if index > self.first and road.has_lanes]
        return later[0] if is_late and later else super().shown_lanes()

    async def step(self, number: int) -> None:
        await self.session.set_lane_guidance(self.shown_lanes())


class StartAtManeuver(Drive):
    """Guidance is started again after each maneuver, with the same trip, where the next maneuvers should be named."""

    line = "start again"

    async def passed(self) -> None:
        await self.start()


class StartInsteadOfReroute(Drive):
    """A new route of the same trip is published by a start, every quarter of the way."""

    line, written_for = "start again", "motorway"

    async def step(self, number: int) -> None:
        if number % round(self.seconds * STEPS_PER_SECOND / 4) == 0:
            await self.start()


class LineSwapped(Drive):
    """Latitude and longitude are swapped in the lines of segments."""

    line = "segment line"

    def segment_line(self, corners: list[m.Coordinate]) -> list[m.Coordinate]:
        return [m.Coordinate(latitude=at.longitude, longitude=at.latitude) for at in corners]


class LineReversed(Drive):
    """The lines of segments lead from the destination to the origin."""

    line, written_for = "segment line", "town"

    def segment_line(self, corners: list[m.Coordinate]) -> list[m.Coordinate]:
        return corners[::-1]


class LineScaled(Drive):
    """The line of a segment makes a detour: it is three times as long as the segment."""

    line = "segment line"

    def segment_line(self, corners: list[m.Coordinate]) -> list[m.Coordinate]:
        return [*corners, *corners[-2::-1], *corners[1:]]


class SegmentStays(Drive):
    """The first segment stays current to the end."""

    line = "segment behind"

    def shown_segment(self) -> int:
        return 0


class SegmentGoesBack(Drive):
    """At the last maneuver the first segment becomes current again."""

    line, written_for = "segment behind", "motorway"

    def shown_segment(self) -> int:
        return 0 if self.first == len(self.route.roads) - 1 else super().shown_segment()


class TripSilent(Drive):
    """Trip estimates are published with the route only; those of maneuvers go on."""

    line = "estimates frozen"

    async def publish_estimates(self) -> None:
        await self.session.update_maneuver_estimates(self.first + 1, self.maneuver_estimates())


class TripFrozen(Drive):
    """From half of the way on, the trip estimates stay as they are; those of maneuvers go on."""

    line, written_for = "estimates frozen", "town"

    def trip_meters(self) -> float:
        return max(super().trip_meters(), self.total / 2)


class ManeuverFrozen(Drive):
    """The distance to each maneuver stays what it was when it became the next; that to the destination falls."""

    line = "estimates frozen"

    def maneuver_meters(self) -> float:
        return self.route.roads[self.first].meters


class ManeuverSilent(Drive):
    """Estimates of maneuvers are published with the route only; those of the trip go on."""

    line, written_for = "estimates frozen", "motorway"

    async def publish_estimates(self) -> None:
        await self.session.update_trip_estimates(self.trip_estimates())


class TripFallsSlowly(Drive):
    """The distance to the destination falls by half of what the vehicle drives."""

    line = "distances differ"

    def trip_meters(self) -> float:
        return self.total - self.position / 2


class ManeuverInMiles(Drive):
    """Distances to maneuvers are calculated from miles as if these were kilometres: they fall too slowly."""

    line, written_for = "distances differ", "motorway"

    def maneuver_meters(self) -> float:
        return super().maneuver_meters() / 1.609


class ManeuverTimeOfTrip(Drive):
    """The time to a maneuver is that to the destination, and a minute more."""

    line = "maneuver later"

    def maneuver_seconds(self) -> float:
        return self.trip_seconds() + 60


class ManeuverTimeWalking(Drive):
    """The time to a maneuver is that of a walk."""

    line, written_for = "maneuver later", "town"

    def maneuver_seconds(self) -> float:
        return self.maneuver_meters() / 1.4


class RoadNext(Drive):
    """The current road is named as the one that follows the next maneuver."""

    line = "road next"

    def current_road(self) -> Road:
        return self.route.roads[min(self.first + 1, len(self.route.roads) - 1)]


class RoadEarly(Drive):
    """On the last half of a road, the name of the next one is published."""

    line, written_for = "road next", "motorway"

    def current_road(self) -> Road:
        is_late = self.maneuver_meters() < self.route.roads[self.first].meters / 2
        return self.route.roads[min(self.first + is_late, len(self.route.roads) - 1)]

    async def step(self, number: int) -> None:
        await self.session.set_road_name(*self.road_name(self.current_road()))


class AlertEachStep(Drive):
    """A new alert is shown every second."""

    line = "alert flood"

    async def step(self, number: int) -> None:
        await self.session.show_alert(m.NavigationAlert(id=number, title_variants=("Slow traffic",), duration_milliseconds=8_000))


class AlertRepeated(Drive):
    """The same alert is shown twice a second, and dismissed in between."""

    line, written_for = "alert flood", "town"

    async def step(self, number: int) -> None:
        for part in range(2):
            await self.session.show_alert(m.NavigationAlert(id=2 * number + part, title_variants=("Camera ahead",)))
            await asyncio.sleep(0.1)
            await self.session.dismiss_alert(2 * number + part)


class OneUpcoming(Drive):
    """Only the next maneuver is upcoming."""

    line = "one upcoming"

    def upcoming(self) -> tuple[int, ...]:
        return super().upcoming()[:1]


class OneUpcomingAfterStart(Drive):
    """The route names two upcoming maneuvers, and every change only one."""

    line, written_for = "one upcoming", "town"

    def upcoming(self) -> tuple[int, ...]:
        return super().upcoming()[: 1 if self.first else 2]


class InstructionsLong(Drive):
    """Instructions have no short variant."""

    line = "no short variant"

    def instruction(self, road: Road, after: Road | None) -> tuple[str, ...]:
        variants = super().instruction(road, after)
        return (f"At the end of {road.name}, {variants[0][0].lower()}{variants[0][1:]}, then keep to the marked lanes",)


class RoadsLong(Drive):
    """Names of roads have no short variant."""

    line, written_for = "no short variant", "motorway"

    def road_name(self, road: Road) -> tuple[str, ...]:
        return (f"{road.name}, formerly the old imperial post road (municipality of Balzers, Oberland)",)


class ReconnectsAtOnce(Drive):
    """The connection is closed again and again, and each time the client connects at once."""

    line = "reconnect"
    connections = 12

    async def run_alone(self, name: str, address: str) -> None:
        for _ in range(self.connections):
            async with Client(name, address):
                pass


class ConnectsAsAnother(ReconnectsAtOnce):
    """A second instance with the id of a connected client is refused, and connects again at once."""

    line, written_for = "reconnect", "town"

    async def run_alone(self, name: str, address: str) -> None:
        async with Client(name, address):
            for _ in range(self.connections):
                with contextlib.suppress(RefusedError):
                    async with Client(name, address):
                        pass


def all_bugs() -> dict[str, type[Drive]]:
    """Bugs by name, in the order of this file; the name is that of the class."""
    found: dict[str, type[Drive]] = {}
    for kind in list(globals().values()):
        if isinstance(kind, type) and issubclass(kind, Drive) and kind is not Drive:
            name = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).strip("-")
            found[name] = kind
    return found


async def drive(address: str, vehicle: str, bug: str = "", route: str = "", seconds: float = 20, name: str = "") -> None:
    """Drives to the end, as the client `name`."""
    kind = all_bugs()[bug] if bug else Drive
    way, name = ROUTES[route or kind.written_for], name or bug or "none"
    if issubclass(kind, ReconnectsAtOnce):
        await kind.run_alone(kind.__new__(kind), name, address)
        return
    async with Client(name, address) as client, await client.open_session(vehicle) as session:
        await session.ready(vehicle)
        await kind(session, way, seconds).run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", nargs="?")
    parser.add_argument("vehicle", nargs="?")
    parser.add_argument("--bug", default="", choices=["", *all_bugs()])
    parser.add_argument("--route", default="", choices=["", *ROUTES])
    parser.add_argument("--seconds", type=float, default=20, help="how long the drive takes")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for name, kind in all_bugs().items():
            print(f"{name:24} {kind.line:18} {kind.written_for:9} {kind.__doc__}")
    elif options.address and options.vehicle:
        asyncio.run(drive(options.address, options.vehicle, options.bug, options.route, options.seconds))
    else:
        parser.error("the address and the vehicle are needed")


if __name__ == "__main__":
    main()
