#!/usr/bin/env python3
"""monitoring.py [PROGRAM]: lets Debian's Prometheus scrape a real gateway through `waymark exporter`, and checks what it says.

PROGRAM is the program `waymark`, by default .build/release/waymark; `waymarkd` is beside it. Needs the package prometheus. Everything is on
ports that the system chooses, and in a folder that is removed. The steps: promtool accepts the metrics and the rules; the rules fire when
they should, and not otherwise (scripts/check/monitoring_rules.yml); values arrive; a drive is counted; the alert about a gateway that is
gone fires, and ends when it is back.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
RULES = TREE / "systemd/monitoring/waymark.rules.yml"
CASES = TREE / "scripts/check/monitoring_rules.yml"
DEADLINE = 120.0


class Failure(Exception):
    """A step did not come to the expected end."""


def wait_for(what: str, condition: Callable[[], Any]) -> Any:
    """Returns what `condition` returns as soon as that is true."""
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if value := condition():
            print(f"ok  {what}", flush=True)
            return value
        time.sleep(0.2)
    raise Failure(f"within {DEADLINE:.0f} s not: {what}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def get(url: str, accept: str = "*/*") -> str:
    request = urllib.request.Request(url, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=10) as response:
        text: str = response.read().decode()
        return text


def run_promtool(text: str, *arguments: str) -> None:
    result = subprocess.run(["promtool", *arguments], input=text, text=True, capture_output=True)
    # It also fails, with other statuses, for what it only advises against.
    if result.returncode != 0 or result.stderr.strip():
        raise Failure(f"promtool {' '.join(arguments)}: {result.stdout}{result.stderr}")
    print(f"ok  promtool {' '.join(arguments)}", flush=True)


def check_by_promtool(text: str, *arguments: str) -> None:
    run_promtool(text, "check", *arguments)


class Monitoring:
    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.folder = program, folder
        self.processes: list[subprocess.Popen[str]] = []
        self.observer = f"unix:{folder}/observe"
        self.vehicle, self.client = f"unix:{folder}/vehicle", f"unix:{folder}/client"

    def start(self, name: str, *command: str | Path, **options: Any) -> "subprocess.Popen[str]":
        log = (self.folder / f"{name}.log").open("a")
        process = subprocess.Popen(command, stderr=log, text=True, **{"stdout": log, **options})
        self.processes.append(process)
        return process

    def end(self, process: "subprocess.Popen[str]") -> int:
        process.terminate()
        return process.wait(timeout=60)

    def start_gateway(self) -> "subprocess.Popen[str]":
        settings = self.folder / "waymarkd.yaml"
        roles = {"vehicle": self.vehicle, "navigation": self.client, "observer": self.observer}
        lines = [f"  - {{address: '{address}', roles: [{role}]}}" for role, address in roles.items()]
        settings.write_text("listeners:\n" + "\n".join(lines) + "\n")
        return self.start("waymarkd", self.program.with_name("waymarkd"), "--config", settings)

    def start_exporter(self) -> str:
        command = [self.program, "exporter", "--connect", self.observer, "--listen", "127.0.0.1:0"]
        self.exporter = self.start("exporter", *command, stdout=subprocess.PIPE)
        assert self.exporter.stdout
        line = self.exporter.stdout.readline()
        found = re.search(r"at http://(127\.0\.0\.1:\d+)/metrics", line)
        if not found:
            raise Failure(f"the exporter said {line!r}")
        return found[1]

    def start_prometheus(self, target: str) -> None:
        # The alerts wait for a minute; here a second is enough.
        rules = self.folder / "waymark.rules.yml"
        rules.write_text(re.sub(r"\bfor: \w+", "for: 1s", RULES.read_text()))
        shipped = (TREE / "systemd/monitoring/prometheus.yml").read_text()
        mine = shipped.replace("/usr/share/doc/waymark/monitoring/waymark.rules.yml", str(rules))
        mine = mine.replace("127.0.0.1:9727", target).replace("scrape_interval: 15s", "scrape_interval: 1s")
        if mine.count(target) != 1 or mine.count(str(rules)) != 1:
            raise Failure("systemd/monitoring/prometheus.yml is not as expected")
        config = self.folder / "prometheus.yml"
        config.write_text("global: {evaluation_interval: 1s}\n" + mine)
        check_by_promtool("", "config", str(config))
        port = free_port()
        self.start(
            "prometheus",
            "prometheus",
            f"--config.file={config}",
            f"--storage.tsdb.path={self.folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        )
        self.api = f"http://127.0.0.1:{port}/api/v1"

    def ask(self, path: str, **parameters: str) -> Any:
        try:
            answer = json.loads(get(f"{self.api}/{path}?{urllib.parse.urlencode(parameters)}"))
        except (urllib.error.URLError, ConnectionError):
            return None
        return answer["data"]

    def value(self, expression: str) -> float | None:
        data = self.ask("query", query=expression)
        return float(data["result"][0]["value"][1]) if data and data["result"] else None

    def alert(self, name: str) -> str | None:
        data = self.ask("alerts")
        return next((each["state"] for each in data["alerts"] if each["labels"]["alertname"] == name), None) if data else None

    def run(self) -> None:
        check_by_promtool("", "rules", str(RULES))
        run_promtool("", "test", "rules", str(CASES))
        gateway = self.start_gateway()
        target = self.start_exporter()
        url = f"http://{target}/metrics"
        wait_for("the exporter reads the gateway's counters", lambda: "waymark_up 1\n" in get(url))
        check_by_promtool(get(url), "metrics")
        if not get(url, "application/openmetrics-text; version=1.0.0").endswith("# EOF\n"):
            raise Failure("OpenMetrics does not end")
        self.start_prometheus(target)
        wait_for("Prometheus scrapes it", lambda: self.value('up{job="waymark"}') == 1)
        wait_for("the gateway answers", lambda: self.value("waymark_up") == 1)
        cluster = self.start(
            "cluster",
            self.program,
            "cluster",
            "--id",
            "car",
            "--connect",
            self.vehicle,
            "--accept-prompts",
            "yes",
            "--until",
            "finished",
            "--timeout",
            "100",
        )
        route = TREE / "Sources/WaymarkCommandLine/Resources/routes/vaduz-balzers.json"
        drive = self.start(
            "navigate", self.program, "navigate", "--vehicle", "car", "--connect", self.client, "--route", route, "--speed", "1000"
        )
        if (drive.wait(timeout=DEADLINE), cluster.wait(timeout=DEADLINE)) != (0, 0):
            raise Failure("the drive failed")
        wait_for("the session of a drive is counted", lambda: self.value("waymark_sessions_opened_total") == 1)
        ended = 'waymark_sessions_ended_total{reason="finished"}'
        wait_for("its end is counted", lambda: self.value(ended) == 1)
        series = self.value('count({__name__=~"waymark_.*"})') or 0
        if not 100 < series < 200:
            raise Failure(f"{series} series")
        if self.alert("WaymarkGatewayDown"):
            raise Failure("an alert without a reason")
        self.end(gateway)
        wait_for("without the gateway its alert fires", lambda: self.alert("WaymarkGatewayDown") == "firing")
        # On a busy machine one scrape may be too late.
        wait_for("the exporter answers without the gateway", lambda: self.value('up{job="waymark"}') == 1)
        self.start_gateway()
        wait_for("with the gateway it ends", lambda: self.value("waymark_up") == 1 and not self.alert("WaymarkGatewayDown"))
        wait_for("the counters begin again", lambda: self.value("waymark_sessions_opened_total") == 0)
        if self.end(self.exporter) != 0:
            raise Failure("SIGTERM is a failure for the exporter")
        wait_for("without the exporter its alert fires", lambda: self.alert("WaymarkExporterDown") == "firing")


def main() -> int:
    program = Path(sys.argv[1] if len(sys.argv) > 1 else TREE / ".build/release/waymark").resolve()
    for needed in ("prometheus", "promtool"):
        if not shutil.which(needed):
            print(f"{needed} is missing: scripts/install.sh prometheus", file=sys.stderr)
            return 1
    with tempfile.TemporaryDirectory() as folder:
        monitoring = Monitoring(program, Path(folder))
        try:
            monitoring.run()
        except (Failure, subprocess.TimeoutExpired) as failure:
            print(f"FAILED: {failure}", file=sys.stderr)
            for log in sorted(Path(folder).glob("*.log")):
                print(f"-- {log.name}\n" + "\n".join(log.read_text().splitlines()[-15:]), file=sys.stderr)
            return 1
        finally:
            for process in monitoring.processes:
                process.kill()
                process.wait()
    print("monitoring: Prometheus and the exporter agree")
    return 0


if __name__ == "__main__":
    os.chdir(TREE)
    sys.exit(main())
