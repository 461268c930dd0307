"""The page's files: small, without outside addresses, without inline code, and without ways from text to markup."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mock_inspector import PAGE

FILES = sorted(path for path in PAGE.rglob("*") if path.is_file())


def test_the_page_is_at_most_150_kilobytes() -> None:
    assert sum(path.stat().st_size for path in FILES) <= 150 * 1024


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


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".js"], ids=lambda path: path.name)
def test_a_module_is_at_most_600_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


def test_the_modules_pass_the_type_check() -> None:
    if not shutil.which("tsc"):
        pytest.skip("needs the package node-typescript")
    result = subprocess.run(["tsc", "-p", str(Path(__file__).with_name("jsconfig.json"))], capture_output=True, text=True, check=False)
    assert result.stdout == ""
