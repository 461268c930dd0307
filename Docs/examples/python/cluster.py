import asyncio
import sys

from waymark_nav import Endpoint


async def main() -> None:
    async with Endpoint("car", "cluster", *sys.argv[1:]) as car:
        car.set_ready()
        async for update in car.updates():
            if (maneuver := update.state.next_maneuver) and (estimates := update.state.next_estimates):
                print(f"in {estimates.distance_remaining_meters} m: {maneuver.instruction_variants[0]}", flush=True)


asyncio.run(main())
