"""Lanes over time, in the time line."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from test_sight import WCAG_22_AA

from conftest import Inspector
from mock_inspector import Mock, Refused

pytestmark = pytest.mark.mock


def opened(inspector: Inspector, fragment: str = "source=r1&vehicle=car&at=60") -> Page:
    page = inspector.show(fragment)
    page.get_by_text("Lanes over time", exact=True).click()
    page.wait_for_selector(".lane-svg")
    inspector.until("document.querySelectorAll('.time-lane').length > 12")
    return page


def asked(mock: Mock) -> list[dict[str, str]]:
    paths = [path for _, path, _ in mock.requests if path.startswith("/api/lanes")]
    return [{name: values[0] for name, values in parse_qs(urlsplit(path).query).items()} for path in paths]


def lane(page: Page, name: str) -> str:
    row = page.locator(".time-lane").filter(has=page.get_by_role("button", name=name, exact=True))
    return row.locator(".lane-value").inner_text()


def test_lanes_show_the_values_of_the_moment_of_all_endpoints(inspector: Inspector, mock: Mock) -> None:
    page = opened(inspector)
    names = [name.lower() for name in page.locator(".lane-title .lane-name").all_inner_texts()]
    assert names == [
        "moment 09:16:00.000",
        "marks",
        *["maneuver", "state", "lanes", "request", "navigation client", "connection · cluster", "connection · hud"],
        *["distance left", "time left", "publications"],
        *["shown after · cluster", "shown after · hud", "waiting bytes · hud"],
    ]
    assert lane(page, "maneuver").startswith("maneuver ")
    assert re.match(r"[\d.]+ km / [\d.]+ km", lane(page, "distance left"))
    assert lane(page, "connection · hud") == "connected"
    assert "ms" in lane(page, "shown after · hud")
    inspector.show("source=r1&vehicle=car&at=85")
    inspector.until("[...document.querySelectorAll('.lane-value')].some(one => one.textContent === 'away')")
    assert lane(page, "request") == "–"
    inspector.show("source=r1&vehicle=car&at=40")
    inspector.until("[...document.querySelectorAll('.lane-value')].some(one => one.textContent === 'stop q1')")


def test_a_history_is_asked_for_part_by_part_in_columns(inspector: Inspector, mock: Mock) -> None:
    opened(inspector)
    first, second = asked(mock)
    assert (first["from"], first["to"], first["columns"]) == ("0.000000", "200.000000", "400")
    assert "after" not in first
    assert second["after"] == "100000000000-1-0"


def test_a_live_page_asks_only_for_what_is_new(inspector: Inspector, mock: Mock) -> None:
    opened(inspector, "vehicle=car")
    inspector.page.wait_for_timeout(300)
    known = len(asked(mock))
    mock.at += 20
    inspector.until("performance.getEntriesByType('resource').filter(one => one.name.includes('/api/lanes')).length >= " + str(known + 1))
    news = asked(mock)[known:]
    assert all("after" in question for question in news)
    assert float(news[0]["from"]) == mock.at - 20


def test_what_is_no_longer_kept_is_asked_for_anew(open_page: Callable[..., Inspector], mock: Mock) -> None:
    inspector = open_page(expects_errors=True)
    opened(inspector, "vehicle=car")
    usual = mock.lanes

    def lanes(query: dict[str, str]) -> object:
        if "after" in query and not query["after"].startswith(str(int(mock.at / 2))):
            mock.overrides.pop("lanes")
            raise Refused(409, "gone", "is no longer kept", "after")
        return usual(query)

    mock.overrides["lanes"] = lanes
    known = len(asked(mock))
    mock.at += 10
    inspector.until("performance.getEntriesByType('resource').filter(one => one.name.includes('/api/lanes')).length >= " + str(known + 2))
    assert any("after" not in question for question in asked(mock)[known:])


def shown(inspector: Inspector, text: str) -> None:
    inspector.until(f"document.querySelector('.shown-time').textContent.includes('{text}')")


def test_lanes_are_zoomed_and_moved_by_buttons(inspector: Inspector, mock: Mock) -> None:
    page = opened(inspector)
    page.get_by_role("button", name="Shorter time").focus()
    page.keyboard.press("Enter")
    shown(inspector, "09:15:30.000 – 09:17:10.000")
    page.get_by_role("button", name="Later", exact=True).click()
    shown(inspector, "09:16:20.000 – 09:18:00.000")
    inspector.until("document.querySelectorAll('.zoomed').length === 1")
    # Lanes that are known of the time are kept.
    inspector.until("performance.getEntriesByType('resource').filter(one => one.name.includes('/api/lanes')).length === 5")
    assert [question["from"] for question in asked(mock)] == ["0.000000", "0.000000", "30.000000", "30.000000", "130.000000"]
    page.get_by_role("button", name="Show all of the time").click()
    shown(inspector, "09:15:00.000 – 09:18:20.000")


def test_lanes_are_read_by_keys(inspector: Inspector) -> None:
    page = opened(inspector)
    page.get_by_role("group", name="Lanes over time").focus()
    page.keyboard.press("ArrowRight")
    inspector.until("location.hash.includes('at=62')")
    page.keyboard.press("PageDown")
    inspector.until("location.hash.includes('at=70')")
    page.keyboard.press("PageUp")
    inspector.until("location.hash.includes('at=44')")
    page.keyboard.press("+")
    shown(inspector, "09:15:22.000 – 09:17:02.000")
    page.keyboard.press("Shift+ArrowRight")
    shown(inspector, "09:15:47.000 – 09:17:27.000")
    page.keyboard.press("Home")
    inspector.until("location.hash.includes('at=47')")
    page.keyboard.press("0")
    shown(inspector, "09:15:00.000 – 09:18:20.000")
    assert page.evaluate("document.activeElement.className") == "lane-list"


def test_a_drag_moves_the_time_and_a_press_goes_there(inspector: Inspector) -> None:
    page = opened(inspector)
    box = page.locator(".lane-picture").nth(3).bounding_box()
    assert box
    left, middle, y = box["x"], box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(middle, y)
    inspector.until("/at=(99|100)/.test(location.hash)")
    page.mouse.move(middle, y)
    assert "pointer 09:16:40" in (page.locator(".lane-title").first.text_content() or "")
    page.get_by_role("button", name="Shorter time").click()
    before = page.inner_text(".shown-time")
    page.mouse.move(middle, y)
    page.mouse.down()
    page.mouse.move(left - 20, y, steps=4)
    page.mouse.up()
    assert page.inner_text(".shown-time") != before
    assert "09:18:20.000" in page.inner_text(".shown-time")
    inspector.until("/at=(99|100)/.test(location.hash)")


def test_lanes_and_marks_are_hidden_and_shown_by_their_names(inspector: Inspector) -> None:
    page = opened(inspector)
    rows = page.locator(".time-lane").count()
    page.get_by_role("button", name="distance left", exact=True).click()
    assert page.locator(".time-lane").count() == rows - 1
    hidden = page.locator(".legend").get_by_role("button", name="distance left", exact=True)
    assert hidden.get_attribute("aria-pressed") == "false"
    hidden.click()
    assert page.locator(".time-lane").count() == rows
    assert "12 entries are missing" in (page.locator(".over-time").text_content() or "")
    page.locator(".legend").get_by_role("button", name="gap", exact=True).click()
    assert "12 entries are missing" not in (page.locator(".over-time").text_content() or "")


def test_the_end_of_a_view_is_above_open_lanes(inspector: Inspector) -> None:
    page = opened(inspector)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    below = page.evaluate(
        "document.querySelector('#timeline').getBoundingClientRect().top - document.querySelector('#view').getBoundingClientRect().bottom"
    )
    assert below >= 0


@pytest.mark.parametrize(
    ("width", "height", "more"),
    [
        (1280, 800, {}),
        (800, 800, {"theme": "dark"}),
        (640, 400, {}),  # 1280 pixels at 200 %.
        (320, 640, {}),
        (1280, 800, {"forced_colors": "active"}),
    ],
)
def test_axe_finds_nothing_in_lanes(open_page: Callable[..., Inspector], width: int, height: int, more: dict[str, str]) -> None:
    page = opened(open_page(width, height, **more))
    # The system's colours are not those of the styles that axe computes with.
    rules = {"color-contrast": {"enabled": "forced_colors" not in more}}
    answer = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG_22_AA}, "rules": rules}).response
    assert [f"{one['id']}: {node['html'][:140]}" for one in answer["violations"] for node in one["nodes"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('#timeline').getBoundingClientRect().top") >= 0
