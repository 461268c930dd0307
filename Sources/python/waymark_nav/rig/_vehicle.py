"""A vehicle of a test: an endpoint that shows guidance, and the words that judge what it was sent and what it held."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from waymark_nav import Endpoint, VehicleState, messages as m
from waymark_nav.core import Event, Update
from waymark_nav.rig._errors import RigError, RigFailure
from waymark_nav.rig._fields import hint
from waymark_nav.rig._history import History, ShownAfter
from waymark_nav.rig._judge import Judge, Judged
from waymark_nav.rig._patterns import Conditions, MessageName, MessagePattern, Pattern, State, StatePattern, pattern, state_path
from waymark_nav.rig._report import explain
from waymark_nav.rig._times import NANOSECONDS, Time, nanoseconds, seconds
from waymark_nav.rig._wordlist import END_REASONS, OUTCOMES
from waymark_nav.rig._words import (
    Anchor,
    AtLeastWord,
    AtMostWord,
    EndedWord,
    EventuallyWord,
    EventWatch,
    ExactlyWord,
    GapWord,
    InOrderWord,
    LastingWord,
    MessageWord,
    NeverMessageWord,
    OutcomeWord,
    ShownWithinWord,
    SometimesWord,
    UnchangedWord,
    Word,
)  # fmt: skip

#: Fields of a message with their conditions, or a function of the message.
Where = Conditions | Callable[[Any], object] | None
_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Happening:
    """A message that crosses, or a state that begins to hold, so many times."""

    pattern: Pattern
    count: int | None


def event(what: MessageName | State, where: Where = None, *, count: int | None = None) -> Happening:
    """For in_order(): a message with conditions of its fields, or an event that happens so many times."""
    if count is not None and count < 1:
        raise RigError(f"an event happens at least once, not {count} times")
    return Happening(pattern(what, where), count)


class Words:
    """What a test can say about a vehicle. The words are those of scenarios, see Docs/testing.md.

    An expectation counts from the call on; right behind an `await` of another one, from the entry that decided that one, so that what
    arrived together with it counts. `await` waits for its verdict, and raises RigFailure if it failed. One that is not awaited is judged
    too: at the end of the test, or of its phase.
    """

    history: History
    judge: Judge

    def _add(self, judged: Judged) -> Any:
        raise NotImplementedError

    def _measure(self) -> None:
        """Adds to the history, from now on, how long content takes to the display."""
        raise NotImplementedError

    # Messages

    def expect(self, message: MessageName, where: Where = None, *, within: Time) -> Expectation:
        """A message crosses within the time."""
        wanted = MessagePattern(message, where)
        return self._say(MessageWord, f"message {wanted.text}", within, wanted, is_within=True)

    def rate(self, message: MessageName | None = None, where: Where = None) -> Rate:
        """How often messages come: `.at_most(5, per=1)`, `.at_least(1, per=10)`. Without a message: publications of any kind."""
        return Rate(self, MessagePattern(message, where))

    def gap(self, message: MessageName | None = None, where: Where = None) -> Gap:
        """How long there is no message: `.below(10)`. Without a message: publications of any kind."""
        return Gap(self, MessagePattern(message, where))

    def exactly(self, count: int, message: MessageName, where: Where = None, *, lasting: Time | None = None) -> Expectation:
        """So many messages, to the end of the test or for a time."""
        if count < 0:
            raise RigError(f"there cannot be exactly {count} messages")
        wanted = MessagePattern(message, where)
        return self._say(ExactlyWord, f"exactly {count} {wanted.text}", lasting, wanted, count)

    def in_order(self, *events: MessageName | State | Happening, within: Time) -> Expectation:
        """These events happen one after the other; others may be between them."""
        if not events:
            raise RigError("in_order() needs events")
        happenings = [each if isinstance(each, Happening) else event(each) for each in events]
        text = "; ".join(each.pattern.text + (f", {each.count} times" if each.count else "") for each in happenings)
        return self._say(InOrderWord, f"in order {text}", within, [(each.pattern, each.count or 1) for each in happenings], is_within=True)

    def shown_within(self, limit: Time, *, lasting: Time | None = None) -> Expectation:
        """Content is on the display within the limit, counted from when the gateway accepted it; to the end of the test or for a time.

        At least one delay must be measured: of a vehicle with `shows_after`, guided by a client that has `receipts`.
        """
        bound = nanoseconds(limit)
        self._measure()
        return self._say(ShownWithinWord, f"shown within {seconds(bound)}", lasting, bound, is_subsumed=True)

    # States

    def eventually(self, state: State, *, within: Time) -> Expectation:
        """A state holds at once or within the time."""
        wanted = StatePattern(state)
        return self._say(EventuallyWord, f"eventually {wanted.text}", within, wanted, is_within=True)

    def always(self, state: State, *, lasting: Time | None = None) -> Expectation:
        """A state holds, from now to the end of the test or for a time."""
        wanted = StatePattern(state)
        return self._say(LastingWord, f"always {wanted.text}", lasting, wanted, True, is_subsumed=True)

    def never(self, what: MessageName | State, where: Where = None, *, lasting: Time | None = None) -> Expectation:
        """A state does not hold, or a message does not cross, from now to the end of the test or for a time."""
        wanted = pattern(what, where)
        if isinstance(wanted, MessagePattern):
            return self._say(NeverMessageWord, f"never message {wanted.text}", lasting, wanted, is_subsumed=True)
        return self._say(LastingWord, f"never {wanted.text}", lasting, wanted, False, is_subsumed=True)

    def sometimes(self, what: MessageName | State, where: Where = None) -> Expectation:
        """A state held, or a message crossed, before the end of the test."""
        wanted = pattern(what, where)
        return self._say(SometimesWord, f"sometimes {wanted.text}", None, wanted, is_subsumed=True)

    def unchanged(self, *fields: str, lasting: Time | None = None) -> Expectation:
        """These fields of the state stay as they are, to the end of the test or for a time."""
        if not fields:
            raise RigError("unchanged() needs fields")
        return self._say(UnchangedWord, f"unchanged {', '.join(fields)}", lasting, [state_path(each) for each in fields])

    def ended(self, reason: str, *, within: Time | None = None) -> Expectation:
        """The session ends for a reason within the time; without a time, the last session ended so."""
        if reason not in END_REASONS:
            raise RigError(f"{reason} is no reason why a session ends{hint(reason, END_REASONS)}")
        return self._say(EndedWord, f"ended {reason}", within, self.judge.ending, reason, is_within=True)

    def when(self, what: MessageName | State, where: Where = None, *, count: int | None = None) -> When:
        """Each time that this happens, or only the n-th time, what is expected counts from there."""
        return When(self, pattern(what, where), count)

    # Making expectations

    def _outcome(self, request_id: str, outcome: str, within: Time) -> Expectation:
        return self._say(OutcomeWord, f"outcome {outcome}", within, request_id, outcome, is_within=True)

    def _say(
        self, word: Callable[..., Word], text: str, time: Time | None, *rest: Any, is_within: bool = False, is_subsumed: bool = False
    ) -> Expectation:
        lasting = None if time is None else nanoseconds(time)
        if lasting is not None:
            text += f" {'within' if is_within else 'for'} {seconds(lasting)}"
        expectation: Expectation = self._add(
            Judged(
                text=text,
                word=lambda anchor: word(self.history, anchor, lasting, *rest),
                is_subsumed=is_subsumed and lasting is None,
                is_endless=lasting is None,
                place=_place(),
            )
        )
        return expectation


@dataclass(frozen=True)
class Rate:
    """How often messages come."""

    words: Words
    pattern: MessagePattern

    def at_most(self, count: int, *, per: Time, lasting: Time | None = None) -> Expectation:
        """At most so many in any interval."""
        if count < 0:
            raise RigError(f"there cannot be at most {count} messages")
        return self._say(AtMostWord, f"at most {count}", count, per, lasting)

    def at_least(self, count: int, *, per: Time, lasting: Time | None = None) -> Expectation:
        """At least so many in each interval."""
        if count < 1:
            raise RigError(f"at least {count} messages are always there")
        return self._say(AtLeastWord, f"at least {count}", count, per, lasting)

    def _say(self, word: Callable[..., Word], bound: str, count: int, per: Time, lasting: Time | None) -> Expectation:
        interval = nanoseconds(per)
        text = f"{bound} {self.pattern.text} in {seconds(interval)}"
        return self.words._say(word, text, lasting, self.pattern, count, interval, is_subsumed=True)


@dataclass(frozen=True)
class Gap:
    """How long there is no message."""

    words: Words
    pattern: MessagePattern

    def below(self, time: Time, *, lasting: Time | None = None) -> Expectation:
        """Less than a time between two, and from now to the first."""
        bound = nanoseconds(time)
        return self.words._say(
            GapWord, f"gap of {self.pattern.text} below {seconds(bound)}", lasting, self.pattern, bound, is_subsumed=True
        )


class When(Words):
    """The words, from each occurrence of an event on."""

    def __init__(self, words: Words, what: Pattern, count: int | None) -> None:
        self._words, self._pattern, self._count = words, what, event_count(count)
        self.history, self.judge = words.history, words.judge

    def _measure(self) -> None:
        self._words._measure()

    def _add(self, judged: Judged) -> Any:
        judged.when = EventWatch(self._pattern, self._count)
        judged.text += f", when {self._pattern.text}" + (f", time {self._count}" if self._count else "")
        return self._words._add(judged)


def event_count(count: int | None) -> int | None:
    if count is not None and count < 1:
        raise RigError(f"the first time of an event is 1, not {count}")
    return count


class Expectation:
    """One expectation. `await` waits for its verdict."""

    def __init__(self, vehicle: Vehicle, judged: Judged) -> None:
        self._vehicle = vehicle
        self._judged = judged
        self._waiter: asyncio.Future[None] | None = None
        #: Its failure was raised.
        self._is_told = False

    def because(self, reason: str) -> Self:
        """Adds to the report why it matters."""
        self._judged.because = reason
        return self

    @property
    def is_over(self) -> bool:
        """Whether there is a verdict."""
        return self._judged.is_over

    def __await__(self) -> Generator[Any, None, None]:
        return self._wait().__await__()

    async def _wait(self) -> None:
        __tracebackhide__ = True
        if not self.is_over:
            if not self._has_end:
                raise RigError(f"{self._judged.text}: it has no end before that of the test, so it cannot be awaited")
            await self._decided()
            self._vehicle._continue(self._judged.decided)
        if (text := self._failure()) is not None:
            self._is_told = True
            raise RigFailure(text)

    @property
    def _has_end(self) -> bool:
        return self._judged.when is None and not self._judged.is_endless

    async def _decided(self) -> None:
        """Waits for the verdict."""
        if not self.is_over:
            if self._waiter is None:
                self._waiter = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._waiter)

    def _settle(self) -> None:
        if self._judged.is_over and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _failure(self) -> str | None:
        """Why it failed; None if it did not."""
        return self._vehicle._explain(self._judged) if self._judged.failure_count else None


class Request:
    """A request of the vehicle."""

    def __init__(self, vehicle: Vehicle, request_id: str) -> None:
        self._vehicle = vehicle
        self.id = request_id

    def expect(self, *, outcome: str, within: Time) -> Expectation:
        """The request ends with an outcome, e.g. "accepted" or "declinedByUser", within the time."""
        if outcome not in OUTCOMES:
            raise RigError(f"{outcome} is no outcome{hint(outcome, OUTCOMES)}")
        return self._vehicle._outcome(self.id, outcome, within)

    def withdraw(self) -> None:
        """Takes the request back."""
        self._vehicle.endpoint.withdraw(self.id)


class Vehicle(Words):
    """A vehicle with one endpoint."""

    def __init__(
        self,
        name: str,
        endpoint: Endpoint,
        origin: float,
        notes: Callable[[], list[str]],
        measure: Callable[[], None],
        shows_after: float | None = None,
    ) -> None:
        self.name = name
        #: For everything that the rig has no word for.
        self.endpoint = endpoint
        self.history = History()
        self.judge = Judge(self.history)
        self._origin = origin
        self._notes = notes
        self._measure_all = measure
        #: How long its display takes, in seconds; None: it does not say what it shows.
        self._shows_after = shows_after
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        #: When the timer is due.
        self._armed: int | None = None
        self._expectations: list[Expectation] = []
        #: Expectations of the whole test, also of phases that are over.
        self._judged: list[Judged] = []
        self._requests: dict[str, asyncio.Task[m.Outcome]] = {}
        #: How late the rig's own timers were, in nanoseconds.
        self._lateness = 0
        self._is_full = False
        #: The entry behind which expectations count; None: the newest one.
        self._since: Anchor | None = None
        endpoint._machine.is_traced = True
        endpoint._on_event = self._handle

    @property
    def state(self) -> VehicleState:
        """What the endpoint holds now."""
        return self.endpoint.state

    # Acting

    async def request_waypoint(
        self, latitude: float, longitude: float, name: str = "", *, segment: str = "", stop_kind: m.StopKind = m.StopKind.UNSPECIFIED
    ) -> Request:
        """Asks for a stop; returns when the request is sent."""
        place = _waypoint(latitude, longitude, name, stop_kind)
        return await self._request(lambda id: self.endpoint.request_waypoint(place, segment_id=segment, request_id=id))

    async def request_destination(self, latitude: float, longitude: float, name: str = "") -> Request:
        """Asks for a drive to a place; returns when the request is sent."""
        place = _waypoint(latitude, longitude, name)
        return await self._request(lambda id: self.endpoint.request_destination(place, request_id=id))

    async def start_trip(self, trip: str, route_choice: int = 0) -> Request:
        """Asks to start a trip of the previews; returns when the request is sent. route_choice 0: the selected one, or the first."""
        return await self._request(lambda id: self.endpoint.start_trip(trip, route_choice, request_id=id))

    def select_preview(self, trip: str, route_choice: int = 0) -> None:
        """Selects a trip of the previews. route_choice 0: the selected one, or the first."""
        self.endpoint.select_preview(trip, route_choice)

    async def _request(self, ask: Callable[[str], Any]) -> Request:
        request_id = f"request-{len(self._requests) + 1}-{self.name.replace('/', '-')}"[:64]
        task = self._loop.create_task(ask(request_id))
        self._requests[request_id] = task
        await asyncio.sleep(0)
        if task.done():
            await task  # Raises why it cannot be sent.
        return Request(self, request_id)

    async def cancel_navigation(self, reason: m.CancelReason = m.CancelReason.USER_STOPPED) -> None:
        """Ends guidance; returns when it has ended."""
        await self.endpoint.cancel_navigation(reason)

    def simulate_drive(self, action: m.SimulationAction = m.SimulationAction.START, speed: float = 1) -> None:
        """Asks the client that guides to simulate its drive, or to stop; `waymark navigate` needs --simulate-when-asked."""
        self.endpoint.simulate_drive(action, speed)

    def cut(self) -> None:
        """Ends the connection as a network failure would. The endpoint connects again by itself."""
        self.endpoint._cut()

    async def leave(self) -> None:
        """Leaves for good: the gateway keeps nothing of the vehicle."""
        for task in self._requests.values():
            task.cancel()
        await asyncio.gather(*self._requests.values(), return_exceptions=True)
        await self.endpoint.close()

    # Judging

    def phase(self, name: str) -> Phase:
        """What is expected in `async with car.phase("drive"):` is judged to the end of this block.

        The end waits for what is expected within a time; words without an end of their own end there.
        """
        return Phase(self, name)

    def _now(self) -> int:
        return round((self._loop.time() - self._origin) * NANOSECONDS)

    def _measure(self) -> None:
        self._measure_all()

    def _add(self, judged: Judged) -> Expectation:
        expectation = Expectation(self, judged)
        judged.text += f" of {self.name}"
        self.judge.begin(judged, self._since or Anchor(len(self.history.entries) - 1, self._now()))
        self._expectations.append(expectation)
        self._judged.append(judged)
        self._settle()
        return expectation

    def _continue(self, since: Anchor | None) -> None:
        """What the test expects before it waits again counts from an entry that it has waited for."""
        self._since = since
        self._loop.call_soon(self._forget)

    def _forget(self) -> None:
        self._since = None

    def _handle(self, event: Event) -> None:
        if self.history.is_full:
            self._is_full = True
            return
        self.judge.see(self.history.append(event, self._now()))
        if self._shows_after is not None and isinstance(event, Update) and event.state.is_complete and event.state.sequence:
            self._loop.call_later(self._shows_after, self.endpoint.mark_shown, event.state.sequence)
        self._settle()

    def _shown_after(self, microseconds: int) -> None:
        """The client was told of a delay of this endpoint."""
        self._handle(ShownAfter(microseconds))

    def _settle(self) -> None:
        """Wakes what waits for verdicts, and sets the timer for the next one."""
        for expectation in self._expectations:
            expectation._settle()
        deadline = self.judge.deadline
        if deadline == self._armed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._armed = deadline
        self._timer = None if deadline is None else self._loop.call_at(self._origin + deadline / NANOSECONDS, self._tick, deadline)

    def _tick(self, deadline: int) -> None:
        now = self._now()
        self._lateness = max(self._lateness, now - deadline)
        self._armed = None
        self.judge.expire(max(now, deadline))
        self._settle()

    def _finish(self, of: list[Expectation] | None = None) -> list[str]:
        """Ends what was expected; returns the failures that were not told yet."""
        ending = self._expectations if of is None else of
        self.judge.end(self._now(), [each._judged for each in ending])
        self._settle()
        if self._is_full:
            raise RigError(f"the history of {self.name} is full; make the test shorter")
        failures = [text for each in ending if not each._is_told and (text := each._failure()) is not None]
        self._expectations = [each for each in self._expectations if each not in ending]
        return failures

    def _explain(self, judged: Judged) -> str:
        return explain(judged, self.history, [*self._late(), *self._notes()])

    def _late(self) -> list[str]:
        if self._lateness < NANOSECONDS // 10:
            return []
        return [f"the rig's own timers were up to {seconds(self._lateness)} late: the machine is busy"]


class Phase:
    """A part of a test."""

    def __init__(self, vehicle: Vehicle, name: str) -> None:
        self._vehicle, self._name = vehicle, name
        self._before: list[Expectation] = []

    async def __aenter__(self) -> None:
        self._before = list(self._vehicle._expectations)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        __tracebackhide__ = True
        mine = [each for each in self._vehicle._expectations if each not in self._before]
        if error is None:
            for each in mine:
                if each._has_end:
                    await each._decided()
        failures = self._vehicle._finish(mine)
        if failures:
            text = "\n\n".join([f"in the phase {self._name}:", *failures])
            if error is None:
                raise RigFailure(text)
            error.add_note(text)


def _waypoint(latitude: float, longitude: float, name: str, stop_kind: m.StopKind = m.StopKind.UNSPECIFIED) -> m.Waypoint:
    center = m.Coordinate(latitude=latitude, longitude=longitude)
    return m.Waypoint(center=center, name_variants=(name,) if name else (), stop_kind=stop_kind)


def _place() -> str:
    """Where the test is, outside of the rig."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
