"""The page is for people with a keyboard, a screen reader or a telephone."""

import itertools
import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe

from conftest import VEHICLE, Inspector
from mock_inspector import Mock
from test_views import VIEWS

SIZES = [(1280, 800), (390, 844)]
PLACES = {"overview": "view=overview", **{name: f"vehicle={VEHICLE}&view={name}" for name in VIEWS}}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=["wide", "narrow"])
def test_axe_finds_nothing(open_page: Callable[..., Inspector], theme: str, size: tuple[int, int]) -> None:
    inspector = open_page(*size, theme=theme)
    found = []
    for name, fragment in PLACES.items():
        page = inspector.show(fragment)
        for violation in Axe().run(page).response["violations"]:
            found += [
                f"{name}: {violation['id']}: {node['html'][:140]} {node['any'][0]['message'] if node['any'] else ''}"
                for node in violation["nodes"]
            ]
    assert found == []


@pytest.mark.mock
def test_axe_finds_nothing_in_what_opens(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car&view=frames&entry=f-1&node=1.1")
    page.get_by_text("Moments", exact=True).click()
    assert Axe().run(page).response["violations"] == []
    page = inspector.show("vehicle=car&endpoint=hud")
    page.get_by_role("button", name="Why: no lanes").click()
    assert Axe().run(page).response["violations"] == []
    inspector.show("view=compare&a=r1&b=r2")
    assert Axe().run(page).response["violations"] == []


@pytest.mark.parametrize("width", [380, 640])
def test_no_view_is_wider_than_a_narrow_screen(open_page: Callable[..., Inspector], width: int) -> None:
    """640 pixels are also what a screen of 1280 has at 200 %."""
    inspector = open_page(width, 700)
    wide = []
    for name, fragment in PLACES.items():
        page = inspector.show(fragment)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(name)
    assert wide == []


def test_everything_is_reached_by_tab_and_its_focus_is_visible(inspector: Inspector) -> None:
    page = inspector.show(f"vehicle={VEHICLE}")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    seen = set()
    for _ in range(150):
        page.keyboard.press("Tab")
        focused = page.evaluate("""(() => {
            const element = document.activeElement, style = getComputedStyle(element);
            return [element.getAttribute('aria-label') || element.textContent.trim().slice(0, 40) || element.name || element.nodeName,
                style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1, element === document.body];
        })()""")
        if focused[2]:
            break
        assert focused[1], f"no visible focus: {focused[0]}"
        seen.add(focused[0])
    else:
        pytest.fail("the focus never came to the end")
    for name in ["Waymark Inspector", "Frames", "Zoom in", "Moment", "Pause", "Link to this moment"]:
        assert name in seen
    assert any(name.startswith("Map: ") for name in seen)


def test_the_skip_link_goes_to_the_content(inspector: Inspector) -> None:
    page = inspector.show(f"vehicle={VEHICLE}")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert f"vehicle={VEHICLE}" in page.url


@pytest.mark.mock
def test_a_drive_through_the_page_by_keyboard_alone(inspector: Inspector, mock: Mock) -> None:
    page = inspector.page
    focused = "[document.activeElement.textContent.trim(), document.activeElement.getAttribute('aria-label')]"

    def tab_to(name: str) -> None:
        for _ in range(120):
            page.keyboard.press("Tab")
            if name in page.evaluate(focused):
                return
        pytest.fail(f"no {name}")

    tab_to("hud")
    page.keyboard.press("Enter")
    page.wait_for_selector(".card")
    page.evaluate("document.activeElement.blur()")
    tab_to("Why: no lanes")
    page.keyboard.press("Enter")
    assert "Let its Hello ask" in page.inner_text("#why-box")
    page.keyboard.press("Escape")
    tab_to("Pause")
    inspector.show("vehicle=car&view=actions")
    tab_to("Allow guidance")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=sent as a1")
    assert mock.posted() == [{"vehicle": "car", "action": "allow"}]


@pytest.mark.mock
def test_focus_and_open_details_survive_a_change(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car")
    page.get_by_text(re.compile("Show more")).click()
    page.get_by_role("link", name="Compare with what was published").focus()
    mock.at = 20.0
    inspector.until(
        "document.querySelector('.card').textContent.includes('execute')"
        " && document.querySelector('.nearness .now').textContent === 'execute'"
    )
    assert page.evaluate("document.activeElement.textContent") == "Compare with what was published"
    assert page.locator("details.more").get_attribute("open") is not None


@pytest.mark.mock
def test_the_next_maneuver_is_spoken_at_most_every_two_seconds(inspector: Inspector, mock: Mock) -> None:
    page = inspector.show("vehicle=car")
    assert page.locator("#live").get_attribute("aria-live") == "polite"
    inspector.until("document.querySelector('#live').textContent.includes('80 m: right turn, 84 degrees')")
    page.evaluate(
        "globalThis.said = []; new MutationObserver(() => said.push(performance.now()))"
        ".observe(document.querySelector('#live'), {childList: true, characterData: true, subtree: true})"
    )
    for step in range(30):
        mock.at = 16 + step * 0.15
        page.wait_for_timeout(100)
    said = page.evaluate("said")
    assert 1 <= len(said) <= 3
    assert all(later - earlier >= 1900 for earlier, later in itertools.pairwise(said))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_follows_the_system_and_can_be_chosen(open_page: Callable[..., Inspector], theme: str) -> None:
    inspector = open_page(theme=theme)
    page = inspector.page
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    other = "light" if theme == "dark" else "dark"
    page.get_by_role("button", name=f"Use the {other} theme").click()
    page.reload()
    inspector.settle()
    assert page.evaluate("document.documentElement.dataset.theme") == other


def test_nothing_moves_for_people_who_want_that(open_page: Callable[..., Inspector]) -> None:
    inspector = open_page(reduced_motion="reduce")
    page = inspector.show(f"vehicle={VEHICLE}")
    moving = """[...document.querySelectorAll('*')].filter((one) => parseFloat(getComputedStyle(one).transitionDuration)
        || getComputedStyle(one).animationName !== 'none').length"""
    assert page.evaluate(moving) == 0


@pytest.mark.mock
def test_tables_have_captions_and_headers(inspector: Inspector) -> None:
    for name in VIEWS:
        page = inspector.show(f"vehicle=car&view={name}")
        bad = page.evaluate("""[...document.querySelectorAll('table')].filter((table) => !table.caption?.textContent
            || [...table.querySelectorAll('thead th')].some((cell) => cell.scope !== 'col')
            || [...table.querySelectorAll('tbody tr')].some((row) => row.cells[0].scope !== 'row')).length""")
        assert bad == 0, name
