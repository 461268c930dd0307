"""The package as a whole: its version, its names, what it imports."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import waymark_nav

from conftest import ROOT

PACKAGE = ROOT / "Sources/python/waymark_nav"


def test_it_has_the_version_of_the_programs() -> None:
    version = subprocess.run([str(ROOT / "scripts/release/version.sh")], capture_output=True, text=True, check=True).stdout.strip()
    assert waymark_nav.__version__ == version


def test_it_has_the_licence_of_the_tree() -> None:
    assert (ROOT / "Sources/python/LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_the_generated_code_is_fresh() -> None:
    subprocess.run([sys.executable, str(ROOT / "scripts/generate/python_messages.py"), "--check"], check=True)


def test_it_needs_nothing_but_the_standard_library() -> None:
    of_pytest = {PACKAGE / "rig/plugin.py", PACKAGE / "rig/_scenarios.py"}
    for path in PACKAGE.rglob("*.py"):
        for module in re.findall(r"^(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M):
            is_allowed = module == "waymark_nav" or module in sys.stdlib_module_names or (module == "pytest" and path in of_pytest)
            assert is_allowed, f"{path}: {module}"


def test_pytest_finds_the_plugin_of_the_package() -> None:
    project = tomllib.loads((ROOT / "Sources/python/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"waymark": "waymark_nav.rig.plugin"}
    tools, *others = project["optional-dependencies"]["rig"]
    assert tools == f"waymark-nav-tools=={waymark_nav.__version__}"
    assert [re.split(r"\W", each)[0] for each in others] == ["pytest", "mcap"]


def test_machines_do_no_input_or_output() -> None:
    allowed = {"collections", "dataclasses", "enum", "types", "typing", "waymark_nav", "__future__"}
    for path in (PACKAGE / "core").glob("*.py"):
        assert set(re.findall(r"^(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M)) <= allowed, path


def test_files_are_not_too_long() -> None:
    for path in [*PACKAGE.rglob("*.py"), *Path(__file__).parent.glob("*.py")]:
        if "_generated" not in path.parts:
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 600, path
