"""The package as a whole: its version, its names, what it imports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import waymark_nav

from conftest import ROOT

PACKAGE = ROOT / "Sources/python/waymark_nav"


def test_it_has_the_version_of_the_programs() -> None:
    version = subprocess.run([str(ROOT / "scripts/version.sh")], capture_output=True, text=True, check=True).stdout.strip()
    assert waymark_nav.__version__ == version


def test_it_has_the_licence_of_the_tree() -> None:
    assert (ROOT / "Sources/python/LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_the_generated_code_is_fresh() -> None:
    subprocess.run([sys.executable, str(ROOT / "scripts/generate_python.py"), "--check"], check=True)


def test_it_needs_nothing_but_the_standard_library() -> None:
    for path in PACKAGE.rglob("*.py"):
        for module in re.findall(r"^(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M):
            assert module == "waymark_nav" or module in sys.stdlib_module_names, f"{path}: {module}"


def test_machines_do_no_input_or_output() -> None:
    allowed = {"collections", "dataclasses", "enum", "types", "typing", "waymark_nav", "__future__"}
    for path in (PACKAGE / "core").glob("*.py"):
        assert set(re.findall(r"^(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M)) <= allowed, path


def test_files_are_not_too_long() -> None:
    for path in [*PACKAGE.rglob("*.py"), *Path(__file__).parent.glob("*.py")]:
        if "_generated" not in path.parts:
            assert len(path.read_text(encoding="utf-8").splitlines()) <= 600, path
