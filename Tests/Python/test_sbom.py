"""The list of other software that is beside the packages."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conftest import ROOT

SCRIPT = ROOT / "scripts/release/sbom.py"


@pytest.mark.skipif(not (ROOT / ".build/release/waymark.product/Objects.LinkFileList").exists(), reason="the executable was not built here")
def test_every_version_in_the_executable_is_listed_the_same_way_each_time() -> None:
    first, second = (subprocess.run([sys.executable, SCRIPT, "1.2"], capture_output=True, check=True).stdout for _ in range(2))
    assert first == second
    document = json.loads(first)
    assert document["metadata"]["component"] == {"type": "application", "name": "waymark", "version": "1.2"}
    listed = {component["name"]: component for component in document["components"]}
    resolved = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))
    pins = {pin["identity"]: pin for pin in resolved["pins"]}
    packages = {name: component for name, component in listed.items() if component.get("purl", "").startswith("pkg:swift/")}
    for name, component in packages.items():
        assert component["version"] == pins[name]["state"].get("version", pins[name]["state"]["revision"])
        assert component["purl"].startswith("pkg:swift/github.com/")
    # What our own code imports, and what was resolved only for targets that are not built.
    assert {"hummingbird", "swift-argument-parser", "swift-collections", "swift-log", "swift-nio", "yams"} <= set(packages)
    assert packages.keys().isdisjoint({"async-http-client", "swift-crypto", "swift-nio-ssl"})
    assert "swift-runtime" in listed
    assert any(name.startswith("libprotobuf-c") for name in listed)
