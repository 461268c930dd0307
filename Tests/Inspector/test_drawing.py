"""Glyphs, lanes and words, drawn from type, angles and status."""

from typing import Any

import pytest

from conftest import Inspector
from mock_inspector import Mock

TYPES = [
    "noTurn",
    "leftTurn",
    "rightTurn",
    "straightAhead",
    "uTurn",
    "followRoad",
    "enterRoundabout",
    "exitRoundabout",
    "offRamp",
    "onRamp",
    "arriveEndOfNavigation",
    "startRoute",
    "arriveAtDestination",
    "keepLeft",
    "keepRight",
    "enterFerry",
    "exitFerry",
    "changeFerry",
    "startRouteWithUTurn",
    "uTurnAtRoundabout",
    "leftTurnAtEnd",
    "rightTurnAtEnd",
    "highwayOffRampLeft",
    "highwayOffRampRight",
    "arriveAtDestinationLeft",
    "arriveAtDestinationRight",
    "uTurnWhenPossible",
    "arriveEndOfDirections",
]
TYPES += [f"roundaboutExit{number}" for number in range(1, 20)]
TYPES += [
    "sharpLeftTurn",
    "sharpRightTurn",
    "slightLeftTurn",
    "slightRightTurn",
    "changeHighway",
    "changeHighwayLeft",
    "changeHighwayRight",
]
"""CarPlay's types, in the order of their raw values."""


def glyph(inspector: Inspector, maneuver: dict[str, Any]) -> dict[str, Any]:
    return inspector.page.evaluate(
        """async (maneuver) => {
        const picture = (await import('/page/glyph.js')).glyph(maneuver);
        document.body.append(picture);
        const box = [...picture.querySelectorAll('.glyph-route-head')].at(-1)?.getBBox(), all = picture.getBBox();
        const title = picture.querySelector('title').textContent;
        const answer = {name: picture.getAttribute('aria-label'), title, html: picture.innerHTML,
            head: box && [box.x + box.width / 2, box.y + box.height / 2], box: [all.x, all.y, all.x + all.width, all.y + all.height]};
        picture.remove();
        return answer;
    }""",
        maneuver,
    )


def test_every_type_of_carplay_is_drawn_and_named(inspector: Inspector) -> None:
    assert len(TYPES) == 54
    drawn = set()
    for type in TYPES:
        for side in ["right", "left"]:
            picture = glyph(inspector, {"type": type, "trafficSide": side})
            assert "<path" in picture["html"] and "NaN" not in picture["html"], type
            assert picture["box"][0] >= -2 and picture["box"][2] <= 102 and picture["box"][1] >= -4 and picture["box"][3] <= 104, (
                type,
                picture["box"],
            )
            assert (picture["name"] and picture["name"][0].islower()) or picture["name"].startswith("U-turn"), type
        drawn.add(picture["html"])
    assert len(drawn) > 35


@pytest.mark.parametrize("angle", [-179, -135, -93, -45, -10, 10, 45, 84, 93, 135, 170])
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_arrow_points_where_the_route_leaves(inspector: Inspector, angle: int, side: str) -> None:
    type = "rightTurn" if angle > 0 else "leftTurn"
    for maneuver in [
        {"type": type, "junctionExitAngle": angle},
        {"type": "roundaboutExit2", "junctionType": "roundabout", "trafficSide": side, "junctionExitAngle": angle},
    ]:
        x, y = glyph(inspector, maneuver)["head"]
        if 15 < abs(angle) < 165:
            assert (x > 50) == (angle > 0), maneuver
        assert (y < 52) == (abs(angle) < 93) or 80 < abs(angle) < 100, maneuver


def test_a_roundabout_has_its_real_exits_and_its_number(inspector: Inspector) -> None:
    picture = glyph(
        inspector,
        {
            "type": "roundaboutExit3",
            "junctionType": "roundabout",
            "trafficSide": "right",
            "junctionExitAngle": -97,
            "junctionElementAngles": [90, 0, -54],
        },
    )
    assert picture["html"].count('class="glyph-road"') == 4
    assert ">3<" in picture["html"]
    assert picture["name"] == "roundabout, exit 3, 97 degrees to the left, anticlockwise"


def test_roundabouts_run_clockwise_in_left_hand_traffic(inspector: Inspector) -> None:
    arcs = [glyph(inspector, {"type": "roundaboutExit1", "trafficSide": side})["html"] for side in ["right", "left"]]
    assert " 0 0 0 " in arcs[0] and " 0 0 1 " in arcs[1]
    assert glyph(inspector, {"type": "roundaboutExit1", "trafficSide": "left"})["head"][0] < 50
    assert glyph(inspector, {"type": "roundaboutExit1", "trafficSide": "left"})["name"].endswith(", clockwise")


def test_a_u_turn_is_to_the_other_side_in_left_hand_traffic(inspector: Inspector) -> None:
    assert glyph(inspector, {"type": "uTurn", "trafficSide": "right"})["head"][0] < 50
    assert glyph(inspector, {"type": "uTurn", "trafficSide": "left", "junctionExitAngle": -168})["head"][0] > 50


def test_an_angle_that_was_not_published_is_said_to_be_assumed(inspector: Inspector) -> None:
    assert "the client published no exit angle" in glyph(inspector, {"type": "rightTurn"})["title"]
    assert "published no exit angle" not in glyph(inspector, {"type": "rightTurn", "junctionExitAngle": 84})["title"]


def test_a_type_that_the_page_does_not_know_is_named_by_its_number(inspector: Inspector) -> None:
    assert glyph(inspector, {"type": "77"})["name"] == "77"


def test_lanes_are_named_and_marked_by_more_than_colour(inspector: Inspector) -> None:
    guidance = {
        "lanes": [
            {"angles": [-90], "status": "notGood"},
            {"angles": [0, 90], "highlightedAngle": 0, "status": "good"},
            {"angles": [90], "highlightedAngle": 90, "status": "preferred"},
            {"status": "notGood"},
        ]
    }
    name, html = inspector.page.evaluate(
        """async (guidance) => {
        const picture = (await import('/page/glyph.js')).lanes(guidance);
        return [picture.getAttribute('aria-label'), picture.innerHTML];
    }""",
        guidance,
    )
    assert name == (
        "lane 1 of 4, not along the route, leads 90 degrees to the left; "
        "lane 2 of 4, good, take it straight on, also leads 90 degrees to the right; "
        "lane 3 of 4, preferred, take it 90 degrees to the right; lane 4 of 4, not along the route, no arrows"
    )
    assert html.count("lane-mark") == 2


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("words.distance(999)", "999 m"),
        ("words.distance(1049)", "1.0 km"),
        ("words.distance(250000)", "250 km"),
        ("words.distance(undefined)", ""),
        ("words.duration(59)", "59 s"),
        ("words.duration(3720)", "1 h 02 min"),
        ("words.bytes(18230)", "17.8 KiB"),
        ("words.offset(3723.45)", "1:02:03.4"),
        ("words.shownDistance({distanceMeters: 81, displayTenths: 800, displayUnit: 'meters'})", "80 m"),
        ("words.shownDistance({distanceMeters: 4500, displayTenths: 28, displayUnit: 'miles'})", "2.8 mi"),
        ("words.sentence('declinedByUser')", "declined by user"),
    ],
)
def test_numbers_are_read_as_people_write_them(inspector: Inspector, call: str, text: str) -> None:
    assert inspector.page.evaluate(f"import('/page/words.js').then((words) => {call})") == text


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("angle", [180, -180])
def test_the_way_back_at_a_roundabout_leads_around_it(inspector: Inspector, side: str, angle: int) -> None:
    length = inspector.page.evaluate(
        """async (maneuver) => {
        const picture = (await import('/page/glyph.js')).glyph(maneuver);
        return Math.max(...[...picture.querySelectorAll('.glyph-route')].map((one) => one.getTotalLength()));
    }""",
        {"type": "roundaboutExit4", "junctionType": "roundabout", "trafficSide": side, "junctionExitAngle": angle},
    )
    assert length > 2 * 3.14 * 21


def test_a_lane_of_unknown_status_is_drawn(inspector: Inspector) -> None:
    html = inspector.page.evaluate("import('/page/glyph.js').then(({lanes}) => lanes({lanes: [{angles: [0], status: '7'}]}).innerHTML)")
    assert "glyph-lane-good" in html and "lane-7" not in html and "lane-mark" not in html


@pytest.mark.mock
def test_the_overview_draws_the_published_angle(inspector: Inspector, mock: Mock) -> None:
    mock.overrides["overview"] = lambda query: {
        **mock.overview(query),
        "vehicles": [{**row, "junctionExitAngle": 121} for row in mock.overview(query)["vehicles"]],
    }
    inspector.show("sort=age")
    assert inspector.page.locator("td .then-glyph svg").first.get_attribute("aria-label") == "right turn, 121 degrees"


def sign(inspector: Inspector, limit: dict[str, Any] | None) -> Any:
    """What is drawn of a limit: the name, the text, and the names of its shapes; None for nothing."""
    return inspector.page.evaluate(
        """async (limit) => {
        const picture = (await import('/page/sign.js')).speedSign(limit);
        return picture && [picture.getAttribute('aria-label'), picture.textContent,
            [...picture.children].map(shape => shape.getAttribute('class'))];
    }""",
        limit,
    )


def test_a_speed_limit_has_the_sign_of_its_country(inspector: Inspector) -> None:
    round_one = {"status": "limited", "value": 50, "unit": "kilometersPerHour", "sign": "vienna"}
    assert sign(inspector, round_one) == ["Speed limit 50 km/h", "50", ["sign-ring", "sign-text"]]
    school = {"status": "limited", "value": 35, "unit": "milesPerHour", "kind": "schoolZone", "sign": "mutcd"}
    assert sign(inspector, school)[:2] == ["Speed limit 35 mph, school zone", "SPEEDLIMIT35"]
    assert sign(inspector, {"status": "none", "sign": "vienna"})[2] == ["sign-plate", "sign-end"]


def test_a_speed_limit_without_a_known_sign_is_a_text(inspector: Inspector) -> None:
    assert sign(inspector, {"status": "limited", "value": 50, "unit": "kilometersPerHour"}) == [None, "50 km/h", []]
    assert sign(inspector, {"status": "none"}) == [None, "no limit", []]
    assert sign(inspector, {"status": "unknown"}) is None and sign(inspector, None) is None


def test_the_card_and_the_comparison_show_the_speed_limit(inspector: Inspector, mock: Mock) -> None:
    limit = {"status": "limited", "value": 50, "unit": "kilometersPerHour", "sign": "vienna"}
    ahead = {**limit, "value": 80, "distanceMeters": 1234, "displayTenths": 12, "displayUnit": "kilometers"}
    usual = mock.drive.state
    mock.drive.state = lambda at: {**usual(at), "speedLimit": limit, "nextSpeedLimit": ahead}  # type: ignore[method-assign]
    page = inspector.show("vehicle=car")
    assert page.locator(".card .sign").get_attribute("aria-label") == "Speed limit 50 km/h"
    assert "then 80 km/h in 1.2 km" in page.inner_text(".card-limit")
