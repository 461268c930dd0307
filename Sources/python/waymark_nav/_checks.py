"""What must hold between the fields of a body; what a single field may hold is in its rule.

Of several contradictions the first one is reported, in the order of the fields' numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from waymark_nav import messages as m
from waymark_nav._wire import CHECKS, DUPLICATE, INCONSISTENT, MISSING, OUT_OF_RANGE, UNKNOWN_REFERENCE, Message
from waymark_nav.errors import Rejection

_DECLINES = {
    m.Outcome.NOT_SUPPORTED,
    m.Outcome.DECLINED_BY_USER,
    m.Outcome.BUSY,
    m.Outcome.INVALID,
    m.Outcome.TOO_LARGE,
}


def _each(name: str, elements: Iterable[Any], check: Callable[[Any], None]) -> None:
    for index, element in enumerate(elements):
        _inside(f"{name}[{index}]", element, check)


def _inside(name: str, element: Any, check: Callable[[Any], None]) -> None:
    try:
        check(element)
    except Rejection as rejection:
        raise rejection.inside(name) from None


def _unique(name: str, ids: Sequence[object], suffix: str = ".id") -> None:
    seen = set()
    for index, identity in enumerate(ids):
        if identity in seen:
            raise Rejection(DUPLICATE, f"{name}[{index}]{suffix}", "is there already")
        seen.add(identity)


def _only_with(field: str, is_given: bool, is_due: bool, missing: str, surplus: str) -> None:
    """A field that must be given in one case, and in no other."""
    if is_due and not is_given:
        raise Rejection(MISSING, field, missing)
    if is_given and not is_due:
        raise Rejection(INCONSISTENT, field, surplus)


# Handshake and sessions


def _grant(grant: m.FeatureGrant) -> None:
    is_given = grant.reason != m.WithheldReason.UNSPECIFIED
    _only_with("reason", is_given, not grant.granted, "the feature is withheld", "the feature is granted")


def _hello(hello: m.Hello) -> None:
    if hello.version_max < hello.version_min:
        raise Rejection(INCONSISTENT, "version_max", "is below version_min")
    parts: tuple[tuple[str, m.Role, Message | None], ...] = (
        ("vehicle", m.Role.VEHICLE_ENDPOINT, hello.vehicle),
        ("navigation", m.Role.NAVIGATION_CLIENT, hello.navigation),
        ("observer", m.Role.OBSERVER, hello.observer),
    )
    for name, role, part in parts:
        _only_with(name, part is not None, hello.role == role, "the role needs it", "does not fit the role")


def _resumed_session(session: m.ResumedSession) -> None:
    if session.phase != m.SessionPhase.ENDED and session.end_reason != 0:
        raise Rejection(INCONSISTENT, "end_reason", "the session has not ended")


def _welcome(welcome: m.Welcome) -> None:
    _each("features", welcome.features, _grant)
    _each("sessions", welcome.sessions, _resumed_session)


def _open_session(opening: m.OpenSession) -> None:
    if opening.vehicles is None and not opening.any_that_asked:
        raise Rejection(MISSING, "vehicles", "neither vehicles nor any_that_asked")
    if opening.vehicles is not None:
        _unique("vehicles.vehicle_ids", opening.vehicles.vehicle_ids, "")
        if opening.any_that_asked:
            raise Rejection(INCONSISTENT, "any_that_asked", "vehicles are named too")


def _endpoint_status(status: m.EndpointStatus) -> None:
    _each("withheld", status.withheld, _grant)


def _vehicle_status(status: m.VehicleStatus) -> None:
    standing, needs, surplus = status.standing, "the standing needs it", "does not fit the standing"
    _only_with("refusal", status.refusal != 0, standing == m.VehicleStanding.REFUSED, needs, surplus)
    _only_with("end_reason", status.end_reason != 0, standing == m.VehicleStanding.LEFT, needs, surplus)
    _each("endpoints", status.endpoints, _endpoint_status)


def _receipt(receipt: m.Receipt | m.EndpointReceipt) -> None:
    if receipt.shown_sequence > receipt.received_sequence:
        raise Rejection(INCONSISTENT, "shown_sequence", "is above received_sequence")


# Observers


def _endpoint_record(record: m.EndpointRecord) -> None:
    _each("withheld", record.withheld, _grant)
    if record.settings is not None:
        _inside("settings", record.settings, _source)
    if record.receipt is not None:
        _inside("receipt", record.receipt, _receipt)


def _records(records: m.ObservedRecords) -> None:
    _each("vehicles", records.vehicles, lambda vehicle: _each("endpoints", vehicle.endpoints, _endpoint_record))


# Publications


def _maneuver(maneuver: m.Maneuver) -> None:
    exit_angle = maneuver.junction_exit_angle_degrees
    if exit_angle is not None and exit_angle in maneuver.junction_element_angles_degrees:
        index = maneuver.junction_element_angles_degrees.index(exit_angle)
        field = f"junction_element_angles_degrees[{index}]"
        raise Rejection(INCONSISTENT, field, "is the exit angle, which is not among the other roads")


def _lane(lane: m.Lane) -> None:
    highlighted = lane.highlighted_angle_degrees
    if highlighted is None:
        return
    if highlighted not in lane.angles_degrees:
        raise Rejection(INCONSISTENT, "highlighted_angle_degrees", "is not one of angles_degrees")
    if lane.status == m.LaneStatus.NOT_GOOD:
        raise Rejection(INCONSISTENT, "highlighted_angle_degrees", "the lane's status is NOT_GOOD")


def _lane_guidance(guidance: m.LaneGuidance) -> None:
    _each("lanes", guidance.lanes, _lane)


def _maneuvers(holder: m.AddManeuvers | m.RouteInformation) -> None:
    _each("maneuvers", holder.maneuvers, _maneuver)
    _unique("maneuvers", [maneuver.id for maneuver in holder.maneuvers])


def _lane_guidances(holder: m.AddLaneGuidances | m.RouteInformation) -> None:
    _each("lane_guidances", holder.lane_guidances, _lane_guidance)
    _unique("lane_guidances", [guidance.id for guidance in holder.lane_guidances])


def _speed_limit(limit: m.SpeedLimit) -> None:
    if not limit.status.is_recognized:
        return
    is_due = limit.status == m.SpeedLimitStatus.LIMITED
    missing, surplus = "is not given for a limit with value", "is given for a limit without value"
    _only_with("value", limit.value != 0, is_due, missing, surplus)
    _only_with("unit", limit.unit != 0, is_due, missing, surplus)


def _speed_limits(update: m.UpdateSpeedLimit) -> None:
    _inside("limit", update.limit, _speed_limit)
    if update.next is not None:
        _inside("next.limit", update.next.limit, _speed_limit)


def _segment(segment: m.RouteSegment) -> None:
    spans = segment.speed_limits
    for index in range(1, len(spans)):
        if spans[index].first_point <= spans[index - 1].first_point:
            raise Rejection(INCONSISTENT, f"speed_limits[{index}].first_point", "is not behind that of the span before")
    _each("speed_limits", spans, lambda span: _inside("limit", span.limit, _speed_limit))


def _segments(holder: m.AddRouteSegments | m.RouteInformation) -> None:
    _each("segments", holder.segments, _segment)
    _unique("segments", [segment.id for segment in holder.segments])


def _route(route: m.RouteInformation) -> None:
    _maneuvers(route)
    _lane_guidances(route)
    _segments(route)


def _trip(trip: m.Trip) -> None:
    choices = [choice.id for choice in trip.route_choices]
    _unique("route_choices", choices)
    if trip.selected_route_choice_id and trip.selected_route_choice_id not in choices:
        raise Rejection(UNKNOWN_REFERENCE, "selected_route_choice_id", "is not one of route_choices")


def _previews(previews: m.TripPreviews) -> None:
    _each("trips", previews.trips, _trip)
    ids = [trip.id for trip in previews.trips]
    _unique("trips", ids)
    if previews.selected_trip_id and previews.selected_trip_id not in ids:
        raise Rejection(UNKNOWN_REFERENCE, "selected_trip_id", "is not one of trips")


def _start(start: m.StartGuidance) -> None:
    _inside("trip", start.trip, _trip)
    _inside("route", start.route, _route)


def _resume(resume: m.ResumeGuidance) -> None:
    if resume.route is not None:
        _inside("route", resume.route, _route)


def _alert(alert: m.NavigationAlert) -> None:
    _unique("actions", [action.id for action in alert.actions])


# Requests


def _outcome(outcome: m.RequestOutcome) -> None:
    if outcome.preview_follows and outcome.outcome != m.Outcome.ACCEPTED:
        raise Rejection(INCONSISTENT, "preview_follows", "only an accepted request has one")


def _answer(answer: m.RequestAnswer) -> None:
    has_estimates = answer.travel_estimates is not None
    is_due = answer.answer == m.Answer.ESTIMATES
    _only_with("travel_estimates", has_estimates, is_due, "the answer needs them", "do not fit the answer")
    is_decline = answer.answer == m.Answer.DECLINE
    _only_with("reason", answer.reason != 0, is_decline, "a decline needs one", "only a decline has one")
    if is_decline and answer.reason.is_recognized and answer.reason not in _DECLINES:
        raise Rejection(OUT_OF_RANGE, "reason", "is not a reason to decline")


def _share_status(status: m.DestinationShareStatus) -> None:
    has_failed = status.stage == m.ShareStage.DID_FAIL_TO_SHARE
    _only_with("outcome", status.outcome != 0, has_failed, "a failure needs one", "only a failure has one")


def _source(
    message: m.VehicleSettings | m.ZoomCluster | m.AlertResponse | m.VehicleExtension | m.SelectPreview | m.DestinationShareWanted,
) -> None:
    if message.vehicle_id and not message.endpoint:
        raise Rejection(INCONSISTENT, "endpoint", "is empty, but vehicle_id is not")
    if message.endpoint and not message.vehicle_id:
        raise Rejection(INCONSISTENT, "vehicle_id", "is empty, but endpoint is not")


def _simulate_drive(asked: m.SimulateDrive) -> None:
    if asked.endpoint and not asked.vehicle_id:
        raise Rejection(INCONSISTENT, "vehicle_id", "is empty, but endpoint is not")


def _alert_response(response: m.AlertResponse) -> None:
    if response.action_id and response.dismissal != 0:
        raise Rejection(INCONSISTENT, "dismissal", "an action was chosen")
    _source(response)


CHECKS.update({
    m.Hello: _hello,
    m.Welcome: _welcome,
    m.OpenSession: _open_session,
    m.SessionOpened: lambda opened: _each("vehicles", opened.vehicles, _vehicle_status),
    m.VehicleChanged: lambda changed: _inside("vehicle", changed.vehicle, _vehicle_status),
    m.SnapshotBegin: lambda begin: _each("withheld", begin.withheld, _grant),
    m.Receipt: _receipt,
    m.ReceiptReport: lambda report: _each("endpoints", report.endpoints, _receipt),
    m.ObservedRecords: _records,
    m.TripPreviews: _previews,
    m.StartGuidance: _start,
    m.UpdateTrip: lambda update: _inside("trip", update.trip, _trip),
    m.AddManeuvers: _maneuvers,
    m.AddLaneGuidances: _lane_guidances,
    m.AddRouteSegments: _segments,
    m.UpdateSpeedLimit: _speed_limits,
    m.ResumeGuidance: _resume,
    m.ShowAlert: lambda show: _inside("alert", show.alert, _alert),
    m.RequestAnswer: _answer,
    m.RequestOutcome: _outcome,
    m.DestinationShareStatus: _share_status,
    m.VehicleSettings: _source,
    m.ZoomCluster: _source,
    m.VehicleExtension: _source,
    m.SelectPreview: _source,
    m.SimulateDrive: _simulate_drive,
    m.DestinationShareWanted: _source,
    m.AlertResponse: _alert_response,
})  # fmt: skip
