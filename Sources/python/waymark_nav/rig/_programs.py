"""The programs that a test starts: a private gateway, clients, and programs of the user's."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from waymark_nav.rig._conditions import group_condition
from waymark_nav.rig._errors import RigError, RigFailure
from waymark_nav.rig._lines import LINE_MAX, Line, LinePattern
from waymark_nav.rig._times import NANOSECONDS, Time, nanoseconds

_SETTINGS = """\
listeners:
  - {{ address: "unix:{folder}/vehicle", roles: [vehicle] }}
  - {{ address: "unix:{folder}/navigation", roles: [navigation] }}
  - {{ address: "unix:{folder}/observer", roles: [observer], observe: content, observe-without-consent: true }}
"""
#: For the gateway to listen, and to end; in seconds.
_PATIENCE = 30.0
#: The longest path of a Unix socket, without the longest name in the folder.
FOLDER_BYTES_MAX = 107 - len("/navigation")
#: Variables of the environment of a service: they are about this process, not about the daemon.
_OF_SYSTEMD = {"WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM", "STATE_DIRECTORY"}
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


#: Starts waymarkd with the descriptor that the process before has stored. A shell cannot give it its first argument.
_HEIR = """\
import os, sys
descriptor, program, *command = sys.argv[1:]
os.dup2(int(descriptor), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="handover")
os.execv(program, command)
"""


class _ServiceManager:
    """What systemd is to a daemon: it hears that the daemon is ready, and keeps what the next process continues with. See sd_notify(3)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._stored: int | None = None

    def hear(self, patience: float) -> list[bytes]:
        """The fields of the next message; none if none comes in time."""
        self._socket.settimeout(patience)
        try:
            data, descriptors, _, _ = socket.recv_fds(self._socket, 4_096, 16)
        except TimeoutError:
            return []
        fields = data.split(b"\n")
        if b"FDSTORE=1" in fields and descriptors:
            self._forget()
            self._stored = descriptors.pop(0)
        # Closing them says that what came before is stored: a barrier.
        for descriptor in descriptors:
            os.close(descriptor)
        return fields

    def take_stored(self) -> int | None:
        """What the last process has stored, which the caller owns."""
        stored, self._stored = self._stored, None
        return stored

    def _forget(self) -> None:
        if (stored := self.take_stored()) is not None:
            os.close(stored)

    def close(self) -> None:
        self._forget()
        self._socket.close()
        self.path.unlink(missing_ok=True)


class Gateway:
    """A waymarkd of this test's own, on Unix sockets in a folder."""

    def __init__(self, folder: Path) -> None:
        if len(os.fsencode(folder)) > FOLDER_BYTES_MAX:
            raise RigError(f"{folder} is too long for Unix sockets")
        self.folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._manager: _ServiceManager | None = None
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

    @property
    def _restart_mark(self) -> Path:
        return self.folder / "restart"

    def _log_path(self, number: int) -> Path:
        return self.folder / f"waymarkd-{number}.log"

    def start(self) -> None:
        """Starts the daemon; returns when it listens. Blocks: in a test, await kill() or restart()."""
        settings = self.folder / "waymarkd.yaml"
        settings.write_text(_SETTINGS.format(folder=self.folder), encoding="utf-8")
        if self._manager is None:
            self._manager = _ServiceManager(self.folder / "notify")
        self._start(self._manager, None)

    def _start(self, manager: _ServiceManager, stored: int | None) -> None:
        self._starts += 1
        log = self._log_path(self._starts)
        command = ["waymarkd", "--config", str(self.folder / "waymarkd.yaml")]
        path = program("waymarkd")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LISTEN_") and name not in _OF_SYSTEMD} | {
            "NOTIFY_SOCKET": str(manager.path),
            "WAYMARKD_RESTART_MARK": str(self._restart_mark),
        }
        self._restart_mark.unlink(missing_ok=True)
        with log.open("wb") as file:
            if stored is None:
                self._process = subprocess.Popen(command, executable=path, stdin=subprocess.DEVNULL, stderr=file, env=environment)
            else:
                heir = [sys.executable, "-I", "-c", _HEIR, str(stored), path, *command]
                self._process = subprocess.Popen(heir, stdin=subprocess.DEVNULL, stderr=file, env=environment, pass_fds=(stored,))
                os.close(stored)
        end = time.monotonic() + _PATIENCE
        while b"READY=1" not in manager.hear(0.05):
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop(signal.SIGKILL)
                raise RigError(f"waymarkd did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends the daemon; returns its exit status. Blocks: in a test, await kill() or restart()."""
        status = self._end(number)
        if self._manager is not None:
            self._manager.close()
            self._manager = None
        return status

    def _end(self, number: signal.Signals) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        if process.poll() is None:
            process.send_signal(number)
        end = time.monotonic() + _PATIENCE
        while (status := process.poll()) is None:
            if time.monotonic() > end:
                process.kill()
            if self._manager is None:
                return process.wait()
            self._manager.hear(0.01)
        return status

    def _hand_over(self) -> None:
        manager = self._manager
        if manager is None or self._process is None:
            raise RigError("the gateway does not run, so it cannot hand anything over")
        self._restart_mark.touch()
        self._end(signal.SIGTERM)
        stored = manager.take_stored()
        if stored is None:
            raise RigError(f"waymarkd handed nothing over to the next process:\n{self.log[-2_000:]}")
        self._start(manager, stored)

    async def restart(self) -> None:
        """Restarts the daemon as systemd does: the next process continues with all connections."""
        await asyncio.to_thread(self._hand_over)

    async def kill(self, *, after: Time | None = None, number: signal.Signals = signal.SIGKILL) -> None:
        """Ends the daemon as a crash does, or with another signal, and starts a new one after some time."""
        await asyncio.to_thread(self.stop, number)
        if after is not None:
            await asyncio.sleep(nanoseconds(after) / NANOSECONDS)
        await asyncio.to_thread(self.start)


class Process:
    """A program that takes part in a test. The rig ends it with the test."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self._process = process
        self._lines: deque[Line] = deque(maxlen=_LINES_MAX)
        self._news = asyncio.Event()
        self._count = 0
        self._reading = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def start(cls, name: str, command: list[str], environment: dict[str, str] | None) -> Process:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                # Open and empty.
                stdin=asyncio.subprocess.PIPE,
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
        return "\n".join(line.text for line in self._lines)

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

    def printed(self, expression: str, where: Mapping[str, Any] | None = None, *, after: Line | None = None) -> list[Line]:
        """The lines, of those that are kept, in which a regular expression is found. `where` has conditions of its named groups (?<name> ).

        The dialect is that of scenario files, which takes time in proportion to the line.
        """
        pattern = LinePattern(expression)
        conditions = {name: group_condition(literal, name) for name, literal in (where or {}).items()}
        if missing := sorted(set(conditions) - set(pattern.groups)):
            raise RigError(f"{expression} has no group (?<{missing[0]}> )")
        found = []
        for line in self._lines:
            if after is not None and line.number <= after.number:
                continue
            groups = pattern.values(line.text)
            if groups is not None and all(condition.holds(groups.get(name)) for name, condition in conditions.items()):
                found.append(replace(line, groups=groups))
        return found

    async def prints(self, expression: str, where: Mapping[str, Any] | None = None, *, within: Time, after: Line | None = None) -> Line:
        """The first such line, of those that it has printed already, or prints within the time. Raises RigFailure if none comes."""
        end = asyncio.get_running_loop().time() + nanoseconds(within) / NANOSECONDS
        while not (found := self.printed(expression, where, after=after)):
            self._news.clear()
            try:
                async with asyncio.timeout_at(end):
                    if self._reading.done():
                        raise TimeoutError
                    await self._news.wait()
            except TimeoutError:
                conditions = f" where {dict(where)}" if where else ""
                raise RigFailure(f"{self.name} did not print {expression}{conditions} within {within}:\n{self.output}") from None
        return found[0]

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
            for line in lines:
                self._keep(line)
            # The begin of a line is what is kept of it.
            rest = rest[: 4 * LINE_MAX]
        if rest:
            self._keep(rest)
        self._news.set()

    def _keep(self, line: bytes) -> None:
        self._count += 1
        text = line.decode("utf-8", "replace")[:LINE_MAX].rstrip("\r")
        self._lines.append(Line(time.monotonic_ns(), text, self._count))
        self._news.set()

    def _note(self) -> list[str]:
        """For reports: how it ended, if it did not end well."""
        if not self.status:
            return []
        last = self._lines[-1].text if self._lines else "no output"
        return [f"{self.name} ended with status {self.status}: {last}"]
