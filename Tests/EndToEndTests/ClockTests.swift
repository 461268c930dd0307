import Foundation
import Sweeps
import Testing

/// `waymark test` by both clocks, and with programs.
@Suite(.timeLimit(.minutes(30))) struct ClockTests {
    /// What a run decided, without instants.
    private struct Decision: Hashable, CustomTestStringConvertible {
        let file: String
        let what: String
        let verdict: String
        var testDescription: String { "\(self.file) \(self.what): \(self.verdict)" }
    }

    /// Runs scenarios, and returns what was decided.
    private static func decisions(_ arguments: [String]) async throws -> [Decision] {
        let program = try Program("waymark", ["test", "--json"] + arguments)
        await program.end()
        return try program.lines.flatMap { line -> [Decision] in
            let result = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let file = result["file"] as? String ?? ""
            let expectations = (result["expectations"] as? [[String: Any]] ?? []).map {
                Decision(
                    file: file, what: "\($0["line"] ?? "") \($0["column"] ?? "") \($0["text"] ?? "")",
                    verdict: $0["verdict"] as? String ?? "")
            }
            let lints = (result["lints"] as? [[String: Any]] ?? []).map {
                Decision(
                    file: file, what: $0["rule"] as? String ?? "",
                    verdict: "\(($0["findings"] as? [Any])?.isEmpty == false), \($0["allowance"] ?? "")")
            }
            let whole = Decision(
                file: file, what: "\(result["problem"] ?? "")", verdict: result["verdict"] as? String ?? "")
            return [whole] + expectations + lints
        }
    }

    /// The names of the scenarios that ship, in the order in which `@gallery` runs them.
    static let gallery: [String] = {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folder = tests.deletingLastPathComponent()
            .appending(path: "Sources/WaymarkCommandLine/Resources/scenarios").path
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let suffix = ".scenario.yaml"
        return files.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }.sorted()
    }()

    /// Those of `WAYMARK_GALLERY_REAL`, a `SweepPart` of all that ship, or some that are quick.
    private static let scenarios =
        SweepPart("WAYMARK_GALLERY_REAL")?.cases(of: Self.gallery).map { "@gallery/\($0)" } ?? [
            "@gallery/drive-asked-by-the-vehicle", "@gallery/drive-declined",
            "@gallery/slow-cluster-misses-no-event",
        ]

    @Test func `scenarios that ship have the same verdicts by both clocks`() async throws {
        let virtual = try await Self.decisions(Self.scenarios)
        let real = try await Self.decisions(Self.scenarios + ["--clock", "real", "--jobs", "16"])
        #expect(virtual.count >= Self.scenarios.count * 3)
        #expect(real == virtual)
    }

    @Test(arguments: DocumentExampleTests.available)
    func `the examples from scratch pass the scenarios beside them`(_ example: Example) async throws {
        let folder = try RunningDaemon.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for program in ["cluster", "navigate"] {
            _ = try await example.command(program, folder)
            let name = "\(program)-\(example.rawValue).scenario.yaml"
            try FileManager.default.copyItem(atPath: "\(Example.folder)/\(name)", toPath: "\(folder)/\(name)")
        }
        for file in ["cluster.py", "navigate.py", "wire.py"] {
            try FileManager.default.copyItem(atPath: "\(Example.folder)/\(file)", toPath: "\(folder)/\(file)")
        }
        let run = try Program("waymark", ["test", folder])
        #expect(await run.end() == 0, "\(run.lines.joined(separator: "\n"))")
        #expect(run.lines.last?.hasPrefix("2 passed (real, ") == true)
    }

    @Test func `the daemon of another program is the gateway of a scenario`() async throws {
        let run = try Program(
            "waymark",
            [
                "test", "@gallery/drive-declined", "--daemon",
                Program.folder.appending(path: "waymarkd").path,
            ])
        #expect(await run.end() == 0, "\(run.lines.joined(separator: "\n"))")
        #expect(run.lines.first?.hasSuffix("real, seed 1") == true)
        let none = try Program(
            "waymark", ["test", "@gallery/drive-declined", "--daemon", "/nowhere/waymarkd"])
        #expect(await none.end() == 64)
    }

    @Test func `a killed rig leaves neither a daemon nor a folder behind`() async throws {
        let folder = try RunningDaemon.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let run = try Program(
            command: [
                "env", "TMPDIR=\(folder)", Program.folder.appending(path: "waymark").path, "test",
                "@gallery/declined-stop", "--clock", "real",
            ])
        func entries() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder) }
        func daemons() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").count { process in
                let words = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
                return String(decoding: words, as: UTF8.self).hasPrefix("\(folder)/")
            }
        }
        while try daemons() == 0 { await Task.yield() }
        run.signal(SIGKILL)
        while try !entries().isEmpty || daemons() > 0 { await Task.yield() }
    }
}
