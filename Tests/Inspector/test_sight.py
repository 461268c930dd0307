"""What can be seen: forced colours, long names, small windows, large text, and names with controls of direction."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import Inspector
from mock_inspector import Mock
from pixels import visible_share
from test_views import VIEWS

pytestmark = pytest.mark.mock
LONG = "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogochst"
"""60 letters without a space."""
WCAG_22_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.mark.parametrize("width", [1280, 640, 390])
def test_axe_finds_nothing_by_wcag_2_2_aa(open_page: Callable[..., Inspector], width: int) -> None:
    inspector = open_page(width, 800)
    found = []
    for name in ["overview", "compare", *VIEWS]:
        page = inspector.show(f"vehicle=car&view={name}&a=r1&b=r2" if name != "overview" else "view=overview")
        answer = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG_22_AA}}).response
        found += [f"{name}: {one['id']}: {node['html'][:140]}" for one in answer["violations"] for node in one["nodes"]]
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_arrow_lanes_and_map_are_visible_in_forced_colours(open_page: Callable[..., Inspector], theme: str) -> None:
    inspector = open_page(theme=theme, forced_colors="active")
    page = inspector.show("vehicle=car")
    assert page.evaluate("matchMedia('(forced-colors: active)').matches")
    shares = {
        name: visible_share(page.locator(name).first.screenshot()) for name in [".card-glyph svg", ".card-lanes svg", "wm-map canvas"]
    }
    assert shares[".card-glyph svg"] > 0.05 and shares[".card-lanes svg"] > 0.03 and shares["wm-map canvas"] > 0.01, shares


def long_names(mock: Mock) -> None:
    """Every name of the drive has 60 letters."""
    names = ["nameVariants", "addressVariants", "instructionVariants", "roadFollowingManeuverVariants", "currentRoadName"]

    def lengthen(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: lengthen(part, name) for name, part in value.items()}
        if isinstance(value, list):
            return [LONG if key in names else lengthen(part) for part in value]
        return (
            LONG if key in {"client", "owner", "displayName", "chosenVariant", "road", "destination", "nextManeuver"} and value else value
        )

    answer = mock.answer

    def lengthened(name: str, query: dict[str, str]) -> Any:
        return lengthen(answer(name, query)) if name not in {"sources", "names", "profiles", "moments"} else answer(name, query)

    mock.answer = lengthened  # type: ignore[method-assign]


TEXT_FAULTS = Path(__file__).with_name("text_faults.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [1280, 640])
def test_names_of_60_letters_neither_overlap_nor_are_cut(open_page: Callable[..., Inspector], mock: Mock, width: int) -> None:
    long_names(mock)
    inspector = open_page(width, 800)
    found = {}
    for name in ["overview", *VIEWS]:
        page = inspector.show(f"vehicle=car&view={name}" if name != "overview" else "view=overview")
        if faults := page.evaluate(TEXT_FAULTS):
            found[name] = faults
    assert found == {}


def test_the_overview_shows_waiting_requests_and_findings_at_1280_pixels(inspector: Inspector) -> None:
    page = inspector.show("view=overview")
    edge = page.evaluate("document.querySelector('.scroll').getBoundingClientRect().right")
    for name in ["Waiting", "Requests", "Findings"]:
        box = page.get_by_role("columnheader", name=name, exact=True).first.bounding_box()
        assert box and box["x"] + box["width"] <= edge, name


def test_the_bytes_of_a_frame_are_whole_at_1280_pixels(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=frames&entry=f-1")
    assert page.evaluate("(() => { const one = document.querySelector('.hex'); return one.scrollWidth <= one.clientWidth; })()")


def test_the_time_field_is_in_sight_at_200_percent(open_page: Callable[..., Inspector]) -> None:
    page = open_page(640, 400).show("vehicle=car")
    box = page.locator(".goto input").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= 640 and box["y"] + box["height"] <= 400
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    assert page.evaluate("([x, y]) => document.elementFromPoint(x, y)?.name", middle) == "time"


def test_controls_of_direction_are_shown_and_do_not_act(inspector: Inspector, mock: Mock) -> None:
    usual = mock.drive.state
    mock.drive.state = lambda at: {**usual(at), "currentRoadName": ["Main \u202egpj.exe", "\u2067open"]}  # type: ignore[method-assign]
    page = inspector.show("vehicle=car&view=sides")
    assert "Main ⟨U+202E⟩gpj.exe" in inspector.text() and "⟨U+2067⟩open" in inspector.text()
    page = inspector.show("vehicle=car")
    assert "Main ⟨U+202E⟩gpj.exe" in page.inner_text(".card-foot")
    assert not any(letter in page.content() for letter in "\u202a\u202b\u202d\u202e")


def test_names_that_are_written_from_right_to_left_keep_their_isolates(inspector: Inspector, mock: Mock) -> None:
    usual = mock.drive.state
    mock.drive.state = lambda at: {**usual(at), "currentRoadName": ["\u2068שדרה\u2069 5"]}  # type: ignore[method-assign]
    page = inspector.show("vehicle=car")
    assert "\u2068שדרה\u2069 5" in page.inner_text(".card-foot")


def test_the_buttons_of_the_card_stay_where_they_are(inspector: Inspector, mock: Mock) -> None:
    places = set()
    for at in [2.0, 16.0, 22.0, 40.0, 75.0]:
        mock.at = at
        page = inspector.show(f"vehicle=car&at={at}")
        box = page.locator(".card-foot").bounding_box()
        assert box
        places.add(round(box["y"]))
    assert len(places) == 1, places


def test_a_popover_with_several_reasons_says_which_one_decides(inspector: Inspector, mock: Mock) -> None:
    usual = mock.vehicle

    def vehicle(at: float, query: dict[str, str]) -> dict[str, Any]:
        answer = usual(at, query)
        answer["published"].pop("currentLaneGuidance", None)
        answer["held"].pop("currentLaneGuidance", None)
        answer["why"] = [
            {
                "side": "held",
                "path": "laneGuidances",
                "reason": "slots",
                "limit": "laneGuidancesStored",
                "value": 1,
                "text": "one slot only",
            },
            {
                "side": "held",
                "path": "laneGuidances",
                "reason": "withheld",
                "feature": "laneGuidance",
                "text": "the endpoint did not ask for lanes",
            },
        ]
        return answer

    mock.overrides["vehicle"] = lambda query: vehicle(float(query.get("at", mock.at)), query)
    page = inspector.show("vehicle=car")
    page.get_by_role("button", name="Why: no lanes").click()
    reasons = page.locator("#why-box .reason").all_inner_texts()
    assert "this decides" in reasons[0] and "did not ask for lanes" in reasons[0]
    assert "this decides" not in reasons[1] and "Also" in page.inner_text("#why-box")
    assert "the endpoint did not ask for lanes" in page.inner_text(".card-lanes")
