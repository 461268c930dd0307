"""A gateway that a test plays by itself, for machines without I/O."""

from __future__ import annotations

from typing import Any

from waymark_nav import messages as m
from waymark_nav._wire import Message
from waymark_nav.core import Event, Peer
from waymark_nav.frames import Frame, Splitter, frame

TOKEN = bytes(range(16))


class Gateway:
    """The other side of a machine's transport, and its clock."""

    def __init__(self, machine: Peer) -> None:
        self.machine = machine
        self.now = 100.0
        self._splitter = Splitter()

    def open(self) -> m.Hello:
        """Opens the transport that the machine wants; returns its Hello."""
        assert self.machine.wants_transport(self.now)
        self.machine.opening()
        self.machine.opened(self.now)
        self._splitter = Splitter()
        (hello,) = self.sent()
        assert isinstance(hello, m.Hello)
        return hello

    def welcome(self, *, resumed: bool = False, **values: Any) -> None:
        """Opens the transport and says Welcome."""
        self.open()
        self.say_welcome(resumed=resumed, **values)

    def say_welcome(self, *, resumed: bool = False, token: bytes = TOKEN, keepalive: int = 10_000, **values: Any) -> None:
        self.say(
            m.Welcome(
                version=2,
                keepalive_milliseconds=keepalive,
                receive_frame_bytes_max=values.pop("receive_frame_bytes_max", 1_048_576),
                send_frame_bytes_max=values.pop("send_frame_bytes_max", 16_777_216),
                resumption_token=token,
                resumed=resumed,
                gateway_instance="gateway",
                gateway_epoch=1,
                **values,
            )
        )

    def say(self, message: Message, session: int = 0, sequence: int = 0, flags: int = 0) -> None:
        """Sends a message to the machine."""
        self.send(frame(message, session, sequence)._replace(flags=flags))

    def send(self, *frames: Frame) -> None:
        self.machine.receive(b"".join(whole.encode() for whole in frames), self.now)

    def sent_frames(self) -> list[Frame]:
        """What the machine has sent since."""
        self._splitter.feed(self.machine.take_output(self.now))
        return list(self._splitter.frames())

    def sent(self) -> list[Message]:
        return [whole.decode() for whole in self.sent_frames()]

    def events(self, kind: type[Event] | None = None) -> list[Any]:
        """What the machine has told since."""
        events = []
        while (event := self.machine.next_event()) is not None:
            if kind is None or isinstance(event, kind):
                events.append(event)
        return events

    def wait(self, seconds: float) -> None:
        """Time passes; the machine is told whenever something is due."""
        end = self.now + seconds
        while (deadline := self.machine.deadline) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            if self.machine.wants_transport(self.now):
                break
            self.machine.tick(self.now)
            if deadline == self.machine.deadline:
                break
        else:
            self.now = end

    def cut(self) -> None:
        """The network fails."""
        self.machine.lost(self.now)

    def reconnect(self, *, resumed: bool, **values: Any) -> m.Hello:
        """Cuts the connection and welcomes the machine again; returns its Hello."""
        self.cut()
        self.now = max(self.now, self.machine.deadline or 0)
        hello = self.open()
        self.say_welcome(resumed=resumed, **values)
        return hello
