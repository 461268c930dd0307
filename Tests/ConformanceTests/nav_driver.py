#!/usr/bin/env python3
"""nav_driver.py endpoint|client|observer ADDRESS VEHICLE [SLOTS]: the Python package with the driver contract of Docs/conformance.md."""

import asyncio
import contextlib
import json
import sys
from dataclasses import replace

from waymark_nav import Accept, Client, Endpoint, Observer, Offer, Session, _json
from waymark_nav.frames import HEADER, HEADER_BYTES
from waymark_nav.messages import (
    AlertResponse,
    CancelReason,
    Coordinate,
    Lane,
    LaneGuidance,
    LaneStatus,
    Maneuver,
    ManeuverState,
    ManeuverType,
    NavigationAlert,
    ObservationGap,
    ObservedEvent,
    ObservedFrames,
    PauseReason,
    RerouteReason,
    RouteChoice,
    RouteInformation,
    SelectPreview,
    SimulationAction,
    TravelEstimates,
    Trip,
    VehicleLimits,
    Waypoint,
)

START = Waypoint(center=Coordinate(latitude=47.141, longitude=9.5215), name_variants=("Start",))
TOWN_HALL = Waypoint(center=Coordinate(latitude=47.138, longitude=9.5241), name_variants=("Town hall",))
ROUTE = RouteInformation(
    maneuvers=(
        Maneuver(id=1, type=ManeuverType.RIGHT_TURN, instruction_variants=("Turn right",), linked_lane_guidance_id=1),
        Maneuver(id=2, type=ManeuverType.ARRIVE_AT_DESTINATION, instruction_variants=("Arrive",)),
    ),
    lane_guidances=(
        LaneGuidance(
            id=1,
            lanes=(
                Lane(angles_degrees=(0,)),
                Lane(angles_degrees=(90,), highlighted_angle_degrees=90, status=LaneStatus.PREFERRED),
            ),
        ),
    ),
    upcoming_maneuver_ids=(1, 2),
    current_lane_guidance_id=1,
)
TRIP = Trip(id="to-the-town-hall", origin=START, destination=TOWN_HALL, destination_shareable=True)
PREVIEWS = (
    replace(TRIP, id="trip-1", travel_estimates=TravelEstimates(distance_remaining_meters=900)),
    replace(
        TRIP,
        id="trip-2",
        route_choices=(RouteChoice(id=1), RouteChoice(id=2)),
        selected_route_choice_id=1,
        travel_estimates=TravelEstimates(distance_remaining_meters=1_900),
    ),
)
FOG = NavigationAlert(id=1, title_variants=("Fog ahead",))
ESTIMATES_EVERY = 2.0
STEPS = [(400, ManeuverState.INITIAL), (150, ManeuverState.PREPARE), (20, ManeuverState.EXECUTE), (900, ManeuverState.CONTINUE)]


async def commands():
    """The words of each line of standard input."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield line.decode().split()


class Cluster:
    """A vehicle endpoint."""

    def __init__(self, address, vehicle, slots="0"):
        limits = VehicleLimits(maneuvers_stored_max=int(slots))
        self.endpoint = Endpoint(vehicle, "cluster", address, limits=limits, on_prompt=self.ask, on_destination=self.take)
        self.requests, self.prompt, self.tasks = 0, None, set()

    async def ask(self, _prompt):
        self.prompt = asyncio.get_running_loop().create_future()
        return await self.prompt

    @staticmethod
    async def take(_destination):
        return True

    @staticmethod
    async def request(call, name):
        """Prints how a request ended, as the examples do."""
        print(f"outcome {int(await call)} of {name}", flush=True)

    def begin(self, call):
        task = asyncio.create_task(call)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def show(self, updates):
        """Prints each whole state."""
        async for update in updates:
            if update.state.is_complete and update.state.snapshot_end is None:
                print(_json.line(_json.state(update.state)), flush=True)

    async def run(self):
        updates = self.endpoint.updates()
        async with self.endpoint as car:
            self.begin(self.show(updates))
            async for words in commands():
                match words:
                    case ["waypoint" | "destination" as kind, latitude, longitude]:
                        self.requests += 1
                        name = f"request-{self.requests}"
                        place = Waypoint(center=Coordinate(latitude=float(latitude), longitude=float(longitude)))
                        request = car.request_waypoint if kind == "waypoint" else car.request_destination
                        self.begin(self.request(request(place, request_id=name), name))
                    case ["select", trip, choice]:
                        car.select_preview(trip, int(choice))
                    case ["start", trip, choice]:
                        self.requests += 1
                        name = f"request-{self.requests}"
                        self.begin(self.request(car.start_trip(trip, int(choice), request_id=name), name))
                    case ["withdraw"]:
                        car.withdraw(f"request-{self.requests}")
                    case ["yes" | "no" as answer] if self.prompt and not self.prompt.done():
                        self.prompt.set_result(answer == "yes")
                    case ["cancel"]:
                        self.begin(car.cancel_navigation())
                    case ["own"]:
                        self.begin(car.cancel_navigation(CancelReason.OWN_NAVIGATION_STARTED))
                    case ["allow"]:
                        car.allow_navigation()
                    case ["quit"]:
                        return


class Navigation:
    """A navigation client."""

    def __init__(self, address, vehicle):
        self.client = Client("nav", address, on_destination=self.drive, on_simulate_drive=self.simulate, extensions=["org.example.gauges"])
        self.vehicle, self.steps = vehicle, 0
        self.opened: Session | None = None
        self.previews: tuple[Trip, ...] = PREVIEWS
        self.shows_previews = False
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def session(self):
        if self.opened is None:
            raise ValueError("there is no session yet")
        return self.opened

    def drive(self, _request):
        if self.shows_previews:
            return Accept(when_accepted=self.preview, with_preview=True)
        return Accept(when_accepted=self.start)

    async def preview(self):
        """Shows trips to choose from, in a new session."""
        self.previews = PREVIEWS
        self.opened = await self.client.open_session(self.vehicle, on_start_trip=self.begin)
        self.keep(self.follow(self.session))
        await self.session.preview(self.previews, "trip-1")

    async def follow(self, session):
        """Shows the previews with what a vehicle selects."""
        async for event in session.events():
            if isinstance(event.message, SelectPreview):
                self.select(event.message.trip_id, event.message.route_choice_id)
                with contextlib.suppress(Exception):  # A session that has ended.
                    await session.preview(self.previews, event.message.trip_id)

    def select(self, trip_id, choice):
        """The trip with this route choice selected; 0: as it is."""
        self.previews = tuple(
            replace(each, selected_route_choice_id=choice or each.selected_route_choice_id) if each.id == trip_id else each
            for each in self.previews
        )
        return next(each for each in self.previews if each.id == trip_id)

    def begin(self, request, session):
        """Starts the trip that a vehicle asks for."""
        trip = self.select(request.trip_id, request.route_choice_id)
        return Accept(when_accepted=lambda: session.start(trip, ROUTE))

    def keep(self, coroutine):
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def offer(self, _request, session):
        async def detour():
            self.steps = 0
            await session.reroute(ROUTE, RerouteReason.WAYPOINT_MODIFIED)

        return Offer(TravelEstimates(distance_remaining_meters=1_500), when_accepted=detour)

    async def start(self):
        self.opened, self.steps = await self.client.open_session(self.vehicle, on_waypoint=self.offer), 0
        await self.session.start(TRIP, ROUTE)
        await self.session.set_road_name("Main street")
        await self.session.show_alert(FOG)
        for each in (self.share(self.session), self.listen(self.session), self.drive_on(self.session)):
            self.keep(each)

    @staticmethod
    async def share(session):
        with contextlib.suppress(Exception):  # A session that has ended.
            await session.share_destination(TOWN_HALL)

    @staticmethod
    async def listen(session):
        """Dismisses the alert once it is answered."""
        async for event in session.events():
            if isinstance(event.message, AlertResponse):
                with contextlib.suppress(Exception):  # A session that has ended.
                    await session.dismiss_alert(event.message.alert_id)

    @staticmethod
    async def drive_on(session):
        """Publishes estimates of the trip until the session ends."""
        meters = 2_000
        while session.end_reason is None:
            await asyncio.sleep(ESTIMATES_EVERY)
            meters = max(0, meters - 20)
            with contextlib.suppress(Exception):  # A session that has ended.
                await session.update_trip_estimates(TravelEstimates(distance_remaining_meters=meters))

    async def step(self):
        meters, state = STEPS[self.steps % len(STEPS)]
        self.steps += 1
        await self.session.update_maneuver_estimates(1, TravelEstimates(distance_remaining_meters=meters))
        await self.session.set_maneuver_state(state)

    def simulate(self, asked):
        """Drives as far as the first step."""
        if asked.action is SimulationAction.START:
            self.keep(self.step())

    async def obey(self, words):
        match words:
            case ["start"]:
                await self.start()
            case ["preview"]:
                await self.preview()
            case ["preview-first"]:
                self.shows_previews = True
            case ["step"]:
                await self.step()
            case ["pause"]:
                await self.session.pause(PauseReason.LOADING)
            case ["resume"]:
                await self.session.resume()
            case ["finish"]:
                await self.session.finish()
            case ["cancel"]:
                await self.session.cancel()
            case ["gauge", key, value]:
                await self.session.publish_extension("org.example.gauges", bytes([int(value)]), key=int(key), retained=True)

    async def run(self):
        async with self.client:
            starting = None
            async for words in commands():
                if words == ["quit"]:
                    return
                if words in (["start"], ["preview"]):  # In the background, because its answer may never come.
                    starting = asyncio.create_task(self.obey(words))
                    continue
                if starting:
                    await starting
                with contextlib.suppress(Exception):  # A session that has ended.
                    await self.obey(words)


class Watcher:
    """An observer."""

    def __init__(self, address, _vehicle):
        self.observer = Observer("watcher", address, frames=True)

    async def tell(self, entries):
        """Prints each entry, and the records that it holds then."""
        async for entry in entries:
            match entry.message:
                case ObservedEvent(kind=kind):
                    self.print({"kind": "event", "event": getattr(kind, "name", str(kind)).lower()})
                case ObservedFrames(frames=frames):
                    at = 0
                    while at < len(frames):
                        _, _, _, _, _, size, _, sequence = HEADER.unpack_from(frames, at)
                        self.print({"kind": "frame", "sequence": sequence})
                        at += HEADER_BYTES + size
                case ObservationGap(dropped=dropped):
                    self.print({"kind": "dropped", "count": dropped})
            self.print(
                {
                    "kind": "records",
                    "vehicles": sorted(self.observer.vehicles),
                    "clients": sorted(self.observer.clients),
                    "sessions": sorted(self.observer.sessions),
                    "complete": self.observer._machine.records.is_complete,
                }
            )

    @staticmethod
    def print(line):
        print(json.dumps(line), flush=True)

    async def run(self):
        entries = self.observer.entries()
        async with self.observer:
            telling = asyncio.create_task(self.tell(entries))
            async for words in commands():
                if words == ["quit"]:
                    break
        await telling


asyncio.run({"endpoint": Cluster, "client": Navigation, "observer": Watcher}[sys.argv[1]](*sys.argv[2:]).run())
