#!/usr/bin/env python3
"""seeded_bugs.py [--own] [--only NAME] [--routes NAME,NAME] [--seconds N] [--daemon PROGRAM] [--waymark PROGRAM] [--check]: drives each
bug of Tests/SeededBugs along another route than it was written for, with a real gateway, and prints which `waymark lint --live` finds.

All drives take place at the same time, each with a vehicle of its own. A drive without a bug on each route must have no findings.
--own: along the route that the bug was written for. --routes: along these. --check: fails if fewer than 90 of 100 are found."""

import argparse
import asyncio
import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUGS = ROOT / "Tests/SeededBugs"
sys.path.insert(0, str(BUGS))

import client as bugs  # noqa: E402, I001
from waymark_nav import Endpoint  # noqa: E402

# Drives that begin together would all publish at the same instants.
APART = 0.05
# Rules that wait decide within this time after a drive.
AFTER = 11
# The client of the example in C without a bug.
C_BASE, C_LINE = "c-none", "C example"
BINARIES = ROOT / ".build/release"


def runs(options):
    """(client, bug, route) of each drive; the bug of a drive without one is empty."""
    routes = list(bugs.ROUTES)
    chosen = options.routes.split(",") if options.routes else None
    for route in chosen or routes:
        yield f"none--{route}", "", route
    for bug, kind in bugs.all_bugs().items():
        if options.only and options.only not in bug:
            continue
        other = routes[(routes.index(kind.written_for) + 1) % len(routes)]
        for route in chosen or [kind.written_for if options.own else other]:
            yield f"{bug}--{route}", bug, route


def c_runs(options, folder):
    """The same for the bugs of the example in C, whose route is its own."""
    source = BUGS / "navigate_bugs.c"
    if options.routes or not source.exists():
        return []
    program = folder / "navigate-bugs"
    compile_c(source, program)
    names = [name for name in program_output(program, "--list").split() if options.only in f"c-{name}"]
    return [(f"c-{name}", name, program) for name in names]


def compile_c(source, program):
    wire = ROOT / "Sources/CWaymarkWire"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libprotobuf-c"], check=True, capture_output=True, text=True).stdout.split()
    files = [str(file) for file in (wire / "waymark/v1").glob("*.c")]
    examples = f"-I{ROOT / 'Docs/examples'}"
    subprocess.run(
        [shutil.which("cc") or "clang", "-O1", "-o", str(program), str(source), *files, examples, f"-I{wire}/include", *flags], check=True
    )


def program_output(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


async def run_python(folder, number, name, bug, route, seconds):
    await asyncio.sleep(number * APART)
    async with Endpoint(name, "cluster", f"unix:{folder}/vehicle.sock") as car:
        car.set_ready()
        try:
            await bugs.drive(f"unix:{folder}/navigation.sock", name, bug, route, seconds, name)
        except Exception as error:  # A bug may end its own drive; what was published until then is judged.
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)


async def run_c(folder, number, name, bug, program, seconds, is_far):
    far = ["--route", "far"] if is_far else []
    await asyncio.sleep(number * APART)
    async with Endpoint(name, "cluster", f"unix:{folder}/vehicle.sock") as car:
        car.set_ready()
        process = await asyncio.create_subprocess_exec(
            str(program),
            "--bug",
            bug,
            *far,
            f"unix:{folder}/navigation.sock",
            name,
            name,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
        )
        process.stdin.write(b"start\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(round(seconds * bugs.STEPS_PER_SECOND)):
                await asyncio.sleep(1 / bugs.STEPS_PER_SECOND)
                process.stdin.write(b"step\n")
                await process.stdin.drain()
            process.stdin.write(b"finish\nquit\n")
            await process.stdin.drain()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 5)
        if process.returncode is None:
            process.kill()
            await process.wait()


async def judge(options, folder):
    """The rules that found something, by client."""
    listeners = [part for kind in ("vehicle", "navigation", "observer") for part in (f"--{kind}-listen", f"unix:{folder}/{kind}.sock")]
    daemon = await asyncio.create_subprocess_exec(options.daemon, *listeners, "--log-level", "critical", stdout=asyncio.subprocess.DEVNULL)
    lint = await asyncio.create_subprocess_exec(
        options.waymark,
        "lint",
        "--live",
        "--json",
        "--wait",
        "20",
        "--connect",
        f"unix:{folder}/observer.sock",
        stdout=asyncio.subprocess.PIPE,
    )
    found = {}

    async def read():
        async for line in lint.stdout:
            entry = json.loads(line)
            if entry.get("kind") == "finding":
                found.setdefault(entry["peer"], set()).add(entry["rule"])

    reader = asyncio.create_task(read())
    try:
        await asyncio.sleep(2)
        python = list(runs(options))
        drives = [run_python(folder, number, *run, options.seconds) for number, run in enumerate(python)]
        drives += [run_c(folder, number, *run, options.seconds, not options.own) for number, run in enumerate(c_runs(options, folder))]
        await asyncio.gather(*drives)
        await asyncio.sleep(AFTER)
    finally:
        for process in (lint, daemon):
            if process.returncode is None:
                process.terminate()
        await asyncio.gather(lint.wait(), daemon.wait())
        await reader
    return found


def show(options, found, c_names):
    """Prints the table; returns whether enough is found and no drive without a bug has a finding."""
    alarms, hits, total = 0, 0, 0
    rows = [(name, bugs.all_bugs()[bug].line if bug else "", bool(bug)) for name, bug, _ in runs(options)]
    rows += [(name, C_LINE, name != C_BASE) for name in c_names]
    for name, line, is_bug in rows:
        # The example in C has findings without a bug: it drives in four steps, again and again.
        base = C_BASE if line == C_LINE else f"none--{name.rpartition('--')[2]}"
        known = found.get(base, set()) if is_bug else set()
        rules = found.get(name, set()) - known
        if is_bug:
            total += 1
            hits += bool(rules)
        else:
            alarms += bool(rules) and name != C_BASE
        verdict = (
            "found"
            if rules and is_bug
            else "not found"
            if is_bug
            else "silent"
            if not rules
            else "known"
            if name == C_BASE
            else "FALSE ALARM"
        )
        print(f"{name:36} {line:18} {verdict:11} {' '.join(sorted(rules))}")
    print(f"{hits} of {total} bugs found, {alarms} false alarms")
    return alarms == 0 and hits * 100 >= total * 90


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--routes", default="")
    parser.add_argument("--seconds", type=float, default=24)
    parser.add_argument("--daemon", default=str(BINARIES / "waymarkd"))
    parser.add_argument("--waymark", default=str(BINARIES / "waymark"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="seeded-") as name:
        folder = Path(name)
        c_names = [run[0] for run in c_runs(options, folder)]
        is_right = show(options, asyncio.run(judge(options, folder)), c_names)
    sys.exit(0 if is_right or not options.check else 1)


if __name__ == "__main__":
    main()
