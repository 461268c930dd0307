"""A routing engine in OSRM's form for `waymark navigate`: its routes are straight lines through the places that are asked for.

An alternative turns a little east or west of the middle of each line."""

import json
import math
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread
from urllib.parse import parse_qs, urlsplit

# Metres in a degree of latitude, and how fast its cars are.
DEGREE = 111_195
METERS_PER_SECOND = 14
# The distance of each alternative from the one before it, in degrees of longitude, and the most that there are.
ASIDE, ALTERNATIVES_MAX = 0.002, 2


def distance(start, end):
    """Metres between two places near each other, each longitude and latitude."""
    east = (end[0] - start[0]) * math.cos(math.radians(start[1]))
    return DEGREE * math.hypot(east, end[1] - start[1])


def bearing(start, end):
    east = (end[0] - start[0]) * math.cos(math.radians(start[1]))
    return round(math.degrees(math.atan2(east, end[1] - start[1]))) % 360


def step(kind, start, end, before, after, modifier=None):
    """One step, to the place where the next one begins."""
    meters = distance(start, end)
    maneuver = {"type": kind, "location": start, "bearing_before": before, "bearing_after": after}
    return {
        "maneuver": maneuver | ({"modifier": modifier} if modifier else {}),
        "mode": "driving",
        "name": "Straight street",
        "distance": round(meters, 1),
        "duration": round(meters / METERS_PER_SECOND, 1),
        "geometry": {"type": "LineString", "coordinates": [start, end]},
        "intersections": [{"location": start}],
    }


def leg(start, end, aside=0):
    """A leg with one maneuver in its middle, or so many degrees of longitude aside."""
    middle = [round((start[0] + end[0]) / 2 + aside, 6), round((start[1] + end[1]) / 2, 6)]
    before, after = bearing(start, middle), bearing(middle, end)
    steps = [
        step("depart", start, middle, before, before),
        step("turn", middle, end, before, after, "right"),
        step("arrive", end, end, after, after),
    ]
    return {"steps": steps, "distance": sum(each["distance"] for each in steps), "duration": sum(each["duration"] for each in steps)}


def way(places, aside=0):
    """A route through the places."""
    legs = [leg(start, end, aside) for start, end in pairwise(places)]
    return {"legs": legs, "distance": sum(each["distance"] for each in legs), "duration": sum(each["duration"] for each in legs)}


def answer(address):
    """The answer to a request by its address: /route/v1/driving/LON,LAT;LON,LAT?alternatives=NUMBER."""
    request = urlsplit(address)
    places = [[float(number) for number in place.split(",")] for place in request.path.rpartition("/")[2].split(";")]
    wanted = parse_qs(request.query).get("alternatives", ["false"])[0]
    alternatives = min(int(wanted), ALTERNATIVES_MAX) if wanted.isdecimal() else 0
    routes = [way(places, ASIDE * number) for number in range(alternatives + 1)]
    waypoints = [{"name": "Straight street", "location": place, "distance": 0} for place in places]
    return {"code": "Ok", "routes": routes, "waypoints": waypoints}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(answer(self.path)).encode()
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
