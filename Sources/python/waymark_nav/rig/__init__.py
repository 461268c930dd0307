"""Drives as tests, in pytest: a private gateway, vehicles, clients, and words that judge what a vehicle was sent and what it held.

    async def test_the_drive_arrives(rig):
        car = await rig.vehicle("car")
        car.never({"maneuverState": "execute", "next.distance": ">500m"})
        await rig.client("nav", drive="vaduz-balzers", speed=50)
        await car.ended("finished", within="2min")

The fixtures `rig`, `gateway` and `recording` are those of waymark_nav.rig.plugin, which pytest finds by itself. Docs/python.md
explains them.
"""

from waymark_nav.rig._errors import RigError, RigFailure
from waymark_nav.rig._lines import Line
from waymark_nav.rig._programs import Gateway, Process
from waymark_nav.rig._recording import RecordedFrame, Recording
from waymark_nav.rig._rig import Rig
from waymark_nav.rig._vehicle import Expectation, Request, Vehicle, event

__all__ = [
    "Expectation",
    "Gateway",
    "Line",
    "Process",
    "RecordedFrame",
    "Recording",
    "Request",
    "Rig",
    "RigError",
    "RigFailure",
    "Vehicle",
    "event",
]
