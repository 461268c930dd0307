import Foundation
import RigMutants
import Sweeps
import Testing
import WaymarkLint
import WaymarkRig
import WaymarkScenario

@testable import WaymarkCommandLine

/// Peers with a mistake each, in the scenarios that ship. A mistake is found if an expectation or a lint rule of any scenario fails;
/// without it, all of them pass (see ScenarioTests).
@Suite(.timeLimit(.minutes(60))) struct MutantTests {
    /// What found a mistake.
    private struct Finding: Sendable {
        let scenario: String
        /// The rules and expectations, up to three.
        let text: String
    }

    private struct Row: Sendable {
        let number: Int
        let mutant: Mutant
        let finding: Finding?

        /// A line of the table.
        var line: String {
            let found = self.finding.map { "\($0.scenario): \($0.text)" } ?? "not found"
            return "\(self.number)  \(self.mutant)  |  \(found)"
        }
    }

    private typealias Entry = (name: String, ready: ScenarioFiles.Ready)

    private static let gallery: [Entry] = ScenarioFiles([ScenarioFiles.gallery]).ready.map { ready in
        let name = ready.scenario.file.dropFirst(ScenarioFiles.gallery.count + 1)
        return (String(name.dropLast(ScenarioFiles.suffix.count)), ready)
    }

    /// Those of `WAYMARK_MUTANTS`, a `SweepPart`; those whose sentence has its text; or, without it, every tenth.
    private static let chosen: [(index: Int, mutant: Mutant)] = {
        let all = Mutant.all.enumerated().map { (index: $0.offset, mutant: $0.element) }
        if let part = SweepPart("WAYMARK_MUTANTS") { return part.cases(of: all) }
        guard let text = ProcessInfo.processInfo.environment["WAYMARK_MUTANTS"] else {
            return all.filter { ($0.index + 1) % 10 == 0 }
        }
        return all.filter { $0.mutant.sentence.contains(text) }
    }()

    /// The first failure, in the scenarios in which the mistake can show, and then in all others.
    private static func find(_ mutant: Mutant) -> Finding? {
        let first = mutant.first.compactMap { name in self.gallery.first { $0.name == name } }
        for (name, ready) in first + self.gallery.filter({ !mutant.first.contains($0.name) }) {
            let result = ScenarioRun.run(ready.scenario, ready.inputs, mutations: mutant.mutations).result
            if !result.hasPassed { return Finding(scenario: name, text: self.text(result)) }
        }
        return nil
    }

    private static func text(_ result: ScenarioResult) -> String {
        // A mistake of a peer must not break the rig: this is a mistake of ours.
        if let problem = result.problem {
            Issue.record("\(result.file): \(problem)")
            return problem
        }
        let lints = result.lints.filter { !$0.findings.isEmpty }.map(\.rule)
        let failed = result.expectations.filter { !$0.hasPassed }.map(\.text)
        return (lints + failed).prefix(3).joined(separator: "; ")
    }

    @Test func `mistakes of clients and clusters are found by a scenario that ships`() async {
        let rows = await withTaskGroup(of: Row.self) { group in
            for (index, mutant) in Self.chosen {
                group.addTask { Row(number: index + 1, mutant: mutant, finding: Self.find(mutant)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.number < $1.number }
        }
        for row in rows {
            print(row.line)
            // One that is found from now on is no exception any more.
            #expect((row.finding == nil) == (row.mutant.missed != nil), "\(row.line)")
        }
        print("scenarios find \(rows.count { $0.finding != nil }) of \(rows.count) mistakes")
    }

    @Test func `there are 60 mistakes of clients and 40 of clusters, of which at least 95 are found`() {
        #expect(Mutant.all.count { $0.peer == .client } == 60)
        #expect(Mutant.all.count { $0.peer == .cluster } == 40)
        #expect(Set(Mutant.all.map(\.description)).count == 100)
        #expect(Mutant.all.count { $0.missed == nil } >= 95)
        let names = Set(Self.gallery.map(\.name))
        #expect(Mutant.all.flatMap(\.first).filter { !names.contains($0) } == [])
    }
}
