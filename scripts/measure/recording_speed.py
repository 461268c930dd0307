#!/usr/bin/env python3
"""recording_speed.py [--bytes N | --recording FILE] [--seeks N] [--waymark PROGRAM]

What opening a large recording, and seeking in it, takes. Writes a recording of N bytes with the tests of WaymarkRecording, or takes a
recording that was written so. Starts `waymark recording` on it: these times are those of whole programs, and that of one that does
nothing is printed beside them. Then it opens the recording with `waymark inspect`, and asks for views of the page at random moments."""

import argparse
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(command):
    """Runs a program; returns its time in seconds and its memory in MiB."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def report(what, results):
    seconds = sorted(second for second, _ in results)
    memory = max(memory for _, memory in results)
    print(f"{what:28} median {seconds[len(seconds) // 2]:.3f} s, longest {seconds[-1]:.3f} s, at most {memory:.0f} MiB")


def inspect(waymark, recording, seeks):
    """Opens the recording in the inspector, and asks for each view at `seeks` random moments."""
    began = time.monotonic()
    process = subprocess.Popen([waymark, "inspect", "--listen", "127.0.0.1:0", str(recording)], stdout=subprocess.PIPE, text=True)
    try:
        link = next(line for line in process.stdout if line.startswith("http")).strip()
        host, token = link.removeprefix("http://").split("/#token=")
        connection = http.client.HTTPConnection(host)
        connection.request(
            "POST", "/session", json.dumps({"token": token}), {"Content-Type": "application/json", "Origin": f"http://{host}"}
        )
        response = connection.getresponse()
        response.read()
        cookie = {"Cookie": response.getheader("Set-Cookie").split(";")[0]}

        def ask(path):
            connection.request("GET", path, headers=cookie)
            response = connection.getresponse()
            answer = response.read()
            if response.status != 200:
                sys.exit(f"{path}: {answer.decode()}")
            return json.loads(answer)

        vehicle = ask("/api/overview")["vehicles"][0]["vehicle"]
        print(f"inspector: overview after {time.monotonic() - began:.3f} s")
        (source,) = ask("/api/sources")["sources"]
        chance = random.Random(1)
        for view, path in {
            "guidance": f"/api/vehicle?id={vehicle}&at=",
            "updates": f"/api/updates?id={vehicle}&limit=60&at=",
            "receipts": f"/api/receipts?id={vehicle}&at=",
            "step by frame": "/api/entries?limit=1&kind=frame&to=",
        }.items():
            times = []
            for _ in range(seeks):
                sought = time.monotonic()
                ask(f"{path}{chance.uniform(source['from'], source['to']):.3f}")
                times.append((time.monotonic() - sought) * 1000)
            times.sort()
            print(f"inspector: {view:17} median {times[len(times) // 2]:.0f} ms, longest {times[-1]:.0f} ms")
    finally:
        process.terminate()
        process.wait()


def measure(waymark, recording, seeks):
    byte_count = recording.stat().st_size
    print(f"{byte_count:,} bytes")
    report("nothing (--version)", [run([waymark, "--version"]) for _ in range(5)])
    report("opening (info)", [run([waymark, "recording", "info", str(recording)]) for _ in range(5)])
    chance = random.Random(1)
    # Each entry of the recording is 50 ms after the one before, and has 16 frames of some 190 bytes, to one or two connections.
    duration = byte_count / 240 / 24 * 0.05
    show = [waymark, "recording", "show", "--for", "0.001"]
    results = [run([*show, "--at", f"{chance.uniform(0.1, 0.9) * duration:.1f}s", str(recording)]) for _ in range(seeks)]
    report("opening and seeking (show)", results)
    inspect(waymark, recording, seeks)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--seeks", type=int, default=20)
    parser.add_argument("--recording", type=pathlib.Path)
    parser.add_argument("--waymark")
    arguments = parser.parse_args()
    waymark = arguments.waymark or str(ROOT / ".build/release/waymark")
    if arguments.recording:
        measure(waymark, arguments.recording, arguments.seeks)
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, WAYMARK_LARGE_RECORDING=folder, WAYMARK_LARGE_RECORDING_BYTES=str(arguments.bytes))
        test = ["scripts/test.sh", "--filter", "LargeRecordingTests"]
        subprocess.run(test, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        (recording,) = pathlib.Path(folder).iterdir()
        measure(waymark, recording, arguments.seeks)


if __name__ == "__main__":
    main()
