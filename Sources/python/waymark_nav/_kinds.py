"""What a key of JSON contains, and the names of the protos as JSON writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from waymark_nav._wire import OpenEnum


def camel(name: str) -> str:
    """A name of the protos as Docs/cluster-json.md writes it."""
    first, *others = name.lower().split("_")
    return first + "".join(word.capitalize() for word in others)


@dataclass(frozen=True)
class Text:
    """A text."""


@dataclass(frozen=True)
class Bytes(Text):
    """Bytes, as base64."""


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


class When(Enum):
    """When a key is written."""

    ALWAYS = auto()
    #: If it is not None; 0 is a value.
    KNOWN = auto()
    #: If it is neither None nor 0, false or empty.
    FILLED = auto()


ALWAYS, KNOWN, FILLED = When.ALWAYS, When.KNOWN, When.FILLED


@dataclass(frozen=True)
class Key:
    """A key, and where its value comes from."""

    #: Empty: the keys of what it contains are keys of the object around it.
    name: str
    #: Of the message.
    attribute: str
    kind: Kind
    when: When


@dataclass(frozen=True)
class Shape(Object):
    """An object that a message, or a state, is written as."""

    fields: tuple[Key, ...]


def shape(*fields: Key) -> Shape:
    """An object with these keys."""
    keys: dict[str, Kind] = {}
    for key in fields:
        keys |= {key.name: key.kind} if key.name else key.kind.keys if isinstance(key.kind, Object) else {}
    return Shape(keys, fields)


Kind = Text | Flag | Number | Word | Items | Object

TEXT, BYTES, FLAG, NUMBER = Text(), Bytes(), Flag(), Number()
METERS, SECONDS, MILLISECONDS, DEGREES = Number("m"), Number("s"), Number("ms"), Number("°")
TEXTS, NUMBERS = Items(TEXT), Items(NUMBER)
PLACES = Items(NUMBERS)


def word(enumeration: type[OpenEnum]) -> Word:
    """One of the values of an enumeration of the protos."""
    return Word(tuple(camel(member.name) for member in enumeration), enumeration)
