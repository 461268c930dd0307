internal import DequeModule
internal import WaymarkProtocol

// Acknowledgements tell a client up to which number the gateway has decided what it published.
extension Gateway {
    /// When clients get their Acknowledgements. The protocol fixes both values; tests use others.
    package struct AcknowledgementPace: Sendable, Hashable {
        /// As many numbers that are not acknowledged are acknowledged at once.
        package var frames = ProtocolConstants.acknowledgementFrames
        /// After it, fewer are acknowledged, too.
        package var delay = Duration.milliseconds(ProtocolConstants.acknowledgementMilliseconds)

        package init() {}

        /// Deadlines are multiples of it, so that many sessions share one.
        private static let bucketNanoseconds: Int64 = 50_000_000

        /// When a number that was used up now must be acknowledged at the latest.
        fileprivate func deadline(from now: Instant) -> Instant {
            let latest = (now + self.delay).nanoseconds
            return Instant(nanoseconds: latest - latest % Self.bucketNanoseconds)
        }
    }

    /// A session has come to the number of ``GatewaySession/acknowledged`` that must be looked at.
    mutating func noteUnacknowledged(
        _ id: SessionID, _ connection: ConnectionID, at now: Instant, into actions: inout [Action]
    ) {
        // Otherwise it is over, and SessionEnded acknowledges all of it.
        guard let index = self.sessions.index(forKey: id) else { return }
        let framesMax = self.policy.acknowledgements.frames
        let (due, mustWait) = self.sessions.withValue(at: index) {
            $0.acknowledged.look(at: $0.sequence, framesMax: framesMax)
        }
        if let due { self.acknowledge(due, of: id, to: connection, into: &actions) }
        guard mustWait else { return }
        if self.unacknowledged.isEmpty {
            self.deadlines.set(.acknowledgements, at: self.policy.acknowledgements.deadline(from: now))
        }
        self.unacknowledged.append(
            UnacknowledgedSession(
                deadline: self.policy.acknowledgements.deadline(from: now), session: id,
                connection: connection))
    }

    /// Acknowledges the sessions whose deadline has passed, at least one of them.
    mutating func reachAcknowledgements(at now: Instant, into actions: inout [Action]) {
        while let next = self.unacknowledged.first, next.deadline <= now {
            self.unacknowledged.removeFirst()
            self.counters.work.visit()
            self.reachAcknowledgement(next, into: &actions)
            guard self.hasBudget else { break }
        }
        if let next = self.unacknowledged.first { self.deadlines.set(.acknowledgements, at: next.deadline) }
    }

    private mutating func reachAcknowledgement(
        _ waiting: UnacknowledgedSession, into actions: inout [Action]
    ) {
        // A client that has come back on another connection was told by Welcome.
        guard self.peers[waiting.connection] != nil,
            let index = self.sessions.index(forKey: waiting.session),
            let due = self.sessions.withValue(at: index, { $0.acknowledged.endWait(at: $0.sequence) })
        else { return }
        self.acknowledge(due, of: waiting.session, to: waiting.connection, into: &actions)
    }

    private mutating func acknowledge(
        _ sequence: UInt64, of session: SessionID, to connection: ConnectionID, into actions: inout [Action]
    ) {
        self.counters.acknowledgements &+= 1
        actions.append(
            .send(connection, Envelope(.acknowledgement(sequence: sequence), session: session)))
    }
}

/// A session with numbers that its client was not told of. They are queued in the order of their deadlines.
struct UnacknowledgedSession: Sendable, Hashable, Codable {
    let deadline: Instant
    let session: SessionID
    /// The client's, when it used up the first of these numbers.
    let connection: ConnectionID
}

/// How far the numbers of a session are acknowledged.
struct AcknowledgedNumbers: Sendable, Hashable, Codable {
    /// The last number that the client was told.
    private(set) var last: UInt64
    /// The number at which ``look(at:framesMax:)`` is due. Why stored: each run of frames is compared with it.
    private(set) var next: UInt64
    /// The session is among those that wait for their deadline.
    private var waits = false

    /// The client knows all numbers up to `sequence`.
    init(upTo sequence: UInt64) {
        self.last = sequence
        self.next = sequence + 1
    }

    /// The session has used up `sequence`, which is not below ``next``.
    ///
    /// - Returns: What to acknowledge now, and whether the session must begin to wait for a deadline.
    mutating func look(at sequence: UInt64, framesMax: UInt64) -> (due: UInt64?, mustWait: Bool) {
        guard sequence - self.last < framesMax else {
            self.last = sequence
            self.next = sequence + (self.waits ? framesMax : 1)
            return (sequence, false)
        }
        let mustWait = !self.waits
        self.waits = true
        self.next = self.last + framesMax
        return (nil, mustWait)
    }

    /// The deadline has passed.
    ///
    /// - Returns: What to acknowledge now; nil if nothing is new.
    mutating func endWait(at sequence: UInt64) -> UInt64? {
        defer { self = AcknowledgedNumbers(upTo: sequence) }
        return sequence > self.last ? sequence : nil
    }
}
