#!/usr/bin/env python3
"""hostile.py [--only NAME...] [--part N/M] [--runs N] [--short] [--json FILE] [--list]: attacks waymarkd.

It measures what other peers notice.

For each attack it starts a waymarkd with default limits, on a Unix socket and on loopback, and four processes: a victim (a client
and a vehicle endpoint, 20 messages a second), a newcomer (which connects a new vehicle and opens a session, twice a second), the
attacker, and this one, which samples the daemon's memory and processor time. As root each of them runs as a user of its own, and
the victim at a high priority; otherwise the attacker uses TCP from another address of loopback. --runs N prints the median of N runs.

--short runs each attack once and small, for machines of unknown speed: it checks that the daemon survives, that the victim misses
no message, that everything is given back, and, in place of times, how much work the daemon does without a pause.
"""

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import resource
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from bench import ROOT, machine
from hostile_daemon import IS_ROOT, MEMORY_KILL, Daemon
from hostile_peer import (
    ALERT,
    ENDED,
    GOODBYE,
    OPENED,
    SNAPSHOT,
    START,
    Body,
    Closed,
    Peer,
    chunk,
    client_hello,
    frame,
    now,
    number,
    opening,
    quantile,
    start,
    vehicle_hello,
)
from hostile_target import ATTACKS, Target
from sweep_part import sweep_part

# Each adds its attacks to the table.
for module in ("hostile_reported", "hostile_attacks", "hostile_observers"):
    importlib.import_module(module)

# The goals, in milliseconds and megabytes.
P99_MAX = 50
LATENCY_MAX = 250
# What Docs/configuration.md promises for one user.
MEMORY_MAX = 1_180
MEMORY_KEPT_MAX = 128
# Faults that depend on the speed of the machine.
TIMED = ("p99", "max", "max of setup")
# Wrong keys or tokens that are checked for one address in a second.
GUESSES_MAX = 100
# Seconds.
BEFORE, ATTACK, RECOVERY, SETUP = 1.0, 3.0, 15.0, 60.0
SHORT_BEFORE, SHORT_ATTACK, SHORT_SCALE = 0.2, 0.3, 0.02
# Rows that run at the same time in the short form.
SHORT_ROWS = 4
INTERVAL = 0.05
UNANSWERED_MAX = 100
# Units of work without a pause, in the short form: of an event, which may fit a frame of 1 MiB or publish 128 frames to the 128 endpoints
# of the largest crowd, a run of the gateway, a round of a loop.
EVENT_MAX = 4_352 + 128 * 128
UNITS_MAX = {"longest-event": EVENT_MAX, "longest-run": 1_024 + EVENT_MAX, "longest-round": 2_048 + 1_280}
VICTIM_USER, ATTACKER_USER = 64_002, 64_003
VICTIM_ADDRESS, ATTACKER_ADDRESS = "127.0.0.2", "127.0.0.9"
NO_CAPACITY = 2
# The status line of a daemon without peers.
NOTHING = "no vehicles, no sessions, no clients"
fork = multiprocessing.get_context("fork")


def become(user, niceness=0):
    """Continues this process as another user, if it may, in a process group of its own."""
    os.setsid()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if IS_ROOT:
        if niceness:
            os.nice(niceness)
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


# The victim and the newcomer.


def watch_victim(pipe, addresses, mode, pauses):
    """Publishes 20 messages a second, and measures when they arrive. Both ends are in this process, so one clock is enough. With `pauses`
    the client reads in one of four seconds only."""
    become(VICTIM_USER, -10)
    endpoint = Peer(addresses[1], source=VICTIM_ADDRESS)
    endpoint.greet(vehicle_hello("victim", "cluster", wanted=mode == "any"))
    client = Peer(addresses[0]).greet(client_hello("victim-app"))
    client.open("victim", None if mode == "any" else ["victim"])
    client.publish(START, start())
    pipe.send("ready")
    poll = select.epoll()
    for source in (endpoint, client, pipe):
        poll.register(source.fileno(), select.EPOLLIN)
    sent, got, late, closed = [], {}, [], None
    due, stop = now(), None
    buffered = {endpoint.fileno(): b"", client.fileno(): b""}
    is_read = True
    while stop is None or (len(got) < len(sent) and now() < stop and not closed):
        if stop is None and now() >= due and not closed:
            late.append(now() - due)
            due = max(due + INTERVAL, now() - 1)
            # More would not fit its socket's buffer.
            if len(sent) - len(got) < UNANSWERED_MAX:
                sent.append(now())
                try:
                    client.publish(ALERT, chunk(1, number(1, len(sent)) + chunk(2, "text")))
                except OSError as error:
                    closed = f"client: {error}"
        if not closed and is_read != (not pauses or stop is not None or int(now()) % 4 == 0):
            is_read = not is_read
            poll.modify(client.fileno(), select.EPOLLIN if is_read else 0)
        for descriptor, _ in poll.poll(max(0.0, min(due - now(), INTERVAL)) if stop is None else INTERVAL):
            if descriptor == pipe.fileno():
                stop = now() + pipe.recv()
                poll.unregister(descriptor)
                continue
            peer = endpoint if descriptor == endpoint.fileno() else client
            try:
                news = peer.socket.recv(1 << 20)
            except OSError:
                news = b""
            at = now()
            if not news:
                closed = closed or f"{'endpoint' if peer is endpoint else 'client'}: closed"
                poll.unregister(descriptor)
                continue
            data, offset = buffered[descriptor] + news, 0
            while len(data) - offset >= 24:
                end = offset + 24 + int.from_bytes(data[offset + 8 : offset + 12])
                if end > len(data):
                    break
                kind = data[offset + 4] << 8 | data[offset + 5]
                if kind == ALERT and peer is endpoint:
                    got.setdefault(Body(data[offset + 24 : end]).body(1).number(1), at)
                elif kind in (GOODBYE, ENDED):
                    about = Body(data[offset + 24 : end])
                    why = f"ended {about.number(2)}" if kind == ENDED else f"Goodbye {about.number(1)}: {about.text(2)}"
                    closed = f"{'endpoint' if peer is endpoint else 'client'}: {why}"
                offset = end
            buffered[descriptor] = data[offset:]
    latencies = [(at, got[index] - at if index in got else None) for index, at in enumerate(sent, 1)]
    pipe.send({"latencies": latencies, "late": late, "closed": closed})


def try_newcomer(addresses, mode, count):
    """A new vehicle over TCP and a new client meet. Returns why that failed, or None."""
    peers = []
    try:
        if mode == "named":
            client = Peer(addresses[0], timeout=5)
            peers.append(client)
            client.greet(client_hello(f"new-app-{count}"))
            client.send(opening("new", [f"new-{count}"]))
            _, _, _, body = client.await_frame(OPENED)
            if body.body(3).has(3):
                return f"vehicle refused by {body.body(3).number(3)}"
        vehicle = Peer(addresses[1], source=VICTIM_ADDRESS, timeout=5)
        peers.append(vehicle)
        # Its profile is one that no other endpoint has.
        vehicle.greet(vehicle_hello(f"new-{count}", "cluster", limits=number(1, 50 + count), wanted=mode == "any"))
        _, _, _, body = vehicle.await_frame(SNAPSHOT)
        withheld = {grant.number(3) for grant in body.bodies(6)}
        return "NO_CAPACITY" if NO_CAPACITY in withheld else None
    except (Closed, OSError) as error:
        return str(error).strip()
    finally:
        for peer in peers:
            with contextlib.suppress(OSError):
                peer.send(frame(GOODBYE, number(1, 1)))
            peer.close()


def send_newcomers(pipe, addresses, mode, pause):
    become(VICTIM_USER, -5)
    results = []
    while not pipe.poll(pause):
        begin = now()
        failure = try_newcomer(addresses, mode, len(results))
        results.append((begin, now() - begin, failure))
    pipe.recv()
    pipe.send(results)


def attack_daemon(pipe, name, addresses, seconds, scale):
    become(ATTACKER_USER)
    if not IS_ROOT:
        addresses = (addresses[1], *addresses[1:])
    target = Target(addresses, ATTACKER_ADDRESS, seconds, scale)
    failure, before, run = None, 0, ATTACKS[name]["run"](target)
    try:
        next(run)
        pipe.send("prepared")
        pipe.recv()
        before = Peer.sent
        with contextlib.suppress(StopIteration):
            next(run)
    except (Closed, OSError, AssertionError, RuntimeError) as error:
        failure = f"{type(error).__name__}: {error}"
    if failure and before == 0 and target.end is None:
        pipe.send(f"failed: {failure}")
        return
    # An attacker that was disconnected has been defeated, which is a result, too.
    pipe.send({"bytes": Peer.sent - before, "setup": before, "ended": failure, "notes": target.notes})
    pipe.recv()


class Helper:
    """A process of ours with a pipe."""

    def __init__(self, function, *arguments):
        self.pipe, theirs = fork.Pipe()
        self.process = fork.Process(target=self.run, args=(function, theirs, arguments), daemon=False)
        self.process.start()
        theirs.close()

    @staticmethod
    def run(function, pipe, arguments):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            function(pipe, *arguments)
        except BaseException as error:
            print(f"{function.__name__}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            raise

    def receive(self, seconds):
        """What it sends next; None if it sends nothing in time, or has ended."""
        try:
            return self.pipe.recv() if self.pipe.poll(seconds) else None
        except (EOFError, OSError):
            return None

    def end(self):
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        self.pipe.close()


# One row.


def summary(latencies, begin, end, limit):
    """p50, p99 and maximum in milliseconds of the messages sent in a time; those that never arrived count as `limit`."""
    values = [(limit - at if latency is None else latency) * 1e3 for at, latency in latencies if begin <= at < end]
    return {"p50": quantile(values, 0.5), "p99": quantile(values, 0.99), "max": max(values, default=0.0)}


def measure(binary, name, is_short):
    """Runs one attack against a new daemon."""
    attack = ATTACKS[name]
    mode = attack.get("newcomer", "named")
    before, seconds, scale = (SHORT_BEFORE, SHORT_ATTACK, SHORT_SCALE) if is_short else (BEFORE, ATTACK, 1)
    row = {"name": name, "text": attack["text"], "failure": None}
    with tempfile.TemporaryDirectory(prefix="wm") as folder:
        daemon = Daemon(binary, folder, attack, is_short)
        helpers = []

        def helper(*arguments):
            helpers.append(Helper(*arguments))
            return helpers[-1]

        try:
            victim = helper(watch_victim, daemon.addresses, mode, attack.get("pauses", False))
            if victim.receive(10) != "ready":
                sys.exit("the victim could not connect")
            newcomer = helper(send_newcomers, daemon.addresses, mode, 0.1 if is_short else 0.5)
            time.sleep(0.1)
            begin = now()
            time.sleep(before)
            row["memory_before"] = daemon.resident()
            attacker = helper(attack_daemon, name, daemon.addresses, seconds, scale)
            setup = now()
            answer = attacker.receive(SETUP)
            if answer != "prepared":
                row["failure"] = f"not prepared: {answer}"
            struck, processor = now(), daemon.processor()
            result = None
            if not row["failure"]:
                attacker.pipe.send("go")
                result = attacker.receive(seconds + RECOVERY)
            over = now()
            # First, as some newcomers join the victim's session.
            newcomer.pipe.send("stop")
            arrivals = newcomer.receive(12) or []
            # What is still unread when the attacker stops keeps the daemon busy.
            victim.pipe.send(RECOVERY)
            seen = victim.receive(RECOVERY + 10) or {"latencies": [], "late": [], "closed": "the victim ended"}
            recovered = now()
            used = daemon.processor() - processor
            attacker.end()
            row["alive"] = daemon.is_alive
            row["memory_after"], row["status"] = settle(daemon, row["memory_before"], 12 if not is_short else 5)
            if is_short and row["alive"] and attack.get("stderr") != "unread":
                row["units"] = daemon.stop()
        finally:
            for each in helpers:
                each.end()
            daemon.end()
    latencies = seen["latencies"]
    row["before"] = summary(latencies, begin, setup, recovered)
    row["setup"] = summary(latencies, setup, struck, recovered)
    row["during"] = summary(latencies, struck, recovered, recovered)
    row["late"] = quantile(seen["late"], 0.99) * 1e3
    row["lost"] = sum(1 for _, latency in latencies if latency is None)
    row["closed"] = seen["closed"]
    row["recovery"] = recovered - over
    row["memory_peak"] = daemon.peak(setup, recovered)
    row["was_killed"] = daemon.was_killed
    result = result or {"bytes": 0, "setup": 0, "ended": "it did not answer", "notes": {}}
    row["attacker_bytes"], row["setup_bytes"] = result["bytes"], result["setup"]
    row["ended"], row["notes"] = result["ended"], result["notes"]
    row["nanoseconds_per_byte"] = used * 1e9 / max(1, result["bytes"])
    row["processor"] = used
    refused = [failure for at, _, failure in arrivals if failure and at >= setup]
    row["newcomers"] = sum(1 for at, _, _ in arrivals if at >= setup)
    row["newcomers_refused"] = len(refused)
    row["newcomers_reason"] = max(set(refused), key=refused.count) if refused else ""
    row["newcomers_max"] = max((took for at, took, _ in arrivals if at >= setup), default=float("nan")) * 1e3
    return row


def settle(daemon, memory, seconds):
    """Waits until nothing is left, as all peers have ended, and memory is given back. Returns the memory and the status."""
    limit = now() + seconds
    while now() < limit and daemon.is_alive and (daemon.status != NOTHING or daemon.resident() > memory + MEMORY_KEPT_MAX):
        time.sleep(0.05)
    return daemon.resident(), daemon.status


def median(rows):
    """The rows of one attack as one: medians of the numbers, the worst of what must not happen."""
    result = dict(rows[0])
    for key, value in rows[0].items():
        if isinstance(value, dict) and key in ("before", "setup", "during"):
            result[key] = {each: statistics.median(row[key][each] for row in rows) for each in value}
        elif isinstance(value, float):
            result[key] = statistics.median(row[key] for row in rows)
    for key in ("failure", "closed", "was_killed", "newcomers_reason"):
        result[key] = next((row[key] for row in rows if row[key]), rows[0][key])
    result["alive"] = all(row["alive"] for row in rows)
    result["lost"] = max(row["lost"] for row in rows)
    result["newcomers_refused"] = max(row["newcomers_refused"] for row in rows)
    return result


def faults(row):
    """What is not as it must be."""
    found = []
    if row["failure"]:
        found.append(row["failure"])
    if row["was_killed"]:
        found.append(f"killed above {MEMORY_KILL} MB")
    elif not row["alive"]:
        found.append("the daemon died")
    worst_p99 = row["during"]["p99"]
    if not worst_p99 <= P99_MAX:
        found.append("p99")
    if not row["during"]["max"] <= LATENCY_MAX:
        found.append("max")
    if row["setup"]["max"] > LATENCY_MAX:
        found.append("max of setup")
    if not row["memory_peak"] <= MEMORY_MAX:
        found.append("memory")
    if row["lost"]:
        found.append(f"{row['lost']} lost")
    if row["closed"]:
        found.append(f"victim closed ({row['closed']})")
    if row["notes"].get("checked", 0) / ATTACK > GUESSES_MAX:
        found.append(f"{row['notes']['checked'] / ATTACK:,.0f} guesses a second")
    if row["alive"] and row["status"] != NOTHING:
        found.append(f"left: {row['status']}")
    if row["alive"] and row["memory_after"] - row["memory_before"] > MEMORY_KEPT_MAX:
        found.append("memory kept")
    if row["newcomers_refused"]:
        found.append(f"{row['newcomers_refused']} of {row['newcomers']} newcomers failed ({row['newcomers_reason'][:60]})")
    return found


def short_faults(row):
    """What does not depend on the speed of the machine."""
    found = [fault for fault in faults(row) if fault not in TIMED and not fault.endswith("guesses a second")]
    if "units" in row:
        if row["units"] is None:
            found.append("the log does not say how much work was done at once")
        found += [f"{name} {units} units" for name, units in (row["units"] or {}).items() if units > UNITS_MAX[name]]
    return found


HEADING = (
    f"{'attack':19} {'before p50/p99/max ms':>23} {'setup max':>9} {'during p50/p99/max ms':>26} {'MB before/peak/after':>21}"
    f" {'CPU ns/B':>9} {'bytes':>11}  verdict"
)


def line_of(row, found):
    before, during = row["before"], row["during"]
    return (
        f"{row['name']:19} {before['p50']:7.1f}{before['p99']:8.1f}{before['max']:8.1f} {row['setup']['max']:9.0f}"
        f" {during['p50']:8.1f}{during['p99']:9.1f}{during['max']:9.1f}"
        f" {row['memory_before']:6.0f}{row['memory_peak']:8.0f}{row['memory_after']:7.0f}"
        f" {row['nanoseconds_per_byte']:9.1f} {row['attacker_bytes']:11,}  {'; '.join(found) or 'ok'}"
        + (f" [{'/'.join(map(str, row['units'].values()))} units]" if row.get("units") else "")
        + (f" [attacker: {row['ended'][:70]}]" if row["ended"] else "")
    )


def send_row(pipe, binary, name, is_short):
    pipe.send(measure(binary, name, is_short))


def all_rows(binary, names, runs, is_short):
    """The rows in order: one at a time, or in the short form several."""
    if not is_short:
        for name in names:
            yield median([measure(binary, name, False) for _ in range(runs)])
        return
    waiting, running = list(names), []
    while waiting or running:
        while waiting and len(running) < SHORT_ROWS:
            running.append(Helper(send_row, binary, waiting.pop(0), True))
        row = running[0].receive(SETUP + 2 * RECOVERY + 60)
        running.pop(0).end()
        if row is None:
            sys.exit("a row did not end")
        yield row


def build():
    subprocess.run(["scripts/release/link.sh", "waymarkd"], cwd=ROOT, check=True, stdout=sys.stderr)
    return os.path.join(ROOT, ".build/static/waymarkd")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--part", type=sweep_part, default="all", metavar="N/M", help="only a part of the attacks")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", metavar="FILE", help="also writes all numbers")
    parser.add_argument("--daemon", metavar="PATH", help="a built waymarkd")
    options = parser.parse_args()
    # The daemon and the attackers, which are in groups of their own, end with this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if options.list:
        for name, attack in ATTACKS.items():
            print(f"{name:20} {attack['text']}")
        return
    unknown = set(options.only) - set(ATTACKS)
    if unknown:
        sys.exit(f"there is no attack {', '.join(sorted(unknown))}, see --list")
    built = options.daemon or build()
    rows, failed = [], False
    with tempfile.TemporaryDirectory(prefix="wm") as folder:
        # Another user may not reach the folder of the build.
        os.chmod(folder, 0o755)
        binary = shutil.copy(built, os.path.join(folder, "waymarkd"))
        os.chmod(binary, 0o755)
        about = machine()
        print(f"{about['processors']} processors, {about['model']}, load {about['load']}; {options.runs} run(s) of each attack")
        print(HEADING, flush=True)
        for row in all_rows(binary, (options.only or list(ATTACKS))[options.part], options.runs, options.short):
            row["faults"] = short_faults(row) if options.short else faults(row)
            failed = failed or bool(row["faults"])
            rows.append(row)
            print(line_of(row, row["faults"]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": about, "rows": rows}, file, indent=1)
            file.write("\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
