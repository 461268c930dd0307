"""Recordings, past moments, frames, links."""

import re

import pytest
from playwright.sync_api import expect

from conftest import Inspector
from mock_inspector import Mock

pytestmark = pytest.mark.mock


def test_a_link_opens_a_moment_of_a_recording(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("source=r1&vehicle=car&at=63.25")
    assert "recording" in page.inner_text("#top")
    assert "+1:03.2" in page.inner_text(".time")
    assert any(path.startswith("/api/vehicle?") and "source=r1" in path and "at=63.25" in path for _, path, _ in mock.requests)
    streams = [path for _, path, _ in mock.requests if path.startswith("/events")]
    assert not any("vehicle" in path for path in streams)


def test_what_the_cluster_held_at_a_time_of_day_is_asked_by_typing_it(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car")
    page.get_by_label("Go to a time").fill("17:00:40")
    page.keyboard.press("Enter")
    inspector.until("location.hash.includes('at=40')")
    inspector.settle()
    assert "past moment" in page.inner_text("#top")
    page.get_by_role("button", name="Go to now").click()
    inspector.until("!location.hash.includes('at=')")


def test_a_time_without_history_is_refused_with_the_times_that_have_it(inspector: Inspector) -> None:
    page = inspector.show("source=r1&vehicle=car")
    page.get_by_label("Go to a time").fill("59:59")
    page.keyboard.press("Enter")
    assert "Time: there is history from 09:15:00.000 to 09:18:20.000" in page.inner_text("#timeline")
    page.get_by_label("Go to a time").fill("noon")
    page.keyboard.press("Enter")
    assert "Time: must be" in page.inner_text("#timeline")


def test_frames_are_stepped_one_by_one(inspector: Inspector) -> None:
    page = inspector.show("source=r1&vehicle=car&at=3.5")
    page.get_by_role("button", name="Next frame").click()
    inspector.until("location.hash.includes('at=4') && !location.hash.includes('at=4.')")
    page.get_by_role("button", name="Next frame").click()
    inspector.until("location.hash.endsWith('at=5') || location.hash.includes('at=5&')")
    page.get_by_role("button", name="Frame before").click()
    inspector.until("location.hash.endsWith('at=4') || location.hash.includes('at=4&')")


def test_a_recording_plays_and_stops_at_its_end(inspector: Inspector) -> None:
    page = inspector.show("source=r1&vehicle=car&at=190")
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    inspector.until("location.hash.includes('at=200')")
    page.get_by_role("button", name="Play").wait_for()


def test_a_live_page_stands_still_and_goes_on(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car")
    page.get_by_role("button", name="Pause").click()
    inspector.until("location.hash.includes('at=')")
    inspector.settle()
    assert "past moment" in page.inner_text("#top")
    page.get_by_role("button", name="Play").wait_for()
    page.get_by_role("button", name="Go to now").click()
    inspector.until("!location.hash.includes('at=')")
    page.get_by_role("button", name="Pause").wait_for()


def test_the_slider_moves_by_keys(inspector: Inspector) -> None:
    page = inspector.show("source=r1&vehicle=car&at=60")
    page.get_by_role("slider", name="Moment").focus()
    page.keyboard.press("ArrowRight")
    inspector.until("location.hash.includes('at=61')")
    page.keyboard.press("PageDown")
    inspector.until("location.hash.includes('at=31')")
    page.keyboard.press("Shift+ArrowLeft")
    inspector.until("location.hash.includes('at=30.9')")


def test_moments_are_a_list_too(inspector: Inspector) -> None:
    page = inspector.show("source=r1&vehicle=car&at=60")
    page.get_by_text("Moments", exact=True).click()
    assert "rerouted" in page.inner_text(".moments") and "12 entries are missing" in page.inner_text(".moments")
    page.locator(".moments a").nth(3).click()
    inspector.until("location.hash.includes('at=30')")


def test_a_run_in_virtual_time_has_no_time_of_day(inspector: Inspector) -> None:
    page = inspector.show("source=r2&vehicle=car&at=60&view=updates")
    assert page.inner_text(".time").startswith("1:00.0")
    assert page.locator(".moment").first.inner_text() == "60.000 s"


def test_two_recordings_are_compared(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("view=compare&a=r1&b=r2&at=63.25&atB=61")
    text = inspector.text()
    assert "1 difference" in text and "currentRoadName" in text and "Schwefelstrasse" in text
    assert any(path.startswith("/api/compare") and "a=r1&b=r2" in path and "at=63.25&atB=61" in path for _, path, _ in mock.requests)
    assert page.locator(".card").count() == 2


def test_a_field_selects_its_bytes_and_bytes_their_field(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=frames&entry=f-1")
    page.get_by_role("button", name="distance_metres").click()
    expect(page.locator(".hex-bytes .byte-value")).to_have_text(["e6", "00", "00", "00"])
    assert "distance_metres = 230: bytes 28 to 32, its value from 29." in inspector.text()
    assert "node=1.1.0" in page.url
    # What is chosen is drawn a moment later.
    chosen = page.locator(".node.chosen")
    page.locator(".hex-bytes [data-byte='25']").click()
    expect(chosen).to_have_text(re.compile("^maneuver_id"))
    page.locator(".hex").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(chosen).to_have_text(re.compile("^distance_metres"))
    page.keyboard.press("ArrowUp")
    expect(chosen).to_have_text(re.compile("^header"))


def test_frames_are_filtered_at_the_server(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=frames")
    page.locator("select[name=rejected]").select_option("1")
    inspector.until("document.querySelectorAll('tbody tr').length === 1")
    page.locator("select[name=way]").select_option("to")
    page.get_by_role("combobox", name="Message").fill("hello")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No frame matches.")
    assert any(all(part in path for part in ["rejected=1", "way=to", "message=hello", "kind=frame"]) for _, path, _ in mock.requests)


def test_typing_a_time_leaves_the_page_where_it_is(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car")
    page.set_viewport_size({"width": 1280, "height": 600})
    assert page.evaluate("document.body.scrollHeight") > 700
    field = page.get_by_label("Go to a time")
    field.click()
    page.keyboard.type("09:16")
    assert page.evaluate("scrollY") == 0
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    below = page.evaluate(
        "document.querySelector('#timeline').getBoundingClientRect().top - document.querySelector('#view').getBoundingClientRect().bottom"
    )
    assert below >= 0, "the end of the view is behind the time line"
