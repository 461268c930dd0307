"""The part of a sweep that a run takes: `all`, or `2/5` for every fifth case from the third on. Tests/Sweeps is its twin in Swift."""

import argparse


def sweep_part(text):
    """The slice of a list of cases that a part takes, for an argument of a command line."""
    if text == "all":
        return slice(None)
    part, _, count = text.partition("/")
    if not (part.isdecimal() and count.isdecimal() and int(part) < int(count)):
        raise argparse.ArgumentTypeError(f"{text}: a part is `all`, or as `2/5`")
    return slice(int(part), None, int(count))
