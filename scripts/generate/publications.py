"""The rules of publications, and the states that are plain: one table, from the protos.

The top of Protos/waymark/v1/connection.proto says what a publication's brackets mean. A state is plain if nothing depends on it, nor it on
anything, and its fields are texts, numbers, flags and enumerations. All code for such a state is generated.
"""

import keyword
import re
import sys
from dataclasses import dataclass, field

import fields
import protocol

KINDS = ("event", "state", "state per maneuver")
PHASES = {"at any time": "any", "while guided": "guided", "while paused": "paused"}
GENERATIONS = ("current generation", "new generation", "new generation with a route")
# What cannot be the name of a property in one of the languages, besides Python's keywords.
RESERVED = {
    "arena", "as", "case", "catch", "default", "defer", "do", "enum", "extension", "fallthrough", "false", "func",
    "guard", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "private", "protocol", "public",
    "repeat", "rethrows", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
    "typealias", "var", "where", "wire",
}  # fmt: skip
PLAIN_FORMS = ("text", "number", "flag", "word")


@dataclass
class Publication:
    """A published message and its rule. Names are written as in the protos, with spaces."""

    definition: protocol.Definition
    kind: str
    phases: str
    needs: str = ""
    # Empty: it has none.
    generation: str = ""
    adds: str = ""
    refers_to: str = ""
    voids: list = field(default_factory=list)
    retains: str = "newest"
    is_of_route: bool = False
    fitted_by: list = field(default_factory=list)
    keys: list = field(default_factory=list)

    @property
    def name(self):
        return self.definition.name

    @property
    def case(self):
        return self.name[0].lower() + self.name[1:]

    @property
    def largest(self):
        """The field that takes most memory while the publication is retained; empty for none."""

        def weight(key):
            return 2 if key.member.repeated or key.form in ("object", "inline") else 1 if key.form == "text" else 0

        if self.retains == "nothing" or not self.keys:
            return ""
        return max(reversed(self.keys), key=weight).member.name

    @property
    def is_plain(self):
        """Whether all of its code is generated."""
        is_free = self.kind == "state" and self.phases == "guided" and not (self.generation or self.refers_to or self.is_of_route)
        return (
            is_free
            and bool(self.keys)
            and all(
                key.form in PLAIN_FORMS
                and key.member.type != "double"
                and not key.member.oneof
                and (not key.member.repeated or key.form == "text")
                for key in self.keys
            )
        )


def parse(definition, keys):
    """The rule that the brackets of a published message say."""
    items = protocol.brackets(definition.text)[2:]
    if items[0] not in KINDS:
        sys.exit(f"{definition.name} is none of {', '.join(KINDS)}")
    phases = [PHASES[item] for item in items if item in PHASES]
    if len(phases) != 1:
        sys.exit(f"{definition.name}: say once when it may be published: {', '.join(PHASES)}")
    result = Publication(definition, items[0], phases[0], keys=keys)
    for item in items[1:]:
        if item in PHASES:
            continue
        if item in GENERATIONS:
            result.generation = item
        elif item == "of the route":
            result.is_of_route = True
        elif match := re.fullmatch(r"(needs|adds|refers to|retains) ([a-z ]+)", item):
            setattr(result, match[1].replace(" ", "_"), match[2])
        elif match := re.fullmatch(r"(voids|fitted by) ([a-z ]+)", item):
            getattr(result, match[1].replace(" ", "_")).append(match[2])
        else:
            sys.exit(f"{definition.name}: not understood: {item}")
    return result


def publications(definitions):
    """All publications, by number."""
    shapes = fields.shapes(definitions)
    published = [shapes[name] for _, name, _, _ in protocol.message_types(definitions) if name in shapes and shapes[name].is_published]
    # One that says no rule has one by hand.
    found = [parse(shape.definition, shape.keys) for shape in published if protocol.brackets(shape.definition.text)[2:]]
    zeros = {each.name: each.members[0].name for each in definitions if each.kind == "enum"}
    known = {}
    for publication in found:
        for key in publication.keys if publication.is_plain else ():
            if keyword.iskeyword(key.name) or key.name in RESERVED:
                sys.exit(f"{publication.name}.{key.member.name}: give it another name in JSON, {key.name} is a word of a language")
            if key.form == "word" and zeros[key.member.type].endswith("_UNSPECIFIED"):
                sys.exit(f"{publication.name}.{key.member.name}: of an enumeration of a plain state 0 must be a value")
            if key.name in known:
                sys.exit(f"{publication.name} and {known[key.name]} have one name in JSON: {key.name}")
            known[key.name] = publication.name
    return found
