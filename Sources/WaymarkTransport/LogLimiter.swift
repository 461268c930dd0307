package import Logging
package import WaymarkProtocol

/// The peer that a line is about, to tell apart the peers that share one source.
package enum LogSubject: Sendable, Hashable {
    case vehicle(VehicleID)
    case client(ClientID)
}

/// Limits the log lines of one level, per subject and per source, in a window of time; counts the lines it suppresses.
///
/// Memory is bounded too: after ``Limits/keysMax`` sources and subjects in one window, all further sources count as one.
package struct LogLimiter: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// Lines of one level in one window about one subject, or of one source without a subject.
        package var linesMax = 20
        package var window: Duration = .seconds(60)
        /// Sources and subjects that are counted separately in one window.
        package var keysMax = 4_096
        /// A source may have as many lines as this number of subjects: a whole fleet may share one source.
        package var subjectsPerSource = 50

        package init() {}
    }

    /// Lines with equal keys are counted together.
    package struct Key: Sendable, Hashable {
        /// nil for all sources beyond ``Limits/keysMax``.
        package var source: PeerSource?
        package var level: Logger.Level
    }

    private struct SubjectKey: Sendable, Hashable {
        var key: Key
        var subject: LogSubject
    }

    /// What to do with a line.
    package enum Verdict: Sendable, Hashable {
        case pass
        case suppress
        /// Suppress it; it is the first one since ``takeSuppressed()``.
        case suppressFirst
    }

    package var limits: Limits
    private var windowEnd = Instant(nanoseconds: .min)
    /// Lines about no subject.
    private var counts: [Key: Int] = [:]
    /// Lines about subjects, per source and per subject.
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

    /// Returns the number of suppressed lines per key since the last call, most first. Called at the end of a window.
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

    /// Counts a line if the limits allow one more.
    private mutating func isWithinLimits(_ key: Key, _ subject: LogSubject?) -> Bool {
        guard let subject else { return self.counts[key, default: 0].count(below: self.limits.linesMax) }
        let sourceMax = self.limits.linesMax * self.limits.subjectsPerSource
        guard self.sourceCounts[key, default: 0] < sourceMax else { return false }
        let subjectKey = SubjectKey(key: key, subject: subject)
        // Subjects beyond `keysMax` are not counted; only their source's limit applies to them.
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
    /// Adds one unless the value has reached `limit`; returns whether it was added.
    fileprivate mutating func count(below limit: Int) -> Bool {
        guard self < limit else { return false }
        self += 1
        return true
    }
}
