"""The machines of the three roles, without I/O, clock or threads.

A program that does not use asyncio drives them itself: it says what happened (opened(), receive(), lost(), tick()) and does what they want
(wants_transport(), take_output(), wants_end, wants_cut(), wants_abort(), next_event(), deadline). Instants are seconds of a clock that does
not go back.
"""

from waymark_nav.core._client import (
    Asked,
    Client,
    ClientSettings,
    InquiryEnded,
    OpeningRefused,
    Progress,
    SessionMessage,
    SessionOpen,
    SessionOver,
    ShareEnded,
    SimulationAsked,
)
from waymark_nav.core._endpoint import Endpoint, EndpointSettings, RequestEnded, StopEnded, Update
from waymark_nav.core._observer import CountersRead, Entry, Observer, ObserverSettings, Records, frames_in
from waymark_nav.core._peer import Closed, Connected, Connecting, Event, Peer, Reconnection, Traced
from waymark_nav.core._session import Session
from waymark_nav.core._state import ExtensionState, Phase, VehicleState

__all__ = [
    "Asked",
    "Client",
    "ClientSettings",
    "Closed",
    "Connected",
    "Connecting",
    "CountersRead",
    "Endpoint",
    "EndpointSettings",
    "Entry",
    "Event",
    "ExtensionState",
    "InquiryEnded",
    "Observer",
    "ObserverSettings",
    "OpeningRefused",
    "Peer",
    "Phase",
    "Progress",
    "Reconnection",
    "Records",
    "RequestEnded",
    "Session",
    "SessionMessage",
    "SessionOpen",
    "SessionOver",
    "ShareEnded",
    "SimulationAsked",
    "StopEnded",
    "Traced",
    "Update",
    "VehicleState",
    "frames_in",
]
