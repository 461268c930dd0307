"""The lanes of a run. They share the processors, and each takes its steps in the order of the table.

The front lane runs one step at a time: the tests, which have deadlines. The lane behind computes in processor time that is idle: sanitized
builds, fuzzing, instruction counts. The lane beside runs what mostly waits, before everything else: drives by the real clock, Python's
tests, the page and boots.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plan import Step

#: Steps of a lane at a time.
AT_A_TIME = {"front": 1, "behind": 2, "beside": 4}
#: A step that was told to end is killed so many seconds later.
PATIENCE = 20.0
#: Lines in which Swift Testing says that a test began and ended.
BEGUN = re.compile(r"Test (?!run|case )(.*) started\.$")
ENDED = re.compile(r"Test (?!run|case )(.*?)(?: with \d+ test cases?)? (?:passed|failed) after [\d.]+ seconds")


def unfinished(log: str) -> list[str]:
    """The tests that a log of Swift Testing says began and did not end."""
    tests: dict[str, None] = {}
    for line in log.splitlines():
        if match := BEGUN.search(line):
            tests[match[1]] = None
        elif match := ENDED.search(line):
            tests.pop(match[1], None)
    return list(tests)


def commands(session: int) -> list[str]:
    """The processes of a session: id, state and command line of each."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end meanwhile.
        with contextlib.suppress(OSError):
            state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session:
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(f"{folder.name} {state} {words}".rstrip())
    return found


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
    """A run of steps. One that fails leaves out those that need it; the others go on, so that one run shows all failures."""

    def __init__(self, steps: list[Step], part: str, folder: Path, root: Path, told: Callable[[Result], None]) -> None:
        self.waiting = list(steps)
        self.steps = {step.name: step for step in steps}
        self.left_out: list[str] = []
        self.part, self.folder, self.root, self.told = part, folder, root, told
        self.began = time.monotonic()
        self.results: dict[str, Result] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.is_ended = False
        self.changed = threading.Condition()

    @property
    def is_failed(self) -> bool:
        return any(result.status != 0 for result in self.results.values())

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
            self.is_ended = True
            for process in self.running.values():
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
            self.changed.notify_all()

    def _serve(self, lane: str) -> None:
        while step := self._next(lane):
            self._finish(self._perform(step))

    def _next(self, lane: str) -> Step | None:
        """The next step of a lane whose needs have passed; waits for it. None if there is none, or the run was ended."""
        with self.changed:
            while not self.is_ended:
                self._leave_out()
                mine = [step for step in self.waiting if step.lane == lane]
                if not mine:
                    return None
                for step in mine:
                    unfinished = {each.name for each in self.waiting} | set(self.running)
                    if not unfinished & {*step.needs, *step.after}:
                        self.waiting.remove(step)
                        # Reserves its name, because it is neither waiting nor running until its process has started.
                        process = self._start(step)
                        self.running[step.name] = process
                        return step
                self.changed.wait()
        return None

    def _leave_out(self) -> None:
        """Takes the steps away that need one that failed or was itself left out. What a step needs is before it in the table."""
        lost = {name for name, result in self.results.items() if result.status != 0} | set(self.left_out)
        for step in list(self.waiting):
            if lost & set(step.needs):
                self.waiting.remove(step)
                self.left_out.append(step.name)
                lost.add(step.name)

    def _start(self, step: Step) -> subprocess.Popen[bytes]:
        command, environment = step.filled(self.part)

        # Behind, a nice value is not enough: SwiftPM resets it for compilers.
        first = {"behind": ["chrt", "--idle", "0"], "beside": ["nice", "-n", "-10"] if os.geteuid() == 0 else []}
        if step.lane == "behind":
            # The kernel shares time between the groups of sessions first, and only then by the policy.
            command = f"{{ echo 19 >/proc/self/autogroup; }} 2>/dev/null\n{command}"
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
        threading.Thread(target=self._watch, args=(step, process), daemon=True).start()
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

    def _watch(self, step: Step, process: subprocess.Popen[bytes]) -> None:
        """Ends a step that takes too long. The time of one behind begins when the last step of the front has ended: until then it may get
        no processor time at all."""
        with self.changed:
            if step.lane == "behind":
                self.changed.wait_for(lambda: self.running.get(step.name) is not process or not self._has_front())
            if self.changed.wait_for(lambda: self.running.get(step.name) is not process, step.seconds_max):
                return
        self.cut(step)

    def _has_front(self) -> bool:
        lanes = [each.lane for each in self.waiting] + [self.steps[name].lane for name in self.running]
        return "front" in lanes

    def cut(self, step: Step) -> None:
        """Ends a step that takes too long, and writes into its log what it was doing."""
        process = self.running.get(step.name)
        if process is None:
            return
        path = self.folder / step.name
        tests = unfinished(path.read_text(encoding="utf-8", errors="replace"))
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"\nerror: {step.name} did not end in time; {step.seconds_max} s are allowed\n")
            log.writelines(f"error: this test did not end: {test}\n" for test in tests)
            log.writelines(f"error: this process runs: {command:.200}\n" for command in commands(process.pid))
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.changed:
                if self.changed.wait_for(lambda: step.name not in self.running, PATIENCE if number == signal.SIGKILL else 0):
                    return
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)

    def _finish(self, result: Result) -> None:
        with self.changed:
            del self.running[result.step.name]
            self.results[result.step.name] = result
            if not (self.is_ended and result.status < 0):
                self.told(result)
            self.changed.notify_all()
