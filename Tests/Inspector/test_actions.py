"""Every action of the page asks the server for what it says, and nothing else."""

import re
from typing import Any

import pytest

from conftest import Inspector
from mock_inspector import Mock, Refused

pytestmark = pytest.mark.mock
ACTIONS = "vehicle=car&view=actions"


def last(mock: Mock, count: int = 1) -> Any:
    assert len(mock.posted()) == count
    return mock.posted()[-1]


@pytest.mark.parametrize(
    ("button", "body"),
    [
        ("Allow guidance", {"action": "allow"}),
        ("Cancel: the user stopped", {"action": "cancel", "reason": "userStopped"}),
        ("Cancel: own navigation started", {"action": "cancel", "reason": "ownNavigationStarted"}),
        ("Zoom in", {"action": "zoom", "zoomDirection": "in"}),
        ("Zoom out", {"action": "zoom", "zoomDirection": "out"}),
        ("Ready to show", {"action": "settings", "ready": True}),
        ("Not ready", {"action": "settings", "ready": False}),
        ("Ask for the destination", {"action": "wantDestination"}),
        ("Connect", {"action": "connect"}),
        ("Disconnect", {"action": "disconnect"}),
        ("Withdraw", {"action": "withdraw", "requestID": "q4"}),
    ],
)
def test_a_button_sends_its_action(inspector: Inspector, mock: Mock, button: str, body: dict[str, Any]) -> None:
    page = inspector.show(ACTIONS)
    # The map has buttons of the same names.
    page.locator("fieldset.actions section, table").get_by_role("button", name=button, exact=True).click()
    page.wait_for_selector("text=sent as a")
    assert last(mock) == {"vehicle": "car", **body}


@pytest.mark.parametrize(
    ("label", "option", "body"),
    [
        ("Route source", "vehicle", {"action": "routeSource", "routeSource": "vehicle"}),
        ("Route source", "clientDestinationsOnly", {"action": "routeSource", "routeSource": "clientDestinationsOnly"}),
        ("Appearance", "dark", {"action": "settings", "contentStyle": "dark"}),
        ("Compass", "enabled", {"action": "settings", "compass": "enabled"}),
        ("Speed limit", "userPreference", {"action": "settings", "speedLimit": "userPreference"}),
    ],
)
def test_a_choice_sends_its_action(inspector: Inspector, mock: Mock, label: str, option: str, body: dict[str, Any]) -> None:
    page = inspector.show(ACTIONS)
    page.get_by_label(label).select_option(option)
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {"vehicle": "car", **body}


def test_the_inspector_connects_as_a_display_of_a_chosen_configuration(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show(ACTIONS)
    options = page.get_by_label("Connect as").locator("option")
    name = options.nth(1).get_attribute("value")
    page.get_by_label("Connect as").select_option(name)
    page.locator("fieldset.actions section").get_by_role("button", name="Connect", exact=True).click()
    page.wait_for_selector("text=sent as a1")
    sent = last(mock)
    assert (sent["action"], sent["profileName"]) == ("connect", name)
    assert isinstance(sent["profile"], dict)


def test_a_prompt_is_answered(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show(ACTIONS)
    prompt = page.locator("section", has_text="Add the stop Charging station?")
    prompt.get_by_role("button", name="Accept").click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {"vehicle": "car", "action": "answerPrompt", "requestID": "q3", "accepted": True}
    prompt.get_by_role("button", name="Decline").click()
    page.wait_for_selector("text=sent as a2")
    assert last(mock, 2)["accepted"] is False


@pytest.mark.parametrize(
    "outcome", ["declinedByUser", "notSupported", "busy", "invalid", "timedOut", "tooLarge", "gone", "withdrawn", "sessionEnded"]
)
def test_a_shared_destination_is_declined_with_every_outcome(inspector: Inspector, mock: Mock, outcome: str) -> None:
    page = inspector.show(ACTIONS)
    page.get_by_label("Outcome").select_option(outcome)
    page.get_by_role("button", name="Decline with this outcome").click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {"vehicle": "car", "action": "answerShare", "shareID": "d-2", "outcome": outcome}


def test_a_shared_destination_is_accepted(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show(ACTIONS)
    page.locator("section", has_text="Destination: Balzers").get_by_role("button", name="Accept").click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {"vehicle": "car", "action": "answerShare", "shareID": "d-2", "accepted": True}


def trip(name: str, **routes: str) -> dict[str, Any]:
    """A trip of a preview: its first route is selected."""
    return {
        "id": f"trip to {name}",
        "origin": {"center": [47.14, 9.52], "nameVariants": ["Vaduz"]},
        "destination": {"center": [47.07, 9.5], "nameVariants": [name]},
        "routeChoices": [
            {"id": number, "summaryVariants": [street], "travelEstimates": {"distanceMeters": int(meters)}}
            for number, (street, meters) in enumerate(routes.items(), 1)
        ],
        "selectedRouteChoice": 1,
    }


@pytest.mark.parametrize(("button", "action"), [("Select", "selectPreview"), ("Start", "startTrip")])
def test_a_route_of_a_preview_is_chosen_and_started(inspector: Inspector, mock: Mock, button: str, action: str) -> None:
    mock.previews = [trip("Balzers", Landstrasse="8900", Rheinstrasse="9700"), trip("Triesen")]
    page = inspector.show(ACTIONS)
    asked = page.locator("section", has_text="Choose a route: 2 trips")
    assert ["selected" in row.inner_text() for row in asked.locator("li").all()] == [True, False]
    asked.locator("li", has_text="Rheinstrasse: 9.7 km").get_by_role("button", name=button).click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {"vehicle": "car", "action": action, "tripID": "trip to Balzers", "routeChoice": 2}
    asked.get_by_role("button", name=button).last.click()
    page.wait_for_selector("text=sent as a2")
    assert last(mock, 2) == {"vehicle": "car", "action": action, "tripID": "trip to Triesen", "routeChoice": 0}


def test_a_preview_is_shown_in_place_of_the_maneuver(inspector: Inspector, mock: Mock) -> None:
    mock.previews = [trip("Balzers", Landstrasse="8900", Rheinstrasse="9700")]
    page = inspector.show("vehicle=car&view=guidance")
    card = page.get_by_role("group", name="Next maneuver")
    assert [row.inner_text().split(":")[0].strip() for row in card.locator("li").all()] == ["Landstrasse", "Rheinstrasse"]
    assert "selected" in card.locator("li").first.inner_text()


def test_a_stop_is_asked_for_by_typing(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show(ACTIONS)
    page.get_by_label("Place: latitude, longitude").fill("49.39, 8.66")
    page.get_by_label("Name", exact=True).fill("Charger")
    page.get_by_label("In the segment").select_option("leg-1")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Ask for a stop here").click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {
        "vehicle": "car",
        "action": "waypoint",
        "waypoint": {"center": [49.39, 8.66], "nameVariants": ["Charger"]},
        "segment": "leg-1",
    }


def test_a_destination_is_asked_for_by_a_click_on_the_map(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show(ACTIONS)
    page.locator("wm-map canvas").click(position={"x": 120, "y": 150})
    latitude, longitude = page.get_by_label("Place: latitude, longitude").input_value().split(", ")
    assert 49.3 < float(latitude) < 49.5 and 8.5 < float(longitude) < 8.8
    page.get_by_role("button", name="Ask for a drive there").click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {"vehicle": "car", "action": "destination", "destination": {"center": [float(latitude), float(longitude)]}}


def test_a_place_is_picked_by_the_keyboard(inspector: Inspector) -> None:
    page = inspector.show(ACTIONS)
    page.locator("wm-map canvas").focus()
    page.keyboard.press("Enter")
    assert re.fullmatch(r"49\.\d+, 8\.\d+", page.get_by_label("Place: latitude, longitude").input_value())


@pytest.mark.parametrize("text", ["here", "91, 8", "49.1", "49, 181", "1, 2, 3"])
def test_a_place_that_is_none_is_not_sent(inspector: Inspector, mock: Mock, text: str) -> None:
    page = inspector.show(ACTIONS)
    page.get_by_label("Place: latitude, longitude").fill(text)
    page.get_by_role("button", name="Ask for a stop here").click()
    page.wait_for_selector("text=Place: must be a latitude and a longitude")
    assert mock.posted() == []


def test_what_the_reader_typed_survives_changes_of_the_vehicle(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show(ACTIONS)
    page.get_by_label("Name", exact=True).fill("Charger")
    page.get_by_role("button", name="Zoom in").last.focus()
    mock.at = 40.0
    inspector.until("document.querySelector('wm-map').data.maneuvers.find((one) => one.state === 'current').label !== '4'")
    assert page.get_by_label("Name", exact=True).input_value() == "Charger"


def test_what_the_reader_typed_survives_a_new_route(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show(ACTIONS)
    page.get_by_label("Place: latitude, longitude").fill("49.39, 8.66")
    page.get_by_label("Name", exact=True).fill("Charger")
    usual = mock.drive.state
    mock.drive.state = lambda at: {
        **usual(at),
        "segments": [{**segment, "id": f"new-{segment['id']}"} for segment in usual(at)["segments"]],
    }  # type: ignore[method-assign]
    mock.at = 40.0
    page.get_by_label("In the segment").select_option("new-leg-1")
    page.get_by_role("button", name="Ask for a stop here").click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {
        "vehicle": "car",
        "action": "waypoint",
        "waypoint": {"center": [49.39, 8.66], "nameVariants": ["Charger"]},
        "segment": "new-leg-1",
    }


def test_an_alert_is_answered(inspector: Inspector, mock: Mock) -> None:
    usual = mock.drive.state
    mock.drive.state = lambda at: {
        **usual(at),
        "alert": {"id": 5, "titleVariants": ["Faster route"], "actions": [{"id": 1, "titleVariants": ["Take it"]}]},
    }  # type: ignore[method-assign]
    page = inspector.show(ACTIONS)
    page.get_by_role("button", name="Take it").click()
    page.wait_for_selector("text=sent as a1")
    assert last(mock) == {"vehicle": "car", "action": "alert", "alertID": 5, "actionID": 1}
    page.get_by_role("button", name="Dismiss").click()
    page.wait_for_selector("text=sent as a2")
    assert last(mock, 2) == {"vehicle": "car", "action": "alert", "alertID": 5, "response": "dismiss"}


def test_without_act_the_buttons_are_off_and_say_why(inspector: Inspector, mock: Mock) -> None:
    mock.act = {"enabled": False, "reason": "started without --act"}
    page = inspector.show(ACTIONS)
    assert "Actions are off: started without --act." in inspector.text() and "waymark inspect --act" in inspector.text()
    assert page.get_by_role("button", name="Allow guidance").is_disabled()


def test_nothing_can_be_sent_to_a_past_moment(inspector: Inspector) -> None:
    page = inspector.show(f"{ACTIONS}&at=12")
    assert "Actions are off: this is a past moment." in inspector.text()
    assert page.get_by_role("button", name="Allow guidance").is_disabled()


def test_a_refused_action_says_its_reason(open_page: Any, mock: Mock) -> None:
    inspector = open_page(expects_errors=True)
    mock.act_refusal = Refused(403, "forbidden", "the gateway refused the inspector's endpoint", "action")
    page = inspector.show(ACTIONS)
    page.get_by_role("button", name="Allow guidance").click()
    page.wait_for_selector("text=allow was refused: action: the gateway refused the inspector's endpoint")


def test_a_configuration_is_edited_previewed_and_saved(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=cluster")
    page.get_by_role("link", name="no-lanes").click()
    inspector.until("document.querySelectorAll('.cluster svg.lanes').length === 0")
    assert mock.posted("/api/preview")[-1]["profile"]["without"] == ["laneGuidance", "routeSegments"]
    page.get_by_role("checkbox", name="lane guidance").check()
    page.locator("input[type=number][name=maneuversStored]").fill("2")
    page.keyboard.press("Tab")
    page.wait_for_selector("text=the endpoint stores 2 maneuvers")
    assert mock.posted("/api/preview")[-1] == {
        "source": "live",
        "vehicle": "car",
        "profile": {"without": ["routeSegments"], "limits": {"maneuversStored": 2}},
    }
    page.get_by_label("Save as").fill("my cluster")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="my cluster").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("Download")).click()
    assert download.value.suggested_filename == "profile.json"


def test_the_safe_area_and_the_light_appearance_are_shown(inspector: Inspector) -> None:
    page = inspector.show("vehicle=car&view=cluster")
    page.get_by_role("button", name="safe area").click()
    inspector.until("document.querySelectorAll('.cluster-area').length === 4")
    page.get_by_role("button", name="light appearance").click()
    inspector.until("document.querySelectorAll('.cluster-light').length === 4")
    sizes = page.evaluate("[...document.querySelectorAll('.screen')].map((one) => (one.offsetWidth / one.offsetHeight).toFixed(1))")
    assert sizes == ["1.5", "1.3", "2.7", "2.7"]
    assert page.evaluate(
        "[...document.querySelectorAll('.safe')].map((one) => Math.round(one.offsetLeft / one.offsetParent.clientWidth * 1920))"
    )[2:] == pytest.approx([420, 640], abs=4)
