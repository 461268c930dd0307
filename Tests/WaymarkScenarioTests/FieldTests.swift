import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkScenario

@Suite struct FieldTests {
    private static func error(_ path: String, _ place: FieldPath.Place = .state) -> String? {
        do throws(FieldError) {
            _ = try FieldPath(path, of: place)
            return nil
        } catch { return error.description }
    }

    private static func holds(_ literal: Literal, _ path: String, _ value: FieldValue?) throws -> Bool {
        try Condition(literal, for: FieldPath(path, of: .state)).holds(value)
    }

    @Test func `a condition names the key that does not exist`() {
        #expect(Self.error("trip.orign") == "unknown key orign of trip; did you mean origin?")
        #expect(Self.error("manuever") == "unknown key manuever of the state; did you mean maneuvers?")
        let estimates = FieldPath.Place.message(MessageType.updateTripEstimates.rawValue)
        #expect(
            Self.error("xyz", estimates)
                == "unknown key xyz of updateTripEstimates; it has session, sequence, fitted, more, fromGateway, "
                + "tripEstimates, timeRemainingColor")
        #expect(Self.error("tripEstimates.timeSeconds", estimates) == nil)
    }

    @Test(arguments: [
        "", ".", "trip.", "maneuvers[", "maneuvers[]", "maneuvers[-1]", "maneuvers[+1]", "maneuvers[1]x",
        "a b",
    ])
    func `what is no path is an error`(_ path: String) { #expect(Self.error(path) != nil) }

    @Test func `numbers have units`() throws {
        let near = FieldValue.number(300)
        #expect(try Self.holds(.text("<0.31km"), "next.distance", near))
        #expect(try Self.holds(.text("0.3km"), "next.distance", near))
        #expect(try !Self.holds(.text("<300"), "next.distance", near))
        #expect(try Self.holds(.text("200m..300m"), "next.distance", near))
        #expect(try Self.holds(.text(">= 4min"), "next.time", near))
        #expect(try Self.holds(.text("!=299"), "next.distance", near))
        #expect(throws: FieldError.self) { try Self.holds(.text("<3s"), "next.distance", near) }
        #expect(throws: FieldError.self) { try Self.holds(.text("<"), "next.distance", near) }
    }

    @Test func `what is absent fulfils null and what is not equal, and nothing else`() throws {
        #expect(try Self.holds(.null, "next.distance", nil))
        #expect(
            try Self.holds(.null, "currentRoadName", .list(FieldElements(elements: [String]()) { .text($0) }))
        )
        #expect(try Self.holds(.text("!=5"), "next.distance", nil))
        for text in ["<5", ">=0", "0..9", "5"] { #expect(try !Self.holds(.text(text), "next.distance", nil)) }
        #expect(try !Self.holds(.text("~."), "client", nil))
    }

    @Test func `a value that this build does not know has its number as name`() throws {
        let type = ManeuverType(rawValue: 99)
        let vocabulary = Vocabulary(of: ManeuverType.self)
        let value = FieldValue.word(type.rawValue, vocabulary)
        #expect(try Self.holds(.text("99"), "next.type", value))
        #expect(try Self.holds(.number(99), "next.type", value))
        #expect(try FieldPath("next.type", of: .state).text(value) == "99")
    }

    @Test(arguments: [
        ("a", "xay", true), ("^a", "xay", false), ("^x.y$", "xay", true), ("x.y", "x\ny", false),
        ("a|b", "cb", true), ("^(ab)+$", "ababab", true), ("^(ab)+$", "aba", false), ("^a?b*$", "abb", true),
        ("^[a-c]+$", "abcab", true), ("[^a-c]", "abc", false), ("\\d\\d:\\d\\d", "at 12:30", true),
        ("\\w\\s\\w", "ab", false),
        ("\\.", "a", false), ("\\.", "a.b", true), ("[]x]", "]", true), ("^$", "", true),
        ("", "anything", true),
        ("ü", "Süd", true), ("(a*)*b", String(repeating: "a", count: 2_000), false),
    ])
    func `regular expressions`(_ pattern: String, _ text: String, _ isFound: Bool) throws {
        #expect(try TextPattern(pattern).isFound(in: text) == isFound)
    }

    private static let grouped: [(pattern: String, text: String, values: [String: String]?)] = [
        ("(?<a>b+)(?<c>b?)", "abbb", ["a": "bbb", "c": ""]), ("(?<a>x)|(?<b>y)", "y", ["b": "y"]),
        ("in (?<meters>\\d+) m", "next in 120 m", ["meters": "120"]), ("(?<a>b)", "c", nil),
        ("(?<a>a|ab)(?<b>c|bcd)", "abcd", ["a": "a", "b": "bcd"]), ("a", "a", [:]),
        ("((?<last>[a-z]) ?)+", "a b c", ["last": "c"]),
    ]

    @Test(arguments: Self.grouped)
    func `named groups`(_ pattern: String, _ text: String, _ values: [String: String]?) throws {
        #expect(try TextPattern(pattern).values(in: text) == values)
    }

    @Test(arguments: ["(?<a>b)(?<a>c)", "(?<>b)", "(?<1>b)", "(?<a", "(?P<a>b)", "(?<ü>b)"])
    func `a group needs a name of its own`(_ pattern: String) {
        #expect(throws: FieldError.self) { try TextPattern(pattern) }
    }

    @Test(arguments: [
        "(", ")", "[a", "a{2}", "*a", "(?=a)", "\\q", "[z-a]", "\\", String(repeating: "(", count: 20),
        String(repeating: "a", count: 513),
    ])
    func `what is no regular expression is an error`(_ pattern: String) {
        #expect(throws: FieldError.self) { try TextPattern(pattern) }
    }

    @Test func `a long pattern takes time in proportion`() throws {
        let nested = String(repeating: "(", count: 15) + "a" + String(repeating: ")+", count: 15) + "b"
        #expect(try !TextPattern(nested).isFound(in: String(repeating: "a", count: 1_000)))
        let groups = try TextPattern("(?<a>(a+)+)(?<b>a*)*b")
        #expect(groups.values(in: String(repeating: "a", count: 4_096)) == nil)
    }
}
