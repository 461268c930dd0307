import Testing

@testable import WaymarkInspector

@Suite struct InspectorQueryTests {
    @Test func `a query is percent-encoded, and has each parameter once`() throws {
        let query = try InspectorQuery("search=H%C3%B6fle+1&limit=20")
        #expect(try query.text("search") == "Höfle 1")
        #expect(try query.limit == 20)
        #expect(throws: InspectorError(.invalid, field: "limit", "is given twice")) {
            try InspectorQuery("limit=1&limit=2")
        }
        #expect(throws: InspectorError.self) { try InspectorQuery("a=%FF") }
        #expect(throws: InspectorError.self) {
            try InspectorQuery("a=" + String(repeating: "x", count: 1_025))
        }
    }

    @Test func `a parameter that nothing asked for is refused, by a name without markup`() throws {
        let query = try InspectorQuery("%3Cscript%3E=1")
        #expect(throws: InspectorError(.invalid, field: "script", "is not one of id, at")) {
            try query.allow(["id", "at"])
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("63.25", 63_250_000_000), ("1.000000001", 1_000_000_001), ("7.5", 7_500_000_000),
        ] as [(String, UInt64)])
    func `seconds are read to the nanosecond`(_ text: String, _ nanoseconds: UInt64) throws {
        #expect(try InspectorQuery(["at": text]).nanoseconds("at") == nanoseconds)
    }

    @Test(arguments: ["-1", "1.", ".5", "1e3", "0x10", "1.0000000001", "315360001", "٣", "nan"])
    func `what is no number of seconds is refused`(_ text: String) throws {
        let query = InspectorQuery(["at": text])
        #expect(throws: InspectorError.self) { try query.nanoseconds("at") }
    }

    @Test(arguments: ["0", "501", "-1", "x", "1.5"])
    func `a limit is 1 to 500`(_ text: String) throws {
        let query = InspectorQuery(["limit": text])
        #expect(throws: InspectorError(.invalid, field: "limit", "must be a number from 1 to 500")) {
            try query.limit
        }
    }
}
