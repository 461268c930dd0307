#!/usr/bin/env python3
"""answers.py [--check]: makes the types of the inspector's page from the structures of its answers, Sources/WaymarkInspector*/Answers. With
--check it writes nothing, and fails if they are not fresh.

It reads extensions of `Answer` with structures of one property a line, and refuses everything else, which would be missing from the types.
"""

import re
import sys
from dataclasses import dataclass, field

from protocol import ROOT, put

TARGET = ROOT / "Tests/Inspector/answers.d.ts"
HEADER = """\
// Made by scripts/generate/answers.py from Sources/WaymarkInspector*/Answers. Do not edit.

declare namespace Answer {
	/** An object with members that no structure names: a part of the model, or a line of a recording. */
	interface Members {
		[name: string]: any;
	}
"""
PLAIN = {"Int": "number", "Double": "number", "Bool": "boolean", "String": "string", "JSONPart": "any"}
IGNORED = re.compile(r"|(internal |package )?import \w+| *// MARK: .+|package enum Answer \{\}")
EXTENSION = re.compile(r"extension Answer \{")
STRUCTURE = re.compile(r" {4}struct (\w+): Encodable(?:, Equatable)? \{")
PROPERTY = re.compile(r" {8}(?:let|var) (\w+): ([\w\[\]<>:, ]+)(\?)?")
COMMENT = re.compile(r" */// (.+)|///")


class UnknownTypeError(Exception):
    """A type of Swift that has no counterpart here."""


@dataclass
class Property:
    name: str
    type: str
    is_optional: bool
    text: list


@dataclass
class Structure:
    name: str
    text: list
    properties: list = field(default_factory=list)


def read(path):
    """The structures of a file."""
    structures, text, place = [], [], "file"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := COMMENT.fullmatch(line):
            text.append(match[1] or "")
            continue
        if place == "file" and EXTENSION.fullmatch(line):
            place = "extension"
        elif place == "extension" and (match := STRUCTURE.fullmatch(line)):
            place = "structure"
            structures.append(Structure(match[1], text))
        elif place == "structure" and (match := PROPERTY.fullmatch(line)):
            structures[-1].properties.append(Property(match[1], match[2], bool(match[3]), text))
        elif place == "structure" and line == "    }":
            place = "extension"
        elif place == "extension" and line == "}":
            place = "file"
        elif not IGNORED.fullmatch(line):
            sys.exit(f"{path}:{number}: not understood: {line.strip()}")
        text = []
    return structures


def parts(text):
    """A list of types: commas in brackets divide nothing."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "<[") - (letter in ">]")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def typescript(text, names):
    """The type of a property in TypeScript."""
    if text in PLAIN:
        return PLAIN[text]
    if text in names:
        return text
    if match := re.fullmatch(r"\[String: (.+)\]", text):
        return f"{{ [name: string]: {typescript(match[1], names)} }}"
    if match := re.fullmatch(r"\[([^:]+)\]", text):
        inner = typescript(match[1], names)
        return f"({inner})[]" if "&" in inner else f"{inner}[]"
    if match := re.fullmatch(r"Joined<(.+)>", text):
        # `any` joined with something is `any`.
        return " & ".join("Members" if part == "JSONPart" else typescript(part, names) for part in parts(match[1]))
    raise UnknownTypeError(text)


def comment(text, indent):
    return [f"{indent}/** {' '.join(text)} */"] if text else []


def types(structures):
    names = {each.name for each in structures}
    if len(names) != len(structures):
        sys.exit("two structures have the same name")
    lines = []
    for structure in structures:
        lines += ["", *comment(structure.text, "\t"), f"\tinterface {structure.name} {{"]
        for each in structure.properties:
            try:
                type_name = typescript(each.type, names)
            except UnknownTypeError as error:
                sys.exit(f"{structure.name}.{each.name}: not understood: {error}")
            lines += [*comment(each.text, "\t\t"), f"\t\t{each.name}{'?' if each.is_optional else ''}: {type_name};"]
        lines.append("\t}")
    return HEADER + "\n".join(lines) + "\n}\n"


def main():
    files = sorted(ROOT.glob("Sources/WaymarkInspector*/Answers/*.swift"), key=lambda path: path.name)
    made = types([structure for path in files for structure in read(path)])
    put({TARGET: made}, sys.argv[1:])


if __name__ == "__main__":
    main()
