"""Vehicle endpoints and navigation clients of Waymark, on asyncio. The same, blocking, is in waymark_nav.sync."""

from waymark_nav._client import Accept, Client, Offer, OwnPrompt, Session, SessionEvent
from waymark_nav._endpoint import Endpoint
from waymark_nav._feed import Feed
from waymark_nav._observer import Observer
from waymark_nav._version import __version__
from waymark_nav.core import Closed, Connected, Connecting, Entry, ExtensionState, Phase, Reconnection, Update, VehicleState
from waymark_nav.errors import (
    ClosedError,
    ConnectionFailedError,
    OutcomeUnknownError,
    RefusedError,
    Rejection,
    SessionEndedError,
    VehicleRefusedError,
    WaymarkError,
)
from waymark_nav.messages import Outcome

__all__ = [
    "Accept",
    "Client",
    "Closed",
    "ClosedError",
    "Connected",
    "Connecting",
    "ConnectionFailedError",
    "Endpoint",
    "Entry",
    "ExtensionState",
    "Feed",
    "Observer",
    "Offer",
    "Outcome",
    "OutcomeUnknownError",
    "OwnPrompt",
    "Phase",
    "Reconnection",
    "RefusedError",
    "Rejection",
    "Session",
    "SessionEndedError",
    "SessionEvent",
    "Update",
    "VehicleRefusedError",
    "VehicleState",
    "WaymarkError",
    "__version__",
]
