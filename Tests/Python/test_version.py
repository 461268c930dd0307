"""The version of the protocol: Protos/VERSION has it, and everything else that names it says the same."""

from __future__ import annotations

import json
import re
from collections import Counter

from waymark_nav import _wire, messages
from waymark_nav.core import _peer
from waymark_nav.frames import VERSION

import vectors
from conftest import ROOT

MAJOR, MINOR = map(int, (ROOT / "Protos/VERSION").read_text(encoding="utf-8").split("."))


def text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_page_says_it() -> None:
    page = text("Docs/protocol.md")
    assert page.startswith(f"# The Waymark protocol, version {MAJOR}.{MINOR}\n")
    words = " ".join(page.split())
    assert f"Versions are minor versions of major version {MAJOR}; this page is version {MINOR}." in words
    assert f"This page is version {MAJOR}.{MINOR} of the protocol." in words
    assert f"| versions | {MINOR} ... {MINOR} | minor versions |" in page
    assert f"* a [protocol](Docs/protocol.md), {MAJOR}.{MINOR}, " in text("CHANGELOG.md")
    named = re.findall(r"# (version(?:_min|_max)?): (\d+)$", page, re.M)
    assert {name for name, _ in named} == {"version", "version_min", "version_max"}
    assert {number for _, number in named} == {str(MINOR)}


def test_both_libraries_speak_it() -> None:
    assert (VERSION, _peer.VERSION_MIN, _peer.VERSION_MAX) == (MAJOR, MINOR, MINOR)
    assert f"static let versions: ClosedRange<UInt32> = {MINOR}...{MINOR}\n" in text("Sources/WaymarkProtocol/Limits.swift")
    assert f"static let majorVersion: UInt8 = {MAJOR}\n" in text("Sources/WaymarkProtocol/Frame.swift")


def test_the_examples_speak_it() -> None:
    for name in ("cluster", "navigate", "observe"):
        assert f"return number(1, {MINOR}) + number(2, {MINOR}) + " in text(f"Docs/examples/{name}.py"), name
    for name in ("cluster", "navigate"):
        assert f"hello.version_min = hello.version_max = {MINOR};" in text(f"Docs/examples/{name}.c"), name


def test_the_vectors_are_of_it() -> None:
    assert f"They are of version {MAJOR}.{MINOR} of the protocol." in text("Protos/vectors/README.md")
    found: Counter[int] = Counter()
    for vector in vectors.lines("connection.jsonl"):
        content = vector.get("json", {})
        found.update(content[key] for key in ("version", "version_min", "version_max") if key in content)
    # Few have another number, as the largest that the field takes.
    assert found.most_common(1)[0][0] == MINOR
    for vector in vectors.lines("conversations.jsonl"):
        frames = [bytes.fromhex(step["hex"]) for step in vector["steps"] if "hex" in step]
        assert {frame[2] for frame in frames} == {MAJOR}
        for frame in frames:
            if frame[5] in (1, 2) and not frame[4]:
                message = _wire.decode(messages.Hello if frame[5] == 1 else messages.Welcome, frame[24:])
                assert getattr(message, "version_max", MINOR) == getattr(message, "version", MINOR) == MINOR


def test_the_suite_offers_it() -> None:
    fragments = json.loads(text("Sources/conformance/waymark_conformance/data/fragments.json"))
    for name in ("endpoint_hello", "client_hello", "observer_hello"):
        assert (fragments[name]["version_min"], fragments[name]["version_max"]) == (MINOR, MINOR), name
    assert fragments["welcome"]["version"] == MINOR


def test_the_copy_is_of_it() -> None:
    assert json.loads(text("Protos/frozen/protocol.json"))["version"] == f"{MAJOR}.{MINOR}"
