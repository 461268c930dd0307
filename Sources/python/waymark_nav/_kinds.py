"""What a key of JSON contains, and the names of the protos as JSON writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from waymark_nav._wire import OpenEnum


def camel(name: str) -> str:
    """A name of the protos as Docs/cluster-json.md writes it."""
    first, *others = name.lower().split("_")
    return first + "".join(word.capitalize() for word in others)


@dataclass(frozen=True)
class Text:
    """A text."""


@dataclass(frozen=True)
class Flag:
    """True or false."""


@dataclass(frozen=True)
class Number:
    """A number."""

    unit: str = ""


@dataclass(frozen=True)
class Word:
    """A value of an enumeration, by its name."""

    names: tuple[str, ...]
    enumeration: type[OpenEnum] | None = None


@dataclass(frozen=True)
class Items:
    """A list."""

    element: Kind


@dataclass(frozen=True)
class Object:
    """An object with keys."""

    keys: Mapping[str, Kind]


Kind = Text | Flag | Number | Word | Items | Object

TEXT, FLAG, NUMBER = Text(), Flag(), Number()
METERS, SECONDS, MILLISECONDS, DEGREES = Number("m"), Number("s"), Number("ms"), Number("°")
TEXTS, NUMBERS = Items(TEXT), Items(NUMBER)
PLACES = Items(NUMBERS)


def word(enumeration: type[OpenEnum]) -> Word:
    """One of the values of an enumeration of the protos."""
    return Word(tuple(camel(member.name) for member in enumeration), enumeration)
