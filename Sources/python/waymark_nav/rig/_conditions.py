"""What a field must be, written as in scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from waymark_nav._kinds import Flag, Items, Kind, Number, Object, Text, Word, camel
from waymark_nav._wire import OpenEnum
from waymark_nav.rig._errors import RigError
from waymark_nav.rig._fields import UNITS, FieldPath, hint, number

_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<=": lambda value, bound: value <= bound,
    ">=": lambda value, bound: value >= bound,
    "<": lambda value, bound: value < bound,
    ">": lambda value, bound: value > bound,
}


@dataclass(frozen=True)
class Condition:
    """A condition for one field."""

    #: As it was written.
    text: str
    holds: Callable[[Any], bool]
    #: The number that a number should be near to, if there is one.
    bound: Callable[[float], float] | None = None

    def distance(self, value: Any) -> float:
        """How far a number is from fulfilling it, 0 to 1; 1 for everything else that does not."""
        if self.bound is None or not _is_number(value):
            return 1
        bound = self.bound(value)
        size = max(abs(value), abs(bound))
        return min(1, abs(value - bound) / size) if size else 0


def condition(literal: Any, path: FieldPath) -> Condition:
    """Reads a condition for a field. Raises RigError if no value of the field can fulfil it."""
    kind, name = path.kind, path.text
    if isinstance(literal, Mapping):
        if set(literal) != {"contains"}:
            raise RigError(f"{name}: {dict(literal)} is no condition; write a value, or {{'contains': value}}")
        if not isinstance(kind, Items):
            raise RigError(f"{name} is not a list, so it contains nothing")
        element = _constant(literal["contains"], kind.element, name)
        return Condition(
            f"contains {_written(literal['contains'])}", lambda value: isinstance(value, list) and any(map(element.holds, value))
        )
    if literal is None:
        return Condition("null", lambda value: value is None or value == "" or value == [])
    if isinstance(literal, list | tuple):
        if not isinstance(kind, Items):
            raise RigError(f"{name} is not a list")
        elements = [_constant(each, kind.element, name) for each in literal]
        return Condition(_written(literal), lambda value: _is_list_of(value, elements))
    if isinstance(kind, Items):
        raise RigError(f"{name} is a list: write [{_written(literal)}], or {{'contains': {_written(literal)}}}")
    if isinstance(kind, Object):
        raise RigError(f"{name} is an object: name one of its keys, {', '.join(kind.keys)}")
    if literal == "stale-or-none" and name == "shows":
        return Condition(literal, lambda value: value in ("stale", "none"))
    return _test(literal, kind, name) if isinstance(literal, str) else _constant(literal, kind, name)


def group_condition(literal: Any, name: str) -> Condition:
    """Reads a condition for a named group of a printed line. It compares numbers if it names one, else texts."""
    if isinstance(literal, str):
        names_number = literal[:1] in ("<", ">") or re.fullmatch(r"-?[\d.]+?\.\.-?[\d.]+", literal) is not None
        found = _test(literal, Number() if names_number else Text(), name)
    else:
        names_number, found = _is_number(literal), _constant(literal, Number() if _is_number(literal) else Text(), name)
    return Condition(found.text, lambda value: found.holds(_read_number(value) if names_number else value))


def _read_number(text: str | None) -> float | None:
    """The number that a text is, if it is one."""
    return float(text) if text is not None and re.fullmatch(r"-?\d+(?:\.\d+)?", text, re.ASCII) else None


def _test(text: str, kind: Kind, name: str) -> Condition:
    """A text may be an operator with a value."""
    if text.startswith("!="):
        other = _constant(text[2:].strip(" "), kind, name)
        return Condition(text, lambda value: not other.holds(value))
    if text.startswith("~"):
        if not isinstance(kind, Text | Word):
            raise RigError(f"{name} is no text, so it matches no regular expression")
        try:
            pattern = re.compile(text[1:])
        except re.error as error:
            raise RigError(f"{name}: {text[1:]} is no regular expression: {error}") from None
        return Condition(text, lambda value: isinstance(value, str) and pattern.search(value) is not None)
    order = next((order for order in _ORDERS if text.startswith(order)), None)
    if order is not None:
        if not isinstance(kind, Number):
            raise RigError(f"{name} is no number, so it cannot be compared with {order}")
        compare, limit = _ORDERS[order], _number(text[len(order) :].strip(" "), kind, name)
        return Condition(text, lambda value: _is_number(value) and compare(value, limit), lambda value: limit)
    if isinstance(kind, Number) and ".." in text:
        lower, upper = (_number(part.strip(" "), kind, name) for part in text.split("..", 1))
        if lower > upper:
            raise RigError(f"{name}: {text} begins above its end")
        return Condition(text, lambda value: _is_number(value) and lower <= value <= upper, lambda value: lower if value < lower else upper)
    return _constant(text, kind, name)


def _constant(literal: Any, kind: Kind, name: str) -> Condition:
    """Equal to a value."""
    match kind:
        case Text() if isinstance(literal, str):
            return Condition(literal, lambda value: bool(value == literal))
        case Flag() if isinstance(literal, bool):
            return Condition(_written(literal), lambda value: value is literal)
        case Number() if isinstance(literal, str) or _is_number(literal):
            wanted = _number(literal, kind, name) if isinstance(literal, str) else float(literal)
            # Why not exactly: units are converted, and 0.3 km are 300 m.
            within = 1e-9 * max(1, abs(wanted))
            return Condition(_written(literal), lambda value: _is_number(value) and abs(value - wanted) <= within, lambda value: wanted)
        case Word():
            word = _name(literal, kind, name)
            return Condition(word, lambda value: bool(value == word))
        case Text():
            raise RigError(f'{name} is a text; write "{_written(literal)}"')
        case Flag():
            raise RigError(f"{name} is True or False")
        case Number():
            raise RigError(f"{name} is a number{f' of {kind.unit}' if kind.unit else ''}, not {_written(literal)}")
        case _:
            raise RigError(f"{name} has no values that {_written(literal)} is one of")


def _name(literal: Any, kind: Word, name: str) -> str:
    """The name of a value of an enumeration; of one that this version does not know, its number."""
    if isinstance(literal, OpenEnum):
        return camel(literal.name) if literal.is_recognized else str(literal.value)
    if _is_number(literal) and kind.enumeration is not None and literal == int(literal) and literal >= 0:
        return _name(kind.enumeration(int(literal)), kind, name)
    if isinstance(literal, str) and (literal in kind.names or literal.isdecimal()):
        return literal
    raise RigError(f"{_written(literal)} is not a value of {name}{hint(_written(literal), kind.names)}")


def _number(text: str, kind: Number, name: str) -> float:
    """A number with a unit, e.g. 200m."""
    match = re.fullmatch(r"(-?\d+(?:\.\d+)?) *(\D*)", text, re.ASCII)
    factor = UNITS[kind.unit].get(match[2]) if match is not None else None
    if match is None or factor is None:
        raise RigError(f"{name} is a number{f' of {kind.unit}' if kind.unit else ''}, not {text or 'nothing'}")
    return float(match[1]) * factor


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list_of(value: Any, elements: list[Condition]) -> bool:
    if value is None:
        return not elements
    pairs = zip(elements, value, strict=False)
    return isinstance(value, list) and len(value) == len(elements) and all(element.holds(each) for element, each in pairs)


def _written(literal: Any) -> str:
    """A literal as a scenario writes it."""
    match literal:
        case None:
            return "null"
        case bool():
            return "true" if literal else "false"
        case OpenEnum():
            return camel(literal.name)
        case int() | float():
            return number(literal)
        case list() | tuple():
            return f"[{', '.join(map(_written, literal))}]"
        case _:
            return str(literal)
