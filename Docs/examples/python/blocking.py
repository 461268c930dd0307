"""A cluster without asyncio."""

import sys

from waymark_nav.sync import Endpoint

with Endpoint("car", "cluster", *sys.argv[1:]) as car:
    car.set_ready()
    for state in car.states():
        if state.next_maneuver and state.next_estimates:
            print(f"in {state.next_estimates.distance_remaining_meters} m: {state.next_maneuver.instruction_variants[0]}", flush=True)
