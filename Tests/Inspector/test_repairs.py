"""What the page does when much happens at once, when answers fail, and when the reader goes on to something else."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from conftest import Inspector
from mock_drive import fixture, instant
from mock_inspector import TOKEN, Mock, Refused

pytestmark = pytest.mark.mock
ROWS = "[...document.querySelectorAll('tbody tr')].map((row) => row.dataset.key).join()"


def change_state(mock: Mock, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Changes what the client publishes."""
    usual = mock.drive.state
    mock.drive.state = lambda at: {**usual(at), **change(usual(at))}  # type: ignore[method-assign]


def change_answer(mock: Mock, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the answer about a vehicle."""

    def answer(query: dict[str, str]) -> dict[str, Any]:
        vehicle = mock.vehicle(float(query.get("at", mock.at)), query)
        change(vehicle)
        return vehicle

    mock.overrides["vehicle"] = answer


# Maneuvers.


def test_maneuvers_behind_the_next_one_are_past_and_all_others_are_not(inspector: Inspector, mock: Mock) -> None:
    change_state(mock, lambda state: {"upcomingManeuvers": state["upcomingManeuvers"][:3]})
    page = inspector.show("vehicle=car")
    stages = page.evaluate("document.querySelector('wm-map').data.maneuvers.map((one) => one.state)")
    assert stages == ["past"] * 3 + ["current"] + ["upcoming"] * 7
    page.locator("summary", has_text="Show more: 3 maneuvers past, 8 ahead").click()
    listed = page.locator(".sequence li").all_inner_texts()
    assert [text.split(":")[0] for text in listed] == stages
    assert page.locator(".sequence [aria-current=step]").inner_text() == listed[3]
    page = inspector.show("vehicle=car&view=sides")
    assert page.locator("tbody th", has_text="(past)").count() == 3


def test_the_list_of_maneuvers_names_one_that_is_not_known(inspector: Inspector, mock: Mock) -> None:
    change_state(mock, lambda state: {"upcomingManeuvers": [4, 77]})
    page = inspector.show("vehicle=car")
    page.locator("summary", has_text="Show more").click()
    assert page.locator(".sequence li").nth(4).inner_text() == "maneuver 77 is not known"


def test_maneuvers_that_differ_in_anything_differ(inspector: Inspector, mock: Mock) -> None:
    change_answer(mock, lambda vehicle: vehicle["held"]["maneuvers"][0].pop("linkedLaneGuidance"))
    page = inspector.show("vehicle=car&view=sides")
    assert "differs" in page.inner_text("tr[data-key='maneuvers/4']")
    assert "same" in page.inner_text("tr[data-key='maneuvers/5']")


# Places.


def test_hidden_places_are_not_drawn_off_africa(inspector: Inspector, mock: Mock) -> None:
    for place in ["origin", "destination"]:
        mock.drive.segment[place] = {"center": [0, 0], "nameVariants": [], "entryPoints": [[0, 0]]}
    page = inspector.show("vehicle=car")
    assert [one["kind"] for one in page.evaluate("document.querySelector('wm-map').data.waypoints")] == ["stop"]
    assert "0.00000" not in inspector.text()


def two_legs(mock: Mock) -> None:
    """The route has a second leg behind its middle, which is under way; the answer with the lines is from before."""
    middle = len(mock.drive.line) // 4
    legs = [mock.drive.line[: middle + 1], mock.drive.line[middle:]]
    mock.overrides["route"] = lambda query: {
        **mock.drive.map(mock.at),
        "segments": [
            {"id": f"leg-{number}", "current": number == 1, "published": {"coordinates": leg}, "why": []}
            for number, leg in enumerate(legs, 1)
        ],
    }
    change_state(mock, lambda state: {"currentSegment": "leg-2"})


def test_what_was_driven_is_drawn_over_all_legs(inspector: Inspector, mock: Mock) -> None:
    two_legs(mock)
    mock.at = 150.0
    page = inspector.show("vehicle=car")
    first, traveled, currents = page.evaluate("""(() => {
        const {segments, position} = document.querySelector('wm-map').data;
        return [segments[0].coordinates.length, position.traveled.length, segments.map((one) => one.isCurrent)];
    })()""")
    assert traveled > first
    assert currents == [False, True]


# Reasons.


def test_what_is_not_published_has_a_reason_also_on_the_side_of_an_endpoint(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=sides")
    row = page.locator("tr[data-key='alert/titleVariants']")
    assert row.get_by_role("button", name="Why: Alert").count() == 2
    row.get_by_role("button").last.click()
    assert "the client shows no alert" in page.inner_text("#why-box")
    page.keyboard.press("Escape")
    assert page.locator("tr[data-key='segments']").get_by_role("button").count() == 1


def test_an_alert_says_its_priority_and_whether_it_interrupts_the_display(inspector: Inspector, mock: Mock) -> None:
    alert = {"id": 5, "titleVariants": ["Ice"], "priority": "high", "notification": "withEstimates"}
    change_state(mock, lambda state: {"alert": alert})
    page = inspector.show("vehicle=car")
    page.locator(".alert").first.wait_for()
    assert "priority: high, interrupts the display: with estimates" in page.locator(".alert").first.inner_text()


def test_texts_that_were_cut_have_their_reason_in_the_comparison(inspector: Inspector, mock: Mock) -> None:
    change_state(mock, lambda state: {"alert": {"id": 5, "titleVariants": ["A faster route is there"]}})
    change_answer(
        mock,
        lambda vehicle: (
            vehicle["held"]["alert"].update(titleVariants=["A fast"]),
            vehicle.update(
                why=[
                    {"side": "held", "path": f"{path}/{kind}", "reason": "fitted", "limit": "text", "value": 6, "text": f"{path} is cut"}
                    for path, kind in [
                        ("alert", "titleVariants"),
                        ("alert", "subtitleVariants"),
                        ("trip/origin", "nameVariants"),
                        ("trip/origin", "charge"),
                    ]
                ]
            ),
        ),
    )
    page = inspector.show("vehicle=car&view=sides")
    for key, text in [("alert/titleVariants", "alert is cut"), ("trip/origin/nameVariants", "trip/origin is cut")]:
        page.locator(f"tr[data-key='{key}']").get_by_role("button").click()
        assert text in page.inner_text("#why-box")
        page.keyboard.press("Escape")
    also = page.locator("section", has_text="Also cut or missing").inner_text()
    assert (
        "held alert/subtitleVariants" in also
        and "held trip/origin/charge" in also
        and "titleVariants" not in also.replace("subtitleVariants", "")
    )


def test_facts_that_are_not_published_say_so(inspector: Inspector, mock: Mock) -> None:
    change_answer(
        mock,
        lambda vehicle: (
            vehicle.pop("batteries", None),
            vehicle.pop("arrival"),
            vehicle["held"].pop("tripEstimates"),
            vehicle["why"].append(
                {
                    "side": "published",
                    "path": "tripEstimates",
                    "reason": "notPublished",
                    "text": "demo-nav has published no estimates of the trip",
                }
            ),
        ),
    )
    page = inspector.show("vehicle=car")
    for name, text in [
        ("arrival", "no estimates of the trip"),
        ("distance left", "no estimates of the trip"),
        ("battery on arrival", "The client has not published it."),
    ]:
        page.get_by_role("button", name=f"Why: {name}").click()
        assert text in page.inner_text("#why-box")
        page.keyboard.press("Escape")


def test_a_maneuver_that_is_not_held_does_not_explain_what_was_not_published(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=maneuvers")
    row = page.locator("tr[data-key='2']")
    assert "not held" in row.inner_text()
    assert row.get_by_role("button").count() == 1


@pytest.mark.parametrize("view", ["updates", "maneuvers", "lanes", "destination", "route"])
def test_tables_say_what_a_dash_means(inspector: Inspector, view: str) -> None:
    inspector.show(f"vehicle=car&view={view}")
    assert "—: not published." in inspector.text()


def test_lanes_that_are_only_not_current_are_held(inspector: Inspector, mock: Mock) -> None:
    change_state(mock, lambda state: {"currentLaneGuidance": None})
    change_answer(
        mock,
        lambda vehicle: vehicle["why"].append(
            {"side": "published", "path": "currentLaneGuidance", "reason": "notPublished", "text": "no lanes are to be shown now"}
        ),
    )
    inspector.show("vehicle=car&view=lanes")
    assert "holds no lanes" not in inspector.text()


# Errors.


def test_a_view_that_failed_is_loaded_when_the_stream_is_there_again(open_page: Callable[..., Inspector], mock: Mock) -> None:
    inspector = open_page(expects_errors=True)
    mock.overrides["vehicle"] = Refused(503, "unavailable", "the server is busy")
    page = inspector.show("vehicle=car")
    assert "the server is busy" in inspector.text()
    del mock.overrides["vehicle"]
    page.wait_for_selector(".card")
    assert page.get_by_role("alert").count() == 0


def test_a_vehicle_that_is_there_again_is_shown(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car")
    usual = mock.events
    mock.events = lambda views, query: [("unavailable", {"view": views[0], "error": {"reason": "the gateway knew no such vehicle then"}})]  # type: ignore[method-assign]
    page.wait_for_selector("text=the gateway knew no such vehicle then")
    mock.events = usual  # type: ignore[method-assign]
    mock.at = 20.0
    inspector.until("!document.querySelector('[role=alert]')")
    assert page.locator(".card").count() == 1


def test_a_frame_that_is_not_kept_any_more_can_be_left(open_page: Callable[..., Inspector], mock: Mock) -> None:
    inspector = open_page(expects_errors=True)
    mock.overrides["frame"] = Refused(409, "gone", "there is history from 60 s on")
    page = inspector.show("vehicle=car&view=frames&entry=f-1")
    page.get_by_role("link", name="Go to the newest moment").click()
    inspector.settle()
    assert page.locator("tbody tr").count() > 5 and page.get_by_role("alert").count() == 0


def test_a_new_link_in_the_same_tab_signs_in_again(open_page: Callable[..., Inspector], mock: Mock) -> None:
    inspector = open_page(expects_errors=True)
    page = inspector.page
    page.context.clear_cookies()
    page.goto(f"{mock.link}&vehicle=car&view=updates")
    page.wait_for_selector("td:has-text('update trip estimates')")
    assert TOKEN not in page.url and TOKEN not in page.content()
    assert [body for _, path, body in mock.requests if path == "/session"] == [{"token": TOKEN}] * 2


# Actions.


def test_actions_of_one_vehicle_are_not_sent_to_another(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=actions")
    page.get_by_label("Place: latitude, longitude").fill("49.39, 8.66")
    page.get_by_label("Appearance").select_option("light")
    page.wait_for_selector("text=sent as a1")
    page = inspector.show("vehicle=van&view=actions")
    assert page.inner_text("#act-status") == ""
    assert page.get_by_label("Appearance").input_value() == "" and page.get_by_label("Place: latitude, longitude").input_value() == ""
    page.get_by_label("Appearance").select_option("dark")
    page.wait_for_selector("text=sent as a2")
    assert [body["vehicle"] for body in mock.posted()] == ["car", "van"]


def test_questions_count_down_and_go_when_they_are_over(inspector: Inspector, mock: Mock) -> None:
    mock.overrides["actions"] = {
        **fixture("actions"),
        "share": {**fixture("actions")["share"], "deadline": mock.at + 60},
        "prompt": {**fixture("actions")["prompt"], "deadline": mock.at + 4},
    }
    page = inspector.show("vehicle=car&view=actions")
    prompt = page.locator("section.asks", has_text="Add the stop")
    first = prompt.inner_text()
    assert any(f"{left} s left." in first for left in [2, 3, 4])
    assert any(f"{left} s left." in page.locator("section.asks", has_text="Destination: Balzers").inner_text() for left in range(50, 61))
    expect(prompt).to_have_count(0)
    page.wait_for_selector("text=No question is open.")


def test_the_map_can_be_zoomed_where_nothing_may_be_sent(inspector: Inspector, mock: Mock) -> None:
    mock.act = {"enabled": False, "reason": "started without --act"}
    page = inspector.show("vehicle=car&view=actions")
    scale = "document.querySelector('wm-map').scale"
    before = page.evaluate(scale)
    page.locator("wm-map").get_by_role("button", name="Zoom in").click()
    assert page.evaluate(scale) > before


def test_a_saved_configuration_can_be_deleted(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=cluster")
    page.get_by_label("Save as").fill("Mine")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Mine").click()
    inspector.settle()
    page.get_by_role("button", name="Delete").click()
    inspector.settle()
    assert page.get_by_role("link", name="Mine").count() == 0 and page.get_by_role("button", name="Delete").count() == 0


def test_a_profile_keeps_what_the_form_does_not_have(inspector: Inspector, mock: Mock) -> None:
    profiles = fixture("profiles")
    mock.overrides["profiles"] = {
        **profiles,
        "profiles": [
            *profiles["profiles"],
            {"name": "slow-reader", "profile": {"description": "Reads slowly.", "readDelayMilliseconds": 250}},
        ],
    }
    page = inspector.show("vehicle=car&view=cluster")
    page.get_by_role("link", name="slow-reader").click()
    inspector.settle()
    page.get_by_role("checkbox", name="lane guidance").uncheck()
    inspector.settle()
    assert mock.posted("/api/preview")[-1]["profile"] == {"readDelayMilliseconds": 250, "without": ["laneGuidance"]}


def test_a_preview_follows_the_vehicle(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=cluster")
    page.get_by_role("link", name="two-maneuvers").click()
    inspector.settle()
    assert "80 m" in page.locator(".screen").first.inner_text()
    mock.at = 18.0
    inspector.until("document.querySelector('.screen').textContent.includes('40 m')")


# Frames and bytes.


def long_frame(mock: Mock) -> None:
    frame = fixture("frame")
    frame["hex"] = "00" * 700
    frame["tree"][1]["range"] = [24, 700]
    frame["tree"][1]["children"] = [
        {"name": f"field_{number}", "number": number, "type": "uint32", "range": [24 + 8 * number, 32 + 8 * number], "value": 0}
        for number in range(80)
    ]
    mock.overrides["frame"] = frame


IN_SIGHT = """(selectors) => selectors.every((selector) => {
    const one = document.querySelector(selector), box = one.getBoundingClientRect();
    const frame = one.closest('.hex, .tree').getBoundingClientRect();
    return box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1 && box.top >= 0 && box.bottom <= innerHeight;
})"""


def test_the_chosen_byte_and_field_are_brought_into_sight(inspector: Inspector, mock: Mock) -> None:
    long_frame(mock)
    page = inspector.show("vehicle=car&view=frames&entry=f-1&node=1.70")
    assert page.evaluate(IN_SIGHT, [".node.chosen", "[data-byte='584']"])
    page.get_by_role("button", name="field_2 #2 ").click()
    assert page.evaluate(IN_SIGHT, [".node.chosen", "[data-byte='40']"])
    page.locator(".hex").focus()
    for _ in range(36):
        page.keyboard.press("ArrowDown")
    inspector.settle()
    assert page.evaluate(IN_SIGHT, [".node.chosen", "[data-byte='616']"])


def test_messages_are_filtered_by_the_names_that_the_page_shows(inspector: Inspector, mock: Mock) -> None:
    mock.overrides["names"] = {**fixture("names"), "messages": ["hello", "updateTripEstimates"]}
    inspector.page.reload()
    page = inspector.show("vehicle=car&view=frames")
    inspector.until("[...document.querySelectorAll('#messages option')].map((one) => one.value).join() === 'hello,update trip estimates'")
    page.get_by_label("Message").fill("update trip estimates")
    page.keyboard.press("Enter")
    inspector.until("[...document.querySelectorAll('tbody tr')].every((row) => row.textContent.includes('update trip estimates'))")
    assert any("message=updateTripEstimates" in path for _, path, _ in mock.requests)


# Pages of rows, and streams.


def two_pages(mock: Mock, delay: float = 0) -> None:
    usual = mock.overview

    def overview(query: dict[str, str]) -> dict[str, Any]:
        answer = usual({})
        isSecond = query.get("after") == "car"
        if isSecond:
            time.sleep(delay)
        return {
            **answer,
            "vehicles": answer["vehicles"][1:] if isSecond else answer["vehicles"][:1],
            "truncated": not isSecond,
            **({} if isSecond else {"next": "car"}),
        }

    mock.overrides["overview"] = overview
    events = mock.events
    mock.events = lambda views, query: [
        (name, {**data, "truncated": True, "next": "car"} if name == "overview" else data) for name, data in events(views, query)
    ]  # type: ignore[method-assign]


def test_the_overview_can_be_paged_both_ways(inspector: Inspector, mock: Mock) -> None:
    two_pages(mock)
    page = inspector.show("sort=age")
    page.get_by_role("link", name="more vehicles").click()
    inspector.until(f"{ROWS}.startsWith('van')")
    assert "not updated" in page.inner_text("#top") and "live" not in page.inner_text("#top .badge").split()[1:2]
    page.get_by_role("link", name="first vehicles").click()
    inspector.until(f"{ROWS}.startsWith('car')")
    for leave in [
        lambda: page.get_by_role("link", name="Overview", exact=True).click(),
        lambda: page.get_by_role("link", name="Waymark Inspector").click(),
        lambda: page.get_by_label("Sort by").select_option("age"),
    ]:
        inspector.show("after=car&view=overview")
        leave()
        inspector.until("!location.hash.includes('after')")


def test_rows_of_the_page_before_do_not_replace_those_of_the_next(inspector: Inspector, mock: Mock) -> None:
    two_pages(mock, delay=1)
    page = inspector.show("sort=age")
    page.get_by_role("link", name="more vehicles").click()
    for _ in range(5):
        mock.at += 1
        page.wait_for_timeout(200)
    inspector.settle()
    page.wait_for_timeout(300)
    assert page.evaluate(ROWS).startswith("van")


def test_a_table_keeps_its_focus_when_its_count_changes(inspector: Inspector, mock: Mock) -> None:
    usual = mock.events
    page = inspector.show("sort=age")
    page.locator(".scroll").first.focus()
    mock.events = lambda views, query: [
        (name, {**data, "totals": {**fixture("overview")["totals"], "vehicles": 17}} if name == "overview" else data)
        for name, data in usual(views, query)
    ]  # type: ignore[method-assign]
    inspector.until("document.querySelector('caption').textContent.includes('of 17')")
    assert page.evaluate("document.activeElement.classList.contains('scroll')")


@pytest.mark.parametrize("view", ["log", "frames"])
def test_rows_between_the_answer_and_the_stream_are_not_lost(inspector: Inspector, mock: Mock, view: str) -> None:
    usual = mock.entries

    def entries(query: dict[str, str]) -> dict[str, Any]:
        answer = usual(20.0, query)
        if any(path.startswith("/events?views=entries") for _, path, _ in mock.requests):
            answer["entries"].insert(0, {**answer["entries"][0], "entry": "between", "at": 30.0, "text": "happened between"})
        return answer

    mock.overrides["entries"] = entries
    inspector.show(f"vehicle=car&view={view}")
    # A stream that is silent for longer is opened again.
    inspector.until("document.querySelector('#view').textContent.includes('happened between')", 6)


def test_rows_that_were_streamed_stay_when_the_list_is_loaded_again(inspector: Inspector, mock: Mock) -> None:
    row = {"kind": "event", "entry": "streamed", "at": 40.0, "time": instant(40), "text": "was streamed", "event": "started"}
    usual = mock.events
    page = inspector.show("vehicle=car&view=log")
    mock.events = lambda views, query: [  # type: ignore[method-assign]
        *usual([], query),
        *(("entries", {"view": view, "entries": [row], "skipped": 7}) for view in views if view.startswith("entries")),
    ]
    page.wait_for_selector("text=was streamed")
    assert "7 rows went by between updates" in inspector.text()
    mock.events = usual  # type: ignore[method-assign]
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    inspector.settle()
    page.wait_for_timeout(500)
    assert "was streamed" in inspector.text()


# Time.


def test_frames_are_stepped_also_where_much_lies_between(inspector: Inspector, mock: Mock) -> None:
    row = {"kind": "frame", "entry": "f-3", "at": 3.0}
    answers = {
        ("to", "3.5"): ([], "f-2"),
        ("before", "f-2"): ([row], None),
        ("after", "f-3"): ([], "f-20"),
        ("after", "f-20"): ([{**row, "entry": "f-30", "at": 30.0}], None),
        ("to", "30"): ([], "f-9"),
        ("before", "f-9"): ([{**row, "at": 30.0, "entry": "f-30"}], None),
        ("before", "f-30"): ([], "f-8"),
        ("before", "f-8"): ([row], None),
    }
    usual = mock.entries

    def entries(query: dict[str, str]) -> dict[str, Any]:
        found = next((answers[key, query[key]] for key in ["after", "before", "to"] if (key, query.get(key)) in answers), None)
        if query.get("limit") != "1" or not found:
            return usual(16.0, query)
        return {"entries": found[0], "truncated": True, **({"next": found[1]} if found[1] else {})}

    mock.overrides["entries"] = entries
    page = inspector.show("source=r1&vehicle=car&at=3.5")
    page.get_by_role("button", name="Next frame").click()
    inspector.until("location.hash.endsWith('at=30') || location.hash.includes('at=30&')")
    inspector.settle()
    page.get_by_role("button", name="Frame before").click()
    inspector.until("location.hash.endsWith('at=3') || location.hash.includes('at=3&')")


def test_the_thumb_follows_the_keys(inspector: Inspector) -> None:
    page = inspector.show("source=r1&vehicle=car&at=60")
    slider = page.get_by_role("slider", name="Moment")
    slider.focus()
    page.keyboard.press("ArrowRight")
    inspector.until("location.hash.includes('at=61')")
    inspector.settle()
    assert float(slider.input_value()) == 61


def test_new_moments_come_to_the_time_line(inspector: Inspector, mock: Mock) -> None:
    asked: list[float] = []

    def moments(query: dict[str, str]) -> dict[str, Any]:
        begin = float(query.get("from", 0))
        asked.append(begin)
        all = [
            {"at": at, "lane": "session", "text": text, "vehicles": ["car"]}
            for at, text in [(1.0, "the first"), (18.0, "a later one")]
            if begin <= at <= mock.at
        ]
        return {"from": begin, "to": mock.at, "density": [1, 2], "truncated": False, "moments": all}

    mock.overrides["moments"] = moments
    page = inspector.show("vehicle=car")
    page.get_by_text("Moments", exact=True).click()
    assert "the first" in page.inner_text(".moments")
    for _ in range(30):
        mock.at += 0.2
        page.wait_for_timeout(200)
        if page.locator(".moments li").count() == 2:
            break
    assert "a later one" in page.inner_text(".moments") and page.locator(".moments li").count() == 2
    # What is new is asked for alone; the bars, which fill whole stretches of time, at the beginning and sometimes again.
    assert len(asked) <= 4 and any(begin >= 16 for begin in asked)


# What is not whole.


def test_findings_of_a_recording_are_asked_for_until_all_is_judged(inspector: Inspector, mock: Mock) -> None:
    mock.overrides["findings"] = {"at": 1, "findings": [], "truncated": False, "judging": 0.4, "stopped": False}
    page = inspector.show("source=r1&vehicle=car&view=findings")
    assert "Judged: 40 %. More may follow." in inspector.text()
    del mock.overrides["findings"]
    page.wait_for_selector("text=lane-without-maneuver")
    assert "Judged" not in inspector.text()


def test_a_damaged_recording_is_not_judged_for_ever(inspector: Inspector, mock: Mock) -> None:
    mock.overrides["findings"] = {"at": 1, "findings": [], "truncated": True, "judging": 0.4, "stopped": True}
    page = inspector.show("source=r1&vehicle=car&view=findings")
    page.wait_for_timeout(1500)
    assert "The recording is damaged" in inspector.text() and "older rows are left out" in inspector.text()
    assert sum(path.startswith("/api/findings") for _, path, _ in mock.requests) == 1


@pytest.mark.parametrize(
    ("name", "view"), [("receipts", "receipts"), ("vehicle/destinations", "destination"), ("route", "route"), ("requests", "requests")]
)
def test_what_is_left_out_is_told(inspector: Inspector, mock: Mock, name: str, view: str) -> None:
    whole = {
        "receipts": fixture("receipts"),
        "vehicle/destinations": mock.drive.destinations(16),
        "route": mock.drive.map(16),
        "requests": fixture("requests"),
    }[name]
    mock.overrides[name] = {**whole, "truncated": True}
    inspector.show(f"vehicle=car&view={view}")
    assert "older rows are left out" in inspector.text()


def test_confirmed_numbers_are_compared_with_what_the_endpoint_is_sent(inspector: Inspector, mock: Mock) -> None:
    change_answer(mock, lambda vehicle: vehicle["heldBy"].update(received=800, sent=805, published=999))
    inspector.show("vehicle=car&view=sides")
    assert "Confirmed up to number 800 of 805;" in inspector.text()


# What is in sight.


def test_the_endpoints_are_above_the_card(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car")
    chip, card = page.locator(".chip", has_text="hud").bounding_box(), page.locator(".card").bounding_box()
    assert chip and card and chip["y"] + chip["height"] <= card["y"] and chip["y"] < 300
    page.get_by_role("link", name="hud", exact=True).first.click()
    inspector.until("document.querySelector('.card').textContent.includes('No lanes')")
    assert page.locator(".chip[aria-current]").inner_text() == "hud"


def test_the_first_columns_of_the_overview_need_no_scrolling(inspector: Inspector) -> None:
    inspector.settle()
    region, head = inspector.page.evaluate("""(() => {
        const region = document.querySelector('.scroll');
        const last = [...region.querySelectorAll('th')].find((one) => one.textContent === 'Guided by');
        return [region.getBoundingClientRect().right, last.getBoundingClientRect().right];
    })()""")
    assert head <= region


@pytest.mark.parametrize("view", ["cluster", "actions"])
def test_what_has_the_focus_is_not_covered(inspector: Inspector, view: str) -> None:
    page = inspector.show(f"vehicle=car&view={view}")
    covered = []
    for _ in range(90):
        page.keyboard.press("Tab")
        name = page.evaluate("""(() => {
            const one = document.activeElement, box = one.getBoundingClientRect();
            const top = document.querySelector('#top').getBoundingClientRect().bottom;
            const bottom = document.querySelector('#timeline').getBoundingClientRect().top;
            const isCovered = one.closest('#main') && box.height < bottom - top && (box.top < top || box.bottom > bottom);
            return isCovered ? one.outerHTML.slice(0, 80) : '';
        })()""")
        covered += [name] if name else []
    assert covered == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_graphics_have_a_contrast_of_three(open_page: Callable[..., Inspector], theme: str) -> None:
    inspector = open_page(theme=theme)
    page = inspector.show("vehicle=car&view=cluster&light=1")
    pairs = [
        (":root", "--route-past", "--map"),
        (":root", "--strong-line", "--panel"),
        (":root", "--card-road", "--card-2"),
        (".cluster-light", "--card-road", "--card"),
        (".cluster-light .lanes", "--l-off", "--card"),
        (".cluster-light .lanes", "--l-off", "--l-tile"),
    ]
    weak = page.evaluate(
        """(pairs) => {
        const color = (at, name) => {
            const one = document.createElement('i');
            one.style.color = `var(${name})`;
            document.querySelector(at).append(one);
            const [red, green, blue] = getComputedStyle(one).color.match(/[0-9.]+/g).map((part) => part / 255)
                .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
            one.remove();
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        return pairs.filter(([at, one, other]) => {
            const [low, high] = [color(at, one), color(at, other)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05) < 3;
        });
    }""",
        pairs,
    )
    assert weak == []
