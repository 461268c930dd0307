#!/usr/bin/env python3
"""mutants.py [--find] [--part N/M] [--daemon PROGRAM] [NAME...]: runs implementations with one bug each against the conformance suite.

Each must be caught by the case that mutants.json names. With --find it runs each against all cases, until the first that catches it,
and writes mutants.json, which also names those that escape. At most 2 % may. --part 2/5 runs every fifth, from the third on.
"""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "Sources/conformance"), str(ROOT / "scripts/measure")]
from sweep_part import sweep_part  # noqa: E402

from waymark_conformance.cases import load_cases  # noqa: E402
from waymark_conformance.peers import Peer  # noqa: E402
from waymark_conformance.run import FAILED, GatewayStage, run_all  # noqa: E402

from endpoint_mutants import ENDPOINTS  # noqa: E402
from gateway_mutants import DOWN, UP, Proxy  # noqa: E402
from observer_mutants import OBSERVERS  # noqa: E402
from peer_mutants import BOTH, CLIENTS  # noqa: E402

EXAMPLES, PACKAGE = ROOT / "Docs/examples", ROOT / "Sources/python"
RECORD = HERE / "mutants.json"
ESCAPED_MAX = 0.02
# An example for this role does not use what these change, or no sentence forbids it.
WITHOUT_EFFECT = {
    ("client", "reads the session in the wrong byte order"),
    ("observer", "reads the session in the wrong byte order"),
    ("observer", "sends what waits before the Welcome"),
    ("observer", "gives up at a body that it cannot read"),
}
# Setups whose gateway is another one after the case: each of their cases has a gateway of its own.
ONCE = {"stopping", "changing", "limiting", "regrouping"}
# Mutants whose bug is what the proxy does to all frames: it passes on whole ones.
OF_PROXY = {"takes only whole frames for a sign of life"}
# Mutants at a time, when all cases are run and when one is; cases of one of them at a time.
FINDING, CHECKING, JOBS = 4, 10, 8


def mutants():
    """Role, name and what is needed to make it of all mutants."""
    for role, changes in (("endpoint", ENDPOINTS), ("client", CLIENTS), ("observer", OBSERVERS)):
        for name, file, old, new in BOTH + changes:
            if (role, name) not in WITHOUT_EFFECT:
                yield role, name, (file, old, new)
    for name in {**DOWN, **UP}:
        yield "gateway", name, None


def place_of(file):
    """Where a file that a mutant changes is."""
    return (PACKAGE if file.startswith("waymark_nav/") else EXAMPLES) / file


def make(role, change, folder):
    """The mutated example or package, as a peer; without a text to replace, as it is."""
    file, old, new = change
    for example in EXAMPLES.glob("*.py"):
        shutil.copy(example, folder)
    shutil.copytree(PACKAGE / "waymark_nav", Path(folder) / "waymark_nav", ignore=shutil.ignore_patterns("__pycache__"))
    if old:
        text = place_of(file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"{file}: the text of a mutant is there {text.count(old)} times: {old}")
        (Path(folder) / file).write_text(text.replace(old, new), encoding="utf-8")
    if file.startswith("waymark_nav/"):
        command = f"{sys.executable} {HERE}/nav_driver.py {role} tcp:127.0.0.1:{{port}} {{vehicle}}"
        driver = [*{"observer": ["state", "entries"]}.get(role, ["state", "json", "screen", "gauge", "previews"]), "commands", "reconnects"]
        return Peer(
            role,
            command,
            driver=driver,
            setups={"slots": {"command": f"{command} 2"}, "simulating": {}},
            environment={"PYTHONPATH": str(folder)},
        )
    program, driver = {
        "endpoint": ("cluster.py", ["state", "commands", "screen"]),
        "client": ("navigate.py", ["commands", "gauge"]),
        "observer": ("observe.py", ["state", "entries", "commands"]),
    }[role]
    return Peer(role, f"{sys.executable} {folder}/{program} tcp:127.0.0.1:{{port}} {{vehicle}}", driver=driver)


def order(case):
    """Fast cases first; those about times last, because a busy machine fails them, too."""
    return "-KEEP-" in case.id, case.deadline


def catch(result):
    """What of a result shows the bug: the case, or the law that its conversation broke."""
    laws = {case.law: case.id for case in load_cases(result.case.role) if case.law and case.of == "MUST"}
    for observed in result.observed:
        for law, _ in observed.broken:
            if law in laws:
                return laws[law]
    return result.case.id if result.verdict == FAILED else None


async def run_one(role, name, change, cases, gateway, shared):
    """Runs a mutant against cases; returns what caught it, and in which case, or None."""
    if role == "gateway":
        proxy = Proxy(name)
        stage = GatewayStage(gateway, proxy.route)
        is_shared = not any(case.alone or case.setup in ONCE for case in cases)
        if is_shared:
            stage.gateways, stage.locks = shared.gateways, shared.locks
        try:
            results = await run_all(cases, gateway, JOBS, stage=stage, order=order, stop=catch)
        finally:
            proxy.end()
            if not is_shared:
                await stage.end()
    else:
        with tempfile.TemporaryDirectory(prefix="waymark-mutant-") as folder:
            results = await run_all(cases, make(role, change, folder), JOBS, order=order, stop=catch)
    found = [(result.seconds, catch(result), result.case.id) for result in results if not result.case.law and catch(result)]
    return min(found)[1:] if found else None


async def judge(role, name, change, record, gateway, shared, is_finding):
    cases = [case for case in load_cases(role) if not case.law]
    if not is_finding:
        known = record.get(role, {}).get(name)
        if known is None:
            return None
        return await run_one(role, name, change, [case for case in cases if case.id == known["in"]], gateway, shared)
    once = [case for case in cases if case.setup in ONCE]
    others = [case for case in cases if case.setup not in ONCE]
    for part in ([case for case in others if not case.alone], [case for case in others if case.alone], *([case] for case in once)):
        while part and (found := await run_one(role, name, change, part, gateway, shared)):
            # A case that failed because the machine is busy, or of the proxy, catches nothing.
            again = [case for case in part if case.id == found[1]]
            if await run_one(role, name, change, again, gateway, shared) and (
                name in OF_PROXY or not await run_one(role, "", change and (change[0], "", ""), again, gateway, shared)
            ):
                return found
            part = [case for case in part if case.id != found[1]]
    return None


async def run(options):
    gateway = gateway_peer(options.daemon)
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    shared, lanes, found = GatewayStage(gateway), asyncio.Semaphore(FINDING if options.find else CHECKING), {}
    chosen = [each for each in mutants() if not options.names or each[1] in options.names or each[0] in options.names][options.part]

    async def one(role, name, change):
        async with lanes:
            found[role, name] = await judge(role, name, change, record, gateway, shared, options.find)
            if options.find:
                print(f"{role}: {name}: {'escaped' if not found[role, name] else ' in '.join(found[role, name])}", flush=True)

    try:
        await asyncio.gather(*(one(*each) for each in chosen))
    finally:
        await shared.end()
    return [(role, name, found[role, name]) for role, name, _ in chosen], record


def gateway_peer(daemon):
    peers = json.loads((HERE / "peers.json").read_text(encoding="utf-8"))
    described = dict(next(each for each in peers if each["role"] == "gateway"))
    described["command"] = described["command"].replace("{daemon}", daemon)
    for setup in described["setups"].values():
        if "command" in setup:
            setup["command"] = setup["command"].replace("{daemon}", daemon)
    return Peer(**described)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--find", action="store_true", help="runs each against all cases, and writes mutants.json")
    parser.add_argument("--daemon", default=str(ROOT / ".build/release/waymarkd"), help="the gateway behind the proxy")
    parser.add_argument("--part", type=sweep_part, default="all", metavar="N/M", help="only a part of them")
    parser.add_argument("names", nargs="*", help="only these mutants, or roles")
    options = parser.parse_args()
    results, record = asyncio.run(run(options))
    escaped = [f"{role}: {name}" for role, name, caught in results if not caught]
    if options.find:
        for role, name, caught in results:
            record.setdefault(role, {})[name] = {"by": caught[0], "in": caught[1]} if caught else None
        known = {(role, name) for role, name, _ in mutants()}
        record = {role: {name: record[role][name] for name in record[role] if (role, name) in known} for role in record}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    allowed = int(ESCAPED_MAX * sum(1 for _ in mutants()))
    for each in escaped:
        print(f"escaped: {each}")
    print(f"{len(results) - len(escaped)} of {len(results)} mutants were caught")
    return 0 if len(escaped) <= allowed else 1


if __name__ == "__main__":
    sys.exit(main())
