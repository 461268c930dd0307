"""The list of other software that is beside the packages."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conftest import ROOT

SCRIPT = ROOT / "scripts/release/sbom.py"


@pytest.mark.skipif(not (ROOT / "Package.resolved").exists(), reason="nothing was built here")
def test_every_version_of_the_build_is_listed_the_same_way_each_time() -> None:
    first, second = (subprocess.run([sys.executable, SCRIPT, "1.2"], capture_output=True, check=True).stdout for _ in range(2))
    assert first == second
    document = json.loads(first)
    assert document["metadata"]["component"] == {"type": "application", "name": "waymark", "version": "1.2"}
    listed = {component["name"]: component for component in document["components"]}
    resolved = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))
    for pin in resolved["pins"]:
        component = listed[pin["identity"]]
        assert component["version"] == pin["state"].get("version", pin["state"]["revision"])
        assert component["purl"].startswith("pkg:swift/github.com/")
    assert "swift-runtime" in listed
    assert any(name.startswith("libprotobuf-c") for name in listed)
