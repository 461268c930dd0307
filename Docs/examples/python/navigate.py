import asyncio
import sys

from waymark_nav import Client
from waymark_nav.messages import Coordinate, Maneuver, ManeuverType, NotificationStyle, RouteInformation, TravelEstimates, Trip, Waypoint

VADUZ = Waypoint(center=Coordinate(latitude=47.141, longitude=9.521), name_variants=("Vaduz",))
CASTLE = Waypoint(center=Coordinate(latitude=47.068, longitude=9.503), name_variants=("Gutenberg Castle", "Castle"))
SHOWN = NotificationStyle.WITH_ESTIMATES  # It may interrupt a display that shows something else.
LEFT = Maneuver(id=1, type=ManeuverType.LEFT_TURN, instruction_variants=("Turn left onto Landstrasse", "Turn left"), notification=SHOWN)
ARRIVE = Maneuver(id=2, type=ManeuverType.ARRIVE_AT_DESTINATION, instruction_variants=("Arrive",))


async def main() -> None:
    async with Client("app", *sys.argv[1:]) as client, await client.open_session("car") as session:
        await session.ready("car")
        route = RouteInformation(maneuvers=(LEFT, ARRIVE), upcoming_maneuver_ids=(1, 2))
        await session.start(Trip(id="castle", origin=VADUZ, destination=CASTLE), route)
        for meters in (300, 120, 10):
            await session.update_maneuver_estimates(1, TravelEstimates(distance_remaining_meters=meters))
            await asyncio.sleep(0.2)  # A real client publishes as the vehicle moves.
        await session.finish()
        await session.accepted()


asyncio.run(main())
