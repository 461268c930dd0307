"""Has the client named app, which was started by itself, simulate its drive at 20 times the speed, until it has arrived."""

import asyncio
import sys

from waymark_nav import Observer
from waymark_nav.messages import Error, ObservedEvent, ObservedKind, SimulationAction


async def main() -> None:
    async with Observer("rig", sys.argv[1]) as observer:
        is_asked = False
        async for entry in observer.entries():
            if not is_asked and "app" in observer.clients:
                is_asked = True
                observer.simulate_drive(SimulationAction.START, "app", speed=20)
            match entry.message:
                case Error(reason=reason):
                    sys.exit(reason)
                case ObservedEvent(kind=ObservedKind.SESSION_ENDED):
                    break


asyncio.run(main())
