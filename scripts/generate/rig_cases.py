#!/usr/bin/env python3
"""rig_cases.py [--check]: makes Tests/RigCases; --check only compares the files with what would be made.

Tests/RigCases/README.md says what is in them.
"""

import json
import sys

import rig_counts
import rig_scenarios
import rig_words
from protocol import ROOT, put

FOLDER = ROOT / "Tests/RigCases"


def files():
    """The cases of each file, by its name."""
    words = rig_words.all_cases() + rig_counts.all_cases()
    scenarios = rig_scenarios.all_cases()
    for cases in (words, scenarios):
        names = [case["name"] for case in cases]
        for name in names:
            if names.count(name) > 1:
                sys.exit(f"two cases are called {name}")
    return {"words.json": words, "scenarios.json": scenarios}


def text(cases):
    """One case a line."""
    lines = (json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(arguments):
    put({FOLDER / name: text(cases) for name, cases in files().items()}, arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
