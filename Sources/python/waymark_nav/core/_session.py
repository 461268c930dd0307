"""One session of a client, without I/O: what was published and is not acknowledged.

content up to the acknowledged number ── sent ──▶ ── queue (not sent) ──▶ content
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass

from waymark_nav import messages as m
from waymark_nav._generated.publications import PLAIN_STATES
from waymark_nav._wire import DUPLICATE, OUT_OF_RANGE, Message, validate
from waymark_nav.core._content import check_references, divided, reduced, restatement, without
from waymark_nav.core._state import Phase, VehicleState, changed, extension_values
from waymark_nav.errors import Rejection, SessionEndedError
from waymark_nav.frames import HEADER_BYTES, Flags, Frame, frame, next_sequence
from waymark_nav.messages import TYPES, Feature, SessionEndReason

#: Publications that are not acknowledged: beyond either bound publishing waits.
KEPT_COUNT_MAX = 4_096
KEPT_BYTES_MAX = 4_194_304

_OWN_ENDS = (SessionEndReason.FINISHED, SessionEndReason.CANCELLED_BY_CLIENT)

#: Of these only the newest value is queued, unless an event follows the older one. A maneuver state depends on the upcoming maneuvers
#: before it, so neither replaces another.
_REPLACED = (
    m.TripPreviews, m.UpdateTrip, m.CurrentLaneGuidance, m.UpdateTripEstimates, m.CurrentRouteSegment, m.UpdateSpeedLimit, *PLAIN_STATES,
)  # fmt: skip


@dataclass(slots=True)
class _Item:
    """One publication."""

    frame: Frame
    message: Message
    key: Hashable
    #: 0: not sent.
    sequence: int = 0
    #: All of it was withheld: it has no frame.
    is_withheld: bool = False

    @property
    def size(self) -> int:
        return HEADER_BYTES + len(self.frame.body)

    @property
    def share_id(self) -> str | None:
        return self.message.share_id if isinstance(self.message, m.ShareDestination) else None


@dataclass(slots=True)
class Share:
    """A destination that was offered to the vehicles."""

    outcomes: dict[str, m.Outcome]
    #: The vehicles that were asked; None: not known yet.
    asked: frozenset[str] | None = None


class Session:
    """What a client knows of its session."""

    def __init__(self, opening: m.OpenSession) -> None:
        self.opening = opening
        #: On the wire; 0 until the gateway has opened it.
        self.id = 0
        self.was_opened = False
        #: Why it ended; None while it has not.
        self.end_reason: SessionEndReason | None = None
        #: The standing of each vehicle.
        self.vehicles: dict[str, m.VehicleStatus] = {}
        self.shares: dict[str, Share] = {}
        self.frame_bytes_max = 1_048_576
        self._withheld: frozenset[Feature] = frozenset()
        self._withheld_extensions: frozenset[str] = frozenset()
        self._content = VehicleState(phase=Phase.PREVIEW)
        self._base = self._content
        self._previews: m.TripPreviews | None = None
        self._sent: deque[_Item] = deque()
        self._queue: deque[_Item] = deque()
        self._size = 0
        self._sequence = 0
        self._acknowledged = 0
        self._generation_used = 0

    # What it has published

    @property
    def content(self) -> VehicleState:
        """Everything that was published and not refused."""
        return self._content

    @property
    def generation(self) -> int:
        """Of the current route."""
        return self._content.generation

    @property
    def has_room(self) -> bool:
        """Whether another publication can be kept until it is acknowledged."""
        return len(self._sent) + len(self._queue) < KEPT_COUNT_MAX and self._size < KEPT_BYTES_MAX

    @property
    def is_accepted(self) -> bool:
        """Whether the gateway has acknowledged everything that was published."""
        return not self._queue and not self._sent

    @property
    def own_end(self) -> SessionEndReason | None:
        """How this client has ended the session, which the gateway may not know yet."""
        return self._content.end_reason

    def new_generation(self) -> int:
        """The number of another route; no number is used twice."""
        self._generation_used += 1
        return self._generation_used

    def publish(self, message: Message) -> None:
        """Queues a publication. Raises Rejection if the gateway would refuse it, SessionEndedError after the end."""
        self._check_open()
        checked, _ = validate(message)
        check_references(self._content, checked)
        parts = divided(checked, self.frame_bytes_max)
        if isinstance(checked, m.ShareDestination):
            if checked.share_id in self.shares:
                raise Rejection(DUPLICATE, "share_id", "this share is under way")
            self.shares[checked.share_id] = Share({})
        if isinstance(checked, m.TripPreviews | m.StartGuidance):
            self._previews = checked if isinstance(checked, m.TripPreviews) else None
        self._add(parts)

    def _add(self, parts: list[tuple[Message, bytes]]) -> None:
        for message, body in parts:
            self._content = reduced(self._content, message)
            self._append(_Item(Frame(TYPES[type(message)], body), message, _key(message)))

    def publish_extension(self, name: str, content: bytes, key: int | None, retained: bool) -> None:
        """Queues content of an extension: an event; with a key a state."""
        self._check_open()
        checked, _ = validate(m.PublishExtension(name=name, content=content))
        if key is not None and not 0 <= key <= 0xFFFF:
            raise Rejection(OUT_OF_RANGE, "key", "must be 0 to 65535")
        if retained and key is None:
            raise Rejection(OUT_OF_RANGE, "flags", "only a state, which has a key, is retained")
        flags = (Flags.STATE if key is not None else 0) | (Flags.RETAINED if retained else 0)
        [(message, body)] = divided(checked, self.frame_bytes_max)
        item = _Item(
            Frame(TYPES[m.PublishExtension], body, flags=int(flags), key=key or 0), message, None if key is None else ("extension", key)
        )
        self._content = _with(self._content, item)
        self._append(item)

    def _check_open(self) -> None:
        ended = self.end_reason if self.end_reason is not None else self.own_end
        if ended is not None:
            raise SessionEndedError(ended)

    def _append(self, item: _Item) -> None:
        if item.key is not None:
            # Behind the last event: a state before it may be what the event depends on.
            for index in range(len(self._queue) - 1, -1, -1):
                older = self._queue[index]
                if older.key is None:
                    break
                if older.key == item.key:
                    self._size -= older.size
                    del self._queue[index]
                    break
        self._queue.append(item)
        self._size += item.size

    # Sending

    @property
    def has_queued(self) -> bool:
        """Whether publications wait to be sent."""
        return bool(self._queue)

    def dequeue(self) -> list[Frame]:
        """Removes and returns what to send now, numbered."""
        frames = []
        while self._queue:
            item = self._queue.popleft()
            whole = self._frame(item)
            item.is_withheld = whole is None
            if whole is not None:
                self._sequence = next_sequence(self._sequence)
                frames.append(whole._replace(session=self.id, sequence=self._sequence))
            item.sequence = self._sequence
            self._sent.append(item)
        self._settle()
        return frames

    def _frame(self, item: _Item) -> Frame | None:
        if isinstance(item.message, m.PublishExtension):
            return None if item.message.name in self._withheld_extensions else item.frame
        if not self._withheld:
            return item.frame
        rest = without(item.message, self._withheld)
        return None if rest is None else item.frame if rest is item.message else frame(rest)

    def end_frame(self) -> Frame:
        """Ends the session at the gateway, whatever is queued."""
        return frame(m.CancelGuidance(), self.id, next_sequence(self._sequence))

    # What the gateway says

    def set_withheld(self, withheld: frozenset[Feature], extensions: frozenset[str] = frozenset()) -> None:
        """What the gateway does not take from this client."""
        if (withheld, extensions) != (self._withheld, self._withheld_extensions):
            self._withheld, self._withheld_extensions = withheld, extensions
            if self._sent or self._base.phase is not Phase.PREVIEW or self._base.extensions:
                self._restate()

    def acknowledge(self, sequence: int) -> None:
        """The gateway has accepted or refused everything up to a number."""
        if self._acknowledged < sequence <= self._sequence:
            self._acknowledged = sequence
            self._settle()

    def _settle(self) -> None:
        while self._sent and self._sent[0].sequence <= self._acknowledged:
            item = self._sent.popleft()
            self._size -= item.size
            self._base = _with(self._base, item)

    def reject(self, sequence: int) -> Message | None:
        """Removes a publication that the gateway refused from the content; returns it, or None if it is not known any more."""
        item = next((each for each in self._sent if each.sequence == sequence and not each.is_withheld), None)
        if item is None:
            return None
        self._sent.remove(item)
        self._size -= item.size
        self._content = self._base
        for other in (*self._sent, *self._queue):
            self._content = _with(self._content, other)
        return item.message

    def resume(self, sequence: int) -> None:
        """The gateway still has the session up to a number: what follows is sent again."""
        self.acknowledge(sequence)
        lost = list(self._sent)
        self._sent.clear()
        for item in lost:
            item.sequence = 0
        self._queue.extendleft(reversed(lost))
        self._sequence = self._acknowledged = sequence

    def restart(self) -> None:
        """The gateway does not know the session: the content is said again in a new one."""
        self.id = 0
        self._sequence = self._acknowledged = 0
        self.vehicles = {}
        self._restate()

    def _restate(self) -> None:
        waiting = [item for item in self._queue if item.share_id is not None]
        content, previews = self._content, self._previews
        self._sent.clear()
        self._queue.clear()
        self._size = 0
        self._base = self._content = VehicleState(phase=Phase.PREVIEW)
        for message in restatement(content, previews, self.new_generation()):
            self._add(divided(message, self.frame_bytes_max))
        for state in content.extensions:
            self.publish_extension(state.name, state.content, state.key, True)
        for item in waiting:
            self._append(item)

    @property
    def sent_shares(self) -> list[str]:
        """The shares that the gateway may know."""
        waiting = {item.share_id for item in self._queue}
        return [share for share in self.shares if share not in waiting]

    def drop_share(self, share_id: str) -> None:
        """The caller no longer waits: a share that is not sent yet is not sent."""
        self.shares.pop(share_id, None)
        for item in list(self._queue):
            if item.share_id == share_id:
                self._queue.remove(item)
                self._size -= item.size

    @property
    def present_vehicles(self) -> set[str]:
        """The vehicles that are in the session or awaited."""
        present = (m.VehicleStanding.JOINED, m.VehicleStanding.AWAITED)
        return {name for name, status in self.vehicles.items() if status.standing in present}


def _with(state: VehicleState, item: _Item) -> VehicleState:
    """The content with a publication."""
    if isinstance(item.message, m.PublishExtension):
        return changed(state, **extension_values(state, item.frame, item.message))
    return reduced(state, item.message)


def _key(message: Message) -> Hashable:
    if isinstance(message, m.UpdateManeuverEstimates):
        return type(message), message.maneuver_id
    if isinstance(message, m.UpcomingManeuvers | m.UpdateManeuverState):
        return object()  # A state, but not one that another replaces.
    return type(message).__name__ if isinstance(message, _REPLACED) else None


def is_own_end(reason: SessionEndReason | None) -> bool:
    """Whether this client has ended the session."""
    return reason in _OWN_ENDS
