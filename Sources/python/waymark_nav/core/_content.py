"""What a client has published in a session: what its publications may refer to, what is withheld, and how to say all of it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from waymark_nav import messages as m
from waymark_nav._generated.publications import NEEDS, PLAIN_STATES
from waymark_nav._wire import DUPLICATE, INCONSISTENT, LIMIT_REACHED, UNKNOWN_REFERENCE, Message, encode
from waymark_nav.core._state import REDUCERS, Phase, VehicleState, changed
from waymark_nav.errors import Rejection
from waymark_nav.frames import HEADER_BYTES
from waymark_nav.messages import Feature

_NO_LIMITS = m.VehicleLimits()


def reduced(state: VehicleState, message: Message) -> VehicleState:
    """The content with a publication."""
    reduce = REDUCERS.get(type(message))
    return state if reduce is None else changed(state, **reduce(state, message, _NO_LIMITS))


# References


def check_references(state: VehicleState, message: Message) -> None:
    """Raises Rejection if a publication adds an id twice, or refers to one that was not added."""
    match message:
        case m.StartGuidance() | m.ResumeGuidance(route=m.RouteInformation()):
            try:
                _check_route(message.route or m.RouteInformation())
            except Rejection as rejection:
                raise rejection.inside("route") from None
        case m.AddManeuvers():
            _check_new("maneuvers", message.maneuvers, {each.id for each in state.maneuvers})
        case m.AddLaneGuidances():
            _check_new("lane_guidances", message.lane_guidances, {each.id for each in state.lane_guidances})
        case m.AddRouteSegments():
            _check_new("segments", message.segments, {each.id for each in state.segments})
            _check_segments(message.segments, {each.id for each in state.maneuvers}, {each.id for each in state.lane_guidances})
            if message.segments and state.trip is not None and not state.trip.route_segments_available:
                raise Rejection(INCONSISTENT, "segments", "the trip says that no route segments are available")
        case m.UpcomingManeuvers():
            _check_ids("maneuver_ids", message.maneuver_ids, {each.id for each in state.maneuvers})
        case m.UpdateManeuverEstimates():
            _check_id("maneuver_id", message.maneuver_id, {each.id for each in state.maneuvers})
        case m.CurrentLaneGuidance():
            _check_id("lane_guidance_id", message.lane_guidance_id or None, {each.id for each in state.lane_guidances})
        case m.CurrentRouteSegment():
            _check_id("segment_id", message.segment_id, {each.id for each in state.segments})


def _check_route(route: m.RouteInformation) -> None:
    maneuvers = {each.id for each in route.maneuvers}
    guidances = {each.id for each in route.lane_guidances}
    _check_segments(route.segments, maneuvers, guidances)
    _check_ids("upcoming_maneuver_ids", route.upcoming_maneuver_ids, maneuvers)
    _check_id("current_lane_guidance_id", route.current_lane_guidance_id or None, guidances)
    _check_id("current_segment_id", route.current_segment_id or None, {each.id for each in route.segments})


def _check_segments(segments: Iterable[m.RouteSegment], maneuvers: set[int], guidances: set[int]) -> None:
    for index, segment in enumerate(segments):
        where = f"segments[{index}]"
        _check_ids(f"{where}.maneuver_ids", segment.maneuver_ids, maneuvers)
        _check_ids(f"{where}.current_maneuver_ids", segment.current_maneuver_ids, maneuvers)
        _check_ids(f"{where}.lane_guidance_ids", segment.lane_guidance_ids, guidances)
        _check_id(f"{where}.current_lane_guidance_id", segment.current_lane_guidance_id or None, guidances)


def _check_new(field: str, added: Iterable[m.Maneuver | m.LaneGuidance | m.RouteSegment], known: set[int] | set[str]) -> None:
    for index, element in enumerate(added):
        if element.id in known:
            raise Rejection(DUPLICATE, f"{field}[{index}].id", f"{element.id} was added before")


def _check_ids(field: str, ids: Sequence[int], known: set[int]) -> None:
    for index, identity in enumerate(ids):
        _check_id(f"{field}[{index}]", identity, known)


def _check_id(field: str, identity: int | str | None, known: set[int] | set[str]) -> None:
    if identity is not None and identity not in known:
        raise Rejection(UNKNOWN_REFERENCE, field, f"{identity} was not added")


# Withheld features


def without(message: Message, withheld: frozenset[Feature]) -> Message | None:
    """What remains of a publication; None: nothing. A share is always sent: its caller waits for the gateway's refusal."""
    if NEEDS.get(type(message)) in withheld and not isinstance(message, m.ShareDestination):
        return None
    if isinstance(message, m.StartGuidance):
        return replace(message, route=_route_without(message.route, withheld))
    if isinstance(message, m.ResumeGuidance) and message.route is not None:
        return replace(message, route=_route_without(message.route, withheld))
    if isinstance(message, m.AddRouteSegments):
        return replace(message, segments=tuple(_segment_without(segment, withheld) for segment in message.segments))
    return message


def _route_without(route: m.RouteInformation, withheld: frozenset[Feature]) -> m.RouteInformation:
    if Feature.MANEUVERS in withheld:
        route = replace(route, maneuvers=(), upcoming_maneuver_ids=(), maneuver_travel_estimates=None)
    if Feature.LANE_GUIDANCE in withheld:
        route = replace(route, lane_guidances=(), current_lane_guidance_id=0)
    if Feature.ROUTE_SEGMENTS in withheld:
        return replace(route, segments=(), current_segment_id="")
    return replace(route, segments=tuple(_segment_without(segment, withheld) for segment in route.segments))


def _segment_without(segment: m.RouteSegment, withheld: frozenset[Feature]) -> m.RouteSegment:
    if Feature.MANEUVERS in withheld:
        segment = replace(segment, maneuver_ids=(), current_maneuver_ids=(), maneuver_travel_estimates=None)
    if Feature.LANE_GUIDANCE in withheld:
        segment = replace(segment, lane_guidance_ids=(), current_lane_guidance_id=0)
    if Feature.SPEED_LIMIT in withheld:
        segment = replace(segment, speed_limits=())
    return segment


# Dividing and restating


def divided(message: Message, frame_bytes_max: int) -> list[tuple[Message, bytes]]:
    """Publications that fit into frames, with their bodies, and say the same. Raises Rejection if one cannot be divided."""
    body = encode(message)
    if HEADER_BYTES + len(body) <= frame_bytes_max:
        return [(message, body)]
    parts = list(_parts(message))
    if not parts:
        reason = f"{HEADER_BYTES + len(body)} bytes do not fit into a frame of {frame_bytes_max} bytes, the most that the gateway takes"
        raise Rejection(LIMIT_REACHED, "", reason)
    return [fitting for part in parts for fitting in divided(part, frame_bytes_max)]


def _parts(message: Message) -> Iterator[Message]:
    match message:
        case m.StartGuidance() | m.ResumeGuidance(route=m.RouteInformation()) if message.route != m.RouteInformation():
            yield from _route_parts(message, message.route or m.RouteInformation())
        case m.AddManeuvers(maneuvers=several) if len(several) > 1:
            half = len(several) // 2
            yield replace(message, maneuvers=several[:half])
            yield replace(message, maneuvers=several[half:])
        case m.AddLaneGuidances(lane_guidances=guidances) if len(guidances) > 1:
            half = len(guidances) // 2
            yield replace(message, lane_guidances=guidances[:half])
            yield replace(message, lane_guidances=guidances[half:])
        case m.AddRouteSegments(segments=segments) if len(segments) > 1:
            half = len(segments) // 2
            yield replace(message, segments=segments[:half])
            yield replace(message, segments=segments[half:])


def _route_parts(message: m.StartGuidance | m.ResumeGuidance, route: m.RouteInformation) -> Iterator[Message]:
    """The route without its elements, the elements, and then what refers to them."""
    generation = message.generation
    yield replace(message, route=m.RouteInformation(trip_travel_estimates=route.trip_travel_estimates))
    if route.maneuvers:
        yield m.AddManeuvers(generation=generation, maneuvers=route.maneuvers)
    if route.lane_guidances:
        yield m.AddLaneGuidances(generation=generation, lane_guidances=route.lane_guidances)
    if route.segments:
        yield m.AddRouteSegments(generation=generation, segments=route.segments)
        yield m.CurrentRouteSegment(generation=generation, segment_id=route.current_segment_id or route.segments[0].id)
    if route.upcoming_maneuver_ids:
        yield m.UpcomingManeuvers(generation=generation, maneuver_ids=route.upcoming_maneuver_ids)
        if route.maneuver_travel_estimates is not None:
            first = route.upcoming_maneuver_ids[0]
            yield m.UpdateManeuverEstimates(generation=generation, maneuver_id=first, travel_estimates=route.maneuver_travel_estimates)
    if route.current_lane_guidance_id:
        yield m.CurrentLaneGuidance(generation=generation, lane_guidance_id=route.current_lane_guidance_id)


def restatement(state: VehicleState, previews: m.TripPreviews | None, generation: int) -> Iterator[Message]:
    """The publications that say the content to a gateway that knows nothing of it."""
    if state.trip is None:
        if previews is not None:
            yield previews
        return
    shares_segments = state.trip.route_segments_available
    yield m.StartGuidance(
        trip=state.trip,
        generation=generation,
        route=m.RouteInformation(
            maneuvers=state.maneuvers,
            lane_guidances=state.lane_guidances,
            segments=state.segments if shares_segments else (),
            current_segment_id=state.current_segment if shares_segments else "",
            upcoming_maneuver_ids=state.upcoming_maneuvers,
            current_lane_guidance_id=state.current_lane_guidance,
            trip_travel_estimates=state.trip_estimates,
            maneuver_travel_estimates=state.next_estimates,
        ),
    )
    yield from _plain_states(state)
    if state.trip_estimates is not None:
        yield m.UpdateTripEstimates(travel_estimates=state.trip_estimates, time_remaining_color=state.time_remaining_color)
    if state.speed_limit is not None:
        yield m.UpdateSpeedLimit(limit=state.speed_limit, next=state.next_speed_limit)
    for maneuver, estimates in sorted(state.maneuver_estimates.items()):
        yield m.UpdateManeuverEstimates(generation=generation, maneuver_id=maneuver, travel_estimates=estimates)
    if state.phase is Phase.PAUSED and state.pause_reason is not None:
        yield m.PauseGuidance(reason=state.pause_reason, description_variants=state.pause_description)
    elif state.maneuver_state != m.ManeuverState.CONTINUE:
        yield m.UpdateManeuverState(generation=generation, state=state.maneuver_state)
    if state.alert is not None:
        yield m.ShowAlert(alert=state.alert)


def _plain_states(state: VehicleState) -> Iterator[Message]:
    """The plain states of which something is known."""
    for message, values in PLAIN_STATES.items():
        known = {name: getattr(state, value) for name, value in values.items()}
        if any(known.values()):
            yield message(**known)
