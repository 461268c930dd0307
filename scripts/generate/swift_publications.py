#!/usr/bin/env python3
"""swift_publications.py SOURCES: makes the rules of publications and all code for plain states, in SOURCES/*/Generated. wire.sh calls it.

publications.py has the table, and says which states are plain.
"""

import re
import sys
from pathlib import Path

import protocol
import publications

UNITS = {"": "", "m": ", .meters", "s": ", .seconds", "ms": ", .milliseconds", "°": ", .degrees"}
NUMBERS = {"uint32": "UInt32", "uint64": "UInt64", "sint32": "Int32"}
# What scenarios in Swift compare a number with, by its unit.
QUANTITIES = {"": "Int", "m": "Distance", "s": "Duration", "ms": "Duration", "°": "Angle"}


def camel(words):
    return protocol.camel(words.replace(" ", "_"))


def filled(indent, head, arguments, tail, end=None):
    """A call, its arguments on further lines if they do not fit. A declaration and a literal have an end, which then has its own line."""
    line = f"{indent}{head}{', '.join(arguments)}{tail}"
    if len(line) <= protocol.WIDTH:
        return line + "\n"
    lines, line = [indent + head], indent + "   "
    for argument in arguments:
        last = "," if end == "]" else "" if end else tail
        part = f" {argument}" + ("," if argument != arguments[-1] else last)
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


# Plain states


def swift_type(key):
    """The type of a field's value."""
    if key.form == "number":
        return NUMBERS[key.member.type]
    name = {"text": "String", "flag": "Bool"}.get(key.form, key.member.type)
    return f"[{name}]" if key.member.repeated else name


def default(key):
    """The value of a field that is not known."""
    empty = {"text": '""', "flag": "false", "number": "0"}
    return "[]" if key.member.repeated else empty.get(key.form, f"{key.member.type}(rawValue: 0)")


def said(text):
    """A comment of the protos without its brackets, and without what each state says first."""
    return re.sub(r"\s*\[[^][]+\]$", "", text).removeprefix("Published. State, key: the type. ")


def documentation(state, key):
    """What a field is."""
    return f"{said(state.definition.text)} {said(key.member.text)}".strip()


def parameters(state):
    """The values of a case with their types. The name of the state says what a single one is."""
    labels = [f"{key.name}: {swift_type(key)}" for key in state.keys]
    return [swift_type(state.keys[0])] if len(labels) == 1 else labels


def pattern(state):
    """A case that binds its values."""
    return filled(" " * 8, f"case .{state.case}(", [f"let {key.name}" for key in state.keys], "):")


def made(state, values):
    """The arguments that make a case of values."""
    return values if len(values) == 1 else [f"{key.name}: {value}" for key, value in zip(state.keys, values, strict=True)]


def model(plain):
    """The states themselves, and the newest of each."""
    out = protocol.HEADER + "\n/// A state on which nothing else depends: only its newest value matters, and it is shown as it is.\n"
    out += "public enum PlainState: Sendable, Hashable {\n"
    for state in plain:
        out += protocol.wrapped(said(state.definition.text), "    ")
        out += filled("    ", f"case {state.case}(", parameters(state), ")", ")")
    out += "}\n\n/// The newest value of each state on which nothing else depends.\npublic struct PlainStates: Sendable, Hashable {\n"
    for state in plain:
        for key in state.keys:
            out += protocol.wrapped(documentation(state, key), "    ")
            out += f"    public var {key.name}: {swift_type(key)} = {default(key)}\n"
    out += "\n    /// Nothing is known.\n    public init() {}\n\n    /// One state is known.\n"
    out += "    public init(_ state: PlainState) { self.apply(state) }\n\n    /// Takes over the values of a state.\n"
    out += "    public mutating func apply(_ state: PlainState) {\n        switch state {\n"
    for state in plain:
        out += pattern(state) + "".join(f"            self.{key.name} = {key.name}\n" for key in state.keys)
    return out + "        }\n    }\n}\n"


def protocol_types(plain):
    """The types of the states, and the publications that they are."""
    out = protocol.HEADER + "\npackage import WaymarkModel\n\nextension PlainState {\n    /// The type in the frame's header.\n"
    out += "    package var type: MessageType {\n        switch self {\n"
    out += "".join(f"        case .{state.case}: .{state.case}\n" for state in plain) + "        }\n    }\n}\n"
    out += "\nextension Publication {\n"
    for index, state in enumerate(plain):
        types = parameters(state)
        arguments = [f"_ {state.keys[0].name}: {types[0]}"] if len(types) == 1 else types
        out += "\n" if index else ""
        out += protocol.wrapped(said(state.definition.text), "    ")
        out += filled("    ", f"package static func {state.case}(", arguments, ") -> Publication {", ") -> Publication {")
        values = made(state, [key.name for key in state.keys])
        call = filled(" " * 8, f".plain(.{state.case}(", values, "))")
        if "\n" in call[:-1]:
            call = " " * 8 + ".plain(\n" + filled(" " * 12, f".{state.case}(", values, "))")
        out += call + "    }\n"
    return out + "}\n"


def read(key):
    """A field of the C structure as a value."""
    name = f"wire.pointee.{key.member.name}"
    if key.member.repeated:
        return f"texts(wire.pointee.n_{key.member.name}, {name})"
    return {"text": f"text({name})", "flag": f"{name} != 0", "number": name}.get(key.form, f".init(wire: {name})")


def write(key):
    """The line that fills a field of the C structure."""
    name = f"wire.pointee.{key.member.name}"
    if key.member.repeated:
        return f"(wire.pointee.n_{key.member.name}, {name}) =\n                    unsafe arena.texts({key.name})"
    values = {"text": f"arena.text({key.name})", "flag": f"{key.name} ? 1 : 0", "number": key.name}
    return f"{name} = {values.get(key.form, f'.init(rawValue: {key.name}.rawValue)')}"


def coding(plain):
    """The states and their C structures, both ways."""
    out = protocol.HEADER + "\ninternal import CWaymarkWire\ninternal import WaymarkModel\ninternal import WaymarkProtocol\n"
    out += "\nextension PlainState {\n    /// Reads an unpacked state; nil for every other type.\n"
    out += "    init?(_ type: MessageType, _ wire: AnyWire) {\n        switch type {\n"
    for state in plain:
        out += f"        case .{state.case}:\n"
        out += f"            let wire = unsafe wire.message(as: Waymark__V1__{state.name}.self)\n"
        values = made(state, [read(key) for key in state.keys])
        out += filled(" " * 12, f"unsafe self = .{state.case}(", values, ")")
    out += "        default: return nil\n        }\n    }\n\n    /// The C structure of the type.\n"
    out += "    func wire(in arena: Arena) -> AnyWire {\n        switch self {\n"
    for state in plain:
        function = re.sub(r"(?<!^)([A-Z])", r"_\1", state.name).lower()
        out += pattern(state) + f"            unsafe arena.body(waymark__v1__{function}__init) {{ wire in\n"
        out += "".join(f"                unsafe {write(key)}\n" for key in state.keys) + "            }\n"
    return out + "        }\n    }\n}\n"


def client(plain):
    """The values as properties of a vehicle's state."""
    visibility = "public" if any(key.form == "word" for state in plain for key in state.keys) else "internal"
    out = protocol.HEADER + f"\n{visibility} import WaymarkModel\n\nextension VehicleState {{\n"
    blocks = []
    for state in plain:
        for key in state.keys:
            block = protocol.wrapped(documentation(state, key), "    ")
            block += f"    public var {key.name}: {swift_type(key)} {{\n        get {{ self.plain.{key.name} }}\n"
            blocks.append(block + f"        set {{ self.plain.{key.name} = newValue }}\n    }}\n")
    return out + "\n".join(blocks) + "}\n"


def json_value(key, name):
    """A value with a name in Swift as JSON."""
    return {"number": f"Int(clamping: {name})", "word": f"{name}.name"}.get(key.form, name)


def detail(key):
    """A value in a line about a frame."""
    if key.member.repeated:
        return f'{key.name}.first ?? ""'
    return {"text": key.name, "word": f"{key.name}.name"}.get(key.form, f'"\\({key.name})"')


def texts(plain):
    """The states as JSON and in words."""
    out = protocol.HEADER + "\ninternal import WaymarkClient\ninternal import WaymarkModel\n\nextension PlainState {\n    /// Its keys.\n"
    out += "    var object: [String: Any] {\n        switch self {\n"
    for state in plain:
        values = [f'"{key.name}": {json_value(key, key.name)}' for key in state.keys]
        out += pattern(state) + filled(" " * 12, "[", values, "]", "]")
    out += "        }\n    }\n\n    /// Its values in words.\n    var details: [String] {\n        switch self {\n"
    for state in plain:
        out += pattern(state) + filled(" " * 12, "[", [detail(key) for key in state.keys], "]", "]")
    out += "        }\n    }\n}\n\nextension ChangedKeys {\n    /// The values of plain states.\n    mutating func addPlainStates() {\n"
    for state in plain:
        for key in state.keys:
            value = json_value(key, "$0")
            out += f'        self.add("{key.name}", \\.{key.name}) {{ {value} }}\n'
    return out + "    }\n}\n"


def scenario_fields(plain):
    """The values as fields of scenarios."""
    out = protocol.HEADER + "\ninternal import WaymarkModel\ninternal import WaymarkProtocol\n\nextension PlainStates {\n"
    out += "    /// The fields of a type; none if it is no plain state.\n"
    out += "    static func fields(of type: MessageType) -> [FieldKey<PlainStates>] {\n        switch type {\n"
    for state in plain:
        keys = []
        for key in state.keys:
            form = "texts" if key.member.repeated else key.form
            keys.append(f'.{form}("{key.name}"{UNITS[key.unit]}) {{ $0.{key.name} }}')
        out += f"        case .{state.case}:\n"
        lines = f"{' ' * 12}[\n" + "".join(f"{' ' * 16}{key},\n" for key in keys) + f"{' ' * 12}]\n"
        out += lines if len(keys) > 1 else f"{' ' * 12}[{keys[0]}]\n"
    return out + "        default: []\n        }\n    }\n}\n"


def state_keys(plain):
    """The values as fields that tests in Swift name."""
    of_model = any(key.form == "word" or key.unit in ("m", "°") for state in plain for key in state.keys)
    out = protocol.HEADER + ("\npublic import WaymarkModel\n" if of_model else "") + "\nextension Rig.StateKeys {\n"
    for state in plain:
        for key in state.keys:
            kind = QUANTITIES[key.unit] if key.form == "number" else swift_type(key)
            out += protocol.wrapped(documentation(state, key), "    ")
            out += f'    public var {key.name}: Rig.Field<{kind}> {{ Rig.Field("{key.name}") }}\n'
    return out + "}\n"


def main(sources):
    found = publications.publications([definition for name in protocol.FILES for definition in protocol.parse(name)])
    plain = [publication for publication in found if publication.is_plain]
    files = {
        "WaymarkProtocol/Generated/PublicationRules.swift": rules(found),
        "WaymarkModel/Generated/PlainState.swift": model(plain),
        "WaymarkProtocol/Generated/PlainStateType.swift": protocol_types(plain),
        "WaymarkCodec/Generated/PlainStateCoding.swift": coding(plain),
        "WaymarkClient/Generated/PlainStateValues.swift": client(plain),
        "WaymarkTexts/Generated/PlainStateJSON.swift": texts(plain),
        "WaymarkScenario/Generated/PlainStateFields.swift": scenario_fields(plain),
        "WaymarkRig/Generated/PlainStateKeys.swift": state_keys(plain),
    }
    for path, text in files.items():
        file = Path(sources) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
