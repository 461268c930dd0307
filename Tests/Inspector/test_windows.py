"""Several windows of one browser."""

from collections.abc import Callable

import pytest

from conftest import WITHIN_SECONDS, Inspector
from mock_inspector import Mock

pytestmark = pytest.mark.mock
PLACES = ["view=overview", "view=overview&only=slow", "vehicle=car", "vehicle=car&endpoint=hud", "vehicle=van", "vehicle=car&view=requests",
          "vehicle=car&view=log", "vehicle=car&view=updates"]  # fmt: skip


def test_eight_windows_share_one_stream_and_all_go_on(open_page: Callable[..., Inspector], mock: Mock) -> None:
    first = open_page()
    windows = [first]
    for _ in PLACES[1:]:
        page = first.page.context.new_page()
        page.set_default_timeout(WITHIN_SECONDS * 1000)
        windows.append(Inspector(page, first.origin, first.link))
    for window, place in zip(windows, PLACES, strict=True):
        window.show(place)
    # A question needs a connection that no stream keeps.
    for window in windows:
        window.until("document.querySelector('#top').textContent.includes('live')")
    mock.at = 40.0
    windows[2].until("document.querySelector('.card').textContent.includes('Römer')")
    windows[3].until("document.querySelector('.card').textContent.includes('Römer')")
    windows[0].until("document.querySelector('tbody').textContent.includes('Römer')")
    first.page.wait_for_timeout(300)
    assert mock.streams == 1


def test_a_window_that_closes_leaves_the_stream_to_the_others(open_page: Callable[..., Inspector], mock: Mock) -> None:
    first = open_page()
    other = Inspector(first.page.context.new_page(), first.origin, first.link)
    other.show("vehicle=car")
    first.show("view=overview")
    other.page.close()
    mock.at = 40.0
    first.until("document.querySelector('tbody').textContent.includes('Römer')")
