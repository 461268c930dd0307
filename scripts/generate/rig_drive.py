"""Short histories for the cases of Tests/RigCases: frames, lost connections and steps of a scenario."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Sources/python"))

from waymark_nav import messages as m
from waymark_nav.frames import Flags, Frame, frame

CLUSTER, CLIENT = "dut/cluster", "client"
PLACE = m.Waypoint(center=m.Coordinate(latitude=47.1, longitude=9.5), name_variants=("Vaduz",))
TRIP = m.Trip(id="t", origin=PLACE, destination=PLACE, destination_shareable=True, route_segments_available=True)
LANES = (
    m.Lane(angles_degrees=(-90,)),
    m.Lane(angles_degrees=(0,), status=m.LaneStatus.GOOD),
    m.Lane(angles_degrees=(0, 90), highlighted_angle_degrees=90, status=m.LaneStatus.PREFERRED),
)
MANEUVERS = (
    m.Maneuver(id=1, type=m.ManeuverType.LEFT_TURN, instruction_variants=("Turn left", "Left"), junction_exit_angle_degrees=-90),
    m.Maneuver(id=2, type=m.ManeuverType.RIGHT_TURN, road_following_maneuver_variants=("Landstrasse",), linked_lane_guidance_id=1),
    m.Maneuver(id=3, type=m.ManeuverType.ARRIVE_AT_DESTINATION),
)
ROUTE = m.RouteInformation(
    maneuvers=MANEUVERS,
    lane_guidances=(m.LaneGuidance(id=1, lanes=LANES),),
    upcoming_maneuver_ids=(1, 2, 3),
    current_lane_guidance_id=1,
)
START = m.StartGuidance(trip=TRIP, generation=1, route=ROUTE)


class Drive:
    """A history, built entry by entry. Instants are seconds. Every method returns the history."""

    def __init__(self) -> None:
        self.frames: list[dict] = []
        self.sequence = 0

    # Entries

    def to(self, at, message, peer=CLUSTER, session=0, sequence=0, flags=0, **more):
        return self._frame(at, "to", message, peer, session, sequence, flags, more)

    def sent(self, at, message, peer=CLUSTER, session=0, sequence=0, flags=0, **more):
        return self._frame(at, "from", message, peer, session, sequence, flags, more)

    def _frame(self, at, way, message, peer, session, sequence, flags, more):
        each = message if isinstance(message, Frame) else frame(message, session, sequence)
        data = each._replace(flags=flags).encode().hex()
        self.frames.append({"at": at, "peer": peer, "way": way, "hex": data, **more})
        return self

    def connection(self, at, what, peer=CLUSTER):
        self.frames.append({"at": at, "peer": peer, "connection": what})
        return self

    def step(self, at, number=0):
        self.frames.append({"at": at, "step": number})
        return self

    # Of the endpoint's connection

    def hello(self, at, limits=None, without=()):
        features = tuple(feature for feature in m.Feature if feature and feature.name not in without)
        hello = m.VehicleHello(vehicle_id="dut", endpoint="cluster", features=features, limits=limits)
        return self.sent(at, m.Hello(version_min=2, version_max=2, role=m.Role.VEHICLE_ENDPOINT, vehicle=hello))

    def welcome(self, at, resumed=False):
        welcome = m.Welcome(version=2, resumption_token=bytes(16), resumed=resumed, gateway_instance="00" * 16, gateway_epoch=1)
        return self.to(at, welcome).connection(at, "resumed" if resumed else "admitted")

    def full(self, at, to_sequence=0, withheld=(), session=1):
        begin = m.SnapshotBegin(kind=m.SnapshotKind.FULL, client_id=CLIENT, to_sequence=to_sequence, withheld=withheld)
        return self.to(at, begin, session=session)

    def missed(self, at, since=1, until=2):
        begin = m.SnapshotBegin(kind=m.SnapshotKind.MISSED, client_id=CLIENT, from_sequence=since, to_sequence=until)
        return self.to(at, begin, session=1)

    def whole(self, at):
        return self.to(at, m.SnapshotEnd(), session=1)

    def joined(self, at=0, **profile):
        """An endpoint that is connected and holds the route."""
        self.hello(at, **profile).welcome(at).full(at, 1).publish(at, START, sequence=1).whole(at)
        self.sequence = 1
        return self

    def rejoined(self, at, **profile):
        """An endpoint that is connected again, and holds what it held."""
        return self.hello(at, **profile).welcome(at, resumed=True)

    def cut(self, at, peer=CLUSTER):
        return self.connection(at, "ended", peer)

    # Publications, as the endpoint gets them

    def publish(self, at, message, sequence=None, **more):
        if sequence is None:
            sequence = self.sequence = self.sequence + 1
        return self.to(at, message, session=1, sequence=sequence, **more)

    def road(self, at, name="Hauptstrasse", **more):
        return self.publish(at, m.CurrentRoadName(name_variants=(name,)), **more)

    def state(self, at, state, **more):
        return self.publish(at, m.UpdateManeuverState(generation=1, state=m.ManeuverState[state]), **more)

    def near(self, at, meters, maneuver=1, shown=None, **more):
        display = m.DisplayDistance(value_tenths=shown[0], unit=m.DistanceUnit[shown[1]]) if shown else None
        estimates = m.TravelEstimates(
            distance_remaining_meters=meters, time_remaining_seconds=meters // 10, distance_remaining_to_display=display
        )
        return self.publish(at, m.UpdateManeuverEstimates(generation=1, maneuver_id=maneuver, travel_estimates=estimates), **more)

    def upcoming(self, at, *maneuvers):
        return self.publish(at, m.UpcomingManeuvers(generation=1, maneuver_ids=maneuvers))

    def trip(self, at, meters, **more):
        estimates = m.TravelEstimates(distance_remaining_meters=meters)
        return self.publish(at, m.UpdateTripEstimates(travel_estimates=estimates), **more)

    def pause(self, at):
        return self.publish(at, m.PauseGuidance(reason=m.PauseReason.LOADING))

    def alert(self, at, title="Closed", **more):
        return self.publish(at, m.ShowAlert(alert=m.NavigationAlert(id=1, title_variants=(title,))), **more)

    def ended(self, at, reason, session=1, peer=CLUSTER):
        return self.to(at, m.SessionEnded(session_id=session, reason=m.SessionEndReason[reason]), peer, session=session)

    # Of the client

    def client(self, at=0, session=1):
        opened = m.SessionOpened(request_id="r", session_id=session)
        return self.connection(at, "admitted", CLIENT).to(at, opened, CLIENT, session=session)

    def says(self, at, message, sequence, session=1, **more):
        return self.sent(at, message, CLIENT, session=session, sequence=sequence, **more)

    def acknowledged(self, at, sequence, session=1):
        return self.to(at, m.Acknowledgement(sequence=sequence), CLIENT, session=session)

    # Requests

    def request(self, at, request_id="a"):
        return self.sent(at, m.WaypointRequest(request_id=request_id, waypoint=PLACE))

    def outcome(self, at, outcome, request_id="a"):
        return self.to(at, m.RequestOutcome(request_id=request_id, vehicle_id="dut", outcome=m.Outcome[outcome]))


def parts(added):
    """AddManeuvers of some ids."""
    maneuvers = tuple(m.Maneuver(id=number, type=m.ManeuverType.KEEP_LEFT) for number in added)
    return m.AddManeuvers(generation=1, maneuvers=maneuvers)


def unknown(number, sequence):
    """A publication of a type that no build knows."""
    return Frame(number, b"\x08\x01", 1, sequence)


def broken(number, sequence):
    """A publication whose body is no message."""
    return Frame(number, b"\xff", 1, sequence)


__all__ = ["CLIENT", "CLUSTER", "Drive", "Flags", "MANEUVERS", "PLACE", "START", "TRIP", "broken", "m", "parts", "unknown"]
