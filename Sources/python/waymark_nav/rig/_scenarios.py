"""Scenario files as tests: `waymark test` reads and runs them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from waymark_nav.rig._errors import RigError
from waymark_nav.rig._programs import program
from waymark_nav.rig._report import verdict
from waymark_nav.rig._times import NANOSECONDS

_SUFFIX = ".scenario.yaml"


class ScenarioFailure(Exception):
    """What `waymark test` said of a scenario that failed."""


def _run(path: Path, *options: str) -> tuple[int, list[dict[str, Any]], str]:
    """The exit status of `waymark test`, its lines, and its errors."""
    done = subprocess.run(
        [program("waymark"), "test", "--json", *options, path.name],
        cwd=path.parent,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError:
        raise RigError(f"waymark test printed no JSON; it may be another version:\n{done.stdout}{done.stderr}") from None
    return done.returncode, lines, done.stderr.strip()


class ScenarioFile(pytest.File):
    """A scenario file."""

    def collect(self) -> Iterator[pytest.Item]:
        try:
            status, lines, errors = _run(self.path, "--list")
        except RigError as error:
            raise self.CollectError(str(error)) from None
        if status != 0 or not lines:
            raise self.CollectError(errors or f"waymark test ended with status {status}")
        yield Scenario.from_parent(self, name=self.path.name.removesuffix(_SUFFIX))


class Scenario(pytest.Item):
    """One scenario."""

    def runtest(self) -> None:
        status, lines, errors = _run(self.path)
        for line in lines:
            if "recording" in line:
                line["recording"] = os.path.relpath(self.path.parent / line["recording"], self.config.invocation_params.dir)
            self.user_properties += [(key, line[key]) for key in ("seed", "clock", "seconds", "recording") if key in line]
            self.user_properties += [("expectation", text) for text in _verdicts(line)]
        failures = [text for line in lines for text in _failures(self.path.name, line)]
        for name, output in (each for line in lines for each in _outputs(line)):
            self.add_report_section("call", name, "\n".join(output))
        if status != 0 or not lines:
            raise ScenarioFailure("\n\n".join(failures) or errors or f"waymark test ended with status {status}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, ScenarioFailure | RigError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, self.name


def _outputs(line: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """What also explains a failure: output of programs, the gateway's log, the recording. pytest shows it of tests that failed."""
    for each in line.get("programs", []):
        yield str(each.get("peer", "program")), each.get("output", [])
    if "gatewayLog" in line:
        yield "waymarkd", line["gatewayLog"]
    if "recordingProblem" in line:
        yield "recording", [line["recordingProblem"]]
    if "recording" in line:
        yield "recording", [f"waymark recording show {shlex.quote(line['recording'])}"]


def _verdicts(line: dict[str, Any]) -> Iterator[str]:
    """What became of each expectation, a line each."""
    for each in line.get("expectations", []):
        place = f"{each.get('line')}:{each.get('column')}"
        yield verdict(str(each.get("verdict")), round(each.get("seconds", 0) * NANOSECONDS), place, str(each.get("text", "")))


def _failures(name: str, line: dict[str, Any]) -> Iterator[str]:
    """Why a scenario failed."""
    if "problem" in line:
        yield f"{name}: {line['problem']}"
    for each in line.get("expectations", []):
        if each.get("verdict") != "passed":
            explanation = each.get("explanation") or [f"  {each.get('text', '')}: {each.get('verdict')}"]
            yield "\n".join([f"{name}:{each.get('line')}:{each.get('column')}", *explanation])
    for rule in line.get("lints", []):
        if "allowance" not in rule and rule.get("findings"):
            found = [f"  {each.get('seconds', 0):.3f}  {each.get('text', '')}" for each in rule["findings"]]
            yield "\n".join([f"{name}: {rule.get('rule')}: {rule.get('sentence')}", *found])
