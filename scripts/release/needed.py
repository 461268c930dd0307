#!/usr/bin/env python3
"""needed.py EXECUTABLE: prints which libraries of the system an executable needs, and in which versions. Fails if it needs others than
libsystemd and glibc, or newer ones than Docs/python.md names; also if it looks for libraries in folders of its own, or does not bind all
functions before it starts."""

import re
import subprocess
import sys

# libgcc_s: glibc itself loads it to end a thread, so it is there wherever glibc is used with threads.
LIBRARIES = re.compile(r"libsystemd\.so\.0|libgcc_s\.so\.1|lib[cm]\.so\.6|ld-linux-[\w-]+\.so\.\d")
NEWEST = {"GLIBC": (2, 36), "LIBSYSTEMD": (246,), "GCC": (4, 2, 0)}


def readelf(option, path):
    return subprocess.run(["readelf", "--wide", option, path], check=True, capture_output=True, text=True).stdout


def needed(path):
    """The libraries, and of each family of symbols the newest version."""
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", path))
    newest = {}
    for family, version in re.findall(r"Name: ([A-Z]+)_([\d.]+) ", readelf("--version-info", path)):
        newest[family] = max(newest.get(family, ()), tuple(map(int, version.split("."))))
    return libraries, newest


def unsafe(path):
    """What makes an executable easier to attack: a file in one of its folders replaces a library, and a table of functions that are
    bound later stays writable."""
    dynamic = readelf("--dynamic", path)
    found = [f"{kind} {folders}" for kind, folders in re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", dynamic)]
    # A linker writes any of the three: an entry of its own, a flag, or a flag of the second kind.
    if not re.search(r"\(BIND_NOW\)|\(FLAGS\).*\bBIND_NOW\b|\(FLAGS_1\).*\bNOW\b", dynamic):
        found.append("no BIND_NOW")
    return found


def main(path):
    libraries, newest = needed(path)
    for library in libraries:
        print(f"needs {library}")
    for family, version in newest.items():
        print(f"needs {family} {'.'.join(map(str, version))}")
    strange = [library for library in libraries if not LIBRARIES.fullmatch(library)]
    strange += [f"{family} {version}" for family, version in newest.items() if version > NEWEST.get(family, (0,))]
    refusals = [f"needs what no supported system may have: {', '.join(strange)}"] if strange else []
    if found := unsafe(path):
        refusals.append(f"is linked unsafely: {', '.join(found)}")
    if refusals:
        sys.exit("\n".join(f"{path} {refusal}" for refusal in refusals))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
