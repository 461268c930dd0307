"""The page's files: small, without outside addresses, without inline code, and without ways from text to markup."""

import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mock_inspector import PAGE

FILES = sorted(path for path in PAGE.rglob("*") if path.is_file())


CROSSING_BYTES_MAX = 80 * 1024
"""What the page may cost on its way to a browser. The server compresses each file by itself."""
CODE_COLUMNS_MAX = 120
FORMATTED = [path for path in FILES if path.suffix in {".js", ".css", ".html"}]


def test_the_page_crosses_in_at_most_80_kilobytes() -> None:
    sizes = {path.name: min(len(gzip.compress(path.read_bytes(), 9)), path.stat().st_size) for path in FILES}
    assert sum(sizes.values()) <= CROSSING_BYTES_MAX, sizes


def test_the_source_is_formatted() -> None:
    """`scripts/inspector.sh --format` formats it."""
    settings = Path(__file__).with_name(".oxfmtrc.json")
    command = [Path(sys.executable).with_name("oxfmt"), "-c", settings, "--list-different", PAGE]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout + result.stderr == ""


@pytest.mark.parametrize("path", FORMATTED, ids=lambda path: path.name)
def test_a_line_of_source_is_at_most_120_columns(path: Path) -> None:
    """The formatter breaks no texts."""
    lines = path.read_text(encoding="utf-8").expandtabs(4).splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > CODE_COLUMNS_MAX] == []


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".js"], ids=lambda path: path.name)
def test_a_function_has_a_name_of_more_than_one_letter(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"(?:const|let|function) ([a-zA-Z])\b(?= = (?:\([^)]*\)|\w+) =>|\()", text) == []
    assert re.findall(r"import \{[^}]*\b[a-zA-Z]\b[^}]*\}", text) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_needs_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"(?:https?:|wss?:)?//[\w.-]+\.[a-z]{2,}", text) == []
    assert (
        re.findall(r"innerHTML|outerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|javascript:", text)
        == []
    )


def test_the_document_has_no_inline_code_or_style() -> None:
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text) == []


@pytest.mark.parametrize("path", FORMATTED, ids=lambda path: path.name)
def test_a_file_is_at_most_600_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


def test_the_modules_pass_the_type_check() -> None:
    if not shutil.which("tsc"):
        pytest.skip("needs the package node-typescript")
    result = subprocess.run(["tsc", "-p", str(Path(__file__).with_name("jsconfig.json"))], capture_output=True, text=True, check=False)
    assert result.stdout == ""
