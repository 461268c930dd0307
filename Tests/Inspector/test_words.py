"""What the page says: about what is hidden, about a gateway that is not there, and about times."""

from collections.abc import Callable
from typing import Any

import pytest

from conftest import Inspector
from mock_drive import fixture, instant
from mock_inspector import Mock

pytestmark = pytest.mark.mock


def change_live(mock: Mock, **changes: Any) -> None:
    """Changes what the server says of the gateway."""
    sources = mock.sources

    def changed(_: Any = None) -> Any:
        answer = sources()
        answer["sources"][0].update(changes)
        answer["sources"] = answer["sources"][: 1 if changes.get("alone") else None]
        return answer

    mock.overrides["sources"] = changed


def hide(mock: Mock) -> None:
    """The gateway hides texts and places from observers."""
    change_live(mock, gateway={"instance": "bench-1", "software": "waymarkd 0.1.0", "start": instant(-99), "showsContent": False})
    usual = mock.drive.state

    def state(at: float) -> dict[str, Any]:
        shown = {**usual(at), "segments": [], "currentRoadName": []}
        shown["trip"] = {**shown["trip"], "waypoints": []}
        for place in ["origin", "destination"]:
            shown["trip"][place] = {"center": [0, 0], "nameVariants": []}
        return shown

    mock.drive.state = state  # type: ignore[method-assign]
    mock.overrides["route"] = lambda query: {"segments": [], "maneuvers": [], "places": []}


def test_hidden_texts_are_called_hidden(inspector: Inspector, mock: Mock) -> None:
    hide(mock)
    inspector.page.reload()
    page = inspector.show("vehicle=car")
    assert "an unnamed road" not in inspector.text() and "road name hidden" in page.inner_text(".card-foot")
    assert "There is no route to draw" not in inspector.text() and "The route is hidden from this observer." in inspector.text()
    assert "Places and texts are hidden here." in page.inner_text("#main")


def test_a_road_without_a_name_is_not_called_hidden(inspector: Inspector, mock: Mock) -> None:
    usual = mock.drive.state
    mock.drive.state = lambda at: {**usual(at), "currentRoadName": []}  # type: ignore[method-assign]
    assert "an unnamed road" in inspector.show("vehicle=car").inner_text(".card-foot")


def test_without_a_gateway_the_page_says_that_nothing_is_known(inspector: Inspector, mock: Mock) -> None:
    mock.connection = {"state": "closed", "since": instant(3), "reason": "cannot connect"}
    change_live(mock, gateway={"showsContent": False}, connection=mock.connection)
    mock.overrides["overview"] = {
        **fixture("overview"),
        "vehicles": [],
        "clients": [],
        "sessions": [],
        "totals": {"vehicles": 0, "clients": 0, "sessions": 0, "requests": 0, "matching": 0},
    }
    inspector.page.reload()
    page = inspector.show("view=overview")
    assert "no gateway yet" in page.inner_text("#top") and "shown is the state of" not in page.inner_text("#top")
    main = page.inner_text("#main")
    assert "No gateway answers at unix:/run/waymark/observe.sock" in main
    assert "hidden" not in main and "known to this gateway" not in main
    assert "now" not in page.inner_text("output.time")


def test_a_wrong_token_is_not_called_live(open_page: Callable[..., Inspector]) -> None:
    inspector = open_page(signed_in=False, expects_errors=True)
    inspector.page.goto(f"{inspector.origin}/#token=wrong")
    inspector.page.wait_for_selector("text=the token is wrong")
    assert "not signed in" in inspector.page.inner_text("#top") and "live" not in inspector.page.inner_text("#top")


def test_a_link_to_a_moment_carries_a_time_that_another_recording_understands(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&at=30.25")
    target = page.get_by_role("link", name="Link to this moment").get_attribute("href") or ""
    assert "time=2026-11-23T17%3A00%3A30.250" in target and "at=" not in target
    # Another inspector has a recording that began at 09:15, and knows no such live source.
    page = inspector.show("vehicle=car&view=updates&source=r9&time=2026-11-23T09:16:03.5Z")
    inspector.until("location.hash.includes('at=63.5') && location.hash.includes('source=r1')")
    assert "time=" not in page.url


def test_a_time_that_no_source_contains_is_told(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&time=2031-01-01T00:00:00Z")
    assert "No source here has the time of this link" in page.inner_text("#main")


def test_the_curve_of_the_time_line_is_that_of_now(inspector: Inspector, mock: Mock) -> None:
    usual = mock.moments
    mock.overrides["moments"] = lambda query: {**usual(), "from": 0, "to": max(mock.at, 120.0), "density": [10] * 199 + [int(mock.at)]}
    inspector.page.reload()
    page = inspector.show("view=overview")
    # The lowest one is at the bottom.
    inspector.until("document.querySelector('.marks .curve')?.getAttribute('d').startsWith('M0.0 21')")
    mock.at = 90.0
    inspector.until("document.querySelector('.marks .curve')?.getAttribute('d').startsWith('M0.0 28')")
    page.get_by_text("Moments", exact=True).click()
    assert "Below the marks: bytes that crossed." in page.inner_text("#timeline")


def test_moments_say_their_verdict(inspector: Inspector, mock: Mock) -> None:
    usual = mock.moments
    step = {"at": 50.0, "lane": "verdict", "verdict": "failed", "text": "step 3: lanes are shown", "vehicles": ["car"]}
    mock.overrides["moments"] = lambda query: {**usual(), "moments": [step]}
    inspector.page.reload()
    page = inspector.show("vehicle=car&at=60")
    page.get_by_text("Moments", exact=True).click()
    page.wait_for_selector("li:has-text('verdict: failed: step 3: lanes are shown')")


def test_the_log_has_no_numbers_in_place_of_names_of_codes(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=log")
    column = page.locator("thead th").all_inner_texts().index("Code")
    assert set(page.locator(f"tbody tr > :nth-child({column + 1})").all_inner_texts()) == {"—"}


def test_one_of_something_is_not_in_the_plural(inspector: Inspector, mock: Mock) -> None:
    route = fixture("route")
    mock.overrides["route"] = {**route, "segments": route["segments"][:1], "maneuvers": [], "places": []}
    page = inspector.show("vehicle=car")
    assert "1 route segment, " in (page.locator("wm-map canvas").get_attribute("aria-label") or "")
    usual = mock.events
    # A stream is told once what stays the same. One that the page has left, but that has not noticed it yet, is told it in vain.
    mock.events = lambda views, query: [*usual(views, query), ("gap", {"missed": 1})]  # type: ignore[method-assign]
    inspector.until("document.querySelector('#main').textContent.includes('1 entry was missed')")


def test_times_of_receipts_and_of_steps_are_times_of_day(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=receipts")
    cell = page.locator("table").nth(1).locator("tbody tr").first.locator("td").nth(1)
    assert cell.inner_text().count(":") == 2 and not cell.inner_text().endswith("s")
    page = inspector.show("vehicle=car&view=requests")
    first, last = page.locator(".steps li").first, page.locator("section").first.locator(".steps li").last
    assert "17:02:00.000" in first.inner_text() and "17:02:13.100" in last.inner_text() and "+13.100 s" in last.inner_text()


def test_the_overview_says_that_a_request_was_declined(inspector: Inspector, mock: Mock) -> None:
    ended = {"kind": "event", "event": "requestEnded", "vehicles": ["car"], "requestID": "q1", "entry": "v-8", "at": 43.0, "number": 8}
    older = {**ended, "codeName": "accepted", "entry": "v-7", "at": 12.0}
    rows = [{**ended, "codeName": "declinedByUser"}, older]
    mock.overrides["entries"] = {"source": "live", "at": 50.0, "scanned": 2, "entries": rows, "truncated": False, "from": 0}
    page = inspector.show("view=overview")
    page.reload()
    inspector.settle()
    row = page.locator("tbody tr").first
    assert "declined by user" in row.inner_text()
    assert "view=requests" in (row.get_by_role("link", name="declined by user").get_attribute("href") or "")


def test_two_drives_that_are_over_are_compared_while_they_were_guided(inspector: Inspector, mock: Mock) -> None:
    ended = {"phase": "ended", "endReason": "arrived"}

    def side(query: dict[str, str], key: str, source: str) -> dict[str, Any]:
        at = float(query.get(key, query.get("at", 200.0)))
        return {"source": source, "at": at, "state": mock.drive.state(at) if at < 43 else ended}

    mock.overrides["compare"] = lambda query: {"a": side(query, "at", query["a"]), "b": side(query, "atB", query["b"]), "differences": []}
    end = {"lane": "session", "event": "sessionEnded", "text": "session 7 ended", "vehicles": ["car"]}
    mock.overrides["moments"] = lambda query: {**mock.moments(), "moments": [{"at": 43.0 if query["source"] == "r1" else 41.0, **end}]}
    page = inspector.show("view=compare&a=r1&b=r2&vehicle=car")
    assert page.locator(".card-distance").count() == 2
    assert "while it was guided" in page.inner_text("#view")
