"""The steps of a case. Each key of VERBS is a step's first key in the data; Docs/conformance.md describes them."""

import asyncio
import contextlib
import itertools
import math

from .frames import HEADER, PUBLISHED, Frame, flag_bits, flag_names, type_number
from .judging import Failed, Judging
from .links import Lateness, clock
from .match import filled, merged, mismatch
from .peers import Process
from .schema import NAMES, Malformed, encode, load

SCENES, FRAGMENTS = load("scenes.json"), load("fragments.json")
# Frames that an expectation passes over unless it is about them.
NOISE = {"Ping", "Pong", "Acknowledgement", "VehicleChanged", "ReceiptReport", "VehicleSettings", "Receipt", "ReadCounters"}
WITHIN = 5.0
# How long an end waits for frames that nothing asked for.
LINGER = 0.12
# How long a frame in pieces may pause between them, all in all: a busy machine would take so long that the other side gives up.
PAUSES = 1.0
unique = itertools.count(1)


def padded(body, size):
    """The body with an unknown field of zeros, so that its frame has this size."""
    left = size - HEADER.size - len(body) - 6  # a tag of two bytes, a length of four
    length = bytes([left & 127 | 128, left >> 7 & 127 | 128, left >> 14 & 127 | 128, left >> 21])
    return body + b"\xba\x3e" + length + bytes(left)


class Scene(Judging):
    """One run of a case: its connections and names."""

    def __init__(self, names, stage, slowness=1.0):
        self.names, self.stage, self.slowness = names, stage, slowness
        self.links, self.log, self.observed = {}, [], []
        self.process: Process | None = None
        self.marks = {}
        self.late = Lateness()

    # Names and times

    def fill(self, value):
        since = {f"since_{name}": math.ceil((clock() - at) * 10) * 100 for name, at in self.marks.items()}
        return filled(value, {**self.names, **since}, FRAGMENTS)

    def seconds(self, value):
        """A duration: a number, or the name of a time of the setup with what is added to it."""
        if isinstance(value, dict):
            return self.stage.peer.time(value["time"]) * value.get("times", 1) + value.get("plus", 0)
        return value

    @property
    def program(self):
        """The program under test, in the cases of peers."""
        if self.process is None:
            raise Malformed("a step needs the program under test, which a gateway's case has not")
        return self.process

    def link(self, name):
        if name not in self.links:
            raise Malformed(f"no connection is named {name}")
        return self.links[name]

    async def run(self, steps):
        for step in steps:
            verb = next(iter(step))
            if verb not in VERBS:
                raise Malformed(f"no such step: {verb}")
            await VERBS[verb](self, self.fill(step[verb]), step)

    async def do(self, scene, step):
        """Runs a scene of scenes.json with its names."""
        known = SCENES[scene]
        defaults = {name: value for name, value in known.get("names", {}).items() if name not in self.names}
        self.names.update(self.fill({**defaults, **step.get("with", {})}))
        await self.run(known["steps"])

    async def times(self, count, step):
        """Runs steps several times."""
        for _ in range(count):
            await self.run(step["steps"])

    async def distances(self, target, step):
        """The distances that an endpoint is told to display: true metres, tenths of the unit, unit."""
        for meters, tenths, unit in step["values"]:
            await self.send("c", {"type": "UpdateTripEstimates", "body": {"travel_estimates": {"distance_remaining_meters": meters}}})
            display = {"value_tenths": tenths, "unit": unit}
            await self.expect(
                target,
                {
                    "type": "UpdateTripEstimates",
                    "flags": ["FITTED"],
                    "body": {"travel_estimates": {"distance_remaining_meters": meters, "distance_remaining_to_display": display}},
                },
            )

    async def numbered(self, bounds, step):
        """Runs a step for each number within bounds, which is named n."""
        for number in range(bounds[0], bounds[1] + 1):
            self.names["n"] = number
            await self.run([step["step"]])
        del self.names["n"]

    async def exhaust(self, target, _):
        """Sends one request more than the Welcome allows at a time."""
        most = next(frame for _, frame in self.came(target, "Welcome")).decoded["requests_open_max"]
        for number in range(most + 1):
            await self.send(target, {"type": "WaypointRequest", "body": {"request_id": f"open-{number}", "waypoint": {"$use": "waypoint"}}})

    async def gather(self, target, step):
        """Passes over frames, until one fits."""
        await self.expect(target, {**step["until"], "skip": "*", "within": step.get("within", WITHIN)})

    async def terminate(self, name, _):
        """Sends the gateway of the setup a signal, with which its operator stops it."""
        (await self.stage.process()).signal(name)

    async def change(self, _, __):
        """Gives the gateway of the setup its changed file, and tells it so."""
        (await self.stage.process()).change()

    async def none_from(self, target, step):
        """Nothing at all comes for a time, and the connection stays open."""
        link = self.link(target)
        await asyncio.sleep(step["for"])
        if link.inbox or link.is_closed:
            raise Failed(f"{target}: {self.words(link.inbox[0]) if link.inbox else 'the connection was closed'}")

    async def keys(self, bounds, step):
        """Runs a step with each key within bounds."""
        for key in range(bounds[0], bounds[1] + 1):
            await self.run([{**step["step"], "key": key}])

    async def set(self, _, step):
        self.names.update(self.fill(step["set"]))

    async def mark(self, name, _):
        """Names this instant: $since_NAME is how many milliseconds have passed since, rounded up to 100 as an age is."""
        self.marks[name] = clock()

    # Sending

    def body(self, name, step):
        if "hex" in step:
            raw = self.fill(step["hex"])
            return bytes.fromhex("".join(raw) if isinstance(raw, list) else raw)
        body = encode(name, self.fill(step.get("body", {}))) if not name.startswith("0x") else b""
        more = self.fill(step.get("append", ""))
        body = bytes.fromhex(step.get("prepend", "")) + body + bytes.fromhex("".join(more) if isinstance(more, list) else more)
        return padded(body, step["pad"]) if "pad" in step else body

    async def send(self, target, step):
        """Sends a frame. A publication gets the connection's session and next number, unless the step gives others."""
        link, name = self.link(target), step["type"]
        kind = type_number(name)
        is_published = kind in PUBLISHED
        session = self.fill(step["session"]) if "session" in step else (link.session if is_published else 0)
        sequence = 0
        if "sequence" in step:
            sequence = self.fill(step["sequence"])
        elif is_published and link.serves:
            sequence = link.next[session] = link.next.get(session, 0) + 1
        frame = Frame(kind, self.body(name, step), flag_bits(step.get("flags", 0)), step.get("key", 0), session, sequence)
        for field in ("magic", "version", "length"):
            if field in step:
                setattr(frame, field, bytes.fromhex(step[field]) if field == "magic" else step[field])
        data = frame.pack()
        if "pieces" in step or "first_bytes" in step:
            data = data[: step.get("first_bytes", len(data))]
            size = step.get("pieces", len(data))
            link.log.append((clock(), link.name, f"sent in pieces of {size} bytes", frame))
            frame.decode()
            link.laws.sent(frame, clock())
            began = clock()
            with link.alone() as write:
                for at in range(0, len(data), size):
                    write(data[at : at + size])
                    await link.writer.drain()
                    await asyncio.sleep(step.get("pause", 0.001 if clock() - began < PAUSES else 0))
            return
        link.send(frame)

    async def publish(self, target, step):
        """Publishes as a client: the session is the one that was opened last, the number is the next."""
        await self.send(target, {**step, "type": step["type"]})

    async def raw(self, target, step):
        """Sends bytes."""
        link = self.link(target)
        link.write(bytes.fromhex(step["hex"]) * step.get("times", 1))
        link.log.append((clock(), link.name, f"sent the bytes {step['hex'][:80]}", None))

    async def batch(self, target, step):
        """Sends several frames in one write."""
        link = self.link(target)
        written: list[bytes] = []
        output, link.output = link.output, written.append
        try:
            for each in step["steps"]:
                await self.run([each])
        finally:
            link.output = output
        link.write(b"".join(written))

    # Receiving

    def fits(self, frame, step):
        """What of a frame does not fit, or None. Binds names only if it fits."""
        if frame.name != step["type"] and not (step["type"] == "publication" and frame.is_publication):
            return f"is {frame.name}"
        names = dict(self.names)
        pattern = self.fill(step.get("body", {}))
        message = frame.name if not frame.name.startswith("0x") else None
        if "hex" in step and frame.body.hex() != step["hex"].replace(" ", ""):
            return f"has the body {frame.body.hex(' ')}"
        if "faults" in frame.decoded or (message and (fault := mismatch(pattern, frame.decoded, names, "", message))):
            return fault
        for field in ("session", "sequence", "key"):
            if field in step:
                fault = mismatch(self.fill(step[field]), getattr(frame, field), names, field)
                if fault:
                    return fault
        if "flags" in step and not isinstance(step["flags"], dict) and frame.flags != flag_bits(step["flags"]):
            return f"has the flags {flag_names(frame.flags)}, not {step['flags']}"
        if "bytes" in step and len(frame.body) + 24 > step["bytes"]:
            return f"has {len(frame.body) + 24} bytes, more than {step['bytes']}"
        self.names.update(names)
        return None

    async def expect(self, target, step):
        """Waits for a frame. Other frames in between fail, except NOISE and those of `skip`; with `among`, they stay for later."""
        link, until = self.link(target), clock() + self.seconds(step.get("within", WITHIN)) * self.slowness
        wanted, skip, among = step["type"], step.get("skip", []), step.get("among", False)
        last = ""
        while True:
            for index, frame in enumerate(list(link.inbox)):
                fault = self.fits(frame, step)
                if fault is None:
                    if among:
                        del link.inbox[index]
                    else:
                        for _ in range(index + 1):
                            link.inbox.popleft()
                    self.remember(link, frame)
                    return frame
                if frame.name == wanted:
                    last = fault
                if not (among or frame.name in NOISE or skip == "*" or frame.name in skip):
                    why = f"{fault}" if frame.name == wanted else f"got {self.words(frame)}"
                    raise Failed(f"{link.name}: expected {wanted}, but {why}", step.get("otherwise", ""))
            if link.is_closed or link.fault:
                raise Failed(f"{link.name}: expected {wanted}, but {link.fault or 'the connection was closed'}", step.get("otherwise", ""))
            kept = len(link.inbox)
            link.news.clear()
            if not await self.wait_news(link, kept, until):
                last = f" ({last})" if last else ""
                raise Failed(f"{link.name}: no {wanted} came in time{last}", step.get("otherwise", ""))

    @staticmethod
    async def wait_news(link, kept, until):
        """Waits until there are more frames than before, or the end."""
        while len(link.inbox) == kept and not link.is_closed and not link.fault:
            left = until - clock()
            if left <= 0:
                return False
            link.news.clear()
            try:
                await asyncio.wait_for(link.news.wait(), left)
            except TimeoutError:
                return False
        return True

    @staticmethod
    def words(frame):
        detail = frame.decoded.get("code") or frame.decoded.get("outcome") or ""
        field = frame.decoded.get("field", "")
        return " ".join(str(each) for each in (frame.name, detail, field, frame.decoded.get("reason", "")) if each)

    def remember(self, link, frame):
        if frame.name == "SessionOpened":
            link.session = frame.decoded.get("session_id", 0)
            self.names["s"] = link.session
            self.names[f"s_{link.name}"] = link.session
        elif frame.name == "Welcome":
            self.names[f"token_{link.name}"] = frame.decoded.get("resumption_token", "")
        elif frame.name == "Observe":
            self.check_wanted(frame.decoded)
        self.names["sequence"], self.names["type"] = frame.sequence, frame.type

    async def quiet(self, target, step):
        """Nothing comes for a time, except NOISE and the types of `except`; with `of`, nothing of these types."""
        link = self.link(target)
        until = clock() + self.seconds(step.get("for", 0.2))
        while True:
            for frame in list(link.inbox):
                allowed = frame.name not in step["of"] if "of" in step else frame.name in NOISE or frame.name in step.get("except", [])
                if not allowed:
                    raise Failed(f"{link.name}: got {self.words(frame)}, which should not come", step.get("otherwise", ""))
            if step.get("drop"):
                link.inbox.clear()
            if link.is_closed:
                if step.get("may_close"):
                    return
                raise Failed(f"{link.name}: the connection was closed")
            if not await self.wait_news(link, len(link.inbox), until):
                return

    async def drop(self, target, _):
        """Forgets the frames that have come."""
        self.link(target).inbox.clear()

    async def closed(self, target, step):
        """The other side closes, with a Goodbye if `code` is given; other frames before it are passed over."""
        link, until = self.link(target), clock() + self.seconds(step.get("within", WITHIN)) * self.slowness
        while not link.is_closed:
            if not await self.wait_news(link, len(link.inbox), until):
                raise Failed(f"{link.name}: the connection was not closed in time", step.get("otherwise", ""))
            if link.inbox and not link.is_closed:
                strict = [each for each in link.inbox if each.name not in NOISE | {"Goodbye"} | set(step.get("skip", []))]
                if strict and not step.get("loose"):
                    raise Failed(f"{link.name}: expected a Goodbye, but got {self.words(strict[0])}", step.get("otherwise", ""))
                if link.goodbye:
                    await self.wait_news(link, len(link.inbox), until)
        if "code" in step:
            if link.goodbye is None:
                raise Failed(f"{link.name}: closed without a Goodbye, not with {step['code']}", step.get("otherwise", ""))
            names = self.names
            fault = mismatch(
                {"code": self.fill(step["code"]), **self.fill(step.get("body", {}))}, link.goodbye.decoded, names, "", "Goodbye"
            )
            if fault:
                raise Failed(f"{link.name}: Goodbye: {fault}", step.get("otherwise", ""))
        link.inbox.clear()

    async def open(self, target, step):
        """The connection is still open: a Ping is answered."""
        link = self.link(target)
        nonce = next(unique)
        link.say("Ping", {"nonce": nonce})
        await self.expect(target, {"type": "Pong", "body": {"nonce": nonce}, "among": True, "within": step.get("within", WITHIN)})

    async def faults(self, target, step):
        """The Error for a frame: its code and field."""
        body = {"code": self.fill(step["code"])}
        if "field" in step:
            body["field"] = step["field"]
        await self.expect(target, {**step, "type": "Error", "body": {**body, **step.get("body", {})}})

    # Time and connections

    async def wait(self, value, _):
        await asyncio.sleep(self.seconds(value))

    async def silent(self, target, _):
        """Stops answering Pings."""
        self.link(target).answers_pings = False

    async def stall(self, target, _):
        """Stops reading."""
        self.link(target).reads.clear()

    async def read(self, target, _):
        """Reads on."""
        self.link(target).reads.set()

    async def connect(self, target, step):
        """Connects to the gateway; sends a Hello, and expects a Welcome, unless the step says otherwise."""
        role = step.get("role", "endpoint")
        link = await self.stage.connect(self, target, role, step.get("listener", role), step.get("receive_bytes", 0))
        link.is_of_later_version(self.stage.case.later)
        if target in self.links:
            link.next, link.session = self.links[target].next, self.links[target].session
        self.links[target] = link
        if step.get("hello") is False:
            return
        part, key = {
            "endpoint": ("vehicle", "endpoint"),
            "client": ("navigation", "client_id"),
            "observer": ("observer", "observer_id"),
        }[role]
        own = {key: target if role == "endpoint" else f"{self.names['vehicle']}.{target}"}
        hello = merged(self.fill({"$use": f"{role}_hello"}), {part: own})
        hello = merged(hello, self.fill(step.get("hello", {})))
        link.hello = hello
        link.serves = True
        link.send(Frame(1, encode("Hello", hello)))
        if step.get("welcome") is not False:
            await self.expect(target, {"type": "Welcome", "body": step.get("welcome", {}), "otherwise": step.get("otherwise", "")})

    async def accept(self, target, step):
        """Waits for a connection of the implementation and its Hello; answers with a Welcome unless the step says otherwise."""
        until = clock() + self.seconds(step.get("within", 10)) * self.slowness
        link = await self.stage.accepted(self, target, until, step.get("otherwise", ""))
        self.links[target] = link
        link.is_of_later_version(self.stage.case.later)
        link.serves = False
        frame = await self.expect(target, {"type": "Hello", "body": step.get("hello", {}), "otherwise": step.get("otherwise", "")})
        link.hello = frame.decoded
        self.check_applies(link.hello)
        self.names["hello_token"] = frame.decoded.get("resumption_token", "")
        if step.get("welcome") is not False:
            await self.welcome(target, {"body": step.get("welcome", {})})

    async def welcome(self, target, step):
        link = self.link(target)
        asked = link.hello.get("vehicle", link.hello.get("navigation", {})).get("features", [])
        default = self.fill({"$use": "welcome"})
        default["resumption_token"] = f"{next(unique):032x}"
        known = [*range(1, 13), 15, 16] if "vehicle" in link.hello else [*range(1, 11), 13, 14, 15, 16]
        if link.hello.get("role") == "OBSERVER":
            known, default["visibility"] = [], "CONTENT"
        default["features"] = [
            {"feature": each, "granted": True}
            if NAMES["Feature"][each] in asked or each > 14
            else {"feature": each, "granted": False, "reason": "NOT_REQUESTED"}
            for each in known
        ]
        default["extensions"] = link.hello.get("extensions", [])
        body = merged(default, self.fill(step.get("body", {})))
        self.names["token"] = body.get("resumption_token", "")
        link.send(Frame(2, encode("Welcome", body)))

    async def cut(self, target, step):
        """Ends a connection without a Goodbye. An implementation that does not reconnect by itself is told to."""
        if self.process and "reconnects" not in self.stage.peer.driver:
            if "commands" not in self.stage.peer.driver:
                raise Failed("it does not come back by itself, and has no command cut", "UNIMPLEMENTED")
            self.program.command("cut")
            await self.closed(target, {"loose": True})
        self.link(target).close()
        self.log.append((clock(), target, "cut", None))

    async def bye(self, target, step):
        """Says Goodbye, and closes."""
        link = self.link(target)
        link.say("Goodbye", {"code": "NORMAL", **self.fill(step.get("body", {}))})
        if step.get("close", True):
            await asyncio.sleep(0)
            link.writer.close()
            link.is_closed = True
            link.task.cancel()

    # The driver

    async def command(self, line, step):
        """A line for standard input. With `or`: "go on", an implementation without commands does it by itself."""
        if "commands" not in self.stage.peer.driver:
            if step.get("or") == "go on":
                return
            raise Failed("it has no commands", "UNIMPLEMENTED")
        self.log.append((clock(), "driver", f"> {line}", None))
        self.program.command(line)

    async def view(self, pattern, step):
        """What the implementation shows fits the pattern in time."""
        if "state" not in self.stage.peer.driver:
            raise Failed("it does not print what it shows", "UNIMPLEMENTED")
        until = clock() + self.seconds(step.get("within", WITHIN)) * self.slowness
        last = None
        while True:
            self.program.news.clear()
            view = self.program.views[-1] if self.program.views else {"shows": False}
            last = mismatch(pattern, view, dict(self.names), "")
            if last is None:
                return
            left = until - clock()
            if left <= 0:
                raise Failed(f"shows something else: {last}", step.get("otherwise", ""))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.program.news.wait(), left)

    async def state(self, pattern, step):
        """The last line `state` of cluster-json fits the pattern in time."""
        until = clock() + self.seconds(step.get("within", WITHIN)) * self.slowness
        while (fault := mismatch(pattern, {key: self.program.state.get(key) for key in pattern}, dict(self.names))) is not None:
            if clock() > until:
                raise Failed(f"its state is another: {fault}", step.get("otherwise", ""))
            await asyncio.sleep(0.01)

    async def same_wish(self, target, _):
        """The last Observe of an observer wants what the one before wanted."""
        before, last = [frame.decoded | {"after_number": 0} for _, frame in self.came(target, "Observe")][-2:]
        if last != before:
            raise Failed(f"{target}: it wants {last}, not {before} as before")

    async def entry(self, pattern, step):
        """An observer has printed an entry that fits the pattern, in time."""
        if "entries" not in self.stage.peer.driver:
            raise Failed("it does not print what it is told", "UNIMPLEMENTED")
        until = clock() + self.seconds(step.get("within", WITHIN)) * self.slowness
        while all(mismatch(pattern, each, dict(self.names)) is not None for each in self.program.entries):
            if clock() > until:
                raise Failed(f"it has not printed {pattern}")
            await asyncio.sleep(0.01)

    async def needs(self, part, _):
        """Without this part of the driver contract the case is not run."""
        if part not in self.stage.parts:
            raise Failed(f"it does not have {part}", "UNIMPLEMENTED")

    async def none(self, seconds, step):
        """The implementation does not connect for a time, from now on or since a mark: a busy machine may be late already."""
        left = seconds - (clock() - self.marks[step["since"]] if "since" in step else 0)
        if left <= 0:
            return
        try:
            await asyncio.wait_for(self.stage.new.get(), left)
        except TimeoutError:
            return
        raise Failed("it connects again")

    async def never(self, pattern, _):
        """Nothing that was shown so far fits the pattern."""
        if "state" not in self.stage.peer.driver:
            raise Failed("it does not print what it shows", "UNIMPLEMENTED")
        for view in self.program.views:
            if mismatch(pattern, view, dict(self.names), "") is None:
                raise Failed(f"showed {pattern}")

    def close(self):
        """Ends what the scene itself does."""
        self.late.task.cancel()
        for link in self.links.values():
            link.leave()

    async def end(self):
        """The end of a case: frames that nothing asked for fail it."""
        await asyncio.sleep(LINGER)
        for link in self.links.values():
            for frame in link.inbox:
                if frame.name not in NOISE and not link.lenient:
                    raise Failed(f"{link.name}: got {self.words(frame)}, which nothing asked for")
            if link.fault:
                raise Failed(f"{link.name}: {link.fault}")

    async def lenient(self, target, _):
        """Frames that are left at the end do not matter."""
        self.link(target).lenient = True


VERBS = {
    name: getattr(Scene, name)
    for name in (
        "do",
        "set",
        "mark",
        "times",
        "silence",
        "takes",
        "come",
        "terminate",
        "change",
        "none_from",
        "gather",
        "told",
        "untold",
        "differ",
        "numbered",
        "exhaust",
        "distances",
        "held",
        "keys",
        "count",
        "before",
        "send",
        "publish",
        "raw",
        "batch",
        "expect",
        "quiet",
        "drop",
        "closed",
        "open",
        "faults",
        "wait",
        "silent",
        "stall",
        "read",
        "connect",
        "accept",
        "welcome",
        "state",
        "entry",
        "same_wish",
        "needs",
        "none",
        "said",
        "cut",
        "bye",
        "command",
        "view",
        "never",
        "lenient",
        "gap",
    )
}
