"""A navigation client that stands still until it is asked to simulate its drive."""

import asyncio
import sys

from waymark_nav import Client
from waymark_nav.messages import (
    Coordinate,
    Maneuver,
    ManeuverType,
    RouteInformation,
    SimulateDrive,
    SimulationAction,
    TravelEstimates,
    Trip,
    Waypoint,
)

VADUZ = Waypoint(center=Coordinate(latitude=47.141, longitude=9.521), name_variants=("Vaduz",))
CASTLE = Waypoint(center=Coordinate(latitude=47.068, longitude=9.503), name_variants=("Castle",))
ARRIVE = Maneuver(id=1, type=ManeuverType.ARRIVE_AT_DESTINATION, instruction_variants=("Arrive",))


async def main() -> None:
    asked: asyncio.Queue[SimulateDrive] = asyncio.Queue()
    async with Client("app", *sys.argv[1:], on_simulate_drive=asked.put_nowait) as client, await client.open_session("car") as session:
        await session.start(
            Trip(id="castle", origin=VADUZ, destination=CASTLE), RouteInformation(maneuvers=(ARRIVE,), upcoming_maneuver_ids=(1,))
        )
        meters, speed = 300.0, 0.0  # It stands still until it is asked to drive.
        while meters > 0:
            await session.update_maneuver_estimates(1, TravelEstimates(distance_remaining_meters=round(meters)))
            while speed == 0 or not asked.empty():
                drive = await asked.get()
                speed = (drive.speed_percent or 100) / 100 if drive.action == SimulationAction.START else 0.0
                print("drives" if speed else "stands still", flush=True)
            await asyncio.sleep(0.1)
            meters -= 1.4 * speed  # 50 km/h
        await session.finish()
        await session.accepted()


asyncio.run(main())
