"""What expectations are about: messages that cross, and states that hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from waymark_nav.core import VehicleState
from waymark_nav.rig._conditions import Condition, condition
from waymark_nav.rig._fields import OF_CONNECTION, STATE, FieldPath, is_published, message_keys, message_name, message_type
from waymark_nav.rig._history import Entry, History, Moment

#: Keys with conditions, e.g. {"next.type": "rightTurn", "next.distance": "<200m"}.
Conditions = Mapping[str, Any]
#: Conditions, or a function of the state.
State = Conditions | Callable[[VehicleState], object]
#: A name, e.g. "updateTripEstimates", or a class of waymark_nav.messages.
MessageName = str | type[Any]


@dataclass(frozen=True)
class Difference:
    """One field that is not as expected."""

    path: str
    expected: str
    seen: str


@dataclass(frozen=True)
class Nearest:
    """The entry that was nearest to what was expected."""

    index: int
    differences: tuple[Difference, ...]


@dataclass
class Differences:
    """How far something is from what was meant."""

    fields: list[Difference] = field(default_factory=list)
    #: How many of the fields say which thing it is: with one, it is another thing, however near its numbers are.
    identities: int = 0
    #: How far numbers are from holding, 0 to 1 each.
    distance: float = 0.0

    @property
    def order(self) -> tuple[int, int, float]:
        """The nearest has the least: of the same thing, the fewest fields that differ, the nearest numbers."""
        return (self.identities, len(self.fields), self.distance)


class Fields:
    """Fields with the conditions that must hold together."""

    def __init__(self, elements: list[tuple[FieldPath, Condition]]) -> None:
        self.elements = elements
        self.text = ", ".join(f"{path.text} {each.text}" for path, each in elements)

    def holds(self, read: Callable[[str], Any]) -> bool:
        return all(each.holds(path.read(read(path.first))) for path, each in self.elements)

    def differences(self, read: Callable[[str], Any]) -> Differences:
        """The conditions that do not hold."""
        differences = Differences()
        for path, each in self.elements:
            value = path.read(read(path.first))
            if each.holds(value):
                continue
            if path.is_identity:
                differences.identities += 1
            else:
                differences.distance += each.distance(value)
            differences.fields.append(Difference(path.text, each.text, path.show(value)))
        return differences

    def violations(self, read: Callable[[str], Any]) -> tuple[Difference, ...]:
        """The conditions of a `never` that hold, one difference each."""
        return tuple(Difference(path.text, f"not {each.text}", path.show(path.read(read(path.first)))) for path, each in self.elements)


class MessagePattern:
    """A message that crosses the connection, in either direction."""

    def __init__(self, message: MessageName | None, where: Conditions | Callable[[Any], object] | None = None) -> None:
        """None: every publication."""
        self.type = None if message is None else message_type(message)
        self.name = "publication" if self.type is None else message_name(self.type)
        self._predicate = where if callable(where) else None
        self.fields = Fields([])
        if isinstance(where, Mapping):
            self.fields = Fields(_elements(where, lambda key: FieldPath(key, message_keys(self.type), self.name)))
        text = _name_of(where) if callable(where) else self.fields.text
        self.text = f"{self.name} where {text}" if text else self.name

    def matches(self, entry: Entry) -> bool:
        if not self._is_of_type(entry):
            return False
        if self._predicate is not None:
            return bool(self._predicate(entry.message))
        return not self.fields.elements or self.fields.holds(_reader(entry))

    def _is_of_type(self, entry: Entry) -> bool:
        frame = entry.frame
        if frame is None or entry.is_refused:
            return False
        return is_published(frame.type) if self.type is None else frame.type == self.type

    def differences(self, entry: Entry) -> Differences | None:
        """How an entry differs from what is meant; None if no frame crossed."""
        if entry.frame is None:
            return None
        if not self._is_of_type(entry):
            seen = f"{entry.name}, refused" if entry.name == self.name else entry.name
            return Differences([Difference("message", self.name, seen)], identities=len(self.fields.elements) + 1)
        if self._predicate is not None:
            return Differences([Difference("message", self.text, self.name)])
        return self.fields.differences(_reader(entry))

    def violations(self, entry: Entry) -> tuple[Difference, ...]:
        return self.fields.violations(_reader(entry))


class StatePattern:
    """A state of the endpoint."""

    def __init__(self, state: State) -> None:
        self._predicate = state if callable(state) else None
        self.fields = Fields([])
        if isinstance(state, Mapping):
            self.fields = Fields(_elements(state, state_path))
        self.text = _name_of(state) if callable(state) else self.fields.text
        self._is_of_connection = bool(self.fields.elements) and all(path.text in OF_CONNECTION for path, _ in self.fields.elements)

    def holds(self, moment: Moment) -> bool | None:
        """None if the state does not count."""
        if not self._counts(moment):
            return None
        return bool(self._predicate(moment.state)) if self._predicate is not None else self.fields.holds(moment.value)

    def differences(self, moment: Moment) -> Differences | None:
        if not self._counts(moment):
            return None
        if self._predicate is not None:
            return Differences([Difference("state", self.text, "not")])
        return self.fields.differences(moment.value)

    def violations(self, moment: Moment) -> tuple[Difference, ...]:
        return self.fields.violations(moment.value)

    def _counts(self, moment: Moment) -> bool:
        return moment.index >= 0 and (self._is_of_connection or moment.is_complete)


Pattern = MessagePattern | StatePattern


def pattern(event: Pattern | MessageName | State, where: Conditions | Callable[[Any], object] | None = None) -> Pattern:
    """A message is named by a text or a class, a state by its conditions or by a function."""
    if isinstance(event, MessagePattern | StatePattern):
        return event
    if isinstance(event, str | type):
        return MessagePattern(event, where)
    if where is not None:
        raise TypeError("where is for messages")
    return StatePattern(event)


def state_path(key: str) -> FieldPath:
    """A field of the state."""
    return FieldPath(key, STATE, "the state")


def nearest_message(wanted: MessagePattern, window: list[Entry]) -> Nearest | None:
    """The message of a window that is nearest: of the same thing, the fewest fields that differ, the nearest numbers, the latest."""
    return _nearest((entry.index, wanted.differences(entry)) for entry in window)


def nearest_state(wanted: StatePattern, history: History, first: int, window: list[Entry]) -> Nearest | None:
    """The moment at an anchor or in a window that is nearest."""
    moments = [history.moment_at(first), *(entry.moment for entry in window if entry.moment is not None)]
    return _nearest((moment.index, wanted.differences(moment)) for moment in moments)


def _nearest(candidates: Iterable[tuple[int, Differences | None]]) -> Nearest | None:
    best: tuple[int, Differences] | None = None
    for index, found in candidates:
        if found is not None and (best is None or found.order <= best[1].order):
            best = (index, found)
    return None if best is None else Nearest(best[0], tuple(best[1].fields))


def _elements(conditions: Conditions, path: Callable[[str], FieldPath]) -> list[tuple[FieldPath, Condition]]:
    paths = [(path(key), literal) for key, literal in conditions.items()]
    return [(each, condition(literal, each)) for each, literal in paths]


def _reader(entry: Entry) -> Callable[[str], Any]:
    return entry.content().get


def _name_of(function: Callable[..., object]) -> str:
    """For reports: the name of a function; of a lambda, where it is."""
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    if name != "<lambda>" or code is None:
        return str(name)
    return f"the lambda in line {code.co_firstlineno}"
