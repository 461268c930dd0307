"""What crossed the connection of one endpoint, in order, and what the endpoint held after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waymark_nav import _json, messages as m
from waymark_nav.core import Closed, Connected, Connecting, Event, RequestEnded, Traced, Update, VehicleState
from waymark_nav.frames import Frame
from waymark_nav.rig._errors import RigError
from waymark_nav.rig._fields import message_name
from waymark_nav.rig._times import seconds

#: More entries than this end a test: a history must fit into memory.
ENTRIES_MAX = 200_000

_METERS = {
    m.DistanceUnit.METERS: 1.0, m.DistanceUnit.KILOMETERS: 1_000.0, m.DistanceUnit.MILES: 1_609.344, m.DistanceUnit.FEET: 0.3048,
    m.DistanceUnit.YARDS: 0.9144,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownAfter(Event):
    """The gateway told the client how long a publication took until it was on this endpoint's display."""

    microseconds: int


@dataclass(frozen=True, slots=True)
class Moment:
    """What the endpoint held after an entry, and what it knew of its connection."""

    #: Of the entry; -1: before the first one.
    index: int
    state: VehicleState
    is_connected: bool = False
    #: The connection continued what the endpoint held.
    is_resumed: bool = False

    @property
    def is_complete(self) -> bool:
        """All of the last snapshot, full or of what was missed, and all parts of the last publication have arrived."""
        return self.state.is_complete and self.state.snapshot_end is None

    @property
    def shows(self) -> str:
        """What a display shows: `stale` is what an endpoint holds that is not connected, or whose client is not."""
        if self.state.session == 0 or not self.is_complete:
            return "none"
        return "fresh" if self.is_connected and not self.state.suspended else "stale"

    def value(self, key: str) -> Any:
        """The value of a key of the first level."""
        match key:
            case "connected":
                return self.is_connected
            case "resumed":
                return self.is_connected and self.is_resumed
            case "shows":
                return self.shows
            case "next":
                return _next(self.state)
            case "lanes":
                return _lanes(self.state)
            case _:
                return _json.value(self.state, key)


def _next(state: VehicleState) -> dict[str, Any]:
    maneuver, estimates = state.next_maneuver, state.next_estimates
    values: dict[str, Any] = {"id": state.upcoming_maneuvers[0] if state.upcoming_maneuvers else None}
    if maneuver is not None:
        values |= {
            "type": _json.word(maneuver.type),
            "road": next(iter(maneuver.road_following_maneuver_variants), None),
            "instruction": next(iter(maneuver.instruction_variants), None),
            "exitAngle": maneuver.junction_exit_angle_degrees,
            "junction": _json.word(maneuver.junction_type),
            "side": _json.word(maneuver.traffic_side),
        }
    if estimates is not None:
        display = estimates.distance_remaining_to_display
        meters = _METERS.get(display.unit) if display is not None else None
        values |= {
            "distance": estimates.distance_remaining_meters,
            "time": estimates.time_remaining_seconds,
            "displayed": display.value_tenths / 10 * meters if display is not None and meters is not None else None,
        }
    return values


def _lanes(state: VehicleState) -> dict[str, Any]:
    """The lanes to show now. Lanes have numbers from 1, from the left."""
    current = state.current_lane_guidance
    guidance = next((each for each in state.lane_guidances if each.id == current), None) if current else None
    lanes = list(enumerate(guidance.lanes, 1)) if guidance is not None else []
    return {
        "count": len(lanes),
        "highlighted": [place for place, lane in lanes if lane.highlighted_angle_degrees is not None],
        "preferred": [place for place, lane in lanes if lane.status == m.LaneStatus.PREFERRED],
        "good": [place for place, lane in lanes if lane.status == m.LaneStatus.GOOD],
        "instruction": next(iter(guidance.instruction_variants), None) if guidance is not None else None,
    }


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened, or a frame that crossed."""

    index: int
    #: Nanoseconds since the rig began.
    instant: int
    event: Event
    #: What the endpoint held afterwards, if that has changed.
    moment: Moment | None

    @property
    def frame(self) -> Frame | None:
        """The frame, if one crossed."""
        return self.event.frame if isinstance(self.event, Update | Traced) else None

    @property
    def message(self) -> Any:
        """The message that was received."""
        return self.event.message if isinstance(self.event, Update) else None

    @property
    def is_refused(self) -> bool:
        """The endpoint could not use the frame."""
        return isinstance(self.event, Traced) and self.event.rejection is not None

    @property
    def name(self) -> str:
        """The message's name, or what happened."""
        frame = self.frame
        match self.event:
            case Update() | Traced() if frame is not None:
                return message_name(frame.type)
            case Update(name=name):
                return name
            case Connected(resumed=resumed):
                return "connected, resumed" if resumed else "connected"
            case Connecting():
                return "connecting"
            case Closed(error=error):
                return f"closed: {error}"
            case RequestEnded(outcome=outcome):
                return f"the request ended: {_json.word(outcome)}"
            case ShownAfter(microseconds=microseconds):
                return f"shown after {seconds(microseconds * 1_000)}"
            case _:
                return type(self.event).__name__

    def content(self) -> dict[str, Any]:
        """The message with its header, as in Docs/cluster-json.md."""
        event = self.event
        if isinstance(event, Update):
            return _json.message(event)
        frame = self.frame
        if frame is None:
            return {}
        update = Update(name=self.name, message=None, state=VehicleState(), frame=frame)
        return _json.message(update)


class History:
    """The entries of one endpoint."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.moments: list[Moment] = [Moment(-1, VehicleState())]
        #: How requests ended: index of the entry, outcome.
        self.outcomes: dict[str, tuple[int, m.Outcome]] = {}

    @property
    def moment(self) -> Moment:
        """The newest."""
        return self.moments[-1]

    @property
    def is_full(self) -> bool:
        """Whether it takes no more."""
        return len(self.entries) >= ENTRIES_MAX

    def append(self, event: Event, instant: int) -> Entry:
        """Adds what the endpoint tells."""
        if self.is_full:
            raise RigError(f"the history has {ENTRIES_MAX} entries; make the test shorter")
        index, last = len(self.entries), self.moment
        moment: Moment | None = None
        match event:
            case Update(state=state) if state != last.state:
                moment = Moment(index, state, last.is_connected, last.is_resumed)
            case Connected(resumed=resumed):
                moment = Moment(index, last.state, True, resumed)
            case Connecting() | Closed() if last.is_connected:
                # What was under way when the connection was lost does not come any more: the next one begins a snapshot of its own.
                moment = Moment(index, last.state)
            case RequestEnded(request_id=request_id, outcome=outcome):
                self.outcomes[request_id] = (index, outcome)
            case _:
                pass
        entry = Entry(index, instant, event, moment)
        self.entries.append(entry)
        if moment is not None:
            self.moments.append(moment)
        return entry

    def moment_at(self, index: int) -> Moment:
        """What the endpoint held after an entry."""
        low, high = 0, len(self.moments)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.moments[middle].index <= index else (low, middle)
        return self.moments[max(0, low - 1)]
