"""Every view shows what it is for."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from conftest import VEHICLE, Inspector
from mock_inspector import Mock

VIEWS = {
    "guidance": ("Guidance", ["Endpoints of this vehicle", "What happened last"]),
    "sides": ("As published, as held", ["AS PUBLISHED", "DIFFERENCE"]),
    "updates": ("Route Guidance Updates", ["MANEUVER STATE", "CURRENT ROAD", "FITTED FOR"]),
    "maneuvers": ("Maneuvers", ["ELEMENT ANGLES", "LINKED LANES", "ADDED BY"]),
    "lanes": ("Lane Guidances", ["LANES, LEFT TO RIGHT", "LINKED FROM"]),
    "destination": ("Destination Information", ["Stops of the trip"]),
    "route": ("Route", ["POINTS PUBLISHED", "POINTS HELD", "Export KML"]),
    "requests": ("Requests", []),
    "receipts": ("Receipts", ["RECEIVED UP TO", "SHOWN UP TO", "SHOWN IN", "14.3 ms, last 16.2 ms"]),
    "findings": ("Findings", []),
    "log": ("Log", ["WHAT HAPPENED"]),
    "frames": ("Frames", ["FROM / TO"]),
    "actions": ("Actions", ["Ask for a stop or a drive", "What was done"]),
    "cluster": ("Cluster", ["300 × 200", "640 × 480", "1920 × 720", "What this configuration cuts"]),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_shows_its_parts(inspector: Inspector, view: str) -> None:
    title, parts = VIEWS[view]
    page = inspector.show(f"vehicle={VEHICLE}&view={view}")
    assert page.inner_text(".view-title") == title
    text = inspector.text().lower()
    for part in parts:
        assert part.lower() in text


def test_an_overview_says_that_it_shows_only_some_clients_and_sessions(inspector: Inspector, mock: Mock) -> None:
    mock.overrides["overview"] = lambda query: {**mock.overview(query), "othersTruncated": True}
    inspector.show("sort=age")
    inspector.page.wait_for_selector("text=There are more clients and sessions than shown.")


def test_the_overview_names_vehicles_clients_and_sessions(inspector: Inspector) -> None:
    inspector.settle()
    text = inspector.text()
    assert "Navigation clients" in text and "Sessions" in text and "Deliveries/s" in text
    assert inspector.page.locator("table").first.locator("tbody th a", has_text=VEHICLE).count() == 1


@pytest.mark.mock
def test_the_filter_of_the_overview_runs_at_the_server(inspector: Inspector, mock: Mock) -> None:
    page = inspector.page
    page.get_by_role("searchbox", name="Search").fill("van")
    page.keyboard.press("Enter")
    inspector.until("!document.querySelector('tbody').textContent.includes('demo-nav')")
    page.get_by_role("button", name="slow").click()
    page.wait_for_selector("text=No vehicle matches.")
    assert any("search=van" in path and "only=slow" in path for _, path, _ in mock.requests if path.startswith("/api/overview"))
    views = [unquote(path) for _, path, _ in mock.requests if path.startswith("/events")]
    assert any("search=van" in path and "only=slow" in path for path in views)


@pytest.mark.mock
def test_the_card_shows_glyph_distance_road_and_lanes(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car")
    card = page.locator(".card")
    assert card.locator(".card-glyph svg").get_attribute("aria-label") == "right turn, 84 degrees"
    assert "80 m" in card.inner_text() and "true 81 m" in card.inner_text() and "Kurfürsten-Anlage" in card.inner_text()
    assert "lane 4 of 4, preferred, take it 90 degrees to the right" in (card.locator("svg.lanes").get_attribute("aria-label") or "")
    page.get_by_text(re.compile("Show more")).click()
    assert page.locator(".sequence li").count() == 11


@pytest.mark.mock
def test_why_there_are_no_lanes_is_two_clicks_away(inspector: Inspector) -> None:
    page = inspector.page
    page.get_by_role("link", name="hud").click()
    page.get_by_role("button", name="Why: no lanes").click()
    box = page.locator("#why-box").inner_text()
    assert (
        "withheld by the gateway" in box
        and "laneGuidance" in box
        and "not requested" in box
        and "Let its Hello ask for laneGuidance." in box
    )
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Why: no lanes"


@pytest.mark.mock
def test_why_a_request_was_declined_is_two_clicks_away(inspector: Inspector) -> None:
    page = inspector.page
    page.get_by_role("link", name="car", exact=True).click()
    page.get_by_role("link", name="Requests").click()
    page.wait_for_selector("text=The vehicle's user declined the prompt, 8.1 s before its deadline.")
    assert page.locator(".steps .decisive").first.inner_text().endswith("+13.100 s car/cluster: no ▲ this decided it")
    assert "deadline 30.0 s" in page.inner_html("#view")


@pytest.mark.mock
def test_each_reason_has_a_name_and_says_what_to_do(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=sides")
    row = page.locator("tr[data-key=segments]")
    assert "differs" in row.inner_text()
    row.get_by_role("button", name=re.compile("^Why")).click()
    assert "no consent" in page.inner_text("#why-box") and "share-route" in page.inner_text("#why-box")
    page.keyboard.press("Escape")
    page.locator("tr[data-key='maneuvers/9']").get_by_role("button").last.click()
    assert "out of the endpoint's slots" in page.inner_text("#why-box") and "limit maneuversStored = 4" in page.inner_text("#why-box")


@pytest.mark.mock
def test_changed_cells_are_marked_by_more_than_colour(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=updates")
    assert page.locator("tr[data-key=e-1290] mark").first.inner_text().replace("\n", " ").startswith("●")
    assert "changed: " in (page.locator("tr[data-key=e-1290] mark").first.text_content() or "")


@pytest.mark.mock
def test_rows_of_updates_are_searched_at_the_server(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=updates")
    page.get_by_role("searchbox", name="Search").fill("nothing has this")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No update matches.")
    assert any("search=nothing+has+this" in path for _, path, _ in mock.requests)


@pytest.mark.mock
def test_a_change_at_the_server_is_shown_without_a_reload(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car")
    assert "80 m" in page.inner_text(".card")
    mock.at = 20.0
    inspector.until("document.querySelector('.card').textContent.includes('10 m')")
    inspector.until("document.querySelector('.card .nearness .now').textContent === 'execute'")


@pytest.mark.mock
def test_tables_follow_the_vehicle(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=maneuvers")
    assert "current" in page.inner_text("tr[data-key='4']")
    mock.at = 30.0
    inspector.until("document.querySelector(\"tr[data-key='5']\").textContent.includes('current')")


@pytest.mark.mock
def test_text_of_a_peer_is_only_text(open_page: Callable[..., Inspector], mock: Mock) -> None:
    hostile = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    for maneuver in mock.drive.route["maneuvers"]:
        maneuver["instructionVariants"] = [hostile]
        maneuver["roadFollowingManeuverVariants"] = [hostile]
    mock.drive.segment["destination"]["nameVariants"] = [hostile]
    inspector = open_page()
    for view in ["guidance", "sides", "maneuvers", "route", "cluster", "updates"]:
        page = inspector.show(f"vehicle=car&view={view}")
        assert page.locator("img[src=x]").count() == 0
        assert page.locator("#main script").count() == 0
        assert "owned" not in page.title()
    inspector.show("vehicle=car&view=maneuvers")
    assert hostile in inspector.text()


@pytest.mark.mock
@pytest.mark.parametrize("format", ["geojson", "gpx", "kml"])
def test_the_route_is_exported(inspector: Inspector, format: str) -> None:
    page = inspector.show("vehicle=car&view=route")
    names = {"geojson": "GeoJSON", "gpx": "GPX", "kml": "KML"}
    with page.expect_download() as download:
        page.get_by_role("link", name=f"Export {names[format]}").click()
    assert download.value.suggested_filename == f"car-2.{format}"


@pytest.mark.mock
def test_a_map_is_panned_zoomed_and_follows(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car")
    scale = "document.querySelector('wm-map').scale"
    before = page.evaluate(scale)
    page.locator("wm-map canvas").focus()
    page.keyboard.press("+")
    assert page.evaluate(scale) > before
    page.keyboard.press("f")
    assert page.get_by_role("button", name="Follow the position").get_attribute("aria-pressed") == "true"
    page.keyboard.press("0")
    assert page.evaluate(scale) == pytest.approx(before)
    center = page.evaluate("document.querySelector('wm-map').center")
    box = page.locator("wm-map canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 100, box["y"] + 150)
    page.mouse.up()
    assert page.evaluate("document.querySelector('wm-map').center")[0] > center[0]
    assert "position derived from the estimates" in (page.locator("wm-map canvas").get_attribute("aria-label") or "")


def test_rows_on_the_screen_are_saved(inspector: Inspector, mock: Mock) -> None:
    usual = mock.entries
    mock.overrides["entries"] = lambda query: {
        **usual(mock.at, query),
        "entries": [{**row, "text": '=1+"2"'} for row in usual(mock.at, query)["entries"]],
    }
    page = inspector.show("vehicle=car&view=frames")
    rows = page.locator("tbody tr").count()
    with page.expect_download() as told:
        page.get_by_role("button", name="Save Frames as CSV").click()
    assert told.value.suggested_filename == "Frames.csv"
    with Path(told.value.path()).open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    assert lines[0][:2] == ["Time", "Message"] and len(lines) == rows + 1
    assert lines[1][lines[0].index("What it says")] == '\'=1+"2"'
    with page.expect_download() as told:
        page.get_by_role("button", name="Save Frames as JSON Lines").click()
    told_rows = [json.loads(line) for line in Path(told.value.path()).read_text(encoding="utf-8").splitlines()]
    assert len(told_rows) == rows and all("entry" in row for row in told_rows)
