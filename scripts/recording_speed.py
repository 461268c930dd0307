#!/usr/bin/env python3
"""recording_speed.py [--bytes N] [--seeks N] [--configuration debug|release]: what opening a large recording, and seeking in it, takes.

Writes a recording of N bytes with the tests of WaymarkRecording, which must be built, and starts `waymark recording` on it. Times are
those of whole programs; that of one that does nothing is printed beside them."""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=1_000_000_000)
    parser.add_argument("--seeks", type=int, default=20)
    parser.add_argument("--configuration", choices=["debug", "release"], default="debug")
    arguments = parser.parse_args()
    waymark = str(ROOT / ".build" / arguments.configuration / "waymark")
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, WAYMARK_LARGE_RECORDING=folder, WAYMARK_LARGE_RECORDING_BYTES=str(arguments.bytes))
        test = ["swift", "test", "--skip-build", "--ignore-lock", "--filter", "LargeRecordingTests", "-c", arguments.configuration]
        subprocess.run(test, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        (recording,) = pathlib.Path(folder).iterdir()
        print(f"{recording.stat().st_size:,} bytes, {arguments.configuration}")
        report("nothing (--version)", [run([waymark, "--version"]) for _ in range(5)])
        report("opening (info)", [run([waymark, "recording", "info", str(recording)]) for _ in range(5)])
        chance = random.Random(1)
        # Each entry of the recording is 50 ms after the one before, and has 16 frames of some 190 bytes, to one or two connections.
        duration = arguments.bytes / 240 / 24 * 0.05
        show = [waymark, "recording", "show", "--for", "0.001"]
        results = [run([*show, "--at", f"{chance.uniform(0.1, 0.9) * duration:.1f}s", str(recording)]) for _ in range(arguments.seeks)]
        report("opening and seeking (show)", results)


if __name__ == "__main__":
    main()
