"""The package waymark-nav-tools: its launchers, and what its executable may need. scripts/check/first_test.sh checks the wheel."""

from __future__ import annotations

import _ssl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

TOOLS = ROOT / "Sources/python/tools"


def become(name: str, executable: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Starts a launcher whose executable is another file."""
    code = f"import sys, waymark_nav_tools as tools; tools.EXECUTABLE = tools.Path(sys.argv.pop(1)); tools.{name}()"
    command = [sys.executable, "-c", code, str(executable), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(TOOLS)})


def test_the_executable_gets_the_name_and_the_arguments(tmp_path: Path) -> None:
    # A shell prints the name that it was started with.
    for name in ("waymark", "waymarkd"):
        done = become(name, Path("/bin/sh"), "-c", 'tr "\\0" " " </proc/$$/cmdline; exit 3', "x y")
        assert (done.stdout.split(" ", 1)[0], done.stdout.endswith("x y "), done.returncode) == (name, True, 3)


def test_an_executable_that_cannot_be_run_is_named_with_the_reason(tmp_path: Path) -> None:
    missing = tmp_path / "waymark"
    assert become("waymark", missing).stderr == f"waymark: {missing} cannot be run: No such file or directory\n"
    # As with an executable whose loader is missing.
    missing.write_text("#!/there/is/none\n")
    missing.chmod(0o755)
    assert become("waymarkd", missing).stderr == f"waymarkd: {missing} cannot be run: this system has no glibc\n"
    missing.chmod(0o644)
    assert become("waymark", missing).stderr == f"waymark: {missing} cannot be run: Permission denied\n"


def needed(path: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ROOT / "scripts/release/needed.py", path], capture_output=True, text=True, check=False)


def test_an_executable_that_needs_another_library_is_refused() -> None:
    assert needed("/bin/sh").returncode == 0
    refused = needed(_ssl.__file__)
    assert refused.returncode == 1
    assert "needs what no supported system may have: libssl.so" in refused.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_an_executable_with_library_folders_or_late_binding_is_refused(tmp_path: Path) -> None:
    source, executable = tmp_path / "main.c", tmp_path / "main"
    source.write_text("int main(void) { return 0; }\n")

    def linked(*options: str) -> subprocess.CompletedProcess[str]:
        subprocess.run(["cc", *(f"-Wl,{option}" for option in options), source, "-o", executable], check=True)
        return needed(executable)

    now = linked("-z,now")
    assert (now.returncode, now.stderr) == (0, "")
    for options, words in (
        (("-rpath,/x", "--enable-new-dtags", "-z,lazy"), ("RUNPATH /x", "no BIND_NOW")),
        (("-rpath,/x", "--disable-new-dtags", "-z,now"), ("RPATH /x",)),
        (("-rpath,/x", "--enable-new-dtags", "-z,now"), ("RUNPATH /x",)),
        (("-z,lazy",), ("no BIND_NOW",)),
    ):
        refused = linked(*options)
        assert refused.returncode == 1
        assert refused.stderr == f"{executable} is linked unsafely: {', '.join(words)}\n"
