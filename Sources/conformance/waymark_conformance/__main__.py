"""waymark-conformance: tests an implementation of the Waymark protocol, and reports what it does otherwise."""

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import textwrap
import time

from . import report
from .cases import ROLES, load_cases, select
from .peers import Peer, check_peer
from .run import FAILED, probe, run_all
from .schema import Malformed, load

EPILOG = """\
In the command, {port} is replaced by the port of loopback to connect to, or
to listen on, {vehicle} by the id of the vehicle, {file} by the path of a file
made from --file, {folder} by a new folder. Docs/conformance.md describes the
cases, the verdicts and the driver contract.

  --against "./my-cluster tcp:127.0.0.1:{port} {vehicle}"
  --role client --against "./my-app tcp:127.0.0.1:{port} {vehicle}"
  --role gateway --against "./my-gateway -v {port} -c {client_port}"

Exit status: 0 if no case failed, 1 if one did, 2 if the suite could not run,
or could not write what it found.
"""

# Cases mostly wait, so several run on each processor.
JOBS = 8 * (os.cpu_count() or 1)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="waymark-conformance", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only the cases whose id, or whose requirement's id, begins so")
    parser.add_argument("--against", metavar="COMMAND", help="the implementation to test")
    parser.add_argument("--role", choices=ROLES, help="what it is (default: endpoint)")
    parser.add_argument("--file", metavar="TEMPLATE", help="a text file for the command, in which the same names are replaced")
    parser.add_argument(
        "--driver",
        metavar="PARTS",
        default=None,
        help="which parts of the driver contract it has, such as state,commands, or none (default: tried)",
    )
    parser.add_argument("--peer", metavar="FILE", help="all of this, and setups, as a JSON object")
    parser.add_argument("--name", help="what reports call it")
    parser.add_argument("--html", metavar="FILE", help="writes a report to read")
    parser.add_argument("--json", metavar="FILE", help="writes the verdicts as JSON")
    parser.add_argument("--junit", metavar="FILE", help="writes the verdicts as JUnit's XML")
    parser.add_argument("--list", action="store_true", help="lists the cases of the role, or of all roles")
    parser.add_argument("--explain", metavar="ID", help="prints a case, or the cases of a requirement")
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N", help=f"cases at a time (here: {JOBS})")
    parser.add_argument("--slowness", type=float, default=1.0, metavar="FACTOR", help="multiplies the deadlines, for slow machines")
    parser.add_argument("--later", action="store_true", help="the suite is a gateway of an invented later version, in all cases")
    parser.add_argument("--verbose", action="store_true", help="prints every case, not only those that are not OK")
    return parser.parse_args(arguments)


def peer_of(options):
    values = read_peer(options.peer) if options.peer else {}
    if options.against is not None:
        values["command"] = options.against
    if options.file:
        with open(options.file, encoding="utf-8") as file:
            values["file"] = file.read()
    values["role"] = options.role or values.get("role", "endpoint")
    if values["role"] not in ROLES:
        raise Malformed(f"role is {values['role']!r}, none of {', '.join(ROLES)}")
    if options.driver is not None:
        values["driver"] = [part for part in options.driver.split(",") if part not in ("", "none")]
    check_peer(values, sorted({case.setup for case in load_cases(values["role"]) if case.setup}))
    if "command" not in values:
        raise Malformed(
            f"{options.peer} has no key command, and --against COMMAND is missing" if options.peer else "--against COMMAND is missing"
        )
    values["name"] = options.name or values.get("name", values["command"].split()[0])
    peer = Peer(**values)
    if "driver" not in values and peer.role != "gateway":
        peer.driver = asyncio.run(probe(peer, options.slowness))
        print(f"driver contract: {', '.join(peer.driver) or 'none of it'}; --driver says otherwise")
    return peer


def read_peer(path):
    """The object of a peer file."""
    with open(path, encoding="utf-8") as file:
        try:
            values = json.load(file)
        except ValueError as error:
            raise Malformed(f"{path} is not JSON: {error}") from error
    if not isinstance(values, dict):
        raise Malformed(f"{path} is not an object")
    return values


def wrapped(text, indent):
    """A paragraph, as wide as the terminal."""
    width = shutil.get_terminal_size().columns
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)


def explain(identifier):
    """Prints a case, or the cases of a requirement."""
    requirements = load("requirements.json")
    known = [case for role in ROLES for case in load_cases(role)]
    found = [case for case in known if identifier in (case.id, *case.checks)]
    if not found:
        unchecked = load("unchecked.json")
        reason = unchecked.get(identifier)
        print(f"{identifier} has no case: {reason}" if reason else f"no case and no requirement has the id {identifier}")
        return 0 if reason else 2
    for case in found:
        print(f"{case.id} ({case.role}, {case.of}): {case.title}")
        for requirement in case.checks:
            print(wrapped(f"{requirement}: {requirements[requirement].replace('**', '')}", "  "))
        for step in case.steps if identifier == case.id else []:
            print(wrapped(json.dumps(step, ensure_ascii=False), "    "))
        if case.law and identifier == case.id:
            print("  This holds in the conversations of all cases.")
    return 0


def main(arguments=None):
    options = parse(arguments)
    try:
        if options.explain:
            return explain(options.explain)
        if options.list:
            for role in [options.role] if options.role else ROLES:
                for case in select(load_cases(role), options.cases):
                    print(f"{case.id:16} {case.of:6} {case.title}  [{', '.join(case.checks)}]")
            return 0
        peer = peer_of(options)
        cases = select(load_cases(peer.role), options.cases)
        if not cases:
            raise Malformed("no case has such an id")
        if options.later and peer.role == "gateway":
            raise Malformed("--later is for endpoints, clients and observers: cases of a gateway compare bytes")
        for case in cases:
            case.later = case.later or options.later
        began = time.monotonic()
        results = asyncio.run(run_all(cases, peer, options.jobs, slowness=options.slowness))
    except BrokenPipeError:
        raise
    except (Malformed, OSError, ValueError, TypeError) as error:
        print(f"waymark-conformance: {error}", file=sys.stderr)
        return 2
    are_written = write_reports(options, peer, results)
    report.print_summary(peer, results, time.monotonic() - began, options.verbose)
    if not are_written:
        return 2
    return 1 if any(result.verdict == FAILED for result in results) else 0


def write_reports(options, peer, results):
    """Writes the reports that were asked for, and says of each that cannot be written why; returns whether all were."""
    are_written = True
    for path, make in ((options.html, report.html), (options.json, report.as_json), (options.junit, report.junit)):
        if not path:
            continue
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(make(peer, results))
        except OSError as error:
            print(f"waymark-conformance: {path} cannot be written: {error.strerror}", file=sys.stderr)
            are_written = False
    return are_written


def entry():
    """For the zipapp."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # Ends what was started.
    try:
        status = main()
        sys.stdout.flush()
        sys.exit(status)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        # Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"waymark-conformance: the output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    entry()
