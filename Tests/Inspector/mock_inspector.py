"""A small server that answers as `waymark inspect` does, from fixtures: for the tests of the page without a gateway."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mock_drive import Drive, fixture, instant

PAGE = Path(__file__).parents[2] / "Sources/WaymarkInspector/Resources/page"
TOKEN = "t" * 43
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


class Refused(Exception):
    def __init__(self, status: int, code: str, reason: str, field: str = "") -> None:
        super().__init__(reason)
        self.status, self.body = status, {"error": {"code": code, "reason": reason, **({"field": field} if field else {})}}


class _Server(ThreadingHTTPServer):
    # A browser opens several connections at once for the modules.
    request_queue_size = 64


FILTER = "vehicle client session peer kind event message way search rejected"
PARAMETERS = {
    "overview": "source at after limit search only sort",
    "vehicle": "source at id endpoint",
    "vehicle/tables": "source at id endpoint",
    "vehicle/destinations": "source at id endpoint",
    "route": "source at id endpoint",
    "updates": "source at id before limit message search",
    "entries": f"source at before after from to limit text {FILTER}",
    "frame": "source entry",
    "receipts": "source at id",
    "requests": "source at id",
    "findings": "source vehicle limit",
    "moments": "source vehicle from to marks",
    "lanes": "source id from to columns after",
    "compare": "a b vehicle vehicleB at atB",
    "actions": "id",
}
"""What the server accepts, by path."""


class Mock:
    """What the server answers; a test may change it."""

    def __init__(self) -> None:
        self.drive = Drive()
        self.at = 16.0
        # Trips that the client offers; guidance has not begun while there are any.
        self.previews: list[dict[str, Any]] = []
        self.act: dict[str, Any] = {"enabled": True}
        self.act_refusal: Refused | None = None
        self.connection: dict[str, Any] = {"state": "connected", "since": instant(0)}
        self.requests: list[tuple[str, str, Any]] = []
        """Method, path with query, and body of each request."""
        self.streams = 0
        """Streams of events that are open, or whose end was not noticed yet."""
        self.overrides: dict[str, Any] = {}
        """Answers by name, in place of the usual ones."""
        self.stopping = threading.Event()
        handler = type("Handler", (_Handler,), {"mock": self})
        self.server = _Server(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self.server.server_port}"
        self.link = f"{self.origin}/#token={TOKEN}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()

    def posted(self, path: str = "/api/act") -> list[Any]:
        return [body for method, where, body in self.requests if method == "POST" and where == path]

    # Answers, by the last part of the path.

    def answer(self, name: str, query: dict[str, str]) -> Any:
        for key in query:
            if key not in PARAMETERS.get(name, "").split():
                raise Refused(400, "invalid", "is no parameter here", key)
        if name in self.overrides:
            override = self.overrides[name]
            if isinstance(override, Exception):
                raise override
            return override(query) if callable(override) else override
        at = float(query.get("at", self.at))
        if name in {"vehicle", "vehicle/tables", "vehicle/destinations", "route", "updates", "requests", "receipts", "lanes"} and query.get(
            "id"
        ) not in {"car", "van"}:
            raise Refused(404, "notFound", f"there is no vehicle {query.get('id')}", "id")
        builders = {
            "sources": self.sources,
            "overview": lambda: self.overview(query),
            "vehicle": lambda: self.vehicle(at, query),
            "vehicle/tables": lambda: self.drive.tables(at),
            "vehicle/destinations": lambda: self.drive.destinations(at),
            "route": lambda: self.drive.map(at),
            "updates": lambda: self.updates(at, query),
            "entries": lambda: self.entries(at, query),
            "actions": lambda: {
                **fixture("actions"),
                "enabled": self.act["enabled"],
                **({} if self.act["enabled"] else {"reason": self.act["reason"]}),
            },
            "moments": lambda: self.moments(),
            "lanes": lambda: self.lanes(query),
        }
        if name in builders:
            return builders[name]()
        try:
            return self.now(fixture(name), at)
        except FileNotFoundError:
            raise Refused(404, "notFound", f"there is no {name}") from None

    @staticmethod
    def now(answer: Any, at: float) -> Any:
        """A fixture, as if it was told at a time."""
        return {**answer, **({"at": at, "time": instant(at), "now": instant(at)} if "at" in answer else {})}

    def sources(self) -> Any:
        answer = fixture("sources")
        answer.update(act=self.act, now=instant(self.at))
        answer["sources"][0].update(connection=self.connection, to=max(self.at, 120.0), **{"from": 0})
        answer["sources"][1].update(to=200.0)
        return answer

    def vehicle(self, at: float, query: dict[str, str]) -> Any:
        if query["id"] == "van":
            answer = fixture("vehicle")
            for key in ("published", "held", "session", "client", "card", "position", "arrival", "heldBy", "routeKey", "batteries"):
                answer.pop(key, None)
            answer["vehicle"].update(vehicle="van", session=0, standing=["waiting"], endpoints=[])
            answer["why"] = [
                {
                    "side": "published",
                    "path": "",
                    "reason": "noSession",
                    "text": "no client guides this vehicle",
                    "next": "Start one: waymark navigate --vehicle van",
                }
            ]
            return answer
        answer = {**self.drive.vehicle(at, query.get("endpoint", "cluster")), "source": query.get("source", "live")}
        if self.previews:
            for side in ("published", "held"):
                answer[side].update(phase="preview", previews=self.previews, maneuvers=[], upcomingManeuvers=[])
                answer[side].pop("trip")
        return answer

    def overview(self, query: dict[str, str]) -> Any:
        answer = {**fixture("overview"), "at": self.at, "now": instant(self.at)}
        car = answer["vehicles"][0]
        vehicle = self.drive.vehicle(self.at)
        state = vehicle["published"]
        following = next(m for m in state["maneuvers"] if m["id"] == state["upcomingManeuvers"][0])
        car.update(
            currentRoadName=state["currentRoadName"][0],
            destination="Leisberg 3",
            nextManeuver=following["instructionVariants"][0],
            nextManeuverType=following["type"],
            distanceToManeuverMeters=state["maneuverEstimates"][0]["distanceMeters"],
            distanceLeftMeters=state["tripEstimates"]["distanceMeters"],
            timeLeftSeconds=state["tripEstimates"]["timeSeconds"],
        )
        rows = [row for row in answer["vehicles"] if query.get("search", "").lower() in json.dumps(row).lower()]
        if query.get("only"):
            wanted = set(query["only"].split(","))
            rows = [row for row in rows if wanted & set(row["standing"]) or ("guided" in wanted and row.get("client"))]
        answer["vehicles"] = rows
        answer["totals"]["matching"] = len(rows)
        return answer

    def updates(self, at: float, query: dict[str, str]) -> Any:
        rows = [row for row in self.drive.update_rows(at) if query.get("message", row["message"]) == row["message"]]
        rows = [row for row in rows if query.get("search", "").lower() in json.dumps(row, ensure_ascii=False).lower()]
        return {"source": "live", "at": at, "rows": rows, "truncated": bool(rows), "next": rows[-1]["entry"] if rows else "", "from": 0}

    def entries(self, at: float, query: dict[str, str]) -> Any:
        kinds = query.get("kind", "").split(",")
        texts = [
            ("admitted", "car/cluster  connected"),
            ("sessionOpened", "demo-nav  opened session 7 for car"),
            ("started", "demo-nav  guidance began in session 7, route 1"),
            ("stopRequested", "car/cluster  asks demo-nav for a stop at Charging station Eppelheimer Straße (q1)"),
            ("requestEnded", "q1 ended: accepted"),
            ("paused", "demo-nav  paused: rerouting"),
            ("rerouted", "demo-nav  guidance continues along another route, route 2"),
        ]
        rows = []
        if "event" in kinds:
            rows = [
                {
                    "kind": "event",
                    "entry": f"v-{index}",
                    "number": index,
                    "at": index * 2.0,
                    "time": instant(index * 2.0),
                    "event": event,
                    "vehicles": ["car"],
                    "client": "demo-nav",
                    "peer": text.split()[0],
                    "session": 7,
                    "code": 0,
                    "text": text,
                }
                for index, (event, text) in enumerate(texts)
            ]
        if "frame" in kinds:
            frame = fixture("entries")["entries"][0]
            names = ["updateManeuverEstimates", "updateTripEstimates", "startGuidance", "hello"]
            rows += [
                {
                    **frame,
                    "entry": f"f-{index}",
                    "number": 900 + index,
                    "at": index * 1.0,
                    "time": instant(index),
                    "message": names[index % 4],
                    "rejected": index == 5,
                    "text": f"demo-nav > car  {names[index % 4]}",
                }
                for index in range(16)
            ]
        if "to" in query:
            rows = [row for row in rows if row["at"] <= float(query["to"])]
        if "from" in query:
            rows = [row for row in rows if row["at"] >= float(query["from"])]
        rows = [
            row
            for row in rows
            if query.get("search", "").lower() in json.dumps(row).lower() and query.get("message", row.get("message")) == row.get("message")
        ]
        if query.get("rejected"):
            rows = [row for row in rows if row.get("rejected")]
        if "after" in query:
            rows = [row for row in rows if row["at"] > self.position_of(query["after"])][: int(query.get("limit", 100))]
        else:
            if "before" in query:
                rows = [row for row in rows if row["at"] < self.position_of(query["before"])]
            rows = list(reversed(rows))[: int(query.get("limit", 100))]
        return {"source": "live", "at": at, "scanned": 48, "entries": rows, "truncated": False, "from": 0}

    @staticmethod
    def position_of(entry: str) -> float:
        kind, _, index = entry.partition("-")
        return float(index) * (2.0 if kind == "v" else 1.0) if index.isdigit() else -1.0

    def moments(self) -> Any:
        events = [
            (0.5, "connection", "car/cluster  connected"),
            (2, "session", "demo-nav opened session 7"),
            (4, "guidance", "guidance began"),
            (30, "request", "asks for a stop (q1)"),
            (43, "request", "q1 ended: accepted"),
            (44, "guidance", "rerouted"),
            (70, "finding", "LINT-LANE-LINK"),
            (90, "gap", "12 entries are missing"),
        ]
        return {
            "source": "live",
            "from": 0,
            "to": 120,
            "density": [int(20 + 18 * ((index * 7) % 13) / 13) for index in range(100)],
            "truncated": False,
            "moments": [{"at": at, "lane": lane, "text": text, "vehicles": ["car"]} for at, lane, text in events],
        }

    def lanes(self, query: dict[str, str]) -> Any:
        """What comes after a place; all of a time in two parts, as a long history is."""
        begin, columns = float(query["from"]), int(query["columns"])
        step = (float(query["to"]) - begin) / columns
        end = min(float(query["to"]), self.at if query.get("source", "live") == "live" else 200.0)
        first = int(query["after"].split("-")[0]) / 1e9 if "after" in query else begin
        truncated = "after" not in query
        last = (first + end) / 2 if truncated else max(first, end)
        count = max(1, min(40, int((last - first) / step)))
        times = [first + (last - first) * part / count for part in range(count)]
        states = [(at, self.drive.state(at)) for at in times]
        words = [
            ("maneuver", lambda at, state: f"maneuver {state['upcomingManeuvers'][0]}" if state["upcomingManeuvers"] else ""),
            ("state", lambda at, state: state["maneuverState"]),
            ("lanes", lambda at, state: "take 2, 3 of 4" if state.get("currentLaneGuidance") else ""),
            ("alert", lambda at, state: ""),
            ("request", lambda at, state: "stop q1" if 30 <= at < 43 else ""),
            ("client", lambda at, state: "demo-nav"),
        ]
        values = {
            ("distanceLeft", None): lambda at, state: state["tripEstimates"]["distanceMeters"],
            ("timeLeft", None): lambda at, state: state["tripEstimates"]["timeSeconds"],
            ("shown", "cluster"): lambda at, state: 20 + at % 7,
            ("shown", "hud"): lambda at, state: 90 + at % 17,
            ("waiting", "hud"): lambda at, state: 4096 if 60 <= at < 70 else 0,
        }
        connections = {"cluster": lambda at: "connected", "hud": lambda at: "away" if 80 <= at < 95 else "connected"}
        rate = range(int((first - begin) / step + 1e-6), max(int((first - begin) / step + 1e-6) + 1, int((last - begin) / step)))
        return {
            "source": query.get("source", "live"),
            "from": begin,
            "to": last,
            "bands": [{"lane": lane, "at": at, "text": word(at, state)} for lane, word in words for at, state in states]
            + [{"lane": "connection", "endpoint": name, "at": at, "text": word(at)} for name, word in connections.items() for at in times],
            "curves": [
                {
                    "name": name,
                    **({"endpoint": endpoint} if endpoint else {}),
                    "points": [[at, value(at, state)] for at, state in states],
                }
                for (name, endpoint), value in values.items()
            ]
            + [{"name": "rate", "points": [[begin + column * step, 2 + column % 3] for column in rate]}],
            "sampled": False,
            "truncated": truncated,
            "last": f"{int(last * 1e9)}-1-0",
        }

    # What is posted.

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        if path == "/api/act":
            if self.act_refusal:
                raise self.act_refusal
            return 202, {"id": f"a{len(self.posted())}"}
        if path == "/api/preview":
            profile = body["profile"]
            answer = self.drive.vehicle(
                float(body.get("at", self.at)),
                "cluster",
                tuple(profile.get("without", [])),
                profile.get("limits", {}).get("maneuversStored", 4),
            )
            answer["heldBy"]["endpoint"] = "preview"
            answer["vehicle"].pop("endpoints")
            return 200, answer
        raise Refused(404, "notFound", "there is no such path")

    def events(self, views: list[str], query: dict[str, str]) -> list[tuple[str, Any]]:
        """What the stream tells at the moment, for each view."""
        told: list[tuple[str, Any]] = [("beat", {"at": self.at, "from": 0, "now": instant(self.at)})]
        for view in views:
            name, _, rest = view.partition(":")
            if name.startswith(("overview", "entries")):
                name, _, parameters = view.partition("?")
                rest, query = "", {key: values[-1] for key, values in parse_qs(parameters).items()}
            vehicle, _, endpoint = rest.partition("/")
            key = "vehicle" if name == "findings" else "id"
            told_query = {**({key: vehicle} if vehicle else {}), **({"endpoint": endpoint} if endpoint else {})}
            if name == "overview":
                rows = self.answer("overview", query)["vehicles"]
                told.append(
                    (
                        name,
                        {
                            "view": view,
                            "at": self.at,
                            "totals": fixture("overview")["totals"],
                            "changed": rows,
                            "gone": [],
                            "order": [row["vehicle"] for row in rows],
                            "truncated": False,
                        },
                    )
                )
            elif name == "entries":
                told.append((name, {"view": view, "entries": [], "skipped": 0}))
            elif name in {"vehicle", "requests", "receipts", "findings", "actions"}:
                told.append((name, {**self.answer(name, told_query), "view": view}))
        return told


class _Handler(BaseHTTPRequestHandler):
    mock: Mock
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def reply(self, status: int, body: bytes, kind: str = "application/json", more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": CSP,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **(more or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, status: int, body: Any) -> None:
        self.reply(status, json.dumps(body, ensure_ascii=False).encode())

    @property
    def has_session(self) -> bool:
        return f"waymark-{self.server.server_port}=" in self.headers.get("Cookie", "")  # type: ignore[attr-defined]

    def do_GET(self) -> None:
        if self.mock.stopping.is_set():
            self.close_connection = True
            return
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        self.mock.requests.append(("GET", self.path, None))
        try:
            if parts.path == "/" or parts.path.startswith("/page/"):
                self.file("index.html" if parts.path == "/" else parts.path.removeprefix("/page/"))
            elif not self.has_session:
                raise Refused(401, "noSession", "this browser has no session")
            elif parts.path == "/events":
                self.stream(query)
            elif parts.path == "/api/export":
                self.reply(200, b"{}", "application/geo+json", {"Content-Disposition": f'attachment; filename="car-2.{query["format"]}"'})
            elif parts.path.startswith("/api/"):
                self.answer_json(200, self.mock.answer(parts.path.removeprefix("/api/"), query))
            else:
                raise Refused(404, "notFound", "there is no such path")
        except Refused as refused:
            self.answer_json(refused.status, refused.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def file(self, name: str) -> None:
        path = (PAGE / name).resolve()
        if not path.is_relative_to(PAGE.resolve()) or not path.is_file():
            raise Refused(404, "notFound", f"there is no file {name}")
        self.reply(200, path.read_bytes(), TYPES[path.suffix[1:]])

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            body = json.loads(text)
            self.mock.requests.append(("POST", self.path, body))
            if self.headers.get("Origin") != self.mock.origin:
                raise Refused(403, "forbidden", "Origin is not ours")
            if self.path == "/session":
                if body.get("token") != TOKEN:
                    raise Refused(403, "forbidden", "the token is wrong", "token")
                self.reply(204, b"", more={"Set-Cookie": f"waymark-{self.server.server_port}=x; HttpOnly; SameSite=Strict; Path=/"})  # type: ignore[attr-defined]
            elif not self.has_session:
                raise Refused(401, "noSession", "this browser has no session")
            else:
                self.answer_json(*self.mock.post(self.path, body))
        except Refused as refused:
            self.answer_json(refused.status, refused.body)

    def stream(self, query: dict[str, str]) -> None:
        views = query.pop("views").split(",")
        self.mock.streams += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        known = ""
        try:
            while not self.mock.stopping.is_set():
                told = self.mock.events(views, query)
                head = f"id: {int(self.mock.at * 10)}\n"
                text = "".join(f"{head}event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n" for name, data in told)
                # Only by writing is it noticed that the browser has gone.
                self.wfile.write((text if text != known else ":\n\n").encode())
                self.wfile.flush()
                known = text
                self.mock.stopping.wait(0.1)
        finally:
            self.mock.streams -= 1


if __name__ == "__main__":
    mock = Mock()
    print(mock.link, flush=True)
    while True:
        time.sleep(0.2)
        mock.at += 0.2
