"""The programs that a test starts: a private gateway, clients, and programs of the user's."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections import deque
from pathlib import Path

from waymark_nav.rig._errors import RigError
from waymark_nav.rig._times import NANOSECONDS, Time, nanoseconds

_SETTINGS = """\
listeners:
  - {{ address: "unix:{folder}/vehicle", roles: [vehicle] }}
  - {{ address: "unix:{folder}/navigation", roles: [navigation] }}
  - {{ address: "unix:{folder}/observer", roles: [observer], observe: content, observe-without-consent: true }}
"""
_LISTENERS = 3
#: For the gateway to listen, and to end; in seconds.
_PATIENCE = 30.0
#: The longest path of a Unix socket, without the longest name in the folder.
FOLDER_BYTES_MAX = 107 - len("/navigation")
#: So many lines of a program's output are kept.
_LINES_MAX = 200


def program(name: str) -> str:
    """The path of waymarkd or waymark: from $WAYMARKD or $WAYMARK, in the package waymark-nav-tools, or in $PATH.

    Why in this order: a variable is what the user wants now; the package has the version of this one, whatever else the machine has.
    What is started by the path gets `name` as its first argument: both programs are one executable.
    """
    variable = name.upper()
    wanted = os.environ.get(variable)
    path = shutil.which(wanted) if wanted else _packaged() or shutil.which(name)
    if path is None:
        raise RigError(
            f"there is no program {wanted or name}: install waymark-nav-tools or waymark, add its folder to PATH, or set {variable}"
        )
    return path


def _packaged() -> str | None:
    """The executable of the package waymark-nav-tools."""
    try:
        from waymark_nav_tools import EXECUTABLE
    except ImportError:
        return None
    return str(EXECUTABLE) if EXECUTABLE.exists() else None


def resource(folder: str, name: str) -> Path:
    """A route or a profile: one that ships with waymark, by its name, or a file."""
    path = Path(name)
    if path.suffix == ".json":
        if not path.is_file():
            raise RigError(f"{path} is no file")
        return path
    shipped = Path(
        os.environ.get("WAYMARK_RESOURCES") or Path(program("waymark")).resolve().parent / "waymark_WaymarkCommandLine.resources/Resources"
    )
    found = shipped / folder / f"{name}.json"
    if not found.is_file():
        known = ", ".join(sorted(each.stem for each in (shipped / folder).glob("*.json")))
        raise RigError(f"{name} is none of the {folder} in {shipped} ({known or 'there are none'}), and no file that ends with .json")
    return found


class Gateway:
    """A waymarkd of this test's own, on Unix sockets in a folder."""

    def __init__(self, folder: Path) -> None:
        if len(os.fsencode(folder)) > FOLDER_BYTES_MAX:
            raise RigError(f"{folder} is too long for Unix sockets")
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0

    @property
    def vehicle(self) -> str:
        """The address for vehicles."""
        return f"unix:{self.folder}/vehicle"

    @property
    def navigation(self) -> str:
        """The address for navigation clients."""
        return f"unix:{self.folder}/navigation"

    @property
    def observer(self) -> str:
        """The address for observers, who see content."""
        return f"unix:{self.folder}/observer"

    @property
    def log(self) -> str:
        """What it has logged."""
        logs = [self._log_path(number) for number in range(1, self._starts + 1)]
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in logs)

    @property
    def has_died(self) -> bool:
        """It has ended, although the test did not end it."""
        return self._process is not None and self._process.poll() is not None

    def _log_path(self, number: int) -> Path:
        return self.folder / f"waymarkd-{number}.log"

    def start(self) -> None:
        """Starts the daemon; returns when it listens. Blocks: in a test, await restart()."""
        settings = self.folder / "waymarkd.yaml"
        settings.write_text(_SETTINGS.format(folder=self.folder), encoding="utf-8")
        self._starts += 1
        log = self._log_path(self._starts)
        with log.open("wb") as file:
            command = ["waymarkd", "--config", str(settings)]
            self._process = subprocess.Popen(command, executable=program("waymarkd"), stdin=subprocess.DEVNULL, stderr=file)
        end = time.monotonic() + _PATIENCE
        while sum(line.endswith(b" listening") for line in log.read_bytes().splitlines()) < _LISTENERS:
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop(signal.SIGKILL)
                raise RigError(f"waymarkd did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")
            time.sleep(0.01)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends the daemon; returns its exit status. Blocks: in a test, await restart()."""
        process = self._process
        if process is None:
            return 0
        if process.poll() is None:
            process.send_signal(number)
        try:
            status = process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
        self._process = None
        return status

    async def restart(self, number: signal.Signals = signal.SIGKILL, *, after: Time | None = None) -> None:
        """Ends the daemon with a signal, by default as a crash does, and starts it again after some time."""
        await asyncio.to_thread(self.stop, number)
        if after is not None:
            await asyncio.sleep(nanoseconds(after) / NANOSECONDS)
        await asyncio.to_thread(self.start)


class Process:
    """A program that takes part in a test. The rig ends it with the test."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self._process = process
        self._lines: deque[str] = deque(maxlen=_LINES_MAX)
        self._reading = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def start(cls, name: str, command: list[str], environment: dict[str, str] | None) -> Process:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                env=None if environment is None else {**os.environ, **environment},
            )
        except OSError as error:
            raise RigError(f"{command[0]} cannot be run: {error.strerror}") from None
        return cls(name, process)

    @property
    def output(self) -> str:
        """The last lines that it has written, also to its standard error."""
        return "\n".join(self._lines)

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._process.returncode

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal, if it still runs."""
        if self._process.returncode is None:
            self._process.send_signal(number)

    async def wait(self, *, within: Time) -> int:
        """Its exit status, when it has ended. Raises RigError if it runs longer."""
        try:
            async with asyncio.timeout(nanoseconds(within) / NANOSECONDS):
                await asyncio.shield(self._reading)
                return await self._process.wait()
        except TimeoutError:
            raise RigError(f"{self.name} still runs after {within} s:\n{self.output}") from None

    async def _end(self) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.signal(number)
            try:
                async with asyncio.timeout(5):
                    await self._process.wait()
                    break
            except TimeoutError:
                continue
        # Why not awaited: a child of the program may hold its output open.
        self._reading.cancel()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        rest = b""
        while data := await self._process.stdout.read(65_536):
            *lines, rest = (rest + data).split(b"\n")
            self._lines += (line.decode("utf-8", "replace") for line in lines)
            rest = rest[-65_536:]
        if rest:
            self._lines.append(rest.decode("utf-8", "replace"))

    def _note(self) -> list[str]:
        """For reports: how it ended, if it did not end well."""
        if not self.status:
            return []
        last = self._lines[-1] if self._lines else "no output"
        return [f"{self.name} ended with status {self.status}: {last}"]
