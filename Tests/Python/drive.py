"""A small drive, and a way to run tests on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from waymark_nav import Phase, Update, messages as m


def run(work: Coroutine[Any, Any, None]) -> None:
    """Runs a test; one that waits for something that does not happen fails."""

    async def limited() -> None:
        async with asyncio.timeout(60):
            await work

    asyncio.run(limited())


def place(name: str, latitude: float = 47.1) -> m.Waypoint:
    return m.Waypoint(center=m.Coordinate(latitude=latitude, longitude=9.5), name_variants=(name,))


TRIP = m.Trip(id="trip", origin=place("Start"), destination=place("Town hall", 47.2), destination_shareable=True)
CAFE = place("Café", 47.15)


def route(instruction: str = "Turn left") -> m.RouteInformation:
    """A turn, then the destination."""
    return m.RouteInformation(
        maneuvers=(
            m.Maneuver(id=1, type=m.ManeuverType.LEFT_TURN, instruction_variants=(instruction,)),
            m.Maneuver(id=2, type=m.ManeuverType.ARRIVE_AT_DESTINATION),
        ),
        upcoming_maneuver_ids=(1, 2),
        trip_travel_estimates=meters(9_000),
    )


def meters(distance: int) -> m.TravelEstimates:
    return m.TravelEstimates(distance_remaining_meters=distance)


async def until(feed: Any, is_wanted: Callable[[Any], bool]) -> Any:
    """The first element that is wanted."""
    async for element in feed:
        if is_wanted(element):
            return element
    raise AssertionError("the feed has ended")


def shows(instruction: str) -> Callable[[Update], bool]:
    """Whether the next maneuver has this instruction."""
    return lambda update: update.state.next_maneuver is not None and update.state.next_maneuver.instruction_variants == (instruction,)


def is_over(update: Update) -> bool:
    return update.state.phase is Phase.ENDED
