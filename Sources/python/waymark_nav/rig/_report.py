"""A failed expectation in words: what was expected, what was nearest, and what happened around it. The words are those of `waymark test`.

At most 72 columns wide: pytest adds 8.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator
from typing import Any

from waymark_nav import _json
from waymark_nav.core import Traced
from waymark_nav.rig._history import Entry, History
from waymark_nav.rig._judge import Judged
from waymark_nav.rig._timeline import timeline
from waymark_nav.rig._times import clock
from waymark_nav.rig._words import Failed

_WIDTH = 72
_INDENT = 12
#: Entries before the marked one, and in all.
_BEFORE, _ENTRIES_MAX = 7, 20
_ISOLATES = "\u2066\u2067\u2068\u2069"
_LETTER = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff"
#: Words that are written from right to left, with the spaces, numbers and joiners between them.
_RIGHT_TO_LEFT = re.compile(rf"[{_LETTER}](?:(?:(?! {{2}})[ \-'0-9\u0300-\u036f\u200c\u200d])*[{_LETTER}\u0300-\u036f\u200c\u200d])*")
_NOT_SHOWN = ("kind", "message", "session", "sequence", "fitted", "more", "fromGateway", "generation")


def explain(judged: Judged, history: History, notes: list[str]) -> str:
    """Why an expectation failed. Of several failures the first is told in full."""
    failed = judged.failures[0]
    text = textwrap.wrap(judged.text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    lines = [*text, *_labelled("in", judged.place)]
    if judged.because:
        lines += _labelled("because", judged.because)
    lines += [*_when(judged, failed), *_nearest(failed, history), "", *_table(failed, history)]
    lines += _labelled("vehicle", timeline(history, failed.instant))
    for note in notes:
        lines += _labelled("note", note)
    return _printable("\n".join(lines))


def verdicts(judged: list[Judged]) -> list[str]:
    """A line for each expectation, in the order of the test."""
    return [_verdict(each) for each in judged]


def _verdict(judged: Judged) -> str:
    if judged.failures:
        return verdict("failed", judged.failures[0].instant, judged.place, judged.text)
    if judged.passed is not None:
        return verdict("passed", judged.passed, judged.place, judged.text)
    return _printable(f"undecided: {judged.place} {judged.text}")


def verdict(word: str, instant: int, place: str, text: str) -> str:
    """An expectation in a line: what became of it and when, where it is, and what it expects."""
    return _printable(f"{word} at {clock(instant)} s: {place} {text}")


def _labelled(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=f"  {label:<{_INDENT - 2}}", subsequent_indent=" " * _INDENT, break_on_hyphens=False)


def _when(judged: Judged, failed: Failed) -> list[str]:
    decided = f"decided at {clock(failed.instant)} s"
    if judged.is_not_reached:
        return _labelled("event", f"never happened; {decided}")
    began = f"{clock(failed.anchor.instant)} s; {decided}"
    lines = _labelled("since", began) if judged.when is None else _labelled("event", f"at {began}")
    if failed.error:
        lines += _labelled("error", failed.error)
    if judged.failure_count > 1:
        lines += _labelled("failures", f"{judged.failure_count}; this is the first")
    return lines


def _nearest(failed: Failed, history: History) -> list[str]:
    nearest = failed.nearest
    if nearest is None:
        return [] if failed.error else _labelled("nearest", "nothing like it was seen")
    at = clock(history.entries[nearest.index].instant)
    count = len(nearest.differences)
    if count == 0:
        return _labelled("seen", f"at {at} s")
    lines = _labelled("nearest", f"at {at} s; {count} value{' is' if count == 1 else 's are'} different")
    width = max((len(each.path) for each in nearest.differences), default=0)
    seen = max((len(each.seen) for each in nearest.differences), default=0)
    for each in nearest.differences:
        line = f"{each.path:<{width}}  {each.seen:<{seen}}  expected {each.expected}"
        lines += textwrap.wrap(line, _WIDTH, initial_indent=" " * 14, subsequent_indent=" " * 16, drop_whitespace=True)
    return lines


def _table(failed: Failed, history: History) -> list[str]:
    """The entries around the nearest one, else around the one with which the expectation began, up to the failure."""
    entries = [entry for entry in history.entries if entry.instant <= failed.instant]
    if not entries:
        return []
    anchor = failed.anchor.index
    marked = failed.nearest.index if failed.nearest is not None else anchor if anchor >= 0 else len(entries) - 1
    first = max(0, marked - _BEFORE)
    shown = entries[first : first + _ENTRIES_MAX]
    lines: list[str] = []
    if 0 <= anchor < first:
        lines.append(_entry(entries[anchor], False))
        lines += _more(first - anchor - 1)
    lines += [_entry(each, each.index == marked) for each in shown]
    lines += _more(len(entries) - first - len(shown), f" until {clock(failed.instant)} s")
    return [*lines, ""]


def _more(count: int, until: str = "") -> list[str]:
    return [f"{'':13}… {count} more{until}"] if count > 0 else []


def _entry(entry: Entry, is_marked: bool) -> str:
    content = {key: value for key, value in entry.content().items() if key not in _NOT_SHOWN}
    frame = entry.frame
    name = entry.name if frame is None else entry.name[:1].upper() + entry.name[1:]
    if isinstance(entry.event, Traced):
        rejection = entry.event.rejection
        name = f"sent {name}" if rejection is None else f"{name}, refused: {rejection}"
    if frame is not None and frame.sequence:
        name += f" {frame.sequence}"
    values = ", ".join(f"{path} {value}" for path, value in _flat(content))
    text = f"{name}: {values}" if values else name
    line = f"  {'>' if is_marked else ' '}{clock(entry.instant):>8}  {text}"
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def _flat(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The values of an object by their keys; of lists of objects, how many there are."""
    for key, value in content.items():
        match value:
            case dict():
                yield from _flat(value)
            case [dict(), *_] | [list(), *_]:
                yield key, f"[{len(value)}]"
            case "" | [] | None:
                continue
            case list():
                yield key, f"[{', '.join(map(str, value))}]"
            case bool():
                yield key, "true" if value else "false"
            case _:
                yield key, str(value)


def _printable(text: str) -> str:
    """What would steer a terminal is escaped; parts that are written from right to left do not change the order of what is beside them."""
    return "\n".join(_isolated(_escaped(line)) for line in text.split("\n"))


def _escaped(text: str) -> str:
    """Joiners stay where they join: between letters, and between emoji. Isolates are left out: _isolated adds its own."""
    shown = []
    around = f" {text} "
    for before, each, after in zip(around, text, around[2:], strict=False):
        joins = each in "\u200c\u200d" and _joinable(before) and _joinable(after)
        if joins or unicodedata.category(each) not in _json.STEERING:
            shown.append(each)
        elif each not in _ISOLATES:
            shown.append(f"\\u{ord(each):04x}")
    return "".join(shown)


def _joinable(character: str) -> bool:
    """Whether a joiner beside the character changes how it is written. Emoji are symbols, and modifiers of these."""
    return not character.isascii() and unicodedata.category(character)[0] in "LMS"


def _isolated(text: str) -> str:
    return _RIGHT_TO_LEFT.sub(lambda part: f"\u2067{part.group()}\u2069", text)
