import Foundation
import Testing
import WaymarkConfiguration
import WaymarkHistory
import WaymarkProtocol
import WaymarkScenario

/// Tests/RigCases/words.json: history -> verdict.
@Suite struct WordCaseTests {
    @Test func `there are at least 120 cases, and some for each word`() throws {
        let cases = try RigCases.words()
        #expect(cases.count >= 120)
        let words = Set(cases.compactMap { $0.name.split(separator: ":").first.map(String.init) })
        let expected: Set = [
            "message", "when", "eventually", "keys", "always", "never", "sometimes", "rate at-most",
            "rate at-least", "gap", "in-order", "exactly", "unchanged", "outcome", "holds", "ended",
            "conditions",
        ]
        #expect(expected.isSubset(of: words))
    }

    @Test(arguments: try RigCases.words())
    func `a finished history has the verdict of its case`(_ each: WordCase) throws {
        let scenario = try ScenarioReader.read(each.scenario, file: "case.yaml")
        var history = History()
        history.add(WordCase.cluster, storage: try each.storage())
        for (kind, instant) in try each.happenings() { history.append(kind, at: instant) }
        Self.check(Judge.judge(scenario, history, endingAt: WordCase.instant(each.end)), each)
    }

    @Test(arguments: try RigCases.words())
    func `a history that grows has the same verdict`(_ each: WordCase) throws {
        let scenario = try ScenarioReader.read(each.scenario, file: "case.yaml")
        var history = History()
        history.add(WordCase.cluster, storage: try each.storage())
        var judge = Judge(scenario)
        let end = WordCase.instant(each.end)
        for (kind, instant) in try each.happenings() {
            while let deadline = judge.deadline, deadline <= instant {
                judge.deadlineReached(at: deadline, in: history)
            }
            let entry = history.append(kind, at: instant)
            judge.see(try #require(entry), in: history)
        }
        while let deadline = judge.deadline, deadline <= end {
            judge.deadlineReached(at: deadline, in: history)
        }
        judge.end(at: end, in: history)
        Self.check(judge, each)
    }

    private static func check(_ judge: Judge, _ each: WordCase) {
        let result = judge.results[0]
        let failure = result.failures.first
        #expect("\(result.outcome)" == each.verdict, "\(failure as Any)")
        #expect((failure?.instant ?? result.passed) == WordCase.instant(each.at))
        #expect(result.heldAlready == each.heldAlready)
        if let margin = each.margin {
            #expect(result.margin == .nanoseconds(Int64((margin * 1e9).rounded())))
        }
        guard each.verdict != "passed" else { return }
        let nearest = (failure?.nearest?.differences ?? []).reduce(into: [String: [String]]()) {
            $0[$1.path] = [$1.expected, $1.seen]
        }
        // A case without differences leaves open what is the nearest.
        if let expected = each.nearest { #expect(nearest == expected) }
    }
}
