"""The content of messages in JSON, held to a list by hand: Tests/RigCases/lines.json."""

from __future__ import annotations

import json
from typing import Any

from waymark_nav import _json
from waymark_nav._wire import Message, decode
from waymark_nav.rig._fields import CONTENT

import vectors
from conftest import ROOT

LINES: dict[str, Any] = json.loads((ROOT / "Tests/RigCases/lines.json").read_text(encoding="utf-8"))


def test_messages_have_the_content_that_is_written_by_hand() -> None:
    found: dict[str, Message] = {}
    for vector in vectors.lines():
        if vector.get("valid") and vector["name"] in LINES:
            found[vector["name"]] = decode(vectors.class_of(vector["message"]), vectors.body(vector))
    assert found.keys() == LINES.keys()
    for name, message in found.items():
        assert json.loads(_json.line(_json.content(message))) == LINES[name], name


def test_each_message_with_content_is_there() -> None:
    assert {name for name in LINES if name.endswith(": full")} == {f"{cls.__name__}: full" for cls in CONTENT}
