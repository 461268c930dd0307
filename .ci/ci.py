#!/usr/bin/env python3
"""run [--all] [--part N] [--changed [BASE]] [--list] [--table] [--record] [AREA...]: runs checks.

Without options and AREA it runs those of a landing.

--all runs everything, also what a landing runs a part of: before a release, and after a change of the protocol or the gateway.
--part N runs the part N of the sweeps; without it the part follows from the commit, and is printed.
--changed runs what the paths that changed since BASE can break.
AREA runs the steps of an area. --list prints what would run, --table the table of CONTRIBUTING.md, and --record writes the measured seconds
of the steps into steps.toml.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import plan
from lanes import Result, Run
from plan import RUNS, Step, Table

#: Lines of a log that say nothing new.
NOISE = re.compile(rb"started\.\s*$|Test case .* passed after|^\[\d+/\d+\] ")
#: Lines of a log that say what failed.
FAILURES = re.compile(rb"\xe2\x9c\x98|(^|[^a-z])error:|^FAILED|^E  ")
#: Lines that summarize a step.
SUMMARIES = re.compile(
    rb"Test run with|\d+ passed|mutants were caught|^[^ ].*: .* OK|^(FAILED|skipped)|^scenarios find|^fault matrix.* covered|: red after"
)
LINES_MAX = 400


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def tell(result: Result) -> None:
    """Prints how a step ended, and its log."""
    ended = "" if result.status == 0 else f" FAILED with status {result.status}"
    print(
        f"\n== {result.step.name}: {clock(result.began)} to {clock(result.began + result.seconds)}, {result.seconds:.0f} s, "
        f"{result.processor_seconds:.0f} s of processor time{ended}",
        flush=True,
    )
    lines = [line for line in result.log.read_bytes().splitlines() if not NOISE.search(line)]
    if len(lines) > LINES_MAX:
        print(f"({len(lines) - LINES_MAX} lines are left out)")
        lines = lines[-LINES_MAX:]
    sys.stdout.buffer.write(b"\n".join(lines) + b"\n")
    sys.stdout.flush()


def summary(results: list[Result], took: float) -> None:
    """Prints where the time went, and at last what the tests say of themselves."""
    print(f"\n== summary: {clock(took)}\n\n| step | seconds | expected | processor seconds |\n|---|---|---|---|")
    for result in sorted(results, key=lambda each: each.began):
        print(f"| {result.step.name} | {result.seconds:.0f} | {result.step.seconds} | {result.processor_seconds:.0f} |")
    print(f"| all | {took:.0f} | | {sum(each.processor_seconds for each in results):.0f} |\n")
    for result in sorted(results, key=lambda each: each.step.name == "tests"):
        for line in result.log.read_bytes().splitlines():
            if SUMMARIES.search(line) and result.status == 0:
                # The last line is the runner's own, as it wrote it.
                print("" if result.step.name == "tests" else f"{result.step.name}: ", end="", flush=True)
                sys.stdout.buffer.write(line + b"\n")
                sys.stdout.flush()


def failures(results: list[Result]) -> None:
    """Prints what failed, at the end, because often only the end of a long output is kept."""
    for result in results:
        if result.status == 0:
            continue
        print(f"\n== {result.step.name} failed with status {result.status}")
        lines = result.log.read_bytes().splitlines()
        found = [index for index, line in enumerate(lines) if FAILURES.search(line) and not NOISE.search(line)]
        shown = sorted({near for index in found[:60] for near in range(index, min(index + 4, len(lines)))})
        sys.stdout.buffer.write(b"\n".join(lines[index] for index in shown) + b"\n...\n" + b"\n".join(lines[-20:]) + b"\n")
        sys.stdout.flush()


def in_parts(step: Step) -> str:
    """The parts in which a step runs, as the table says it; empty for all."""
    return f", in part {' and '.join(str(part) for part in step.parts)}" if step.parts else ""


def markdown(table: Table) -> str:
    """The table of CONTRIBUTING.md."""
    rows = [
        f"| {step.name} | {RUNS[step.runs]}{', a part' if step.is_sweep else ''}{in_parts(step)} | "
        f"{step.seconds} | {step.processor_seconds} | {', '.join(step.areas)} | `{step.command}` |"
        for step in table.steps
    ]
    return "\n".join(["| step | where | seconds | processor seconds | areas | command |", "|---|---|---|---|---|---|", *rows])


def record(results: list[Result]) -> None:
    """Writes measured seconds into steps.toml."""
    path = plan.HERE / "steps.toml"
    blocks = path.read_text(encoding="utf-8").split("[[step]]")
    for result in results:
        for index, block in enumerate(blocks):
            if f'name = "{result.step.name}"\n' in block:
                block = re.sub(r"\nseconds = \d+", f"\nseconds = {max(1, round(result.seconds))}", block)
                blocks[index] = re.sub(
                    r"\nprocessor-seconds = \d+", f"\nprocessor-seconds = {max(1, round(result.processor_seconds))}", block
                )
    path.write_text("[[step]]".join(blocks), encoding="utf-8")


def choose(options: argparse.Namespace, table: Table) -> tuple[list[Step], str]:
    """The steps of a run and the part of the sweeps, as steps.toml writes it."""
    part = plan.part_of_head() if options.part is None else options.part
    if not 0 <= part < plan.PARTS:
        sys.exit(f"there is no part {part}: parts are 0 to {plan.PARTS - 1}")
    unknown = set(options.areas) - set(table.areas)
    if unknown:
        sys.exit(f"there is no area {', '.join(sorted(unknown))}: areas are {', '.join(table.areas)}")
    text = f"{part}/{plan.PARTS}"
    if options.all:
        return table.everything(), "all"
    if options.changed is not None:
        areas: set[str] = set()
        for path in plan.changed_paths(options.changed or None):
            can_break = table.areas_of(path)
            areas |= set(can_break)
            print(f"{path}: {', '.join(can_break) or 'nothing'}")
        return table.of_areas(areas, part), text
    if options.areas:
        return table.of_areas(set(options.areas), part), text
    return table.landing(part), text


def main() -> int:
    parser = argparse.ArgumentParser(prog="run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--part", type=int, metavar="N")
    parser.add_argument("--changed", nargs="?", const="", metavar="BASE")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("areas", nargs="*", metavar="AREA")
    options = parser.parse_args()
    # `--list | head` ends quietly.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    table = plan.read()
    if options.table:
        print(markdown(table))
        return 0
    steps, part = choose(options, table)
    total = sum(step.processor_seconds for step in steps)
    print(f"part {part} of the sweeps; {len(steps)} steps, about {total / 60:.0f} minutes of processor time:")
    for step in steps:
        print(f"  {step.name}: about {clock(step.seconds)}")
    sys.stdout.flush()
    if options.list:
        return 0

    with tempfile.TemporaryDirectory(prefix="waymark-ci-") as folder:
        began = time.monotonic()
        run = Run(steps, part, Path(folder), plan.ROOT, tell)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        results = run.all()
        if run.is_failed:
            failures(results)
            if run.left_out:
                print(f"\nleft out, because a step that they need failed: {', '.join(run.left_out)}")
            return 1
        if options.record:
            record(results)
        summary(results, time.monotonic() - began)
    return 0


if __name__ == "__main__":
    sys.exit(main())
