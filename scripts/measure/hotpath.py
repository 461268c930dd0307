#!/usr/bin/env python3
"""hotpath.py [--update] [--top N] [--part PART] [SCENARIO...]: counts the hot path's instructions and allocations under callgrind.

Compares them with Tests/Benchmarks/HotPath/counts.json. Fails if a scenario takes more than 3 % more of either than the committed
count, or less than half, and prints the functions that grew. --update writes the file, --top prints the N most expensive
functions, --part counts `one`, `fan` and a part of the others: 2/5 every fifth from the third on. Counts do not depend on the load of the
machine, but on the compiler and the C library.

Of `drives` it also counts what is not in simulated caches, whose sizes are the same on all machines. Of these misses, 5 % more fail.
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
    "drives": 4,
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
#: Scenarios of which misses are counted, too.
WITH_MISSES = ("drives",)
#: A first-level cache as most processors have it, and behind it one that holds the program and the state of few drives.
CACHES = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")
#: What callgrind counts, by cache.
MISSES = {"I1": ("I1mr",), "D1": ("D1mr", "D1mw"), "LL": ("ILmr", "DLmr", "DLmw")}
GROWTH_MAX = 1.03
MISS_GROWTH_MAX = 1.05
SHRINKAGE_MIN = 0.5
# Functions below this share of a scenario are not written to the file.
SHARE_MIN = 0.005


class Profile:
    """The instructions of one run by function, and the misses by cache and function."""

    def __init__(self, path):
        self.cost = collections.Counter()
        self.misses = {cache: collections.Counter() for cache in MISSES}
        events = []
        names, function, is_call = {}, None, False
        for line in Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            if match := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
                is_callee, number, name = match.groups()
                # Callgrind marks recursion by a suffix of the name.
                name = names.setdefault(number, name and name.split("'")[0])
                if not is_callee:
                    function = name
            elif line.startswith("events: "):
                events = line.split()[1:]
            elif line.startswith("calls="):
                is_call = True
            elif line.startswith(tuple("0123456789+-*")) and function:
                if not is_call:
                    # What is zero at the end of a line is left out.
                    counts = dict(zip(events, map(int, line.split()[1:]), strict=False))
                    self.cost[function] += counts["Ir"]
                    for cache, names_of_events in MISSES.items():
                        self.misses[cache][function] += sum(counts.get(event, 0) for event in names_of_events)
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
                *(CACHES if scenario in WITH_MISSES else ()),
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
    counts = {
        "instructions": round(profile.total / frames, 1),
        "allocations": round(allocations / frames, 2),
        "deliveries": deliveries / frames,
        "functions": by_function(profile.cost, frames),
    }
    if scenario in WITH_MISSES:
        counts["misses"] = {cache: round(sum(misses.values()) / frames, 1) for cache, misses in profile.misses.items()}
        counts["functionsThatMiss"] = by_function(profile.misses["LL"], frames, digits=2)
    return counts


def by_function(cost, frames, digits=1):
    """What each function costs per frame, the most expensive first, without those that cost little."""
    least = sum(cost.values()) * SHARE_MIN
    names = [name for name, its in cost.items() if its >= least]
    readable = demangled(names)
    functions = collections.Counter()
    for name in names:
        functions[readable[name]] += cost[name]
    return {name: round(its / frames, digits) for name, its in functions.most_common()}


def misses_grew(now, before, top):
    """Prints the misses of a scenario. Returns whether those of a cache grew by too much."""
    failed = False
    for cache, count in now["misses"].items():
        committed = before["misses"][cache]
        print(f"  misses in {cache:5} {count:13.1f} {committed:10.1f} {count / committed:6.3f}")
        failed = failed or count > committed * MISS_GROWTH_MAX
    for name, count in list(now["functionsThatMiss"].items())[:top]:
        print(f"    {count:10.2f}  {name[:150]}")
    if failed:
        print(f"  misses grew by more than {MISS_GROWTH_MAX - 1:.0%}; most of those in LL in")
        for more, name in grown(now["functionsThatMiss"], before["functionsThatMiss"])[:10]:
            print(f"    {more:+10.2f}  {name[:150]}")
    return failed


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
        has_more_misses = scenario in WITH_MISSES and misses_grew(now, before, options.top)
        if options.update:
            committed[scenario] = now
            continue
        failed = failed or has_more_misses
        if ratio < SHRINKAGE_MIN:
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
