"""The text of a failure as pytest prints it, and text of others in its lines."""

from __future__ import annotations

from typing import Any

import pytest

from waymark_nav import messages as m
from waymark_nav.core import Connected, Connecting, Event, Phase, Update, VehicleState
from waymark_nav.core._state import changed
from waymark_nav.frames import frame, type_name
from waymark_nav.rig import _report
from waymark_nav.rig._history import History
from waymark_nav.rig._judge import Judge, Judged
from waymark_nav.rig._timeline import timeline
from waymark_nav.rig._times import NANOSECONDS
from waymark_nav.rig._vehicle import Words
from waymark_nav.rig._words import Anchor

_MILLISECOND = NANOSECONDS // 1_000
_MANEUVER = m.Maneuver(id=4, type=m.ManeuverType.RIGHT_TURN)
_GUIDED = VehicleState(session=1, phase=Phase.ACTIVE, maneuvers=(_MANEUVER,), upcoming_maneuvers=(4,))


class Drive(Words):
    """A made-up drive. Times are milliseconds."""

    def __init__(self) -> None:
        self.history = History()
        self.judge = Judge(self.history)
        self.state = VehicleState()
        self.now = 0
        self.sequence = 0

    def _add(self, judged: Judged) -> Judged:
        judged.place = "test_it.py:9"
        self.judge.begin(judged, Anchor(len(self.history.entries) - 1, self.now * _MILLISECOND))
        return judged

    def see(self, at: int, event: Event) -> None:
        self.now = at
        self.judge.see(self.history.append(event, at * _MILLISECOND))

    def publish(self, at: int, message: Any, **changes: Any) -> None:
        self.sequence += 1
        self.state = changed(self.state, **changes)
        sent = frame(message, 1, self.sequence)
        self.see(at, Update(name=type_name(sent.type), message=message, state=self.state, frame=sent))

    def see_state(self, at: int, **changes: Any) -> None:
        self.state = changed(self.state, **changes)
        self.see(at, Update(name="current", message=None, state=self.state))

    def guide(self, at: int) -> None:
        self.state = _GUIDED
        self.publish(at, m.UpcomingManeuvers(maneuver_ids=(4,)))

    def road(self, at: int, name: str) -> None:
        self.publish(at, m.CurrentRoadName(name_variants=(name,)), current_road_name=(name,))

    def report(self, judged: Judged, at: int) -> str:
        """Why it failed."""
        self.judge.end(at * _MILLISECOND)
        return _report.explain(judged, self.history, [])


def test_a_report_begins_with_the_event_and_ends_at_the_failure() -> None:
    drive = Drive()
    judged: Any = drive.when("upcomingManeuvers").eventually({"currentRoadName": ["Home"], "phase": "active"}, within=5)
    judged.because = "A driver must know when to turn."
    drive.see(0, Connected(resumed=False))
    drive.guide(50)
    for number in range(20):
        drive.road(100 + 100 * number, f"Road {number}")
    drive.publish(2_100, m.PauseGuidance(reason=m.PauseReason.REROUTING), phase=Phase.PAUSED, pause_reason=m.PauseReason.REROUTING)
    for number in range(20, 60):
        drive.road(200 + 100 * number, f"Road {number}")
    assert (
        drive.report(judged, 7_000)
        == """\
eventually currentRoadName [Home], phase active within 5 s, when
  upcomingManeuvers
  in        test_it.py:9
  because   A driver must know when to turn.
  event     at 0.050 s; decided at 5.050 s
  nearest   at 2.000 s; 1 value is different
              currentRoadName  [Road 19]  expected [Home]

      0.050  UpcomingManeuvers 1: upcomingManeuvers [4]
             … 12 more
      1.300  CurrentRoadName 14: currentRoadName [Road 12]
      1.400  CurrentRoadName 15: currentRoadName [Road 13]
      1.500  CurrentRoadName 16: currentRoadName [Road 14]
      1.600  CurrentRoadName 17: currentRoadName [Road 15]
      1.700  CurrentRoadName 18: currentRoadName [Road 16]
      1.800  CurrentRoadName 19: currentRoadName [Road 17]
      1.900  CurrentRoadName 20: currentRoadName [Road 18]
  >   2.000  CurrentRoadName 21: currentRoadName [Road 19]
      2.100  PauseGuidance 22: pauseReason rerouting
      2.200  CurrentRoadName 23: currentRoadName [Road 20]
      2.300  CurrentRoadName 24: currentRoadName [Road 21]
      2.400  CurrentRoadName 25: currentRoadName [Road 22]
      2.500  CurrentRoadName 26: currentRoadName [Road 23]
      2.600  CurrentRoadName 27: currentRoadName [Road 24]
      2.700  CurrentRoadName 28: currentRoadName [Road 25]
      2.800  CurrentRoadName 29: currentRoadName [Road 26]
      2.900  CurrentRoadName 30: currentRoadName [Road 27]
      3.000  CurrentRoadName 31: currentRoadName [Road 28]
      3.100  CurrentRoadName 32: currentRoadName [Road 29]
      3.200  CurrentRoadName 33: currentRoadName [Road 30]
             … 18 more until 5.050 s

  vehicle   0.000 connected · 0.050 active, maneuver 4, continue · 2.100
            paused: rerouting"""
    )


def test_a_report_marks_the_event_if_nothing_like_it_followed() -> None:
    drive = Drive()
    drive.see(0, Connected(resumed=False))
    judged: Any = drive.when("upcomingManeuvers").expect("showAlert", within="1ms")
    drive.guide(50)
    drive.road(52, "later")
    assert (
        drive.report(judged, 1_000)
        == """\
message showAlert within 0.001 s, when upcomingManeuvers
  in        test_it.py:9
  event     at 0.050 s; decided at 0.051 s
  nearest   nothing like it was seen

      0.000  connected
  >   0.050  UpcomingManeuvers 1: upcomingManeuvers [4]

  vehicle   0.000 connected · 0.050 active, maneuver 4, continue"""
    )


def test_a_report_of_what_must_not_happen_tells_when_it_was_seen() -> None:
    drive = Drive()
    drive.see(0, Connected(resumed=False))
    judged: Any = drive.never("currentRoadName")
    drive.road(100, "Road")
    drive.road(200, "later")
    drive.see(300, Connecting())
    text = drive.report(judged, 1_000)
    assert "\n  since     0.000 s; decided at 0.100 s\n  seen      at 0.100 s\n" in text
    assert "later" not in text
    assert text.endswith("\n  vehicle   0.000 connected")


def test_the_vehicle_shows_each_change_as_a_step() -> None:
    drive = Drive()
    assert timeline(drive.history, 0) == "never connected"
    display = m.DisplayDistance(unit=m.DistanceUnit.KILOMETERS, value_tenths=44)
    near = {4: m.TravelEstimates(distance_remaining_meters=4_391, distance_remaining_to_display=display)}
    paused = {"phase": Phase.PAUSED, "pause_reason": m.PauseReason.REROUTING}
    drive.see(10, Connected(resumed=False))
    drive.see_state(20, phase=Phase.PREVIEW, session=1, in_snapshot=True)
    drive.see_state(30, in_snapshot=False)
    drive.see_state(40, phase=Phase.ACTIVE, upcoming_maneuvers=(4,), awaits_more=True)
    drive.see_state(50, maneuvers=(_MANEUVER,), awaits_more=False)
    drive.see_state(60, current_road_name=("Road",))
    steps = ["0.010 connected", "0.030 preview", "0.050 active, maneuver 4, continue"]
    assert timeline(drive.history, 60 * _MILLISECOND) == " · ".join(steps)
    drive.see_state(70, maneuver_state=m.ManeuverState.PREPARE, maneuver_estimates=near)
    drive.see_state(80, suspended=True)
    drive.see_state(90, suspended=False, **paused)
    drive.see(100, Connecting())
    drive.see(110, Connected(resumed=True))
    drive.see_state(120, phase=Phase.ACTIVE, upcoming_maneuvers=())
    drive.see_state(130, upcoming_maneuvers=(4,), maneuver_estimates={4: m.TravelEstimates(distance_remaining_meters=90)})
    drive.see_state(140, upcoming_maneuvers=())
    drive.see_state(150, phase=Phase.ENDED, end_reason=m.SessionEndReason.USER_STOPPED)
    assert timeline(drive.history, 150 * _MILLISECOND).split(" · ") == [
        "…",
        "0.080 client away",
        "0.090 paused: rerouting, client back",
        "0.100 lost",
        "0.110 resumed",
        "0.120 active",
        "0.130 maneuver 4, prepare, 90 m",
        "0.140 no maneuver",
        "0.150 ended: userStopped",
    ]
    assert timeline(drive.history, 70 * _MILLISECOND).endswith("0.070 maneuver 4, prepare, 4.4 km")


def test_each_expectation_has_a_line_with_its_verdict() -> None:
    drive = Drive()
    passed: Any = drive.eventually({"connected": True}, within=1)
    failed: Any = drive.expect("showAlert", within=1)
    open_one: Any = drive.never("currentRoadName")
    drive.see(10, Connected(resumed=False))
    drive.judge.expire(2 * NANOSECONDS)
    assert _report.verdicts([passed, failed, open_one]) == [
        "passed at 0.010 s: test_it.py:9 eventually connected true within 1 s",
        "failed at 1.000 s: test_it.py:9 message showAlert within 1 s",
        "undecided: test_it.py:9 never message currentRoadName",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2J\u202eb", "a\\u001b[2J\\u202eb"),
        ("onto شارع الوحدة 21 (600 m)", "onto \u2067شارع الوحدة\u2069 21 (600 m)"),
        ("רחוב 500 צפון, שדרות", "\u2067רחוב 500 צפון\u2069, \u2067שדרות\u2069"),
        ("👨\u200d👩\u200d👧 می\u200cخواهم", "👨\u200d👩\u200d👧 \u2067می\u200cخواهم\u2069"),
        ("a\u200db\u2067", "a\\u200db"),
        ("a\n\nb", "a\n\nb"),
        ("שלום\n12", "\u2067שלום\u2069\n12"),
    ],
)
def test_names_of_others_neither_steer_the_terminal_nor_change_the_order_of_a_line(text: str, shown: str) -> None:
    assert _report._printable(text) == shown
    assert _report._printable(shown) == shown
