internal import WaymarkGateway
internal import WaymarkProtocol

/// Checks the ages that endpoints are told against the instants at which the gateway accepted publications.
struct AgeWatch {
    /// Violations that were not yet collected.
    var violations: [(Promise, String)] = []
    /// The session of the last frame that came over a connection.
    private var sessions: [ConnectionID: SessionID] = [:]
    /// When a publication of a session was accepted last.
    private var accepted: [SessionID: Instant] = [:]
    /// The same, before the present event.
    private var before: [SessionID: Instant] = [:]
    private var now = Instant(nanoseconds: 0)

    /// `count` publications were accepted by an event.
    mutating func see(_ event: Gateway.Event, accepting count: UInt64, at now: Instant) {
        (self.now, self.before) = (now, self.accepted)
        if case .published(let connection, let frames) = event, let last = frames.frames.last {
            self.sessions[connection] = last.frame.header.session
        }
        // A client that is no attacker has one session at a time.
        if count > 0, let connection = event.cause, let session = self.sessions[connection] {
            self.accepted[session] = now
        }
    }

    mutating func see(_ action: Gateway.Action) {
        guard case .send(_, let envelope) = action else { return }
        switch envelope.message {
        case .snapshotBegin(let begin):
            self.check(begin.ageMilliseconds, begin.estimatesAgeMilliseconds, envelope.session)
        case .sessionSuspended(let suspended):
            self.check(suspended.ageMilliseconds, suspended.estimatesAgeMilliseconds, envelope.session)
        default: break  // The others have no age.
        }
    }

    private mutating func check(_ age: UInt32?, _ estimatesAge: UInt32?, _ session: SessionID) {
        // Estimates are publications, so none are newer than the newest one.
        if let estimatesAge, age.map({ estimatesAge < $0 }) ?? true {
            self.violations.append(
                (
                    .equalAtRest,
                    "\(session.rawValue) is told that estimates are \(estimatesAge) old, and all \(age as Any)"
                ))
        }
        // Within an event, the publication may come before the message or after it.
        let expected = [self.before[session], self.accepted[session]].map { $0.map(self.age) }
        guard !expected.contains(age) else { return }
        self.violations.append(
            (.equalAtRest, "\(session.rawValue) is told the age \(age as Any), not one of \(expected)"))
    }

    private func age(since instant: Instant) -> UInt32 {
        let nanoseconds = (self.now - instant).nanoseconds
        return UInt32((Double(nanoseconds) / 100_000_000).rounded(.up)) * 100
    }
}
