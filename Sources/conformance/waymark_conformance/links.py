"""A connection of the suite, as a peer of a gateway or as the gateway of a peer."""

import asyncio
import contextlib
import traceback
from collections import deque
from collections.abc import Callable

from .frames import Frame, Reader, type_number
from .later import LaterVersion
from .schema import encode

PING, PONG, GOODBYE = (type_number(name) for name in ("Ping", "Pong", "Goodbye"))


def clock():
    return asyncio.get_running_loop().time()


class Lateness:
    """How late this program wakes up. On a busy machine, what a case measures is wrong by as much."""

    TICK = 0.01

    def __init__(self):
        self.found: deque[tuple[float, float]] = deque(maxlen=10_000)
        self.task = asyncio.create_task(self.watch())

    async def watch(self):
        while True:
            due = clock() + self.TICK
            await asyncio.sleep(self.TICK)
            self.found.append((clock(), clock() - due))

    def worst(self, since):
        """The longest delay that ended after an instant, in seconds."""
        return max((late for at, late in self.found if at >= since), default=0.0)


class Link:
    """Reads and writes frames, answers Pings, and keeps a log."""

    def __init__(self, name, reader, writer, log, laws=None):
        self.name, self.reader, self.writer, self.log, self.laws = name, reader, writer, log, laws
        self.inbox: deque[Frame] = deque()
        self.output: Callable[[bytes], object] = writer.write
        self.news = asyncio.Event()
        self.answers_pings, self.reads = True, asyncio.Event()
        self.reads.set()
        self.is_closed, self.fault, self.goodbye = False, "", None
        # `serves`: the other side is a gateway, so publications are numbered; `lenient`: what is left at the end does not matter.
        self.serves, self.lenient = True, False
        # Set in the cases of a later version, to which this side then belongs.
        self.version: LaterVersion | None = None
        self.session, self.next, self.hello, self.last_heard, self.gap = 0, {}, {}, clock(), 0.0
        self.began = clock()
        self.cutter = Reader()
        self.task = asyncio.create_task(self.read())

    async def read(self):
        with contextlib.suppress(ConnectionError, OSError):
            while True:
                await self.reads.wait()
                news = await self.reader.read(65_536)
                if not news:
                    break
                try:
                    self.receive(news)
                except Exception as error:
                    self.fault = f"the suite itself failed: {error!r} {traceback.format_exc(limit=-2)}"
                    break
        self.is_closed = True
        self.log.append((clock(), self.name, "closed", None))
        if self.laws:
            self.laws.closed()
        self.news.set()

    def receive(self, news):
        now = clock()
        for frame in self.cutter.feed(news):
            frame.at = now
            self.gap = max(self.gap, now - self.last_heard)
            self.last_heard = now
            fault = frame.decode()
            self.log.append((now, self.name, "received", frame))
            if self.laws:
                self.laws.received(frame, fault, now)
            if frame.type == PING and self.answers_pings and not self.is_closed:
                self.send(Frame(PONG, frame.body))
            if frame.type == GOODBYE:
                self.goodbye = frame
            self.inbox.append(frame)
        if self.cutter.fault and not self.fault:
            self.fault = self.cutter.fault
            self.log.append((now, self.name, self.fault, None))
        self.news.set()

    def send(self, frame):
        for each in self.version.frames(frame) if self.version else [frame]:
            each.at = clock()
            each.decode()
            self.log.append((each.at, self.name, "sent", each))
            if self.laws:
                self.laws.sent(each, each.at)
            self.write(each.pack())

    def is_of_later_version(self, is_later):
        """From now on this side is of a later version, or not."""
        self.version = LaterVersion() if is_later else None

    def write(self, data):
        with contextlib.suppress(ConnectionError, RuntimeError):
            self.output(data)

    @contextlib.contextmanager
    def alone(self):
        """Gives `write` to one frame that takes a while; others, as the answer to a Ping, follow behind it."""
        output = self.output
        waiting: list[bytes] = []

        def write(data):
            with contextlib.suppress(ConnectionError, RuntimeError):
                output(data)

        self.output = waiting.append
        try:
            yield write
        finally:
            self.output = output
            for data in waiting:
                write(data)

    def say(self, name, body, **header):
        self.send(Frame(type_number(name), encode(name, body), **header))

    async def change(self, until):
        """Waits for news; False if there were none until then."""
        self.news.clear()
        if self.inbox or self.is_closed:
            self.news.set()
        left = until - clock()
        if left <= 0:
            return False
        try:
            await asyncio.wait_for(self.news.wait(), left)
        except TimeoutError:
            return False
        return True

    def leave(self):
        """Says Goodbye as a peer, so that nothing is left of it, and closes."""
        if self.is_closed or not self.serves or not self.hello:
            self.close()
            return
        self.laws = None
        self.say("Goodbye", {"code": "NORMAL"})
        self.task.cancel()
        self.is_closed = True
        with contextlib.suppress(Exception):
            self.writer.close()

    def close(self):
        """Cuts the connection, without a Goodbye."""
        self.task.cancel()
        self.is_closed = True
        with contextlib.suppress(Exception):
            self.writer.transport.abort()
