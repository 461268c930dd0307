#!/usr/bin/env python3
"""inspector_pictures.py: takes the pictures of the inspector in README.md and Docs/inspector.md, into Docs/images/inspector-*.png.

Run it with .build-inspector/bin/python3, which scripts/inspector.sh makes. The programs are those of WAYMARK_BIN, or of .build/release:
`waymark demo --inspect` for the drive to Balzers with its charging stop, and the drive of Tests/Inspector/real.py for lanes and recordings.
Run it again when the page changes, and look at each picture.
"""

import os
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Inspector"))

import real  # noqa: E402
from conftest import Inspector  # noqa: E402

FOLDER = ROOT / "Docs/images"
BYTES_MAX = 250_000


def sign_in(browser: Browser, link: str, width: int = 1200, height: int = 750, theme: str = "light") -> Inspector:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, timezone_id="UTC", locale="en-GB", reduced_motion="reduce"
    )
    inspector = Inspector(context.new_page(), link.split("/#")[0], link)
    inspector.page.set_default_timeout(60_000)
    inspector.sign_in()
    return inspector


def take(page: Page, name: str) -> None:
    file = FOLDER / f"inspector-{name}.png"
    page.screenshot(path=file)
    print(f"{file.name}: {file.stat().st_size} bytes")
    assert file.stat().st_size < BYTES_MAX, f"{file.name} has more than {BYTES_MAX} bytes"


def of_demo(browser: Browser) -> None:
    environment = {**os.environ, "NO_COLOR": "1", "TZ": "UTC", "BROWSER": "true"}
    demo = real.Program("waymark", "demo", "--inspect", "--speed", "8", environment=environment)
    try:
        link = demo.line("http://").split()[-1]
        light, dark = sign_in(browser, link), sign_in(browser, link, theme="dark")
        vehicle = "vehicle=demo-car"
        light.show("").wait_for_selector("text=demo-car")
        take(light.page, "overview")
        light.show(vehicle).wait_for_selector(".card-distance")
        take(light.page, "guidance")
        take(dark.show(vehicle), "guidance-dark")
        light.show(f"{vehicle}&view=requests").wait_for_selector("text=accepted", timeout=300_000)
        take(light.page, "requests")
        light.show(f"{vehicle}&view=route")
        light.page.wait_for_timeout(500)
        take(light.page, "route")
    finally:
        demo.stop()


def of_lanes_and_recordings(browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = real.World(Path(folder))
        try:
            world.bus.line("onto Bismarckstraße")
            inspector = sign_in(browser, world.link)
            page = inspector.show("vehicle=bus")
            page.wait_for_selector(".card-lanes svg")
            take(page, "lanes")
            page = inspector.show("vehicle=bus&endpoint=hud")
            page.get_by_role("button", name="Why: no lanes").click()
            take(page, "why")
            page = inspector.show("vehicle=bus&view=frames&message=updateManeuverEstimates")
            page.locator("tbody td a", has_text="update maneuver estimates").first.click()
            page.locator(".tree .tree .node, .tree ul .node").first.click()
            take(page, "frames")
            first = world.recording(0)
            world.bus.line("Kurfürsten-Anlage")
            compared = sign_in(browser, world.inspect(first, world.recording(1)))
            ends = [
                float(compared.show(f"source={source}&vehicle=bus").locator("input[type=range]").get_attribute("max") or 0)
                for source in ["r1", "r2"]
            ]
            # At two moments of the drive, so that there is a difference.
            page = compared.show(f"view=compare&vehicle=bus&at={ends[0] / 2:.1f}&atB={ends[1] - 0.5:.1f}")
            take(page, "compare")
        finally:
            world.close()


def main() -> None:
    only = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        for part in [of_demo, of_lanes_and_recordings]:
            if not only or part.__name__ in only:
                part(browser)
        browser.close()


if __name__ == "__main__":
    main()
