import Foundation
import Testing

/// `waymark proxy` between the programs.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    /// A proxy in front of both sockets of a daemon.
    private struct RunningProxy {
        let program: Program
        let vehicle: String
        let navigation: String
        var control: String { "\(self.folder)/control" }
        private let folder: String

        init(_ daemon: RunningDaemon, faults: String? = nil, _ arguments: String...) async throws {
            self.folder = daemon.folder
            var all = [
                "proxy", "--listen", "tcp:127.0.0.1:0", "--to", daemon.vehicle, "--listen",
                "unix:\(daemon.folder)/pn", "--to", daemon.navigation, "--control",
                "\(daemon.folder)/control",
            ]
            if let faults {
                let file = "\(daemon.folder)/faults.yaml"
                try faults.write(toFile: file, atomically: true, encoding: .utf8)
                all += ["--faults", file]
            }
            self.program = try Program("waymark", all + arguments)
            self.vehicle = try await self.program.line { line in
                line.firstMatch(of: /tcp:127\.0\.0\.1:\d+/).map { String($0.0) }
            }
            self.navigation = "unix:\(daemon.folder)/pn"
        }

        func stop() async throws -> String {
            self.program.signal(SIGTERM)
            #expect(await self.program.end() == 0)
            #expect(!FileManager.default.fileExists(atPath: self.control))
            // Long lines are broken and indented.
            return self.program.lines.map { $0.trimmingCharacters(in: .whitespaces) }
                .joined(separator: " ")
        }
    }

    private static let route = ProgramTests.route("vaduz-balzers")

    @Test func `a cluster that is cut within frames shows the whole drive, and the proxy says what it did`()
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let proxy = try await RunningProxy(
            daemon,
            faults: """
                faults:
                  - { link: car, kind: cut, at-byte: 17, times: 2, after: { message: updateManeuverEstimates, count: 3 } }
                  - { link: app, kind: delay, by: 5ms }
                """)
        let cluster = try Program(
            "waymark",
            [
                "cluster", "--id", "car", "--accept-prompts", "yes", "--json", "--until", "finished",
                "--connect", proxy.vehicle,
            ])
        let navigate = try Program(
            "waymark",
            [
                "navigate", "--vehicle", "car", "--id", "app", "--speed", "200", "--route", Self.route,
                "--connect", proxy.navigation,
            ])
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        let output = try await proxy.stop()
        #expect(output.matches(of: /car\/\S+: cut: the connection is reset/).count == 2)
        #expect(output.contains("app: delay: every frame is 5 ms late"))
        #expect(output.matches(of: /car\/\S+ \(\d+\) ended by a fault; \d+ bytes/).count == 2)
        #expect(output.contains("4 connections in ") && output.contains("cut 2, delay 1"))
        #expect(proxy.program.lines.allSatisfy { $0.count <= 80 })
        try await daemon.stop()
    }

    @Test func `--json prints an object for each connection, fault and end`() async throws {
        let daemon = try await RunningDaemon.start()
        let proxy = try await RunningProxy(
            daemon, faults: "faults: [{ link: '*', kind: refuse, times: 1 }]", "--json")
        let cluster = try Program(
            "waymark", ["cluster", "--id", "car", "--wait", "60", "--connect", proxy.vehicle])
        try await proxy.program.until("\"ended\"")
        try await proxy.program.until("\"connected\"")
        cluster.signal(SIGINT)
        await cluster.end()
        _ = try await proxy.stop()
        let objects = proxy.program.lines.map(ProgramTests.object)
        #expect(objects.allSatisfy { $0["time"] is String })
        let kinds = objects.compactMap { $0["kind"] as? String }
        #expect(kinds.prefix(5) == ["listening", "listening", "connected", "fault", "ended"])
        #expect(kinds.last == "proxy")
        #expect(objects[2]["peer"] as? String == "car/cluster")
        #expect(objects[3]["fault"] as? String == "refuse")
        #expect(objects[4]["reason"] as? String == "refused")
        #expect(objects.last?["connections"] as? Int ?? 0 >= 2)
        try await daemon.stop()
    }

    @Test func `a drive survives the death of its gateway behind a proxy`() async throws {
        let daemon = try await RunningDaemon.start()
        let proxy = try await RunningProxy(daemon)
        let cluster = try Program(
            "waymark", ["cluster", "--id", "car", "--wait", "60", "--connect", proxy.vehicle])
        try await proxy.program.line(containing: "car/cluster (1) connected")
        daemon.program.signal(SIGKILL)
        await daemon.program.end()
        try await proxy.program.line(containing: "the gateway cannot be reached")
        let again = try await RunningDaemon.start(in: daemon.folder)
        try await proxy.program.until("the gateway cannot be reached")
        try await proxy.program.until("car/cluster")
        cluster.signal(SIGINT)
        await cluster.end()
        _ = try await proxy.stop()
        try await again.stop()
    }

    @Test func `the same seed leads to the same faults at random, another seed to others`() async throws {
        /// The first faults on the connections of a cluster. Those of these kinds draw no random numbers for each frame, so which faults
        /// follow each other does not depend on what the peers send, and when.
        func faults(seed: String) async throws -> [String] {
            let daemon = try await RunningDaemon.start()
            let proxy = try await RunningProxy(
                daemon,
                faults: """
                    faults:
                      - { link: car, kind: chaos, every: 20ms, kinds: [delay, slice, throttle], for: 8760h }
                    """, "--json", "--seed", seed)
            let cluster = try Program(
                "waymark", ["cluster", "--id", "car", "--wait", "60", "--connect", proxy.vehicle])
            for _ in 0...10 { try await proxy.program.until("\"fault\"") }
            cluster.signal(SIGINT)
            await cluster.end()
            _ = try await proxy.stop()
            try await daemon.stop()
            return proxy.program.lines.map(ProgramTests.object)
                .filter { $0["kind"] as? String == "fault" && $0["fault"] as? String != "chaos" }
                .prefix(10).compactMap { object in
                    guard let fault = object["fault"] as? String, let text = object["text"] as? String else {
                        return nil
                    }
                    return "\(fault): \(text)"
                }
        }
        let first = try await faults(seed: "7")
        #expect(first.count == 10)
        #expect(try await faults(seed: "7") == first)
        #expect(try await faults(seed: "8") != first)
    }

    @Test func `what is wrong is said before it listens`() async throws {
        let folder = try RunningDaemon.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = "\(folder)/f.yaml"
        try "faults:\n  - { link: app, kind: delya }\n".write(toFile: file, atomically: true, encoding: .utf8)
        let arguments = ["proxy", "--listen", "tcp:127.0.0.1:0", "--to", "tcp:127.0.0.1:1"]
        let wrong = try Program("waymark", arguments + ["--faults", file])
        #expect(await wrong.end() == 1)
        #expect(wrong.lines == [])
        try await wrong.errorLine {
            $0.hasSuffix("f.yaml:2:24: delya is no value of kind; did you mean delay?") ? $0 : nil
        }
        let unpaired = try Program("waymark", arguments + ["--listen", "tcp:127.0.0.1:0"])
        #expect(await unpaired.end() == 64)
        try await unpaired.errorLine { $0.contains("each --listen needs a --to") ? $0 : nil }
        let circle = try Program("waymark", ["proxy", "--listen", "unix:/a", "--to", "unix:/a"])
        #expect(await circle.end() == 64)
        let schema = try Program("waymark", ["proxy", "--schema"])
        #expect(await schema.end() == 0)
        #expect(schema.lines.contains { $0.contains("Faults of waymark proxy") })
    }

    @Test func `a control socket in use is an error, and an interrupt ends with a summary`() async throws {
        let daemon = try await RunningDaemon.start()
        let proxy = try await RunningProxy(daemon)
        let second = try Program(
            "waymark",
            [
                "proxy", "--listen", "tcp:127.0.0.1:0", "--to", daemon.vehicle, "--control", proxy.control,
            ])
        #expect(await second.end() == 1)
        try await second.errorLine { $0.contains("another process listens on") ? $0 : nil }
        proxy.program.signal(SIGINT)
        #expect(await proxy.program.end() == 0)
        #expect(proxy.program.lines.joined(separator: " ").contains("0 connections in "))
        try await daemon.stop()
    }
}
