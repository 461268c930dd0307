internal import WaymarkProtocol

extension Scenario.Expected {
    /// It ends by itself after it has begun, so a step waits for it.
    package var isTimed: Bool { self.when == nil && self.word.duration != nil }

    /// In the words of the scenario: `eventually next.id 4 within 2 s`.
    package var text: String {
        let when = self.when.map { ", when \($0.text)" } ?? ""
        return "\(self.word.text) of \(self.of)\(when)"
    }
}

extension Scenario.Event {
    package var text: String { "\(self.pattern)" + (self.count.map { ", time \($0)" } ?? "") }
}

extension Scenario.Word {
    /// The length of its window; nil: to the end of the run.
    package var duration: Duration? {
        switch self {
        case .message(_, let within), .prints(_, let within), .eventually(_, let within),
            .inOrder(_, let within),
            .outcome(_, let within), .holdsWhatWasPublished(let within):
            within
        case .always(_, let lasts), .never(_, let lasts), .rate(_, _, _, _, let lasts), .gap(_, _, let lasts),
            .exactly(_, _, let lasts), .shownWithin(_, let lasts):
            lasts
        case .unchanged(_, let lasts): lasts
        case .ended(_, let within): within
        case .sometimes: nil
        }
    }

    /// A window of it that began earlier and does not end contains all later ones.
    var isSubsumed: Bool {
        switch self {
        case .always(_, nil), .never(_, nil), .rate(_, _, _, _, nil), .gap(_, _, nil), .shownWithin(_, nil),
            .sometimes:
            true
        default: false
        }
    }

    /// Without whose it is.
    var text: String {
        let duration = self.duration.map(TimeText.seconds)
        let within = duration.map { " within \($0)" } ?? ""
        let lasts = duration.map { " for \($0)" } ?? ""
        switch self {
        case .message(let message, _): return "message \(message)\(within)"
        case .prints(let line, _): return "\(line)\(within)"
        case .eventually(let state, _): return "eventually \(state)\(within)"
        case .always(let state, _): return "always \(state)\(lasts)"
        case .never(let event, _): return "never \(event)\(lasts)"
        case .sometimes(let event): return "sometimes \(event)"
        case .rate(let message, let atMost, let atLeast, let per, _):
            let bounds = [atMost.map { "at most \($0)" }, atLeast.map { "at least \($0)" }].compactMap(\.self)
            return "\(bounds.joined(separator: ", ")) \(message) in \(TimeText.seconds(per))\(lasts)"
        case .gap(let message, let below, _):
            return "gap of \(message) below \(TimeText.seconds(below))\(lasts)"
        case .inOrder(let events, _):
            return "in order \(events.map(\.text).joined(separator: "; "))\(within)"
        case .exactly(let count, let message, _): return "exactly \(count) \(message)\(lasts)"
        case .unchanged(let paths, _):
            return "unchanged \(paths.map(\.description).joined(separator: ", "))\(lasts)"
        case .shownWithin(let limit, _): return "shown within \(TimeText.seconds(limit))\(lasts)"
        case .outcome(let outcome, _): return "outcome \(outcome)\(within)"
        case .holdsWhatWasPublished: return "holds what was published\(within)"
        case .ended(let reason, _): return "ended \(reason)\(within)"
        }
    }
}
