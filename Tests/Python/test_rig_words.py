"""The words of the rig mean what they mean in scenarios: the same table of cases, history -> verdict."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from waymark_nav.rig._judge import Judged
from waymark_nav.rig._times import NANOSECONDS

from conftest import ROOT
from rigcases import CASES, Case, is_about_the_client

JUDGED = [case for case in CASES if not is_about_the_client(case)]


def instant_of(judged: Judged) -> int | None:
    return judged.failures[-1].instant if judged.failures else judged.passed


@pytest.mark.parametrize("late", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case["name"])
def test_a_history_gets_its_verdict_however_late_the_judge_hears_of_it(case: dict[str, Any], late: int) -> None:
    played = Case(case, late)
    judged = played.play()
    if judged is None:
        assert case["verdict"] == "notReached"
        return
    verdict = "notReached" if judged.is_not_reached else "failed" if judged.failures else "passed"
    assert (verdict, instant_of(judged)) == (case["verdict"], round(case["at"] * NANOSECONDS))
    assert judged.held_already == case.get("heldAlready", False)
    if "margin" in case:
        assert judged.margin == round(case["margin"] * NANOSECONDS)
    if "nearest" in case:
        nearest = judged.failures[0].nearest
        assert nearest is not None
        assert {each.path: [each.expected, each.seen] for each in nearest.differences} == case["nearest"]


def test_the_page_says_how_many_cases_are_not_judged_and_why() -> None:
    counts: Counter[str] = Counter()
    for case in CASES:
        if case not in JUDGED:
            text = json.dumps(case)
            words = {"`holds-what-was-published`": "holds-what", "`missed`": '"missed"', "`of: client`": '"of": "client"'}
            counts[next((word for word, sign in words.items() if sign in text), "`ended` of a whole file")] += 1
    page = (ROOT / "Docs/python.md").read_text(encoding="utf-8")
    assert f"Of the {len(CASES)} cases of the table, {counts.total()} are about that" in page
    assert dict(re.findall(r"^\| (.+) \| (\d+) \| ", page, re.M)) == {word: str(count) for word, count in counts.items()}
