"""What a vehicle holds of its session: the newest value of everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar

from waymark_nav import messages as m
from waymark_nav._generated.publications import PLAIN_STATES, PlainStates
from waymark_nav._wire import Message
from waymark_nav.frames import Flags, Frame

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Phase(Enum):
    """Where a session is, seen from a vehicle."""

    #: No session.
    IDLE = "idle"
    #: A session without guidance yet.
    PREVIEW = "preview"
    #: Guidance.
    ACTIVE = "active"
    #: Guidance is paused.
    PAUSED = "paused"
    #: The last session has ended.
    ENDED = "ended"


#: Keys of extensions in one session. A gateway forwards no more.
EXTENSION_STATES_MAX = 64


@dataclass(frozen=True, slots=True, order=True)
class ExtensionState:
    """The newest content of one key of an extension."""

    #: E.g. "org.example.tyres".
    name: str
    #: Which of the extension's states it is.
    key: int
    #: What the client and the endpoint agree on.
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class VehicleState(PlainStates):
    """What an endpoint holds. A value: it does not change."""

    phase: Phase = Phase.IDLE
    #: Only when paused.
    pause_reason: m.PauseReason | None = None
    pause_description: tuple[str, ...] = ()
    #: Only when ended.
    end_reason: m.SessionEndReason | None = None
    #: The session's id on the wire; 0 without one.
    session: int = 0
    #: The client that guides.
    client: str = ""
    #: The client is disconnected and may come back.
    suspended: bool = False
    #: What this endpoint does not get, and why.
    withheld: Mapping[m.Feature, m.WithheldReason] = field(default_factory=lambda: _NOTHING, hash=False)
    #: The cursor: up to which number the session is held; 0 during a full snapshot.
    sequence: int = 0
    #: Trips to choose from, before guidance.
    previews: tuple[m.Trip, ...] = ()
    #: The id of the highlighted one; empty: none.
    selected_preview: str = ""
    trip: m.Trip | None = None
    #: The number of the route.
    generation: int = 0
    #: In order along the route.
    maneuvers: tuple[m.Maneuver, ...] = ()
    lane_guidances: tuple[m.LaneGuidance, ...] = ()
    segments: tuple[m.RouteSegment, ...] = ()
    #: Ids, nearest first.
    upcoming_maneuvers: tuple[int, ...] = ()
    #: 0: none.
    current_lane_guidance: int = 0
    #: Empty: none.
    current_segment: str = ""
    maneuver_state: m.ManeuverState = m.ManeuverState.CONTINUE
    trip_estimates: m.TravelEstimates | None = None
    time_remaining_color: m.TimeRemainingColor = m.TimeRemainingColor.DEFAULT
    #: The newest estimates of each maneuver, by its id.
    maneuver_estimates: Mapping[int, m.TravelEstimates] = field(default_factory=lambda: _NOTHING, hash=False)
    #: The speed limit where the vehicle is; None: none was published.
    speed_limit: m.SpeedLimit | None = None
    #: The next different speed limit; None: none is known.
    next_speed_limit: m.SpeedLimitAhead | None = None
    alert: m.NavigationAlert | None = None
    #: The retained states of extensions, by name and key.
    extensions: tuple[ExtensionState, ...] = ()
    #: Between the marks of a full snapshot.
    in_snapshot: bool = False
    #: Between the marks of a snapshot: the cursor after it.
    snapshot_end: int | None = None
    #: Parts of the last publication are still to come.
    awaits_more: bool = False
    #: When the newest content was published, by the clock of the machine; None: not known.
    published_at: float | None = field(default=None, compare=False)
    #: The same, of the newest estimates; None: not known, or there are none.
    estimated_at: float | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        nothing = VehicleState()
        given = [(name, get(self)) for name, get, _ in _MEMBERS if get(self) != get(nothing)]
        return f"VehicleState({', '.join(f'{name}={value!r}' for name, value in given)})"

    @property
    def is_complete(self) -> bool:
        """Whether the last snapshot, and all parts of the last publication, have arrived. A display may wait for it."""
        return not self.in_snapshot and not self.awaits_more

    @property
    def next_maneuver(self) -> m.Maneuver | None:
        """The first upcoming maneuver."""
        if not self.upcoming_maneuvers:
            return None
        first = self.upcoming_maneuvers[0]
        return next((maneuver for maneuver in self.maneuvers if maneuver.id == first), None)

    @property
    def next_estimates(self) -> m.TravelEstimates | None:
        """The estimates of the first upcoming maneuver."""
        return self.maneuver_estimates.get(self.upcoming_maneuvers[0]) if self.upcoming_maneuvers else None

    def age(self, now: float) -> float | None:
        """How many seconds ago the newest content was published; None: not known."""
        return None if self.published_at is None else max(0.0, now - self.published_at)

    def estimates_age(self, now: float) -> float | None:
        """How many seconds ago the newest estimates were published; None: not known, or there are none. The age of remaining times."""
        return None if self.estimated_at is None else max(0.0, now - self.estimated_at)


_NAMES = tuple(VehicleState.__dataclass_fields__)
_MEMBERS = [(name, getattr(VehicleState, name).__get__, getattr(VehicleState, name).__set__) for name in _NAMES]


def changed(state: VehicleState, **changes: Any) -> VehicleState:
    """The state with other values. Why not dataclasses.replace(): each publication makes a state, and this takes a fifth of the time."""
    new = object.__new__(VehicleState)
    for name, get, set_value in _MEMBERS:
        set_value(new, changes[name] if name in changes else get(state))
    return new


def is_full(begin: m.SnapshotBegin) -> bool:
    """Whether a snapshot replaces everything. A kind that this version does not know counts as one."""
    return begin.kind != m.SnapshotKind.MISSED


def apply(state: VehicleState, whole: Frame, message: Message | None, limits: m.VehicleLimits, now: float) -> VehicleState:
    """The state after a message. message is None for a publication that this version does not know."""
    if isinstance(message, m.SnapshotBegin) and is_full(message):
        return _begin(state, message, whole.session, now)
    if whole.session not in (0, state.session):
        return state  # Of a session that is not held.
    if whole.is_published:
        return _publication(state, whole, message, limits, now)
    if isinstance(message, m.SnapshotBegin):
        return _begin(state, message, whole.session, now)
    if isinstance(message, m.SnapshotEnd):
        sequence = state.sequence if state.snapshot_end is None else state.snapshot_end
        return changed(state, sequence=sequence, in_snapshot=False, snapshot_end=None, awaits_more=False)
    if isinstance(message, m.SessionSuspended):
        return changed(
            state,
            suspended=True,
            published_at=_published(message.age_milliseconds, now),
            estimated_at=_published(message.estimates_age_milliseconds, now),
        )
    if isinstance(message, m.SessionRestored):
        return changed(state, suspended=False)
    if isinstance(message, m.SessionEnded) and message.session_id in (0, state.session):
        return ended(message.reason)
    return state


def ended(reason: m.SessionEndReason) -> VehicleState:
    """The state after a session."""
    return VehicleState(phase=Phase.ENDED, end_reason=reason)


def _published(age_milliseconds: int | None, now: float) -> float | None:
    return None if age_milliseconds is None else now - age_milliseconds / 1_000


def _begin(state: VehicleState, begin: m.SnapshotBegin, session: int, now: float) -> VehicleState:
    if is_full(begin):
        state = VehicleState(phase=Phase.PREVIEW, in_snapshot=True)
    return changed(
        state,
        session=session,
        client=begin.client_id,
        suspended=begin.suspended,
        withheld=MappingProxyType({grant.feature: grant.reason for grant in begin.withheld if grant.feature.is_recognized}),
        snapshot_end=begin.to_sequence,
        published_at=_published(begin.age_milliseconds, now),
        estimated_at=_published(begin.estimates_age_milliseconds, now),
    )


def _publication(state: VehicleState, whole: Frame, message: Message | None, limits: m.VehicleLimits, now: float) -> VehicleState:
    if state.session == 0 or whole.session == 0:
        return state
    changes: dict[str, Any] = {"awaits_more": bool(whole.flags & Flags.MORE)}
    if state.snapshot_end is None:
        changes["published_at"] = now
    if not state.in_snapshot:
        changes["sequence"] = whole.sequence
    reduce = REDUCERS.get(type(message))
    if reduce is not None and _is_usable(state, message):
        changes |= reduce(state, message, limits)
        if state.snapshot_end is None and (is_new := _has_estimates(message)) is not None:
            changes["estimated_at"] = now if is_new else None
    if isinstance(message, m.PublishExtension):
        changes |= extension_values(state, whole, message)
    if changes.get("phase") is Phase.ENDED:
        return ended(changes["end_reason"])
    return changed(state, **changes)


# Publications


def _has_estimates(message: Message | None) -> bool | None:
    """Whether there are estimates after a publication; None if it leaves those before as they are."""
    match message:
        case m.UpdateTripEstimates() | m.UpdateManeuverEstimates():
            return True
        case m.StartGuidance(route=m.RouteInformation() as route) | m.ResumeGuidance(route=m.RouteInformation() as route):
            return route.trip_travel_estimates is not None or route.maneuver_travel_estimates is not None
    return None


def _is_usable(state: VehicleState, message: Message | None) -> bool:
    """Whether a publication is one that the state allows, and refers to what is held. A gateway sends no other."""
    if state.phase is Phase.PREVIEW and not isinstance(message, _OF_PREVIEW):
        return False
    match message:
        case m.StartGuidance() | m.ResumeGuidance(route=m.RouteInformation()):
            return True
        case m.UpdateManeuverEstimates() if all(each.id != message.maneuver_id for each in state.maneuvers):
            return False
        case m.CurrentLaneGuidance(lane_guidance_id=current) if current and all(each.id != current for each in state.lane_guidances):
            return False
        case m.CurrentRouteSegment() if all(each.id != message.segment_id for each in state.segments):
            return False
        case m.DismissAlert():
            return state.alert is not None and state.alert.id == message.alert_id
    return getattr(message, "generation", state.generation) == state.generation


def extension_values(state: VehicleState, whole: Frame, message: m.PublishExtension) -> dict[str, Any]:
    """What an extension sets: a state takes the place of the one with its key; one that is not retained only removes it."""
    if not whole.flags & Flags.STATE:
        return {}
    others = tuple(each for each in state.extensions if each.key != whole.key)
    if whole.flags & Flags.RETAINED and len(others) < EXTENSION_STATES_MAX:
        others = tuple(sorted((*others, ExtensionState(message.name, whole.key, message.content))))
    return {"extensions": others}


_OF_PREVIEW = (m.TripPreviews, m.StartGuidance, m.FinishGuidance, m.CancelGuidance)


def _held(ids: Iterable[int], maneuvers: Iterable[m.Maneuver]) -> tuple[int, ...]:
    """Those of the ids that are of one of the maneuvers."""
    known = {maneuver.id for maneuver in maneuvers}
    return tuple(each for each in ids if each in known)


def _start(state: VehicleState, start: m.StartGuidance, limits: m.VehicleLimits) -> dict[str, Any]:
    kept = {"session", "client", "suspended", "withheld", "sequence", "in_snapshot", "snapshot_end", "published_at", "estimated_at"}
    new = VehicleState()
    changes = {name: get(new) for name, get, _ in _MEMBERS if name not in kept}
    del changes["awaits_more"]
    return changes | {"phase": Phase.ACTIVE, "trip": start.trip} | route_values(start.route, start.generation)


def route_values(route: m.RouteInformation, generation: int) -> dict[str, Any]:
    """What a new route sets."""
    estimates: dict[int, m.TravelEstimates] = {}
    upcoming = _held(route.upcoming_maneuver_ids, route.maneuvers)
    if route.maneuver_travel_estimates is not None and upcoming and upcoming[0] == route.upcoming_maneuver_ids[0]:
        estimates[upcoming[0]] = route.maneuver_travel_estimates
    return {
        "generation": generation,
        "maneuvers": tuple(route.maneuvers),
        "lane_guidances": tuple(route.lane_guidances),
        "segments": tuple(route.segments),
        "upcoming_maneuvers": upcoming,
        "current_lane_guidance": route.current_lane_guidance_id,
        "current_segment": route.current_segment_id or (route.segments[0].id if route.segments else ""),
        "trip_estimates": route.trip_travel_estimates,
        "time_remaining_color": m.TimeRemainingColor.DEFAULT,
        "maneuver_estimates": MappingProxyType(estimates),
        "speed_limit": None,
        "next_speed_limit": None,
        "maneuver_state": m.ManeuverState.CONTINUE,
    }


E = TypeVar("E", bound=m.Maneuver | m.LaneGuidance | m.RouteSegment)


def _adding(added: Iterable[E], held: tuple[E, ...], count_max: int) -> tuple[E, ...]:
    """The count_max elements that were added last (0: all); one that comes again counts as added now."""
    new = tuple(added)
    ids: set[int | str] = {element.id for element in new}
    every = (*(element for element in held if element.id not in ids), *new)
    return every[-count_max:] if count_max else every


def _add_maneuvers(state: VehicleState, add: m.AddManeuvers, limits: m.VehicleLimits) -> dict[str, Any]:
    maneuvers = _adding(add.maneuvers, state.maneuvers, limits.maneuvers_stored_max)
    held = {maneuver.id for maneuver in maneuvers}
    return {
        "maneuvers": maneuvers,
        "upcoming_maneuvers": tuple(each for each in state.upcoming_maneuvers if each in held),
        "maneuver_estimates": MappingProxyType({key: value for key, value in state.maneuver_estimates.items() if key in held}),
    }


def _add_lane_guidances(state: VehicleState, add: m.AddLaneGuidances, limits: m.VehicleLimits) -> dict[str, Any]:
    guidances = _adding(add.lane_guidances, state.lane_guidances, limits.lane_guidances_stored_max)
    is_held = any(guidance.id == state.current_lane_guidance for guidance in guidances)
    return {"lane_guidances": guidances, "current_lane_guidance": state.current_lane_guidance if is_held else 0}


def _resume(state: VehicleState, resume: m.ResumeGuidance, limits: m.VehicleLimits) -> dict[str, Any]:
    changes: dict[str, Any] = {"phase": Phase.ACTIVE, "pause_reason": None, "pause_description": ()}
    return changes | (route_values(resume.route, resume.generation) if resume.route is not None else {})


def _maneuver_estimates(state: VehicleState, update: m.UpdateManeuverEstimates, limits: m.VehicleLimits) -> dict[str, Any]:
    return {"maneuver_estimates": MappingProxyType({**state.maneuver_estimates, update.maneuver_id: update.travel_estimates})}


def _pause(state: VehicleState, pause: m.PauseGuidance, limits: m.VehicleLimits) -> dict[str, Any]:
    return {
        "phase": Phase.PAUSED,
        "pause_reason": pause.reason,
        "pause_description": tuple(pause.description_variants),
        "maneuver_state": m.ManeuverState.CONTINUE,
    }


def _end(reason: m.SessionEndReason) -> dict[str, Any]:
    return {"phase": Phase.ENDED, "end_reason": reason}


def _plain(values: Mapping[str, str]) -> Any:
    """What a plain state changes. values: the value of the state that each field is."""

    def reduce(state: VehicleState, message: Any, limits: m.VehicleLimits) -> dict[str, Any]:
        return {value: getattr(message, name) for name, value in values.items()}

    return reduce


#: What each publication changes.
REDUCERS: dict[type[Any], Any] = {
    m.TripPreviews: lambda state, message, limits: {"previews": tuple(message.trips), "selected_preview": message.selected_trip_id},
    m.StartGuidance: _start,
    m.UpdateTrip: lambda state, message, limits: {"trip": message.trip},
    m.AddManeuvers: _add_maneuvers,
    m.AddLaneGuidances: _add_lane_guidances,
    m.AddRouteSegments: lambda state, message, limits: {"segments": _adding(message.segments, state.segments, 0)},
    m.UpcomingManeuvers: lambda state, message, limits: {"upcoming_maneuvers": _held(message.maneuver_ids, state.maneuvers)},
    m.CurrentLaneGuidance: lambda state, message, limits: {"current_lane_guidance": message.lane_guidance_id},
    m.UpdateManeuverState: lambda state, message, limits: {"maneuver_state": message.state},
    m.UpdateTripEstimates: lambda state, message, limits: {
        "trip_estimates": message.travel_estimates,
        "time_remaining_color": message.time_remaining_color,
    },
    m.UpdateManeuverEstimates: _maneuver_estimates,
    m.UpdateSpeedLimit: lambda state, message, limits: {"speed_limit": message.limit, "next_speed_limit": message.next},
    m.CurrentRouteSegment: lambda state, message, limits: {"current_segment": message.segment_id},
    m.PauseGuidance: _pause,
    m.ResumeGuidance: _resume,
    m.ShowAlert: lambda state, message, limits: {"alert": message.alert},
    m.DismissAlert: lambda state, message, limits: {"alert": None},
    m.FinishGuidance: lambda state, message, limits: _end(m.SessionEndReason.FINISHED),
    m.CancelGuidance: lambda state, message, limits: _end(m.SessionEndReason.CANCELLED_BY_CLIENT),
    **{message: _plain(values) for message, values in PLAIN_STATES.items()},
}
