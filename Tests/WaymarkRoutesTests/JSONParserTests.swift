import Testing
import WaymarkRoutes

@Suite struct JSONParserTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

    @Test func `every kind of value is parsed`() throws {
        let value = try self.parse(
            " {\"a\": [1, -2.5, 1e3, 0, true, false, null], \"b\": {\"c\": \"d\"}, \"e\": [], \"f\": {}} \n")
        #expect(
            value
                == .object([
                    "a": .array([
                        .number(1), .number(-2.5), .number(1_000), .number(0), .bool(true), .bool(false),
                        .null,
                    ]), "b": .object(["c": .string("d")]), "e": .array([]), "f": .object([:]),
                ]))
    }

    @Test func `escapes are parsed and half a surrogate pair becomes a replacement character`() throws {
        #expect(
            try self.parse(#""\"\\\/\b\f\n\r\tä\u00e4\ud83d\ude97""#) == .string("\"\\/\u{8}\u{C}\n\r\tää🚗"))
        #expect(try self.parse(#""\ud83dx\ude97\ud83d\u0041""#) == .string("\u{FFFD}x\u{FFFD}\u{FFFD}A"))
    }

    @Test func `a byte order mark is skipped`() throws {
        #expect(try JSONParser.parse([0xEF, 0xBB, 0xBF] + Array("[1]".utf8)) == .array([.number(1)]))
    }

    @Test(arguments: [
        ("", 1, 1), ("[1,]", 1, 4), ("{\n  \"a\": 1,\n}", 3, 1), ("{a: 1}", 1, 2), ("[01]", 1, 3),
        ("[1.]", 1, 4),
        ("[-]", 1, 3), ("NaN", 1, 1), ("[1e999]", 1, 7), ("\"abc", 1, 5), ("[1] 2", 1, 5), ("[\n1\n2]", 3, 1),
        ("\"\\x\"", 1, 4), ("\"\\u12g4\"", 1, 6), ("\"a\nb\"", 1, 3), ("{\"a\" 1}", 1, 6), ("tru", 1, 1),
    ])
    func `an error has a line and a column`(_ text: String, _ line: Int, _ column: Int) {
        let error = #expect(throws: RouteReadingError.self) { try self.parse(text) }
        guard case .notJSON(let foundLine, let foundColumn, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((foundLine, foundColumn) == (line, column), "\(reason)")
        #expect(!reason.isEmpty)
    }

    @Test func `bytes that are not UTF-8 are rejected`() {
        #expect(throws: RouteReadingError.self) { try JSONParser.parse([0x22, 0xC3, 0x28, 0x22]) }
    }

    @Test func `deep nesting is rejected`() throws {
        let depth = JSONParser.depthMax
        let open = String(repeating: "[", count: depth)
        let close = String(repeating: "]", count: depth)
        _ = try self.parse(open + close)
        #expect(throws: RouteReadingError.self) { try self.parse("[" + open + close + "]") }
        #expect(throws: RouteReadingError.self) {
            try self.parse(String(repeating: "{\"a\":", count: 1_000_000))
        }
    }

    @Test func `a path is printed as members and indices`() {
        let node = JSONNode(.object(["routes": .array([.object(["legs": .array([.number(1)])])])]))
        let leg = node["routes"]?.elements?.first?["legs"]?.elements?.first
        #expect(leg?.path.description == "routes[0].legs[0]")
        #expect(node.path.description == "$")
        #expect(node["routes"]?["nothing"]?.path == nil)
    }
}
