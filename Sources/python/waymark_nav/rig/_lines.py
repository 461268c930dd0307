"""Lines that programs print, and the regular expressions that find them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from waymark_nav.rig._errors import RigError

#: The letters of an expression, at most.
_LETTERS_MAX = 512
#: The letters of a line that are searched.
LINE_MAX = 4_096

_CLASS = {"d": "0-9", "w": "A-Za-z0-9_", "s": "\t-\r "}


@dataclass(frozen=True)
class Line:
    """A line that a program has printed."""

    #: Nanoseconds of the monotonic clock, when it was read.
    instant: int
    text: str
    #: Its number among the lines of the program, from 1.
    number: int = 0
    #: The texts of the named groups that took part in the match.
    groups: dict[str, str] = field(default_factory=dict)


@dataclass
class LinePattern:
    """An expression in the dialect of scenario files.

    Why not `re`: an expression can keep it busy for ever. This takes time in proportion to the line times the expression.
    """

    text: str
    #: (operation, arguments): letter, begin, end, split, jump, save, found.
    _program: list[tuple[str, object, object]] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.text) > _LETTERS_MAX:
            raise RigError(f"a regular expression has at most {_LETTERS_MAX} letters")
        self._at = 0
        self._program = self._either(0)
        if self._at < len(self.text):
            raise RigError(f"{self.text}: ) without (")
        self._program.append(("found", None, None))

    # Parts of a program have jumps that are relative to themselves, so that they can be joined.

    def _next(self) -> str:
        return self.text[self._at : self._at + 1]

    def _either(self, depth: int) -> list[tuple[str, object, object]]:
        if depth >= 16:
            raise RigError("a regular expression has at most 16 levels of ( )")
        first = self._sequence(depth)
        if self._next() != "|":
            return first
        self._at += 1
        rest = self._either(depth)
        return [("split", 1, len(first) + 2), *first, ("jump", len(rest) + 1, None), *rest]

    def _sequence(self, depth: int) -> list[tuple[str, object, object]]:
        program: list[tuple[str, object, object]] = []
        while self._next() not in ("", "|", ")"):
            single = self._single(depth)
            match self._next():
                case "*":
                    single = [("split", 1, len(single) + 2), *single, ("jump", -len(single) - 1, None)]
                case "+":
                    single = [*single, ("split", -len(single), 1)]
                case "?":
                    single = [("split", 1, len(single) + 1), *single]
                case _:
                    self._at -= 1
            self._at += 1
            program += single
        return program

    def _single(self, depth: int) -> list[tuple[str, object, object]]:
        sign = self._next()
        self._at += 1
        match sign:
            case "^":
                return [("begin", None, None)]
            case "$":
                return [("end", None, None)]
            case ".":
                return [("letter", re.compile("[^\n]"), None)]
            case "\\":
                return [("letter", re.compile(self._escaped()), None)]
            case "[":
                return [("letter", self._letters(), None)]
            case "(":
                number = self._group() if self._next() == "?" else None
                inner = self._either(depth + 1)
                if self._next() != ")":
                    raise RigError(f"{self.text}: ( without )")
                self._at += 1
                return inner if number is None else [("save", 2 * number, None), *inner, ("save", 2 * number + 1, None)]
            case "*" | "+" | "?" | "{":
                raise RigError(f"{self.text}: {sign} is not supported here; write \\{sign} for the sign")
            case _:
                return [("letter", re.compile(re.escape(sign)), None)]

    def _group(self) -> int:
        match = re.compile(r"\?<([A-Za-z_]\w{0,31})>", re.ASCII).match(self.text, self._at)
        if match is None or match[1] in self.groups or len(self.groups) == 16:
            raise RigError(f"{self.text}: it can have up to 16 groups (?<name> ) with different names, and no other (?")
        self._at = match.end()
        self.groups.append(match[1])
        return len(self.groups) - 1

    def _escaped(self) -> str:
        sign = self._next()
        self._at += 1
        if sign.lower() in _CLASS and sign:
            return f"[{'^' if sign.isupper() else ''}{_CLASS[sign.lower()]}]"
        if not sign or sign.isalnum():
            raise RigError(f"{self.text}: \\{sign} is not known")
        return re.escape(sign)

    def _letters(self) -> re.Pattern[str]:
        """A set of letters, behind its bracket."""
        match = re.compile(r"\^?(?:\\.|[^\\])(?:\\.|[^\\\]])*\]").match(self.text, self._at)
        if match is None:
            raise RigError(f"{self.text}: [ without ]")
        if bad := re.search(r"\\([DWS]|[^\WdwsDWS])", match[0], re.ASCII):
            raise RigError(f"{self.text}: \\{bad[1]} cannot be in [ ]")
        self._at = match.end()
        inverted = match[0].startswith("^")
        inside = match[0][inverted:-1]
        # Every sign by itself is a letter, but for escapes and the dash.
        inside = re.sub(r"\\([dws])|\\(.)|([\[\]&~|^])", lambda m: _CLASS[m[1]] if m[1] else re.escape(m[2] or m[3]), inside)
        try:
            return re.compile(f"[{'^' if inverted else ''}{inside}]")
        except re.error as error:
            raise RigError(f"{self.text}: {error}") from None

    def values(self, line: str) -> dict[str, str] | None:
        """The named groups of the first part of the line that matches; None if there is none."""
        line = line[:LINE_MAX]
        found: tuple[int, ...] | None = None
        none = (-1,) * (2 * len(self.groups))
        threads: list[tuple[int, tuple[int, ...]]] = []
        for position in range(len(line) + 1):
            if found is None:
                threads.append((0, none))
            reached: set[int] = set()
            following: list[tuple[int, tuple[int, ...]]] = []
            for thread in threads:
                if self._follow(thread, position, line, reached, following):
                    found = self._found
                    break
            threads = following
            if found is not None and not threads:
                break
        if found is None:
            return None
        pairs = ((name, found[2 * number], found[2 * number + 1]) for number, name in enumerate(self.groups))
        return {name: line[begin:end] for name, begin, end in pairs if end >= 0}

    def _follow(
        self, thread: tuple[int, tuple[int, ...]], position: int, line: str, reached: set[int], following: list[tuple[int, tuple[int, ...]]]
    ) -> bool:
        """Follows a thread up to its next letters; whether it has found the end of the expression."""
        waiting = [thread]
        while waiting:
            at, places = waiting.pop()
            if at in reached:
                continue
            reached.add(at)
            match self._program[at]:
                case ("found", _, _):
                    self._found = places
                    return True
                case ("jump", int(by), _):
                    waiting.append((at + by, places))
                case ("split", int(first), int(second)):
                    waiting += [(at + second, places), (at + first, places)]
                case ("save", int(place), _):
                    waiting.append((at + 1, (*places[:place], position, *places[place + 1 :])))
                case ("begin", _, _) if position == 0:
                    waiting.append((at + 1, places))
                case ("end", _, _) if position == len(line):
                    waiting.append((at + 1, places))
                case ("letter", re.Pattern() as letters, _) if position < len(line) and letters.match(line[position]):
                    following.append((at + 1, places))
                case _:
                    pass
        return False
