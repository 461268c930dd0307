import Foundation

/// The part of a sweep that a run takes. A sweep is a test with more cases than each landing has time for: seeds, scenarios by the real
/// clock, faults over sockets. An environment variable says which of them run: `all`, or `2/5` for every fifth case, from the third on.
package struct SweepPart: Sendable {
    private let part: Int
    private let count: Int

    /// nil if the variable is not set, or has another text, for example a part of a case's name.
    package init?(_ variable: String) { self.init(text: ProcessInfo.processInfo.environment[variable]) }

    package init?(text: String?) {
        guard let text else { return nil }
        if text == "all" {
            (self.part, self.count) = (0, 1)
            return
        }
        let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let part = numbers[0], let count = numbers[1], part >= 0, part < count
        else { return nil }
        (self.part, self.count) = (part, count)
    }

    /// The cases of this part, in their order. The parts of a sweep share no case, and together have all.
    package func cases<Case>(of all: some Sequence<Case>) -> [Case] {
        all.enumerated().filter { $0.offset % self.count == self.part }.map(\.element)
    }
}
