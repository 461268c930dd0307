#!/usr/bin/env python3
"""conformance.py [--check]: makes the descriptions that waymark-conformance reads: protocol.json from the protos, requirements.json and
causes.json from Docs/protocol.md; and the page that lists its cases. With --check it writes nothing, and fails if they are not fresh."""

import json
import re
import subprocess
import sys

from protocol import FILES, ROOT, SENDERS, brackets, parse, put

SUITE = ROOT / "Sources/conformance"
DATA = SUITE / "waymark_conformance/data"
PAGE = ROOT / "Docs/conformance-cases.md"
sys.path.insert(0, str(SUITE))

from waymark_conformance.cases import ROLES, covered, load_cases  # noqa: E402

INTRODUCTION = """# The conformance cases

<!-- made by scripts/generate/conformance.py -->

All cases of [the conformance suite](conformance.md), each with the requirements of [the protocol](protocol.md) that it checks. Those with
`LAW` in their id are checked in the conversations of all cases of the role. `waymark-conformance.pyz --explain ID` prints the steps of a
case.

| column | |
|---|---|
| class | MUST, SHOULD or MAY, see [Verdicts](conformance.md#verdicts) |
| only if | what the implementation must request or declare in its Hello, want, or have; without it the case is UNIMPLEMENTED |
"""


def describe_enumeration(definition):
    prefix = re.sub(r"(?<!^)([A-Z])", r"_\1", definition.name).upper() + "_"
    return {value.name.removeprefix(prefix): value.number for value in definition.members}


def describe_message(definition):
    described = {}
    if brackets(definition.text):
        number, sender, *_ = brackets(definition.text)
        described = {"type": int(number.removeprefix("type "), 16), "sender": SENDERS[sender]}
    fields = {}
    for member in definition.members:
        field = {"number": member.number, "type": member.type}
        if member.repeated:
            field["repeated"] = True
        if rules := brackets(member.text):
            field["rules"] = rules
        fields[member.name] = field
    return {**described, "fields": fields}


def protocol():
    definitions = [definition for name in FILES for definition in parse(name)]
    major, minor = map(int, (ROOT / "Protos/VERSION").read_text(encoding="utf-8").split("."))
    return {
        "version": {"major": major, "minor": minor},
        "messages": {each.name: describe_message(each) for each in definitions if each.kind == "message"},
        "enumerations": {each.name: describe_enumeration(each) for each in definitions if each.kind == "enum"},
    }


def requirements():
    lines = subprocess.run(
        [sys.executable, ROOT / "scripts/generate/requirements.py"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return dict(line.split("\t", 1) for line in lines)


def causes():
    """The causes of outcomes from the page's table: with which outcomes each comes, and whether it names an endpoint."""
    page = (ROOT / "Docs/protocol.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|(.*)\|(.*)\|(.*)\|(.*)\|$", page.split("\n### Causes\n")[1].split("\n#")[0], re.M)[2:]
    return {
        cause.strip(): {"outcomes": outcomes.strip().split(", "), "endpoint": bool(endpoint.strip())}
        for cause, outcomes, _, endpoint in rows
    }


def link(identifier):
    return f"[{identifier}](protocol.md#{identifier.lower()})"


def conditions(case):
    """What a case is only for, in words."""
    found = [f"`{feature}`" for feature in case.features] + [f"it wants {part}" for part in case.wants]
    found += [f"slots for {case.slots} maneuvers"] if case.slots else []
    found += [f"the setup `{case.setup}`"] if case.setup else []
    return ", ".join(found + [f"`{step['needs']}`" for step in case.steps if "needs" in step])


def cases_page():
    """The page: a table for each role, and the requirements with their cases."""
    lines = [INTRODUCTION]
    for role in ROLES:
        cases = load_cases(role)
        lines += [f"## Cases of the role {role}", "", f"{len(cases)} cases.", ""]
        lines += ["| case | class | what | requirements | only if |", "|---|---|---|---|---|"]
        for case in cases:
            checked = ", ".join(link(identifier) for identifier in case.checks)
            lines.append(f"| {case.id} | {case.of} | {case.title.replace('|', chr(92) + '|')} | {checked} | {conditions(case)} |")
        lines.append("")
    lines += ["## Requirements", "", "| requirement | cases |", "|---|---|"]
    known = covered()
    lines += [f"| {link(identifier)} | {', '.join(known[identifier])} |" for identifier in requirements() if identifier in known]
    return "\n".join(lines) + "\n"


def text(value):
    """One entry of the second level on a line, so that a change is one line of a diff."""
    out = []
    for name, part in value.items():
        if isinstance(part, dict):
            inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(each, ensure_ascii=False)}" for key, each in part.items())
            out.append(f" {json.dumps(name)}: {{\n{inner}\n }}")
        else:
            out.append(f" {json.dumps(name)}: {json.dumps(part, ensure_ascii=False)}")
    return "{\n" + ",\n".join(out) + "\n}\n"


def main():
    made = {"protocol.json": protocol(), "requirements.json": requirements(), "causes.json": causes()}
    put({DATA / name: text(value) for name, value in made.items()} | {PAGE: cases_page()}, sys.argv[1:])


if __name__ == "__main__":
    main()
