"""A vehicle endpoint on asyncio."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeVar

from waymark_nav import core, messages as m
from waymark_nav._feed import Feed, Source
from waymark_nav._generated.publications import STATES
from waymark_nav._peer import SOFTWARE, AsyncPeer, answer_of, jitter, logger, speed_percent
from waymark_nav._wire import Message
from waymark_nav.core import Closed, Connected, Event, RequestEnded, StopEnded, Update, VehicleState
from waymark_nav.messages import CancelReason, Outcome, SessionEndReason

T = TypeVar("T")

#: Handlers that run. A gateway cannot be configured to ask more; what is beyond is not answered.
HANDLERS_MAX = 1_024


def _key(update: Update) -> Hashable:
    """A newer update replaces an older one with the same key."""
    if isinstance(update.message, m.UpdateManeuverEstimates):
        return update.name, update.session, update.message.maneuver_id
    if update.key is not None:
        return update.name, update.session, update.key
    return (update.name, update.session) if isinstance(update.message, STATES) else None


class Endpoint(AsyncPeer[core.Endpoint]):
    """One endpoint of a vehicle: shows guidance, sends the vehicle's requests.

        async with Endpoint("car", "cluster") as car:
            async for update in car.updates():
                print(update.name, update.state.next_maneuver)

    It reconnects after a loss and gets what it missed. Handlers may be functions or coroutine functions.
    """

    _default_socket = "vehicle.sock"

    def __init__(
        self,
        vehicle: str,
        endpoint: str = "cluster",
        address: str | None = None,
        *,
        without: Iterable[m.Feature] = (),
        limits: m.VehicleLimits | None = None,
        distance_units: m.DistanceUnits = m.DistanceUnits.AS_PUBLISHED,
        locale: str = "",
        guidance_wanted: bool = True,
        on_prompt: Callable[[m.Prompt], Awaitable[bool] | bool] | None = None,
        on_destination: Callable[[m.ShareDestination], Awaitable[bool] | bool] | None = None,
        asks_for_simulated_drives: bool = False,
        display_name: str = "",
        credential: bytes = b"",
        keepalive_milliseconds: int = 0,
        receive_frame_bytes_max: int = 0,
        report_ignored: bool = False,
        extensions: Iterable[str] = (),
        reconnection: core.Reconnection | None = None,
    ) -> None:
        """An endpoint of a vehicle; raises Rejection if the gateway would refuse its Hello.

        vehicle, endpoint: names of 1 to 64 of A-Z a-z 0-9 . _ : - ; the endpoint's is unique in the vehicle.
        address: tcp:HOST:PORT or unix:/path; None: the socket of this user's waymarkd, or of the system's.
        without: features that the gateway need not send.
        limits: what the endpoint can show and store.
        guidance_wanted: it takes guidance from sessions opened for any vehicle that asked.
        on_prompt: asks the vehicle's user whether to stop on the way; None: this endpoint is not asked.
        on_destination: whether to take a destination that the client shares; None: this endpoint is not asked.
        asks_for_simulated_drives: it may ask clients to simulate drives, as test rigs do.
        credential: the listener's pre-shared key.
        receive_frame_bytes_max: the largest frame that it takes, in bytes with its header, from 4 096 on; 0: any.
        extensions: those that it takes or sends, at most 32 names such as org.example.tyres.
        """
        settings = core.EndpointSettings(
            vehicle=vehicle,
            endpoint=endpoint,
            without=frozenset(without),
            limits=limits or m.VehicleLimits(),
            distance_units=distance_units,
            locale=locale,
            guidance_wanted=guidance_wanted,
            prompts=on_prompt is not None,
            destinations=on_destination is not None,
            simulations=asks_for_simulated_drives,
            display_name=display_name,
            software=SOFTWARE,
            credential=credential,
            keepalive_milliseconds=keepalive_milliseconds,
            receive_frame_bytes_max=receive_frame_bytes_max,
            report_ignored=report_ignored,
            extensions=tuple(extensions),
            reconnection=reconnection or core.Reconnection(),
        )
        super().__init__(core.Endpoint(settings, jitter=jitter), address)
        self._on_prompt = on_prompt
        self._on_destination = on_destination
        self._updates: Source[Update] = Source(
            _key, lambda update, count: replace(update, missed=count), lambda update: len(update.frame.body) if update.frame else 0
        )
        self._states: Source[VehicleState] = Source(lambda state: "state")
        self._requests: dict[str, list[asyncio.Future[Outcome]]] = {}
        self._stops: dict[int, asyncio.Future[SessionEndReason | None]] = {}
        self._prompts: dict[str, asyncio.Task[None]] = {}

    # What is received

    @property
    def state(self) -> VehicleState:
        """What the endpoint holds now."""
        return self._machine.state

    def updates(self) -> Feed[Update]:
        """What is received from now on, for one more reader. It begins with the present state, as an update named "current"."""
        return self._updates.open(Update(name="current", message=None, state=self.state))

    def states(self) -> Feed[VehicleState]:
        """The state, now and after every change; a slow reader gets only the newest."""
        return self._states.open(self.state)

    def mark_shown(self, sequence: int) -> None:
        """Everything up to a number is on the display now: for the client's receipts, which also say when."""
        self._machine.mark_shown(sequence, None if self._link is None else self._link.now)

    # Requests

    async def request_waypoint(self, waypoint: m.Waypoint, *, segment_id: str = "", request_id: str | None = None) -> Outcome:
        """Asks the client that guides to stop somewhere on the way; returns how the request ended.

        The request survives lost connections, but not a restart of the gateway after it was sent: then it ends with GONE, and a new request
        needs a new id. A call with the same id waits for the same request. Cancelling the call withdraws it.
        """
        identity = request_id or self._new_id()
        return await self._request(m.WaypointRequest(request_id=identity, waypoint=waypoint, segment_id=segment_id))

    async def request_destination(self, destination: m.Waypoint, *, request_id: str | None = None) -> Outcome:
        """Asks for a drive to a place, like request_waypoint()."""
        identity = request_id or self._new_id()
        return await self._request(m.DestinationRequest(request_id=identity, destination=destination))

    async def start_trip(self, trip_id: str, route_choice_id: int = 0, *, request_id: str | None = None) -> Outcome:
        """Asks the client to start a trip of the previews, like request_waypoint(). Once it is accepted, guidance follows.

        route_choice_id: one of the trip's route choices; 0: the selected one, or the first.
        Ends with BUSY if another endpoint of the vehicle was faster.
        """
        identity = request_id or self._new_id()
        return await self._request(m.StartTripRequest(request_id=identity, trip_id=trip_id, route_choice_id=route_choice_id))

    def withdraw(self, request_id: str) -> None:
        """Takes a request back: the call that waits for it returns WITHDRAWN, or the outcome if the gateway has decided before."""
        self._machine.withdraw(request_id)
        self._wake()

    async def _request(self, request: m.WaypointRequest | m.DestinationRequest | m.StartTripRequest) -> Outcome:
        self._check_open()
        self._machine.request(request)
        self._wake()
        waiter: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        waiters = self._requests.setdefault(request.request_id, [])
        waiters.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            waiters.remove(waiter)
            if not waiters:
                self._requests.pop(request.request_id, None)
                self.withdraw(request.request_id)
            raise

    def _new_id(self) -> str:
        return f"{self._machine.settings.endpoint[:40]}-{secrets.token_hex(8)}"

    # Guidance

    async def cancel_navigation(self, reason: CancelReason = CancelReason.USER_STOPPED) -> SessionEndReason | None:
        """Ends guidance at once; returns why the session ended.

        USER_STOPPED ends the present session and never a later one. After OWN_NAVIGATION_STARTED no client may guide the vehicle before
        allow_navigation() or a destination request. None: there was no session, or it is not known how it ended. Cancelling the call ends
        it; a message that is not sent yet is not sent.
        """
        self._check_open()
        number = self._machine.cancel_navigation(reason)
        waiter: asyncio.Future[SessionEndReason | None] = asyncio.get_running_loop().create_future()
        self._stops[number] = waiter
        self._wake()
        try:
            return await waiter
        except asyncio.CancelledError:
            self._machine.give_up_stop(number)
            raise
        finally:
            self._stops.pop(number, None)

    def allow_navigation(self) -> None:
        """Lets clients guide again after the vehicle navigated itself."""
        self._send(m.AllowNavigation())

    # Answers and settings

    def answer_prompt(self, request_id: str, accepted: bool) -> None:
        """Answers a prompt; the first answer of the vehicle's endpoints counts. The result of `on_prompt` does the same."""
        self._send(m.PromptAnswer(request_id=request_id, accepted=accepted))

    def answer_share(self, share_id: str, outcome: Outcome = Outcome.ACCEPTED) -> None:
        """Takes a shared destination, or not. The result of `on_destination` does the same."""
        self._send(m.DestinationShareAnswer(share_id=share_id, outcome=outcome), self.state.session)

    def respond_to_alert(self, alert_id: int, action_id: int = 0) -> None:
        """Answers the alert that is shown: an action, or 0 to dismiss it."""
        dismissal = m.AlertDismissal.TIMEOUT if action_id else m.AlertDismissal.USER_DISMISSED
        self._send(m.AlertResponse(alert_id=alert_id, action_id=action_id, dismissal=dismissal), self.state.session)

    def set_route_source(self, source: m.RouteSource) -> None:
        """Tells the client what the vehicle does with the route."""
        self._send(m.UpdateRouteSource(route_source=source), self.state.session)

    def select_preview(self, trip_id: str, route_choice_id: int = 0) -> None:
        """Tells the client which trip of the previews the vehicle's user has selected, and which of its route choices.

        The client may show the previews again with this selection. route_choice_id: 0: the selected one, or the first.
        """
        self._send(m.SelectPreview(trip_id=trip_id, route_choice_id=route_choice_id), self.state.session)

    def set_route_feedback(self, feedback: m.UpdateRouteFeedback) -> None:
        """Tells the client how far the vehicle gets on the route with its charge.

        The gateway ignores feedback on a route that is not the current one: `state.generation` is the current one's.
        """
        self._send(feedback, self.state.session)

    def want_destination(self, trip_id: str = "") -> None:
        """Asks the client to share the destination of a trip preview, or, while guided, of the trip that is driven (empty)."""
        self._send(m.DestinationShareWanted(trip_id=trip_id), self.state.session)

    def update_settings(self, settings: m.VehicleSettings) -> None:
        """Tells the client how the display is set; what is not given stays as it was."""
        self._send(settings)

    def set_ready(self, ready: bool = True) -> None:
        """Tells the client whether the display is ready to show."""
        self._send(m.VehicleSettings(ready_to_show=ready))

    def zoom(self, direction: m.ZoomDirection) -> None:
        """Asks the client to zoom the cluster's map."""
        self._send(m.ZoomCluster(direction=direction), self.state.session)

    def simulate_drive(self, action: m.SimulationAction, speed: float = 1) -> None:
        """Asks the client that guides to simulate a drive, `speed` times as fast as real time, or to stop.

        It reaches a client that simulates drives, if the gateway's access rules allow it. What has no session or was lost with a
        connection is not repeated.
        """
        self._send(m.SimulateDrive(action=action, speed_percent=speed_percent(speed)), self.state.session)

    def send_extension(self, name: str, content: bytes) -> None:
        """Sends the client content that it and this endpoint agree on, at most 4 096 bytes: an event of the session that the vehicle is in.

        It reaches a client that has the extension too. What has no session or was lost with a connection is not repeated.
        """
        self._send(m.VehicleExtension(name=name, content=content), self.state.session)

    def _send(self, message: Message, session: int = 0) -> None:
        self._check_open()
        self._machine.send(message, session)
        self._wake()

    # Events

    def _handle(self, event: Event) -> None:
        match event:
            case Update():
                self._updates.tell(event)
                self._states.tell(event.state)
                self._ask(event)
            case RequestEnded():
                for waiter in self._requests.pop(event.request_id, []):
                    _resolve(waiter, event.outcome)
            case StopEnded():
                if (stop := self._stops.get(event.number)) is not None:
                    _resolve(stop, event.reason)
            case Connected():
                # Prompts that are still open are sent again; of others it would never be told that they are over.
                for task in self._prompts.values():
                    task.cancel()
                self._prompts.clear()
            case Closed():
                self._updates.finish()
                self._states.finish()

    def _ask(self, update: Update) -> None:
        message = update.message
        match message:
            case m.Prompt() | m.ShareDestination() if len(self._tasks) >= HANDLERS_MAX:
                pass  # It ends by its deadline.
            case m.Prompt() if self._on_prompt is not None and message.request_id not in self._prompts:
                self._prompts[message.request_id] = self._spawn(self._prompt(message, self._on_prompt))
            case m.PromptOver():
                if (task := self._prompts.pop(message.request_id, None)) is not None:
                    task.cancel()
            case m.ShareDestination() if self._on_destination is not None:
                self._spawn(self._share(message, update.session, self._on_destination))
            case m.Error():
                logger.warning("the gateway refuses a message of this endpoint: %s: %s", message.field, message.reason)

    async def _prompt(self, prompt: m.Prompt, handler: Callable[[m.Prompt], Awaitable[bool] | bool]) -> None:
        try:
            async with asyncio.timeout(prompt.deadline_milliseconds / 1_000 or None):
                accepted = await answer_of(handler, prompt)
            self.answer_prompt(prompt.request_id, accepted)
        except TimeoutError:
            pass  # The gateway does not wait longer.
        except Exception:
            logger.exception("on_prompt failed; the prompt is not answered")
        finally:
            if self._prompts.get(prompt.request_id) is asyncio.current_task():
                del self._prompts[prompt.request_id]

    async def _share(
        self, share: m.ShareDestination, session: int, handler: Callable[[m.ShareDestination], Awaitable[bool] | bool]
    ) -> None:
        try:
            accepted = await answer_of(handler, share)
        except Exception:
            logger.exception("on_destination failed; the destination is not taken")
            accepted = False
        if not self._machine.is_over:
            outcome = Outcome.ACCEPTED if accepted else Outcome.DECLINED_BY_USER
            self._machine.send(m.DestinationShareAnswer(share_id=share.share_id, outcome=outcome), session)
            self._wake()


def _resolve(waiter: asyncio.Future[T], value: T) -> None:
    if not waiter.done():
        waiter.set_result(value)
