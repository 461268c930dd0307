#!/usr/bin/env python3
"""sbom.py VERSION [BUILD]: prints which versions of other software are in the executable of the packages, as CycloneDX.

They are the versions in Package.resolved of the packages of which a module is in the executable, which was built in the folder BUILD
(default: .build), and those of the libraries that scripts/release/link.sh links statically. Two runs on one machine print the same.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Debian's packages of the libraries that are linked statically. That of libstdc++ has the compiler's version in its name.
STATIC = ("libprotobuf-c-dev", "libstdc++-*-dev", "zlib1g-dev")


def linked(build):
    """The identities of the packages of which a module is in the executable."""
    objects = (build / "release/waymark.product/Objects.LinkFileList").read_text(encoding="utf-8")
    modules = set(re.findall(r"/([^/]+)\.build/", objects))
    return {folder.parents[1].name.lower() for folder in (build / "checkouts").glob("*/Sources/*") if folder.name in modules}


def swift_packages(resolved, identities):
    """The components of a Package.resolved that have one of these identities."""
    for pin in sorted(resolved["pins"], key=lambda pin: pin["identity"]):
        if pin["identity"] not in identities:
            continue
        location = pin["location"].removeprefix("https://").removesuffix(".git")
        state = pin["state"]
        version = state.get("version", state["revision"])
        yield {
            "type": "library",
            "name": pin["identity"],
            "version": version,
            "purl": f"pkg:swift/{location}@{version}",
            "properties": [{"name": "git:revision", "value": state["revision"]}],
        }


def debian_packages(listing):
    """The components of lines `package version`, as dpkg-query prints them."""
    for line in sorted(listing.splitlines()):
        name, version = line.split()
        yield {"type": "library", "name": name, "version": version, "purl": f"pkg:deb/debian/{name}@{version}"}


def document(version, components):
    """The whole file."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "waymark", "version": version}},
        "components": components,
    }


def main(arguments):
    if not 1 <= len(arguments) <= 2:
        sys.exit(__doc__)
    build = Path(arguments[1]) if len(arguments) == 2 else ROOT / ".build"
    resolved = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))
    query = ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev}${Package} ${Version}\\n", *STATIC]
    shown = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    installed = "\n".join(line.removeprefix("ii ") for line in shown.splitlines() if line.startswith("ii "))
    toolchain = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    components = [*swift_packages(resolved, linked(build)), *debian_packages(installed)]
    components.append({"type": "library", "name": "swift-runtime", "version": toolchain.split("Swift version ")[-1].split()[0]})
    json.dump(document(arguments[0], components), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
