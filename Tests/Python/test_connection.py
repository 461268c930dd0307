"""Connections without I/O: handshake, keepalive, goodbye, reconnecting."""

from __future__ import annotations

import pytest

from waymark_nav import ClosedError, ConnectionFailedError, RefusedError, Rejection, messages as m
from waymark_nav.core import (
    Client,
    ClientSettings,
    Closed,
    Connected,
    Connecting,
    Endpoint,
    EndpointSettings,
    Observer,
    ObserverSettings,
    Reconnection,
    Update,
)
from waymark_nav.frames import Frame, frame
from waymark_nav.messages import CloseCode

from drive import CAFE, meters
from scripted import TOKEN, Gateway


def endpoint(**values: object) -> Endpoint:
    return Endpoint(EndpointSettings(vehicle="car", **values))  # type: ignore[arg-type]


def test_a_peer_says_who_it_is_and_is_welcomed() -> None:
    gateway = Gateway(endpoint(display_name="Cluster", credential=b"key"))
    assert gateway.events() == [Connecting()]
    hello = gateway.open()
    assert hello.vehicle is not None
    assert (hello.vehicle.vehicle_id, hello.credential, hello.resumption_token) == ("car", b"key", b"")
    assert not gateway.machine.is_connected
    gateway.say_welcome()
    assert gateway.machine.is_connected
    assert gateway.events() == [Connected(resumed=False)]


def test_a_hello_that_the_gateway_would_refuse_is_refused_at_once() -> None:
    with pytest.raises(Rejection) as refused:
        endpoint(endpoint="über")
    assert refused.value.field == "vehicle.endpoint"


def test_nothing_is_sent_before_the_welcome() -> None:
    machine = endpoint()
    gateway = Gateway(machine)
    machine.send(m.VehicleSettings(ready_to_show=True))
    gateway.open()
    assert gateway.sent() == []
    gateway.say_welcome()
    assert gateway.sent() == [m.VehicleSettings(ready_to_show=True)]


def resuming(role: str) -> Gateway:
    """A peer with a token, whose program has said something while there was no connection."""
    if role == "endpoint":
        car = endpoint()
        gateway = Gateway(car)
        gateway.welcome()
        gateway.cut()
        car.request(m.DestinationRequest(request_id="go", destination=CAFE))
        car.send(m.VehicleSettings(ready_to_show=True))
    elif role == "client":
        client = Client(ClientSettings(client="app"))
        gateway = Gateway(client)
        gateway.welcome()
        client.open_session(("car",))
        gateway.cut()
    else:
        gateway = Gateway(Observer(ObserverSettings(observer="monitor", wanted=m.Observe(events=True))))
        gateway.welcome()
        gateway.cut()
    gateway.now = gateway.machine.deadline or 0
    return gateway


@pytest.mark.parametrize("role", ["endpoint", "client", "observer"])
def test_a_peer_with_a_token_sends_nothing_but_a_goodbye_before_the_welcome(role: str) -> None:
    gateway = resuming(role)
    assert gateway.open().resumption_token == TOKEN
    gateway.wait(4.9)
    assert gateway.sent() == []
    gateway.say_welcome(resumed=True)
    assert gateway.sent() != []

    gateway = resuming(role)
    gateway.open()
    gateway.machine.close(gateway.now)
    assert gateway.sent() == [m.Goodbye(code=CloseCode.NORMAL)]


def test_a_gateway_that_does_not_answer_is_left() -> None:
    gateway = Gateway(endpoint())
    gateway.open()
    gateway.sent()
    gateway.wait(5)
    assert gateway.sent() == []
    assert gateway.machine.wants_cut(gateway.now)
    gateway.cut()
    (closed,) = gateway.events(Closed)
    assert isinstance(closed.error, ConnectionFailedError)
    assert "does not answer" in str(closed.error)


def test_a_frame_is_sent_in_every_interval_and_a_ping_is_answered() -> None:
    gateway = Gateway(endpoint())
    gateway.welcome(keepalive=1_000)
    for _ in range(20):
        gateway.wait(0.5)
        assert [type(message) for message in gateway.sent()] == [m.Ping]
        gateway.say(m.Pong(nonce=1))
    gateway.say(m.Ping(nonce=42))
    assert gateway.sent() == [m.Pong(nonce=42)]
    gateway.say(m.Ping(nonce=43, sent_nanoseconds=0))
    now = int(gateway.now * 1_000_000_000)
    assert gateway.sent() == [m.Pong(nonce=43, received_nanoseconds=now, sent_nanoseconds=now)]


def test_a_silent_gateway_is_left_after_three_intervals_and_connected_to_again() -> None:
    gateway = Gateway(endpoint())
    gateway.welcome(keepalive=1_000)
    gateway.wait(2.9)
    assert gateway.machine.is_connected
    gateway.wait(0.2)
    assert m.Goodbye not in [type(message) for message in gateway.sent()]
    assert gateway.machine.wants_cut(gateway.now)
    gateway.cut()
    assert gateway.machine.deadline is not None
    assert not gateway.machine.is_over


def test_a_frame_that_takes_five_intervals_to_arrive_is_no_silence() -> None:
    gateway = Gateway(endpoint())
    gateway.welcome(keepalive=1_000)
    whole = frame(m.Prompt(request_id="stop", waypoint=CAFE, travel_estimates=meters(9), deadline_milliseconds=60_000)).encode()
    for index in range(6):
        gateway.wait(0.8)
        gateway.machine.receive(whole[index : index + 1], gateway.now)
    gateway.wait(0.8)
    assert gateway.machine.is_connected
    gateway.machine.receive(whole[6:], gateway.now)
    assert [update.name for update in gateway.events(Update)] == ["prompt"]
    gateway.wait(3.1)
    assert not gateway.machine.is_connected


@pytest.mark.parametrize("code", [code for code in CloseCode if code])
def test_a_peer_connects_again_only_after_codes_for_which_the_page_says_so(code: CloseCode) -> None:
    gateway = Gateway(endpoint())
    gateway.welcome()
    gateway.events()
    gateway.say(m.Goodbye(code=code, reason="why", reconnect_after_milliseconds=3_000))
    assert gateway.sent() == []
    assert gateway.machine.wants_cut(gateway.now)
    gateway.cut()
    final, seldom = {1, 14, 23}, {3, 4, 5, 7, 8, 10, 11, 12}
    if code in final:
        (closed,) = gateway.events()
        assert isinstance(closed.error, RefusedError)
        assert (closed.error.code, closed.error.reason) == (code, "why")
    else:
        assert gateway.events() == [Connecting()]
        assert gateway.machine.deadline == gateway.now + (600 if code in seldom else 3)


def test_a_refusal_that_may_be_lifted_ends_a_peer_that_does_not_wait_and_a_first_attempt() -> None:
    for reconnection, is_welcome in ((Reconnection(refusal_delay=None), True), (Reconnection(first_attempts_max=9), False)):
        gateway = Gateway(endpoint(reconnection=reconnection))
        if is_welcome:
            gateway.welcome()
        else:
            gateway.open()
        gateway.say(m.Goodbye(code=CloseCode.ROLE_NOT_ALLOWED, reason="not here"))
        gateway.cut()
        assert isinstance(gateway.machine.error, RefusedError)
        assert gateway.machine.error.retry_after == 600


def test_a_refusal_names_the_limit_and_when_to_come_again() -> None:
    gateway = Gateway(endpoint())
    gateway.open()
    goodbye = m.Goodbye(
        code=CloseCode.TOO_MANY_CONNECTIONS,
        reason="full",
        reconnect_after_milliseconds=3_000,
        limit="connections_per_user_max",
        limit_value=12_000,
    )
    gateway.say(goodbye)
    gateway.cut()
    error = gateway.machine.error
    assert isinstance(error, RefusedError)
    assert (error.limit, error.limit_value, error.retry_after) == ("connections_per_user_max", 12_000, 3)
    assert str(error) == "the gateway refused the connection: full (connections_per_user_max is 12000)"
    rejection = Rejection.of(m.Error(code=m.ErrorCode.LIMIT_REACHED, reason="full", limit="sessions_max", limit_value=5))
    assert (rejection.limit, rejection.limit_value, rejection.retry_after) == ("sessions_max", 5, None)
    assert str(rejection.inside("a")) == "a: full (sessions_max is 5)"


def test_a_refusal_that_may_be_lifted_is_never_met_again_before_ten_minutes() -> None:
    for reconnection, wait in ((Reconnection(refusal_delay=1), 600), (Reconnection(refusal_delay=900), 900)):
        gateway = Gateway(endpoint(reconnection=reconnection))
        gateway.welcome()
        gateway.say(m.Goodbye(code=CloseCode.NOT_AUTHORIZED))
        gateway.cut()
        assert gateway.machine.deadline == gateway.now + wait


def test_a_close_code_of_a_later_version_counts_as_internal() -> None:
    gateway = Gateway(endpoint())
    gateway.welcome()
    gateway.say(m.Goodbye(code=CloseCode(99)))
    gateway.cut()
    assert not gateway.machine.is_over


def test_each_wait_is_twice_as_long_as_the_one_before() -> None:
    machine = endpoint(reconnection=Reconnection(first_delay=0.1, delay_max=1.0))
    gateway = Gateway(machine)
    gateway.welcome()
    gateway.cut()
    waits = []
    for _ in range(6):
        assert machine.deadline is not None
        waits.append(round(machine.deadline - gateway.now, 3))
        gateway.now = machine.deadline
        machine.opening()
        machine.failed("refused", gateway.now)
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    gateway.now = machine.deadline or 0
    gateway.welcome()
    gateway.now += 1.0  # A connection that lasted as long as the longest wait.
    gateway.cut()
    assert machine.deadline == gateway.now + 0.1


def test_the_first_connection_is_tried_as_often_as_wanted() -> None:
    machine = endpoint(reconnection=Reconnection(first_attempts_max=2))
    gateway = Gateway(machine)
    machine.opening()
    machine.failed("nothing listens there", gateway.now)
    assert not machine.is_over
    machine.opening()
    machine.failed("nothing listens there", gateway.now)
    assert str(machine.error) == "nothing listens there"


@pytest.mark.parametrize(
    ("data", "words"), [(b"HTTP/1.1 400", "a web server"), (b"SSH-2.0", "an SSH server"), (b"\x15\x03\x01", "a TLS server"), (b"?", "else")]
)
def test_what_is_no_gateway_is_named(data: bytes, words: str) -> None:
    gateway = Gateway(endpoint())
    gateway.open()
    gateway.machine.receive(data, gateway.now)
    gateway.cut()
    assert words in str(gateway.machine.error)


def test_messages_before_the_welcome_and_a_second_welcome_are_no_handshake() -> None:
    for message in (m.SessionRestored(), m.Ping()):
        gateway = Gateway(endpoint())
        gateway.open()
        gateway.say(message)
        (goodbye,) = gateway.sent()
        assert isinstance(goodbye, m.Goodbye)
        assert goodbye.code == CloseCode.UNEXPECTED_MESSAGE
    gateway = Gateway(endpoint())
    gateway.welcome()
    gateway.say_welcome()
    (goodbye,) = gateway.sent()
    assert isinstance(goodbye, m.Goodbye)


def test_frames_of_later_versions_and_bodies_that_break_a_rule_are_ignored() -> None:
    gateway = Gateway(endpoint())
    gateway.welcome()
    gateway.events()
    gateway.send(Frame(0x0020, b"new"), Frame(0x0310, b""), Frame(0x0014, b"\xff"), Frame(0x0004, b"\xff"), Frame(0x02FF, b"x"))
    assert gateway.machine.is_connected
    assert gateway.events() == []
    assert gateway.sent() == []


def test_a_small_device_is_not_sent_larger_frames() -> None:
    gateway = Gateway(endpoint(receive_frame_bytes_max=4_096))
    gateway.welcome()
    gateway.send(Frame(0x0101, bytes(4_096 - 24 + 1), 7, 1))
    (goodbye,) = gateway.sent()
    assert isinstance(goodbye, m.Goodbye)
    assert goodbye.code == CloseCode.FRAME_TOO_LARGE


def test_close_sends_what_is_queued_then_goodbye_and_nothing_more() -> None:
    machine = endpoint()
    gateway = Gateway(machine)
    gateway.welcome()
    machine.send(m.AllowNavigation())
    machine.close(gateway.now)
    assert gateway.sent() == [m.AllowNavigation(), m.Goodbye(code=CloseCode.NORMAL)]
    gateway.say(m.Ping(nonce=1))
    assert gateway.sent() == []
    assert not machine.wants_cut(gateway.now)
    gateway.now += 2.0  # The gateway does not close the transport.
    assert machine.wants_cut(gateway.now)
    gateway.cut()
    assert isinstance(machine.error, ClosedError)


def test_close_without_a_connection_ends_at_once() -> None:
    machine = endpoint()
    machine.close(0.0)
    assert isinstance(machine.error, ClosedError)


def test_the_token_of_the_last_welcome_resumes() -> None:
    gateway = Gateway(endpoint())
    gateway.welcome()
    hello = gateway.reconnect(resumed=True, token=bytes(16))
    assert hello.resumption_token == TOKEN
    hello = gateway.reconnect(resumed=True)
    assert hello.resumption_token == bytes(16)
    assert gateway.events(Update) == []
