"""A client that guides a car, and changes the route when its driver wants to stop on the way."""

import asyncio
import sys

from waymark_nav import Client, Offer, Session
from waymark_nav.messages import (
    Coordinate,
    Maneuver,
    ManeuverType,
    RequestOutcome,
    RerouteReason,
    RouteInformation,
    TravelEstimates,
    Trip,
    Waypoint,
    WaypointRequest,
)

VADUZ = Waypoint(center=Coordinate(latitude=47.141, longitude=9.521))
CASTLE = Waypoint(center=Coordinate(latitude=47.068, longitude=9.503))


def route(instruction: str) -> RouteInformation:
    turn = Maneuver(id=1, type=ManeuverType.LEFT_TURN, instruction_variants=(instruction,))
    return RouteInformation(maneuvers=(turn,), upcoming_maneuver_ids=(1,))


async def offer(request: WaypointRequest, session: Session) -> Offer:
    async def detour() -> None:
        await session.reroute(route("Turn left to the café"), RerouteReason.WAYPOINT_MODIFIED)

    return Offer(TravelEstimates(distance_remaining_meters=11_000), when_accepted=detour)


async def main() -> None:
    async with Client("app", *sys.argv[1:]) as client, await client.open_session("car", on_waypoint=offer) as session:
        await session.ready("car")
        await session.start(Trip(id="castle", origin=VADUZ, destination=CASTLE), route("Turn left"))
        async for event in session.events():
            if isinstance(event.message, RequestOutcome):
                print(f"the stop: {event.message.outcome}")
                break


asyncio.run(main())
