import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRoutes

/// Answers that are broken by accident or on purpose give an error or a valid route, never a crash.
@Suite struct HostileRouteTests {
    private static let samples: [RouteFile] = {
        let small = [
            "docs-route.json", "tunnel-offramp-geojson.json", "berlin-a100.json", "osrm-zero-length.json",
        ]
        return RouteFile.shipped + small.compactMap { RouteFile.named($0) }
    }()

    /// Reads an answer and drives its routes.
    private static func survive(_ bytes: [UInt8]) {
        do throws(RouteReadingError) {
            for route in try RouteReader.read(bytes).routes {
                Promises.check(route)
                var drive = Drive(route: route)
                var changes: [DriveChange] = []
                for hours in [0, 1, 1_000_000] { drive.advance(to: .seconds(3_600 * hours), into: &changes) }
                #expect(!route.geoJSON.isEmpty && !route.gpx.isEmpty)
            }
        } catch {
            #expect(!"\(error)".isEmpty)
        }
    }

    @Test(arguments: samples)
    func `a truncated answer is never read as a route`(_ file: RouteFile) throws {
        let bytes = try file.bytes()
        let body = bytes.lastIndex(of: UInt8(ascii: "}")) ?? bytes.count
        for end in stride(from: 0, through: body, by: max(1, body / 50)) {
            #expect(throws: RouteReadingError.self) { try RouteReader.read(Array(bytes[..<end])) }
        }
    }

    @Test(arguments: 0..<80)
    func `changed bytes do not crash the reader`(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let file = try #require(Self.samples.randomElement(using: &random))
        var bytes = try file.bytes()
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: bytes[place...].prefix(9), at: place)
            default: bytes[place] = Array("0123456789-.eE{}[]\",:".utf8).randomElement(using: &random) ?? 0
            }
        }
        Self.survive(bytes)
    }

    @Test(arguments: 0..<120)
    func `changed values do not crash the reader`(_ seed: Int) throws {
        var random = SeededRandom(seed: 1_000 + UInt64(seed))
        let file = try #require(Self.samples.randomElement(using: &random))
        var value = try JSONParser.parse(file.bytes())
        for _ in 0..<3 { value = Self.changed(value, depth: Int.random(in: 1...9, using: &random), &random) }
        Self.survive(Array(Self.text(value).utf8))
    }

    private static let strange: [JSONValue] = [
        .null, .bool(true), .number(0), .number(-1), .number(1e308), .number(-1e300),
        .number(.leastNonzeroMagnitude),
        .number(4_294_967_296), .number(0.5), .string(""), .string("uturn"), .string("\u{0}\u{7}x"),
        .array([]),
        .string(String(repeating: "ä", count: 9_000)), .string("_p~iF~ps|U_ulLnnqC"), .object([:]),
        .array([.null]),
        .array(Array(repeating: .number(7), count: 400)), .array(Array(repeating: .string("x"), count: 400)),
    ]

    private static func changed(_ value: JSONValue, depth: Int, _ random: inout SeededRandom) -> JSONValue {
        let strange = self.strange.randomElement(using: &random) ?? .null
        guard depth > 0 else { return strange }
        switch value {
        case .null, .bool, .number, .string: return strange
        case .array(var values):
            guard let index = values.indices.randomElement(using: &random) else { return strange }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: values.remove(at: index)
            case 1: values.insert(values[index], at: index)
            default: values[index] = self.changed(values[index], depth: depth - 1, &random)
            }
            return .array(values)
        case .object(var members):
            guard let name = members.keys.sorted().randomElement(using: &random) else { return strange }
            if Int.random(in: 0..<8, using: &random) == 0 {
                members[name] = nil
            } else {
                members[name] = members[name].map { self.changed($0, depth: depth - 1, &random) }
            }
            return .object(members)
        }
    }

    static func text(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let number): "\(number)"
        case .string(let string): self.quoted(string)
        case .array(let values): "[\(values.map(self.text).joined(separator: ","))]"
        case .object(let members):
            "{\(members.map { "\(self.quoted($0)):\(self.text($1))" }.joined(separator: ","))}"
        }
    }

    private static func quoted(_ string: String) -> String {
        let scalars = string.unicodeScalars.map { scalar in
            scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
                ? "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16) : String(scalar)
        }
        return "\"\(scalars.joined())\""
    }

    @Test(arguments: [
        "", " ", "null", "[]", "{}", "7", "\"routes\"", "{\"routes\":null}", "{\"routes\":[]}",
        "{\"routes\":{}}",
        "{\"routes\":[{}]}", "{\"routes\":[{\"legs\":[]}]}", "{\"routes\":[{\"legs\":[{}]}]}",
        "{\"routes\":[{\"legs\":[{\"steps\":[{}]}]}]}", "{\"trip\":{}}", "{\"trip\":7}",
        "{\"trip\":{\"legs\":[{}]}}",
        "{\"trip\":{\"legs\":[{\"shape\":\"\",\"maneuvers\":[{}]}]}}", "{\"paths\":[{\"points\":\"\"}]}",
        "{\"paths\":[{\"points\":\"??\",\"instructions\":[]}]}", "{\"legs\":[]}", "{\"hello\":\"world\"}",
        "{\"code\":\"Ok\"}", "{\"message\":\"Not Authorized - Invalid Token\"}", "<html></html>",
    ])
    func `unsupported and empty answers are rejected with a reason`(_ text: String) {
        let error = #expect(throws: RouteReadingError.self) { try RouteReader.read(Array(text.utf8)) }
        #expect((error.map { "\($0)" } ?? "").count > 10)
    }

    @Test func `an error of the reader names the path`() {
        let text = """
            {"routes":[{"legs":[{"steps":[{"maneuver":{"type":"depart","location":[1,2]},"geometry":"_p iF"}]}]}]}
            """
        #expect(
            throws: RouteReadingError.invalid(
                path: "routes[0].legs[0].steps[0].geometry",
                reason: "byte 2 of the polyline is none of a polyline")
        ) { try RouteReader.read(Array(text.utf8)) }
    }

    @Test func `an answer with too many bytes is rejected before it is parsed`() {
        var options = RouteReadingOptions()
        options.bytesMax = 10
        #expect(throws: RouteReadingError.tooLarge(bytes: 11, bytesMax: 10)) {
            try RouteReader.read(Array(repeating: 0x20, count: 11), options: options)
        }
    }
}
