"""The messages that an endpoint sends, and which of them it sends again after a lost connection.

| kind | after a loss |
|---|---|
| requests for a stop, a drive, a start | sent again until the outcome; the id makes it one request. Not to a restarted gateway |
| withdrawing a request | sent again until the outcome, but not to a restarted gateway; the request itself is not |
| stopping a session | sent again until that session has ended |
| stopping without a session | not sent again: it could stop guidance that the user has not seen |
| own navigation | sent again until it is confirmed; also to a restarted gateway |
| allowing, route source, settings | the newest is sent again once if it may have been lost |
| settings | all of them are sent to a restarted gateway |
| route source | sent to a restarted gateway once the same client guides again |
| the selected preview | sent again once, to a gateway that still has the session, unless newer previews have come |
| answers to prompts and shares | sent again once, to a gateway that still has the question |
| answers to alerts, extensions | only if not sent yet, to a gateway that still has the session: the client may act on each |
| zoom, receipts | not sent again: they are about the moment |

A restarted gateway is one that does not resume the endpoint, whatever the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from waymark_nav import messages as m
from waymark_nav._wire import Message
from waymark_nav.frames import Frame, frame

Key = tuple[str, str | int]

#: Queued entries of one kind; beyond that the oldest is dropped.
KIND_MAX = 16

REQUESTS = (m.MessageType.WAYPOINT_REQUEST, m.MessageType.DESTINATION_REQUEST, m.MessageType.START_TRIP_REQUEST)

_KEPT = {"request", "withdrawal", "own"}
_REPEATED = _KEPT | {"allowance", "route source", "preview", "route feedback", "settings", "prompt answer", "share answer"}
_ANSWERS = {"preview", "prompt answer", "share answer", "alert answer", "route feedback", "wanted destination", "extension", "simulation"}
_OF_SESSION = {
    "route source",
    "preview",
    "route feedback",
    "share answer",
    "alert answer",
    "wanted destination",
    "extension",
    "simulation",
    "zoom",
    "receipt",
}
_DENIED = {
    m.MessageType.WAYPOINT_REQUEST,
    m.MessageType.DESTINATION_REQUEST,
    m.MessageType.START_TRIP_REQUEST,
    m.MessageType.WITHDRAW_REQUEST,
    m.MessageType.CANCEL_NAVIGATION,
    m.MessageType.ALLOW_NAVIGATION,
    m.MessageType.UPDATE_ROUTE_SOURCE,
    m.MessageType.UPDATE_ROUTE_FEEDBACK,
}


def denies_requests(error: m.Error) -> bool:
    """Whether an error says that the endpoint may make no requests for its vehicle."""
    return error.code == m.ErrorCode.NOT_GRANTED and error.message_type in _DENIED


@dataclass(slots=True)
class _Entry:
    key: Key
    message: Message
    session: int
    is_waiting: bool = True
    times_sent: int = 0


def _key(message: Message, session: int) -> Key:
    """Of two entries with the same key only the newer one is kept."""
    match message:
        case m.WaypointRequest() | m.DestinationRequest() | m.StartTripRequest():
            return "request", message.request_id
        case m.WithdrawRequest():
            return "withdrawal", message.request_id
        case m.CancelNavigation():
            return ("own", 0) if message.reason == m.CancelReason.OWN_NAVIGATION_STARTED else ("stop", session)
        case m.AllowNavigation():
            return "allowance", 0
        case m.UpdateRouteSource():
            return "route source", 0
        case m.SelectPreview():
            return "preview", 0
        case m.VehicleSettings():
            return "settings", 0
        case m.PromptAnswer():
            return "prompt answer", message.request_id
        case m.DestinationShareAnswer():
            return "share answer", message.share_id
        case m.AlertResponse():
            return "alert answer", 0
        case m.UpdateRouteFeedback():
            return "route feedback", 0
        case m.DestinationShareWanted():
            return "wanted destination", 0
        case m.VehicleExtension():
            return "extension", 0
        case m.SimulateDrive():
            return "simulation", 0
        case m.ZoomCluster():
            return "zoom", 0
        case m.Receipt():
            return "receipt", 0
    raise TypeError(f"endpoints do not send {type(message).__name__}")


def _is_kept(key: Key) -> bool:
    """Sent again on every new connection."""
    return key[0] in _KEPT or (key[0] == "stop" and key[1] != 0)


def _is_momentary(key: Key) -> bool:
    return key[0] in ("zoom", "receipt") or key == ("stop", 0)


class Outbox:
    """What an endpoint has to send."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._settings = m.VehicleSettings()
        self._route_source: m.UpdateRouteSource | None = None
        #: The client that guided when the route source was set; None: none did.
        self._route_source_client: str | None = None
        self._restates_route_source = False
        self._session = 0
        self._client: str | None = None
        self._navigates_itself = False

    def send(self, message: Message, session: int = 0) -> None:
        """Queues a message."""
        key = _key(message, session)
        match message:
            case m.VehicleSettings():
                # Merged with the settings before, since some of them may not have arrived.
                message = self._settings = _merged(self._settings, message)
            case m.UpdateRouteSource():
                self._route_source, self._route_source_client = message, self._client
                self._restates_route_source = False
            case m.WaypointRequest() | m.DestinationRequest() | m.StartTripRequest():
                self._remove(lambda entry: entry.key == ("withdrawal", message.request_id) and entry.is_waiting)
            case m.WithdrawRequest():
                self._remove(lambda entry: entry.key == ("request", message.request_id))
            case m.CancelNavigation(reason=m.CancelReason.OWN_NAVIGATION_STARTED):
                self._navigates_itself = True
            case m.AllowNavigation():
                self._navigates_itself = False
        if key[0] not in ("alert answer", "wanted destination", "extension", "zoom"):
            self._remove(lambda entry: entry.key == key)
        self._entries.append(_Entry(key, message, session))
        kind = [entry for entry in self._entries if entry.key[0] == key[0]]
        if len(kind) > KIND_MAX and not _is_kept(key):
            self._entries.remove(kind[0])

    def is_requesting(self, request_id: str) -> bool:
        """Whether a request is open and was not withdrawn."""
        return any(entry.key == ("request", request_id) for entry in self._entries)

    def remove_unsent(self, key: Key) -> bool:
        """Removes an entry that was never sent; False if it was sent or is not there."""
        before = len(self._entries)
        self._remove(lambda entry: entry.key == key and entry.times_sent == 0)
        return len(self._entries) < before

    def give_up(self, key: Key) -> None:
        """The caller no longer waits for the end of guidance. Own navigation that was sent remains valid."""
        if key[0] == "own":
            if self.remove_unsent(key):
                self._navigates_itself = False
        else:
            self._remove(lambda entry: entry.key == key)

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits to be sent."""
        return not any(entry.is_waiting for entry in self._entries)

    def dequeue(self) -> list[Frame]:
        """Removes and returns what to send now, oldest first."""
        frames = []
        for entry in self._entries:
            if entry.is_waiting:
                frames.append(frame(entry.message, entry.session))
                entry.is_waiting = False
                entry.times_sent += 1
        self._remove(lambda entry: not entry.is_waiting and not (entry.key[0] in _REPEATED or _is_kept(entry.key)))
        return frames

    def welcomed(self, resumed: bool) -> None:
        """A new connection: nothing was sent on it yet."""
        self._remove(lambda entry: _is_momentary(entry.key) or (entry.times_sent > 1 and not _is_kept(entry.key)))
        for entry in self._entries:
            entry.is_waiting = True
        if resumed:
            return
        self._session, self._client = 0, None
        self._remove(lambda entry: entry.key[0] in _ANSWERS | {"settings", "route source"})
        # Only this endpoint knows that it has sent them: sent again, a request could get a second outcome. What is withdrawn was sent.
        self._remove(lambda entry: entry.key[0] == "withdrawal" or (entry.key[0] == "request" and entry.times_sent > 0))
        if self._settings != m.VehicleSettings():
            self.send(self._settings)
        if self._route_source is not None:
            if self._route_source_client is None:
                self.send(self._route_source)
            else:
                self._restates_route_source = True
        if self._navigates_itself:
            self.send(m.CancelNavigation(reason=m.CancelReason.OWN_NAVIGATION_STARTED))

    def received(self, message: Message | None, session: int) -> None:
        """A message of the gateway: what it answers is not sent again."""
        match message:
            case m.RequestOutcome():
                self._forget_request(message.request_id)
                if message.outcome == m.Outcome.ACCEPTED:
                    self._navigates_itself = False
            case m.SnapshotBegin():
                self._begin(message, session)
            case m.Error():
                self._refused(message)
            case m.PromptOver():
                self._remove(lambda entry: entry.key == ("prompt answer", message.request_id))
            case m.SessionEnded():
                self._ended(message)
            case m.TripPreviews() | m.StartGuidance():
                # A selection that was sent is about older previews.
                self._remove(lambda entry: entry.key[0] == "preview" and not entry.is_waiting)
            case m.FinishGuidance() | m.CancelGuidance():
                self._forget_session()
                self._remove(lambda entry: entry.key == ("stop", session))

    def _begin(self, begin: m.SnapshotBegin, session: int) -> None:
        # The vehicle is guided, so another endpoint has ended its own navigation.
        self._navigates_itself = False
        self._session, self._client = session, begin.client_id
        # A vehicle is in one session: every other one has ended.
        self._remove(lambda entry: entry.key[0] == "stop" and entry.key[1] not in (0, session))
        if self._restates_route_source and self._route_source is not None:
            if self._route_source_client == begin.client_id:
                self.send(self._route_source, session)
            else:
                self._route_source, self._restates_route_source = None, False

    def _refused(self, error: m.Error) -> None:
        if error.message_type in REQUESTS:
            self._forget_request(error.request_id)
        elif error.message_type == m.MessageType.SELECT_PREVIEW:
            self._remove(lambda entry: entry.key[0] == "preview" and not entry.is_waiting)
        elif error.message_type == m.MessageType.WITHDRAW_REQUEST:
            self._remove(lambda entry: entry.key == ("withdrawal", error.request_id))
        if denies_requests(error):
            self._remove(lambda entry: _is_kept(entry.key))
            self._navigates_itself = False

    def _ended(self, message: m.SessionEnded) -> None:
        # Otherwise it answers a stop that crossed the end of an older session.
        if self._session in (0, message.session_id) or message.session_id == 0:
            self._forget_session()
        is_confirmed = message.reason == m.SessionEndReason.OWN_NAVIGATION_STARTED
        order = [entry.key[0] for entry in self._entries if entry.key[0] in ("own", "allowance")]
        if is_confirmed and order[-1:] == ["own"]:
            self._navigates_itself = True
        self._remove(
            lambda entry: (
                entry.key == ("stop", message.session_id)
                or (is_confirmed and entry.key[0] == "own")
                or (is_confirmed and entry.key[0] == "allowance" and not entry.is_waiting)
            )
        )

    def _forget_request(self, request_id: str) -> None:
        self._remove(lambda entry: entry.key in (("request", request_id), ("withdrawal", request_id)))

    def _forget_session(self) -> None:
        self._route_source, self._session, self._client = None, 0, None
        self._remove(lambda entry: entry.key[0] in _OF_SESSION)

    def _remove(self, is_removed: Callable[[_Entry], bool]) -> None:
        self._entries = [entry for entry in self._entries if not is_removed(entry)]


def _merged(old: m.VehicleSettings, new: m.VehicleSettings) -> m.VehicleSettings:
    """The new settings, with the old ones where it has none."""
    unset = m.VehicleSettings()
    given = {each.name: getattr(new, each.name) for each in fields(new)}
    return replace(old, **{name: value for name, value in given.items() if value != getattr(unset, name)})
