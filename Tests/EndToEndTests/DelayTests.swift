import Foundation
import Testing

/// How long publications take to the display of a real cluster.
@Suite(.timeLimit(.minutes(5))) struct DelayTests {
    @Test func `status says how long publications took to the display of a client that wants receipts`()
        async throws
    {
        let daemon = try await RunningDaemon.observed()
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--states", "none")
        try await cluster.line(containing: "connected")
        let client = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "20", "--receipts", "0.1", "--route",
            ProgramTests.route("vaduz-balzers"))
        let delays = try await Self.delays(daemon)
        for key in ["receivedDelays", "shownDelays"] {
            let counts = try #require(delays[key] as? [String: Any])
            let byBound = try #require(counts["counts"] as? [String: Int])
            #expect(byBound.values.reduce(0, +) == counts["count"] as? Int)
            let last = try #require(counts["lastMicroseconds"] as? Int)
            let mean = try #require(counts["meanMicroseconds"] as? Int)
            // A busy machine may take long, but not an hour, which another clock may be off by.
            #expect((0...60_000_000).contains(last) && (0...60_000_000).contains(mean))
        }
        #expect(delays["roundTripMicroseconds"] as? Int != nil)
        let table = try daemon.waymark("status", "--interval", "0")
        #expect(await table.end() == 0)
        // The notes are cut where the table is 80 columns wide.
        #expect(table.lines.contains { $0.contains("shown in") })
        client.signal(SIGINT)
        await client.end()
        cluster.signal(SIGTERM)
        await cluster.end()
        try await daemon.stop()
    }

    /// What `waymark status` says of the only endpoint, once five numbers were shown.
    private static func delays(_ daemon: RunningDaemon) async throws -> [String: Any] {
        for _ in 0..<600 {
            let status = try daemon.waymark("status", "--json", "--interval", "0")
            #expect(await status.end() == 0)
            let object = ProgramTests.object(try #require(status.lines.first))
            let vehicle = (object["vehicles"] as? [[String: Any]])?.first
            let endpoint = (vehicle?["endpoints"] as? [[String: Any]])?.first
            let shown = endpoint?["shownDelays"] as? [String: Any]
            if let endpoint, let count = shown?["count"] as? Int, count >= 5 { return endpoint }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("no delays were measured")
        return [:]
    }
}
