"""The lines that programs print, and the regular expressions that find them."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from waymark_nav.rig import RigError, RigFailure
from waymark_nav.rig._lines import LinePattern
from waymark_nav.rig._programs import Process


@pytest.mark.parametrize(
    ("pattern", "text", "values"),
    [
        ("(?<a>b+)(?<c>b?)", "abbb", {"a": "bbb", "c": ""}),
        ("(?<a>x)|(?<b>y)", "y", {"b": "y"}),
        (r"in (?<meters>\d+) m", "next in 120 m", {"meters": "120"}),
        ("(?<a>b)", "c", None),
        ("(?<a>a|ab)(?<b>c|bcd)", "abcd", {"a": "a", "b": "bcd"}),
        ("((?<last>[a-z]) ?)+", "a b c", {"last": "c"}),
        ("a|b|c", "xc", {}),
        ("[]x]", "]", {}),
        ("^(ab)+$", "aba", None),
        (r"^\w\.[^\d]$", "a.b", {}),
    ],
)
def test_an_expression_finds_what_it_finds_in_scenario_files(pattern: str, text: str, values: dict[str, str] | None) -> None:
    assert LinePattern(pattern).values(text) == values


@pytest.mark.parametrize(
    "pattern", ["(", ")", "[a", "a{2}", "*a", "(?=a)", r"\q", "[z-a]", "\\", "(" * 20, "a" * 513, "(?<a>b)(?<a>c)", "(?<1>b)", "(?P<a>b)"]
)
def test_what_is_no_expression_is_an_error(pattern: str) -> None:
    with pytest.raises(RigError):
        LinePattern(pattern)


def test_no_expression_takes_long() -> None:
    begin = time.monotonic()
    assert LinePattern("(?<a>(a+)+)(?<b>a*)*b").values("a" * 4_096) is None
    assert time.monotonic() - begin < 5


def test_a_program_prints() -> None:
    code = "print('begins'); print('next left in 120 m', flush=True); input()"

    async def play() -> None:
        program = await Process.start("screen", [sys.executable, "-c", code], None)
        line = await program.prints(r"next (?<type>\w+) in (?<meters>\d+)", {"type": "left", "meters": "<200"}, within=20)
        assert (line.number, line.groups) == (2, {"type": "left", "meters": "120"})
        first = await program.prints("begins", within=1)
        assert first.instant <= line.instant
        assert not program.printed("begins", after=first)
        assert not program.printed("right")
        with pytest.raises(RigFailure, match="screen did not print"):
            await program.prints(r"in (?<meters>\d+)", {"meters": 100}, within="50ms")
        with pytest.raises(RigError, match="no group"):
            program.printed("begins", {"meters": 100})
        await program._end()

    asyncio.run(play())


def test_a_program_that_has_ended_prints_nothing_more() -> None:
    async def play() -> None:
        program = await Process.start("screen", [sys.executable, "-c", "print('x' * 100_000)"], None)
        assert await program.wait(within=20) == 0
        assert len(program.output) == 4_096
        with pytest.raises(RigFailure):
            await program.prints("y", within="1h")

    asyncio.run(play())
