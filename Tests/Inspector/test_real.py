"""Rows of the parity table in Docs/inspector.md, against the real programs. What the page loads is what lies beside them."""

import gzip
import json
import re
import urllib.request
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import real
from conftest import Inspector
from mock_inspector import PAGE
from test_files import CROSSING_BYTES_MAX
from test_views import VIEWS

pytestmark = pytest.mark.skipif(
    not (real.PROGRAMS / "waymark").exists(), reason=f"no programs in {real.PROGRAMS}: build them, or set WAYMARK_BIN"
)
STOP = "{:.6f}, {:.6f}".format(*real.ends("vaduz-balzers-charging.json")[1])
MANEUVER = "\\d+ (m|km)"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real.World]:
    world = real.World(tmp_path_factory.mktemp("real"))
    yield world
    world.close()


@pytest.fixture(scope="module")
def recordings(world: real.World) -> str:
    """The link of an inspector with two recordings of the bus."""
    world.bus.line("onto Bismarckstraße")
    first = world.recording(0)
    world.bus.line("Kurfürsten-Anlage")
    return world.inspect(first, world.recording(1))


@pytest.fixture
def link(world: real.World) -> str:
    return world.link


def hears(inspector: Inspector, world: real.World, vehicle: str, *arguments: str) -> Page:
    """The actions of a vehicle whose endpoint of the inspector is connected, and a drive that begins after it."""
    world.cluster(vehicle, "display", "--watch").line("connected")
    # The inspector hears of the vehicle a little later than the vehicle of the gateway.
    inspector.until(f"fetch('/api/overview').then((answer) => answer.text()).then((text) => text.includes('\"{vehicle}\"'))")
    page = inspector.show(f"vehicle={vehicle}&view=actions")
    button(page, "Connect").click()
    page.wait_for_selector("dd:has-text('connected')")
    world.drive_to_balzers(vehicle, *arguments).line("joined")
    return page


def button(page: Page, name: str):  # type: ignore[no-untyped-def]
    return page.locator("fieldset.actions section, fieldset.actions form, table").get_by_role("button", name=name, exact=True)


def test_the_page_crosses_compressed_and_whole(world: real.World) -> None:
    origin, crossed = world.link.split("/#")[0], 0
    for path in PAGE.iterdir():
        request = urllib.request.Request(f"{origin}/page/{path.name}", headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as response:
            body = response.read()
            crossed += len(body)
            assert (gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body) == path.read_bytes()
    assert crossed <= CROSSING_BYTES_MAX


def test_the_card_and_what_follows(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus")
    expect(page.locator(".card-distance")).to_contain_text(re.compile(MANEUVER))
    assert page.locator(".card-glyph svg").get_attribute("aria-label")
    assert page.locator(".nearness .now").count() == 1
    page.get_by_text(re.compile("Show more")).click()
    expect(page.locator(".sequence li").first).to_be_visible()


def test_the_three_tables(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=updates")
    page.wait_for_selector("td:has-text('update maneuver estimates')")
    assert page.locator("tbody mark").count() > 0
    page = inspector.show("vehicle=bus&view=maneuvers")
    assert page.locator("tbody tr").count() > 5 and page.locator("tr.state-current").count() == 1
    page = inspector.show("vehicle=bus&view=lanes")
    assert re.search("lane 1 of \\d", page.locator("svg.lanes").first.get_attribute("aria-label") or "")


def test_a_shared_destination_is_accepted(inspector: Inspector, world: real.World) -> None:
    page = hears(inspector, world, "share-1", "--share")
    page.locator("section.asks", has_text="Destination:").get_by_role("button", name="Accept").click()
    page.wait_for_selector("text=answer share: sent as")
    page = inspector.show("vehicle=share-1&view=destination")
    expect(page.locator("tbody").first).to_contain_text("did share")


def test_a_shared_destination_is_declined_with_an_outcome(inspector: Inspector, world: real.World) -> None:
    page = hears(inspector, world, "share-2", "--share")
    page.wait_for_selector("section.asks:has-text('Destination:')")
    page.get_by_label("Outcome").select_option("busy")
    button(page, "Decline with this outcome").click()
    page.wait_for_selector("text=answer share: sent as")
    page = inspector.show("vehicle=share-2&view=destination")
    expect(page.locator("tbody").first).to_contain_text("busy")
    assert "did fail to share" in inspector.text()


def test_the_route_is_drawn_and_exported(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=route")
    assert page.evaluate("document.querySelector('wm-map').data.segments[0].coordinates.length") > 50
    files = {}
    for name in ["GeoJSON", "GPX", "KML"]:
        with page.expect_download() as download:
            page.get_by_role("link", name=f"Export {name}").click()
        files[name] = Path(download.value.path()).read_text(encoding="utf-8")
        assert download.value.suggested_filename.endswith(f".{name.lower()}")
    lines = [one["geometry"]["coordinates"] for one in json.loads(files["GeoJSON"])["features"] if one["geometry"]["type"] == "LineString"]
    assert len(lines[0]) > 50 and 8 < lines[0][0][0] < 9 and 49 < lines[0][0][1] < 50
    assert len(ElementTree.fromstring(files["GPX"]).findall(".//{http://www.topografix.com/GPX/1/1}trkpt")) == len(lines[0])
    assert any(
        len((one.text or "").split()) == len(lines[0])
        for one in ElementTree.fromstring(files["KML"]).iter("{http://www.opengis.net/kml/2.2}coordinates")
    )


def test_a_stop_is_typed_and_the_prompt_is_accepted(inspector: Inspector, world: real.World) -> None:
    page = hears(inspector, world, "stop-1")
    page.wait_for_selector("select[name=segment] option:nth-child(2)", state="attached")
    page.get_by_label("Place: latitude, longitude").fill(STOP)
    page.get_by_label("Name", exact=True).fill("Charger")
    page.get_by_label("In the segment").select_option(index=1)
    button(page, "Ask for a stop here").click()
    prompt = page.locator("section.asks", has_text="Add the stop Charger?")
    assert re.search(MANEUVER, prompt.inner_text())
    prompt.get_by_role("button", name="Accept").click()
    page.wait_for_selector("tbody tr:has-text('waypoint'):has-text('accepted')")
    page = inspector.show("vehicle=stop-1&view=requests")
    expect(page.locator("section.panel h2").first).to_contain_text("accepted")
    page = inspector.show("vehicle=stop-1&view=destination")
    page.wait_for_selector("table:has-text('Stops of the trip') td, table th:has-text('Charger')")


def test_a_stop_is_clicked_and_declined_and_the_page_says_why_in_two_clicks(inspector: Inspector, world: real.World) -> None:
    page = hears(inspector, world, "stop-2")
    page.wait_for_selector("wm-map canvas")
    page.locator("wm-map canvas").click(position={"x": 20, "y": 60})
    latitude, longitude = page.get_by_label("Place: latitude, longitude").input_value().split(", ")
    assert 46 < float(latitude) < 48 and 9 < float(longitude) < 10
    button(page, "Ask for a stop here").click()
    page.wait_for_selector("tbody tr:has-text('waypoint'):has-text('invalid')")
    inspector.show("")
    page.get_by_role("link", name="stop-2", exact=True).click()
    page.get_by_role("link", name="Requests").click()
    page.wait_for_selector("text=Why: ")
    assert page.locator(".steps .decisive").count() == 1
    assert "NaN" not in page.inner_html("#view") and "undefined" not in page.inner_html("#view")


def test_a_prompt_is_declined(inspector: Inspector, world: real.World) -> None:
    page = hears(inspector, world, "stop-3")
    page.wait_for_selector("select[name=segment] option:nth-child(2)", state="attached")
    page.get_by_label("Place: latitude, longitude").fill(STOP)
    button(page, "Ask for a stop here").click()
    page.locator("section.asks", has_text="Add the stop").get_by_role("button", name="Decline").click()
    page.wait_for_selector("tbody tr:has-text('waypoint'):has-text('declined by user')")


def test_a_drive_is_asked_for_by_keyboard_alone(inspector: Inspector, world: real.World) -> None:
    # A vehicle that is guided already may not ask for another drive.
    world.cluster("drive", "display", "--watch").line("connected")
    world.navigate(
        "drive",
        "--engine",
        f"osrm=http://127.0.0.1:{world.engine.server_port}",
        "--from",
        "47.141,9.5215",
        "--id",
        "nav-drive",
        "--on-destination",
        "accept",
    )
    inspector.show("").wait_for_selector("text=nav-drive")
    page = inspector.show("vehicle=drive&view=actions")

    def tab_to(name: str) -> None:
        for _ in range(150):
            page.keyboard.press("Tab")
            if name in page.evaluate(
                "((one) => [one.textContent.trim(), one.getAttribute('aria-label'), one.name])(document.activeElement)"
            ):
                return
        pytest.fail(f"no {name}")

    page.evaluate("document.activeElement.blur()")
    tab_to("place")
    page.keyboard.type("47.068069, 9.501363")
    tab_to("Ask for a drive there")
    page.keyboard.press("Enter")
    page.wait_for_selector("tbody tr:has-text('destination'):has-text('accepted')")


@pytest.mark.parametrize(
    ("label", "option"), [("Appearance", "light"), ("Appearance", "dark"), ("Compass", "enabled"), ("Speed limit", "disabled")]
)
def test_a_setting_is_sent_and_crosses_the_gateway(inspector: Inspector, label: str, option: str) -> None:
    page = inspector.show("vehicle=bus&view=actions")
    before = page.locator("table tbody tr").count()
    page.get_by_label(label).select_option(option)
    inspector.until(f"document.querySelectorAll('table tbody tr').length > {before} || document.querySelector('#act-status.problem')")
    assert page.locator("#act-status.problem").count() == 0, page.inner_text("#act-status")
    expect(page.locator("table tbody tr").first).to_contain_text("sent")
    page = inspector.show("vehicle=bus&view=frames&message=vehicleSettings&way=from")
    page.wait_for_selector("td:has-text('bus/inspector')")


def test_the_route_source_is_told(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=actions")
    name = page.get_by_label("Route source").locator("option").nth(1).inner_text()
    page.get_by_label("Route source").select_option(index=1)
    page.wait_for_selector("tbody tr:first-child:has-text('route source'):has-text('sent')")
    inspector.show("vehicle=bus&view=route")
    inspector.until(f"document.querySelector('#view').textContent.includes({json.dumps(f'shared route: {name}')})")


def test_zoom_is_sent(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=actions")
    for name in ["Zoom in", "Zoom out"]:
        button(page, name).click()
        page.wait_for_selector("tbody tr:first-child:has-text('zoom'):has-text('sent')")


def test_a_configuration_is_edited_and_previewed(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=cluster")
    for name in ["full", "short-text", "two-maneuvers", "no-lanes", "left-hand-traffic", "slow-reader"]:
        assert page.get_by_role("link", name=name, exact=True).count() == 1
    page.get_by_role("checkbox", name="lane guidance").uncheck()
    page.wait_for_selector("li:has-text('laneGuidances')")
    page.get_by_label("maneuvers stored").fill("2")
    page.keyboard.press("Tab")
    page.wait_for_selector("li:has-text('maneuversStored = 2')")
    page.get_by_label("Save as").fill("Mine")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Mine").wait_for()
    assert page.locator(".screen").count() == 4


def test_a_configuration_begins_as_the_endpoint_has_it(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=cluster&endpoint=hud")
    asked = {name: page.get_by_role("checkbox", name=name).is_checked() for name in ["lane guidance", "route segments", "maneuvers"]}
    assert asked == {"lane guidance": False, "route segments": False, "maneuvers": True}
    page.get_by_label("maneuvers stored").fill("2")
    page.keyboard.press("Tab")
    page.wait_for_selector("li:has-text('maneuversStored = 2')")
    assert page.locator("li", has_text="laneGuidances").count() > 0 and not page.get_by_role("checkbox", name="lane guidance").is_checked()


def test_the_wheel_scrolls_the_page_over_the_map_and_zooms_with_ctrl(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus")
    scale = "document.querySelector('wm-map').pixelsPerMeter"
    before = page.evaluate(scale)
    page.locator("wm-map canvas").hover()
    page.mouse.wheel(0, 240)
    inspector.until("scrollY > 0")
    assert page.evaluate(scale) == before
    page.evaluate("scrollTo(0, 0)")
    page.locator("wm-map canvas").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    inspector.until(f"{scale} > {before} * 1.5")
    page.keyboard.up("Control")


def test_why_there_are_no_lanes_in_two_clicks(inspector: Inspector, world: real.World) -> None:
    # The drive is so slow that it stays before the maneuver whose lanes are published.
    world.cluster("van", "hud", "--watch", "--profile", "no-lanes").line("connected")
    route = str(real.ROUTES / "heidelberg-lanes.json")
    world.navigate("van", "--route", route, "--id", "slow-nav", "--start-at", "0.2", "--speed", "0.1").line("joined")
    page = inspector.page
    page.locator("tr", has_text="slow-nav").get_by_role("link", name="hud").first.click()
    page.get_by_role("button", name="Why: no lanes").click()
    reason = page.locator("#why-box .reason").first.inner_text()
    assert "withheld by the gateway" in reason and "laneGuidance" in reason and "not requested" in reason, reason


def test_what_was_held_at_a_time_in_two_clicks(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=log")
    page.locator("tbody .moment").first.click()
    inspector.settle()
    page.get_by_role("link", name="As published, as held").click()
    inspector.settle()
    assert "past moment" in page.inner_text("#top")
    page.wait_for_selector("table:has-text('As published')")


def test_lanes_over_time_are_those_of_the_drive(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus")
    page.get_by_text("Lanes over time", exact=True).click()
    inspector.until("[...document.querySelectorAll('.lane-name')].some(one => one.textContent === 'distance left')")
    names = page.locator(".lane-title .lane-name").evaluate_all("all => all.map(one => one.textContent)")
    assert {"maneuver", "state", "navigation client", "time left", "publications"} <= set(names)
    assert any(name.startswith("connection · ") for name in names)
    assert Axe().run(page).response["violations"] == []


def test_a_frame_and_its_bytes(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=frames&message=updateManeuverEstimates")
    page.locator("tbody td a", has_text="update maneuver estimates").first.click()
    page.wait_for_selector(".tree .node")
    page.locator(".tree .tree .node, .tree ul .node").first.click()
    page.wait_for_selector(".hex-bytes .byte-value, .hex-bytes .byte-chosen")
    name = page.locator(".node.chosen .node-name").inner_text()
    page.locator(".hex-bytes [data-byte='24']").click()
    inspector.until(f"document.querySelector('.node.chosen .node-name')?.textContent !== {json.dumps(name)}")


def test_receipts_findings_and_log(inspector: Inspector) -> None:
    page = inspector.show("vehicle=bus&view=receipts")
    expect(page.locator("table").first).to_contain_text("cluster")
    inspector.show("vehicle=bus&view=findings")
    assert (
        "This cannot be shown" not in inspector.text() and "Lint findings".lower() in inspector.text().lower()
    ) or "No finding" in inspector.text()
    page = inspector.show("vehicle=bus&view=findings&at=1")
    assert "This cannot be shown" not in inspector.text()
    page = inspector.show("vehicle=bus&view=log")
    expect(page.locator("tbody").first).to_contain_text("city-nav")


def test_the_overview_is_filtered(inspector: Inspector) -> None:
    page = inspector.page
    page.get_by_role("searchbox", name="Search").fill("bus")
    page.keyboard.press("Enter")
    page.wait_for_selector("caption:has-text('Vehicles: 1 of')")
    page.get_by_role("button", name="guided", exact=True).click()
    page.wait_for_selector("tbody th:has-text('bus')")
    page.get_by_role("button", name="away", exact=True).click()
    page.get_by_role("searchbox", name="Search").fill("no-such-vehicle")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No vehicle matches.")


def test_a_deep_link_needs_no_other_step(open_page: Callable[..., Inspector], world: real.World) -> None:
    inspector = open_page(signed_in=False)
    inspector.page.goto(f"{world.link}&vehicle=bus&view=lanes")
    inspector.settle()
    assert inspector.page.inner_text(".view-title") == "Lane Guidances"
    assert "token" not in inspector.page.url


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_view_of_a_drive(open_page: Callable[..., Inspector], theme: str) -> None:
    inspector = open_page(theme=theme)
    found = []
    for view in VIEWS:
        page = inspector.show(f"vehicle=bus&view={view}")
        assert "This cannot be shown" not in inspector.text(), view
        found += [f"{view}: {one['id']}: {node['html'][:140]}" for one in Axe().run(page).response["violations"] for node in one["nodes"]]
    assert found == []


class TestRecordings:
    @pytest.fixture
    def link(self, recordings: str) -> str:
        return recordings

    def test_a_recording_is_sought_by_a_time_and_by_its_moments(self, inspector: Inspector) -> None:
        page = inspector.show("vehicle=bus")
        page.get_by_label("Go to a time").fill("0.75")
        page.keyboard.press("Enter")
        inspector.until("location.hash.includes('at=0.75')")
        page.get_by_text("Moments", exact=True).click()
        page.locator(".moments a").last.click()
        inspector.until("!location.hash.includes('at=0.75')")

    def test_a_recording_is_stepped_frame_by_frame(self, inspector: Inspector) -> None:
        page = inspector.show("vehicle=bus&at=1")
        inspector.until("location.hash.includes('at=1')")
        seen = [1.0]
        for name in ["Next frame", "Next frame", "Frame before"]:
            page.get_by_role("button", name=name).click()
            inspector.until(f"location.hash.match(/at=([0-9.]+)/)[1] != {seen[-1]}")
            inspector.settle()
            seen.append(float(page.evaluate("location.hash.match(/at=([0-9.]+)/)[1]")))
        assert seen[0] < seen[1] < seen[2] and seen[3] == seen[1]

    def test_a_recording_is_played_to_its_end(self, inspector: Inspector) -> None:
        page = inspector.show("vehicle=bus&at=0.5")
        page.get_by_label("Speed").select_option("60")
        page.get_by_role("button", name="Play").click()
        page.get_by_role("button", name="Play").wait_for()
        at, end = page.evaluate("[location.hash.match(/at=([0-9.]+)/)[1], document.querySelector('input[type=range]').max]")
        assert float(at) == float(end) > 1

    def test_two_recordings_are_compared(self, inspector: Inspector) -> None:
        page = inspector.show("source=r2&vehicle=bus")
        end = page.locator("input[type=range]").get_attribute("max")
        page = inspector.show(f"view=compare&a=r1&b=r2&vehicle=bus&at=1&atB={end}")
        assert page.locator(".card").count() == 2
        assert re.search("\\d+ differences", inspector.text()) and "maneuverEstimates" in inspector.text(), inspector.text()
        page = inspector.show(f"view=compare&a=r2&b=r2&vehicle=bus&at={end}&atB={end}")
        assert "Both hold the same" in inspector.text()


class TestHiddenPlaces:
    @pytest.fixture
    def link(self, world: real.World) -> str:
        return world.inspect("--redact", "places", "--connect", world.socket("observe"))

    def test_hidden_places_are_neither_drawn_nor_told(self, inspector: Inspector) -> None:
        for view in ["guidance", "sides", "destination", "route", "maneuvers"]:
            page = inspector.show(f"vehicle=bus&view={view}")
            assert "0.00000" not in inspector.text(), view
            assert page.evaluate("document.querySelector('wm-map')?.data.waypoints ?? []") == [], view
        inspector.show("vehicle=bus")
        page.locator("dt:has-text('Destination') + dd").get_by_role("button").click()
        assert "hidden" in page.inner_text("#why-box")
