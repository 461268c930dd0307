"""Judges the expectations about one endpoint while its history grows. No clock and no I/O: time is an argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from waymark_nav.rig._history import Entry, History
from waymark_nav.rig._words import Anchor, Ending, EventWatch, Failed, Passed, Verdict, Word

#: How many occurrences of one `when` can be open at once.
OPEN_MAX = 1_024
#: So many failures of one expectation are kept.
FAILURES_MAX = 8


@dataclass(eq=False)
class Judged:
    """One expectation, and what became of it."""

    #: In words, as in reports.
    text: str
    #: The word from an anchor on.
    word: Callable[[Anchor], Word]
    #: It begins each time that this happens; None: at once.
    when: EventWatch | None = None
    #: A window that began earlier and does not end contains all later ones.
    is_subsumed: bool = False
    #: Its window has no end before that of the test.
    is_endless: bool = False
    #: Where the test says it.
    place: str = ""
    #: The reason why it matters, for the report.
    because: str = ""
    failures: list[Failed] = field(default_factory=list)
    failure_count: int = 0
    passes: int = 0
    #: When it passed last.
    passed: int | None = None
    #: The entry that decided it; None: time did.
    decided: Anchor | None = None
    #: The least time that was left.
    margin: int | None = None
    #: It held at its anchor already.
    held_already: bool = False
    #: Its event never happened.
    is_not_reached: bool = False
    open_count: int = 0
    is_over: bool = False

    def add(self, verdict: Verdict) -> None:
        if isinstance(verdict, Passed):
            self.passes += 1
            self.passed = verdict.instant
            if verdict.margin is not None:
                self.margin = verdict.margin if self.margin is None else min(self.margin, verdict.margin)
        else:
            self.failure_count += 1
            if len(self.failures) < FAILURES_MAX:
                self.failures.append(verdict)
        if self.when is None:
            self.is_over = True


@dataclass(eq=False)
class _Running:
    judged: Judged
    word: Word


class Judge:
    """Sees each entry of a history, and gives verdicts."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.ending = Ending()
        self._running: list[_Running] = []
        self._watching: list[Judged] = []

    @property
    def deadline(self) -> int | None:
        """When expire() is to be called. One nanosecond after those of words: what happens exactly at its end is within a window."""
        deadlines = [each.word.deadline for each in self._running]
        return min((each + 1 for each in deadlines if each is not None), default=None)

    def begin(self, judged: Judged, anchor: Anchor) -> None:
        """An expectation counts from an anchor. It sees what came since."""
        if judged.when is None:
            self._start(judged, anchor)
        else:
            self._watching.append(judged)
            if judged.when.begin(self.history.moment_at(anchor.index)):
                self._start(judged, anchor)
        for entry in self.history.entries[anchor.index + 1 :]:
            self.expire(entry.instant)
            self._show(entry, only=judged)

    def see(self, entry: Entry) -> None:
        """The newest entry of the history."""
        self.expire(entry.instant)
        self.ending.see(entry)
        self._show(entry)

    def _show(self, entry: Entry, only: Judged | None = None) -> None:
        for running in list(self._running):
            if only is not None and running.judged is not only:
                continue
            if (verdict := _guarded(running.word, lambda word: word.see(entry), entry.instant)) is not None:
                self._decide(running, verdict, entry)
        # This comes after the running words: a word that begins with this entry has already seen it.
        for judged in list(self._watching):
            if (only is None or judged is only) and judged.when is not None and judged.when.see(entry):
                self._start(judged, Anchor(entry.index, entry.instant))

    def expire(self, instant: int) -> None:
        """Ends the words whose deadlines are before an instant."""
        for running in list(self._running):
            deadline = running.word.deadline
            if deadline is not None and deadline < instant:
                self._end(running, deadline)

    def end(self, instant: int, of: list[Judged] | None = None) -> None:
        """The test, or the phase to which the given expectations belong, is over."""
        self.expire(instant)
        for running in list(self._running):
            if of is None or running.judged in of:
                deadline = running.word.deadline
                self._end(running, instant if deadline is None else min(instant, deadline))
        for judged in list(self._watching):
            if of is None or judged in of:
                self._watching.remove(judged)
                if not judged.passes and not judged.failure_count:
                    judged.is_not_reached = True
                    judged.add(self._not_reached(judged, instant))
                judged.is_over = True

    def _start(self, judged: Judged, anchor: Anchor) -> None:
        if judged.is_subsumed and (judged.open_count or judged.failure_count):
            return
        if judged.open_count >= OPEN_MAX:
            judged.add(Failed(anchor, anchor.instant, error=f"more than {OPEN_MAX} of its events are open at once"))
            return
        word = judged.word(anchor)
        verdict = _guarded(word, lambda word: word.begin(), anchor.instant)
        if verdict is None:
            judged.open_count += 1
            self._running.append(_Running(judged, word))
        else:
            judged.held_already = isinstance(verdict, Passed)
            judged.add(verdict)

    def _decide(self, running: _Running, verdict: Verdict, entry: Entry | None = None) -> None:
        self._running.remove(running)
        running.judged.open_count -= 1
        running.judged.add(verdict)
        if entry is not None:
            running.judged.decided = Anchor(entry.index, entry.instant)

    def _end(self, running: _Running, instant: int) -> None:
        self._decide(running, _guarded(running.word, lambda word: word.end(instant), instant) or Passed(instant))

    def _not_reached(self, judged: Judged, instant: int) -> Failed:
        anchor = Anchor(-1, 0)
        word = judged.word(anchor)
        word.end_of_window = None
        pattern = judged.when.pattern if judged.when is not None else None
        return Failed(anchor, instant, None if pattern is None else word.nearest(pattern, instant))


def _guarded(word: Word, step: Callable[[Word], Verdict | None], instant: int) -> Verdict | None:
    """A function of the test that raises decides its expectation, and disturbs nothing else."""
    try:
        return step(word)
    except Exception as error:
        return Failed(word.anchor, instant, error=f"{type(error).__name__}: {error}")
