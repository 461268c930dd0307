"""What a vehicle showed, in steps: one for each change of its connection, phase, client, next maneuver or maneuver state.

The words are those of `waymark test`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from waymark_nav import _json, messages as m
from waymark_nav.core import Phase
from waymark_nav.rig._fields import number
from waymark_nav.rig._history import History, Moment
from waymark_nav.rig._times import clock

_STEPS_MAX = 8
_UNITS = {
    m.DistanceUnit.METERS: "m", m.DistanceUnit.KILOMETERS: "km", m.DistanceUnit.FEET: "ft", m.DistanceUnit.YARDS: "yd",
    m.DistanceUnit.MILES: "mi",
}  # fmt: skip


@dataclass(frozen=True)
class _Shown:
    """What a step is made of."""

    is_connected: bool = False
    is_resumed: bool = False
    phase: str = "idle"
    is_client_away: bool = False
    maneuver: int | None = None
    maneuver_state: str = ""


def timeline(history: History, end: int) -> str:
    """The newest steps up to an instant."""
    steps = list(_steps(history, end))
    shown = steps if len(steps) <= _STEPS_MAX else ["…", *steps[-_STEPS_MAX:]]
    return " · ".join(shown) or "never connected"


def _steps(history: History, end: int) -> Iterator[str]:
    before = _Shown()
    for moment in history.moments[1:]:
        instant = history.entries[moment.index].instant
        if instant > end:
            return
        # A vehicle shows nothing of a snapshot or a publication before all of it has arrived.
        connection = replace(before, is_connected=moment.is_connected, is_resumed=moment.is_resumed)
        shown = _shown(moment) if moment.is_complete else connection
        if shown != before:
            yield f"{clock(instant)} {', '.join(_changes(before, shown, moment))}"
        before = shown


def _shown(moment: Moment) -> _Shown:
    state = moment.state
    maneuver = state.next_maneuver if state.phase is Phase.ACTIVE else None
    return _Shown(
        is_connected=moment.is_connected,
        is_resumed=moment.is_resumed,
        phase=_phase(moment),
        is_client_away=state.suspended,
        maneuver=maneuver.id if maneuver is not None else None,
        maneuver_state=_json.word(state.maneuver_state) if maneuver is not None else "",
    )


def _phase(moment: Moment) -> str:
    """The phase, and why guidance is paused or has ended."""
    reason = moment.value("pauseReason") or moment.value("endReason")
    phase = moment.state.phase.value
    return f"{phase}: {reason}" if reason else phase


def _changes(before: _Shown, shown: _Shown, moment: Moment) -> Iterator[str]:
    if shown.is_connected != before.is_connected:
        yield ("resumed" if shown.is_resumed else "connected") if shown.is_connected else "lost"
    if shown.phase != before.phase:
        yield shown.phase
    if shown.is_client_away != before.is_client_away:
        yield "client away" if shown.is_client_away else "client back"
    if shown.maneuver is None:
        if before.maneuver is not None and moment.state.phase is Phase.ACTIVE:
            yield "no maneuver"
    elif (shown.maneuver, shown.maneuver_state) != (before.maneuver, before.maneuver_state):
        yield f"maneuver {shown.maneuver}, {shown.maneuver_state}"
        if (estimates := moment.state.next_estimates) is not None:
            yield _distance(estimates)


def _distance(estimates: m.TravelEstimates) -> str:
    """The distance that an instrument shows, if it is published, else the true one."""
    display = estimates.distance_remaining_to_display
    if display is None:
        return f"{estimates.distance_remaining_meters} m"
    return f"{number(display.value_tenths / 10)} {_UNITS.get(display.unit, f'unit {display.unit.value}')}"
