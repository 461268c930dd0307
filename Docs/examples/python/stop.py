"""A cluster whose driver wants to stop for coffee, and agrees to the detour."""

import asyncio
import sys

from waymark_nav import Endpoint, Phase
from waymark_nav.messages import Coordinate, Prompt, StopKind, Waypoint

CAFE = Waypoint(center=Coordinate(latitude=47.107, longitude=9.528), name_variants=("Café in Triesen",), stop_kind=StopKind.FOOD)


def ask_driver(prompt: Prompt) -> bool:
    print(f"stop at {prompt.waypoint.name_variants[0]}, then {prompt.travel_estimates.distance_remaining_meters} m to go? yes")
    return True


async def main() -> None:
    async with Endpoint("car", "cluster", *sys.argv[1:], on_prompt=ask_driver) as car:
        car.set_ready()
        async for state in car.states():
            if state.phase is Phase.ACTIVE:
                break
        outcome = await car.request_waypoint(CAFE)
        print(f"the stop: {outcome}")


asyncio.run(main())
