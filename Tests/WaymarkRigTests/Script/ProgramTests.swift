import Testing
import WaymarkConfiguration
import WaymarkRig
import WaymarkScenario

@Suite struct ProgramTests {
    private static func read(_ text: String) throws -> Scenario {
        try ScenarioReader.read(text, file: "p.scenario.yaml")
    }

    private static func obstacles(_ text: String, _ clock: RunClock = .real) throws -> [String] {
        try self.read(text).obstacles(clock).map(\.description)
    }

    @Test func `placeholders become the peer's names and the rig's address`() throws {
        let scenario = try Self.read(
            """
            route: r
            vehicle: { endpoint: hud, command: [x, '{vehicle}/{endpoint}', '{address}', '{host}:{port}', '{a b}'] }
            client: { command: [y, 'as={client}'] }
            ended: finished
            """)
        #expect(
            scenario.programs.map { $0.words(host: "127.0.0.1", port: 7) } == [
                ["x", "dut/hud", "tcp:127.0.0.1:7", "127.0.0.1:7", "{a b}"], ["y", "as=client"],
            ])
    }

    @Test func `a placeholder that a peer does not have is an error`() throws {
        #expect(
            try Self.obstacles("client: { command: [x, '{vehicle}'] }\nended: finished\n") == [
                "p.scenario.yaml:1:20: {vehicle} is unknown here; client has {client}, {address}, {host}, {port}"
            ])
        #expect(try Self.obstacles("client: { command: [x, '{\"a\": {}}'] }\nended: finished\n") == [])
    }

    @Test func `a program cannot come later`() throws {
        let texts = [
            "client: { connects: false, command: [x] }", "vehicle: { connects: false, command: [x] }",
            "vehicle: { connects: false, endpoints: { a: { profile: b }, c: { command: [x] } } }",
        ]
        for (text, peer) in zip(texts, ["client", "dut/cluster", "dut/c"]) {
            let column = text.prefix { $0 != "[" }.count + 1
            #expect(
                try Self.obstacles("\(text)\nroute: r\nended: finished\n") == [
                    "p.scenario.yaml:1:\(column): a program is started when the scenario begins: \(peer) cannot have connects: false"
                ])
        }
        #expect(try Self.obstacles("client: { connects: false, drives: when-told }\nended: finished\n") == [])
    }

    @Test func `a program needs the real clock`() throws {
        let text = "client: { command: [x] }\nended: finished\n"
        #expect(try Self.read(text).clock() == .real)
        #expect(try Self.obstacles(text).isEmpty)
        #expect(
            try Self.obstacles(text, .virtual) == [
                "p.scenario.yaml:1:20: a program cannot take part in virtual time: it needs clock: real"
            ])
        #expect(throws: ScenarioErrors.self) { try Self.read("clock: virtual\n\(text)") }
    }

    @Test func `the clock of the file is not overruled`() throws {
        #expect(try Self.read("clock: real\nroute: r\nended: finished\n").clock() == .real)
        #expect(try Self.read("route: r\nended: finished\n").clock() == .virtual)
        #expect(try Self.read("route: r\nended: finished\n").clock(wanted: .real) == .real)
        #expect(try Self.obstacles("clock: real\nroute: r\nended: finished\n", .virtual).count == 1)
        #expect(try Self.obstacles("clock: virtual\nroute: r\nended: finished\n", .real).count == 1)
    }

    @Test func `a program is not told what to do, and how far it has driven is not known`() throws {
        let errors = try Self.obstacles(
            """
            vehicle: { command: [y] }
            client: { command: [x] }
            steps:
              - at: 1km
              - do: { as: client, end: finish }
              - do: { as: dut, read: { nothing-for: 1s } }
              - at: 5s
            """)
        #expect(
            errors == [
                "p.scenario.yaml:4:5: how far a program has driven is not known: at must be a time here",
                "p.scenario.yaml:5:9: client is a program, which decides itself what it does",
            ])
    }

    @Test func `a gateway of others is not harmed, and keeps its settings`() throws {
        let scenario = try Self.read(
            """
            route: r
            gateway: { grace: 1s }
            faults: [{ gateway: kill, after: { message: startGuidance }, for: 1s }]
            steps: [{ fault: { gateway: stop, for: 1s } }, { fault: { link: dut, kind: cut } }]
            """)
        #expect(
            scenario.obstaclesAgainstOthers().map(\.description) == [
                "p.scenario.yaml:3:10: --against: the gateway is not the rig's, which cannot kill it",
                "p.scenario.yaml:4:18: --against: the gateway is not the rig's, which cannot stop it",
                "p.scenario.yaml:1:1: --against: the gateway has its own settings, so gateway: must go",
            ])
    }
}
