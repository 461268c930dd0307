"""The names that JSON and scenarios give to the fields of publications, with what each contains: one table, from the protos.

The top of Protos/waymark/v1/connection.proto says how a field's name follows from the protos. python_messages.py writes the table for the
Python package.
"""

import sys
from dataclasses import dataclass, field

import protocol

# The unit of a number is the last word of its name. Other units cannot be written in a scenario.
UNITS = {"meters": "m", "seconds": "s", "milliseconds": "ms", "degrees": "°"}
NUMBERS = ("uint32", "uint64", "sint32", "double")
FORMS = {"string": "text", "bytes": "bytes", "bool": "flag", "Coordinate": "place", "Polyline": "places"} | dict.fromkeys(NUMBERS, "number")


@dataclass
class Key:
    """A name in JSON."""

    name: str
    # Of the proto.
    member: protocol.Field
    # text, bytes (base64), flag, number, word (a value of an enumeration), place (a list of numbers), places, object.
    # inline: all keys of an object.
    form: str
    unit: str = ""
    # It is written always, if it is known (absent is not 0), or if it is filled, neither 0 nor empty.
    when: str = "filled"


@dataclass
class Shape:
    """A message as an object of JSON."""

    definition: protocol.Definition
    keys: list = field(default_factory=list)
    is_published: bool = False


def name_of(member):
    """What a field is called where its brackets name nothing."""
    name = member.name.removesuffix("_degrees")
    if name.endswith("_ids"):
        name = name.removesuffix("_ids") + "s"
    return protocol.camel(name.removesuffix("_id"))


def when(definition, member, form, enumerations):
    """When a field is written."""
    if member.oneof:
        return "known"
    rules = protocol.brackets(member.text)
    if "required" in rules or "always" in protocol.json_names(member.text):
        return "always"
    if form in ("object", "inline") and not member.repeated:
        return "known"
    if "published" in protocol.brackets(definition.text):
        return "always"
    # Where 0 is a value as any other, it is said.
    is_specified = form == "word" and not enumerations[member.type].members[0].name.endswith("_UNSPECIFIED")
    return "always" if is_specified else "filled"


def keys(definition, member, enumerations):
    """The names of a field: one, or also that of its number."""
    where = f"{definition.name}.{member.name}"
    form = FORMS.get(member.type, "word" if member.type in enumerations else "object")
    unit = UNITS.get(member.name.rsplit("_", 1)[-1], "") if form == "number" else ""
    name, numbers = name_of(member), []
    for said in protocol.json_names(member.text):
        if said == "inline" and form == "object" and not member.repeated:
            form = "inline"
        elif said.startswith("number ") and form == "word":
            numbers.append(Key(said.removeprefix("number "), member, "number"))
        elif said == "always" and not member.oneof and (member.repeated or form not in ("object", "inline")):
            continue
        elif said.isalnum() and said != "always":
            name = said
        else:
            sys.exit(f"{where}: not understood: json {said}")
    result = [Key(name, member, form, unit), *numbers]
    for key in result:
        key.when = when(definition, member, form, enumerations)
    return result


def shapes(definitions):
    """The publications and what they contain: each message behind those that it contains."""
    enumerations = {each.name: each for each in definitions if each.kind == "enum"}
    messages = {each.name: each for each in definitions if each.kind == "message"}
    found = {}

    def add(name, is_published=False):
        if name in found:
            return
        shape = Shape(messages[name], is_published=is_published)
        for member in shape.definition.members:
            shape.keys += keys(shape.definition, member, enumerations)
            if shape.keys[-1].form in ("object", "inline"):
                add(member.type)
        found[name] = shape

    for definition in messages.values():
        if "published" in protocol.brackets(definition.text):
            add(definition.name, is_published=True)
    for shape in found.values():
        names = [key.name for key in every_key(shape, found)]
        if len(set(names)) < len(names):
            sys.exit(f"{shape.definition.name}: two fields have one name in JSON: {', '.join(names)}")
    return found


def every_key(shape, found):
    """The keys of a message, with those of the messages that are inline."""
    for key in shape.keys:
        if key.form == "inline":
            yield from every_key(found[key.member.type], found)
        else:
            yield key
