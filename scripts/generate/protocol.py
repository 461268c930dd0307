#!/usr/bin/env python3
"""protocol.py SOURCES: makes SOURCES/*/Generated from the protos. scripts/generate/wire.sh calls it.

Enumerations of the model, message types with their numbers, senders and descriptors, field numbers and field rules. What the
brackets at the ends of the protos' comments mean is said at the top of Protos/waymark/v1/connection.proto.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ["connection", "model", "session", "vehicle", "observer"]
HEADER = "// Made by scripts/generate/wire.sh from Protos. Do not edit.\n"
WIDTH = 110
# What a public API needs: the enumerations of model.proto, and this one.
MODEL_ENUMERATIONS_ELSEWHERE = {"DistanceUnits"}
SENDERS = {
    "from a new peer": "newcomer",
    "from every role": "peer",
    "from clients": "client",
    "published": "publisher",
    "from endpoints": "endpoint",
    "from observers": "observer",
    "from endpoints and observers": "endpointOrObserver",
    "from the gateway": "gateway",
}
KEYWORDS = {"continue", "default", "in"}


def put(files, arguments):
    """Writes a generator's files, a text for each path; with --check it only compares them, and fails if one is stale."""
    script = Path(sys.argv[0]).name
    if arguments not in ([], ["--check"]):
        sys.exit(f"usage: {script} [--check]")
    for path, text in files.items():
        if not arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} is stale: run scripts/generate/{script}")


@dataclass
class Value:
    name: str
    number: int
    text: str


@dataclass
class Field:
    name: str
    number: int
    type: str
    repeated: bool
    text: str
    # Absent is not the same as 0.
    oneof: bool = False


@dataclass
class Definition:
    kind: str
    name: str
    file: str
    text: str
    members: list = field(default_factory=list)
    reserved: set = field(default_factory=set)


def parse(name, source=None):
    """The messages and enumerations of a file, or of its text, in order. Nested ones and comments of other kinds are not supported."""
    if source is None:
        source = (ROOT / f"Protos/waymark/v1/{name}.proto").read_text()
    definitions, comment, current = [], [], None
    for number, line in enumerate(source.splitlines(), 1):
        text = line.strip()
        if text.startswith("//"):
            comment.append(text[2:].strip())
            continue
        said, comment = " ".join(comment), []
        if match := re.fullmatch(r"(message|enum) (\w+) \{(\}?)", text):
            current = Definition(match[1], match[2], name, said)
            definitions.append(current)
            if match[3]:
                current = None
        elif text == "}":
            current = None
        elif current and current.kind == "enum" and (match := re.fullmatch(r"(\w+) = (\d+);", text)):
            current.members.append(Value(match[1], int(match[2]), said))
        elif current and (match := re.fullmatch(r"(oneof \w+ \{ )?(repeated )?(\w+) (\w+) = (\d+)(?: \[packed = true\])?;(?: \})?", text)):
            current.members.append(Field(match[4], int(match[5]), match[3], bool(match[2]), said, oneof=bool(match[1])))
        elif current and (match := re.fullmatch(r"reserved (\d+(?:, \d+)*);", text)):
            current.reserved.update(int(each) for each in match[1].split(", "))
        elif text and not re.match(r"(syntax|package|import) ", text):
            sys.exit(f"{name}.proto:{number}: not understood: {text}")
    for definition in definitions:
        for member in definition.members:
            if member.number in definition.reserved:
                sys.exit(f"{definition.name}.{member.name} has the number of a removed one")
    return definitions


def bracketed(text):
    """What the brackets at the end of a comment list."""
    match = re.search(r"\[([^][]+)\]$", text)
    return match[1].split(", ") if match else []


def brackets(text):
    """The type and the rules among it."""
    return [item for item in bracketed(text) if not item.startswith("json ")]


def json_names(text):
    """What it says of a field in JSON, see fields.py."""
    return [item.removeprefix("json ") for item in bracketed(text) if item.startswith("json ")]


def camel(name):
    """TYPE_2_PLUG as type2Plug."""
    first, *others = name.lower().split("_")
    return first + "".join(word.capitalize() for word in others)


def escaped(name):
    return f"`{name}`" if name in KEYWORDS else name


def wrapped(text, indent):
    """A documentation comment."""
    lines, line = [], indent + "///"
    for word in text.split():
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = indent + "///"
        line += " " + word
    return "\n".join([*lines, line]) + "\n"


def listed(elements):
    """The elements of a literal, as swift-format wants them: a comma behind the last of several."""
    return ",\n".join(f"        {element}" for element in elements) + (",\n" if len(elements) > 1 else "\n")


# Enumerations of the model


def enumeration(definition):
    prefix = re.sub(r"(?<!^)([A-Z])", r"_\1", definition.name).upper() + "_"
    values = []
    for value in definition.members:
        short = value.name.removeprefix(prefix)
        if short == "UNSPECIFIED":
            continue
        if not value.text:
            sys.exit(f"{definition.name}.{value.name} needs a comment: it is public documentation")
        values.append((camel(short), value.number, value.text))
    text, _, source = definition.text.partition(" Source: ")
    name = definition.name
    out = HEADER + "\n" + wrapped(text, "") + "///\n/// Raw values are those on the wire.\n"
    if source:
        out += "///\n" + wrapped(f"- Source: {source}", "")
    out += f"public enum {name}: WireEnumeration {{\n"
    for case, _, said in values:
        out += wrapped(said, "    ") + f"    case {escaped(case)}\n"
    out += "    /// A value that this build does not know; kept and forwarded.\n    case unrecognized(UInt32)\n\n"
    out += "    /// All values that this build knows, in the order of their raw values.\n"
    out += f"    public static let allKnown: [{name}] = [\n"
    out += listed([f".{case}" for case, _, _ in values]) + "    ]\n\n"
    out += "    /// The value on the wire.\n    public var rawValue: UInt32 {\n        switch self {\n"
    out += "".join(f"        case .{case}: {number}\n" for case, number, _ in values)
    out += "        case .unrecognized(let value): value\n        }\n    }\n\n"
    out += "    /// Reads the value on the wire.\n    public init(rawValue: UInt32) {\n        switch rawValue {\n"
    out += "".join(f"        case {number}: self = .{case}\n" for case, number, _ in values)
    return out + "        default: self = .unrecognized(rawValue)\n        }\n    }\n}\n"


# Message types


def message_types(definitions):
    """Case, message, number and sender of every message that has a frame of its own, by number."""
    types = []
    for definition in definitions:
        if definition.kind == "message" and brackets(definition.text):
            number, sender, *_ = brackets(definition.text)
            name = definition.name
            types.append((name[0].lower() + name[1:], name, number.removeprefix("type "), SENDERS[sender]))
    return sorted(types, key=lambda type: int(type[2], 16))


def cases(names, indent):
    """`case .a, .b:`, wrapped."""
    line, lines = indent + "case", []
    for name in names:
        part = f" .{name}" + ("," if name != names[-1] else ":")
        if len(line) + len(part) > WIDTH:
            lines.append(line)
            line = indent + "   "
        line += part
    return "\n".join([*lines, line]) + "\n"


def message_type(types):
    out = (
        HEADER
        + """
/// The type number in a frame's header.
///
/// 0x0001 ... 0x00FF connection and session control, 0x0100 ... 0x01FF published by navigation clients and forwarded
/// to vehicles, 0x0200 ... 0x02FF vehicles and requests, 0x0300 ... 0x03FF observers.
///
/// - Source: Docs/protocol.md, "Message types".
package enum MessageType: UInt16, Sendable, Hashable, CaseIterable {
"""
    )
    out += "".join(f"    case {case} = {number}\n" for case, _, number, _ in types)
    out += "}\n\nextension MessageType {\n"
    out += '    /// Who may send it, see Docs/protocol.md, "Message types".\n    var sender: Sender {\n        switch self {\n'
    for sender in SENDERS.values():
        out += cases([case for case, _, _, by in types if by == sender], "        ") + f"            .{sender}\n"
    return out + "        }\n    }\n}\n"


def descriptors(types):
    out = HEADER + "\ninternal import CProtobufC\ninternal import CWaymarkWire\ninternal import WaymarkProtocol\n\n"
    out += "extension MessageType {\n    /// The generated descriptor of the body.\n"
    out += "    var descriptor: UnsafePointer<ProtobufCMessageDescriptor> {\n        switch self {\n"
    for case, name, _, _ in types:
        function = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
        out += f"        case .{case}: unsafe waymark_{function}_descriptor()\n"
    return out + "        }\n    }\n}\n"


# Fields


def count(text):
    return int(text.replace(" ", ""))


def swift(number):
    """1000000 as 1_000_000."""
    return f"{number:_}"


def rule(definition, member, enumerations):
    """A ``FieldRule`` as Swift writes it."""
    where = f"{definition.name}.{member.name}"
    is_enumeration, is_text = member.type in enumerations, member.type in ("string", "bytes")
    required, elements, sums, bounds, zero, name, place = False, None, None, None, False, "", False
    for item in brackets(member.text):
        each = item.removeprefix("each ")
        if item == "required":
            required = True
        elif item == "place":
            place = True
        elif match := re.fullmatch(r"at most ([\d ]+)", item):
            elements = count(match[1])
        elif match := re.fullmatch(r"sums within ([\d ]+)", item):
            sums = count(match[1])
        elif each in ("a name", "an extension"):
            name = {"a name": "Name", "an extension": "Extension"}[each]
        elif match := re.fullmatch(r"at most ([\d ]+) bytes", each):
            bounds = (0, count(match[1]))
        elif match := re.fullmatch(r"(0 or )?([\d ]+) bytes", each):
            bounds, zero = (count(match[2]),) * 2, bool(match[1])
        elif match := re.fullmatch(r"(0 or )?(-?[\d ]+) \.\.\. (-?[\d ]+)", each):
            bounds, zero = (count(match[2]), count(match[3])), bool(match[1])
        else:
            sys.exit(f"{where}: not understood: {item}")
        if (each != item) != (member.repeated and item.startswith("each")):
            sys.exit(f'{where}: "each" is for repeated fields: {item}')
    if member.repeated == (elements is None):
        sys.exit(f"{where}: a repeated field, and no other, needs [at most n]")
    if is_text and not name and bounds is None:
        sys.exit(f"{where}: a text needs [at most n bytes]")
    if name:
        text = f".required{name}" if required else f".listed{name}" if member.repeated else f".{name.lower()}"
    elif is_text and bounds[0] == 0:
        text = f".requiredText({swift(bounds[1])})" if required and not member.repeated else f".text({swift(bounds[1])})"
    elif bounds:
        text = f".range({swift(bounds[0])}...{swift(bounds[1])})"
    elif is_enumeration:
        text = ".specified" if required else ".enumeration"
    elif required and member.type == "uint32":
        text = ".id"
    elif required and member.type == "uint64":
        text = ".requiredLong"
    else:
        text = ".any"
    if sums:
        text = f".differences(within: {swift(sums)})"
    if zero:
        text += ".orZero"
    if elements is not None:
        text += f".atMost({swift(elements)})"
    is_given = text in (".requiredName", ".requiredExtension", ".specified", ".id", ".requiredLong")
    if required and not is_given and not text.startswith(".requiredText"):
        text += ".required"
    return text + ".place" if place else text


def table_name(definition):
    return definition.name[0].lower() + definition.name[1:]


def rule_table(messages):
    """The names of the tables of all messages."""
    out = HEADER + "\nextension FieldRules {\n    /// Every message of the protocol.\n    static let all: Table = [\n"
    return out + listed([f'"{message.name}": Self.{table_name(message)}' for message in messages]) + "    ]\n}\n"


def field_rules(messages, enumerations):
    """The rules of the messages of a proto."""
    out = HEADER + "\nextension FieldRules {\n"
    for index, message in enumerate(messages):
        out += "\n" if index else ""
        if not message.members:
            out += f"    static let {table_name(message)}: Rules = [:]\n"
            continue
        out += f"    static let {table_name(message)}: Rules = [\n"
        rules = [f'"{member.name}": {rule(message, member, enumerations)}' for member in message.members]
        out += listed(rules) + "    ]\n"
    return out + "}\n"


def generations(messages, types):
    """Where each message has its generation, by the field's number."""
    fields = {message.name: {field.name: field.number for field in message.members} for message in messages}
    by_number = {}
    for case, name, _, _ in types:
        by_number.setdefault(fields[name].get("generation", 0), []).append(case)
    out = "\nextension MessageType {\n    /// The number of the field `generation`; 0 for messages without one.\n"
    out += "    var generationField: Int {\n        switch self {\n"
    for number in sorted(by_number, reverse=True):
        if number:
            out += cases(by_number[number], "        ") + f"            {number}\n"
    return out + "        default: 0\n        }\n    }\n}\n"


def field_numbers(messages):
    """The field numbers of the messages of a proto."""
    out = HEADER + "\nextension FieldNumber {\n"
    blocks = []
    for message in messages:
        if message.members:
            block = f"    enum {message.name} {{\n"
            for member in message.members:
                block += f"        static let {escaped(camel(member.name))} = {member.number}\n"
            blocks.append(block + "    }\n")
    return out + "\n".join(blocks) + "}\n"


def main(sources):
    definitions = [definition for name in FILES for definition in parse(name)]
    enumerations = {definition.name for definition in definitions if definition.kind == "enum"}
    messages = [definition for definition in definitions if definition.kind == "message"]
    types = message_types(definitions)
    files = {
        "WaymarkProtocol/Generated/MessageType.swift": message_type(types),
        "WaymarkCodec/Generated/Descriptors.swift": descriptors(types) + generations(messages, types),
        "WaymarkCodec/Generated/FieldRules.swift": rule_table(messages),
    }
    for name in FILES:
        own = [message for message in messages if message.file == name]
        files[f"WaymarkCodec/Generated/{name.capitalize()}FieldRules.swift"] = field_rules(own, enumerations)
        files[f"WaymarkCodec/Generated/{name.capitalize()}FieldNumbers.swift"] = field_numbers(own)
    for definition in definitions:
        is_model = definition.file == "model" or definition.name in MODEL_ENUMERATIONS_ELSEWHERE
        if definition.kind == "enum" and is_model:
            files[f"WaymarkModel/Generated/{definition.name}.swift"] = enumeration(definition)
    for path, text in files.items():
        file = Path(sources) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
