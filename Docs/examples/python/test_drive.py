from waymark_nav.rig import Rig


async def test_a_small_cluster_shows_the_drive(rig: Rig) -> None:
    car = await rig.vehicle("car", profile="two-maneuvers")
    car.never({"shows": "stale"})
    car.exactly(1, "startGuidance")
    await rig.client("nav", drive="heidelberg-lanes", start_at="600m", speed=100)
    await car.eventually({"next.type": "rightTurn", "next.distance": "<200m"}, within="20s")
    await car.ended("finished", within="1min")
