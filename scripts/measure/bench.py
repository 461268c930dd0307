#!/usr/bin/env python3
"""bench.py [--quick] [--install] [--observer VISIBILITY] [--only NAME...] [--repeats N] [--output FILE]: measures waymarkd beside other
servers.

Builds waymarkd, the load generator and the relay. Starts a server process for each run, on a private Unix socket or a
loopback port, and ends it by its process id. Runs of one scenario alternate between the servers, so that other load of the
machine affects all of them. Every delivery is verified. Writes the results, by default to Docs/performance/results.json, and
then the tables and plots of Docs/performance.md, see bench_report.py.

--quick takes less than two minutes, writes no documents and prints the most important numbers. --install installs the other
servers from Debian (as root); a server that is not installed is skipped.

--observer measures waymarkd alone: without, and beside an observer of everything that sees `state` or `content`. It fails if a delivery
to 100 endpoints takes the daemon over 10 % longer beside the observer.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import bench_observer
import bench_report

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RESULTS = os.path.join(ROOT, "Docs/performance/results.json")
PACKAGES = {"nats": "nats-server", "redis": "redis-server", "mqtt": "mosquitto"}
ALL_SERVERS = ["relay", "waymark", "redis", "nats", "mqtt"]
FAST = ["relay", "waymark", "redis", "nats"]
OURS = ["relay", "waymark"]
# About 50 KB.
SEGMENT = "route:12500"


def scenarios():
    """Name of a scenario -> options of the generator, servers, whether --quick includes it."""
    table = {}

    def add(name, mode, servers, quick=False, **options):
        table[name] = ({"mode": mode, **options}, servers, quick)

    for endpoints in (1, 10, 100, 1_000, 10_000):
        add(f"saturate-{endpoints}", "saturate", ALL_SERVERS, endpoints in (1, 100, 1_000), endpoints=endpoints)
    add("estimates-100", "saturate", OURS, endpoints=100, payload="estimates")
    add("segments-1", "saturate", FAST, endpoints=1, payload=SEGMENT)
    add("segments-100", "saturate", FAST, endpoints=100, payload=SEGMENT)
    add("drives-1000", "saturate", FAST, endpoints=1_000, streams=1_000)
    for rate in (20, 200, 1_000, 5_000):
        add(f"rate-100x{rate}", "rate", ALL_SERVERS if rate == 200 else FAST, rate == 200, endpoints=100, rate=rate)
    add("rate-1000x20", "rate", ALL_SERVERS, True, endpoints=1_000, rate=20)
    # Ten frames a second of each drive, which finds little of its state in the caches.
    add("drives-500x10", "rate", FAST, endpoints=500, streams=500, rate=5_000)
    # The measurement begins when the stalled endpoint's socket is full, after some 800 messages.
    add("healthy-1000", "rate", ["waymark"], endpoints=1_000, rate=50, warmup=20, duration=5)
    add("stalled-1000", "slow", ["waymark"], endpoints=1_000, rate=50, warmup=20, duration=5)
    add("request-1", "request", ALL_SERVERS, True, endpoints=1, concurrency=1)
    add("request-64", "request", FAST, endpoints=64, concurrency=64)
    for endpoints in (100, 1_000, 10_000):
        # Long enough for each endpoint's keepalive, whose cost is measured.
        longer = {"duration": 11} if endpoints == 10_000 else {}
        add(f"idle-{endpoints}", "idle", ALL_SERVERS, endpoints == 1_000, endpoints=endpoints, keepalive=10, **longer)
    add("storm-10000", "storm", ALL_SERVERS, endpoints=10_000, rate=200)
    return table


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One server's process and address."""

    def __init__(self, language, binaries, folder, visibility="state"):
        self.language = language
        path, port = os.path.join(folder, "socket"), free_port()
        self.address, self.observer = f"unix:{path}", f"unix:{path}-observe"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        if language == "relay":
            command = [binaries["relay"], path]
        elif language == "waymark":
            command = [
                binaries["waymark"],
                "--config",
                self.write(
                    folder,
                    (
                        f"log-level: warning\nlisteners:\n  - address: {self.observer}\n    roles: [observer]\n    observe: {visibility}\n"
                        f"  - address: unix:{path}\n    roles: [vehicle, navigation]\n"
                    ),
                ),
            ]
        elif language == "redis":
            command = [
                binaries["redis"],
                "--port",
                "0",
                "--unixsocket",
                path,
                "--save",
                "",
                "--maxclients",
                "19000",
                "--client-output-buffer-limit",
                "pubsub 0 0 0",
                "--dir",
                folder,
            ]
        elif language == "nats":
            self.address = f"tcp:{port}"
            command = [binaries["nats"], "-a", "127.0.0.1", "-p", str(port)]
        else:
            command = [
                binaries["mqtt"],
                "-c",
                self.write(
                    folder,
                    (
                        f"listener 0 {path}\nallow_anonymous true\nmax_queued_messages 0\nmax_inflight_messages 0\n"
                        f"log_type error\nuser root\n"
                    ),
                ),
            ]
        self.log = open(os.path.join(folder, "log"), "w+", encoding="utf-8")  # noqa: SIM115  `end` closes it
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, cwd=folder)
        self.wait()

    @staticmethod
    def write(folder, text):
        path = os.path.join(folder, "configuration")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def wait(self):
        """Waits until it accepts connections."""
        limit = time.monotonic() + 10
        while True:
            is_unix = self.address.startswith("unix:")
            with socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET) as probe:
                where = self.address[5:] if is_unix else ("127.0.0.1", int(self.address[4:]))
                if probe.connect_ex(where) == 0:
                    return
            if self.process.poll() is not None or time.monotonic() > limit:
                self.log.seek(0)
                sys.exit(f"{self.language} did not start: {self.log.read()}")
            time.sleep(0.02)

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def build():
    """Builds our programs and returns their paths."""
    for product in ("waymarkd", "waymark-bench", "waymark-relay"):
        subprocess.run(["scripts/release/link.sh", product], cwd=ROOT, check=True, stdout=sys.stderr)
    return os.path.join(ROOT, ".build/static")


def binaries_in(folder):
    binaries = {"waymark": "waymarkd", "bench": "waymark-bench", "relay": "waymark-relay"}
    binaries = {name: os.path.join(folder, file) for name, file in binaries.items()}
    for language, program in (("nats", "nats-server"), ("redis", "redis-server"), ("mqtt", "mosquitto")):
        # Why: Debian installs some of them in folders that are only in root's PATH.
        if path := shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"):
            binaries[language] = path
        else:
            print(f"skipping {program}, which is not installed (see --install)", file=sys.stderr)
    return binaries


def versions(binaries):
    found = {}
    for language, option in (("nats", "--version"), ("redis", "--version"), ("mqtt", "-h")):
        if language in binaries:
            output = subprocess.run([binaries[language], option], capture_output=True, text=True, check=False)
            found[language] = output.stdout.split("\n")[0].split(" sha=")[0]
    return found


def measure(binaries, language, options, visibility=None):
    """One run against a new server process, beside an observer if there is a `visibility`. If it fails, prints why and returns None."""
    with tempfile.TemporaryDirectory(prefix="wm") as folder:
        server = Server(language, binaries, folder, visibility or "state")
        observer, seen = None, {}
        try:
            observer = bench_observer.Observer(server.observer) if visibility else None
            command = [binaries["bench"], "--language", language, "--address", server.address, "--process", str(server.process.pid)]
            for name, value in options.items():
                command += ["--" + name.replace("_", "-"), str(value)]
            try:
                run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            except subprocess.TimeoutExpired:
                print(f"  {language}: not finished after 300 s", file=sys.stderr)
                return None
        finally:
            if observer:
                seen = observer.end()
            server.end()
    if run.returncode or not run.stdout:
        print(f"  {language}: {run.stdout.strip()} {run.stderr.strip()}", file=sys.stderr)
    return {**json.loads(run.stdout), **seen} if run.stdout else None


def headline(result):
    names = {
        "deliveriesPerSecond": "{:,.0f} deliveries/s",
        "answersPerSecond": "{:,.0f} answers/s",
        "connectionsPerSecond": "{:,.0f} connections/s",
        "serverSecondsPerMillion": "{:.4g} CPU s per million",
        "generatorSecondsPerMillion": "(generator {:.3g})",
        "microseconds50": "p50 {:,.0f} µs",
        "microseconds99": "p99 {:,.0f} µs",
        "residentBytesPerConnection": "{:,.0f} bytes each",
        "observedBytes": "{:,} bytes observed",
        "dropped": "{:,} entries dropped",
        "conflated": "{} conflated",
        "closed": "{} closed",
        "missing": "{} missing",
    }
    return ", ".join(text.format(result[name]) for name, text in names.items() if result.get(name))


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return {
        "load": round(os.getloadavg()[0], 1),
        "processors": len(models),
        "model": models[0] if models else platform.machine(),
        "kernel": platform.release(),
    }


def measure_observed(binaries, chosen, repeats, duration, visibility):
    """Runs of waymarkd that alternate between none and an observer. Returns whether all were verified and the promise is kept."""
    runs, is_verified = [], True
    for name, (arguments, _, _) in chosen.items():
        for is_observed in [False, True] * repeats:
            result = measure(binaries, "waymark", {"duration": duration, **arguments}, visibility if is_observed else None)
            if result is None or result["missing"] or result["closed"]:
                is_verified = False
                continue
            print(f"{name:14} {'observed' if is_observed else 'alone':8} {headline(result)}", flush=True)
            runs.append({"scenario": name, "isObserved": is_observed, **result})
    return bench_observer.compare(runs) and is_verified


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], help="scenarios, by name or prefix")
    parser.add_argument("--observer", choices=["state", "content"], help="what an observer costs that sees this")
    parser.add_argument("--servers", nargs="+", default=ALL_SERVERS)
    parser.add_argument("--repeats", type=int, help="3, or 1 with --quick")
    parser.add_argument("--duration", type=float, help="seconds of a run, 2, or 0.5 with --quick")
    parser.add_argument("--binaries", help="a folder with built programs, instead of building them")
    parser.add_argument("--output", help="the file for the results")
    options = parser.parse_args()
    if options.install:
        # RUNLEVEL: installed, not started.
        subprocess.run(
            ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES.values()],
            check=True,
            env={**os.environ, "RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"},
        )
    binaries = binaries_in(options.binaries or build())
    repeats = options.repeats or (1 if options.quick else 3)
    duration = options.duration or (0.5 if options.quick else 2)
    chosen = {
        name: entry
        for name, entry in scenarios().items()
        if any(name.startswith(prefix) for prefix in options.only) or (not options.only and (entry[2] or not options.quick))
    }
    if options.observer:
        only = options.only or bench_observer.SCENARIOS
        chosen = {name: entry for name, entry in scenarios().items() if name in only}
        sys.exit(0 if measure_observed(binaries, chosen, repeats, duration, options.observer) else 1)
    results = {
        "machine": machine(),
        "servers": versions(binaries),
        "date": datetime.date.today().isoformat(),
        "repeats": repeats,
        "seconds": duration,
        "runs": [],
    }
    failed = False
    for name, (arguments, servers, _) in chosen.items():
        for repeat in range(repeats):
            for language in [server for server in servers if server in binaries and server in options.servers]:
                result = measure(binaries, language, {"duration": duration, **arguments})
                if result is None:
                    failed = True
                    continue
                print(f"{name:14} {language:8} {headline(result)}", flush=True)
                # A run whose deliveries were not verified does not count.
                if result["missing"] or (result["closed"] and result["mode"] != "slow"):
                    failed = True
                    continue
                results["runs"].append({"scenario": name, "repeat": repeat, **result})
    output = options.output or (None if options.quick or options.only else RESULTS)
    if output:
        os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
        with open(output, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
            file.write("\n")
    print()
    print(bench_report.goals_table(bench_report.Results(results)))
    if output == RESULTS:
        bench_report.write_documents(RESULTS)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
