#!/usr/bin/env python3
"""images.py WAYMARK: makes the pictures of README.md, in Docs/images, from two runs of the program WAYMARK.

cluster.svg is the screen of `waymark demo` in a terminal of 80 columns, after the vehicle's user has accepted a stop. flow.svg
shows the messages that the cluster of `waymark demo --json` received, with their times. Run it again when the cluster's screen or
the demo changes, for example with .build/release/waymark.
"""

import collections
import fcntl
import html
import json
import os
import pty
import struct
import subprocess
import sys
import termios

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "Docs/images")
COLUMNS, ROWS = 80, 24
# Published often; the flow shows the first of each, with their number.
FREQUENT = {
    "addManeuvers",
    "currentLaneGuidance",
    "currentRoadName",
    "currentRouteSegment",
    "updateManeuverEstimates",
    "updateManeuverState",
    "updateTrip",
    "updateTripEstimates",
    "upcomingManeuvers",
}
HIDDEN = {"snapshotEnd", "promptOver", "vehicleChanged"}
# Sent by the gateway outside of a session, so their headers have no flag that shows it.
OF_GATEWAY = {"prompt", "requestOutcome"}


def screens(command):
    """The screens that a program draws in a terminal, as lists of lines."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm"
        os.execv(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    output = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # The program has closed the terminal.
            break
        if not piece:
            break
        output += piece
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with status {status}")
    # Each screen begins at the top left corner, and each of its lines is cleared to the right.
    for screen in output.decode().split("\x1b[H")[1:]:
        yield screen.split("\x1b[J")[0].replace("\x1b[K", "").replace("\r", "").split("\n")


def cluster_svg(lines):
    width, height, line_height = 8, 20, 18
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * width + 2 * height} {ROWS * line_height + 2 * height}" '
        'font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13">'
    )
    yield '<rect width="100%" height="100%" rx="8" fill="#10151c"/>'
    for row, line in enumerate(lines):
        text = line.rstrip()
        if text:
            # The text length keeps the columns aligned, whatever the font's width is.
            yield (
                f'<text x="{height}" y="{height + (row + 1) * line_height - 5}" fill="#e6edf3" xml:space="preserve" '
                f'textLength="{len(text) * width}" lengthAdjust="spacingAndGlyphs">{html.escape(text)}</text>'
            )
    yield "</svg>"


def seconds(time):
    hours, minutes, rest = time.split("T")[1].rstrip("Z").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def steps(command):
    """The flow: time, sender, text."""
    lines = [json.loads(line) for line in subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()]
    messages = [line for line in lines if line["kind"] == "message" and line["message"] not in HIDDEN]
    counts = collections.Counter(message["message"] for message in messages)
    start, seen = seconds(lines[0]["time"]), set()
    for message in messages:
        name = message["message"]
        if name in FREQUENT and name in seen:
            continue
        seen.add(name)
        text = name
        if name in FREQUENT and counts[name] > 1:
            text += f" (the first of {counts[name]})"
        details = (message.get("outcome"), message.get("rerouteReason"), message.get("pauseReason"), message.get("endReason"))
        text += "".join(f": {detail}" for detail in details if isinstance(detail, str) and detail != "unknown")
        is_of_gateway = message["fromGateway"] or name in OF_GATEWAY
        yield seconds(message["time"]) - start, "gateway" if is_of_gateway else "client", text


def flow_svg(flow):
    places = {"client": 110, "gateway": 370, "cluster": 630}
    names = {"client": "navigation client", "gateway": "waymarkd", "cluster": "instrument cluster"}
    height = 78 + 26 * len(flow)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 {height}" '
        'font-family="system-ui, DejaVu Sans, Helvetica, Arial, sans-serif" font-size="13">'
    )
    yield '<rect width="100%" height="100%" rx="8" fill="#ffffff"/>'
    yield (
        '<defs><marker id="end" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#1f6feb"/></marker></defs>'
    )
    for key, x in places.items():
        yield f'<line x1="{x}" y1="44" x2="{x}" y2="{height - 12}" stroke="#8b949e" stroke-dasharray="3 3"/>'
        yield f'<rect x="{x - 80}" y="14" width="160" height="30" rx="5" fill="#ddf4ff" stroke="#1f6feb"/>'
        yield f'<text x="{x}" y="34" text-anchor="middle" fill="#0a3069">{names[key]}</text>'
    for row, (time, sender, text) in enumerate(flow):
        y = 78 + 26 * row
        start = places[sender]
        yield f'<text x="8" y="{y + 4}" font-size="10" fill="#57606a">{time:.2f} s</text>'
        if sender == "client":
            yield f'<line x1="{start}" y1="{y}" x2="{places["gateway"]}" y2="{y}" stroke="#1f6feb" marker-end="url(#end)"/>'
        yield f'<line x1="{places["gateway"]}" y1="{y}" x2="{places["cluster"]}" y2="{y}" stroke="#1f6feb" marker-end="url(#end)"/>'
        x = (places["gateway"] + places["cluster"]) / 2 if sender == "gateway" else (start + places["gateway"]) / 2
        yield f'<text x="{x}" y="{y - 4}" font-size="11" text-anchor="middle" fill="#24292f">{html.escape(text)}</text>'
    yield "</svg>"


def write(name, lines):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    os.makedirs(FOLDER, exist_ok=True)
    accepted = [
        screen
        for screen in screens([program, "demo", "--speed", "60"])
        if any("new route via" in line for line in screen) and not any("at the stop" in line for line in screen)
    ]
    write("cluster.svg", cluster_svg(accepted[len(accepted) // 2]))
    write("flow.svg", flow_svg(list(steps([program, "demo", "--speed", "60", "--json"]))))


main()
