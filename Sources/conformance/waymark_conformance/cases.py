"""The cases, as they are in the folder data."""

from dataclasses import dataclass, field
from typing import Any

from .schema import Malformed, load

ROLES = ("endpoint", "client", "observer", "gateway")
CLASSES = ("MUST", "SHOULD", "MAY")
FILES = {
    "endpoint": ["endpoint.json"],
    "client": ["client.json"],
    "observer": ["observer.json"],
    "gateway": [
        "gateway-frames.json",
        "gateway-handshake.json",
        "gateway-sessions.json",
        "gateway-content.json",
        "gateway-fitting.json",
        "gateway-requests.json",
        "gateway-observers.json",
    ],
}


@dataclass
class Case:
    id: str
    role: str
    title: str
    checks: list[str]
    steps: list[dict[str, Any]]
    of: str = "MUST"
    """MUST, SHOULD or MAY."""
    features: list[str] = field(default_factory=list)
    """What the Hello of the implementation must request or declare; otherwise the case does not apply."""
    wants: list[str] = field(default_factory=list)
    """What an observer must want: state, events, frames."""
    slots: int = 0
    """For how many maneuvers an endpoint must have slots."""
    setup: str = ""
    alone: bool = False
    later: bool = False
    """The suite speaks an invented later version: see later.py."""
    deadline: float = 20.0
    law: str = ""
    """The name of a law, which every conversation must keep; it has no steps."""
    because: str = field(default="", repr=False)


def load_cases(role):
    """All cases and laws for a role, in order."""
    cases = []
    for file in [*FILES[role], f"later-{role}.json"]:
        for each in load(file):
            try:
                cases.append(Case(role=role, **each))
            except TypeError as error:
                raise Malformed(f"{file}: {each.get('id')}: {error}") from error
    for each in load("laws.json")[role]:
        cases.append(Case(role=role, steps=[], **each))
    seen = set()
    for case in cases:
        if case.id in seen or case.of not in CLASSES or not case.checks:
            raise Malformed(f"{case.id}: the id is not unique, the class is unknown, or no requirement is named")
        seen.add(case.id)
    return cases


def covered():
    """By requirement: the ids of the cases that check it."""
    found: dict[str, list[str]] = {}
    for role in ROLES:
        for case in load_cases(role):
            for requirement in case.checks:
                found.setdefault(requirement, []).append(case.id)
    return found


def select(cases, patterns):
    """The cases whose id begins with one of the patterns, or that check a requirement that does."""
    if not patterns:
        return cases
    return [case for case in cases if any(name.startswith(pattern) for pattern in patterns for name in [case.id, *case.checks])]
