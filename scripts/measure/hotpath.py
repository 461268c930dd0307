#!/usr/bin/env python3
"""hotpath.py [--update] [--top N] [--part PART] [SCENARIO...]: counts the hot path's instructions and allocations under callgrind.

Compares them with Tests/Benchmarks/HotPath/counts.json. Fails if a scenario takes more than 3 % more of either than the committed
count, or less than half, and prints the functions that grew. --update writes the file, --top prints the N most expensive
functions, --part counts `one`, `fan` and a part of the others: 2/5 every fifth from the third on. Counts do not depend on the load of the
machine, but on the compiler and the C library.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sweep_part import sweep_part

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COUNTS = os.path.join(ROOT, "Tests/Benchmarks/HotPath/counts.json")
READS = {
    "one": 60,
    "fan": 30,
    "lone": 300,
    "fitted": 60,
    "route": 20,
    "request": 2000,
    "requests": 60,
    "connect": 10,
    "keepalive": 3,
    "one-acknowledged": 60,
    "lone-acknowledged": 300,
    "single": 320,
    "single-observed": 320,
    "one-observed": 60,
    "fan-observed": 30,
    "fan-observed-state": 30,
}
#: Scenarios that each part counts: a frame to one endpoint, and to many.
IN_EVERY_PART = ("one", "fan")
GROWTH_MAX = 1.03
SHRINKAGE_MIN = 0.5
# Functions below this share of a scenario are not written to the file.
SHARE_MIN = 0.005


class Profile:
    """The instructions of one run, by function."""

    def __init__(self, path):
        self.cost = collections.Counter()
        names, function, is_call = {}, None, False
        for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            if match := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
                is_callee, number, name = match.groups()
                # Callgrind marks recursion by a suffix of the name.
                name = names.setdefault(number, name and name.split("'")[0])
                if not is_callee:
                    function = name
            elif line.startswith("calls="):
                is_call = True
            elif line.startswith(tuple("0123456789+-*")) and function:
                if not is_call:
                    self.cost[function] += int(line.split()[1])
                is_call = False

    @property
    def total(self):
        return sum(self.cost.values())


def demangled(names):
    result = subprocess.run(
        ["swift", "demangle", "--simplified", "--compact"], input="\n".join(names), capture_output=True, text=True, check=True
    )
    return dict(zip(names, result.stdout.split("\n"), strict=False))


def measure(binary, scenario):
    """Runs a scenario and returns its counts per frame."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        # Why: Debian's valgrind cannot read Swift's debugging information.
        stripped = os.path.join(folder, "HotPath")
        subprocess.run(["strip", "--strip-debug", "-o", stripped, binary], check=True)
        run = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={out}",
                "--collect-atstart=no",
                "--toggle-collect=$s7HotPath7StationV7measure*",
                stripped,
                scenario,
                str(READS[scenario]),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"},
        )
        if run.returncode:
            sys.exit(run.stdout + run.stderr)
        words = run.stdout.split()
        frames, deliveries, allocations = int(words[1]), int(words[3]), int(words[5])
        profile = Profile(out)
    if not profile.total:
        sys.exit("nothing was collected: Station.measure was not found under its name")
    names = [name for name, cost in profile.cost.items() if cost >= profile.total * SHARE_MIN]
    readable = demangled(names)
    functions = collections.Counter()
    for name in names:
        functions[readable[name]] += profile.cost[name]
    return {
        "instructions": round(profile.total / frames, 1),
        "allocations": round(allocations / frames, 2),
        "deliveries": deliveries / frames,
        "functions": {name: round(cost / frames, 1) for name, cost in functions.most_common()},
    }


def grown(now, before):
    """The functions that cost more than before, the largest growth first."""
    growth = {name: cost - before.get(name, 0) for name, cost in now.items()}
    return sorted(((more, name) for name, more in growth.items() if more > 0), reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--top", type=int, default=0)
    parser.add_argument("--part", type=sweep_part, default="all", metavar="N/M", help="only `one`, `fan` and a part of the others")
    parser.add_argument("scenarios", nargs="*")
    options = parser.parse_args()
    if unknown := set(options.scenarios) - set(READS):
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}: scenarios are {', '.join(READS)}")
    others = [scenario for scenario in READS if scenario not in IN_EVERY_PART]
    scenarios = options.scenarios or [*IN_EVERY_PART, *others[options.part]]
    os.chdir(ROOT)
    subprocess.run(["scripts/release/link.sh", "HotPath"], check=True, stdout=sys.stderr)
    binary = ".build/static/HotPath"
    committed = json.loads(Path(COUNTS).read_text(encoding="utf-8")) if os.path.exists(COUNTS) else {}
    failed = False
    print(f"{'per frame':17} {'instructions':>13} {'committed':>10} {'ratio':>6} {'allocations':>12} {'committed':>10}")
    for scenario in scenarios:
        now = measure(binary, scenario)
        # A scenario without a committed count is compared with itself.
        before = committed.get(scenario, now)
        ratio = now["instructions"] / before["instructions"]
        print(
            f"{scenario:17} {now['instructions']:13.1f} {before['instructions']:10.1f} {ratio:6.3f}"
            f" {now['allocations']:12.2f} {before['allocations']:10.2f}"
        )
        for name, cost in list(now["functions"].items())[: options.top]:
            print(f"    {cost:10.1f}  {name[:150]}")
        if options.update:
            committed[scenario] = now
        elif ratio < SHRINKAGE_MIN:
            failed = True
            print(f"  {scenario} takes much less than the committed count, which no longer guards it: run --update")
        elif ratio > GROWTH_MAX or now["allocations"] > before["allocations"] * GROWTH_MAX + 0.01:
            failed = True
            print(f"  {scenario} grew by more than {GROWTH_MAX - 1:.0%}; most of it in")
            for more, name in grown(now["functions"], before["functions"])[:10]:
                print(f"    {more:+10.1f}  {name[:150]}")
    if options.update:
        with open(COUNTS, "w", encoding="utf-8") as file:
            json.dump(committed, file, indent=1, sort_keys=False)
            file.write("\n")
    sys.exit(1 if failed else 0)


main()
