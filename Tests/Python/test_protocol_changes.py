"""scripts/check/protocol_changes.py: what it says of each way in which the protos can change, and the copy in Protos/frozen."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import ROOT

SCRIPT = ROOT / "scripts/check/protocol_changes.py"
FIELD = "// [0 or 10 ... 20]\n  uint32 speed = 2;"
PROTO = (
    """syntax = "proto3";
package waymark.v1;

enum Color {
  COLOR_UNSPECIFIED = 0;
  COLOR_RED = 1;
  reserved 2;
}

// [type 0x0001, from a new peer]
message Hello {
  // [required]
  uint32 version = 1;
  // [at most 8 bytes]
  string name = 2;
  // [1 ... 1]
  Color paint = 5;
  // [1 000 ... 2 000]
  uint32 keepalive_milliseconds = 3;
  reserved 4;
}

// [type 0x0100, published]
message Place {
  // [required]
  uint32 id = 1;
  """
    + FIELD
    + """
  Color color = 3;
  // [at most 4, each a name]
  repeated string names = 5;
  // [0 ... 1]
  Color other = 7;
}

// [type 0x0101, published]
message Other {
}
"""
)


@pytest.fixture
def script(tmp_path: Path) -> ModuleType:
    """The script, with a copy and a page of its own."""
    spec = importlib.util.spec_from_file_location("protocol_changes", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["protocol_changes"] = module
    spec.loader.exec_module(module)
    values: Any = module
    values.ROOT = tmp_path
    values.COPY = tmp_path / "Protos/frozen/protocol.json"
    values.PAGE = tmp_path / "protocol.md"
    values.COPY.parent.mkdir(parents=True)
    values.PAGE.write_text("# The page\n")
    put(tmp_path / "Protos", PROTO)
    return module


def put(folder: Path, text: str, version: str = "1.1") -> Path:
    """A folder with these protos, all of them in one file."""
    (folder / "waymark/v1").mkdir(parents=True, exist_ok=True)
    (folder / "waymark/v1/connection.proto").write_text(text)
    (folder / "VERSION").write_text(version + "\n")
    return folder


def run(script: ModuleType, *arguments: str) -> int:
    sys.argv = ["protocol_changes.py", *arguments]
    status: int = script.main()
    return status


CHANGES = [
    ("  COLOR_RED = 1;", "  COLOR_RED = 1;\n  COLOR_BLUE = 3;", ["minor  Color.COLOR_BLUE: is added as 3 (REQ-COMPAT-01)"]),
    ("  Color color = 3;", "  Color color = 3;\n  bool new = 6;", ["minor  Place.new: is added as 6 (REQ-COMPAT-01)"]),
    ("// [type 0x0101, published]", "message New {\n}\n\n// [type 0x0101, published]", ["minor  New: is added (REQ-COMPAT-01)"]),
    (
        "// [type 0x0101, published]",
        "// [type 0x0102, published]\nmessage New {\n}\n\n// [type 0x0101, published]",
        ["minor  New: is added as the type 0x0102 (REQ-COMPAT-01)"],
    ),
    ("[1 000 ... 2 000]", "[500 ... 4 000]", ["keepalive_milliseconds is negotiated (REQ-COMPAT-01)"]),
    ("  // [required]\n  uint32 version", "  uint32 version", ["minor  Hello.version: is not required any more (REQ-COMPAT-01)"]),
    # Of what peers receive they rely on it.
    ("  // [required]\n  uint32 id", "  uint32 id", ["major  Place.id: is not required any more (REQ-COMPAT-02)"]),
    (
        "[1 000 ... 2 000]",
        "[1 000 ... 1 500]",
        ["major  Hello.keepalive_milliseconds: the value is within 1000 ... 1500, not 1000 ... 2000"],
    ),
    # A role, which only the gateway reads; what peers read has all its values.
    ("[1 ... 1]", "[1 ... 3]", ["minor  Hello.paint: the value is within 1 ... 3, not 1 ... 1 (REQ-COMPAT-01)"]),
    ("[0 ... 1]", "[0 ... 3]", ["major  Place.other: the value is within 0 ... 3, not 0 ... 1 (REQ-COMPAT-02)"]),
    ("[0 or 10 ... 20]", "[0 or 10 ... 30]", ["major  Place.speed: the value is within 10 ... 30, not 10 ... 20 (REQ-COMPAT-02)"]),
    ("[0 or 10 ... 20]", "[10 ... 20]", ["major  Place.speed: may not be 0 any more"]),
    ("  // [0 or 10 ... 20]\n", "", ["major  Place.speed: the value is not limited to 10 ... 20 any more"]),
    ("[at most 8 bytes]", "[at most 4 bytes]", ["major  Hello.name: the length is within 0 ... 4, not 0 ... 8"]),
    ("[at most 4, each a name]", "[at most 5, each a name]", ["major  Place.names: the number of elements is within 0 ... 5, not 0 ... 4"]),
    ("[at most 4, each a name]", "[at most 4]", ["major  Place.names: [each a name] is dropped"]),
    ("  Color color = 3;", "  // [required]\n  Color color = 3;", ["major  Place.color: is required (REQ-COMPAT-02)"]),
    ("  Color color = 3;", "  Color color = 3;\n  // [required]\n  bool new = 6;", ["major  Place.new: is added, and required"]),
    ("  Color color = 3;", "  uint32 color = 3;", ["major  Place.color: is uint32, not Color"]),
    ("  Color color = 3;", "  repeated Color color = 3;", ["major  Place.color: is repeated Color, not Color"]),
    ("  Color color = 3;", "  oneof any { Color color = 3; }", ["major  Place.color: is Color of a oneof, not Color"]),
    ("  Color color = 3;", "  Color paint = 3;", ["major  Place.color: is called paint"]),
    ("  Color color = 3;", "  reserved 3;", ["major  Place.color: is removed"]),
    ("  Color color = 3;", "  reserved 3;\n  Color color = 6;", ["major  Place.color: has the number 6 in place of 3"]),
    ("  Color color = 3;", "", ["major  Place.color: is removed", "never  Place.color: had the number 3, which is not reserved now"]),
    (
        "  Color color = 3;\n  // [at most 4, each a name]\n  repeated string names = 5;",
        "  // [at most 4, each a name]\n  repeated string names = 3;\n  reserved 5;",
        ["never  Place.names: has the number 3, which color had (Compatibility: numbers are never used again)"],
    ),
    ("  reserved 4;\n", "  bool again = 4;\n", ["never  Hello.again: has the number 4, which was reserved"]),
    ("  reserved 4;\n", "", ["never  Hello: 4 is not reserved any more"]),
    ("  reserved 2;\n", "  COLOR_BLUE = 2;\n", ["never  Color.COLOR_BLUE: has the number 2, which was reserved"]),
    ("  COLOR_RED = 1;\n  reserved 2;", "  reserved 1, 2;", ["major  Color.COLOR_RED: is removed"]),
    ("[type 0x0101, published]", "[type 0x0102, published]", ["major  Other: has the type 0x0102 in place of 0x0101"]),
    ("[type 0x0101, published]", "[type 0x0101, published, state]", ["major  Other: is [state], not [without a rule]"]),
    ("[type 0x0101, published]", "[type 0x0101, from endpoints]", ["major  Other: comes from endpoints, not published"]),
    ("// [type 0x0101, published]\nmessage Other {\n}\n", "", ["major  Other: is removed"]),
    (
        "message Other {",
        "message Another {",
        ["major  Other: is removed", "never  Another: has the type 0x0101, which Other had"],
    ),
]


@pytest.mark.parametrize(("text", "other", "said"), CHANGES, ids=[" ".join(change[2][0].split()[:6]) for change in CHANGES])
def test_each_change_has_its_verdict(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, other: str, said: list[str]
) -> None:
    assert PROTO.count(text) == 1
    new = put(tmp_path / "new", PROTO.replace(text, other))
    status = run(script, str(tmp_path / "Protos"), str(new))
    printed = capsys.readouterr().out
    for line in said:
        assert line in printed
    is_minor = all(line.startswith("minor") for line in printed.splitlines())
    assert status == (0 if is_minor else 1), printed
    assert all("major" not in line and "never" not in line for line in printed.splitlines()) == is_minor


def test_equal_states_have_no_difference(script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (run(script, str(tmp_path / "Protos"), str(tmp_path / "Protos")), capsys.readouterr().out) == (0, "")


def test_another_major_version_may_remove_but_not_use_a_number_again(script: ModuleType, tmp_path: Path) -> None:
    removed = PROTO.replace("  Color color = 3;", "  reserved 3;")
    assert run(script, str(tmp_path / "Protos"), str(put(tmp_path / "new", removed, "2.0"))) == 0
    again = PROTO.replace("  reserved 4;\n", "  bool again = 4;\n")
    assert run(script, str(tmp_path / "Protos"), str(put(tmp_path / "new", again, "2.0"))) == 1
    assert run(script, str(tmp_path / "Protos"), str(put(tmp_path / "new", PROTO, "1.0"))) == 1


def test_the_copy_is_written_and_remembers_what_a_minor_version_may_not_do(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page: Path = script.PAGE
    assert (run(script, "--write"), run(script, "--check")) == (0, 0)
    put(tmp_path / "Protos", PROTO.replace("  Color color = 3;", "  Color color = 3;\n  bool new = 6;"))
    assert run(script, "--check") == 1
    assert "run scripts/check/protocol_changes.py --write," in capsys.readouterr().out
    assert (run(script, "--write"), run(script, "--check")) == (0, 0)

    # Before 1.0 is declared, a change that only a major version may make needs an option, and the page says it.
    put(tmp_path / "Protos", PROTO.replace("  Color color = 3;", "  reserved 3, 6;"), "1.2")
    capsys.readouterr()
    assert (run(script, "--check"), run(script, "--write")) == (1, 1)
    assert "--write --major" in capsys.readouterr().out
    assert (run(script, "--write", "--major"), run(script, "--check")) == (0, 1)
    assert 'does not name `Place.color` under "What changed"' in capsys.readouterr().out
    page.write_text("# The page\n\n`Place.color`\n\n### What changed\n\nNothing.\n\n## Reserved\n\n`Place.color`\n")
    assert run(script, "--check") == 1
    page.write_text("# The page\n\n### What changed\n\n`Place.color` and `Place.new` are gone.\n\n## Reserved\n")
    assert run(script, "--check") == 0


def test_the_type_of_a_removed_message_is_not_used_again_later(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, "--write") == 0
    without = PROTO.replace("// [type 0x0101, published]\nmessage Other {\n}\n", "")
    put(tmp_path / "Protos", without)
    assert run(script, "--write", "--major") == 0
    put(tmp_path / "Protos", without + "// [type 0x0101, published]\nmessage Later {\n}\n")
    assert run(script, "--write", "--major") == 1
    assert "never  Later: has the type 0x0101, which a removed message had" in capsys.readouterr().out


def test_once_1_0_is_declared_only_another_major_version_breaks(script: ModuleType, tmp_path: Path) -> None:
    copy: Path = script.COPY
    assert run(script, "--write") == 0
    copy.write_text(copy.read_text().replace('"declared": false', '"declared": true'))
    put(tmp_path / "Protos", PROTO.replace("  Color color = 3;", "  reserved 3;"))
    assert run(script, "--write", "--major") == 1
    put(tmp_path / "Protos", PROTO.replace("  Color color = 3;", "  reserved 3;"), "2.0")
    assert run(script, "--write") == 0
    assert '"declared": true' in copy.read_text()


def test_a_state_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for arguments, status in ((["nothing", "Protos"], 2), ([str(tmp_path), "Protos"], 2), (["one"], 2), (["--check", "--major"], 2)):
        done = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (status, ""), done
        assert done.stderr


@pytest.mark.skipif(not shutil.which("git") or not (ROOT / ".git").exists(), reason="no commits here")
def test_a_commit_is_a_state() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "HEAD", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_fields_whose_limits_are_negotiated_exist(script: ModuleType) -> None:
    values: Any = script
    values.ROOT = ROOT
    state = values.read(ROOT / "Protos")
    for name in values.NEGOTIATED:
        message, field = name.split(".")
        assert field in state["messages"][message]["fields"], name
    named = set(values.NEGOTIATED.values())
    assert named <= set(state["messages"]["NegotiatedLimits"]["fields"])
