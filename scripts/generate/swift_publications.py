#!/usr/bin/env python3
"""swift_publications.py SOURCES: makes the rules of publications, in SOURCES/*/Generated. wire.sh calls it.

publications.py has the table.
"""

import sys
from pathlib import Path

import protocol
import publications


def camel(words):
    return protocol.camel(words.replace(" ", "_"))


def filled(indent, head, arguments, tail, end=None):
    """A call, its arguments on further lines if they do not fit; a declaration has an end, which then has its own line."""
    line = f"{indent}{head}{', '.join(arguments)}{tail}"
    if len(line) <= protocol.WIDTH:
        return line + "\n"
    lines, line = [indent + head], indent + "   "
    for argument in arguments:
        part = f" {argument}" + ("," if argument != arguments[-1] else "" if end else tail)
        if len(line) + len(part) > protocol.WIDTH:
            lines.append(line)
            line = indent + "   "
        line += part
    return "\n".join([*lines, line, *([indent + end] if end else [])]) + "\n"


# Rules


def rule(publication):
    """A ``PublicationRule`` as Swift writes it."""
    arguments = [f".{publication.case}", f".{camel(publication.kind)}"]
    if publication.needs:
        arguments.append(f"needs: .{camel(publication.needs)}")
    arguments.append(f"in: .{publication.phases}")
    if publication.generation:
        words = publication.generation.replace("with a", "with").replace("generation ", "").removesuffix(" generation")
        arguments.append(f"generation: .{camel(words)}")
    if publication.adds:
        arguments.append(f"adds: .{camel(publication.adds)}")
    if publication.refers_to:
        arguments.append(f"refersTo: .{camel(publication.refers_to)}")
    for label, values in (("voids", publication.voids), ("fittedBy", publication.fitted_by)):
        if label == "fittedBy":
            arguments.append(f"retains: .{publication.retains}")
            arguments += ["isOfRoute: true"] if publication.is_of_route else []
        names = [f".{camel(value)}" for value in values]
        if names:
            arguments.append(f"{label}: {names[0] if len(names) == 1 else '[' + ', '.join(names) + ']'}")
    if publication.largest:
        arguments.append(f'largest: "{publication.largest}"')
    return filled(" " * 8, "PublicationRule(", arguments, "),")


def rules(found):
    """The table of all rules."""
    out = protocol.HEADER + "\nextension PublicationRule {\n"
    out += "    /// The rules by type number, beginning with 0x0100, without gaps.\n    package static let table = [\n"
    return out + "".join(rule(publication) for publication in found) + "    ]\n}\n"


def main(sources):
    found = publications.publications([definition for name in protocol.FILES for definition in protocol.parse(name)])
    file = Path(sources) / "WaymarkProtocol/Generated/PublicationRules.swift"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(rules(found))


if __name__ == "__main__":
    main(sys.argv[1])
