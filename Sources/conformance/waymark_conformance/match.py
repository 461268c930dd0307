"""Patterns of cases: which bodies they allow, and the values that they bind."""

import re

from .schema import MESSAGES, Malformed, default

REFERENCE = re.compile(r"\$\{?([a-z_0-9]+)\}?")


def merged(base, changes):
    """A copy of an object with others in it; objects within are merged, null removes a key."""
    out = dict(base)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict) and "$use" in out[key]:
            out[key] = {**out[key], **value}  # Merged when the fragment is.
        elif value is None:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict) and "$use" not in value:
            out[key] = merged(out[key], value)
        else:
            out[key] = value
    return out


def filled(value, names, fragments):
    """A value of a case with its references replaced: "$name" by the value, "${name}" in a text by its text."""
    if isinstance(value, str):
        if match := REFERENCE.fullmatch(value):
            if match[1] not in names:
                raise Malformed(f"nothing is named {match[1]}")
            return filled(names[match[1]], names, fragments)
        return REFERENCE.sub(lambda match: str(names[match[1]]) if match[1] in names else match[0], value)
    if isinstance(value, list):
        return [filled(each, names, fragments) for each in value]
    if isinstance(value, dict):
        if "$use" in value:
            rest = {key: each for key, each in value.items() if key != "$use"}
            return filled(merged(fragments[value["$use"]], rest), names, fragments)
        if "$repeat" in value:
            return filled(value["text"], names, fragments) * value["$repeat"]
        if "$count" in value:
            low, high = value["$count"]
            return [filled(value["each"], {**names, "n": number}, fragments) for number in range(low, high + 1)]
        if "$times" in value:
            return [filled(value["$times"][0], names, fragments)] * value["$times"][1]
        if "$plus" in value:
            return sum(filled(each, names, fragments) for each in value["$plus"])
        return {key: filled(each, names, fragments) for key, each in value.items()}
    return value


def special(pattern, value, names, where, message=None):
    """An object whose key begins with $. Returns what does not fit, or None."""
    ((name, wanted),) = pattern.items()
    if name == "$bind":
        names[wanted] = value
        return None
    if name == "$any":
        return None if value not in (None, "", 0, [], False) else f"{where} is not given"
    if name == "$absent":
        return None if value in (None, "", 0, [], False, "UNSPECIFIED") else f"{where} is {value!r}, and should not be given"
    if name == "$range":
        return None if isinstance(value, (int, float)) and wanted[0] <= value <= wanted[1] else f"{where} is {value!r}, not within {wanted}"
    if name == "$hundreds":
        return (
            None
            if isinstance(value, int) and value % 100 == 0 and wanted[0] <= value <= wanted[1]
            else f"{where} is {value!r}, no multiple of 100 within {wanted}"
        )
    if name == "$not":
        return f"{where} is {value!r}" if mismatch(wanted, value, names, where, message) is None else None
    if name == "$in":
        return None if value in wanted else f"{where} is {value!r}, none of {wanted}"
    if name == "$length":
        return None if len(value) == wanted else f"{where} has {len(value)} elements, not {wanted}"
    if name == "$bytes":
        size = len(value.encode())
        return None if wanted[0] <= size <= wanted[1] else f"{where} has {size} bytes, not within {wanted}"
    if name == "$sum":
        return None if sum(value) == wanted else f"{where} adds up to {sum(value)}, not {wanted}"
    if name == "$first":
        return None if value and value[0] == wanted else f"{where} does not begin with {wanted}"
    if name == "$at":
        for place, pattern in wanted.items():
            if not -len(value) <= int(place) < len(value):
                return f"{where} has {len(value)} elements, none at {place}"
            if (fault := mismatch(pattern, value[int(place)], names, f"{where}[{place}]", message)) is not None:
                return fault
        return None
    if name == "$contains":
        return None if wanted in value else f"{where} is {value!r}, without {wanted!r}"
    if name == "$has":
        for each in wanted:
            if all(mismatch(each, element, names, where, message) is not None for element in value):
                return f"{where} has no {each!r}"
        return None
    if name == "$hasnot":
        for element in value:
            if any(mismatch(each, element, names, where, message) is None for each in wanted):
                return f"{where} has {element!r}"
        return None
    raise Malformed(f"no such pattern: {name}")


def mismatch(pattern, value, names, where="", message=None):
    """What of a value does not fit the pattern, as a sentence, or None. Fields that are absent have their default value."""
    if isinstance(pattern, dict):
        if pattern and next(iter(pattern)).startswith("$"):
            faults = (special({key: part}, value, names, where, message) for key, part in pattern.items())
            return next((fault for fault in faults if fault is not None), None)
        if not isinstance(value, dict):
            return f"{where} is {value!r}"
        fields = MESSAGES[message]["fields"] if message else {}
        for key, part in pattern.items():
            field = fields.get(key)
            if message and field is None and key != "unknown":
                raise Malformed(f"{message} has no field {key}")
            inner = field["type"] if field and field["type"] in MESSAGES else None
            found = value.get(key, default(field) if field else None)
            if (fault := mismatch(part, found, names, f"{where}.{key}" if where else key, inner)) is not None:
                return fault
        return None
    if isinstance(pattern, list):
        if not isinstance(value, list) or len(value) != len(pattern):
            return f"{where} is {value!r}, not {pattern!r}"
        for index, (part, element) in enumerate(zip(pattern, value, strict=True)):
            if (fault := mismatch(part, element, names, f"{where}[{index}]", message)) is not None:
                return fault
        return None
    if isinstance(pattern, float) or isinstance(value, float):
        return None if value is not None and abs(pattern - value) < 1e-9 else f"{where} is {value!r}, not {pattern!r}"
    return None if pattern == value and isinstance(pattern, bool) == isinstance(value, bool) else f"{where} is {value!r}, not {pattern!r}"
