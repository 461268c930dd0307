package import Logging
package import WaymarkProtocol

/// Who a line is about, among those who come from one source.
package enum LogSubject: Sendable, Hashable {
    case vehicle(VehicleID)
    case client(ClientID)
}

/// Lets so many log lines of one level through in a window of time, of one subject and of one source, and counts the rest.
///
/// Its memory is bounded too: past ``Limits/keysMax`` of them in one window the further sources count as one.
package struct LogLimiter: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// Lines about one subject, or of one source about none, of one level in one window.
        package var linesMax = 20
        package var window: Duration = .seconds(60)
        /// Sources and subjects that are told apart in one window.
        package var keysMax = 4_096
        /// A source may have as many lines as so many subjects: a whole fleet may come from one.
        package var subjectsPerSource = 50

        package init() {}
    }

    /// Whose lines are counted together.
    package struct Key: Sendable, Hashable {
        /// nil: those that are not told apart.
        package var source: PeerSource?
        package var level: Logger.Level
    }

    private struct SubjectKey: Sendable, Hashable {
        var key: Key
        var subject: LogSubject
    }

    /// What becomes of a line.
    package enum Verdict: Sendable, Hashable {
        case pass
        case suppress
        /// Suppressed, as the first one since ``takeSuppressed()``.
        case suppressFirst
    }

    package var limits: Limits
    private var windowEnd = Instant(nanoseconds: .min)
    /// Lines about no subject.
    private var counts: [Key: Int] = [:]
    /// Lines about subjects, by the source alone and each.
    private var sourceCounts: [Key: Int] = [:]
    private var subjectCounts: [SubjectKey: Int] = [:]
    private var suppressed: [Key: Int] = [:]

    package init(limits: Limits) { self.limits = limits }

    /// Counts one line.
    package mutating func count(
        _ source: PeerSource, about subject: LogSubject? = nil, _ level: Logger.Level, at now: Instant
    ) -> Verdict {
        if now >= self.windowEnd { self.begin(at: now) }
        var key = Key(source: source, level: level)
        if self.counts[key] == nil, self.sourceCounts[key] == nil, self.isFull { key.source = nil }
        guard self.isWithinLimits(key, subject) else {
            let isFirst = self.suppressed.isEmpty
            self.suppressed[key, default: 0] += 1
            return isFirst ? .suppressFirst : .suppress
        }
        return .pass
    }

    /// How many lines were kept back of whom since this was asked last; to be told when a window is over.
    package mutating func takeSuppressed() -> [(key: Key, count: Int)] {
        defer { self.suppressed.removeAll() }
        return self.suppressed.map { ($0.key, $0.value) }.sorted { $0.count > $1.count }
    }

    private var isFull: Bool {
        self.counts.count + self.sourceCounts.count + self.subjectCounts.count >= self.limits.keysMax
    }

    private mutating func begin(at now: Instant) {
        self.counts.removeAll(keepingCapacity: true)
        self.sourceCounts.removeAll(keepingCapacity: true)
        self.subjectCounts.removeAll(keepingCapacity: true)
        self.windowEnd = now + self.limits.window
    }

    /// Counts a line, if there may be one more.
    private mutating func isWithinLimits(_ key: Key, _ subject: LogSubject?) -> Bool {
        guard let subject else { return self.counts[key, default: 0].count(below: self.limits.linesMax) }
        let sourceMax = self.limits.linesMax * self.limits.subjectsPerSource
        guard self.sourceCounts[key, default: 0] < sourceMax else { return false }
        let subjectKey = SubjectKey(key: key, subject: subject)
        // Once there is no room for further subjects, only the source's own limit holds for them.
        if self.subjectCounts[subjectKey] != nil || !self.isFull {
            guard self.subjectCounts[subjectKey, default: 0].count(below: self.limits.linesMax) else {
                return false
            }
        }
        self.sourceCounts[key, default: 0] += 1
        return true
    }
}

extension Int {
    /// Adds one, unless it has reached `limit`; says whether it has not.
    fileprivate mutating func count(below limit: Int) -> Bool {
        guard self < limit else { return false }
        self += 1
        return true
    }
}
