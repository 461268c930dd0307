"""The pytest plugin: fixtures `gateway`, `rig` and `recording`, coroutine tests that use them, and scenario files as tests."""

from __future__ import annotations

import asyncio
import inspect
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from waymark_nav.rig._programs import FOLDER_BYTES_MAX, Gateway
from waymark_nav.rig._recording import Recording
from waymark_nav.rig._rig import Rig
from waymark_nav.rig._scenarios import ScenarioFile

_LOG_LINES = _VERDICTS_MAX = 40
_IS_COROUTINE = pytest.StashKey[bool]()


@pytest.fixture
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A waymarkd of the test's own, on Unix sockets: `gateway.vehicle`, `gateway.navigation`, `gateway.observer`."""
    folder = tmp_path_factory.mktemp("waymark")
    is_too_long = len(str(folder).encode()) > FOLDER_BYTES_MAX
    if is_too_long:
        folder = Path(tempfile.mkdtemp(prefix="wm-", dir="/tmp"))
    running = Gateway(folder)
    try:
        running.start()
        yield running
        status = running.stop()
        assert status == 0, f"waymarkd ended with status {status}:\n{running.log}"
    finally:
        running.stop()
        if is_too_long:
            shutil.rmtree(folder)


@pytest.fixture
def rig(gateway: Gateway) -> Rig:
    """Vehicles, clients and programs at a gateway of the test's own, for a coroutine test."""
    return Rig(gateway)


@pytest.fixture
def recording(gateway: Gateway, request: pytest.FixtureRequest) -> Iterator[Recording]:
    """A recording of what crosses the test's gateway. If the test fails, it is kept in .waymark, and the report names it."""
    running = Recording(gateway, gateway.folder / "recording", request.config.invocation_params.dir, request.node.nodeid)
    try:
        running.start()
        yield running
    finally:
        running.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keeps the recording of a test that failed."""
    report = yield
    recording = getattr(item, "funcargs", {}).get("recording")
    if report.failed and isinstance(recording, Recording):
        for path in (os.path.relpath(each, item.config.invocation_params.dir) for each in recording.keep()):
            report.sections.append(("recording", f"waymark recording show {shlex.quote(path)}"))
            item.user_properties.append(("recording", path))
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function):
        item.stash[_IS_COROUTINE] = inspect.iscoroutinefunction(item.obj)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs coroutine tests that use the rig, or a gateway of the rig. All others are left to pytest and to other plugins."""
    ours = [each for each in pyfuncitem.funcargs.values() if isinstance(each, Rig | Gateway)]
    if not ours or not pyfuncitem.stash.get(_IS_COROUTINE, False):
        return None
    # Plugins for asyncio wrap coroutine tests before they are called.
    function: Callable[..., Coroutine[Any, Any, object]] = inspect.unwrap(pyfuncitem.obj, stop=inspect.iscoroutinefunction)
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(function).parameters if name in pyfuncitem.funcargs}
    rigs = [each for each in ours if isinstance(each, Rig)]
    try:
        with asyncio.Runner() as runner:
            runner.run(_run(function, arguments, rigs[0] if rigs else None))
    except BaseException:
        for each in ours:
            if isinstance(each, Gateway):
                pyfuncitem.add_report_section("call", "waymarkd", "\n".join(each.log.splitlines()[-_LOG_LINES:]))
        raise
    finally:
        for rig in rigs:
            _add_verdicts(pyfuncitem, rig._verdicts())
    return True


def _add_verdicts(item: pytest.Item, lines: list[str]) -> None:
    """Properties for JUnit; and what pytest shows of a test that failed, if it expected more than one thing."""
    item.user_properties += [("expectation", line) for line in lines]
    if len(lines) > 1:
        more = len(lines) - _VERDICTS_MAX
        shown = [f"… {more} more", *lines[-_VERDICTS_MAX:]] if more > 0 else lines
        item.add_report_section("call", "expectations", "\n".join(shown))


async def _run(function: Callable[..., Coroutine[Any, Any, object]], arguments: dict[str, Any], rig: Rig | None) -> None:
    __tracebackhide__ = True
    if rig is None:
        await function(**arguments)
        return
    async with rig:
        await function(**arguments)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Scenario files are tests, which `waymark test` runs."""
    if not file_path.name.endswith(".scenario.yaml"):
        return None
    collected: ScenarioFile = ScenarioFile.from_parent(parent, path=file_path)
    return collected
