"""The lanes of a run. They share the processors, and each takes its steps in the order of the table.

The front lane runs one step at a time: the tests, which have deadlines. The lane behind computes in processor time that is idle: release
and sanitized builds, fuzzing, instruction counts. The lane beside runs drives by the real clock, which mostly wait, before everything else.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plan import Step

#: Steps of a lane at a time.
AT_A_TIME = {"front": 1, "behind": 2, "beside": 3}


@dataclass
class Result:
    """How a step ended."""

    step: Step
    status: int
    began: float
    seconds: float
    processor_seconds: float
    log: Path


class Run:
    """A run of steps. The first that fails ends all."""

    def __init__(self, steps: list[Step], part: str, folder: Path, root: Path, told: Callable[[Result], None]) -> None:
        self.waiting = list(steps)
        self.part, self.folder, self.root, self.told = part, folder, root, told
        self.began = time.monotonic()
        self.results: dict[str, Result] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.is_failed = False
        self.changed = threading.Condition()

    def all(self) -> list[Result]:
        """Runs all steps, and returns the results of those that ran, in the order in which they ended."""
        threads = [threading.Thread(target=self._serve, args=(lane,)) for lane, count in AT_A_TIME.items() for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:
            self.end()
            raise
        return list(self.results.values())

    def end(self) -> None:
        """Ends what runs, with everything that it started in its process group."""
        with self.changed:
            self.is_failed = True
            for process in self.running.values():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
            self.changed.notify_all()

    def _serve(self, lane: str) -> None:
        while step := self._next(lane):
            self._finish(self._perform(step))

    def _next(self, lane: str) -> Step | None:
        """The next step of a lane whose needs have passed; waits for it. None if there is none, or a step has failed."""
        with self.changed:
            while not self.is_failed:
                mine = [step for step in self.waiting if step.lane == lane]
                if not mine:
                    return None
                for step in mine:
                    planned = {each.name for each in self.waiting} | set(self.running)
                    if not planned & set(step.needs):
                        self.waiting.remove(step)
                        # Reserves its name, because it is neither waiting nor running until its process has started.
                        process = self._start(step)
                        self.running[step.name] = process
                        return step
                self.changed.wait()
        return None

    def _start(self, step: Step) -> subprocess.Popen[bytes]:
        command, environment = step.filled(self.part)

        # Behind, a nice value is not enough: SwiftPM resets it for compilers.
        first = {"behind": ["chrt", "--idle", "0"], "beside": ["nice", "-n", "-10"] if os.geteuid() == 0 else []}
        with open(self.folder / step.name, "wb") as log:
            return subprocess.Popen(
                [*first.get(step.lane, []), "bash", "-c", command],
                cwd=self.root,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _perform(self, step: Step) -> Result:
        began = time.monotonic()
        process = self.running[step.name]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Result(
            step=step,
            status=process.returncode,
            began=began - self.began,
            seconds=time.monotonic() - began,
            processor_seconds=usage.ru_utime + usage.ru_stime,
            log=self.folder / step.name,
        )

    def _finish(self, result: Result) -> None:
        with self.changed:
            del self.running[result.step.name]
            self.results[result.step.name] = result
            if not (self.is_failed and result.status < 0):
                self.told(result)
            has_failed = result.status != 0 and not self.is_failed
            self.changed.notify_all()
        if has_failed:
            self.end()
