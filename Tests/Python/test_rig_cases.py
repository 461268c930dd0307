"""The cases of Tests/RigCases, judged by the JSON Schema of scenarios; the reader of scenarios is held to the same table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

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


def test_the_schema_of_faults_accepts_the_right_files_and_no_others() -> None:
    content = json.loads((SCHEMAS / "faults.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(content)
    schema = jsonschema.Draft202012Validator(content)
    found = cases("faults.json")
    assert len(found) >= 100
    wrong = [case["name"] for case in found if schema.is_valid(case["document"]) != case.get("schema", case["valid"])]
    assert wrong == []
