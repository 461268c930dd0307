#!/usr/bin/env python3
"""both_clocks.py [--waymark PROGRAM] [--gallery N] [--when N]: compares runs of the shipped scenarios by the real clock with virtual time.

Runs the whole gallery N times (default 3), and scenarios with a `when` as often as to have N runs in all (default 20). Every expectation
and every lint rule must have the verdict that it has in virtual time. Exits with 1 if one differs.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GALLERY = ROOT / "Sources/WaymarkCommandLine/Resources/scenarios"
SUFFIX = ".scenario.yaml"
# Scenarios at a time: they mostly wait.
JOBS = 16


def decisions(waymark, scenarios, *options):
    """What a run decided of each scenario, without instants."""
    run = subprocess.run([waymark, "test", "--json", *scenarios, *options], capture_output=True, text=True, check=False)
    found = set()
    for line in run.stdout.splitlines():
        result = json.loads(line)
        file = result.get("file", "")
        found.add((file, result.get("problem"), result["verdict"]))
        for each in result.get("expectations", []):
            found.add((file, f"{each.get('line')}:{each.get('column')} {each['text']}", each["verdict"]))
        for each in result.get("lints", []):
            found.add((file, each["rule"], f"{bool(each.get('findings'))}, {each.get('allowance')}"))
    return found


def compare(waymark, scenarios, times):
    """Runs scenarios by the real clock; returns how many runs differ from virtual time."""
    expected, differing = decisions(waymark, scenarios), 0
    for number in range(1, times + 1):
        start = time.monotonic()
        real = decisions(waymark, scenarios, "--clock", "real", "--jobs", str(JOBS))
        seconds = time.monotonic() - start
        print(f"{len(scenarios)} scenarios, run {number} of {times}: {len(real ^ expected)} differences, {seconds:.0f} s", flush=True)
        for side, found in (("virtual", expected - real), ("real", real - expected)):
            for file, what, verdict in sorted(found, key=str):
                print(f"  {side}: {file} {what}: {verdict}", flush=True)
        differing += real != expected
    return differing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--waymark", default=str(ROOT / ".build/release/waymark"))
    parser.add_argument("--gallery", type=int, default=3, metavar="N")
    parser.add_argument("--when", type=int, default=20, metavar="N")
    options = parser.parse_args()
    files = sorted(GALLERY.glob("*" + SUFFIX))
    if not files:
        sys.exit(f"no scenarios in {GALLERY}")
    with_when = [file for file in files if "when:" in file.read_text(encoding="utf-8")]
    names = {file: f"@gallery/{file.name.removesuffix(SUFFIX)}" for file in files}
    differing = compare(options.waymark, list(names.values()), options.gallery)
    differing += compare(options.waymark, [names[file] for file in with_when], max(0, options.when - options.gallery))
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
