import Foundation
import Testing
import WaymarkTexts

@testable import WaymarkInspector

@Suite struct AnswerEncoderTests {
    private struct Row: Encodable {
        let id: Int
        let at: Double
        var name: String?
        var isNew: Bool?
        var points: [[Double]]?
        var part: JSONPart?
        var rows: [Row]?
        var times: [String: [String: Double]]?
    }

    private static func text(_ answer: some Encodable) -> String {
        String(decoding: JSON.data(of: answer), as: UTF8.self)
    }

    @Test func `an answer is the text of the dictionary that it stands for`() {
        let row = Row(
            id: 1, at: 2, name: "a/b", isNew: false, points: [[1, 2.5], []], part: JSONPart(7),
            rows: [Row(id: 3, at: 0.1), Row(id: 4, at: 1e-9, part: JSONPart([["x": true]]))],
            times: ["dut": ["at": 3], "other": [:]])
        let object: [String: Any] = [
            "id": 1, "at": 2.0, "name": "a/b", "isNew": false, "points": [[1, 2.5], [Double]()], "part": 7,
            "rows": [
                ["id": 3, "at": 0.1] as [String: Any],
                ["id": 4, "at": 1e-9, "part": [["x": true]]] as [String: Any],
            ], "times": ["dut": ["at": 3.0], "other": [:]],
        ]
        #expect(Self.text(row) == String(decoding: JSON.data(object), as: UTF8.self))
    }

    @Test func `what has no value is absent`() {
        #expect(JSON.members(of: Row(id: 1, at: 2)).keys.sorted() == ["at", "id"])
        #expect(Self.text(Row(id: 1, at: 2, rows: [])) == #"{"at":2,"id":1,"rows":[]}"#)
    }

    @Test func `of two objects as one the second one's members count`() {
        let part = JSONPart(["id": 9, "kind": "frame"] as [String: Any])
        #expect(Self.text(Joined(part, Row(id: 1, at: 2))) == #"{"at":2,"id":1,"kind":"frame"}"#)
        #expect(Self.text(Joined(Row(id: 1, at: 2), part)) == #"{"at":2,"id":9,"kind":"frame"}"#)
    }
}
