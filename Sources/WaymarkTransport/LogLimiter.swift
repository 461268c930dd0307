package import Logging
package import WaymarkProtocol

/// Lets so many log lines of one source and level through in a window of time, and counts the rest.
///
/// Its memory is bounded too: past ``Limits/sourcesMax`` sources in one window the further ones count as one.
package struct LogLimiter: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// Lines of one source and level in one window.
        package var linesMax = 20
        package var window: Duration = .seconds(60)
        /// Sources that are told apart in one window.
        package var sourcesMax = 1_024

        package init() {}
    }

    /// Whose lines are counted together.
    package struct Key: Sendable, Hashable {
        /// nil: those that are not told apart.
        package var source: PeerSource?
        package var level: Logger.Level
    }

    /// What becomes of a line.
    package enum Verdict: Sendable, Hashable {
        case pass
        case suppress
        /// Suppressed, as the first one since ``takeSuppressed()``.
        case suppressFirst
    }

    private let limits: Limits
    private var windowEnd = Instant(nanoseconds: .min)
    private var counts: [Key: Int] = [:]
    private var suppressed: [Key: Int] = [:]

    package init(limits: Limits) { self.limits = limits }

    /// Counts one line.
    package mutating func count(_ source: PeerSource, _ level: Logger.Level, at now: Instant) -> Verdict {
        if now >= self.windowEnd {
            self.counts.removeAll(keepingCapacity: true)
            self.windowEnd = now + self.limits.window
        }
        var key = Key(source: source, level: level)
        if self.counts[key] == nil, self.counts.count >= self.limits.sourcesMax { key.source = nil }
        guard self.counts[key, default: 0] >= self.limits.linesMax else {
            self.counts[key, default: 0] += 1
            return .pass
        }
        let isFirst = self.suppressed.isEmpty
        self.suppressed[key, default: 0] += 1
        return isFirst ? .suppressFirst : .suppress
    }

    /// How many lines were kept back of whom since this was asked last; to be told when a window is over.
    package mutating func takeSuppressed() -> [(key: Key, count: Int)] {
        defer { self.suppressed.removeAll() }
        return self.suppressed.map { ($0.key, $0.value) }.sorted { $0.count > $1.count }
    }
}
