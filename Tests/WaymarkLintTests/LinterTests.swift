import Foundation
import Testing
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// What all rules have in common.
@Suite struct LinterTests {
    private static func alarming() -> LintSketch {
        var sketch = LintSketch.guided()
        sketch.publish(.add(.turn(4, .enterRoundabout)), at: 1)
        sketch.publish(.currentRoadName(["A", "AB"]), at: 2)
        return sketch
    }

    @Test func `every rule has an id of its own and a sentence`() {
        #expect(LintID.allCases.count == 61)
        for rule in LintID.allCases {
            #expect(rule.rawValue.wholeMatch(of: /LINT-[A-Z]+-[A-Z]+/) != nil)
            #expect(rule.sentence.hasSuffix(".") && rule.sentence.count <= 100, "\(rule)")
        }
        #expect(Set(LintID.allCases.map(\.sentence)).count == LintID.allCases.count)
    }

    @Test func `Docs/lint.md has every rule, its sentence and an example`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Docs/lint.md"), encoding: .utf8)
        let sections = page.split(separator: "\n### ").dropFirst()
        #expect(sections.count == LintID.allCases.count)
        for rule in LintID.allCases {
            let section = try #require(sections.first { $0.hasPrefix("\(rule)\n") }, "\(rule)")
            #expect(section.hasPrefix("\(rule)\n\n\(rule.sentence)\n"), "\(rule)")
            #expect(section.contains("\nExample: *"), "\(rule)")
        }
    }

    @Test func `what is allowed is counted and not told`() {
        var linter = Linter(allowing: [
            LintAllowance(.textOrder, reason: "the names come from the map"),
            LintAllowance(.tripRises, reason: "the position jumps"),
        ])
        #expect(linter.judge(Self.alarming().history).map(\.rule) == [.maneuverKind])
        #expect(linter.summary.first { $0.rule == .textOrder }?.found == 1)
        #expect(linter.findingCount == 1)
        #expect(
            linter.unusedAllowances == [LintAllowance(.tripRises, reason: "the position jumps")])
    }

    @Test func `a session whose route takes too much is not judged until it ends`() {
        var sketch = LintSketch.guided()
        sketch.publish(.currentRoadName(["A", "AB"]), at: 1)
        var linter = Linter(routeBytesMax: 50)
        let found = linter.judge(sketch.history)
        #expect(found.isEmpty && linter.unjudgedCount == 1)
        #expect(LintSketch.guided().rules().isEmpty && sketch.rules() == [.textOrder])

        var end = LintSketch()
        let ended = SessionEnded(session: end.session, reason: .finished)
        end.deliver(.sessionEnded(ended), to: LintSketch.app, at: 2)
        _ = linter.judge(end.history)
        #expect(linter.unjudgedCount == 0)
    }

    @Test func `of many sessions those with the longest routes are not judged, and rules that wait end`() {
        var sketch = LintSketch()
        for session in 1...20 as ClosedRange<UInt32> {
            sketch.session = SessionID(session)
            sketch.publish(.startGuidance(.short, generation: 1, .turns), at: 0)
        }
        for session in 1...20 as ClosedRange<UInt32> {
            sketch.session = SessionID(session)
            sketch.drive(trip: 5_000, maneuver: 900, at: 1)
        }
        var linter = Linter(routeBytesMax: 20_000)
        var found = linter.judge(sketch.history)
        #expect(linter.unjudgedCount == 0)
        var longer = LintSketch()
        longer.session = SessionID(7)
        for id in 10...2_000 as ClosedRange<UInt32> { longer.publish(.add(.turn(id)), at: 2) }
        found += linter.judge(longer.history)
        #expect(linter.unjudgedCount == 1)
        // With the rules of that session this would not end.
        found += linter.advance(to: LintSketch.instant(600))
        #expect(!found.contains { $0.session == SessionID(7) && $0.instant > LintSketch.instant(3) })
    }

    @Test func `a rule tells its first hundred findings and counts the others`() {
        var sketch = LintSketch.guided()
        for _ in 0..<130 { sketch.publish(.currentRoadName(["A", "AB"]), at: 1) }
        var linter = Linter()
        #expect(linter.judge(sketch.history).count == Linter.findingsMax)
        let count = linter.summary.first { $0.rule == .textOrder }
        #expect(count?.found == 130)
        #expect(count?.omitted == 30)
    }

    @Test func `a running history is judged as a finished one`() {
        var sketch = Self.alarming()
        sketch.publish(.trip(4_000), at: 30)
        sketch.publish(.trip(4_500), at: 31)
        var whole = Linter()
        let expected = whole.judge(sketch.history)
        #expect(expected.map(\.rule) == [.maneuverKind, .textOrder, .driveSilent, .tripRises])
        var linter = Linter()
        var found: [Finding] = []
        for entry in sketch.history.entries {
            // A driver with a clock looks at the deadlines in between.
            while let deadline = linter.deadline, deadline < entry.instant {
                found += linter.advance(to: deadline)
            }
            found += linter.see(entry)
        }
        #expect(found == expected)
        #expect(found.map(\.instant).sorted() == found.map(\.instant))
    }

    @Test func `after a gap only what follows is judged`() {
        var sketch = LintSketch.guided()
        sketch.publish(.trip(1_000), at: 3)
        sketch.publish(.trip(4_000), at: 8)
        var linter = Linter()
        for entry in sketch.history.entries.prefix(2) { #expect(linter.see(entry) == []) }
        linter.forget()
        #expect(linter.deadline == nil)
        #expect(linter.see(sketch.history.entries[2]) == [])
        #expect(linter.advance(to: LintSketch.instant(60)) == [])
    }

    @Test func `a session of another gateway with the same id is another session`() {
        var sketch = LintSketch.guided()
        sketch.publish(.trip(1_000), at: 4)
        let opened = SessionOpened(requestID: "r", session: SessionID(1), vehicles: [])
        sketch.deliver(.sessionOpened(opened), to: LintSketch.app, at: 5)
        sketch.publish(.startGuidance(.short, generation: 1, .turns), at: 5)
        sketch.publish(.trip(5_000), at: 9)
        #expect(sketch.rules() == [])
    }

    @Test func `no number of sessions that were never opened takes memory without bound`() {
        var linter = Linter()
        var sketch = LintSketch()
        for number in 1...4_100 {
            sketch.session = SessionID(UInt32(number))
            sketch.publish(.startGuidance(.short, generation: 1, .turns), at: 1)
        }
        #expect(linter.judge(sketch.history) == [])
        // Each of the sessions that are followed is silent.
        #expect(linter.advance(to: LintSketch.instant(60)).count == Linter.findingsMax)
        #expect(linter.summary.first { $0.rule == .driveSilent }?.found == 4_096)
    }
}
