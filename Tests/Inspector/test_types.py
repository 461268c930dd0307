"""The script that makes the page's types from the structures of answers."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/generate"))

import answers

STRUCTURES = """\
extension Answer {
    /// A row.
    struct Row: Encodable {
        let id: Int
        /// The name,
        /// if it has one.
        var name: String?
        var rest: [Joined<JSONPart, Rest>]?
    }

    // MARK: The rest

    struct Rest: Encodable, Equatable {
        let times: [String: Double]
        let points: [[Double]]
        let value: JSONPart
        var row: Joined<Row, Rest>?
    }
}
"""


def structures(folder: Path, text: str) -> list[answers.Structure]:
    file = folder / "Answers.swift"
    file.write_text(text)
    return answers.read(file)


def test_structures_become_interfaces(tmp_path: Path) -> None:
    made = answers.types(structures(tmp_path, STRUCTURES))
    assert (
        made.removeprefix(answers.HEADER)
        == """
\t/** A row. */
\tinterface Row {
\t\tid: number;
\t\t/** The name, if it has one. */
\t\tname?: string;
\t\trest?: (Members & Rest)[];
\t}

\tinterface Rest {
\t\ttimes: { [name: string]: number };
\t\tpoints: number[][];
\t\tvalue: any;
\t\trow?: Row & Rest;
\t}
}
"""
    )


@pytest.mark.parametrize(
    "line",
    [
        "let id: Int = 3",
        "let (a, b): (Int, Int)",
        "lazy var name: String?",
        "private enum CodingKeys: String, CodingKey { case id }",
        "func encode(to encoder: any Encoder) throws {}",
        "let id: Int; let name: String",
        "struct Inner: Encodable {",
    ],
)
def test_a_line_that_is_no_property_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(SystemExit, match=r"Answers\.swift:4: not understood"):
        structures(tmp_path, STRUCTURES.replace("let id: Int", line, 1))


@pytest.mark.parametrize("swift", ["UInt32", "[Missing]", "Joined<Row, Missing>", "[Int: String]", "Int??"])
def test_a_type_without_a_counterpart_is_refused(tmp_path: Path, swift: str) -> None:
    with pytest.raises(SystemExit, match="not understood"):
        answers.types(structures(tmp_path, STRUCTURES.replace("let id: Int", f"let id: {swift}", 1)))
