"""Text of others in the lines that pytest prints."""

from __future__ import annotations

import pytest

from waymark_nav.rig import _report


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2J\u202eb", "a\\u001b[2J\\u202eb"),
        ("onto شارع الوحدة 21 (600 m)", "onto \u2067شارع الوحدة\u2069 21 (600 m)"),
        ("רחוב 500 צפון, שדרות", "\u2067רחוב 500 צפון\u2069, \u2067שדרות\u2069"),
        ("👨\u200d👩\u200d👧 می\u200cخواهم", "👨\u200d👩\u200d👧 \u2067می\u200cخواهم\u2069"),
        ("a\u200db\u2067", "a\\u200db"),
        ("a\n\nb", "a\n\nb"),
        ("שלום\n12", "\u2067שלום\u2069\n12"),
    ],
)
def test_names_of_others_neither_steer_the_terminal_nor_change_the_order_of_a_line(text: str, shown: str) -> None:
    assert _report._printable(text) == shown
    assert _report._printable(shown) == shown
