internal import WaymarkProtocol

/// Compares an endpoint's clock with the gateway's, as NTP does: by a Ping and its Pong, of which both ends say when they sent and received
/// them. The link is taken to be as fast in both directions, so half of what its directions differ by remains as an error.
struct EndpointClock: Sendable, Hashable, Codable {
    /// One Ping and its Pong.
    private struct Sample: Sendable, Hashable, Codable {
        /// The nanoseconds by which the endpoint's clock is ahead, wrapping around.
        let lead: UInt64
        let roundTrip: Duration
        let instant: Instant

        /// The largest error of ``lead``, in nanoseconds: half the round trip, and what the clocks have drifted since.
        func errorMax(at now: Instant) -> Int64 {
            let drift = (now - self.instant).nanoseconds / 1_000_000 * EndpointClock.driftPerMillion
            return self.roundTrip.nanoseconds / 2 + drift
        }
    }

    /// The newest ones, oldest first.
    private var samples: [Sample] = []
    /// The instant at which the Ping was sent that was not answered yet.
    private var asked: Instant?

    private static let samplesMax = 8
    /// Two clocks of quartz drift by less than this from each other, in nanoseconds for each million.
    private static let driftPerMillion: Int64 = 200
    /// The clocks are compared again after this time.
    private static let freshTime = Duration.seconds(2)
    /// Older samples are not used: two clocks may have drifted by 2 milliseconds.
    private static let sampleAgeMax = Duration.seconds(10)
    /// A Ping that was not answered for so long is lost.
    private static let answerTimeout = Duration.seconds(10)

    /// Whether a Ping must be sent now. Call it when a receipt with times has come.
    ///
    /// - Returns: What to say in the Ping, as its nonce and its time.
    mutating func ask(at now: Instant) -> UInt64? {
        if let asked, now - asked < Self.answerTimeout { return nil }
        if let last = self.samples.last, now - last.instant < Self.freshTime { return nil }
        self.asked = now
        return now.stamp
    }

    /// Handles a Pong. One that answers no Ping of this clock, or contradicts itself, is ignored.
    mutating func answer(_ nonce: UInt64, _ times: PongTimes, at now: Instant) {
        guard let asked, asked.stamp == nonce, now >= asked else { return }
        self.asked = nil
        let away = UInt64((now - asked).nanoseconds)
        let held = times.sentNanoseconds &- times.receivedNanoseconds
        guard held <= away else { return }
        // The middle between its sending and its receipt by either clock.
        let middle = asked.stamp &+ away / 2
        let theirMiddle = times.receivedNanoseconds &+ held / 2
        let sample = Sample(
            lead: theirMiddle &- middle, roundTrip: .nanoseconds(Int64(away - held)), instant: now)
        if self.samples.count == Self.samplesMax { self.samples.removeFirst() }
        self.samples.append(sample)
    }

    /// The endpoint has a new connection; maybe its clock has begun anew.
    mutating func reset() { self = EndpointClock() }

    /// The gateway's time for a time of the endpoint's clock, and the round trip of the comparison that it is based on; nil if there is no
    /// recent one.
    func convert(_ stamp: UInt64, at now: Instant) -> (instant: Instant, roundTrip: Duration)? {
        let recent = self.samples.filter { now - $0.instant <= Self.sampleAgeMax }
        return recent.min { $0.errorMax(at: now) < $1.errorMax(at: now) }.map {
            (Instant(nanoseconds: Int64(bitPattern: stamp &- $0.lead)), $0.roundTrip)
        }
    }
}

/// The instants at which the gateway accepted the newest publications of a session. Only a session whose client wants receipts has it.
struct PublishedTimes: Sendable, Hashable, Codable {
    /// The one of number n is at n - ``first``, modulo ``countMax``.
    private var instants: [Instant] = []
    private let first: UInt64
    private var last: UInt64

    /// Receipts name the newest publications, so a receipt about an older one is not measured.
    private static let countMax: UInt64 = 512

    /// Begins behind a number.
    init(after sequence: UInt64) {
        self.first = sequence + 1
        self.last = sequence
    }

    /// Notes that all numbers up to one were accepted now.
    mutating func note(upTo sequence: UInt64, at now: Instant) {
        while self.last < sequence {
            self.last += 1
            let index = Int((self.last - self.first) % Self.countMax)
            if index == self.instants.count { self.instants.append(now) } else { self.instants[index] = now }
        }
    }

    /// The instant at which a number was accepted; nil if that is not known any more.
    subscript(sequence: UInt64) -> Instant? {
        guard sequence >= self.first, sequence <= self.last, self.last - sequence < Self.countMax else {
            return nil
        }
        return self.instants[Int((sequence - self.first) % Self.countMax)]
    }
}
