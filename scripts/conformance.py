#!/usr/bin/env python3
"""conformance.py [--write] [--archive FILE] [--daemon PROGRAM] [--waymark PROGRAM] [--reports FOLDER] [--slowness FACTOR] [--only NAME]:
builds the archive and runs it against our own implementations. Fails if a case fails, or if the table in Docs/conformance.md is not what
was found. --write writes the table. --archive only builds the archive.
--slowness multiplies the deadlines of the cases and of the suite, by default by 2. --only runs one implementation, without the table.
Tests/ConformanceTests/mutants.py runs the suite against implementations with one bug each."""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "Sources/conformance"
TESTS = ROOT / "Tests/ConformanceTests"
sys.path.insert(0, str(TESTS))

import straight_engine  # noqa: E402

PAGE = ROOT / "Docs/conformance.md"
BEGIN, END = "<!-- verdicts: made by scripts/conformance.py --write -->", "<!-- end of verdicts -->"
# Seconds that the suite may take for one implementation, times the slowness.
SECONDS_MAX = 60
MAIN = "from waymark_conformance.__main__ import entry\n\nentry()\n"


def archive(path):
    """The zipapp; the same sources make the same bytes."""
    files = sorted(file for file in SOURCE.rglob("*") if file.suffix in (".py", ".json"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as out:
        out.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, data in [("__main__.py", MAIN.encode())] + [(str(file.relative_to(SOURCE)), file.read_bytes()) for file in files]:
                zipped.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    path.chmod(0o755)


def compile_examples(folder):
    """The examples in C."""
    wire = ROOT / "Sources/CWaymarkWire"
    flags = shlex.split(
        subprocess.run(["pkg-config", "--cflags", "--libs", "libprotobuf-c"], check=True, capture_output=True, text=True).stdout
    )
    sources = [str(file) for file in (wire / "waymark/v1").glob("*.c")]
    for name in ("cluster", "navigate"):
        program = str(ROOT / f"Docs/examples/{name}.c")
        subprocess.run(
            [shutil.which("cc") or "clang", "-O1", "-o", str(folder / name), program, *sources, f"-I{wire}/include", *flags], check=True
        )


def peers(options, folder, engine):
    """Our implementations, with the places of their programs, and the address of a routing engine."""
    places = {
        "{engine}": engine,
        "{daemon}": options.daemon,
        "{waymark}": options.waymark,
        "{root}": str(ROOT),
        "{build}": str(folder),
        "python3 ": f"{sys.executable} ",
    }

    def fill(value):
        if isinstance(value, dict):
            return {key: fill(each) for key, each in value.items()}
        if isinstance(value, str):
            for place, text in places.items():
                value = value.replace(place, text)
        return value

    for peer in json.loads((TESTS / "peers.json").read_text(encoding="utf-8")):
        needs = peer.pop("needs", None)
        if not needs or (ROOT / needs).exists():
            yield fill(peer)


def run_peer(program, peer, folder, options):
    """Runs the archive against a peer; returns its verdicts."""
    described, result, reasons = folder / "peer.json", folder / "result.json", peer.pop("lacks", {})
    described.write_text(json.dumps(peer), encoding="utf-8")
    command = [sys.executable, str(program), "--peer", str(described), "--json", str(result), "--slowness", f"{options.slowness:g}"]
    if options.reports:
        command += ["--html", str(Path(options.reports) / f"{peer['name'].replace(' ', '-')}.html")]
    began = time.monotonic()
    status = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    seconds = time.monotonic() - began
    print(status.stdout.splitlines()[-1] if status.stdout else f"{peer['name']}: no output", flush=True)
    if status.returncode not in (0, 1):
        sys.exit(f"{peer['name']}: the suite could not run")
    most = SECONDS_MAX * options.slowness
    if seconds > most:
        sys.exit(f"{peer['name']}: took {seconds:.0f} s, more than {most:.0f} s")
    found = json.loads(result.read_text(encoding="utf-8"))
    for case in found["cases"]:
        if case["verdict"] == "FAILED":
            print(f"  FAILED {case['id']} {case['title']}: {case['why']}", flush=True)
        elif case["verdict"] == "UNIMPLEMENTED":
            case["reason"] = reasons.get(case["why"])
            if not case["reason"]:
                print(f"  UNIMPLEMENTED {case['id']} without a reason in peers.json: {case['why']}", flush=True)
    return found


def table(found):
    """The table of the page: counts, then what is not OK."""
    verdicts = ["OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED", "FAILED"]
    lines = ["| implementation | role | cases | " + " | ".join(verdicts) + " |", "|---|---|" + "---|" * 6]
    for result in found:
        numbers = [result["counts"][verdict] for verdict in verdicts]
        lines.append(f"| {result['name']} | {result['role']} | {sum(numbers)} | " + " | ".join(map(str, numbers)) + " |")
    lines += ["", "| not OK | verdict | implementations | why |", "|---|---|---|---|"]
    others = {}
    for result in found:
        for case in result["cases"]:
            if case["verdict"] != "OK":
                key = (case["id"], case["title"], case["verdict"], case.get("reason") or "")
                others.setdefault(key, []).append(result["name"])
    for (identifier, title, verdict, reason), names in others.items():
        lines.append(f"| {identifier}: {title} | {verdict} | {', '.join(names)} | {reason} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--archive", metavar="FILE")
    parser.add_argument("--daemon", default=str(ROOT / ".build/release/waymarkd"))
    parser.add_argument("--waymark", default=str(ROOT / ".build/release/waymark"))
    parser.add_argument("--reports", metavar="FOLDER")
    parser.add_argument("--slowness", type=float, default=2.0, metavar="FACTOR")
    parser.add_argument("--only", metavar="NAME")
    options = parser.parse_args()
    if options.archive:
        archive(Path(options.archive))
        return
    subprocess.run([sys.executable, ROOT / "scripts/generate/conformance.py", "--check"], check=True)
    if options.reports:
        os.makedirs(options.reports, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="waymark-conformance-"))
    try:
        program = folder / "waymark-conformance.pyz"
        archive(program)
        compile_examples(folder)
        with straight_engine.running() as engine:
            chosen = [peer for peer in peers(options, folder, engine) if options.only in (None, peer["name"])]
            if not chosen:
                sys.exit(f"none of our implementations is called {options.only}")
            if options.only:
                sys.exit(any(run_peer(program, peer, folder, options)["counts"]["FAILED"] for peer in chosen))
            subprocess.run([sys.executable, "-m", "unittest", "-q", "test_conformance", "test_later"], check=True, cwd=TESTS)
            check([run_peer(program, peer, folder, options) for peer in chosen], options.write)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check(found, is_writing):
    """Compares the table with that of the page, or writes it there."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    old, after = rest.split(END)
    new = f"\n\n{table(found)}\n\n"
    if is_writing:
        PAGE.write_text(before + BEGIN + new + END + after, encoding="utf-8")
    failed = sum(result["counts"]["FAILED"] for result in found)
    if failed:
        sys.exit(f"{failed} cases failed")
    silent = sum(case["verdict"] == "UNIMPLEMENTED" and not case["reason"] for result in found for case in result["cases"])
    if silent:
        sys.exit(f"{silent} UNIMPLEMENTED cases have no reason in Tests/ConformanceTests/peers.json")
    if not is_writing and old != new:
        missing = sorted(set(new.splitlines()) ^ set(old.splitlines()))
        sys.exit("Docs/conformance.md has another table: run scripts/conformance.py --write\n" + "\n".join(missing))


if __name__ == "__main__":
    main()
