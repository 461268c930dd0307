"""Tests of the plan and of the lanes of .ci/run."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import ci
import plan
from lanes import AT_A_TIME, Run, unfinished
from plan import PARTS, ROOT, Step, Table

#: A landing takes at most so many seconds.
LANDING_MAX = 30 * 60
#: No part waits for more landings.
WAIT_MAX = 10
BEGIN, END = "<!-- steps: made by .ci/run --table -->\n\n", "\n\n<!-- end of steps -->"


def predicted(steps: list[Step]) -> float:
    """When the last step ends, if each takes the seconds of the table."""
    ends: dict[str, float] = {}
    waiting = list(steps)
    free = {lane: [0.0] * count for lane, count in AT_A_TIME.items()}
    names = {step.name for step in steps}
    while waiting:
        step = next(step for step in waiting if all(need in ends for need in (*step.needs, *step.after) if need in names))
        lane = free[step.lane]
        lane.sort()
        began = max([lane[0]] + [ends[need] for need in (*step.needs, *step.after) if need in names])
        lane[0] = ends[step.name] = began + step.seconds
        waiting.remove(step)
    return max(ends.values())


class PlanTests(unittest.TestCase):
    def setUp(self) -> None:
        self.table = plan.read()

    def test_contributing_has_the_table(self) -> None:
        page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        written = page.split(BEGIN)[1].split(END)[0]
        self.assertEqual(written, ci.markdown(self.table), "CONTRIBUTING.md has another table: see .ci/run --table")

    def test_every_step_of_the_rotation_runs_in_some_part(self) -> None:
        for step in self.table.steps:
            with self.subTest(step.name):
                self.assertEqual(step.runs == "rotation", step.is_sweep or bool(step.parts))
        for part in range(PARTS):
            self.assertTrue(any(part in step.parts for step in self.table.steps), f"part {part} has no step of its own")

    def test_what_a_part_leaves_out_of_all_is_covered_by_a_step_that_only_all_runs(self) -> None:
        names = {step.name for step in self.table.everything()}
        for step in self.table.steps:
            if step.is_part_only:
                self.assertIn(step.name.split("-")[0], names)

    def test_all_of_a_sweep_has_the_time_of_all_its_parts(self) -> None:
        allowed = {step.name: step.seconds for step in self.table.everything()}
        for step in self.table.steps:
            if step.name in allowed:
                self.assertEqual(allowed[step.name], step.seconds * (PARTS if step.is_sweep else 1), step.name)

    def test_no_part_waits_longer_than_ten_landings(self) -> None:
        if plan.git("rev-parse", "--is-shallow-repository").strip() == "true":
            self.skipTest("a shallow clone does not know its landings")
        merges = [number for is_merge, number in plan.landings() if is_merge][-100:]
        self.assertLessEqual(plan.longest_wait(merges), WAIT_MAX)

    def test_a_landing_of_each_part_fits_its_time(self) -> None:
        for part in range(PARTS):
            with self.subTest(part=part):
                self.assertLessEqual(predicted(self.table.landing(part)), LANDING_MAX)

    def test_every_path_says_what_it_can_break(self) -> None:
        areas = set(self.table.areas)
        for pattern, can_break in self.table.paths:
            self.assertLessEqual(set(can_break), areas, pattern)
        self.assertEqual(self.table.areas_of("Sources/python/waymark_nav/_client.py"), ("rules", "python", "conformance"))
        self.assertEqual(self.table.areas_of("Sources/WaymarkGateway/Gateway.swift"), tuple(self.table.areas))

    def test_no_step_waits_for_a_later_one_of_its_lane(self) -> None:
        order = [step.name for step in self.table.steps]
        for step in self.table.steps:
            for need in (*step.needs, *step.after):
                self.assertLess(order.index(need), order.index(step.name), f"{step.name} needs {need}")

    def test_a_shallow_clone_runs_part_0(self) -> None:
        with tempfile.TemporaryDirectory() as folder:

            def run(*words: str) -> None:
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder, check=True, capture_output=True)

            run("init", "-q", "whole")
            for name in ("a", "b"):
                run("-C", "whole", "commit", "-q", "--allow-empty", "-m", name)
            run("clone", "-q", "--depth", "1", f"file://{folder}/whole", "shallow")
            self.assertEqual(plan.part_of_head(Path(folder) / "shallow"), 0)
            self.assertEqual(len(plan.landings(Path(folder) / "whole")), 2)

    def test_the_longest_wait_is_the_number_of_landings_without_a_part(self) -> None:
        self.assertEqual(plan.longest_wait([0, 1, 2, 0, 1, 2], 3), 2)
        self.assertEqual(plan.longest_wait([0, 1, 1, 1, 1, 0, 2], 3), 6)


class RunTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.told: list[str] = []

    def run_steps(self, *steps: Step, part: str = "1/5") -> Run:
        run = Run(list(steps), part, self.folder, self.folder, lambda result: self.told.append(result.step.name))
        run.all()
        return run

    def started(self, run: Run) -> threading.Thread:
        """Runs in a thread, and returns it when the first step has made the file `begun`."""
        thread = threading.Thread(target=run.all)
        thread.start()
        while not (self.folder / "begun").exists():
            thread.join(0.01)
        return thread

    @staticmethod
    def step(name: str, command: str, lane: str = "front", needs: tuple[str, ...] = (), **more: dict[str, str]) -> Step:
        return Step(name, command, "landing", 1, 1, lane, needs, ("rules",), **more)

    def test_a_step_runs_after_what_it_needs(self) -> None:
        run = self.run_steps(
            self.step("b", "cat made", needs=("a",)),
            self.step("a", "echo hello >made", lane="behind"),
            self.step("c", "true", needs=("b",)),
        )
        self.assertEqual([run.results[name].status for name in "abc"], [0, 0, 0])
        self.assertEqual((self.folder / "b").read_text(), "hello\n")

    def test_a_step_that_fails_leaves_out_what_needs_it(self) -> None:
        run = self.run_steps(
            self.step("bad", "exit 3"),
            self.step("never", "touch ran", needs=("bad",)),
            self.step("nor", "touch ran", lane="behind", needs=("never",)),
            self.step("other", "true", lane="behind"),
            self.step("last", "true", needs=("other",)),
        )
        self.assertTrue(run.is_failed)
        self.assertEqual({name: result.status for name, result in run.results.items()}, {"bad": 3, "other": 0, "last": 0})
        self.assertEqual(run.left_out, ["never", "nor"])
        self.assertFalse((self.folder / "ran").exists())

    def test_a_run_that_is_ended_ends_what_runs(self) -> None:
        run = Run([self.step("long", "touch begun; sleep 600"), self.step("next", "true")], "0/5", self.folder, self.folder, lambda _: None)
        ended = self.started(run)
        run.end()
        ended.join()
        self.assertEqual({name: result.status for name, result in run.results.items()}, {"long": -15})

    def test_a_step_that_does_not_end_is_ended_and_says_what_it_was_doing(self) -> None:
        log = '◇ Test ends() started.\n◇ Test "it hangs" started.\n✔ Test ends() passed after 0.1 seconds.'
        (self.folder / "lines").write_text(f"{log}\n", encoding="utf-8")
        # It has begun when its process is `sleep`.
        stuck = self.step("stuck", "cat lines; sleep 600 & until grep -q ^sleep /proc/$!/cmdline; do :; done; touch begun; wait")
        run = Run([stuck, self.step("next", "true")], "0/5", self.folder, self.folder, lambda _: None)
        ended = self.started(run)
        run.cut(stuck)
        ended.join()
        self.assertEqual({name: result.status for name, result in run.results.items()}, {"stuck": -15, "next": 0})
        found = (self.folder / "stuck").read_text(encoding="utf-8").split("error:", 1)[1]
        self.assertIn("stuck did not end in time", found)
        self.assertIn('error: this test did not end: "it hangs"\n', found)
        self.assertNotIn("ends()", found)
        self.assertRegex(found, r"error: this process runs: \d+ \w sleep 600\n")

    def test_the_time_of_a_step_behind_begins_when_the_front_is_done(self) -> None:
        steps = [self.step("front", "touch begun; until [ -e go ]; do sleep 0.01; done"), self.step("behind", "sleep 600", "behind")]
        run = Run(steps, "0/5", self.folder, self.folder, lambda result: self.told.append(result.step.name))
        with mock.patch.object(Step, "seconds_max", property(lambda step: 0.01 if step.lane == "behind" else 600)):
            ended = self.started(run)
            # Ten times what a step behind is allowed.
            ended.join(0.1)
            (self.folder / "go").touch()
            ended.join()
        self.assertEqual(self.told, ["front", "behind"])
        self.assertEqual(run.results["behind"].status, -15)

    def test_tests_that_did_not_end_are_found_in_a_log(self) -> None:
        log = """
            ◇ Test run started.
            ◇ Suite SomeTests started.
            ◇ Test "it passes" started.
            ◇ Test "it fails" started.
            ◇ Test "it has cases" started.
            ◇ Test case passing 1 argument text → "a" to "it has cases" started.
            ◇ Test "it hangs after 3" started.
            ✔ Test case passing 1 argument text → "a" to "it has cases" passed after 0.001 seconds.
            ✔ Test "it passes" passed after 0.001 seconds.
            ✘ Test "it fails" failed after 0.001 seconds with 1 issue.
            ✔ Test "it has cases" with 1 test case passed after 0.001 seconds.
        """
        self.assertEqual(unfinished(log), ['"it hangs after 3"'])

    def test_a_sweep_is_told_its_part(self) -> None:
        run = self.run_steps(self.step("sweep", "echo $PART {part}", environment={"PART": "{part}"}))
        self.assertEqual(run.results["sweep"].status, 0)
        self.assertEqual((self.folder / "sweep").read_text(), "1/5 1/5\n")


class TableTests(unittest.TestCase):
    def test_an_area_brings_what_it_needs(self) -> None:
        step = RunTests.step
        table = Table((step("a", "true"), step("b", "true", needs=("a",)), step("c", "true", needs=("b",))), ())
        self.assertEqual([each.name for each in table.with_needs([table.step("b")])], ["a", "b"])

    def test_an_unknown_need_is_an_error(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "steps.toml"
            path.write_text(
                '[[step]]\nname = "a"\ncommand = "true"\nruns = "landing"\nseconds = 1\nprocessor-seconds = 1\nneeds = ["b"]\n'
                '[[path]]\npattern = "*"\nareas = []\n'
            )
            with self.assertRaisesRegex(ValueError, "a: needs"):
                plan.read(path)


if __name__ == "__main__":
    unittest.main()
