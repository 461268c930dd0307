"""Extensions through a real gateway."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import waymark_nav
from waymark_nav import messages as m

from conftest import Gateway
from drive import run, until


def test_an_extension_reaches_endpoints_that_join_late_and_is_answered(gateway: Gateway, api: SimpleNamespace) -> None:
    tyres = "org.example.tyres"

    async def drive() -> None:
        async with api.Client("app", gateway.navigation, extensions=[tyres]) as client:
            session = await client.open_session("car")
            await session.publish_extension(tyres, b"72", key=1, retained=True)
            with pytest.raises(waymark_nav.Rejection):
                await session.publish_extension("com.example.seats", b"")
            events = session.events()
            other = api.Endpoint("car", "display", gateway.vehicle)
            async with other, api.Endpoint("car", "cluster", gateway.vehicle, extensions=[tyres]) as car:
                await until(car.states(), lambda state: state.extensions == (waymark_nav.ExtensionState(tyres, 1, b"72"),))
                car.send_extension(tyres, b"ok")
                event = await until(events, lambda event: isinstance(event.message, m.VehicleExtension))
                assert (event.message.vehicle_id, event.message.endpoint, event.message.content) == ("car", "cluster", b"ok")
                assert other.state.extensions == ()

    run(drive())
