"""`python -m waymark_nav cluster`: an instrument cluster that prints what it receives as JSON lines, as `waymark cluster --json` does."""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from types import FrameType

from waymark_nav import _json, messages as m
from waymark_nav._endpoint import Endpoint
from waymark_nav._version import __version__
from waymark_nav.core import Closed, Connected, Connecting, Event, Phase, Reconnection, Update, VehicleState
from waymark_nav.errors import ClosedError, ConnectionFailedError, Rejection, WaymarkError
from waymark_nav.messages import SessionEndReason

_RETRY_DELAY = 0.2
#: A program that has not ended so long after a signal is ended, in seconds.
_PATIENCE = 0.7
USAGE, FAILURE = 64, 1
_STATES = "how the state is printed after a change; shown: where all of it has arrived, as a driver sees it"
#: The lines of standard input that --commands takes.
COMMANDS = (
    "waypoint LAT LON, destination LAT LON, select TRIP [ROUTE], start [TRIP [ROUTE]], withdraw, yes, no, cancel, own, allow and quit"
)


class Parser(argparse.ArgumentParser):
    """Exits with the status of `waymark` for an invalid command line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"Error: {message}\n")


def _seconds(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or value < 0:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds")
    return value


def _frame_bytes(text: str) -> int:
    value = int(text)
    if not 4_096 <= value <= 16_777_216:
        raise argparse.ArgumentTypeError("must be 4096 to 16777216")
    return value


def _slots(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 4_294_967_295:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value


def parser() -> Parser:
    """The command line."""
    top = Parser(prog="python -m waymark_nav", description="Clusters for the Waymark gateway.")
    top.add_argument("--version", action="version", version=__version__)
    commands = top.add_subparsers(dest="command", required=True)
    cluster = commands.add_parser("cluster", help="be an instrument cluster, or watch one")
    cluster.add_argument("--json", action="store_true", required=True, help="print one JSON object per line, see Docs/cluster-json.md")
    cluster.add_argument("--id", required=True, help="the vehicle's id")
    cluster.add_argument("--endpoint", default="cluster", help="the endpoint's name in the vehicle")
    cluster.add_argument("--connect", metavar="ADDRESS", help="where the gateway listens: tcp:HOST:PORT or unix:/path")
    cluster.add_argument("--key-file", metavar="FILE", help="a file with the listener's pre-shared key")
    cluster.add_argument("--wait", type=_seconds, metavar="SECONDS", help="how long to wait for a gateway that cannot be reached yet")
    cluster.add_argument("--receive-frame-bytes-max", type=_frame_bytes, default=0, metavar="BYTES", help="the largest frame that it takes")
    cluster.add_argument("--states", choices=("none", "changes", "full", "shown"), default="changes", help=_STATES)
    cluster.add_argument("--slots", type=_slots, default=0, metavar="N", help="for how many maneuvers it has slots (default: no limit)")
    answers = cluster.add_mutually_exclusive_group()
    answers.add_argument("--accept-prompts", choices=("yes", "no"), help="how questions to the user are answered; without it, only watch")
    answers.add_argument("--watch", action="store_true", help="only watch")
    answers.add_argument("--commands", action="store_true", help="do what the lines of standard input say, and end when it does")
    cluster.add_argument("--until", choices=("finished", "cancelled", "ended"), help="end with status 0 when guidance ends so")
    cluster.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="end after so many seconds of being connected")
    return top


class Cluster:
    """Prints what one endpoint receives."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._state = VehicleState()
        self._was_connected = False
        self._loop = asyncio.get_running_loop()
        self._end: asyncio.Future[int] = self._loop.create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        #: Questions that wait for a command, oldest first.
        self._questions: list[asyncio.Future[bool]] = []
        self._request = ""
        #: The endpoint, to which each number that was printed is told.
        self._shower: Endpoint | None = None

    async def run(self) -> int:
        """The exit status."""
        credential = self._key()
        self._print(_json.connection(Connecting()))
        endpoint = await self._connect(credential)
        try:
            if self._is_cluster:
                endpoint.set_ready()
            if self._options.commands:
                self._begin(self._obey_lines(endpoint))
            async with asyncio.timeout(self._options.timeout):
                status = await self._end
        except TimeoutError:
            if self._options.until:
                _note(f"Error: --until {self._options.until} was not reached within {self._options.timeout:g} seconds")
            status = FAILURE if self._options.until else 0
        finally:
            for task in list(self._tasks):
                task.cancel()
            await endpoint.close()
        return status

    def interrupt(self, status: int) -> None:
        """Ends, from a signal's handler."""
        self._loop.call_soon_threadsafe(self._finish, status)

    def _key(self) -> bytes:
        if self._options.key_file is None:
            return b""
        try:
            with open(self._options.key_file, "rb") as file:
                return file.read().removesuffix(b"\n")
        except OSError as error:
            raise OSError(f"{self._options.key_file} cannot be read: {error.strerror}") from None

    async def _connect(self, credential: bytes) -> Endpoint:
        """A connected endpoint; tries again as long as --wait says."""
        loop = asyncio.get_running_loop()
        end = loop.time() + (self._options.wait or 0)
        is_noted = False
        while True:
            endpoint = self._endpoint(credential)
            connecting = loop.create_task(endpoint.connect())
            done, _ = await asyncio.wait((connecting, self._end), return_when=asyncio.FIRST_COMPLETED)
            if connecting not in done:
                connecting.cancel()
                await asyncio.wait((connecting,))
                raise SystemExit(self._end.result())
            try:
                await connecting
                return endpoint
            except ConnectionFailedError as error:
                if loop.time() >= end:
                    self._print(_json.connection(Closed(error)))
                    raise
                if not is_noted:
                    _note(f"waiting up to {self._options.wait:g} seconds: {error}")
                is_noted = True
                await asyncio.sleep(_RETRY_DELAY)
            except WaymarkError as error:
                self._print(_json.connection(Closed(error)))
                raise

    def _endpoint(self, credential: bytes) -> Endpoint:
        endpoint = Endpoint(
            self._options.id,
            self._options.endpoint,
            self._options.connect,
            receive_frame_bytes_max=self._options.receive_frame_bytes_max,
            limits=m.VehicleLimits(maneuvers_stored_max=self._options.slots),
            guidance_wanted=self._is_cluster,
            on_prompt=self._ask if self._is_cluster else None,
            on_destination=self._ask if self._is_cluster else None,
            credential=credential,
            reconnection=Reconnection(refusal_delay=None),
        )
        endpoint._on_event = self._handle
        self._shower = endpoint
        return endpoint

    @property
    def _is_cluster(self) -> bool:
        """Whether it answers, and does not only watch."""
        return self._options.commands or self._options.accept_prompts is not None

    async def _ask(self, asked: m.Prompt | m.ShareDestination) -> bool:
        """The answer to a question: of the command line, or of the next command."""
        if not self._options.commands:
            return bool(self._options.accept_prompts == "yes")
        if isinstance(asked, m.ShareDestination):
            return True  # No command answers it.
        question: asyncio.Future[bool] = self._loop.create_future()
        self._questions.append(question)
        try:
            return await question
        finally:
            self._questions.remove(question)

    def _begin(self, call: Coroutine[object, object, None]) -> None:
        task = self._loop.create_task(call)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _obey_lines(self, endpoint: Endpoint) -> None:
        """Does what the lines of standard input say; its end is that of the program."""
        reader = asyncio.StreamReader()
        await self._loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            try:
                self._obey(line.decode("utf-8", "replace").split(), endpoint)
            except ValueError as error:  # Also a Rejection.
                _note(str(error))
        self._finish(0)

    def _obey(self, words: list[str], endpoint: Endpoint) -> None:
        match words:
            case ["waypoint" | "destination" as kind, latitude, longitude]:
                place = m.Waypoint(center=m.Coordinate(latitude=float(latitude), longitude=float(longitude)))
                self._request = secrets.token_hex(8)
                ask = endpoint.request_waypoint if kind == "waypoint" else endpoint.request_destination
                self._begin(self._tell(f"{kind} {latitude} {longitude}", ask(place, request_id=self._request)))
            case ["select", trip] | ["select", trip, _]:
                endpoint.select_preview(trip, _route(words))
            case ["start"] if not self._state.previews:
                _note("there is no trip to start")
            case ["start"] | ["start", _] | ["start", _, _]:
                trip = words[1] if len(words) > 1 else self._state.selected_preview or self._state.previews[0].id
                self._request = secrets.token_hex(8)
                self._begin(self._tell(f"start {trip}", endpoint.start_trip(trip, _route(words), request_id=self._request)))
            case ["withdraw"] if self._request:
                endpoint.withdraw(self._request)
            case ["yes" | "no" as answer] if open_ones := [each for each in self._questions if not each.done()]:
                open_ones[-1].set_result(answer == "yes")
            case ["cancel"]:
                self._begin(self._tell("cancel", endpoint.cancel_navigation()))
            case ["own"]:
                self._begin(self._tell("own", endpoint.cancel_navigation(m.CancelReason.OWN_NAVIGATION_STARTED)))
            case ["allow"]:
                endpoint.allow_navigation()
            case ["quit"]:
                self._finish(0)
            case ["withdraw"] | ["yes"] | ["no"]:
                _note(f"there is nothing to answer with {words[0]}")
            case [_, *_]:
                _note(f"{words[0]} is no command; the commands are {COMMANDS}")

    @staticmethod
    async def _tell(what: str, call: Coroutine[object, object, object]) -> None:
        """Prints how a request ended on standard error."""
        try:
            _note(f"{what}: {await call}")
        except WaymarkError as error:
            _note(f"{what}: {error}")

    def _handle(self, event: Event) -> None:
        match event:
            case Connected():
                self._was_connected = True
                self._print(_json.connection(event))
            case Connecting() if self._was_connected:
                self._print(_json.connection(event))
            case Closed() if self._was_connected:
                self._print(_json.connection(event))
                if not isinstance(event.error, ClosedError):
                    _note(f"Error: {event.error}")
                    self._finish(FAILURE)
            case Update():
                self._update(event)

    def _update(self, update: Update) -> None:
        if update.message is None and update.name != "forgotten":
            return  # A publication that this version does not know.
        now, before = datetime.now(UTC), self._state
        self._state = update.state
        self._print(_json.message(update), now)
        if update.state != before:
            is_whole = update.state.is_complete and update.state.snapshot_end is None
            if self._options.states == "full" or (self._options.states == "shown" and is_whole):
                self._print(_json.state(update.state), now)
            elif self._options.states == "changes" and (change := _json.change(update.state, before)) is not None:
                self._print(change, now)
            if is_whole and self._shower is not None:
                self._shower.mark_shown(update.state.sequence)
        if self._options.until and update.state.phase is Phase.ENDED:
            is_finished = update.state.end_reason == SessionEndReason.FINISHED
            if self._options.until == "ended" or is_finished == (self._options.until == "finished"):
                self._finish(0)

    def _finish(self, status: int) -> None:
        if not self._end.done():
            self._end.set_result(status)

    def _print(self, content: _json.Object, at: datetime | None = None) -> None:
        try:
            print(_json.line(content, at or datetime.now(UTC)), flush=True)
        except OSError as error:
            # Nothing more can be written, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                self._finish(128 + signal.SIGPIPE)
            else:
                _note(f"Error: the output cannot be written: {error.strerror}")
                self._finish(FAILURE)


class _Signals:
    """SIGINT and SIGTERM end a program, although what it waits for never comes."""

    def __init__(self, interrupt: Callable[[int], None]) -> None:
        """interrupt: called with the exit status at the first signal; it must make the program end soon."""
        self._interrupt = interrupt
        self._timer: threading.Timer | None = None
        self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore(self) -> None:
        """The program has ended."""
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        status = 128 + number
        if self._timer is not None:
            os._exit(status)
        self._timer = threading.Timer(_PATIENCE, os._exit, (status,))
        self._timer.daemon = True
        self._timer.start()
        self._interrupt(status)


def _route(words: list[str]) -> int:
    """The route choice that a command names behind the trip; 0 for none."""
    return int(words[2]) if len(words) > 2 else 0


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit status."""
    top = parser()
    options = top.parse_args(arguments)
    if options.accept_prompts is None and not options.watch and not options.commands:
        _note("only watching; --accept-prompts makes this a cluster that is ready and answers")

    async def run() -> int:
        cluster = Cluster(options)
        signals = _Signals(cluster.interrupt)
        try:
            return await cluster.run()
        finally:
            signals.restore()

    try:
        return asyncio.run(run())
    except Rejection as error:
        top.error(str(error))
        return USAGE
    except ValueError as error:
        top.error(str(error))
        return USAGE
    except (WaymarkError, OSError) as error:
        _note(f"Error: {error}")
        return FAILURE
