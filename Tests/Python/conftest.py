"""What the tests share: a gateway of their own, both kinds of the package's objects, and a drive."""

from __future__ import annotations

import asyncio
import inspect
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import waymark_nav
import waymark_nav._blocking
import waymark_nav.sync

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
#: Runs pytest with the plugin in a folder of its own.
Run = Callable[..., pytest.RunResult]
#: Where waymarkd and waymark are.
PROGRAMS = Path(os.environ.get("WAYMARK_BIN", ROOT / ".build/release"))

# For programs that the tests start.
os.environ["PYTHONPATH"] = str(ROOT / "Sources/python")
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

#: Long times, for busy machines; and as many errors as a test makes.
SETTINGS = """
listeners:
  - {{ address: "unix:{folder}/v", roles: [vehicle] }}
  - {{ address: "unix:{folder}/n", roles: [navigation] }}
  - {{ address: "unix:{folder}/o", roles: [observer], observe: content, observe-without-consent: true }}
times: {{ handshake: 600s, keepalive: 600s, grace: 600s }}
limits: {{ errors: 1000000 }}
"""


@dataclass
class Gateway:
    """A waymarkd with sockets of its own."""

    folder: str
    process: subprocess.Popen[str] | None = None

    @property
    def vehicle(self) -> str:
        return f"unix:{self.folder}/v"

    @property
    def navigation(self) -> str:
        return f"unix:{self.folder}/n"

    @property
    def observer(self) -> str:
        return f"unix:{self.folder}/o"

    def start(self) -> None:
        """Starts the daemon; returns when it listens."""
        settings = Path(self.folder, "waymarkd.yaml")
        settings.write_text(SETTINGS.format(folder=self.folder))
        command = [str(PROGRAMS / "waymarkd"), "--config", str(settings)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        listening, log = 0, list[str]()
        assert self.process.stderr is not None
        while listening < 3:
            line = self.process.stderr.readline()
            assert line, f"waymarkd did not start: {log}"
            log.append(line)
            listening += line.rstrip().endswith(" listening")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends the daemon; returns its exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.communicate()
        return self.process.returncode


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    if not (PROGRAMS / "waymarkd").exists():
        pytest.fail(f"there is no waymarkd in {PROGRAMS}; set WAYMARK_BIN")
    folder = tempfile.mkdtemp(prefix="wn-")
    running = Gateway(folder)
    try:
        running.start()
        yield running
        if running.process is not None and running.process.poll() is None:
            assert running.stop() == 0
    finally:
        if running.process is not None and running.process.poll() is None:
            running.process.kill()
            running.process.communicate()
        shutil.rmtree(folder)


class Blocking:
    """A blocking object with the interface of its twin on asyncio, so that one test is for both.

    What blocks is called in a thread.
    """

    def __init__(self, inner: Any, twin: type) -> None:
        self.inner = inner
        self.twin = twin

    def __getattr__(self, name: str) -> Any:
        if name == "_cut":
            return lambda: waymark_nav._blocking.background.call(self.inner._peer._cut)
        value = getattr(self.inner, name)
        if not callable(value):
            return value
        if inspect.iscoroutinefunction(getattr(self.twin, name)):

            async def call(*arguments: Any, **named: Any) -> Any:
                result = await asyncio.to_thread(value, *arguments, **named)
                return Blocking(result, waymark_nav.Session) if isinstance(result, waymark_nav.sync.Session) else result

            return call

        def call_now(*arguments: Any, **named: Any) -> Any:
            result = value(*arguments, **named)
            return BlockingFeed(result) if isinstance(result, waymark_nav.sync.Feed) else result

        return call_now

    async def __aenter__(self) -> Blocking:
        await asyncio.to_thread(self.inner.__enter__)
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.inner.__exit__, *error)


class BlockingFeed:
    """A blocking feed as an asynchronous one."""

    def __init__(self, feed: waymark_nav.sync.Feed[Any]) -> None:
        self.feed = feed

    def __aiter__(self) -> BlockingFeed:
        return self

    async def __anext__(self) -> Any:
        def following() -> tuple[Any] | None:
            try:
                return (self.feed.next(),)
            except StopIteration:
                return None

        element = await asyncio.to_thread(following)
        if element is None:
            raise StopAsyncIteration
        return element[0]


def _blocking(name: str) -> Any:
    twin = getattr(waymark_nav, name)
    return lambda *arguments, **named: Blocking(getattr(waymark_nav.sync, name)(*arguments, **named), twin)


@pytest.fixture(params=["asyncio", "blocking"])
def api(request: pytest.FixtureRequest) -> SimpleNamespace:
    """The package's objects, on asyncio or blocking."""
    roles = ("Endpoint", "Client", "Observer")
    if request.param == "asyncio":
        return SimpleNamespace(Offer=waymark_nav.Offer, **{name: getattr(waymark_nav, name) for name in roles})
    return SimpleNamespace(Offer=waymark_nav.sync.Offer, **{name: _blocking(name) for name in roles})


CLIENT = """
from waymark_nav import Client, Session
from waymark_nav import messages as m

def place(latitude):
    return m.Waypoint(center=m.Coordinate(latitude=latitude, longitude=9.5))

async def drive(client, maneuver):
    session = await client.open_session("car")
    route = m.RouteInformation(maneuvers=(m.Maneuver(id=1, type=maneuver),), upcoming_maneuver_ids=(1,))
    await session.start(m.Trip(id="trip", origin=place(47), destination=place(48)), route)
    await session.update_maneuver_estimates(1, m.TravelEstimates(distance_remaining_meters=150))
    return session
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs pytest with the plugin on tests with a client."""
    monkeypatch.setenv("WAYMARKD", str(PROGRAMS / "waymarkd"))
    monkeypatch.setenv("WAYMARK", str(PROGRAMS / "waymark"))
    monkeypatch.setenv("WAYMARK_RESOURCES", str(ROOT / "Sources/WaymarkCommandLine/Resources"))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(small_client=CLIENT)
    short = Path("/tmp") / f"wr-{pytester.path.parent.name[-8:]}-{pytester.path.name[-12:]}"

    def run_pytest(*options: str, tests: str = "", is_rig: bool = True) -> pytest.RunResult:
        if tests:
            pytester.makepyfile(test_it=f"from small_client import *\nimport asyncio, pytest\n{tests}")
        plugin = ["-p", "waymark_nav.rig.plugin"] if is_rig else []
        return pytester.runpytest_subprocess(*plugin, *([] if "--basetemp" in options else ["--basetemp", str(short)]), *options)

    yield run_pytest
    shutil.rmtree(short, ignore_errors=True)
