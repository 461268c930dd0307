"""A rig: the vehicles, clients and programs of one test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from waymark_nav import Endpoint, Observer, messages as m
from waymark_nav._kinds import camel
from waymark_nav.errors import WaymarkError
from waymark_nav.frames import Splitter
from waymark_nav.rig._errors import RigError, RigFailure
from waymark_nav.rig._fields import hint
from waymark_nav.rig._programs import Gateway, Process, program, resource
from waymark_nav.rig._report import verdicts
from waymark_nav.rig._times import NANOSECONDS, Time, nanoseconds
from waymark_nav.rig._vehicle import Vehicle

_REPLIES = ("accept", "decline", "ignore")
#: The words of `waymark navigate --await-vehicle`.
_AWAITED = {"nothing": "no", "joined": "connected", "ready": "ready"}
_LIMITS = {
    "currentRoadName": "current_road_name_length_max", "destinationName": "destination_name_length_max",
    "roadFollowingManeuver": "road_following_maneuver_length_max", "maneuverInstruction": "maneuver_instruction_length_max",
    "laneInstruction": "lane_instruction_length_max", "alertText": "alert_text_length_max", "maneuversStored": "maneuvers_stored_max",
    "laneGuidancesStored": "lane_guidances_stored_max", "routeSegmentPoints": "route_segment_points_max",
}  # fmt: skip
_FEATURES = {camel(feature.name): feature for feature in m.Feature if feature}
_UNITS = {camel(unit.name): unit for unit in m.DistanceUnits}


class Rig:
    """What one test needs: `async with` begins it; its end judges what was expected, and ends what was started."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.vehicles: list[Vehicle] = []
        self.processes: list[Process] = []
        self._origin: float | None = None
        #: Reads the delays that clients are told.
        self._measuring: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._origin = asyncio.get_running_loop().time()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        __tracebackhide__ = True
        try:
            failures = [text for vehicle in self.vehicles for text in vehicle._finish()]
        finally:
            await self._close()
        if failures:
            text = "\n\n".join(failures)
            if error is None:
                raise RigFailure(text)
            error.add_note(f"This failed too:\n{text}")

    async def _close(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
            await asyncio.gather(self._measuring, return_exceptions=True)
        for process in self.processes:
            await process._end()
        for vehicle in self.vehicles:
            await vehicle.leave()

    async def vehicle(
        self,
        name: str,
        endpoint: str = "cluster",
        *,
        profile: str | Path = "full",
        prompts: str = "accept",
        destinations: str = "accept",
        answer_after: Time | None = None,
        ready: bool = True,
        guidance_wanted: bool = True,
        asks_for_simulated_drives: bool = False,
        shows_after: Time | None = None,
    ) -> Vehicle:
        """A vehicle with one endpoint, connected.

        profile: what the endpoint can show: a profile that ships, or a JSON file.
        prompts, destinations: "accept", "decline" or "ignore" the gateway's questions.
        answer_after: how long it thinks.
        ready: its display is ready to show, for which clients wait.
        asks_for_simulated_drives: it may call simulate_drive().
        shows_after: its display takes so long to show what arrives, and says so in receipts; without it, it says nothing.
        """
        if self._origin is None:
            raise RigError("use the rig in a coroutine test, or in `async with`")
        delay = 0.0 if answer_after is None else nanoseconds(answer_after) / NANOSECONDS
        try:
            peer = Endpoint(
                name,
                endpoint,
                self.gateway.vehicle,
                on_prompt=_answer("prompts", prompts, delay),
                on_destination=_answer("destinations", destinations, delay),
                guidance_wanted=guidance_wanted,
                asks_for_simulated_drives=asks_for_simulated_drives,
                **_profile(resource("profiles", str(profile))),
            )
            shows = None if shows_after is None else nanoseconds(shows_after) / NANOSECONDS
            vehicle = Vehicle(f"{name}/{endpoint}", peer, self._origin, self._notes, self._measure, shows)
            await peer.connect()
        except WaymarkError as error:
            raise RigError(f"the vehicle {name}: {error}") from error
        self.vehicles.append(vehicle)
        if ready:
            peer.set_ready()
        return vehicle

    async def client(
        self,
        name: str,
        *,
        drive: str | Path,
        speed: float = 1,
        start_at: str | None = None,
        vehicles: list[str] | None = None,
        waits_for: str = "joined",
        receipts: Time | None = None,
        options: list[str] | None = None,
    ) -> Process:
        """`waymark navigate`: a client that drives a route.

        drive: a route that ships, or a file with an engine's answer.
        speed: how many times faster than real time.
        start_at: where it enters the route: "600m", "3km".
        vehicles: whom it guides; without it the rig's vehicles.
        waits_for: what it waits for before it starts guidance: "nothing", "joined" for a vehicle, "ready" for a display.
        receipts: how often it wants to be told what displays show, at most; 0.1 to 60 s.
        options: further options of `waymark navigate`.
        """
        names = vehicles if vehicles is not None else [vehicle.name.split("/")[0] for vehicle in self.vehicles]
        command = [program("waymark"), "navigate", "--id", name, "--connect", self.gateway.navigation]
        command += ["--route", str(resource("routes", str(drive))), "--speed", f"{speed:g}"]
        for each in dict.fromkeys(names):
            command += ["--vehicle", each]
        if waits_for not in _AWAITED:
            raise RigError(f"waits_for is one of {', '.join(_AWAITED)}, not {waits_for}{hint(waits_for, _AWAITED)}")
        command += ["--await-vehicle", _AWAITED[waits_for]]
        if start_at is not None:
            command += ["--start-at", f"{_kilometers(start_at):g}"]
        if receipts is not None:
            command += ["--receipts", f"{nanoseconds(receipts) / NANOSECONDS:g}"]
        return await self.process(*command, *(options or []), name=name)

    async def process(self, *command: str, name: str | None = None, environment: dict[str, str] | None = None) -> Process:
        """A program under test, e.g. a client of yours. `rig.gateway` has the addresses."""
        if self._origin is None:
            raise RigError("use the rig in a coroutine test, or in `async with`")
        if not command:
            raise RigError("process() needs a command")
        process = await Process.start(name or Path(command[0]).name, list(command), environment)
        self.processes.append(process)
        return process

    def _measure(self) -> None:
        """Begins to read what the gateway tells clients of the delays of displays: vehicles are not told."""
        if self._measuring is None:
            observer = Observer("rig-delays", self.gateway.observer, state=False, events=False, frames=True)
            self._measuring = asyncio.get_running_loop().create_task(self._read_delays(observer))

    async def _read_delays(self, observer: Observer) -> None:
        entries = observer.entries()
        async with observer:
            async for entry in entries:
                if not isinstance(entry.message, m.ObservedFrames) or entry.message.direction != m.Direction.OUT:
                    continue
                # Why not frames_in(): it would decode all that crosses.
                splitter = Splitter()
                splitter.feed(entry.message.frames)
                for frame in splitter.frames():
                    if frame.type == m.MessageType.RECEIPT_REPORT and isinstance(report := frame.decode(), m.ReceiptReport):
                        self._tell_delays(report)

    def _tell_delays(self, report: m.ReceiptReport) -> None:
        for receipt in report.endpoints:
            delay = receipt.shown_delay_microseconds
            for vehicle in self.vehicles:
                if vehicle.name == f"{receipt.vehicle_id}/{receipt.endpoint}" and delay is not None:
                    vehicle._shown_after(delay)

    def _verdicts(self) -> list[str]:
        """What became of all that was expected, a line each."""
        return [line for vehicle in self.vehicles for line in verdicts(vehicle._judged)]

    def _notes(self) -> list[str]:
        return [note for process in self.processes for note in process._note()]


def _answer(what: str, reply: str, delay: float) -> Callable[[Any], Awaitable[bool]]:
    if reply not in _REPLIES:
        raise RigError(f"{what} is one of {', '.join(_REPLIES)}, not {reply}")

    async def answer(question: object) -> bool:
        if reply == "ignore":
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(delay)
        return reply == "accept"

    return answer


def _kilometers(text: str) -> float:
    for unit, factor in (("km", 1.0), ("m", 0.001)):
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) * factor
            except ValueError:
                break
    raise RigError(f"{text} is not a place on the route; write 600m or 3km")


_PROFILE = ["limits", "without", "distanceUnits", "locale", "extensions"]


def _profile(path: Path) -> dict[str, Any]:
    """The arguments of Endpoint for a profile."""
    try:
        profile = json.loads(path.read_text(encoding="utf-8"))
        limits, without = dict(profile.get("limits", {})), list(profile.get("without", []))
        extensions = tuple(profile.get("extensions", ()))
        units, locale = str(profile.get("distanceUnits", "asPublished")), str(profile.get("locale", ""))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise RigError(f"{path} is no profile: {error}") from None
    unknown = profile.keys() - {"description", *_PROFILE}
    if "readDelayMilliseconds" in unknown:
        raise RigError(f"{path.stem}: a vehicle of this rig reads without a delay; use a scenario, or `waymark cluster --profile`")
    for key, known in [*((key, _PROFILE) for key in unknown),
                       *((key, list(_LIMITS)) for key in limits.keys() - _LIMITS.keys()),
                       *((key, list(_FEATURES)) for key in without if key not in _FEATURES),
                       *((key, list(_UNITS)) for key in [units] if key not in _UNITS)]:  # fmt: skip
        raise RigError(f"{path}: unknown {key}{hint(key, known)}")
    return {
        "limits": m.VehicleLimits(**{_LIMITS[key]: int(value) for key, value in limits.items()}),
        "without": [_FEATURES[each] for each in without],
        "distance_units": _UNITS[units],
        "locale": locale,
        "extensions": extensions,
    }
