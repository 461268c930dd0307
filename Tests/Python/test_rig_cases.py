"""The cases of Tests/RigCases, judged by the JSON Schema of scenarios; the reader of scenarios is held to the same table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "Sources/WaymarkCommandLine/Resources/scenarios"
SCHEMA = SCHEMAS / "scenario.schema.json"


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file."""
    found: list[dict[str, Any]] = json.loads((ROOT / "Tests/RigCases" / name).read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    content = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(content)
    return jsonschema.Draft202012Validator(content)


def test_the_schema_accepts_the_right_documents_and_no_others(schema: jsonschema.Draft202012Validator) -> None:
    found = cases("scenarios.json")
    assert len(found) >= 200
    wrong = [case["name"] for case in found if schema.is_valid(case["document"]) != case.get("schema", case["valid"])]
    assert wrong == []


def test_the_schema_accepts_the_scenarios_of_the_words(schema: jsonschema.Draft202012Validator) -> None:
    for case in cases("words.json"):
        document: dict[str, Any] = {"route": "a"}
        document |= {key: case[key] for key in ("expect", "steps", "ended") if key in case}
        schema.validate(document)


@pytest.mark.parametrize("folder", [SCHEMAS, ROOT / "Tests/RigCases", ROOT / "Docs"], ids=lambda each: each.name)
def test_the_schema_accepts_the_scenarios_that_ship(folder: Path, schema: jsonschema.Draft202012Validator) -> None:
    files = [each for each in folder.rglob("*.scenario.yaml") if each.parent.name != "wrong"]
    assert files
    for file in files:
        schema.validate(YAML(typ="safe", pure=True).load(file))


def test_editors_complete_the_keys_and_words_of_conditions() -> None:
    definitions = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]

    def completed(fields: str, key: str) -> dict[str, Any]:
        found: dict[str, Any] = definitions[definitions[fields]["properties"][key]["$ref"].removeprefix("#/$defs/")]
        return found

    assert "rightTurn" in completed("state", "next.type")["anyOf"][0]["enum"]
    assert "rightTurn" in completed("fields-of-addManeuvers", "maneuvers[0].type")["anyOf"][0]["enum"]
    assert completed("state", "connected")["type"] == ["boolean", "null"]
    for name, fields in definitions.items():
        for key, value in fields.get("properties", {}).items() if "patternProperties" in fields else ():
            assert [of for pattern, of in fields["patternProperties"].items() if re.search(pattern, key)] == [value], f"{name} {key}"


def test_the_schema_of_faults_accepts_the_right_files_and_no_others() -> None:
    content = json.loads((SCHEMAS / "faults.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(content)
    schema = jsonschema.Draft202012Validator(content)
    found = cases("faults.json")
    assert len(found) >= 100
    wrong = [case["name"] for case in found if schema.is_valid(case["document"]) != case.get("schema", case["valid"])]
    assert wrong == []
