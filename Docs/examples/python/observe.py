"""Prints who is connected, and what happens."""

import asyncio
import sys

from waymark_nav import Observer
from waymark_nav.messages import ObservedEvent


async def main() -> None:
    async with Observer("monitor", sys.argv[1]) as observer:
        await observer.complete()
        print("vehicles:", *observer.vehicles, "clients:", *observer.clients, flush=True)
        async for entry in observer.entries():
            if isinstance(entry.message, ObservedEvent):
                print(entry.message.kind, *entry.message.vehicle_ids, entry.message.client_id, flush=True)


asyncio.run(main())
