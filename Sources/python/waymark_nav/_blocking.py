"""What the blocking objects of waymark_nav.sync have in common: the loop in the background, feeds, and the connection of a peer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Generic, ParamSpec, Self, TypeVar

import waymark_nav
from waymark_nav._peer import AsyncPeer
from waymark_nav.core import Closed, Connected, Connecting

T = TypeVar("T")
A = TypeVar("A")
P = TypeVar("P", bound=AsyncPeer[Any])
Arguments = ParamSpec("Arguments")


class Background:
    """The loop that all blocking objects run on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Starts it with the first call."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="waymark_nav", daemon=True).start()
            return self._loop

    def run(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Runs work on the loop; returns what it returns."""

        async def limited() -> T:
            # On the loop, so that what was done in time is never lost.
            async with asyncio.timeout(timeout):
                return await work

        future = asyncio.run_coroutine_threadsafe(limited(), self.loop())
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise

    def call(self, function: Callable[Arguments, T], *arguments: Arguments.args, **named: Arguments.kwargs) -> T:
        """Calls a function on the loop; returns what it returns."""

        async def work() -> T:
            return function(*arguments, **named)

        return self.run(work())


background = Background()


async def in_thread(handler: Callable[Arguments, T], *arguments: Arguments.args, **named: Arguments.kwargs) -> T:
    """Runs a handler that may block. A thread cannot be cancelled: a task that is cancelled counts as a handler until it has ended."""
    work = asyncio.ensure_future(asyncio.to_thread(handler, *arguments, **named))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait((work,))
        raise


def threaded(handler: Callable[[A], T] | None) -> Callable[[A], Awaitable[T]] | None:
    """A handler that may block."""
    return None if handler is None else lambda question: in_thread(handler, question)


class Feed(Iterator[T]):
    """What a source tells, for one reader; iterate over it. See waymark_nav.Feed."""

    def __init__(self, feed: waymark_nav.Feed[T]) -> None:
        self._feed = feed

    def __iter__(self) -> Feed[T]:
        return self

    def __next__(self) -> T:
        return self.next()

    def next(self, timeout: float | None = None) -> T:
        """The next element. Raises StopIteration after the last one, TimeoutError if none comes in time."""

        async def work() -> tuple[T, ...]:
            try:
                return (await anext(self._feed),)
            except StopAsyncIteration:
                return ()

        for element in background.run(work(), timeout):
            return element
        raise StopIteration


class Peer(Generic[P]):
    """A peer that is connected while its block runs."""

    def __init__(self, peer: P) -> None:
        self._peer = peer
        self.address = peer.address

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def connect(self) -> None:
        """Connects; returns with the gateway's Welcome. `with` calls it."""
        background.run(self._peer.connect())

    def close(self) -> None:
        """Sends what is queued and ends the connection; the gateway keeps nothing of this peer. `with` calls it."""
        background.run(self._peer.close())

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._peer.is_connected

    def connections(self) -> Feed[Connecting | Connected | Closed]:
        """The state of the connection, now and after every change; a slow reader gets only the newest."""
        return Feed(background.call(self._peer.connections))
