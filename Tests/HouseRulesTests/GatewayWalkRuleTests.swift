import Foundation
import Testing

@Suite struct GatewayWalkRuleTests {
    /// Where all of something may be walked: for handovers, tests, and when the operator has changed the access rules.
    private static let allowed = [
        "GatewayState.swift", "Holdings.swift", "GatewayIndex.swift", "Authorisation.swift",
    ]

    @Test func `no message makes the gateway walk all vehicles, clients, sessions, peers or requests`() throws
    {
        let tables = "(vehicles|clients|sessions|endedSessions|peers|requests)"
        let walks = [
            "self\\.\(tables)\\.(values|keys)\\b(?!\\[|\\.index|\\.withValue)",
            "self\\.\(tables)\\.(sorted|filter|map|compactMap|flatMap|mapValues|first|last|min|max|reduce|forEach|lazy|allSatisfy|contains)\\b",
            "\\bin self\\.\(tables) ",
        ]
        for file in try sources(of: "WaymarkGateway") where !Self.allowed.contains(file.lastPathComponent) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for walk in walks {
                for match in text.matches(of: try Regex(walk)) {
                    let line = text[match.range.lowerBound...].prefix { $0 != "\n" }
                    // The connections of all peers are listed for the driver, which is shutting down or handing over.
                    if line.hasPrefix("self.peers.keys }") { continue }
                    Issue.record("\(file.lastPathComponent): \(line)")
                }
            }
        }
    }
}
