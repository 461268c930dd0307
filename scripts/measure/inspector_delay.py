#!/usr/bin/env python3
"""inspector_delay.py --programs FOLDER [--vehicles N] [--rate N] [--samples N] [--pairs N] [--chromium PROGRAM]

How long a change takes from a navigation client to the inspector's page, and what an open inspector costs the daemon, while many vehicles
get updates. The folder has waymarkd, waymark and waymark-bench, of a release build; Playwright must be installed.

Each vehicle has a client of its own; together the clients publish RATE estimates a second. A vehicle more, which the page shows, gets
another road name from time to time. A sample is the time from the call that publishes it to the moment when Chromium has it in the page."""

import argparse
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/measure"), str(ROOT / "Sources/python")]

from bench import Server  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

from waymark_nav.messages import Coordinate, Maneuver, ManeuverType, RouteInformation, Trip, Waypoint  # noqa: E402
from waymark_nav.sync import Client, Endpoint  # noqa: E402

WATCH = """() => {
    window.seen = {};
    new MutationObserver(() => {
        for (const name of document.querySelector("#view").textContent.match(/Probe \\d+/g) ?? []) window.seen[name] ??= Date.now();
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Load:
    """The vehicles beside the one on the page."""

    def __init__(self, programs, server, settings, seconds):
        self.process = subprocess.Popen(
            [
                str(value)
                for value in (
                    programs / "waymark-bench",
                    "--language",
                    "waymark",
                    "--mode",
                    "rate",
                    "--address",
                    server.address,
                    "--process",
                    server.process.pid,
                    "--endpoints",
                    settings.vehicles,
                    "--streams",
                    settings.vehicles,
                    "--payload",
                    "estimates",
                    "--rate",
                    settings.rate,
                    "--warmup",
                    5,
                    "--duration",
                    seconds,
                )
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(8)

    def end(self):
        answer, _ = self.process.communicate()
        if self.process.returncode:
            sys.exit("waymark-bench failed")
        return json.loads(answer)


@contextlib.contextmanager
def inspected_page(programs, server, playwright, settings):
    """The page of an inspector."""
    process = subprocess.Popen(
        [programs / "waymark", "inspect", "--connect", server.observer, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True
    )
    try:
        link = next(line for line in process.stdout if line.startswith("http")).strip()
        browser = playwright.chromium.launch(executable_path=settings.chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(link)
        page.wait_for_selector("#view")
        page.goto(link.split("#")[0] + "#vehicle=probe")
        page.get_by_text("an unnamed road").first.wait_for()
        yield page
        browser.close()
    finally:
        process.terminate()
        process.wait()


def place(process, processors):
    for thread in os.listdir(f"/proc/{process}/task"):
        os.sched_setaffinity(int(thread), processors)


def share(process, seconds):
    """The share of a processor that a process uses."""
    began, before = time.monotonic(), processor_seconds(process)
    time.sleep(seconds)
    return (processor_seconds(process) - before) / (time.monotonic() - began)


def shares(programs, server, playwright, settings):
    """Shares of the daemon under the load: without an inspector and with an open page, in turn.

    The daemon has a processor of its own. Otherwise it shares one with the generator until there is a third program, and waking a process
    on the same processor takes much less time."""
    all_processors = os.sched_getaffinity(0)
    own = {min(all_processors)}
    os.sched_setaffinity(0, all_processors - own)
    place(server.process.pid, own)
    load = Load(programs, server, settings, settings.pairs * 30)
    pairs = []
    for _ in range(settings.pairs):
        without = share(server.process.pid, 8)
        with inspected_page(programs, server, playwright, settings):
            time.sleep(3)
            pairs.append((without, share(server.process.pid, 8)))
        time.sleep(1)
    rate = load.end()
    os.sched_setaffinity(0, all_processors)
    place(server.process.pid, all_processors)
    return pairs, rate


def samples(page, session, count):
    """Milliseconds from a call that publishes to the page, ascending."""
    chance, published = random.Random(1), {}
    page.evaluate(WATCH)
    for number in range(count):
        name = f"Probe {number}"
        published[name] = time.time() * 1000
        session.set_road_name(name)
        page.wait_for_timeout(chance.uniform(150, 350))
    page.wait_for_timeout(2000)
    seen = page.evaluate("window.seen")
    lost = [name for name in published if name not in seen]
    # The page draws at most once a frame, and shows the newest: nothing is missed at this pace.
    if lost:
        print(f"not seen: {len(lost)} of {count}")
    return sorted(seen[name] - when for name, when in published.items() if name in seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--vehicles", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=5, help="measurements of the daemon's share, each without and with a page")
    parser.add_argument("--chromium", default=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
    settings = parser.parse_args()
    programs = settings.programs.resolve()
    with tempfile.TemporaryDirectory() as folder:
        server = Server("waymark", {"waymark": str(programs / "waymarkd")}, folder, visibility="content")
        somewhere = Waypoint(center=Coordinate(latitude=47.1, longitude=9.5), name_variants=("Here",))
        turn = Maneuver(id=1, type=ManeuverType.LEFT_TURN, instruction_variants=("Turn left",))
        try:
            with (
                sync_playwright() as playwright,
                Endpoint("probe", "cluster", server.address),
                Client("prober", server.address) as client,
                client.open_session("probe") as session,
            ):
                session.start(
                    Trip(id="t", origin=somewhere, destination=somewhere), RouteInformation(maneuvers=(turn,), upcoming_maneuver_ids=(1,))
                )
                pairs, rate = shares(programs, server, playwright, settings)
                print(json.dumps(rate))
                for without, beside in pairs:
                    print(f"daemon: {without:.1%} of a processor without an inspector, {beside:.1%} with an open page")
                growths = sorted(beside - without for without, beside in pairs)
                print(f"difference: median {growths[len(growths) // 2]:.1%}, from {growths[0]:.1%} to {growths[-1]:.1%}")
                with inspected_page(programs, server, playwright, settings) as page:
                    load = Load(programs, server, settings, settings.samples * 0.25 + 10)
                    times = samples(page, session, settings.samples)
                    print(json.dumps(load.end()))
            print(
                f"{len(times)} changes: median {times[len(times) // 2]:.0f} ms, p99 {times[int(len(times) * 0.99)]:.0f} ms, "
                f"longest {times[-1]:.0f} ms"
            )
        finally:
            server.end()


main()
