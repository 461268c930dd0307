"""The page of the inspector in a browser: of a small server with fixtures, or of the program whose link is WAYMARK_INSPECTOR_LINK."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from mock_inspector import Mock

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts/measure"))
from sweep_part import sweep_part

LINK = os.environ.get("WAYMARK_INSPECTOR_LINK")
"""What `waymark inspect --act` printed, with a vehicle `car` that is guided."""
VEHICLE = os.environ.get("WAYMARK_INSPECTOR_VEHICLE", "car")


WITHIN_SECONDS = 60.0
"""How long what must happen may take on a busy machine."""

_click = Locator.click


def _click_and_draw(self: Locator, **options: Any) -> None:
    """The page draws what a click changes in the next frame."""
    _click(self, **options)
    self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


Locator.click = _click_and_draw  # type: ignore[method-assign]


IN_EVERY_PART = ("test_files.py", "test_real.py")
"""Files whose tests run in every part. The first needs no browser. The second is the only one that runs the page with the real programs,
and scans every view of a drive for accessibility."""
IN_ONE_PART = ("test_axe_finds_nothing_in_any_view_of_a_drive[dark]",)
"""Their tests that take too long for every part: the same scan in the other theme."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", type=sweep_part, default="all", metavar="N/M", help="only a part of the tests: 2/5 is every fifth, from the third on"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if LINK:
        for item in items:
            if "mock" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="needs answers of the small server"))
    # Sorted by id: the order of files does not matter, and neighbours, which are cases of one test, come into different parts.
    ids = sorted(item.nodeid for item in items if item.path.name not in IN_EVERY_PART or item.name in IN_ONE_PART)
    left_out = set(ids) - set(ids[config.getoption("part")])
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left_out])
    items[:] = [item for item in items if item.nodeid not in left_out]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def mock() -> Iterator[Mock | None]:
    if LINK:
        yield None
        return
    mock = Mock()
    yield mock
    mock.close()


@pytest.fixture
def link(mock: Mock | None) -> str:
    """Where the page is; a module may name another one."""
    return mock.link if mock else str(LINK)


@dataclass
class Inspector:
    """A browser's page of the inspector, and what it did."""

    page: Page
    origin: str
    link: str
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def sign_in(self) -> None:
        self.page.goto(self.link)
        self.page.wait_for_selector("#view")

    def show(self, fragment: str, wait: bool = True) -> Page:
        """Opens a place by its address, as a link would."""
        self.page.goto(f"{self.origin}/#{fragment}")
        if wait:
            self.settle()
        return self.page

    def settle(self) -> None:
        # The page hears of another fragment after the browser has gone there.
        self.page.evaluate("new Promise((resolve) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(resolve)), 20))")
        self.until(
            "document.querySelector('#main')?.getAttribute('aria-busy') === 'false'"
            " && !document.querySelector('#view')?.textContent.startsWith('Loading')"
        )

    def until(self, expression: str, seconds: float = WITHIN_SECONDS) -> None:
        """Waits for an expression to be true. (Playwright's own way of waiting needs `eval`, which the page's policy forbids.)"""
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"in vain: {expression}"
            self.page.wait_for_timeout(20)

    def text(self) -> str:
        return self.page.inner_text("#view")


@pytest.fixture
def open_page(browser: Browser, link: str) -> Iterator[Callable[..., Inspector]]:
    """Opens pages, and checks at the end that none asked anything of another origin, and that no script failed."""
    opened: list[Inspector] = []

    def open_page(
        width: int = 1280, height: int = 800, theme: str = "light", signed_in: bool = True, expects_errors: bool = False, **more: Any
    ) -> Inspector:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            timezone_id="UTC",
            locale="en-GB",
            accept_downloads=True,
            **more,
        )
        inspector = Inspector(context.new_page(), link.split("/#")[0], link)
        inspector.page.set_default_timeout(WITHIN_SECONDS * 1000)
        inspector.page.on("request", lambda request: inspector.requests.append(request.url))
        inspector.page.on("pageerror", lambda error: inspector.errors.append(str(error)))
        if not expects_errors:
            inspector.page.on("console", lambda message: message.type == "error" and inspector.errors.append(message.text))
        opened.append(inspector)
        if signed_in:
            inspector.sign_in()
        return inspector

    yield open_page
    for inspector in opened:
        inspector.page.context.close()
        assert inspector.errors == []
        assert [url for url in inspector.requests if not url.startswith((f"{inspector.origin}/", "blob:"))] == []


@pytest.fixture
def inspector(open_page: Callable[..., Inspector]) -> Inspector:
    return open_page()
