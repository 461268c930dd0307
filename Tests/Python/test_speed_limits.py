"""The speed limits that a navigation client publishes, without I/O."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_client import guided, joined

from waymark_nav import Rejection, messages as m
from waymark_nav.core import Client, ClientSettings
from waymark_nav.messages import Feature

from drive import TRIP, place, route
from scripted import Gateway

FAST = m.SpeedLimit(status=m.SpeedLimitStatus.LIMITED, value=80, unit=m.SpeedUnit.KILOMETERS_PER_HOUR)


def limited() -> m.RouteInformation:
    """A route whose segment has a speed limit."""
    segment = m.RouteSegment(id="s", origin=place("Start"), destination=place("End"), speed_limits=(m.SpeedLimitSpan(limit=FAST),))
    return replace(route(), segments=(segment,))


def test_speed_limits_that_the_operator_withholds_are_left_out_of_segments_too() -> None:
    machine = Client(ClientSettings(client="app"))
    gateway = Gateway(machine)
    gateway.welcome(features=(m.FeatureGrant(feature=Feature.SPEED_LIMIT, reason=m.WithheldReason.POLICY),))
    session = machine.open_session(("car",))
    gateway.sent()
    gateway.say(m.SessionOpened(request_id=session.opening.request_id, session_id=7))
    session.publish(
        m.StartGuidance(trip=replace(TRIP, route_segments_available=True), generation=session.new_generation(), route=limited())
    )
    session.publish(m.UpdateSpeedLimit(limit=FAST))
    (start,) = gateway.sent()
    assert isinstance(start, m.StartGuidance)
    assert [segment.speed_limits for segment in start.route.segments] == [()]
    gateway.reconnect(resumed=True, sessions=(m.ResumedSession(session_id=7, sequence=1, phase=m.SessionPhase.ACTIVE),))
    start, *others = gateway.sent()
    assert isinstance(start, m.StartGuidance)
    assert start.route.segments == limited().segments
    assert m.UpdateSpeedLimit(limit=FAST) in others


def test_the_speed_limit_is_said_again_to_a_restarted_gateway() -> None:
    _, gateway, session = guided()
    ahead = m.SpeedLimitAhead(limit=m.SpeedLimit(status=m.SpeedLimitStatus.NONE), distance_meters=400)
    session.publish(m.UpdateSpeedLimit(limit=m.SpeedLimit()))
    session.publish(m.UpdateSpeedLimit(limit=FAST, next=ahead))
    gateway.sent()
    gateway.reconnect(resumed=False)
    (opening,) = gateway.sent()
    assert isinstance(opening, m.OpenSession)
    gateway.say(m.SessionOpened(request_id=opening.request_id, session_id=8, vehicles=(joined(),)))
    assert [message for message in gateway.sent() if isinstance(message, m.UpdateSpeedLimit)] == [
        m.UpdateSpeedLimit(limit=FAST, next=ahead)
    ]


@pytest.mark.parametrize(
    ("limit", "field"),
    [
        (m.SpeedLimit(status=m.SpeedLimitStatus.LIMITED), "limit.value"),
        (m.SpeedLimit(status=m.SpeedLimitStatus.LIMITED, value=80), "limit.unit"),
        (m.SpeedLimit(status=m.SpeedLimitStatus.NONE, value=80), "limit.value"),
        (m.SpeedLimit(unit=m.SpeedUnit.MILES_PER_HOUR), "limit.unit"),
    ],
)
def test_a_speed_limit_has_a_value_and_a_unit_or_neither(limit: m.SpeedLimit, field: str) -> None:
    _, _, session = guided()
    with pytest.raises(Rejection) as raised:
        session.publish(m.UpdateSpeedLimit(limit=limit))
    assert raised.value.field == field
