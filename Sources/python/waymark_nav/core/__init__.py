"""The machines of the three roles, without I/O, clock or threads.

A program that does not use asyncio drives them itself: it says what happened (opened(), receive(), lost(), tick()) and does what they want
(wants_transport(), take_output(), wants_end, wants_cut(), next_event(), deadline). Instants are seconds of a clock that does not go back.
"""

from waymark_nav.core._endpoint import Endpoint, EndpointSettings, RequestEnded, StopEnded, Update
from waymark_nav.core._peer import Closed, Connected, Connecting, Event, Peer, Reconnection
from waymark_nav.core._state import Phase, VehicleState

__all__ = [
    "Closed",
    "Connected",
    "Connecting",
    "Endpoint",
    "EndpointSettings",
    "Event",
    "Peer",
    "Phase",
    "Reconnection",
    "RequestEnded",
    "StopEnded",
    "Update",
    "VehicleState",
]
