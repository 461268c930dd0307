#!/usr/bin/env python3
"""Measures how exactly a gateway tells how long publications take to a display, by the real clock.

    scripts/measure/delays.py [--programs .build/release] [--limit 5] [--publications 20]

A display shows what it receives after 0, 50 and 500 ms. For each of them the script prints the median and the largest difference between
the delay that the client is told and the one that was, and fails if a median is above the limit, in milliseconds. Client, gateway and
display are on one machine, so that the same clock measures what was; the gateway does not know that it is the same.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Sources/python"))

from waymark_nav import Client, Endpoint, messages as m  # noqa: E402
from waymark_nav.rig._programs import Gateway  # noqa: E402

DELAYS = (0.0, 0.05, 0.5)
#: Displays and clients tell what they have at most so often.
RECEIPTS_EVERY = 0.1
PLACE = m.Waypoint(center=m.Coordinate(latitude=47.1, longitude=9.5))


async def errors(gateway: Gateway, delay: float, count: int) -> list[float]:
    """The differences, in milliseconds, of so many publications that were shown after a delay."""
    loop = asyncio.get_running_loop()
    published: dict[int, float] = {}
    shown: dict[int, float] = {}
    told: dict[int, float] = {}

    def show(sequence: int) -> None:
        shown[sequence] = time.monotonic()
        car.mark_shown(sequence)

    async def watch() -> None:
        async for update in car.updates():
            if update.frame is not None and update.state.sequence:
                loop.call_later(delay, show, update.state.sequence)

    async def listen() -> None:
        async for event in session.events():
            if isinstance(event.message, m.ReceiptReport):
                for receipt in event.message.endpoints:
                    if receipt.shown_delay_microseconds is not None:
                        told.setdefault(receipt.shown_sequence, receipt.shown_delay_microseconds / 1_000_000)

    async with Endpoint("car", "cluster", gateway.vehicle) as car, Client("app", gateway.navigation) as client:
        car.set_ready()
        watching = asyncio.create_task(watch())
        session = await client.open_session("car", receipts_every_milliseconds=round(RECEIPTS_EVERY * 1_000))
        listening = asyncio.create_task(listen())
        await session.start(m.Trip(id="trip", origin=PLACE, destination=PLACE), m.RouteInformation())
        for number in range(count + 1):
            # Each is alone on its way, so that a report is about it and not about a later one.
            await asyncio.sleep(delay + 2.5 * RECEIPTS_EVERY)
            published[number + 2] = time.monotonic()
            await session.publish(m.CurrentRoadName(name_variants=(f"Road {number}",)))
        await asyncio.sleep(delay + 2.5 * RECEIPTS_EVERY)
        for task in (watching, listening):
            task.cancel()
    both = sorted(published.keys() & shown.keys() & told.keys())
    return [1_000 * abs(told[each] - (shown[each] - published[each])) for each in both]


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=ROOT / ".build/release", help="the folder of waymarkd")
    parser.add_argument("--limit", type=float, default=5.0, help="the largest median, in milliseconds")
    parser.add_argument("--publications", type=int, default=20, help="how many are measured for each delay")
    options = parser.parse_args()
    os.environ["WAYMARKD"] = str(options.programs / "waymarkd")
    worst = 0.0
    for delay in DELAYS:
        with TemporaryDirectory(prefix="waymark-delays-") as folder:
            gateway = Gateway(Path(folder))
            gateway.start()
            try:
                found = await errors(gateway, delay, options.publications)
            finally:
                gateway.stop()
        if len(found) < options.publications // 2:
            print(f"{1_000 * delay:4.0f} ms: only {len(found)} of {options.publications} publications were measured")
            return 1
        median = statistics.median(found)
        worst = max(worst, median)
        print(f"{1_000 * delay:4.0f} ms: {median:.2f} ms off in the median, {max(found):.2f} ms at most, of {len(found)} publications")
    return 0 if worst <= options.limit else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
