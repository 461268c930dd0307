"""What the asyncio objects of all roles have in common."""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from waymark_nav._address import Address, default_address
from waymark_nav._feed import Feed, Source
from waymark_nav._link import Link
from waymark_nav._version import __version__
from waymark_nav.core import Closed, Connected, Connecting, Event, Peer

P = TypeVar("P", bound=Peer)
A = TypeVar("A")
R = TypeVar("R")

logger = logging.getLogger("waymark_nav")

SOFTWARE = f"waymark-nav {__version__} (Python)"


def jitter() -> float:
    """A random part of a wait."""
    return random.random()


def speed_percent(speed: float) -> int:
    """How many times faster than real time, in per cent, as messages have it: 0.01 to 1 000 times."""
    return round(min(max(speed * 100, 1), 100_000))


async def answer_of(handler: Callable[[A], Awaitable[R] | R], question: A) -> R:
    """What a handler says, whether it is a coroutine function or not."""
    answer: Any = handler(question)
    if inspect.isawaitable(answer):
        answer = await answer
    return cast(R, answer)


class AsyncPeer(Generic[P]):
    """A peer that is connected while its block runs."""

    _default_socket = ""

    def __init__(self, machine: P, address: str | None) -> None:
        self._machine = machine
        self.address = str(Address.parse(address) if address is not None else default_address(self._default_socket))
        self._link: Link | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        #: Tasks that wait for close(), a handler's too.
        self._closers: set[asyncio.Task[Any] | None] = set()
        self._connections: Source[Connecting | Connected | Closed] = Source(lambda event: "state")
        self._connection: Connecting | Connected | Closed = Connecting()
        #: Is told every event before the next message is read; for tools that must see each of them.
        self._on_event: Callable[[Event], None] | None = None

    async def __aenter__(self) -> Self:
        await self.connect()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connects; returns with the gateway's Welcome. `async with` calls it."""
        if self._link is not None:
            raise RuntimeError("connect() can be called once")
        self._link = Link(self._machine, Address.parse(self.address), self._handle_event)
        await self._link.open()

    async def close(self) -> None:
        """Sends what is queued and ends the connection; the gateway keeps nothing of this peer. `async with` calls it."""
        closer = asyncio.current_task()
        self._closers.add(closer)
        try:
            if self._link is not None:
                await self._link.close()
            for task in list(self._tasks):
                self._cancel(task)
        finally:
            self._closers.discard(closer)

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._machine.is_connected

    def connections(self) -> Feed[Connecting | Connected | Closed]:
        """The state of the connection, now and after every change; a slow reader gets only the newest."""
        return self._connections.open(self._connection)

    def _cut(self) -> None:
        if self._link is not None:
            self._link.cut()

    def _wake(self) -> None:
        if self._link is not None:
            self._link.wake()

    def _check_open(self) -> None:
        """Raises why the connection is over, if it is."""
        if self._machine.error is not None:
            raise self._machine.error
        if self._link is None:
            raise RuntimeError("not connected: use `async with`, or call connect()")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs a handler's work; close() ends it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel(self, task: asyncio.Task[None]) -> None:
        """Cancels a handler, unless it waits for close()."""
        if task not in self._closers:
            task.cancel()

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, Connecting | Connected | Closed):
            self._connection = event
            self._connections.tell(event)
            logger.debug("%s: %s", self.address, event)
        self._handle(event)
        if self._on_event is not None:
            self._on_event(event)
        if isinstance(event, Closed):
            self._connections.finish()

    def _handle(self, event: Event) -> None:
        """An event of the machine."""
        raise NotImplementedError
