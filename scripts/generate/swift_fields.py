#!/usr/bin/env python3
"""swift_fields.py SOURCES: makes the fields that scenarios name, in SOURCES/*/Generated, from the protos. wire.sh calls it.

Keys and properties of the model's objects, and the names of messages. fields.py has the table.
"""

import sys
from pathlib import Path

import fields
import protocol

UNITS = {"m": ".meters", "s": ".seconds", "ms": ".milliseconds", "°": ".degrees"}
# A report shows of an object its first field that has a value. These come before the others.
FIRST = {"Waypoint": ["id", "nameVariants"], "Lane": ["status"]}
GROUPS = {
    "Connection and session control.": range(0x0001, 0x0100),
    "Published by navigation clients, and forwarded to vehicles.": range(0x0100, 0x0200),
    "Of vehicles, and about requests.": range(0x0200, 0x0300),
    "Of observers.": range(0x0300, 0x0400),
}


def value(key, is_inline):
    """Where the model has a field: its name in JSON, but without the unit of a type that has one."""
    if key.name != fields.name_of(key.member) and key.form == "number" and key.member.type not in fields.FORMS:
        return f"{fields.name_of(key.member)}.rawValue"
    if key.unit in ("m", "s", "ms"):
        return protocol.camel(key.member.name.rpartition("_")[0])
    return fields.name_of(key.member) if is_inline or key.form == "inline" else key.name


def line(key, is_inline):
    """A key as Swift makes it."""
    form = "quantity" if key.form == "number" else key.form
    plural = {"quantity": "quantities", "place": "places", "text": "texts", "object": "objects"}
    if key.member.repeated:
        if form not in plural:
            sys.exit(f"{key.member.name}: a list of these is not supported: {form}")
        form = plural[form]
    unit = f", {UNITS[key.unit]}" if key.unit else ""
    return f'.{form}("{key.name}"{unit}) {{ $0.{value(key, is_inline)} }}'


def objects(shapes):
    """The keys of the model's objects."""
    out = protocol.HEADER + "\npackage import WaymarkModel\n"
    inline = {key.member.type for shape in shapes.values() for key in shape.keys if key.form == "inline"}
    for name, shape in shapes.items():
        if shape.is_published:
            continue
        first = FIRST.get(name, [])
        keys = sorted(shape.keys, key=lambda key: first.index(key.name) if key.name in first else len(first))
        if missing := set(first) - {key.name for key in keys}:
            sys.exit(f"{name} has no {', '.join(missing)}")
        out += f"\nextension {name}: FieldObject {{\n    package static let fields: [FieldKey<{name}>] ="
        own = [key for key in keys if key.form != "inline"]
        others = [key for key in keys if key.form == "inline"]
        # Those that are inline are behind the others.
        begin, end = (" [\n", "    ]") if not others else ("\n        [\n", "        ]")
        indent = " " * (8 if not others else 12)
        # As swift-format wants it: no comma behind a single element, each part on a line of its own once there are several.
        comma = "," if len(own) > 1 or not others else ""
        out += begin + "".join(f"{indent}{line(key, name in inline)}{comma}\n" for key in own) + end
        parts = [f"+ {key.member.type}.fields.map {{ $0.of {{ $0.{value(key, False)} }} }}" for key in others]
        out += "".join(f" {part}" if len(parts) == 1 else f"\n        {part}" for part in parts)
        out += "\n}\n"
    return out


def message_names(types):
    """The enumeration of the messages that a test may name."""
    out = protocol.HEADER + "\nextension Rig {\n"
    out += "    /// The messages of the protocol; Docs/protocol.md says who sends each, and what it means.\n"
    out += "    public enum MessageName: String, Sendable, Hashable, CaseIterable {\n"
    for group, numbers in GROUPS.items():
        names = [case for case, _, number, _ in types if int(number, 16) in numbers]
        row, rows = "        case", []
        for name in names:
            part = f" {name}" + ("," if name != names[-1] else "")
            if len(row) + len(part) > protocol.WIDTH:
                rows.append(row)
                row = " " * 11
            row += part
        out += f"        // {group}\n" + "\n".join([*rows, row]) + "\n"
    return out + "    }\n}\n"


def main(sources):
    definitions = [definition for name in protocol.FILES for definition in protocol.parse(name)]
    files = {
        "WaymarkScenario/Generated/ModelFields.swift": objects(fields.shapes(definitions)),
        "WaymarkRig/Generated/MessageName.swift": message_names(protocol.message_types(definitions)),
    }
    for path, text in files.items():
        file = Path(sources) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
