from waymark_nav.rig import Recording, Rig


async def test_the_gateway_rejects_nothing_of_the_client(rig: Rig, recording: Recording) -> None:
    car = await rig.vehicle("car")
    await rig.client("nav", drive="heidelberg-lanes", start_at="600m", speed=100)
    await car.ended("finished", within="1min")
    assert not [sent.message for sent in await recording.frames(peer="nav") if sent.rejected]
