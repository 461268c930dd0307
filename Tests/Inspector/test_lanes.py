"""Lanes over time, in the time line."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from test_sight import WCAG_22_AA

from conftest import Inspector
from mock_inspector import Mock

pytestmark = pytest.mark.mock


def opened(inspector: Inspector) -> Page:
    page = inspector.show("source=r1&vehicle=car&at=60")
    page.get_by_text("Lanes over time").click()
    page.wait_for_selector(".lane-svg")
    return page


def asked(mock: Mock) -> list[str]:
    return [path for _, path, _ in mock.requests if path.startswith("/api/lanes")]


def test_lanes_show_the_values_of_the_moment_part_by_part(inspector: Inspector, mock: Mock) -> None:
    page = opened(inspector)
    text = page.inner_text(".over-time")
    assert "maneuver" in text.lower() and re.search(r"\d m\b", text) and re.search(r"\d ms", text)
    assert page.locator(".time-lane").count() == 9
    assert page.locator(".lane-svg polyline").count() == 3
    assert any("after=1-1-0" in path for path in asked(mock))
    assert all("columns=400" in path for path in asked(mock))


def test_an_open_request_and_the_last_event_of_a_connection_are_bands(inspector: Inspector, mock: Mock) -> None:
    moments = mock.moments()
    for moment in moments["moments"]:
        if moment["lane"] == "request":
            moment.update(requestID="q1", event="requestEnded" if "ended" in moment["text"] else "stopRequested")
    mock.overrides["moments"] = moments
    page = opened(inspector)
    assert "asks for a stop" not in page.inner_text(".over-time")
    assert "car/cluster  connected" in page.locator(".over-time").text_content()
    inspector.show("source=r1&vehicle=car&at=40")
    inspector.until("document.querySelector('.over-time').textContent.includes('asks for a stop (q1)')")


def test_lanes_are_zoomed_and_moved_by_buttons(inspector: Inspector, mock: Mock) -> None:
    page = opened(inspector)
    page.get_by_role("button", name="Shorter time").focus()
    page.keyboard.press("Enter")
    inspector.until("document.querySelector('.over-time .soft').textContent.includes('09:15:10')")
    page.get_by_role("button", name="Later", exact=True).click()
    inspector.until("document.querySelector('.over-time .soft').textContent.includes('09:16:00')")
    assert any("from=60.000000&to=160.000000" in path for path in asked(mock))
    page.get_by_role("button", name="Show all of the time").click()
    inspector.until("document.querySelector('.over-time .soft').textContent.includes('09:18:20')")


def test_a_lane_is_hidden_by_its_name(inspector: Inspector) -> None:
    page = opened(inspector)
    name = page.get_by_role("button", name=re.compile("^Distance left", re.IGNORECASE))
    name.click()
    assert name.get_attribute("aria-pressed") == "false"
    assert page.locator(".lane-svg polyline").count() == 2


def test_a_press_on_a_lane_goes_to_its_moment(inspector: Inspector) -> None:
    page = opened(inspector)
    box = page.locator(".lane-picture").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    inspector.until("/at=(99|100)/.test(location.hash)")


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_axe_finds_nothing_in_lanes(open_page: Callable[..., Inspector], width: int) -> None:
    page = opened(open_page(width, 800))
    answer = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG_22_AA}}).response
    assert [f"{one['id']}: {node['html'][:140]}" for one in answer["violations"] for node in one["nodes"]] == []
