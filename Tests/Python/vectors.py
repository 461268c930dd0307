"""The golden vectors of Protos/vectors, and the JSON form in which they have messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from waymark_nav import messages as m
from waymark_nav._wire import BYTES, PLANS, UINT64, M, Message

FOLDER = Path(__file__).resolve().parents[2] / "Protos/vectors"


def lines(pattern: str = "*.jsonl") -> Iterator[dict[str, Any]]:
    """All vectors."""
    for path in sorted(FOLDER.glob(pattern)):
        for line in path.read_text(encoding="utf-8").split("\n"):
            if line:
                yield json.loads(line)


def body(vector: dict[str, Any]) -> bytes:
    """The body of a vector; a large one is written as parts that are repeated."""
    if "hex" in vector:
        return bytes.fromhex(vector["hex"])
    return b"".join(bytes.fromhex(part) * count for part, count in vector["parts"])


def known(content: Any) -> Any:
    """The JSON form without unknown fields, which this package drops."""
    if isinstance(content, list):
        return [known(item) for item in content]
    if isinstance(content, dict):
        return {key: known(item) for key, item in content.items() if key != "?"}
    return content


def as_read(content: Any, key: str = "") -> Any:
    """The JSON form as this package reads it: of the angles 180 and -180, which are the same, it keeps -180."""
    if isinstance(content, list):
        return [as_read(item, key) for item in content]
    if isinstance(content, dict):
        return {name: as_read(item, name) for name, item in content.items()}
    is_angle = key.endswith(("angle_degrees", "angles_degrees"))
    return -180 if is_angle and content == 180 else content


def class_of(name: str) -> type[Message]:
    """The class of a message, by its name."""
    cls: type[Message] = getattr(m, name)
    return cls


def from_json(cls: type[M], content: dict[str, Any]) -> M:
    """The message of a JSON form; only for messages of numbers."""
    return cls(**content)


def as_json(message: Message) -> dict[str, Any]:
    """A message as the vectors write it: fields by their names in the protos, without those that have the default."""
    plan = PLANS[type(message)]
    by_name = {field.name: field for field in plan.fields}
    content: dict[str, Any] = {}
    for each in fields(message):  # type: ignore[arg-type]
        field, value = by_name[each.name], getattr(message, each.name)
        if value is None or (not field.is_optional and value in (0, "", b"", ())):
            continue
        content[each.name] = [_value(field, item) for item in value] if field.is_repeated else _value(field, value)
    return content


def _value(field: Any, value: Any) -> Any:
    if isinstance(value, Message):
        return as_json(value)
    if field.kind == BYTES:
        return value.hex()
    return str(value) if field.kind == UINT64 else int(value) if isinstance(value, int) and not isinstance(value, bool) else value
