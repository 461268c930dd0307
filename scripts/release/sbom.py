#!/usr/bin/env python3
"""sbom.py VERSION: prints which versions of other software are in the executable of the packages, as CycloneDX.

They are those of Package.resolved, by which it was built, and of the libraries that scripts/release/link.sh links statically. Two runs on
one machine print the same.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Debian's packages of the libraries that are linked statically. That of libstdc++ has the compiler's version in its name.
STATIC = ("libprotobuf-c-dev", "libstdc++-*-dev", "zlib1g-dev")


def swift_packages(resolved):
    """The components of a Package.resolved."""
    for pin in sorted(resolved["pins"], key=lambda pin: pin["identity"]):
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
    if len(arguments) != 1:
        sys.exit(__doc__)
    resolved = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))
    query = ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev}${Package} ${Version}\\n", *STATIC]
    shown = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    installed = "\n".join(line.removeprefix("ii ") for line in shown.splitlines() if line.startswith("ii "))
    toolchain = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    components = [*swift_packages(resolved), *debian_packages(installed)]
    components.append({"type": "library", "name": "swift-runtime", "version": toolchain.split("Swift version ")[-1].split()[0]})
    json.dump(document(arguments[0], components), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1:])
