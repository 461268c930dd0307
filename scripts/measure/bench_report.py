#!/usr/bin/env python3
"""bench_report.py [RESULTS]: writes the tables and plots of Docs/performance.md from the results of bench.py.

What stands between the two marks in the document is replaced as a whole; the plots are next to the results.
"""

import collections
import itertools
import json
import math
import os
import re
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "Docs/performance.md")
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
NAMES = {"waymark": "waymarkd", "relay": "relay", "redis": "Redis", "nats": "NATS", "mqtt": "mosquitto"}
COLORS = {"waymark": "#d1495b", "relay": "#6c757d", "redis": "#e09f3e", "nats": "#2e86ab", "mqtt": "#7b5ea7"}

# The goals: description, scenario, compared value, other server, comparison, bound.
GOALS = [
    ("saturated, 100 endpoints: CPU per delivery", "saturate-100", "serverSecondsPerMillion", "relay", "<=", 1.5),
    ("saturated, 1 000 endpoints: CPU per delivery", "saturate-1000", "serverSecondsPerMillion", "relay", "<=", 1.5),
    ("saturated, 100 endpoints: deliveries/s", "saturate-100", "deliveriesPerSecond", "nats", ">=", 8),
    ("saturated, 1 000 endpoints: deliveries/s", "saturate-1000", "deliveriesPerSecond", "nats", ">=", 8),
    ("saturated, 100 endpoints: deliveries/s", "saturate-100", "deliveriesPerSecond", "redis", ">=", 4),
    ("saturated, 1 000 endpoints: deliveries/s", "saturate-1000", "deliveriesPerSecond", "redis", ">=", 4),
    ("saturated, 100 endpoints: deliveries/s", "saturate-100", "deliveriesPerSecond", "mqtt", ">=", 100),
    ("saturated, 1 000 endpoints: deliveries/s", "saturate-1000", "deliveriesPerSecond", "mqtt", ">=", 100),
    ("saturated, 1 endpoint: deliveries/s", "saturate-1", "deliveriesPerSecond", "nats", ">=", 1.5),
    ("1 000 endpoints × 20/s: CPU per delivery", "rate-1000x20", "serverSecondsPerMillion", "relay", "<=", 1.4),
    ("1 000 endpoints × 20/s: CPU per delivery", "rate-1000x20", "serverSecondsPerMillion", "redis", "<=", 1),
    ("500 drives × 10/s: CPU per delivery", "drives-500x10", "serverSecondsPerMillion", "relay", "<=", 1.8),
    ("500 drives × 10/s: CPU per delivery", "drives-500x10", "serverSecondsPerMillion", "redis", "<=", 1),
    ("100 endpoints × 200/s: p99", "rate-100x200", "microseconds99", "relay", "<=", 1.3),
    ("requests one at a time: answers/s", "request-1", "answersPerSecond", "redis", ">=", 1),
    ("10 000 endpoints resume: connections/s", "storm-10000", "connectionsPerSecond", "nats", ">=", 1),
]


class Results:
    """The results, by scenario and server."""

    def __init__(self, document):
        self.document = document
        self.runs = collections.defaultdict(dict)
        for run in document["runs"]:
            self.runs[run["scenario"], run["language"]][run["repeat"]] = run

    def values(self, scenario, language, key):
        return [run[key] for run in self.runs.get((scenario, language), {}).values() if run.get(key) is not None]

    def median(self, scenario, language, key):
        values = self.values(scenario, language, key)
        return statistics.median(values) if values else None

    def ratios(self, scenario, key, other, language="waymark", other_scenario=None):
        """The ratios of alternating runs."""
        ours, theirs = self.runs.get((scenario, language), {}), self.runs.get((other_scenario or scenario, other), {})
        return [
            ours[repeat][key] / theirs[repeat][key]
            for repeat in sorted(ours.keys() & theirs.keys())
            if ours[repeat].get(key) is not None and theirs[repeat].get(key)
        ]


def number(value):
    """Three significant digits."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    scaled = round(value, 2 - math.floor(math.log10(abs(value))))
    return f"{scaled:,.{digits}f}".replace(",", " ")


def spread(values):
    """The median and the range."""
    if not values:
        return "not measured"
    middle = number(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({number(min(values))} … {number(max(values))})"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def goals(results):
    """Rows: description, other server, goal, result, whether it is met."""
    rows = []

    def add(what, against, relation, bound, values, unit=""):
        if not values:
            return
        middle = statistics.median(values)
        is_met = middle <= bound if relation == "<=" else middle >= bound
        sign = "at most" if relation == "<=" else "at least"
        rows.append((what, against, f"{sign} {bound}{unit}", spread(values) + unit, "yes" if is_met else "no"))

    for what, scenario, key, other, relation, bound in GOALS:
        add(what, NAMES[other], relation, bound, results.ratios(scenario, key, other), " ×")
    add(
        "10 000 idle endpoints: memory of each",
        "",
        "<=",
        4_096,
        results.values("idle-10000", "waymark", "residentBytesPerConnection"),
        " bytes",
    )
    add("10 000 idle endpoints: CPU", "", "<=", 1, results.values("idle-10000", "waymark", "serverPercent"), " %")
    add(
        "one stalled endpoint of 1 000: p99 of the others",
        "none stalled",
        "<=",
        1.1,
        results.ratios("stalled-1000", "microseconds99", "waymark", other_scenario="healthy-1000"),
        " ×",
    )
    add(
        "saturated, 10 000 endpoints: CPU per delivery",
        "10 endpoints",
        "<=",
        2,
        results.ratios("saturate-10000", "serverSecondsPerMillion", "waymark", other_scenario="saturate-10"),
        " ×",
    )
    return rows


def goals_table(results):
    return table(("what", "against", "goal", "measured", "met"), goals(results))


def comparison(results, scenarios, columns):
    """A row per scenario, a column per server; each cell has all `columns`: (key, scale)."""
    languages = [language for language in NAMES if any((scenario, language) in results.runs for scenario, _ in scenarios)]
    rows = []
    for scenario, title in scenarios:
        cells = []
        for language in languages:
            values = [results.median(scenario, language, key) for key, _ in columns]
            shown = [number(value * scale) for value, (_, scale) in zip(values, columns, strict=True) if value is not None]
            cells.append(" / ".join(shown))
        if any(cells):
            rows.append((title, *cells))
    return table(("", *[NAMES[language] for language in languages]), rows)


def sections(results):
    def count(value):
        return f"{value:,}".replace(",", " ")

    machine = results.document["machine"]
    servers = "; ".join(results.document["servers"].values())
    yield (
        f"{results.document['date']}, {machine['processors']} processors, {machine['model']}, Linux {machine['kernel']}. "
        f"{servers}. Runs of {number(results.document['seconds'])} s, alternating between the servers, "
        f"{results.document['repeats']} of each; medians. The generator ran on the same machine, "
        + (
            f"which had a load of {number(machine['load'])} before the runs. Under such a load the ratios of CPU are meaningful, latencies "
            "and rates are not."
            if machine["load"] > 0.5 * machine["processors"]
            else "which was otherwise idle."
        )
    )
    yield "### Goals\n\nRatios of alternating runs: median, smallest and largest.\n\n" + goals_table(results)
    saturated = [(f"saturate-{n}", f"{count(n)} endpoint" + "s" * (n > 1)) for n in (1, 10, 100, 1_000, 10_000)]
    saturated += [
        ("estimates-100", "100 endpoints, estimates"),
        ("segments-1", "1 endpoint, routes of 50 KB"),
        ("segments-100", "100 endpoints, routes of 50 KB"),
        ("drives-1000", "1 000 drives of 1 endpoint"),
    ]
    yield (
        "### Saturated\n\nThousand deliveries per second / CPU seconds of the server per million deliveries. Bodies of "
        "128 bytes unless stated otherwise.\n\n"
        + comparison(results, saturated, [("deliveriesPerSecond", 0.001), ("serverSecondsPerMillion", 1)])
        + "\n\n![Deliveries per second](performance/throughput.svg)\n\n![CPU per delivery](performance/cpu.svg)"
    )
    rates = [(f"rate-100x{rate}", f"100 endpoints × {count(rate)}/s") for rate in (20, 200, 1_000, 5_000)]
    rates += [
        ("rate-1000x20", "1 000 endpoints × 20/s"),
        ("drives-500x10", "500 drives of 1 endpoint × 10/s"),
        ("healthy-1000", "1 000 endpoints × 50/s"),
        ("stalled-1000", "the same, one does not read"),
    ]
    yield (
        "### At a fixed rate\n\nMicroseconds from a message's due time to its delivery, p50 / p99, and CPU seconds of the server "
        "per million deliveries.\n\n"
        + comparison(results, rates, [("microseconds50", 1), ("microseconds99", 1), ("serverSecondsPerMillion", 1)])
        + "\n\n![Latency](performance/latency.svg)"
    )
    yield (
        "### Requests\n\nAnswers per second / microseconds p50 / p99.\n\n"
        + comparison(
            results,
            [("request-1", "one at a time"), ("request-64", "64 at a time")],
            [("answersPerSecond", 1), ("microseconds50", 1), ("microseconds99", 1)],
        )
    )
    idle = [(f"idle-{n}", f"{count(n)} connections") for n in (100, 1_000, 10_000)]
    yield (
        "### Connections\n\nBytes of memory per idle connection, without the pages of the program, / accepted connections per second.\n\n"
        + comparison(results, idle, [("residentBytesPerConnection", 1), ("connectionsPerSecond", 1)])
        + "\n\nPercent of a processor while 10 000 are idle, Waymark with a keepalive of 10 s, the others without one.\n\n"
        + comparison(results, [("idle-10000", "10 000 idle")], [("serverPercent", 1)])
        + "\n\n![Memory](performance/memory.svg)\n\n10 000 endpoints are disconnected and resume at once, with a snapshot (Waymark) or a "
        "subscription: connections per second / p99 in microseconds of 200 messages a second to ten others meanwhile.\n\n"
        + comparison(results, [("storm-10000", "10 000 resume")], [("connectionsPerSecond", 1), ("microseconds99", 1)])
    )
    own = [(scenario, title) for scenario, title in saturated + rates[:6]]
    yield (
        "### The generator\n\nIts CPU seconds per million deliveries, for sending, receiving and comparing.\n\n"
        + comparison(results, own, [("generatorSecondsPerMillion", 1)])
    )


class Plot:
    """Lines over two logarithmic axes, as SVG."""

    WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 744, 400, 104, 110, 44, 52

    def __init__(self, title, x_title, y_title):
        self.title, self.x_title, self.y_title = title, x_title, y_title
        self.lines = []

    def line(self, name, color, points):
        points = [(x, y) for x, y in points if y and y > 0]
        if points:
            self.lines.append((name, color, points))

    def svg(self):
        xs = [x for _, _, points in self.lines for x, _ in points]
        ys = [y for _, _, points in self.lines for _, y in points]
        self.x_range = math.log10(min(xs)), math.log10(max(xs))
        self.y_range = math.floor(math.log10(min(ys))), max(math.ceil(math.log10(max(ys))), math.floor(math.log10(min(ys))) + 1)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.WIDTH} {self.HEIGHT}" font-family="sans-serif" font-size="12">',
            f'<rect width="{self.WIDTH}" height="{self.HEIGHT}" fill="#ffffff"/>',
            self.text(self.LEFT, 24, self.title, size=15),
            self.text((self.LEFT + self.WIDTH - self.RIGHT) / 2, self.HEIGHT - 12, self.x_title, anchor="middle"),
            self.text(16, (self.TOP + self.HEIGHT - self.BOTTOM) / 2, self.y_title, anchor="middle", turn=True),
        ]
        parts += self.grid(sorted(set(xs))) + self.curves()
        return "\n".join(parts) + "\n</svg>\n"

    def place(self, x, y):
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        across = (math.log10(x) - x0) / ((x1 - x0) or 1)
        up = (math.log10(y) - y0) / (y1 - y0)
        return (
            self.LEFT + across * (self.WIDTH - self.LEFT - self.RIGHT),
            self.HEIGHT - self.BOTTOM - up * (self.HEIGHT - self.TOP - self.BOTTOM),
        )

    def grid(self, xs):
        parts = []
        for power in range(self.y_range[0], self.y_range[1] + 1):
            _, y = self.place(xs[0], 10**power)
            parts.append(f'<path d="M{self.LEFT} {y:.1f}H{self.WIDTH - self.RIGHT}" stroke="#dddddd"/>')
            parts.append(self.text(self.LEFT - 8, y + 4, number(10.0**power), anchor="end"))
        for x in xs:
            across, _ = self.place(x, 10 ** self.y_range[0])
            parts.append(f'<path d="M{across:.1f} {self.TOP}V{self.HEIGHT - self.BOTTOM}" stroke="#eeeeee"/>')
            parts.append(self.text(across, self.HEIGHT - self.BOTTOM + 18, f"{x:,}".replace(",", " "), anchor="middle"))
        return parts

    def curves(self):
        parts, taken = [], []
        for name, color, points in self.lines:
            places = [self.place(x, y) for x, y in points]
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
            parts.append(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places]
            taken.append([places[-1][1] + 4, name, color])
        # Keeps the names apart.
        taken.sort()
        for before, after in itertools.pairwise(taken):
            after[0] = max(after[0], before[0] + 15)
        parts += [self.text(self.WIDTH - self.RIGHT + 10, y, name, color=color) for y, name, color in taken]
        return parts

    @staticmethod
    def text(x, y, text, anchor="start", size=12, color="#333333", turn=False):
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{color}"{turned}>{text}</text>'


def plots(results):
    """Name of a file -> plot."""

    def over(scenarios, key, scale=1):
        for language, name in NAMES.items():
            yield name, COLORS[language], [(x, (results.median(scenario, language, key) or 0) * scale) for x, scenario in scenarios]

    counts = (1, 10, 100, 1_000, 10_000)
    saturated = [(n, f"saturate-{n}") for n in counts]
    rates = [(rate, f"rate-100x{rate}") for rate in (20, 200, 1_000, 5_000)]
    idle = [(n, f"idle-{n}") for n in (100, 1_000, 10_000)]
    for file, title, x_title, y_title, lines in (
        (
            "throughput",
            "Deliveries per second, as many as possible",
            "endpoints",
            "deliveries per second",
            over(saturated, "deliveriesPerSecond"),
        ),
        (
            "cpu",
            "CPU of the server, as many deliveries as possible",
            "endpoints",
            "seconds per million deliveries",
            over(saturated, "serverSecondsPerMillion"),
        ),
        ("latency", "p99 of deliveries to 100 endpoints", "messages per second", "microseconds", over(rates, "microseconds99")),
        ("memory", "Resident memory of idle connections", "connections", "KiB in all", over(idle, "residentKiB")),
    ):
        plot = Plot(title, x_title, y_title)
        for line in lines:
            plot.line(*line)
        if plot.lines:
            yield file, plot


def write_documents(path):
    with open(path, encoding="utf-8") as file:
        results = Results(json.load(file))
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    measured = f"{BEGIN}\n\n" + "\n\n".join(sections(results)) + f"\n\n{END}"
    page, found = re.subn(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: measured, page, flags=re.DOTALL)
    if found != 1:
        sys.exit(f"{PAGE} lacks the two marks")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)
    for name, plot in plots(results):
        with open(os.path.join(os.path.dirname(path), name + ".svg"), "w", encoding="utf-8") as file:
            file.write(plot.svg())


if __name__ == "__main__":
    write_documents(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "Docs/performance/results.json"))
