#!/usr/bin/env python3
"""protocol_changes.py OLD NEW: compares two states of the protos, and says of each difference whether Docs/protocol.md, "Compatibility",
allows it. A state is a folder such as Protos, the copy Protos/frozen/protocol.json, or a commit of this repository.

  minor   a minor version may do it
  major   only a major version may do it
  never   no version may do it: the number already has, or had, another meaning

Exit status: 0 if the version of NEW may do all of it, 1 if not, 2 if a state cannot be read.

protocol_changes.py --check: compares the copy with Protos, and fails if they differ.
protocol_changes.py --write [--major]: writes the copy; with --major also after changes that only a major version may make, until the copy
says that 1.0 is declared. Docs/protocol.md then names each of them under "What changed"; --check looks for them there. See decision 49."""

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "generate"))
from protocol import FILES, ROOT, brackets, count, parse

COPY = ROOT / "Protos/frozen/protocol.json"
PAGE = ROOT / "Docs/protocol.md"
MINOR, MAJOR, NEVER = "minor", "major", "never"
# What says so. The first two list what each version may do.
ADDS, BREAKS = "REQ-COMPAT-01", "REQ-COMPAT-02"
ONCE = "Compatibility: numbers are never used again"
# Fields whose largest value or count is negotiated (Limits and Compatibility of the page), besides those of NEGOTIATED_NAMES.
NEGOTIATED = {
    "VehicleSet.vehicle_ids": "vehicles_per_session_max",
    "RouteInformation.segments": "route_segments_max",
    "AddRouteSegments.segments": "route_segments_max",
    "Polyline.latitude_e6_deltas": "coordinates_max",
    "Polyline.longitude_e6_deltas": "coordinates_max",
}
NEGOTIATED_NAMES = re.compile(
    r"NegotiatedLimits\.|(Hello|Welcome|VehicleLimits)\.(\w*frame_bytes_max|keepalive_milliseconds|requests_open_max)$"
)
# The messages of these senders are read by the gateway alone; of all others some reach peers.
TO_THE_GATEWAY = {"from a new peer", "from clients", "from observers"}
HEADING = re.compile(r"^(#+) What changed\b.*$", re.M)


@dataclass(frozen=True)
class Difference:
    where: str
    text: str
    verdict: str
    requirement: str

    def __str__(self):
        return f"{self.verdict}  {self.where}: {self.text} ({self.requirement})"


class Unreadable(Exception):
    """A state that cannot be read."""


# States


def describe(definitions, version):
    """A state as the copy has it."""
    state = {"version": version, "declared": False, "changed": {}, "retired": [], "messages": {}, "enumerations": {}}
    for each in definitions:
        if each.kind == "enum":
            described = {"values": {value.name: value.number for value in each.members}}
            state["enumerations"][each.name] = described
        else:
            described = {}
            if brackets(each.text):
                kind, described["sender"], *described["rule"] = brackets(each.text)
                described["type"] = int(kind.removeprefix("type "), 16)
            described["fields"] = {member.name: describe_field(member) for member in each.members}
            state["messages"][each.name] = described
        if each.reserved:
            described["reserved"] = sorted(each.reserved)
    return state


def describe_field(member):
    described = {"number": member.number, "type": member.type}
    if member.repeated:
        described["repeated"] = True
    if member.oneof:
        described["oneof"] = True
    if rules := brackets(member.text):
        described["rules"] = rules
    return described


def read(place):
    """The state at a place; `Unreadable` says why there is none."""
    path = Path(place)
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    if path.is_dir():
        return of_protos(lambda name: (path / name).read_text(encoding="utf-8") if (path / name).exists() else None, place)

    def show(name):
        done = subprocess.run(["git", "-C", ROOT, "show", f"{place}:Protos/{name}"], capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else None

    return of_protos(show, place)


def of_protos(file, place):
    """The state of the protos whose texts `file` returns."""
    texts = {name: file(f"waymark/v1/{name}.proto") for name in FILES}
    if not any(texts.values()):
        raise Unreadable(f"{place} is no folder with waymark/v1, no copy and no commit")
    version = file("VERSION") or ""
    return describe([each for name, text in texts.items() if text for each in parse(name, text)], version.strip())


def write(state):
    """The copy's text: one definition on a line, so that a change is one line of a diff."""
    out = []
    for name, part in state.items():
        if isinstance(part, dict) and part:
            inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(each)}" for key, each in part.items())
            out.append(f" {json.dumps(name)}: {{\n{inner}\n }}")
        else:
            out.append(f" {json.dumps(name)}: {json.dumps(part)}")
    return "{\n" + ",\n".join(out) + "\n}\n"


# Comparing


def compare(old, new):
    """All differences, in the order of the old state and then of what is added."""
    found = list(Messages(old, new).differences())
    for name, each in old["enumerations"].items():
        after = new["enumerations"].get(name)
        if after is None:
            found.append(Difference(name, "is removed", MAJOR, BREAKS))
        else:
            found += numbers(name, each["values"], after["values"], each, after)
            found += [
                Difference(f"{name}.{key}", f"is added as {number}", MINOR, ADDS)
                for key, number in after["values"].items()
                if key not in each["values"] and number not in each["values"].values() and number not in each.get("reserved", [])
            ]
    found += [Difference(name, "is added", MINOR, ADDS) for name in new["enumerations"] if name not in old["enumerations"]]
    return found


def numbers(where, before, after, old, new):
    """What became of the numbers of fields or values: renumbered, renamed, removed, used again."""
    names = {number: name for name, number in after.items()}
    kept, reserved = set(old.get("reserved", [])), set(new.get("reserved", []))
    for name, number in before.items():
        if after.get(name) == number:
            continue
        taker = names.get(number)
        if name in after:
            yield Difference(f"{where}.{name}", f"has the number {after[name]} in place of {number}", MAJOR, BREAKS)
        elif taker and taker not in before:
            yield Difference(f"{where}.{name}", f"is called {taker}", MAJOR, BREAKS)
            continue
        else:
            yield Difference(f"{where}.{name}", "is removed", MAJOR, BREAKS)
        if taker:
            yield Difference(f"{where}.{taker}", f"has the number {number}, which {name} had", NEVER, ONCE)
        elif number not in reserved:
            yield Difference(f"{where}.{name}", f"had the number {number}, which is not reserved now", NEVER, ONCE)
    for number in sorted(kept):
        if number in names:
            yield Difference(f"{where}.{names[number]}", f"has the number {number}, which was reserved", NEVER, ONCE)
        elif number not in reserved:
            yield Difference(where, f"{number} is not reserved any more", NEVER, ONCE)


class Messages:
    """The differences of the messages of two states."""

    def __init__(self, old, new):
        self.old, self.new = old["messages"], new["messages"]
        self.retired, self.enumerations = set(old["retired"]), set(old["enumerations"])
        self.to_peers = reach(self.new, {name for name, each in self.new.items() if each.get("sender", "") not in {"", *TO_THE_GATEWAY}})

    def differences(self):
        types = {each["type"]: name for name, each in self.old.items() if "type" in each}
        for name, before in self.old.items():
            if name not in self.new:
                yield Difference(name, "is removed", MAJOR, BREAKS)
            else:
                yield from self.of_message(name, before, self.new[name])
        for name, after in self.new.items():
            kind = after.get("type")
            if kind in self.retired or types.get(kind, name) != name:
                had = types.get(kind, "a removed message")
                yield Difference(name, f"has the type {kind:#06x}, which {had} had", NEVER, ONCE)
            elif name not in self.old:
                yield Difference(name, "is added" + (f" as the type {kind:#06x}" if kind else ""), MINOR, ADDS)

    def of_message(self, name, before, after):
        if before.get("type") != after.get("type"):
            yield Difference(name, f"has the type {shown(after.get('type'))} in place of {shown(before.get('type'))}", MAJOR, BREAKS)
        if before.get("sender") != after.get("sender"):
            yield Difference(name, f"comes {after.get('sender')}, not {before.get('sender')}", MAJOR, BREAKS)
        if before.get("rule") != after.get("rule"):
            yield Difference(name, f"is {words_of(after)}, not {words_of(before)}", MAJOR, BREAKS)
        old, new = before["fields"], after["fields"]
        yield from numbers(name, *({key: each["number"] for key, each in fields.items()} for fields in (old, new)), before, after)
        known = {each["number"] for each in old.values()} | set(before.get("reserved", []))
        # A field with another name and the number of one that is not there any more.
        were = {each["number"]: each for key, each in old.items() if key not in new}
        for key, field in new.items():
            where = f"{name}.{key}"
            if key in old or field["number"] in were:
                yield from self.of_field(where, name, old.get(key) or were[field["number"]], field)
            elif "required" in field.get("rules", []):
                yield Difference(where, "is added, and required", MAJOR, BREAKS)
            elif field["number"] not in known:
                yield Difference(where, f"is added as {field['number']}", MINOR, ADDS)

    def of_field(self, where, name, before, after):
        was, is_now = kind_of(before), kind_of(after)
        if was != is_now:
            yield Difference(where, f"is {is_now}, not {was}", MAJOR, BREAKS)
            return
        old, new = (Rules(each.get("rules", [])) for each in (before, after))
        if new.is_required and not old.is_required:
            yield Difference(where, "is required", MAJOR, BREAKS)
        elif old.is_required and not new.is_required:
            yield self.permission(where, name, "is not required any more")
        if old.bounds and new.bounds and old.has_zero and not new.has_zero:
            yield Difference(where, "may not be 0 any more", MAJOR, BREAKS)
        elif old.bounds and new.bounds and new.has_zero and not old.has_zero:
            yield self.permission(where, name, "may be 0")
        # More values of an enumeration are no higher limit, but something that was refused.
        wider = partial(self.permission, where, name) if before["type"] in self.enumerations else None
        yield from limits(where, old, new, wider)

    def permission(self, where, name, text):
        """What was refused is allowed: only the gateway may have to take it, because peers rely on what it refuses."""
        is_for_peers = name in self.to_peers
        return Difference(where, text, MAJOR if is_for_peers else MINOR, BREAKS if is_for_peers else ADDS)


def kind_of(field):
    """The type of a field, with what else decides how it is read."""
    return "repeated " * field.get("repeated", False) + field["type"] + " of a oneof" * field.get("oneof", False)


def shown(kind):
    return "none" if kind is None else f"{kind:#06x}"


def words_of(message):
    """The rule of a publication, as its bracket says it."""
    return f"[{', '.join(message.get('rule', [])) or 'without a rule'}]"


def reach(messages, names):
    """The messages of these names, and all that are in them."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name in messages and name not in found:
            found.add(name)
            waiting += [field["type"] for field in messages[name]["fields"].values()]
    return found


class Rules:
    """The brackets of a field. `bounds` has the smallest and the largest number that each limit allows."""

    def __init__(self, rules):
        self.is_required, self.has_zero, self.others, self.bounds = False, False, set(), {}
        for rule in rules:
            each = rule.removeprefix("each ")
            if rule == "required":
                self.is_required = True
            elif match := re.fullmatch(r"(?:sums within|at most) ([\d ]+)", rule):
                self.bounds["the sum" if rule.startswith("sums") else "the number of elements"] = (0, count(match[1]))
            elif match := re.fullmatch(r"(0 or )?(at most )?([\d ]+) bytes", each):
                self.has_zero = bool(match[1])
                self.bounds["the length"] = (0 if match[2] else count(match[3]), count(match[3]))
            elif match := re.fullmatch(r"(0 or )?(-?[\d ]+) \.\.\. (-?[\d ]+)", each):
                self.has_zero = bool(match[1])
                self.bounds["the value"] = (count(match[2]), count(match[3]))
            else:
                self.others.add(rule)


def limits(where, old, new, wider=None):
    """Limits that are lower or higher, and other rules; `wider` judges a range that has become larger."""
    negotiated = NEGOTIATED.get(where) or (where.split(".")[1] if NEGOTIATED_NAMES.match(where) else "")
    for what in {**old.bounds, **new.bounds}:
        before, after = old.bounds.get(what), new.bounds.get(what)
        if before == after:
            continue
        if before is None or after is None:
            text = f"{what} is limited to {words(after)}" if after else f"{what} is not limited to {words(before)} any more"
            yield Difference(where, text, MAJOR, BREAKS)
            continue
        text = f"{what} is within {words(after)}, not {words(before)}"
        is_wider = after[0] <= before[0] and before[1] <= after[1]
        if negotiated and is_wider:
            yield Difference(where, f"{text}; {negotiated} is negotiated", MINOR, ADDS)
        elif wider and is_wider:
            yield wider(text)
        else:
            yield Difference(where, text, MAJOR, BREAKS)
    for rule in sorted(old.others ^ new.others):
        yield Difference(where, f"[{rule}] is {'dropped' if rule in old.others else 'added'}", MAJOR, BREAKS)


def words(bounds):
    return f"{bounds[0]} ... {bounds[1]}"


# Verdicts


def version_of(state):
    """Major and minor version; (1, 0) of protos without the file VERSION."""
    major, _, minor = (state["version"] or "1.0").partition(".")
    return int(major), int(minor)


def is_lower(old, new):
    """Whether the version goes backwards."""
    return bool(new["version"]) and version_of(new) < version_of(old)


def is_allowed(old, new, differences):
    """Whether the version of the new state may do all of it."""
    if is_lower(old, new):
        return False
    worst = {each.verdict for each in differences}
    return NEVER not in worst and (MAJOR not in worst or version_of(new)[0] > version_of(old)[0])


def print_all(old, new, differences):
    for each in differences:
        print(each)
    if is_lower(old, new):
        print(f"never  version: {new['version']} is below {old['version']} (REQ-HELLO-01)")
    elif new["version"] != old["version"]:
        print(f"version {old['version'] or '(none)'} became {new['version'] or '(none)'}")


def unsaid(copy, page):
    """What the copy says was changed as only a major version may, and the page does not name under "What changed"."""
    section = ""
    if match := HEADING.search(page):
        section = re.split(rf"^#{{1,{len(match[1])}}} ", page[match.end() :], maxsplit=1, flags=re.M)[0]
    return [name for name in copy["changed"] if f"`{name}`" not in section]


def check():
    """Compares the copy with Protos."""
    copy, protos = read(COPY), read(COPY.parents[1])
    differences = compare(copy, protos)
    if write(updated(copy, protos, differences)) != COPY.read_text(encoding="utf-8"):
        print_all(copy, protos, differences)
        option = " --major" if any(each.verdict == MAJOR for each in differences) else ""
        command = f"scripts/check/protocol_changes.py --write{option}"
        print(f"{COPY.relative_to(ROOT)} is another state: run {command}, if the protocol may change so")
        return 1
    missing = unsaid(copy, PAGE.read_text(encoding="utf-8"))
    for name in missing:
        print(f'{PAGE.relative_to(ROOT)} does not name `{name}` under "What changed": it has changed as only a major version may')
    return 1 if missing else 0


def updated(copy, protos, differences):
    """The copy after these differences: it remembers types that were removed, and what was changed before 1.0 is declared."""
    types = {each.get("type") for each in protos["messages"].values()}
    gone = {each["type"] for each in copy["messages"].values() if each.get("type", 0) not in {0, *types}}
    changed = {each.where: protos["version"] for each in differences if each.verdict == MAJOR}
    return {
        **protos,
        "declared": copy["declared"],
        "changed": {**copy["changed"], **changed} if version_of(protos)[0] == version_of(copy)[0] else {},
        "retired": sorted({*copy["retired"], *gone}),
    }


def rewrite(is_major):
    """Writes the copy, if the protocol may change so."""
    protos = read(COPY.parents[1])
    copy = read(COPY) if COPY.exists() else protos
    differences = compare(copy, protos)
    print_all(copy, protos, differences)
    accepts = is_major and not copy["declared"] and all(each.verdict != NEVER for each in differences)
    if not is_allowed(copy, protos, differences) and not (accepts and not is_lower(copy, protos)):
        print(f"{COPY.relative_to(ROOT)} was not written")
        return 1
    COPY.write_text(write(updated(copy, protos, differences)), encoding="utf-8")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("states", nargs="*", metavar="STATE", help="the old and the new one")
    parser.add_argument("--check", action="store_true", help="compare the copy with Protos")
    parser.add_argument("--write", action="store_true", help="write the copy")
    parser.add_argument("--major", action="store_true", help="also after changes that only a major version may make")
    options = parser.parse_args()
    if [options.check, options.write, bool(options.states)].count(True) != 1 or len(options.states) not in (0, 2):
        parser.error("give two states, --check, or --write")
    if options.major and not options.write:
        parser.error("--major is for --write")
    try:
        if options.check:
            return check()
        if options.write:
            return rewrite(options.major)
        old, new = map(read, options.states)
    except (Unreadable, OSError, ValueError, KeyError) as error:
        print(f"protocol_changes.py: {error}", file=sys.stderr)
        return 2
    differences = compare(old, new)
    print_all(old, new, differences)
    return 0 if is_allowed(old, new, differences) else 1


if __name__ == "__main__":
    sys.exit(main())
