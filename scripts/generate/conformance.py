#!/usr/bin/env python3
"""conformance.py [--check]: makes the descriptions that waymark-conformance reads: protocol.json from the protos, and
requirements.json from Docs/protocol.md. With --check it writes nothing, and fails if they are not fresh."""

import json
import re
import subprocess
import sys

from protocol import FILES, ROOT, SENDERS, brackets, parse, put

DATA = ROOT / "Sources/conformance/waymark_conformance/data"


def describe_enumeration(definition):
    prefix = re.sub(r"(?<!^)([A-Z])", r"_\1", definition.name).upper() + "_"
    return {value.name.removeprefix(prefix): value.number for value in definition.members}


def describe_message(definition):
    described = {}
    if brackets(definition.text):
        number, sender = brackets(definition.text)
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
    made = {"protocol.json": protocol(), "requirements.json": requirements()}
    put({DATA / name: text(value) for name, value in made.items()}, sys.argv[1:])


if __name__ == "__main__":
    main()
