"""Empty, loading, refused and disconnected views say what to do next."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Inspector
from mock_inspector import Mock, Refused

pytestmark = pytest.mark.mock


def test_without_a_session_the_page_says_how_to_get_one(open_page: Callable[..., Inspector]) -> None:
    inspector = open_page(signed_in=False, expects_errors=True)
    inspector.page.goto(inspector.origin)
    inspector.page.wait_for_selector("text=Open the link that waymark inspect printed")


def test_a_wrong_token_is_refused(open_page: Callable[..., Inspector]) -> None:
    inspector = open_page(signed_in=False, expects_errors=True)
    inspector.page.goto(f"{inspector.origin}/#token=wrong")
    inspector.page.wait_for_selector("text=the token is wrong")


def test_the_token_leaves_the_address_and_the_rest_of_a_link_stays(open_page: Callable[..., Inspector], mock: Mock) -> None:
    inspector = open_page(signed_in=False)
    inspector.page.goto(f"{mock.link}&vehicle=car&view=updates")
    inspector.page.wait_for_selector("text=Route Guidance Updates")
    assert "token" not in inspector.page.url and "view=updates" in inspector.page.url
    inspector.page.reload()
    inspector.settle()
    assert "MANEUVER STATE" in inspector.text().upper()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Refused(404, "notFound", "there is no vehicle bus", "id"), "id: there is no vehicle bus"),
        (Refused(409, "gone", "there is history from 60 s on"), "Go to the newest moment"),
        (Refused(429, "busy", "too many streams"), "Close other pages of the inspector"),
        (Refused(400, "invalid", "must be 1 to 500, not 9000", "limit"), "limit: must be 1 to 500, not 9000"),
    ],
)
def test_a_refusal_says_field_reason_and_the_next_step(open_page: Callable[..., Inspector], mock: Mock, answer: Refused, text: str) -> None:
    inspector = open_page(expects_errors=True)
    mock.overrides["vehicle"] = answer
    page = inspector.show("vehicle=bus")
    assert text in inspector.text()
    del mock.overrides["vehicle"]
    inspector.show("vehicle=car")
    assert page.locator(".card").count() == 1


def test_a_vehicle_without_guidance_says_why_and_what_to_do(inspector: Inspector) -> None:
    inspector.show("vehicle=van")
    assert "no client guides this vehicle" in inspector.text() and "waymark navigate --vehicle van" in inspector.text()
    assert "waymark cluster --id van" in inspector.text()


@pytest.mark.parametrize(
    ("name", "answer", "view", "text"),
    [
        (
            "overview",
            {
                "at": 1,
                "totals": {"vehicles": 0, "clients": 0, "sessions": 0, "requests": 0, "matching": 0},
                "vehicles": [],
                "clients": [],
                "sessions": [],
                "truncated": False,
            },
            "view=overview",
            "waymark cluster --id car",
        ),
        ("updates", {"at": 1, "rows": [], "truncated": False}, "vehicle=car&view=updates", "Rows appear here with its first message."),
        ("requests", {"at": 1, "requests": [], "truncated": False}, "vehicle=car&view=requests", "send one"),
        ("findings", {"at": 1, "findings": [], "truncated": False}, "vehicle=car&view=findings", "No finding."),
        ("entries", {"at": 1, "entries": [], "truncated": False}, "vehicle=car&view=log", "Show everything"),
        ("receipts", {"at": 1, "rows": [], "endpoints": []}, "vehicle=car&view=receipts", "Nothing was published yet."),
    ],
)
def test_an_empty_view_names_the_next_step(inspector: Inspector, mock: Mock, name: str, answer: object, view: str, text: str) -> None:
    mock.overrides[name] = answer
    inspector.show(view)
    inspector.page.reload()
    inspector.settle()
    assert text in inspector.text()


def test_a_gateway_that_is_away_is_told_and_the_last_state_stays(inspector: Inspector, mock: Mock) -> None:
    mock.connection = {"state": "closed", "since": "2026-11-23T17:00:16.000Z", "reason": "the gateway closed the connection"}
    page = inspector.show("vehicle=car")
    page.reload()
    inspector.settle()
    assert "gateway closed: shown is the state of 17:00:16.000" in page.inner_text("#top")
    assert page.locator(".card").count() == 1


def test_a_server_that_has_ended_is_told(open_page: Callable[..., Inspector], mock: Mock) -> None:
    inspector = open_page(expects_errors=True)
    page = inspector.show("vehicle=car")
    mock.close()
    page.get_by_role("link", name="Maneuvers", exact=True).click()
    page.wait_for_selector("text=Start waymark inspect again, and open the new link.")
    assert "page disconnected" in page.inner_text("#top")


def test_missed_entries_and_hidden_places_are_told(inspector: Inspector, mock: Mock) -> None:
    usual = mock.events
    told: set[int] = set()

    def events(views: list[str], query: dict[str, str]) -> list[tuple[str, Any]]:
        # Each stream has a thread, and is told once.
        gap = [] if threading.get_ident() in told else [("gap", {"missed": 12})]
        told.add(threading.get_ident())
        return [*usual(views, query), *gap]

    sources = mock.sources
    mock.overrides["sources"] = lambda _: {
        **sources(),
        "redact": True,
        "sources": [{**sources()["sources"][0], "gateway": {"instance": "x", "showsContent": False}}],
    }
    page = inspector.show("vehicle=car")
    page.reload()
    inspector.settle()
    mock.events = events  # type: ignore[method-assign]
    inspector.until("document.querySelector('#main').textContent.includes('12 entries were missed')")
    assert "--redact places" in page.inner_text("#main") and "places hidden" in page.inner_text("#top")
