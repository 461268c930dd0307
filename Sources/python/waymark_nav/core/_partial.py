"""Messages that come in several frames, because the peer takes only small ones: joined here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from waymark_nav.errors import Rejection
from waymark_nav.frames import FRAME_BYTES_MAX, HEADER_BYTES, Flags, Frame, Violation, frame
from waymark_nav.messages import CloseCode, MessageType, ReceiptReport

#: The messages that the gateway divides.
DIVISIBLE = frozenset(
    {
        MessageType.WELCOME, MessageType.SESSION_OPENED, MessageType.VEHICLE_CHANGED, MessageType.RECEIPT_REPORT,
        MessageType.OBSERVED_RECORDS, MessageType.OBSERVED_EVENT, MessageType.OBSERVED_FRAMES, MessageType.COUNTERS,
    }
)  # fmt: skip
#: All parts of a message: what they repeat makes them longer than the message.
PARTS_BYTES_MAX = 2 * FRAME_BYTES_MAX
#: Fields that name the element of a list of which parts come one behind the other.
_KEYS = ("vehicle_id", "session_id")
#: In these lists an element goes on in the next part.
_DIVIDED = ("vehicles", "retained")


class PartialMessage:
    """A message of which more frames are to come."""

    def __init__(self) -> None:
        self._frames: list[Frame] = []
        self._size = 0

    def add(self, whole: Frame) -> Frame | None:
        """Adds a frame that has arrived; returns the frame of the whole message, None if more of it follows. Raises Violation.

        Frames of other messages may come between the parts of one.
        """
        has_more = bool(whole.flags & Flags.MORE) and whole.type in DIVISIBLE
        is_next = bool(self._frames) and (self._frames[0].type, self._frames[0].session) == (whole.type, whole.session)
        if not has_more and not is_next:
            return whole
        if not is_next:
            self._frames, self._size = [], 0
        self._frames.append(whole)
        self._size += HEADER_BYTES + len(whole.body)
        if self._size > PARTS_BYTES_MAX:
            raise Violation(CloseCode.FRAME_TOO_LARGE, f"a message in several frames is longer than {PARTS_BYTES_MAX} bytes")
        if has_more:
            return None
        parts, self._frames, self._size = self._frames, [], 0
        try:
            joined = join([part.decode() for part in parts])
        except Rejection:
            return whole  # A part is of no use, so the message is not.
        return frame(joined, whole.session)


def join(parts: Sequence[Any]) -> Any:
    """The message whose parts these are."""
    last = parts[-1]
    joined: dict[str, Any] = {}
    for each in fields(last):
        values = [getattr(part, each.name) for part in parts]
        if isinstance(values[0], tuple):
            elements = tuple(element for value in values for element in value)
            if each.name in _DIVIDED:
                elements = _elements(elements)
            elif isinstance(last, ReceiptReport):
                # The later receipt of an endpoint counts: parts of an older report may come first.
                elements = tuple({(receipt.vehicle_id, receipt.endpoint): receipt for receipt in elements}.values())
            joined[each.name] = elements
        elif each.name == "frames":
            joined[each.name] = b"".join(values)
        elif is_dataclass(values[0]) and hasattr(values[0], "endpoints"):
            joined[each.name] = join(values)
    # Whether more of a state or an answer follows, the last part says; the other fields are the same in all.
    return replace(last, **joined)


def _elements(elements: tuple[Any, ...]) -> tuple[Any, ...]:
    """The elements of a list; those that come in parts are joined."""
    groups: list[list[Any]] = []
    for element in elements:
        if groups and _key(groups[-1][0]) == _key(element) and not getattr(element, "is_first", False):
            groups[-1].append(element)
        else:
            groups.append([element])
    return tuple(group[0] if len(group) == 1 else _joined(group) for group in groups)


def _joined(group: list[Any]) -> Any:
    whole = join(group)
    return replace(whole, is_first=group[0].is_first) if hasattr(whole, "is_first") else whole


def _key(element: Any) -> Any:
    return next(getattr(element, name) for name in _KEYS if hasattr(element, name))
