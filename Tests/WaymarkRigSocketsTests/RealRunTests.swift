import Foundation
import Testing
import WaymarkClient
import WaymarkConfiguration
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes
import WaymarkScenario

@testable import WaymarkRigSockets

/// Scenarios over sockets, with the `waymarkd` of this build.
@Suite(.timeLimit(.minutes(10))) struct RealRunTests {
    private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    static var options: RealRun.Options {
        var options = RealRun.Options()
        options.daemon = self.folder.appending(path: "waymarkd").path
        return options
    }

    private static func read(_ text: String) throws -> (Scenario, ScenarioInputs) {
        let scenario = try ScenarioReader.read(text, file: "test.scenario.yaml")
        #expect(scenario.obstacles(.real).map(\.description) == [])
        var inputs = ScenarioInputs()
        for reference in scenario.routes {
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../Sources/WaymarkCommandLine/Resources/routes/\(reference.text).json")
            inputs.routes[reference.text] = try RouteReader.read(Array(try Data(contentsOf: file)))
        }
        return (scenario, inputs)
    }

    private static func run(_ text: String, _ options: RealRun.Options = Self.options) async throws
        -> (result: ScenarioResult, history: History)
    {
        let (scenario, inputs) = try self.read(text)
        return await RealRun.run(scenario, inputs, options)
    }

    /// What failed, in words.
    private static func failures(_ result: ScenarioResult) -> [String] {
        var failures: [String] = result.problem.map { [$0] + result.gatewayLog } ?? []
        for expectation in result.expectations where !expectation.hasPassed {
            failures.append(expectation.explanation.joined(separator: "\n"))
        }
        for lint in result.lints { failures += lint.findings.map { "\(lint.rule) \($0.text)" } }
        return failures
    }

    /// Runs a file of Tests/RigCases.
    private static func runFile(_ name: String) async throws -> ScenarioResult {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../RigCases/\(name).scenario.yaml")
        return try await self.run(try String(contentsOf: file, encoding: .utf8)).result
    }

    @Test(arguments: [("batch-never", false), ("batch-step", true)])
    func `what arrives in the same read as a step's event comes behind it`(_ name: String, _ passes: Bool)
        async throws
    {
        #expect(try await Self.runFile(name).hasPassed == passes)
    }

    @Test(arguments: [
        ("never-connects", "dut/cluster did not connect"),
        ("crashes-at-once", "dut/cluster did not connect: the program ended with status 3"),
    ])
    func `a program that does not connect ends the run, and is the first cause`(
        _ name: String, _ cause: String
    ) async throws {
        let result = try await Self.runFile(name)
        #expect(!result.hasPassed && result.problem == nil)
        // Waiting for what was expected would take a minute.
        #expect(result.end - Instant(nanoseconds: 0) < .seconds(50))
        let lines = ScenarioText(result).lines
        let first = try #require(lines.firstIndex { $0.hasPrefix("  expected") || $0.contains("expected  ") })
        #expect(lines[first...(first + 2)].joined(separator: " ").contains(cause), "\(lines)")
    }

    @Test func `a program with another name does not connect, and the report says which`() async throws {
        let daemon = try #require(Self.options.daemon)
        let waymark = URL(filePath: daemon).deletingLastPathComponent().appending(path: "waymark").path
        let result = try await Self.run(
            """
            route: vaduz-balzers
            connect-within: 3s
            vehicle: { command: [\(waymark), cluster, "--connect", "{address}", --id, other] }
            expect: { eventually: { connected: true }, within: 1min }
            """
        ).result
        let text = ScenarioText(result).lines.joined(separator: " ").split(separator: " ").joined(
            separator: " ")
        #expect(
            text.contains("dut/cluster did not connect: a program says that it is other/cluster"), "\(text)")
    }

    private static let active = """
        route: vaduz-balzers
        at-most: 100s
        steps:
          - when: { state: { phase: active } }
            within: 60s

        """

    @Test func `a drive over sockets shows what was published, and its frames are in the history`()
        async throws
    {
        let (result, history) = try await Self.run(
            Self.active + "    expect: { holds-what-was-published: true, within: 30s }\n")
        #expect(Self.failures(result) == [])
        #expect(result.clock == .real)
        #expect(
            history.entries.contains {
                if case .frame(let crossed) = $0.kind {
                    crossed.frame.header.type == .startGuidance
                } else {
                    false
                }
            })
    }

    @Test func `a restart of the gateway closes no connection`() async throws {
        let (result, history) = try await Self.run(
            Self.active + """
                  - fault: { gateway: restart }
                    expect: { always: { connected: true, phase: active }, for: 2s }
                  - expect: { holds-what-was-published: true, within: 30s }

                """)
        #expect(Self.failures(result) == [])
        let ends = history.entries.count { if case .connection(_, .ended) = $0.kind { true } else { false } }
        #expect(ends == 0)
    }

    @Test func `a killed gateway is gone, comes back, and gets everything again`() async throws {
        let (result, _) = try await Self.run(
            Self.active + """
                  - fault: { gateway: kill, for: 300ms }
                    expect: { eventually: { shows: stale-or-none }, within: 10s }
                  - expect: { eventually: { shows: fresh }, within: 60s }
                  - expect: { holds-what-was-published: true, within: 30s }

                """)
        #expect(Self.failures(result) == [])
    }

    @Test func `a stopped gateway answers nothing until it continues`() async throws {
        let (result, _) = try await Self.run(
            Self.active + """
                  - fault: { gateway: stop, for: 1s }
                    expect: { never: { message: updateTripEstimates }, for: 500ms }
                  - expect: { holds-what-was-published: true, within: 30s }

                """)
        // What was under way when it stopped may still arrive.
        #expect(result.problem == nil)
        #expect(result.expectations.last?.hasPassed == true)
    }

    @Test func `faults act on links over sockets`() async throws {
        let (result, history) = try await Self.run(
            Self.active + """
                  - fault: { link: dut, kind: cut }
                    expect: { eventually: { resumed: true }, within: 60s }
                  - expect: { holds-what-was-published: true, within: 30s }

                """)
        #expect(Self.failures(result) == [])
        #expect(
            history.entries.contains {
                if case .fault(let fault) = $0.kind { fault.kind == "cut" } else { false }
            })
    }

    @Test func `what is sent while another peer connects is sent in its order`() async throws {
        let (scenario, inputs) = try Self.read(
            """
            route: vaduz-balzers
            at-most: 100s
            vehicles: { dut: {}, other: { connects: false } }
            clients: { app: { vehicles: [dut] } }
            steps:
              - when: { of: dut, state: { phase: active } }
                within: 60s
              - after: 100ms
              - when: { of: other, message: hello }
                within: 10s
              - after: 500ms

            """)
        let client = PeerID.client(ClientID(unchecked: "app"))
        let other = try #require(scenario.vehicles.last?.peers.first)
        @Sendable func show(_ id: UInt32) -> Publication {
            .showAlert(NavigationAlert(id: id, titleVariants: ["Jam"]))
        }
        let (result, history) = await RealRun.run(
            scenario, inputs, Self.options,
            code: [
                1: { run in
                    run.tell(other, .open)
                    run.change(client, as: RigClient.self) { $0.publish(show(1), at: $1, into: &$2) }
                },
                2: { run in
                    run.change(client, as: RigClient.self) { $0.publish(show(2), at: $1, into: &$2) }
                },
            ])
        #expect(Self.failures(result) == [])
        let alerts = history.entries.compactMap { entry -> UInt32? in
            guard case .frame(let crossed) = entry.kind, crossed.way == .toPeer,
                case .publication(.showAlert(let alert)) = crossed.message
            else { return nil }
            return alert.id
        }
        #expect(alerts == [1, 2])
    }

    // MARK: Programs

    private static func program(_ command: String) -> String {
        "\(self.active)vehicle: { command: \(command) }\n"
    }

    private static var cluster: String {
        "['\(self.folder.path)/waymark', cluster, --id, '{vehicle}', --endpoint, '{endpoint}', --connect, '{address}']"
    }

    @Test func `a program takes part as the peer that its Hello names`() async throws {
        let (result, history) = try await Self.run(
            Self.program(Self.cluster).replacing(
                "    within: 60s\n",
                with: """
                        within: 60s
                        expect: { holds-what-was-published: true, within: 30s }
                      - fault: { link: dut, kind: cut }
                        expect: { eventually: { resumed: true, shows: fresh }, within: 60s }
                      - expect: { holds-what-was-published: true, within: 30s }

                    """))
        #expect(Self.failures(result) == [])
        #expect(result.programs.map { "\($0.peer)" } == ["dut/cluster"])
        #expect(result.programs.first?.end == nil)
        #expect(history.endpoints.first?.moments.isEmpty == false)
    }

    @Test func `lines that a program prints are judged`() async throws {
        let exec = "exec \"$0\" cluster --id {vehicle} --endpoint {endpoint} --connect {address}"
        let (result, history) = try await Self.run(
            Self.program("[sh, -c, 'echo next left in {port} m; \(exec)', '\(Self.folder.path)/waymark']")
                + """
                expect:
                  - { prints: 'next (?<type>\\w+) in (?<port>\\d+) m', where: { type: left, port: ">1000" }, within: 60s }
                  - { never: { prints: 'next left' }, because: This one fails. }

                """)
        #expect(result.problem == nil)
        #expect(
            result.expectations.filter { !$0.hasPassed }.map(\.text).filter { $0.contains("prints") }.count
                == 1)
        #expect(
            history.entries.contains {
                if case .log(_?, let line) = $0.kind { line.hasPrefix("next left in ") } else { false }
            })
    }

    @Test func `a program that ends is told with its status and its last lines`() async throws {
        let (result, history) = try await Self.run(
            Self.program("[sh, -c, 'echo {port} {vehicle}; echo went wrong >&2; exit 3']").replacing(
                "within: 60s", with: "within: 20s"))
        #expect(result.programs.first?.end == "ended with status 3")
        #expect(result.programs.first?.output.last == "went wrong")
        #expect(result.programs.first?.output.first?.hasSuffix(" dut") == true)
        #expect(!result.hasPassed)
        let text = ScenarioText(result).lines.joined(separator: "\n")
        #expect(text.contains("program   dut/cluster ended with status 3"))
        #expect(
            history.entries.contains {
                if case .log(_, "the program ended with status 3") = $0.kind { true } else { false }
            })
    }

    @Test func `a program that cannot be started is a problem of the run`() async throws {
        let (result, _) = try await Self.run(Self.program("[/nowhere/cluster]"))
        #expect(result.problem == "the program of dut/cluster cannot be started")
        #expect(result.programs.first?.output.joined().contains("/nowhere/cluster") == true)
    }

    @Test func `a program that says it is another is shut out, and the history says so`() async throws {
        let other = Self.cluster.replacing("'{vehicle}'", with: "other")
        let (result, history) = try await Self.run(
            Self.program(other).replacing("within: 60s", with: "within: 20s"))
        #expect(!result.hasPassed)
        let lines = history.entries.compactMap { entry -> String? in
            if case .log(nil, let line) = entry.kind { line } else { nil }
        }
        #expect(
            lines.first
                == "a program says that it is other/cluster; the scenario has the programs dut/cluster")
    }

    // MARK: The gateway

    @Test func `a gateway that does not start is a problem with its log`() async throws {
        var options = RealRun.Options()
        options.daemon = "/bin/false"
        let (result, _) = try await Self.run(Self.active, options)
        #expect(result.problem == "waymarkd ended with status 1")
    }

    @Test func `the scenario's settings are those of the daemon`() async throws {
        var (scenario, inputs) = try Self.read(
            "route: vaduz-balzers\nat-most: 5s\ngateway: { grace: 1500ms, arbitration: replace, keepalive: 2s }\nended: finished\n"
        )
        inputs.settingsText =
            "\u{FEFF}listeners: [{ address: 'tcp:127.0.0.1:1', roles: [vehicle] }]\ntimes: { request: 3s, grace: 9s }\n"
        let text = try scenario.daemonSettings(inputs, socket: "/run/x")
        for line in [
            "grace: 1500ms", "keepalive: 2000ms", "request: 3s", "arbitration: replace",
            "address: unix:/run/x",
        ] {
            #expect(text.contains(line), "\(line)")
        }
        #expect(!text.contains("127.0.0.1"))
        scenario.gateway = .init()
        #expect(try !scenario.daemonSettings(ScenarioInputs(), socket: "/run/x").contains("times"))
    }

    @Test func `a gateway that runs already can be used by one scenario after the other`() async throws {
        let folder = try RunFolder()
        defer { folder.remove() }
        let guardian = try Guardian(folder)
        let (scenario, inputs) = try Self.read(
            Self.active + "    expect: { holds-what-was-published: true, within: 30s }\n")
        let socket = PrivateDaemon.socket(in: folder)
        let daemon = try PrivateDaemon(
            Self.options.daemon, settings: scenario.daemonSettings(inputs, socket: socket), folder, guardian
        ) { _ in }
        try await daemon.start()
        var options = RealRun.Options()
        options.against = (.unix(path: socket), .unix(path: socket))
        // The second would find its client's session taken if the first had not said Goodbye.
        for _ in 1...2 {
            let (result, _) = await RealRun.run(scenario, inputs, options)
            #expect(Self.failures(result) == [])
        }
        await daemon.end()
    }

    @Test func `a run against an address where nothing listens is broken`() async throws {
        let folder = try RunFolder()
        defer { folder.remove() }
        let socket = folder.file("nothing")
        var options = RealRun.Options()
        options.against = (.unix(path: socket), .unix(path: socket))
        let (result, _) = try await Self.run(Self.active, options)
        #expect(result.problem?.hasPrefix("no gateway can be reached at unix:\(socket): ") == true)
    }
}
