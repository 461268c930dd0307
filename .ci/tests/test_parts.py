"""Tests of the parts in which the boot tests run."""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from plan import PARTS, ROOT

BOOT_TESTS = ROOT / "Tests/BootTests"


def cases(*options: str) -> list[str]:
    """The names of the boot tests that run.sh would run with a package."""
    command = [BOOT_TESTS / "run.sh", "-l", "-p", "waymark.deb", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


class BootTestParts(unittest.TestCase):
    def setUp(self) -> None:
        self.all = sorted(path.stem for path in BOOT_TESTS.glob("cases/**/*.sh"))
        self.parts = [cases("-P", f"{part}/{PARTS}") for part in range(PARTS)]
        self.in_every_part = set.intersection(*map(set, self.parts))

    def test_all_are_all(self) -> None:
        self.assertEqual(sorted(cases()), self.all)
        self.assertEqual(sorted(cases("-P", "all")), self.all)

    def test_each_case_is_in_every_part_or_in_one(self) -> None:
        in_one = [name for part in self.parts for name in part if name not in self.in_every_part]
        self.assertEqual(sorted([*self.in_every_part, *in_one]), self.all)

    def test_installation_upgrade_restart_and_start_are_in_every_part(self) -> None:
        self.assertEqual(self.in_every_part, {"installs", "older", "restarts", "starts"})

    def test_something_else_is_no_part(self) -> None:
        for text in ("5/5", "2", "all/5", "-1/5"):
            with self.subTest(text), self.assertRaises(subprocess.CalledProcessError):
                cases("-P", text)


if __name__ == "__main__":
    unittest.main()
