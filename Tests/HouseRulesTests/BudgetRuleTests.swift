import Foundation
import Testing

/// A step that asks for its budget before it does anything does nothing with the smallest one, and plans itself for ever.
@Suite struct BudgetRuleTests {
    /// The only form that needs no reason: the question comes behind the work.
    private static let form = "} while self.hasBudget"

    /// All other lines that compare a budget, with the reason why something is done with a budget of 1, too.
    private static let reasons = [
        "Steps.swift: var hasBudget: Bool { Int64(bitPattern: self.workLimit &- self.counters.work.units) > 0 }":
            "The question itself.",
        "Steps.swift: guard self.hasBudget, let step = self.steps.takeFirst(of: cause) else { return }":
            "Each event begins with a whole budget.",
        "Steps.swift: guard self.counters.work.units &- start < budget, !event.isLonger(than: framesMax) else { break }":
            "The loop has done nothing before its first event; its caller splits one that is too long.",
        "Joining.swift: if !self.hasBudget || self.fitWhileInBudget(id, at: now, into: &actions) { self.queue(.fit(id)) }":
            "The step that is queued fits before it asks.",
        "Acknowledging.swift: guard self.hasBudget else { break }": "An acknowledgement comes before it.",
        "GatewayCore.swift: if self.units &- start < self.budget.run, self.backlogs[connection ?? Self.own] == nil {":
            "What is not processed at once gets a turn.",
        "GatewayCore.swift: while self.units &- start < self.budget.run, let id = self.turns.popFirst() {":
            "A run that has processed no batch takes a turn.",
        "GatewayCore.swift: if self.units &- start >= self.budget.turn { break }":
            "An event comes before it.",
        "Connection.swift: guard !self.isSuspended, !self.isInputQueued, budget > 0 else {":
            "What is kept gets a turn, whose budget is never 0.",
        "Connection.swift: while !self.isClosing, cost < budget {": "The cost is 0 before the first frame.",
        "LoopCore.swift: for _ in 0..<self.budget.deadlines {": "One deadline is handled.",
        "Turns.swift: if cost >= self.budget.turn { self.queueInput(slot, into: &actions) }":
            "The input was processed before it.",
        "Turns.swift: budget: self.room > 0 && self.mayProcess() ? self.budget.turn : 0, send, into: &actions)":
            "With 0, the input is kept and gets a turn.",
        "Turns.swift: private mutating func mayProcess() -> Bool { self.submittedCost < self.budget.submitted }":
            "The gateway ends what was submitted, and what is kept gets a turn.",
        "Turns.swift: guard cost < self.budget.turn || self.connections[slot].isClosing else {":
            "The input was processed before it.",
        "Turns.swift: if self.room < self.budget.round / 2 { self.planWork(into: &actions) }":
            "It plans the work that others queue.",
    ]

    @Test func `a step asks for its budget behind what it does`() throws {
        let folder = packageRoot.appending(path: "Sources")
        var found: Set<String> = []
        for module in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            for file in try sources(of: module) {
                let text = try String(contentsOf: file, encoding: .utf8)
                guard text.contains("udget") else { continue }
                found.formUnion(
                    Self.questions(text).map { "\(file.lastPathComponent): \($0)" })
            }
        }
        #expect(
            found.subtracting(Self.reasons.keys).isEmpty,
            "write `repeat … while self.hasBudget`, or say here why it ends, and test it in SmallestBudgetTests"
        )
        #expect(Set(Self.reasons.keys).subtracting(found).isEmpty, "these lines are gone")
    }

    @Test func `loops that ask first are found`() {
        let loops = """
            while self.hasBudget, let next = self.next() {
            while cost < self.budget.turn {
            guard units <= budget else { return }
            // while self.hasBudget {
            } while self.hasBudget
            func take(budget: Int) -> Int {
            """
        #expect(Self.questions(loops).count == 3)
    }

    /// The lines that ask whether a budget is spent, except those of the form.
    private static func questions(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { line in
            guard !line.hasPrefix("//"), line != self.form, line.contains("udget") else { return false }
            return line.contains("hasBudget")
                || [" < ", " <= ", " > ", " >= ", "0..<"].contains { line.contains($0) }
        }
    }
}
