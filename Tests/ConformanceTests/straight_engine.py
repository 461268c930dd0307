"""A routing engine in OSRM's form for `waymark navigate`: its routes are straight lines through the places that are asked for."""

import json
import math
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread
from urllib.parse import urlsplit

# Metres in a degree of latitude, and how fast its cars are.
DEGREE = 111_195
METERS_PER_SECOND = 14


def distance(start, end):
    """Metres between two places near each other, each longitude and latitude."""
    east = (end[0] - start[0]) * math.cos(math.radians(start[1]))
    return DEGREE * math.hypot(east, end[1] - start[1])


def bearing(start, end):
    east = (end[0] - start[0]) * math.cos(math.radians(start[1]))
    return round(math.degrees(math.atan2(east, end[1] - start[1]))) % 360


def step(kind, start, end, direction, modifier=None):
    """One step, to the place where the next one begins."""
    meters = distance(start, end)
    maneuver = {"type": kind, "location": start, "bearing_before": direction, "bearing_after": direction}
    return {
        "maneuver": maneuver | ({"modifier": modifier} if modifier else {}),
        "mode": "driving",
        "name": "Straight street",
        "distance": round(meters, 1),
        "duration": round(meters / METERS_PER_SECOND, 1),
        "geometry": {"type": "LineString", "coordinates": [start, end]},
        "intersections": [{"location": start}],
    }


def leg(start, end):
    """A leg with one maneuver in its middle."""
    middle = [round((start[axis] + end[axis]) / 2, 6) for axis in (0, 1)]
    direction = bearing(start, end)
    steps = [
        step("depart", start, middle, direction),
        step("turn", middle, end, direction, "right"),
        step("arrive", end, end, direction),
    ]
    return {"steps": steps, "distance": sum(each["distance"] for each in steps), "duration": sum(each["duration"] for each in steps)}


def answer(path):
    """The answer to a request by its path: /route/v1/driving/LON,LAT;LON,LAT."""
    places = [[float(number) for number in place.split(",")] for place in path.rpartition("/")[2].split(";")]
    legs = [leg(start, end) for start, end in pairwise(places)]
    route = {"legs": legs, "distance": sum(each["distance"] for each in legs), "duration": sum(each["duration"] for each in legs)}
    waypoints = [{"name": "Straight street", "location": place, "distance": 0} for place in places]
    return {"code": "Ok", "routes": [route], "waypoints": waypoints}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(answer(urlsplit(self.path).path)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Says nothing."""


@contextmanager
def running():
    """The address of an engine that runs meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
