import Foundation
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkProtocol
import WaymarkTransport

/// Docs/protocol.md has everything that a peer must know: a type, code or limit that is added here and not there fails.
@Suite struct ProtocolPageTests {
    static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: Self.package.appending(path: path), encoding: .utf8)
    }

    /// The cells of every table row of the page, by the heading above it.
    static func rows(under heading: String) throws -> [[String]] {
        let page = try Self.text("Docs/protocol.md")
        let start = try #require(page.range(of: "\n## \(heading)\n"), "no section \(heading)")
        let section = page[start.upperBound...]
        let end = section.range(of: "\n## ")?.lowerBound ?? section.endIndex
        return section[..<end].split(separator: "\n").filter { $0.hasPrefix("|") }
            .map { row in
                row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
            .filter { $0.first?.hasPrefix("---") == false }
    }

    /// The values of an enumeration in the protos, but 0: number and name without prefix.
    static func values(of enumeration: String, prefix: String) throws -> [UInt32: String] {
        let proto = try Self.text("Protos/waymark/v1/connection.proto")
        let body = try #require(proto.split(separator: "enum \(enumeration) {").dropFirst().first)
        var values: [UInt32: String] = [:]
        for match in body.prefix(while: { $0 != "}" }).matches(of: /([A-Z_0-9]+) = ([1-9][0-9]*);/) {
            values[try #require(UInt32(match.2))] = String(match.1.dropFirst(prefix.count))
        }
        return values
    }

    @Test func `every message type is in the table with its number, and no other`() throws {
        let expected = MessageType.allCases.map { type in
            let name = "\(type)"
            let hex = String(type.rawValue, radix: 16, uppercase: true)
            return [
                "0x" + String(repeating: "0", count: 4 - hex.count) + hex,
                name.prefix(1).uppercased() + name.dropFirst(),
            ]
        }
        let rows = try Self.rows(under: "Message types").dropFirst().map { Array($0.prefix(2)) }
        #expect(Array(rows) == expected)
    }

    @Test func `every publication needs what the code has it need, and is the kind of its rule`() throws {
        let features = try Self.values(of: "Feature", prefix: "FEATURE_")
        let rows = try Self.rows(under: "Message types").filter {
            $0[2].hasPrefix("client → gateway → endpoints")
        }
        let expected =
            PublicationRule.table.map { rule in
                let needs = rule.feature.flatMap { features[$0.rawValue] }
                return [needs ?? (rule.adds == .wholeRoute ? "by content" : ""), Self.kind(of: rule)]
            } + [["its extension", "event or state by key"]]
        #expect(rows.map { Array($0[4...5]) } == expected)
    }

    @Test func `the rules of every publication are in the table as the code has them`() throws {
        let expected =
            PublicationRule.table.map { rule in
                let name = rule.type.map { "\($0)" } ?? ""
                return [
                    name.prefix(1).uppercased() + name.dropFirst(), Self.kind(of: rule),
                    Self.phases(of: rule),
                    Self.generation(of: rule), Self.part(rule.adds), Self.part(rule.refersTo),
                    Self.voids(of: rule), Self.retention(of: rule), Self.fitting(of: rule),
                ]
            } + [
                [
                    "PublishExtension", "event or state by key", "any", "", "", "", "",
                    "states with RETAINED", "",
                ]
            ]
        #expect(try Self.rows(under: "Publications").dropFirst().map { $0 } == expected)
    }

    static func kind(of rule: PublicationRule) -> String {
        switch rule.kind {
        case .event: "event"
        case .state: "state"
        case .statePerManeuver: "state per maneuver"
        case .stateByKey: "state by key"
        }
    }

    static func phases(of rule: PublicationRule) -> String {
        switch rule.phases {
        case .any: "any"
        case .guided: "active, paused"
        case .paused: "paused"
        }
    }

    static func generation(of rule: PublicationRule) -> String {
        switch rule.generation {
        case .none: ""
        case .current: "current"
        case .new: "new"
        case .newWithRoute: "with a route new, else current"
        }
    }

    static func part(_ part: PublicationRule.RoutePart?) -> String {
        switch part {
        case .maneuvers: "maneuvers"
        case .laneGuidances: "lane guidances"
        case .segments: "segments"
        case .wholeRoute: "a route"
        case nil: ""
        }
    }

    static func voids(of rule: PublicationRule) -> String {
        let names: [(PublicationRule.Voids, String)] = [
            (.pause, "pause"), (.maneuverState, "maneuver state"), (.alert, "alert"),
            (.route, "the old route"), (.everything, "everything"),
        ]
        return names.filter { rule.voids.contains($0.0) }.map(\.1).joined(separator: ", ")
    }

    static func retention(of rule: PublicationRule) -> String {
        let kept =
            switch rule.retention {
            case .nothing: "no"
            case .newest: "the newest"
            case .all: "all"
            }
        return rule.isOfRoute ? kept + ", until a new route" : kept
    }

    static func fitting(of rule: PublicationRule) -> String {
        let names: [(PublicationRule.Fitting, String)] = [
            (.distanceUnits, "distance units"), (.maneuverSlots, "maneuver slots"),
            (.laneGuidanceSlots, "lane guidance slots"), (.roadNameLength, "length of road names"),
            (.content, "several, by content"),
        ]
        return names.filter { rule.fittedBy.contains($0.0) }.map(\.1).joined(separator: ", ")
    }

    @Test func `every error code is in the table with the name that the protos give it`() throws {
        let names = try Self.values(of: "ErrorCode", prefix: "ERROR_CODE_")
        let expected = ErrorCode.allCases.map { ["\($0.rawValue)", names[$0.rawValue] ?? ""] }
        #expect(try Self.rows(under: "Errors").dropFirst().map { Array($0.prefix(2)) } == expected)
    }

    @Test func `every close code is in the table, with whether to come back`() throws {
        let names = try Self.values(of: "CloseCode", prefix: "CLOSE_CODE_")
        let expected = CloseCode.allCases.map {
            ["\($0.rawValue)", names[$0.rawValue] ?? "", $0.reconnection.rawValue]
        }
        let rows = try Self.rows(under: "Close codes").dropFirst().map {
            [$0[0], $0[1], String($0[3].prefix { $0.isLetter })]
        }
        #expect(rows == expected)
    }

    @Test func `every code is sent or reserved on the page`() throws {
        let sources = try Self.codeThatSends()
        let sent = { (code: String) in
            sources.contains { $0.matches(of: /\.(\w+)/).contains { $0.1 == code } }
        }
        let reserved = try Self.rows(under: "Close codes").filter { $0[2].hasPrefix("Reserved") }.map {
            $0[0]
        }
        for code in CloseCode.allCases {
            #expect(sent("\(code)") != reserved.contains("\(code.rawValue)"), "\(code)")
        }
        for code in ErrorCode.allCases { #expect(sent("\(code)"), "\(code)") }
        for reason in WithheldReason.allCases { #expect(sent("\(reason)"), "\(reason)") }
        for reason in SessionEndReason.allCases { #expect(sent("\(reason)"), "\(reason)") }
    }

    /// The lines of the modules that decide about codes, but the patterns of their switches.
    private static func codeThatSends() throws -> [Substring] {
        try Self.lines(of: ["Gateway", "Connections", "Transport", "Protocol", "Codec", "Daemon", "Client"])
    }

    private static func lines(of modules: [String]) throws -> [Substring] {
        try modules.flatMap { module in
            let folder = "Sources/Waymark\(module)"
            let paths = try FileManager.default.subpathsOfDirectory(
                atPath: Self.package.appending(path: folder).path)
            return try paths.filter {
                $0.hasSuffix(".swift") && !["Codes.swift", "Messages/Endings.swift"].contains($0)
            }.flatMap {
                try Self.text("\(folder)/\($0)").replacing(/case \.[^:{]*:/, with: "").split(separator: "\n")
            }
        }
    }

    @Test func `every number that is part of the protocol is in the table`() throws {
        let rows = Set(try Self.rows(under: "Limits").map { Array($0.prefix(2)) })
        let constants = try Self.constants("Sources/WaymarkProtocol/Limits.swift")
        #expect(constants.count > 30)
        for (name, value) in constants { #expect(rows.contains([name, value]), "| \(name) | \(value) |") }
    }

    @Test func `every limit of the gateway is in the table with its default`() throws {
        let rows = Set(try Self.rows(under: "Limits").map { Array($0.prefix(2)) })
        let tables: [(prefix: String, limits: Any)] = [
            ("", ConnectionLimits()), ("", GatewayLimits()), ("outbox ", Outbox.Limits()),
            ("", RouteContent.Limits()), ("", ConnectionLedger.Limits()),
        ]
        for (prefix, limits) in tables {
            for (label, value) in Mirror(reflecting: limits).children where !(value is RouteContent.Limits) {
                let name = prefix + Self.words(try #require(label))
                let value = (value as? Duration).map(Self.seconds) ?? Self.grouped("\(value)")
                #expect(rows.contains([name, value]), "| \(name) | \(value) |")
            }
        }
        #expect(rows.contains(["memory bytes max", Self.grouped("\(BodyDecoder.memoryBytesMax)")]))
        let unknown = try Self.constants("Sources/WaymarkCodec/WireCheck.swift").map { [$0.name, $0.value] }
        #expect(!unknown.isEmpty && rows.isSuperset(of: unknown))
    }

    @Test func `every limit that a rejection names is in the table`() throws {
        let rows = Set(try Self.rows(under: "Limits").compactMap(\.first))
        // Those of the codec are names of fields, apart from two.
        let modules = ["Gateway", "Connections", "Transport", "Protocol", "Observation"]
        let names = try Self.lines(of: modules).flatMap { line in
            line.matches(of: /"([a-z_]+_max)"/).map { String($0.1) }
        }
        #expect(names.count > 25)
        for name in names + ["memory_bytes_max", "unknown_fields_max"] {
            #expect(rows.contains(name.replacing("_", with: " ")), "\(name)")
        }
        for kind in ["maneuvers", "lane guidances"] { #expect(rows.contains("\(kind) per session max")) }
    }

    /// The static constants of a source file, as the page writes them.
    static func constants(_ path: String) throws -> [(name: String, value: String)] {
        try Self.text(path).matches(of: /static let (\w+)(?:: [\w<>]+)? = (-?[0-9][-0-9_.]*)\n/).map {
            match in
            let bounds = match.2.replacing("_", with: "").split(separator: "...").map(String.init)
            return (Self.words(String(match.1)), bounds.map(Self.grouped).joined(separator: " ... "))
        }
    }

    /// `requestIDBytesMax` as "request id bytes max".
    static func words(_ name: String) -> String {
        name.replacing(/([a-z])([A-Z])/) { "\($0.1) \($0.2)" }.replacing(/([A-Z])([A-Z][a-z])/) {
            "\($0.1) \($0.2)"
        }.lowercased()
    }

    /// `-12000` as "-12 000".
    static func grouped(_ number: String) -> String {
        number.replacing(/\d(?=(\d{3})+$)/) { "\($0.0) " }
    }

    static func seconds(_ duration: Duration) -> String { "\(duration.components.seconds) s" }
}
