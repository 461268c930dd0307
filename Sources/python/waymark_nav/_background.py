"""The loop in the background on which the blocking interface runs, and its handlers' threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
A = TypeVar("A")
Arguments = ParamSpec("Arguments")


class Background:
    """A loop in a thread of its own, which starts with the first call."""

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


#: Where all objects of waymark_nav.sync run.
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
