#!/usr/bin/env python3
"""rig_cases.py [--check]: makes Tests/RigCases; --check only compares the files with what would be made.

Tests/RigCases/README.md says what is in them.
"""

import json
import sys
from pathlib import Path

import rig_counts
import rig_scenarios
import rig_words

FOLDER = Path(__file__).resolve().parents[2] / "Tests/RigCases"


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
    wrong = []
    for name, cases in files().items():
        path = FOLDER / name
        if arguments == ["--check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text(cases):
                wrong.append(name)
        else:
            path.write_text(text(cases), encoding="utf-8")
    if wrong:
        sys.exit(f"Tests/RigCases: {', '.join(wrong)} differ; run scripts/generate/rig_cases.py")


if __name__ == "__main__":
    main(sys.argv[1:])
