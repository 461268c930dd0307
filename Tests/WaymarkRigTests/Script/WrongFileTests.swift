import Foundation
import Testing
import WaymarkRig
import WaymarkScenario

/// The files of Tests/RigCases/wrong, by which mistake they have: an error says where it is, what the cause is, and what is right.
@Suite struct WrongFileTests {
    /// The errors of a file, without its name.
    private static func errors(_ name: String) -> [String] {
        let path = Repository.root.appending(path: "Tests/RigCases/wrong/\(name).scenario.yaml").path
        var reader = ScenarioInputReader()
        _ = reader.read(path, name: "f") { $0.obstacles(.virtual) }
        return reader.errors.map { String($0.dropFirst(2)) }
    }

    @Test(arguments: [
        ("01-typo-key", ["2:1: unknown key rout in the scenario; did you mean route?"]),
        ("04-typo-enum", ["3:36: rightturn is not a value of next.type; did you mean rightTurn?"]),
        ("09-tabs", ["4:1: a tab cannot indent a line: use spaces"]),
        ("10-duplicate-key", ["3:1: the key route is there twice; first in line 2"]),
        ("11-wrong-type", ["3:8: steps must be a list of 1 to 1024"]),
        ("13-no-within", ["3:11: eventually needs within"]),
        (
            "17-yaml-flow",
            ["3:9: what begins here does not end: did not find expected ',' or '}' (line 4, column 1)"]
        ),
        ("19-vehicle-and-vehicles", ["4:1: the scenario has vehicle or vehicles, not both"]),
        ("21-lint-typo", ["4:9: LINT-RATE-FASTER is no lint rule; did you mean LINT-RATE-FAST?"]),
        (
            "24-many-errors",
            [
                "2:1: unknown key rout in the scenario; did you mean route?",
                "3:1: unknown key vehicel in the scenario; did you mean vehicle or vehicles?",
                "5:5: unknown key att in a step; did you mean at?",
                "6:11: unknown key requst in do; did you mean request?",
                "7:15: unknown key evntually in expect; did you mean eventually?",
                "7:43: unknown key withn in expect; did you mean within?",
            ]
        ),
        ("25-stray-comma-range", ["3:40: next.distance: a range has two points: 80m..120m"]),
        ("27-bom-crlf-valid", []),
        ("28-not-utf8", ["1:9: the file is not valid UTF-8"]),
        ("30-lanes-zero", ["3:44: lanes.highlighted counts from 1, from the left: there is no 0"]),
    ])
    func `an error says where and what`(_ name: String, _ expected: [String]) {
        #expect(Self.errors(name) == expected)
    }
}
