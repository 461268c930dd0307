#!/usr/bin/env python3
"""python_messages.py [--check]: makes Sources/python/waymark_nav/_generated from the protos; --check only compares.

Enumerations, a dataclass for each message, and the rules of its fields: what the brackets at the ends of the protos' comments say. And the
names that JSON and scenarios give to the fields of publications, see fields.py, and what publications.py says of them.
"""

import re
import sys

import fields
import protocol
import publications

TARGET = protocol.ROOT / "Sources/python/waymark_nav"
HEADER = '"""{} Made by scripts/generate/python_messages.py from Protos. Do not edit."""\n'
WIDTH = 120
FILES = {
    "connection": "Handshake, keepalive, errors.",
    "model": "The words of a drive.",
    "session": "Sessions and publications.",
    "vehicle": "Requests and settings of vehicles.",
    "observer": "What observers are told.",
}
SCALARS = {"uint32": "int", "uint64": "int", "sint32": "int", "bool": "bool", "double": "float", "string": "str", "bytes": "bytes"}
EMPTY = {"int": "0", "bool": "False", "float": "0.0", "str": '""', "bytes": 'b""'}
NAME_BYTES_MAX = 64
EXTENSION_BYTES = (3, 128)
ENUMERATION_MAX = 2**31 - 1
# How the comment of each state begins.
STATE = "Published. State, key: the type. "
TYPE_NAMES = ["BODIES", "TYPES", "MessageType"]
# How waymark_nav._kinds calls what a key contains.
KINDS = {
    "text": "TEXT", "bytes": "BYTES", "flag": "FLAG", "place": "NUMBERS", "places": "PLACES",
    "number": {"": "NUMBER", "m": "METERS", "s": "SECONDS", "ms": "MILLISECONDS", "°": "DEGREES"},
}  # fmt: skip


def optional_fields():
    """The fields that are in a oneof of their own: absent is not 0."""
    found, message = set(), ""
    for name in protocol.FILES:
        for line in (protocol.ROOT / f"Protos/waymark/v1/{name}.proto").read_text().splitlines():
            if match := re.match(r"message (\w+)", line):
                message = match[1]
            if match := re.search(r"oneof \w+ \{ \w+ (\w+) = ", line):
                found.add((message, match[1]))
    return found


def wrapped(text, indent, begin, following):
    """Text in lines of at most WIDTH."""
    lines, line = [], indent + begin
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line.rstrip())
            line = indent + following
        line += word + " "
    return "\n".join([*lines, line.rstrip()]) + "\n"


def prose(text):
    """A comment without its brackets."""
    return re.sub(r"\s*\[[^][]+\]$", "", text)


def snake(name):
    """currentRoadName as current_road_name."""
    return constant(name).lower()


def docstring(text, indent):
    """A docstring; one line if it fits."""
    text = prose(text).replace("\\", "\\\\") or "A message."
    lines = wrapped(text, indent, '"""', "")
    return lines.rstrip("\n") + '"""\n' if lines.count("\n") == 1 else lines + f'{indent}"""\n'


def constant(name):
    """RouteChoice as ROUTE_CHOICE."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).upper()


def enumeration(definition):
    prefix = constant(definition.name) + "_"
    out = f"\n\nclass {definition.name}(OpenEnum):\n" + docstring(definition.text, "    ") + "\n"
    for value in definition.members:
        if value.text:
            out += wrapped(value.text, "    ", "#: ", "#: ")
        out += f"    {value.name.removeprefix(prefix)} = {value.number}\n"
    return out


class Rule:
    """What the brackets of a field say."""

    def __init__(self, definition, member, enumerations):
        self.where = f"{definition.name}.{member.name}"
        self.lower, self.upper, self.zero, self.required, self.name, self.count, self.sums = None, None, False, False, False, 0, 0
        self.extension = False
        for item in protocol.brackets(member.text):
            self.read(item)
        if self.name:
            self.lower, self.upper, self.zero = 1, NAME_BYTES_MAX, not (self.required or member.repeated)
        elif self.extension:
            self.lower, self.upper = EXTENSION_BYTES
        elif member.type in enumerations and self.lower is None:
            self.lower, self.upper = int(self.required), ENUMERATION_MAX
        elif self.required and self.lower is None and member.type in ("uint32", "uint64"):
            self.lower, self.upper = 1, 2 ** int(member.type[4:]) - 1
        elif self.required and member.type in ("string", "bytes") and not member.repeated:
            self.lower = max(self.lower, 1)

    def read(self, item):
        each = item.removeprefix("each ")
        if item == "required":
            self.required = True
        elif match := re.fullmatch(r"at most ([\d ]+)", item):
            self.count = protocol.count(match[1])
        elif match := re.fullmatch(r"sums within ([\d ]+)", item):
            self.sums = protocol.count(match[1])
        elif each == "a name":
            self.name = True
        elif each == "an extension":
            self.extension = True
        elif match := re.fullmatch(r"at most ([\d ]+) bytes", each):
            self.lower, self.upper = 0, protocol.count(match[1])
        elif match := re.fullmatch(r"(0 or )?([\d ]+) bytes", each):
            self.lower = self.upper = protocol.count(match[2])
            self.zero = bool(match[1])
        elif match := re.fullmatch(r"(0 or )?(-?[\d ]+) \.\.\. (-?[\d ]+)", each):
            self.lower, self.upper, self.zero = protocol.count(match[2]), protocol.count(match[3]), bool(match[1])
        elif item != "place":
            sys.exit(f"{self.where}: not understood: {item}")


class Generator:
    def __init__(self):
        self.definitions = {name: protocol.parse(name) for name in protocol.FILES}
        every = [definition for definitions in self.definitions.values() for definition in definitions]
        self.enumerations = {definition.name: definition for definition in every if definition.kind == "enum"}
        self.messages = [definition for definition in every if definition.kind == "message"]
        self.file_of = {definition.name: definition.file for definition in every}
        self.optional = optional_fields()
        self.shapes = fields.shapes(every)
        self.publications = publications.publications(every)

    def type_of(self, member):
        return SCALARS.get(member.type, member.type)

    def annotation(self, message, member, rule):
        """The type of a field, and its default."""
        name = self.type_of(member)
        if member.repeated:
            return f"tuple[{name}, ...]", "" if rule.required else " = ()"
        if (message.name, member.name) in self.optional:
            return f"{name} | None", " = None"
        if rule.required:
            return name, ""
        if name in EMPTY:
            return name, f" = {EMPTY[name]}"
        if name in self.enumerations:
            definition = self.enumerations[name]
            prefix = constant(name) + "_"
            return name, f" = {name}.{definition.members[0].name.removeprefix(prefix)}"
        return f"{name} | None", " = None"

    def message(self, message):
        out = "\n\n@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)\n"
        out += f"class {message.name}(Message):\n" + docstring(message.text, "    ")
        for member in message.members:
            rule = Rule(message, member, self.enumerations)
            annotation, default = self.annotation(message, member, rule)
            out += "\n"
            if text := prose(member.text):
                out += wrapped(text, "    ", "#: ", "#: ")
            out += f"    {member.name}: {annotation}{default}\n"
        return out

    def field(self, message, member):
        rule = Rule(message, member, self.enumerations)
        name = self.type_of(member)
        kind = member.type.upper() if member.type in SCALARS else "ENUM" if name in self.enumerations else "MESSAGE"
        arguments = [str(member.number), f'"{member.name}"', kind]
        if kind in ("ENUM", "MESSAGE"):
            arguments.append(f"of={name}")
        if rule.lower is not None:
            arguments.append(f"lower={rule.lower}, upper={rule.upper}")
        if member.repeated:
            arguments.append(f"count={rule.count}")
        if rule.sums:
            arguments.append(f"sums={rule.sums}")
        for flag, is_set in (
            ("zero", rule.zero),
            ("required", rule.required),
            ("name", rule.name),
            ("extension", rule.extension),
            ("optional", (message.name, member.name) in self.optional),
        ):
            if is_set:
                arguments.append(f"{flag}=True")
        return f"    Field({', '.join(arguments)}),\n"

    def module(self, file):
        definitions = self.definitions[file]
        messages = [definition for definition in definitions if definition.kind == "message"]
        used = {self.type_of(member) for message in messages for member in message.members} - set(SCALARS.values())
        out = HEADER.format(FILES[file]) + "\nfrom __future__ import annotations\n\nfrom dataclasses import dataclass\n\n"
        kinds = {self.field(message, member).split(", ")[2].rstrip("),\n") for message in messages for member in message.members}
        for other in sorted(protocol.FILES):
            names = sorted((name for name in used if self.file_of[name] == other and other != file), key=str.lower)
            if names:
                out += imported(f"waymark_nav._generated.{other}", names)
        has_enumerations = any(definition.kind == "enum" for definition in definitions)
        runtime = ["Field", "Message", *(["OpenEnum"] if has_enumerations else []), "define"]
        out += imported("waymark_nav._wire", [*sorted(kinds), *runtime])
        for definition in definitions:
            if definition.kind == "enum":
                out += enumeration(definition)
        for message in messages:
            out += self.message(message)
        out += "\n\n"
        for message in messages:
            fields = "".join(self.field(message, member) for member in message.members)
            out += f"define(\n    {message.name},\n{fields})\n" if fields else f"define({message.name})\n"
        return out

    def types(self):
        """The numbers of the messages that have a frame of their own."""
        types = []
        for message in self.messages:
            if brackets := protocol.brackets(message.text):
                types.append((int(brackets[0].removeprefix("type "), 16), message))
        types.sort(key=lambda type: type[0])
        out = HEADER.format("Message types.") + "\nfrom __future__ import annotations\n\nfrom enum import IntEnum\n\n"
        for file in sorted(protocol.FILES):
            names = sorted((message.name for _, message in types if message.file == file), key=str.lower)
            if names:
                out += imported(f"waymark_nav._generated.{file}", names)
        out += "from waymark_nav._wire import Message\n"
        out += '\n\nclass MessageType(IntEnum):\n    """The type number in a frame\'s header."""\n\n'
        for number, message in types:
            out += f"    {constant(message.name)} = 0x{number:04X}\n"
        out += "\n\n#: The class of the body, by type.\nBODIES: dict[int, type[Message]] = {\n"
        out += "".join(f"    0x{number:04X}: {message.name},\n" for number, message in types)
        out += "}\n\n#: The type, by the class of the body.\nTYPES: dict[type[Message], MessageType] = "
        return out + "{body: MessageType(number) for number, body in BODIES.items()}\n"

    def json_keys(self):
        """The names in the JSON of publications: of which field each is, what it contains, and when it is written."""
        used = {"Key", "Shape", "shape", "word"}

        def kind(key):
            match key.form:
                case "object" | "inline":
                    name = constant(key.member.type)
                case "word":
                    name = f"word(m.{key.member.type})"
                case "number":
                    name = KINDS["number"][key.unit]
                case form:
                    name = KINDS[form]
            used.update({name} & {"PLACES", "TEXT", "BYTES", "FLAG", "NUMBERS", *KINDS["number"].values()})
            if key.member.repeated:
                used.add("Items")
                return f"Items({name})"
            return name

        objects, publications = "", ""
        for name, shape in self.shapes.items():
            indent = " " * (8 if shape.is_published else 4)
            lines = ""
            for key in shape.keys:
                used.add(constant(key.when))
                called = "" if key.form == "inline" else key.name
                lines += f'{indent}Key("{called}", "{key.member.name}", {kind(key)}, {constant(key.when)}),\n'
            if not shape.is_published:
                objects += f"{constant(name)} = shape(\n{lines})\n"
            elif lines:
                publications += f"    m.{name}: shape(\n{lines}    ),\n"
        out = HEADER.format("The names in the JSON of publications.")
        out += "\nfrom __future__ import annotations\n\nfrom typing import Any\n\nfrom waymark_nav import messages as m\n"
        out += imported("waymark_nav._kinds", sorted(used, key=lambda name: (not name.isupper(), name.islower(), name)))
        out += f"\n{objects}\n#: The names of a publication's fields. Those that are not here have none.\n"
        return out + f"PUBLICATIONS: dict[type[Any], Shape] = {{\n{publications}}}\n"

    def rules(self):
        """What is known of publications, and the values of plain states."""
        out = HEADER.format("The rules of publications, and the values of plain states.")
        out += "\nfrom __future__ import annotations\n\nfrom dataclasses import dataclass\nfrom typing import Any\n\n"
        out += "from waymark_nav import messages as m\n\n"
        out += "#: Publications of which only the newest value matters.\nSTATES = (\n"
        out += "".join(f"    m.{each.name},\n" for each in self.publications if each.kind == "state")
        out += ")\n\n#: The feature that a publication needs as a whole.\nNEEDS: dict[type[Any], m.Feature] = {\n"
        for each in self.publications:
            if each.needs:
                out += f"    m.{each.name}: m.Feature.{each.needs.replace(' ', '_').upper()},\n"
        out += "}\n\n#: States on which nothing else depends: the value of a vehicle's state that each field is.\n"
        out += "PLAIN_STATES: dict[type[Any], dict[str, str]] = {\n"
        values = ""
        for each in self.publications:
            if not each.is_plain:
                continue
            names = "".join(f'        "{key.member.name}": "{snake(key.name)}",\n' for key in each.keys)
            out += f"    m.{each.name}: {{\n{names}    }},\n"
            for key in each.keys:
                annotation, default = self.value(key.member)
                said = f"{prose(each.definition.text).removeprefix(STATE)} {prose(key.member.text)}".strip()
                values += wrapped(said, "    ", "#: ", "#: ") + f"    {snake(key.name)}: {annotation} = {default}\n"
        out += "}\n\n\n@dataclass(frozen=True, slots=True, kw_only=True, repr=False)\nclass PlainStates:\n"
        return out + f'    """The newest value of each state on which nothing else depends."""\n\n{values}'

    def value(self, member):
        """The type of a field of a plain state, and what it is if it is not known."""
        name = self.type_of(member)
        if member.repeated:
            return f"tuple[{name}, ...]", "()"
        if name in EMPTY:
            return name, EMPTY[name]
        first = self.enumerations[name].members[0].name.removeprefix(constant(name) + "_")
        return f"m.{name}", f"m.{name}.{first}"

    def everything(self):
        """The module that has all names."""
        out = HEADER.format("All messages and enumerations of the protocol.") + "\nfrom __future__ import annotations\n\n"
        names = []
        for file in sorted(protocol.FILES):
            own = sorted((definition.name for definition in self.definitions[file]), key=str.lower)
            names += own
            if file > "types" > max((each for each in protocol.FILES if each < file), default=""):
                out += imported("waymark_nav._generated.types", TYPE_NAMES)
            out += imported(f"waymark_nav._generated.{file}", own)
        names += TYPE_NAMES
        return out + "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n"


def imported(module, names):
    """An import as the formatter writes it."""
    line = f"from {module} import {', '.join(names)}\n"
    if len(line) <= WIDTH + 1:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    generator = Generator()
    files = {f"_generated/{file}.py": generator.module(file) for file in protocol.FILES}
    files |= {"_generated/types.py": generator.types(), "_generated/json_keys.py": generator.json_keys()}
    files["_generated/publications.py"] = generator.rules()
    files["messages.py"] = generator.everything()
    files["_generated/__init__.py"] = HEADER.format("Generated code.")
    paths = [TARGET / "messages.py", *(TARGET / "_generated").glob("*.py")]
    if sys.argv[1:]:
        present = {str(path.relative_to(TARGET)): path.read_text() for path in paths if path.exists()}
        if present != files:
            sys.exit(f"{TARGET.relative_to(protocol.ROOT)} is stale: run scripts/generate/python_messages.py")
        return
    for path in paths:
        path.unlink(missing_ok=True)
    (TARGET / "_generated").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (TARGET / name).write_text(text)


if __name__ == "__main__":
    main()
