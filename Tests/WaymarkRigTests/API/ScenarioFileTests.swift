import Foundation
import Testing
import WaymarkRig

@Suite struct ScenarioFileTests {
    private static let gallery = Repository.scenarios.path

    @Test func `the gallery can be read, with the routes and profiles that ship`() throws {
        let files = try ScenarioFile.all(in: Self.gallery)
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.gallery)
        #expect(files.count == names.count { $0.hasSuffix(".scenario.yaml") })
        #expect(files.allSatisfy { !$0.about.isEmpty })
    }

    @Test(arguments: ["declined-stop", "small-cluster"])
    func `a scenario of the gallery passes`(_ name: String) async throws {
        try await ScenarioFile("\(Self.gallery)/\(name).scenario.yaml").run(seed: 3)
    }

    private static func with<Value>(_ text: String, _ body: (String) async throws -> Value) async throws
        -> Value
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rig-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "a.scenario.yaml").path
        try Data(text.utf8).write(to: URL(filePath: path))
        return try await body(path)
    }

    @Test func `a scenario that fails is an error with the report of waymark test`() async throws {
        let text =
            "route: vaduz-balzers\nsteps:\n  - at: 1km\n    expect: { eventually: { next.id: 99 }, within: 1s }\n"
        try await Self.with(text) { path in
            let failure = await #expect(throws: RigFailure.self) { try await ScenarioFile(path).run() }
            let lines = failure?.description.split(separator: "\n") ?? []
            #expect(lines.first?.hasPrefix("FAILED  ") == true)
            #expect(failure?.description.contains("expected 99") == true)
            // A long path has a line of its own.
            let letters = failure?.description.filter { !$0.isWhitespace && $0 != "\\" } ?? ""
            #expect(letters.contains("waymarktest\(path)--seed1"))
        }
    }

    @Test func `all errors of a file are told before anything runs`() async throws {
        let text = "route: nowhere\nstep: []\nexpect: { never: { nxt.id: 1 } }\n"
        try await Self.with(text) { path in
            let error = #expect(throws: RigError.self) { _ = try ScenarioFile(path) }
            #expect(error?.description.contains("a.scenario.yaml:2:1: unknown key step") == true)
            #expect(error?.description.contains("unknown key nxt") == true)
        }
        try await Self.with("route: nowhere\nsteps: [{ at: 1km }]\n") { path in
            let error = #expect(throws: RigError.self) { _ = try ScenarioFile(path) }
            #expect(error?.description.contains("nor one that ships: heidelberg-lanes") == true)
        }
        try await Self.with("clock: real\nroute: vaduz-balzers\nsteps: [{ at: 1km }]\n") { path in
            let error = #expect(throws: RigError.self) { _ = try ScenarioFile(path) }
            #expect(error?.description.contains("clock") == true)
        }
    }

    @Test func `a program and a recording that cannot be read are errors before anything runs`() async throws
    {
        try await Self.with("vehicle: { command: [x] }\nroute: vaduz-balzers\nsteps: [{ at: 1s }]\n") {
            path in
            let error = #expect(throws: RigError.self) { _ = try ScenarioFile(path) }
            #expect(
                error?.description.contains("a.scenario.yaml:1:21: a program cannot take part in virtual")
                    == true)
        }
        let text = "client: { replay: { recording: no.mcap } }\nsteps: [{ at: 1s }]\n"
        try await Self.with(text) { path in
            let error = #expect(throws: RigError.self) { _ = try ScenarioFile(path) }
            #expect(error?.description.contains("a.scenario.yaml:1:32: the recording ") == true)
            #expect(error?.description.contains("no.mcap cannot be replayed: ") == true)
        }
    }

    @Test func `a folder without scenarios is an error, not a test that runs nothing`() {
        let error = #expect(throws: RigError.self) { _ = try ScenarioFile.all(in: "/nowhere") }
        #expect(error?.description == "folder: /nowhere has no *.scenario.yaml")
    }
}
