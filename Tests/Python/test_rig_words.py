"""The words of the rig mean what they mean in scenarios: the same table of cases, history -> verdict."""

from __future__ import annotations

from typing import Any

import pytest

from waymark_nav.rig._judge import Judged
from waymark_nav.rig._times import NANOSECONDS

from rigcases import CASES, Case, is_about_the_client

JUDGED = [case for case in CASES if not is_about_the_client(case)]


def instant_of(judged: Judged) -> int | None:
    return judged.failures[-1].instant if judged.failures else judged.passed


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case["name"])
def test_a_history_gets_its_verdict(case: dict[str, Any]) -> None:
    played = Case(case)
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


def test_few_cases_are_about_the_client() -> None:
    assert len(JUDGED) >= 190
