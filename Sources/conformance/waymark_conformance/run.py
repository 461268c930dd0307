"""Running cases against an implementation, several at a time."""

import asyncio
import contextlib
import dataclasses
import itertools
import socket
import time
import traceback
from dataclasses import dataclass, field
from typing import Any

from .cases import Case
from .client_laws import ClientLaws
from .judging import Failed
from .laws import EndpointLaws, GatewayLaws, ObserverLaws
from .links import Link, clock
from .peers import Process, free_ports
from .schema import VERSION, Malformed, load
from .steps import Scene

OK, NON_STRICT, INFORMATIONAL, UNIMPLEMENTED, FAILED = "OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED", "FAILED"
VERDICTS = [OK, NON_STRICT, INFORMATIONAL, UNIMPLEMENTED, FAILED]
# What a case that does not hold means, by its class.
BROKEN = {"MUST": FAILED, "SHOULD": NON_STRICT, "MAY": INFORMATIONAL}
START = 20.0
PORTS = ["port", "client_port", "key_port", "key_client_port", "observer_port", "content_port"]
# Which port stands for a listener of a case, and which ports a case can need.
LISTENERS = {
    "endpoint": "port",
    "client": "client_port",
    "key": "key_port",
    "key-client": "key_client_port",
    "observer": "observer_port",
    "content": "content_port",
}
PARTS = {"listeners": "client_port", "keys": "key_client_port", "observers": "observer_port"}
runs = itertools.count(1)


@dataclass
class Result:
    case: Case
    verdict: str
    why: str = ""
    log: list[Any] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    seconds: float = 0.0
    observed: list[Any] = field(default_factory=list)


class NotStarted(Malformed):
    """The implementation cannot be tested."""


class GatewayStage:
    """Started gateways, one of each setup; cases connect to them."""

    def __init__(self, peer, through=None):
        self.peer, self.gateways, self.locks, self.alone = peer, {}, {}, asyncio.Lock()
        self.through = through

    async def prepare(self, name):
        """The gateway of a setup; starts it at the first call."""
        lock = self.locks.setdefault(name, asyncio.Lock())
        async with lock:
            if name not in self.gateways:
                peer = self.peer.setup(name)
                told = peer.command + peer.file
                wanted = [place for place in PORTS if place == "port" or "{" + place + "}" in told]
                ports = dict(zip(wanted, free_ports(len(wanted)), strict=True))
                for place in PORTS:
                    ports.setdefault(place, ports["port"])
                process = Process(peer, ports)
                await process.start()
                await self.until_ready(process, ports)
                self.gateways[name] = (process, ports)
        return self.gateways[name]

    @staticmethod
    async def until_ready(process, ports):
        until = clock() + START
        while True:
            try:
                for port in set(ports.values()):
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                return
            except OSError:
                if clock() > until or process.started.returncode is not None:
                    raise NotStarted("the gateway does not listen: " + " / ".join(process.lines[-5:])) from None
                await asyncio.sleep(0.02)

    async def route(self, port):
        """The address of a gateway's port, or that of a proxy before it."""
        return await self.through(port) if self.through else ("127.0.0.1", port)

    def view(self, case):
        return GatewayView(self, case)

    async def end(self):
        for process, _ in self.gateways.values():
            await process.end()


class GatewayView:
    """What one case sees of the stage: the gateway of its setup."""

    def __init__(self, stage, case):
        self.stage, self.case = stage, case
        self.name = case.setup if case.setup in stage.peer.setups else ("alone" if case.alone else "default")
        self.peer = stage.peer.setup(case.setup)
        told = self.peer.command + self.peer.file
        self.parts = {part for part, place in PARTS.items() if "{" + place + "}" in told}

    @contextlib.asynccontextmanager
    async def around(self, scene):
        if self.case.setup and self.case.setup not in self.stage.peer.setups and self.case.setup != "hasty":
            raise Failed(f"there is no setup {self.case.setup}", UNIMPLEMENTED)
        await self.stage.prepare(self.name)
        if self.case.alone:
            async with self.stage.alone:
                yield
        else:
            yield

    async def connect(self, scene, target, role, listener, receive_bytes):
        _, ports = await self.stage.prepare(self.name)
        port = ports[LISTENERS[listener]]
        plug = socket.socket()
        if receive_bytes:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        plug.setblocking(False)
        await asyncio.get_running_loop().sock_connect(plug, await self.stage.route(port))
        reader, writer = await asyncio.open_connection(sock=plug, limit=receive_bytes or 65_536)
        laws = GatewayLaws(role)
        laws.is_later = self.case.later
        scene.observed.append(laws)
        return Link(target, reader, writer, scene.log, laws)

    async def process(self):
        """The gateway's process."""
        return (await self.stage.prepare(self.name))[0]

    async def finish(self, scene):
        await scene.end()


class PeerStage:
    """A listener for each case, to which a new process of the implementation connects."""

    def __init__(self, peer):
        self.peer = peer

    def view(self, case):
        return PeerView(self.peer, case)

    async def end(self):
        """Nothing is left: each case ends its process."""


class PeerView:
    def __init__(self, peer, case):
        self.peer, self.case = peer.setup(case.setup), case
        self.parts, self.setups = set(peer.driver), peer.setups
        self.new: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        self.sessions = {}

    @contextlib.asynccontextmanager
    async def around(self, scene):
        if self.case.setup and self.case.setup not in self.setups:
            raise Failed(f"there is no setup {self.case.setup}", UNIMPLEMENTED)
        server = await asyncio.start_server(lambda reader, writer: self.new.put_nowait((reader, writer)), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        scene.process = Process(self.peer, {"port": port, "vehicle": scene.names["vehicle"], "client": "client"})
        try:
            await scene.process.start()
            yield
        except Failed as failure:
            await self.explain(scene, failure)
            raise
        finally:
            await scene.process.end()
            server.close()

    @staticmethod
    async def explain(scene, failure):
        """Adds how the implementation ended, if it did."""
        if any(link.is_closed for link in scene.links.values()):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(scene.process.started.wait(), 0.2)
        words = scene.process.last_words()
        if scene.process.started.returncode and not failure.verdict and words not in str(failure):
            failure.args = (f"{failure}; {words}",)

    async def accepted(self, scene, target, until, otherwise):
        while True:
            with contextlib.suppress(TimeoutError):
                reader, writer = await asyncio.wait_for(self.new.get(), max(0.0, min(0.2, until - clock())))
                break
            if clock() >= until:
                raise Failed("it did not connect in time", otherwise)
            if scene.process.started.returncode is not None and self.new.empty():
                raise Failed(scene.process.last_words(), otherwise)
        laws = {"endpoint": EndpointLaws, "client": lambda: ClientLaws(self.sessions), "observer": ObserverLaws}[self.peer.role]()
        laws.late = scene.late.worst
        if scene.observed:
            laws.sessions |= scene.observed[-1].sessions
            if isinstance(laws, ObserverLaws):
                laws.told = scene.observed[-1].told
            if isinstance(laws, EndpointLaws):
                laws.cursor, laws.end = scene.observed[-1].cursor, scene.observed[-1].end
                laws.session = scene.observed[-1].session
                laws.cursors |= scene.observed[-1].cursors
        scene.observed.append(laws)
        return Link(target, reader, writer, scene.log, laws)

    async def finish(self, scene):
        await asyncio.sleep(0.05)
        for link in scene.links.values():
            if link.fault:
                raise Failed(f"{link.name}: {link.fault}")


async def run_case(case, stage, slowness=1.0):
    """Runs one case; its deadline ends it."""
    number = next(runs)
    names = {"vehicle": f"{case.id.lower()}.{number}", "number": number, "version": VERSION["minor"], "started_ms": int(time.time() * 1000)}
    view = stage.view(case)
    scene = Scene(names, view, slowness)
    began, verdict, why = clock(), OK, ""
    try:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(view.around(scene))
            began = clock()
            async with asyncio.timeout(case.deadline * slowness):
                await scene.run(case.steps)
                await view.finish(scene)
    except Failed as failure:
        why = str(failure)
        verdict = failure.verdict or BROKEN[case.of]
    except TimeoutError:
        verdict, why = BROKEN[case.of], f"the deadline of {case.deadline} s passed"
    except (ConnectionError, OSError) as error:
        verdict, why = BROKEN[case.of], f"cannot connect: {error}"
    except NotStarted as error:
        verdict, why = FAILED, str(error)
    except (Malformed, KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        verdict, why = FAILED, f"the case itself is wrong: {error!r} {traceback.format_exc(limit=-2)}"
    finally:
        scene.close()
    lines = scene.process.lines if scene.process else []
    log = [(at - began, who, what, frame) for at, who, what, frame in scene.log]
    return Result(case, verdict, why, log, lines, clock() - began, scene.observed)


async def probe(peer, slowness=1.0):
    """Which parts of the driver contract an implementation has, found by trying them."""
    probes = load("probes.json").get(peer.role, {})
    stage = PeerStage(dataclasses.replace(peer, driver=list(probes)))
    cases = [Case(f"probe-{part}", peer.role, part, [], steps) for part, steps in probes.items()]
    results = await asyncio.gather(*(run_case(case, stage, slowness) for case in cases))
    return [result.case.title for result in results if result.verdict == OK]


def judge_laws(laws, results):
    """The verdicts of the laws from what all conversations showed."""
    judged = []
    for law in laws:
        broken, used = [], False
        for result in results:
            for observed in result.observed:
                used = used or law.law in observed.used
                broken += [f"{result.case.id}: {text}" for name, text in observed.broken if name == law.law]
        verdict = BROKEN[law.of] if broken else (OK if used else UNIMPLEMENTED)
        judged.append(Result(law, verdict, "; ".join(broken[:3]) or ("" if used else "no conversation came to this")))
    return judged


async def run_all(cases, peer, jobs=24, slowness=1.0, stage=None, order=None, stop=None):
    """Runs the cases, several at a time, and judges the laws. A result for which `stop` is true ends it."""
    own = stage or (GatewayStage(peer) if peer.role == "gateway" else PeerStage(peer))
    if isinstance(own, GatewayStage) and not stage:
        await own.prepare("default")
    turns, results, over = asyncio.Semaphore(jobs), [], asyncio.Event()

    async def one(case):
        async with turns:
            results.append(await run_case(case, own, slowness))
            if stop and stop(results[-1]):
                over.set()

    # The longest first, so that none of them is left for the end.
    plain = sorted((case for case in cases if not case.law), key=order or (lambda case: -case.deadline))
    tasks = [asyncio.create_task(one(case)) for case in plain]
    try:
        done = asyncio.gather(*tasks)
        waiting = asyncio.create_task(over.wait())
        either: list[asyncio.Future[Any]] = [done, waiting]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if over.is_set():
            done.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(asyncio.CancelledError):
                await done
        else:
            await done
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not stage:
            await own.end()
    places = {case.id: index for index, case in enumerate(cases)}
    results.sort(key=lambda result: places[result.case.id])
    return results + judge_laws([case for case in cases if case.law], results)
