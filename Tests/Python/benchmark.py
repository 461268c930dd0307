#!/usr/bin/env python3
"""benchmark.py: measures the package on one core, and prints the numbers that Docs/python.md has.

    python3 Tests/Python/benchmark.py

Import: the processor time of a new interpreter that runs `import waymark_nav`, the median of 15, and the same without what the interpreter
itself needs. Updates: an endpoint's machine is given frames as a gateway sends them, and for each one the update with its
state is taken out. Two kinds: estimates of a maneuver, the most frequent message, on a route of 40 maneuvers of which each has
estimates; and a drive's mix of estimates, road names, maneuver states and upcoming maneuvers.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "Sources/python"
sys.path.insert(0, str(FOLDER))

from waymark_nav import messages as m  # noqa: E402
from waymark_nav._wire import Message  # noqa: E402
from waymark_nav.core import Endpoint, EndpointSettings, Update  # noqa: E402
from waymark_nav.frames import frame  # noqa: E402

RUNS, UPDATES = 15, 50_000


def children() -> float:
    """The processor time of the programs that were run, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds_of(code: str) -> float:
    """The processor time that a new interpreter needs: unlike the time on the clock, it is the same on a busy machine."""
    times = []
    with tempfile.TemporaryDirectory() as cache:
        # Compiled once, as an installed package is.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = cache
        for _ in range(RUNS + 1):
            begun = children()
            subprocess.run([sys.executable, "-c", code], cwd=FOLDER, check=True, env=environment)
            times.append(children() - begun)
    return statistics.median(times[1:])


def estimates(maneuver: int, distance: int) -> Message:
    display = m.DisplayDistance(value_tenths=distance * 10, unit=m.DistanceUnit.METERS)
    values = m.TravelEstimates(distance_remaining_meters=distance, time_remaining_seconds=24, distance_remaining_to_display=display)
    return m.UpdateManeuverEstimates(generation=1, maneuver_id=maneuver, travel_estimates=values)


def guided() -> Endpoint:
    """An endpoint with a route of 40 maneuvers."""
    machine = Endpoint(EndpointSettings(vehicle="car"))
    machine.opening()
    machine.opened(0.0)
    place = m.Waypoint(center=m.Coordinate(latitude=47.0, longitude=9.5))
    maneuvers = tuple(m.Maneuver(id=number, instruction_variants=("Turn left onto Main street",)) for number in range(1, 41))
    ids = tuple(maneuver.id for maneuver in maneuvers)
    start = m.StartGuidance(
        trip=m.Trip(id="trip", origin=place, destination=place),
        generation=1,
        route=m.RouteInformation(maneuvers=maneuvers, upcoming_maneuver_ids=ids),
    )
    welcome = m.Welcome(version=2, keepalive_milliseconds=10_000, resumption_token=bytes(16), gateway_instance="g", gateway_epoch=1)
    frames = [
        frame(welcome),
        frame(m.SnapshotBegin(kind=m.SnapshotKind.FULL, client_id="app"), 7),
        frame(start, 7, 1),
        frame(m.SnapshotEnd(), 7),
        *(frame(estimates(number, 100), 7, number + 1) for number in ids),
    ]
    machine.receive(b"".join(each.encode() for each in frames), 0.0)
    while machine.next_event() is not None:
        pass
    return machine


def updates_per_second(messages: list[Message]) -> float:
    machine = guided()
    # As a socket delivers them: several frames at a time.
    stream = [frame(messages[number % len(messages)], 7, number + 50).encode() for number in range(UPDATES)]
    chunks = [b"".join(stream[at : at + 16]) for at in range(0, UPDATES, 16)]
    count = 0
    begun = time.process_time()
    for chunk in chunks:
        machine.receive(chunk, 0.0)
        while (event := machine.next_event()) is not None:
            count += isinstance(event, Update)
    elapsed = time.process_time() - begun
    assert count == UPDATES
    return count / elapsed


def main() -> None:
    mix: list[Message] = [
        estimates(1, 300),
        m.UpdateTripEstimates(travel_estimates=m.TravelEstimates(distance_remaining_meters=9_000, time_remaining_seconds=600)),
        m.CurrentRoadName(name_variants=("Landstrasse", "L 1")),
        m.UpdateManeuverState(generation=1, state=m.ManeuverState.PREPARE),
        estimates(2, 900),
        m.UpcomingManeuvers(generation=1, maneuver_ids=tuple(range(2, 10))),
    ]
    nothing, imported = seconds_of("pass"), seconds_of("import waymark_nav")
    print(f"{platform.python_implementation()} {platform.python_version()}")
    print(f"import waymark_nav: {imported * 1_000:.0f} ms, {(imported - nothing) * 1_000:.0f} ms without the interpreter's own")
    print(f"updates of estimates: {updates_per_second([estimates(1, 150), estimates(1, 140)]):,.0f} a second")
    print(f"updates of a drive: {updates_per_second(mix):,.0f} a second")


if __name__ == "__main__":
    main()
