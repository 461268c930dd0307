"""What each word means: a small machine that sees the entries of a history and gives a verdict.

Docs/testing.md defines the words; Tests/RigCases holds these machines, and those of `waymark test`, to the same verdicts.
"""

from __future__ import annotations

import bisect
from collections import deque
from dataclasses import dataclass

from waymark_nav import messages as m
from waymark_nav._json import word as name_of
from waymark_nav.rig._fields import FieldPath
from waymark_nav.rig._history import Entry, History, Moment, ShownAfter
from waymark_nav.rig._patterns import Difference, MessagePattern, Nearest, Pattern, StatePattern, nearest_message, nearest_state
from waymark_nav.rig._times import seconds


@dataclass(frozen=True)
class Anchor:
    """From which entry something counts; -1: from the beginning."""

    index: int
    instant: int


@dataclass(frozen=True)
class Passed:
    """At an instant, with so much time left."""

    instant: int
    margin: int | None = None


@dataclass(frozen=True)
class Failed:
    """At an instant."""

    anchor: Anchor
    instant: int
    nearest: Nearest | None = None
    #: What a function of the test raised.
    error: str = ""


Verdict = Passed | Failed


class EventWatch:
    """Watches for a message that crosses, or a state that begins to hold."""

    def __init__(self, pattern: Pattern, count: int | None = None) -> None:
        self.pattern = pattern
        self._count = count
        self._seen = 0
        self._holds = False

    def begin(self, moment: Moment) -> bool:
        """Whether the event is there already: a state that holds."""
        if not isinstance(self.pattern, StatePattern) or not self.pattern.holds(moment):
            return False
        self._holds = True
        return self._occurs()

    def see(self, entry: Entry) -> bool:
        """Whether the event occurs with this entry: each time, or the n-th time."""
        if isinstance(self.pattern, MessagePattern):
            return self.pattern.matches(entry) and self._occurs()
        holds = self.pattern.holds(entry.moment) if entry.moment is not None else None
        if holds is None:
            return False
        held, self._holds = self._holds, holds
        return holds and not held and self._occurs()

    def _occurs(self) -> bool:
        self._seen += 1
        return self._count is None or self._seen == self._count


class Word:
    """A word from its anchor on."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None) -> None:
        self.history = history
        self.anchor = anchor
        #: The end of the window; None: the end of the test.
        self.end_of_window = None if lasting is None else anchor.instant + lasting

    @property
    def deadline(self) -> int | None:
        """When end() gives the verdict at the latest."""
        return self.end_of_window

    def begin(self) -> Verdict | None:
        """The verdict, if it is known at the anchor."""
        return None

    def see(self, entry: Entry) -> Verdict | None:
        raise NotImplementedError

    def end(self, instant: int) -> Verdict:
        """The verdict at the deadline, or at the end of the test."""
        raise NotImplementedError

    def passed(self, instant: int) -> Passed:
        return Passed(instant, None if self.end_of_window is None else self.end_of_window - instant)

    def failed(self, instant: int, nearest: Nearest | None = None) -> Failed:
        return Failed(self.anchor, instant, nearest)

    def compared(self, instant: int, index: int | None, path: str, expected: str, seen: str, otherwise: Pattern | None = None) -> Failed:
        """Failed because of a value that is no field, at an entry; without one, the nearest to a pattern is told."""
        if index is not None:
            return self.failed(instant, Nearest(index, (Difference(path, expected, seen),)))
        return self.failed(instant, None if otherwise is None else self.nearest(otherwise, instant))

    def nearest(self, pattern: Pattern, instant: int) -> Nearest | None:
        end = instant if self.end_of_window is None else min(instant, self.end_of_window)
        window = [entry for entry in self.history.entries[self.anchor.index + 1 :] if entry.instant <= end]
        if isinstance(pattern, MessagePattern):
            return nearest_message(pattern, window)
        return nearest_state(pattern, self.history, self.anchor.index, window)


class MessageWord(Word):
    """An entry of the window matches."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: MessagePattern) -> None:
        super().__init__(history, anchor, lasting)
        self.pattern = pattern

    def see(self, entry: Entry) -> Verdict | None:
        return self.passed(entry.instant) if self.pattern.matches(entry) else None

    def end(self, instant: int) -> Verdict:
        return self.failed(instant, self.nearest(self.pattern, instant))


class NeverMessageWord(MessageWord):
    """No entry matches."""

    def see(self, entry: Entry) -> Verdict | None:
        if not self.pattern.matches(entry):
            return None
        return self.failed(entry.instant, Nearest(entry.index, self.pattern.violations(entry)))

    def end(self, instant: int) -> Verdict:
        return Passed(instant)


class EventuallyWord(Word):
    """A state holds at the anchor, or after an entry in the window."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: StatePattern) -> None:
        super().__init__(history, anchor, lasting)
        self.pattern = pattern

    def begin(self) -> Verdict | None:
        return self.passed(self.anchor.instant) if self.pattern.holds(self.history.moment_at(self.anchor.index)) else None

    def see(self, entry: Entry) -> Verdict | None:
        return self.passed(entry.instant) if entry.moment is not None and self.pattern.holds(entry.moment) else None

    def end(self, instant: int) -> Verdict:
        return self.failed(instant, self.nearest(self.pattern, instant))


class LastingWord(Word):
    """A state holds, or never holds, at the anchor and after each entry."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: StatePattern, is_always: bool) -> None:
        super().__init__(history, anchor, lasting)
        self.pattern = pattern
        self._is_always = is_always

    def begin(self) -> Verdict | None:
        return self._violation(self.history.moment_at(self.anchor.index), self.anchor.instant)

    def see(self, entry: Entry) -> Verdict | None:
        return None if entry.moment is None else self._violation(entry.moment, entry.instant)

    def _violation(self, moment: Moment, instant: int) -> Verdict | None:
        holds = self.pattern.holds(moment)
        if holds is None or holds == self._is_always:
            return None
        differences: tuple[Difference, ...]
        if self._is_always:
            found = self.pattern.differences(moment)
            differences = tuple(found.fields) if found is not None else ()
        else:
            differences = self.pattern.violations(moment)
        return self.failed(instant, Nearest(moment.index, differences))

    def end(self, instant: int) -> Verdict:
        return Passed(instant)


class UnchangedWord(Word):
    """Fields are equal to their values at the anchor after each entry."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, paths: list[FieldPath]) -> None:
        super().__init__(history, anchor, lasting)
        self._paths = paths
        # Why not the moment at the anchor: it may be within a snapshot.
        self._first = next((each for each in reversed(history.moments) if 0 <= each.index <= anchor.index and each.is_complete), None)

    def see(self, entry: Entry) -> Verdict | None:
        moment = entry.moment
        if moment is None or not moment.is_complete:
            return None
        if self._first is None:
            self._first = moment
            return None
        differences = []
        for path in self._paths:
            old, new = path.read(self._first.value(path.first)), path.read(moment.value(path.first))
            if old != new:
                differences.append(Difference(path.text, path.show(old), path.show(new)))
        return self.failed(entry.instant, Nearest(entry.index, tuple(differences))) if differences else None

    def end(self, instant: int) -> Verdict:
        return Passed(instant)


class SometimesWord(Word):
    """A state held, or a message crossed."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: Pattern) -> None:
        super().__init__(history, anchor, lasting)
        self._watch = EventWatch(pattern)

    def begin(self) -> Verdict | None:
        return self.passed(self.anchor.instant) if self._watch.begin(self.history.moment_at(self.anchor.index)) else None

    def see(self, entry: Entry) -> Verdict | None:
        return self.passed(entry.instant) if self._watch.see(entry) else None

    def end(self, instant: int) -> Verdict:
        return self.failed(instant, self.nearest(self._watch.pattern, instant))


class ExactlyWord(Word):
    """So many messages."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: MessagePattern, count: int) -> None:
        super().__init__(history, anchor, lasting)
        self._pattern, self._count = pattern, count
        self._seen = 0
        self._last: int | None = None

    def see(self, entry: Entry) -> Verdict | None:
        if not self._pattern.matches(entry):
            return None
        self._seen += 1
        self._last = entry.index
        return self._verdict(entry.instant) if self._seen > self._count else None

    def end(self, instant: int) -> Verdict:
        return Passed(instant) if self._seen == self._count else self._verdict(instant)

    def _verdict(self, instant: int) -> Failed:
        return self.compared(instant, self._last, "count", str(self._count), str(self._seen), self._pattern)


class InOrderWord(Word):
    """Events one after the other; others may be between them."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, events: list[tuple[Pattern, int]]) -> None:
        super().__init__(history, anchor, lasting)
        self._events = events
        # Why without counts: the n-th time is counted from the event before.
        self._watches = [EventWatch(pattern) for pattern, _ in events]
        for watch in self._watches:
            watch.begin(history.moment_at(anchor.index))
        self._matched = 0
        self._needed = events[0][1]
        self._last: int | None = None

    def see(self, entry: Entry) -> Verdict | None:
        # Why all: a watch of a state must see when it ceases to hold.
        occurred = [watch.see(entry) for watch in self._watches[self._matched :]]
        if not occurred[0]:
            return None
        self._last = entry.index
        self._needed -= 1
        if self._needed:
            return None
        self._matched += 1
        if self._matched == len(self._events):
            return self.passed(entry.instant)
        self._needed = self._events[self._matched][1]
        return None

    def end(self, instant: int) -> Verdict:
        wanted = self._events[self._matched][0]
        return self.compared(instant, self._last, "in order", wanted.text, f"{self._matched} of {len(self._events)}", wanted)


class AtMostWord(Word):
    """In each interval that ends with a match, at most so many."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: MessagePattern, count: int, per: int) -> None:
        super().__init__(history, anchor, lasting)
        self._pattern, self._count, self._per = pattern, count, per
        self._last: deque[int] = deque()

    def see(self, entry: Entry) -> Verdict | None:
        if not self._pattern.matches(entry):
            return None
        while self._last and entry.instant - self._last[0] >= self._per:
            self._last.popleft()
        self._last.append(entry.instant)
        if len(self._last) <= self._count:
            return None
        seen = f"{len(self._last)} in {seconds(entry.instant - self._last[0])}"
        return self.compared(entry.instant, entry.index, "rate", f"at most {self._count} in {seconds(self._per)}", seen)

    def end(self, instant: int) -> Verdict:
        return Passed(instant)


class AtLeastWord(Word):
    """In each interval that lies in the window, at least so many."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: MessagePattern, count: int, per: int) -> None:
        super().__init__(history, anchor, lasting)
        self._pattern, self._count, self._per = pattern, count, per
        #: In place of matches that were not, the anchor.
        self._last: deque[int] = deque(maxlen=count)
        self._last_index: int | None = None

    @property
    def _limit(self) -> int:
        """When an interval ends that has too few."""
        return (self._last[0] if len(self._last) == self._count else self.anchor.instant) + self._per

    @property
    def deadline(self) -> int | None:
        return self._limit if self.end_of_window is None else min(self._limit, self.end_of_window)

    def see(self, entry: Entry) -> Verdict | None:
        if self._pattern.matches(entry):
            self._last.append(entry.instant)
            self._last_index = entry.index
        return None

    def end(self, instant: int) -> Verdict:
        if instant < self._limit:
            return Passed(instant)
        seen = sum(instant - each < self._per for each in self._last)
        expected = f"at least {self._count} in {seconds(self._per)}"
        return self.compared(instant, self._last_index, "rate", expected, str(seen), self._pattern)


class GapWord(Word):
    """Less than a time between matches, from the anchor to the first one, and from the last one to the end."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, pattern: MessagePattern, below: int) -> None:
        super().__init__(history, anchor, lasting)
        self._pattern, self._below = pattern, below
        self._last = anchor.instant
        self._last_index: int | None = None

    @property
    def _limit(self) -> int:
        return self._last + self._below

    @property
    def deadline(self) -> int | None:
        return self._limit if self.end_of_window is None else min(self._limit, self.end_of_window)

    def see(self, entry: Entry) -> Verdict | None:
        if not self._pattern.matches(entry):
            return None
        if entry.instant >= self._limit:
            return self._verdict(entry.instant)
        self._last, self._last_index = entry.instant, entry.index
        return None

    def end(self, instant: int) -> Verdict:
        return Passed(instant) if instant < self._limit else self._verdict(instant)

    def _verdict(self, instant: int) -> Failed:
        expected, seen = f"below {seconds(self._below)}", seconds(instant - self._last)
        return self.compared(instant, self._last_index, "gap", expected, seen, self._pattern)


class ShownWithinWord(Word):
    """Delays until content was on the display are measured, and all are at most so long."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, limit: int) -> None:
        super().__init__(history, anchor, lasting)
        self._limit = limit
        self._is_measured = False

    def see(self, entry: Entry) -> Verdict | None:
        if not isinstance(entry.event, ShownAfter):
            return None
        self._is_measured = True
        delay = entry.event.microseconds * 1_000
        if delay <= self._limit:
            return None
        return self.compared(entry.instant, entry.index, "shown", f"within {seconds(self._limit)}", f"after {seconds(delay)}")

    def end(self, instant: int) -> Verdict:
        # Without a measurement nothing is known: the client wants no receipts, or the display does not say what it shows.
        return Passed(instant) if self._is_measured else self.failed(instant)


class OutcomeWord(Word):
    """A request ends with an outcome."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, request_id: str, outcome: str) -> None:
        super().__init__(history, anchor, lasting)
        self._request_id, self._outcome = request_id, outcome

    def begin(self) -> Verdict | None:
        return self._verdict(self.anchor.index, self.anchor.instant)

    def see(self, entry: Entry) -> Verdict | None:
        return self._verdict(entry.index, entry.instant)

    def _verdict(self, last: int, instant: int) -> Verdict | None:
        found = self.history.outcomes.get(self._request_id)
        if found is None or found[0] > last:
            return None
        index, seen = found[0], name_of(found[1])
        if seen == self._outcome:
            return self.passed(instant)
        return self.compared(self.history.entries[index].instant, index, "outcome", self._outcome, seen)

    def end(self, instant: int) -> Verdict:
        return self.failed(instant)


@dataclass(frozen=True)
class End:
    """A session ended with an entry; without one, a session began."""

    index: int
    reason: str | None = None
    entry: Entry | None = None


class Ending:
    """How the sessions of an endpoint ended."""

    def __init__(self) -> None:
        self._ends: list[End] = []
        self._session = 0

    def see(self, entry: Entry) -> None:
        """The newest entry."""
        frame = entry.frame
        if frame is None:
            return
        match entry.message:
            case m.SnapshotBegin():
                self._session = frame.session
                self._ends.append(End(entry.index))
            case m.SessionEnded() as message if self._session and message.session_id in (0, self._session):
                self._finish(message.reason, entry)
            case m.FinishGuidance() if self._session and frame.session == self._session:
                self._finish(m.SessionEndReason.FINISHED, entry)
            case m.CancelGuidance() if self._session and frame.session == self._session:
                self._finish(m.SessionEndReason.CANCELLED_BY_CLIENT, entry)

    def _finish(self, reason: m.SessionEndReason, entry: Entry) -> None:
        self._session = 0
        self._ends.append(End(entry.index, name_of(reason), entry))

    def at(self, index: int) -> End:
        """How the last session had ended after an entry."""
        place = bisect.bisect_right(self._ends, index, key=lambda end: end.index)
        return self._ends[place - 1] if place else End(-1)


class EndedWord(Word):
    """The endpoint's session ended for a reason; without a time, the last one at the end of the test."""

    def __init__(self, history: History, anchor: Anchor, lasting: int | None, ending: Ending, reason: str) -> None:
        super().__init__(history, anchor, lasting)
        self._ending = ending
        self._reason = reason

    def begin(self) -> Verdict | None:
        is_over = self.end_of_window is not None and self._ending.at(self.anchor.index).reason == self._reason
        return self.passed(self.anchor.instant) if is_over else None

    def see(self, entry: Entry) -> Verdict | None:
        end = self._ending.at(entry.index)
        if self.end_of_window is None or end.entry is not entry:
            return None
        return self.passed(entry.instant) if end.reason == self._reason else self._verdict(end, entry.instant)

    def end(self, instant: int) -> Verdict:
        end = self._ending.at(len(self.history.entries))
        if self.end_of_window is None and end.entry is not None and end.reason == self._reason:
            return Passed(end.entry.instant)
        return self._verdict(end, instant)

    def _verdict(self, end: End, instant: int) -> Failed:
        index = end.entry.index if end.entry is not None else None
        return self.compared(instant, index, "ended", self._reason, str(end.reason))
