"""Feeds: what a source tells, for one reader, in a bounded queue."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")

#: So many elements wait for a slow reader; of a state only the newest value does.
QUEUED_MAX = 256
#: So many bytes of frames wait, apart from the newest element.
QUEUED_BYTES_MAX = 16_777_216


class Feed(AsyncIterator[T]):
    """Elements in order, for one reader; iterate over it.

    For a slow reader only the newest value of a state is queued, and at most 256 elements of all kinds, with frames of 16 MiB: then the
    oldest are dropped, and `missed` of the next element says how many. A slow reader therefore delays neither the connection nor other
    readers.
    """

    def __init__(self, source: Source[T]) -> None:
        self._source = source
        self._queue: OrderedDict[Hashable, T] = OrderedDict()
        self._count = 0
        #: Bytes of the queue.
        self._size = 0
        self._missed = 0
        self._is_finished = False
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> Feed[T]:
        return self

    async def __anext__(self) -> T:
        while not self._queue:
            if self._is_finished:
                raise StopAsyncIteration
            if self._waiter is not None:
                raise RuntimeError("a feed has one reader; open another feed for each")
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        element = self._dequeue()
        if self._missed and self._source.mark_missed is not None:
            element = self._source.mark_missed(element, self._missed)
            self._missed = 0
        return element

    def put(self, element: T) -> None:
        """Queues an element; called by the source."""
        key = self._source.key(element)
        if key is None:
            self._count += 1
            key = self._count
        if key in self._queue:
            self._size -= self._source.size(self._queue.pop(key))
        self._queue[key] = element
        self._size += self._source.size(element)
        while len(self._queue) > QUEUED_MAX or (self._size > QUEUED_BYTES_MAX and len(self._queue) > 1):
            self._dequeue()
            self._missed += 1
        self._wake()

    def _dequeue(self) -> T:
        _, element = self._queue.popitem(last=False)
        self._size -= self._source.size(element)
        return element

    def finish(self) -> None:
        """No element follows those in the queue; called by the source."""
        self._is_finished = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Source(Generic[T]):
    """All feeds of one kind."""

    def __init__(
        self,
        key: Callable[[T], Hashable],
        mark_missed: Callable[[T, int], T] | None = None,
        size: Callable[[T], int] = lambda element: 0,
    ) -> None:
        #: An element replaces a queued one with the same key; None: it replaces none.
        self.key = key
        self.mark_missed = mark_missed
        #: Bytes of frames that an element keeps.
        self.size = size
        self._feeds: WeakSet[Feed[T]] = WeakSet()
        self._is_finished = False

    def open(self, *first: T) -> Feed[T]:
        """A feed for one more reader, which begins with `first`."""
        feed = Feed(self)
        for element in first:
            feed.put(element)
        if self._is_finished:
            feed.finish()
        self._feeds.add(feed)
        return feed

    def tell(self, element: T) -> None:
        """Gives an element to every reader."""
        for feed in self._feeds:
            feed.put(element)

    def finish(self) -> None:
        """Ends every feed behind what is queued."""
        self._is_finished = True
        for feed in self._feeds:
            feed.finish()
