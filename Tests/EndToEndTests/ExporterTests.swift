import Foundation
import Testing

#if Inspector
    private let hasServer = true
#else
    private let hasServer = false
#endif

/// `waymark exporter` between the programs. scripts/check/monitoring.py has Prometheus itself.
@Suite(.timeLimit(.minutes(5))) struct ExporterTests {
    /// The answer to `GET /metrics` at `127.0.0.1:PORT`.
    private func scrape(_ address: String) async throws -> [String] {
        let (host, port) = ("127.0.0.1", address.split(separator: ":")[1])
        let request = "GET /metrics HTTP/1.1\\r\\nHost: \(address)\\r\\nConnection: close\\r\\n\\r\\n"
        // `cat` ends with the response, because the server closes the connection.
        let client = try Program(command: [
            "bash", "-c", "exec 3<>/dev/tcp/\(host)/\(port) && printf '\(request)' >&3 && timeout 60 cat <&3",
        ])
        try await client.line { $0.hasPrefix("waymark_up ") ? $0 : nil }
        client.signal(SIGKILL)
        return client.lines
    }

    @Test(.enabled(if: hasServer, "built without Inspector: there is no HTTP server"))
    func `the exporter serves the daemon's counters, also after the daemon has gone, until it is ended`()
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let exporter = try Program(
            "waymark", ["exporter", "--connect", daemon.observer, "--listen", "127.0.0.1:0"])
        let address = try await exporter.line { line in
            line.firstMatch(of: /at http:\/\/(127\.0\.0\.1:\d+)\/metrics/).map { String($0.1) }
        }
        #expect(try await self.scrape(address).contains("waymark_up 1"))
        try await exporter.errorLine { $0.contains("answers") ? $0 : nil }
        daemon.program.signal(SIGTERM)
        #expect(await daemon.program.end() == 0)
        // Values of a moment ago may be served once more.
        while try await !self.scrape(address).contains("waymark_up 0") {}
        try await exporter.errorLine { $0.contains("no counters: ") ? $0 : nil }
        exporter.signal(SIGTERM)
        #expect(await exporter.end() == 0)
    }

    @Test(arguments: ["0.0.0.0:9727", "localhost:9727", "9727", "unix:relative"])
    func `an address that other machines may reach is refused`(_ address: String) async throws {
        let exporter = try Program("waymark", ["exporter", "--listen", address])
        try await exporter.errorLine { $0.contains("--listen \(address): ") ? $0 : nil }
        #expect(await exporter.end() == 64)
    }
}
