"""This package and the gateway agree on what is allowed: the same code and field for every body."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from waymark_nav import Rejection, messages as m
from waymark_nav._wire import Message, decode
from waymark_nav.core._client import ClientSettings
from waymark_nav.core._endpoint import EndpointSettings
from waymark_nav.frames import PUBLISHED, Frame, Splitter, frame
from waymark_nav.messages import BODIES, ErrorCode, MessageType

from bodies import Bodies
from conftest import Gateway

#: What the check of a body finds; see Docs/protocol.md, Order of checks.
BODY_CODES = {
    ErrorCode.MALFORMED, ErrorCode.INVALID_TEXT, ErrorCode.OUT_OF_RANGE, ErrorCode.MISSING, ErrorCode.UNKNOWN_REFERENCE,
    ErrorCode.DUPLICATE, ErrorCode.INCONSISTENT, ErrorCode.LIMIT_REACHED,
}  # fmt: skip
CLIENT = [kind for kind in BODIES if kind in PUBLISHED] + [MessageType.OPEN_SESSION, MessageType.REQUEST_ANSWER]
ENDPOINT = [
    MessageType.RECEIPT, MessageType.WAYPOINT_REQUEST, MessageType.DESTINATION_REQUEST, MessageType.WITHDRAW_REQUEST,
    MessageType.PROMPT_ANSWER, MessageType.UPDATE_ROUTE_SOURCE, MessageType.VEHICLE_SETTINGS, MessageType.ZOOM_CLUSTER,
    MessageType.ALERT_RESPONSE, MessageType.DESTINATION_SHARE_ANSWER,
]  # fmt: skip


def verdict(kind: int, body: bytes) -> tuple[ErrorCode, str] | None:
    """What this package finds wrong."""
    try:
        decode(BODIES[kind], body)
    except Rejection as rejection:
        return rejection.code, rejection.field
    return None


class Wire:
    """A connection of a test's own."""

    def __init__(self, path: str, hello: m.Hello) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.splitter = Splitter()
        self.waiting: list[Frame] = []
        self.send(frame(hello))
        assert isinstance(self.next(), m.Welcome)

    def send(self, *frames: Frame) -> None:
        self.socket.sendall(b"".join(each.encode() for each in frames))

    def next(self) -> Message:
        while not self.waiting:
            data = self.socket.recv(65_536)
            assert data, "the gateway has closed the connection"
            self.splitter.feed(data)
            self.waiting += self.splitter.frames()
        return self.waiting.pop(0).decode()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *error: object) -> None:
        self.socket.close()

    def errors_until(self, is_mark: Callable[[m.Error], bool]) -> list[m.Error]:
        errors: list[m.Error] = []
        while True:
            message = self.next()
            if isinstance(message, m.Goodbye):
                pytest.fail(f"the gateway says goodbye: {message}")
            if isinstance(message, m.Error):
                if is_mark(message):
                    return errors
                errors.append(message)


def check(kind: int, body: bytes, errors: list[m.Error]) -> None:
    """The errors that the gateway sent for a body are the one that this package finds."""
    wanted = verdict(kind, body)
    found = [(error.code, error.field) for error in errors if error.message_type == kind]
    if wanted is not None:
        assert found == [wanted], f"{MessageType(kind).name} {body.hex()}"
    elif kind in PUBLISHED:
        # The Hello lists no extension, and the gateway looks at that before the session.
        is_extension = kind == MessageType.PUBLISH_EXTENSION
        expected = ErrorCode.NOT_GRANTED if is_extension else ErrorCode.UNKNOWN_SESSION
        assert [code for code, _ in found] == [expected], f"{MessageType(kind).name} {body.hex()}"
    else:
        # The check of the content, which is later, may find something; UNKNOWN_REFERENCE is the only code that both use.
        assert not {code for code, _ in found} & BODY_CODES - {ErrorCode.UNKNOWN_REFERENCE}, f"{MessageType(kind).name} {body.hex()}"


def after(sequence: int) -> Callable[[m.Error], bool]:
    """Whether an error is about the end of a session that does not exist."""
    return lambda error: (error.session_id, error.sequence) == (6, sequence)


def named(request_id: str) -> Callable[[m.Error], bool]:
    return lambda error: error.request_id == request_id


@pytest.mark.parametrize("seed", range(4))
def test_a_client_is_refused_what_this_package_refuses(gateway: Gateway, seed: int) -> None:
    bodies = Bodies(seed)
    with Wire(gateway.navigation.removeprefix("unix:"), ClientSettings(client="app", destinations=True).hello()) as wire:
        for number in range(1_000):
            kind = bodies.values.choice(CLIENT)
            body = bodies.body(kind)
            # Sessions that do not exist: what passes the check of the body is refused later.
            wire.send(Frame(kind, body, 5 if kind in PUBLISHED else 0), Frame(MessageType.FINISH_GUIDANCE, b"", 6, number + 1))
            check(kind, body, wire.errors_until(after(number + 1)))


@pytest.mark.parametrize("seed", range(4))
def test_an_endpoint_is_refused_what_this_package_refuses(gateway: Gateway, seed: int) -> None:
    bodies = Bodies(seed)
    hello = EndpointSettings(vehicle="car", prompts=True, destinations=True).hello()
    with Wire(gateway.vehicle.removeprefix("unix:"), hello) as wire:
        for number in range(1_000):
            kind = bodies.values.choice(ENDPOINT)
            body = bodies.body(kind)
            mark = f"mark {number}"
            wire.send(Frame(kind, body), frame(m.WithdrawRequest(request_id=mark)))
            check(kind, body, wire.errors_until(named(mark)))
