internal import OrderedCollections
internal import WaymarkModel
internal import WaymarkProtocol

/// The times that publications take to one endpoint, from its receipts.
struct EndpointTiming: Sendable, Hashable, Codable, Defaultable {
    /// A receipt's news: the endpoint has received or shown a publication.
    private struct Moment: Sendable, Hashable, Codable {
        let sequence: UInt64
        let published: Instant
        /// The time by the endpoint's clock.
        let stamp: UInt64
    }

    /// The delay of one publication.
    struct Delay: Sendable, Hashable, Codable {
        let sequence: UInt64
        let microseconds: UInt64
    }

    private(set) var delays: EndpointDelays?
    /// The last ones in the present session.
    private(set) var received: Delay?
    private(set) var shown: Delay?
    private var clock = EndpointClock()
    /// The news that wait until the clocks are compared.
    private var newReceived: Moment?
    private var newShown: Moment?
    /// Up to these numbers the endpoint's receipts have counted, or need not.
    private var receivedSequence: UInt64 = 0
    private var shownSequence: UInt64 = 0

    init() {}

    /// The endpoint is sent the whole state of a session, up to a number: when that was published does not matter.
    mutating func begin(at sequence: UInt64) {
        (self.received, self.shown, self.newReceived, self.newShown) = (nil, nil, nil, nil)
        (self.receivedSequence, self.shownSequence) = (sequence, sequence)
    }

    /// The endpoint has a new connection.
    mutating func reconnect() {
        self.clock.reset()
        (self.newReceived, self.newShown) = (nil, nil)
    }

    /// Notes what a receipt says. Call ``measure(at:)`` then.
    ///
    /// - Returns: What to say in a Ping that is due now.
    mutating func note(_ receipt: Receipt, _ published: PublishedTimes, at now: Instant) -> UInt64? {
        if let stamp = receipt.receivedNanoseconds, receipt.receivedSequence > self.receivedSequence {
            self.receivedSequence = receipt.receivedSequence
            self.newReceived = published[receipt.receivedSequence].map {
                Moment(sequence: receipt.receivedSequence, published: $0, stamp: stamp)
            }
        }
        if let stamp = receipt.shownNanoseconds, receipt.shownSequence > self.shownSequence {
            self.shownSequence = receipt.shownSequence
            self.newShown = published[receipt.shownSequence].map {
                Moment(sequence: receipt.shownSequence, published: $0, stamp: stamp)
            }
        }
        return self.newReceived == nil && self.newShown == nil ? nil : self.clock.ask(at: now)
    }

    /// Handles a Pong with times. Call ``measure(at:)`` then.
    mutating func answer(_ nonce: UInt64, _ times: PongTimes, at now: Instant) {
        self.clock.answer(nonce, times, at: now)
    }

    /// The delays that are known now and were not before.
    mutating func measure(at now: Instant) -> (received: Duration?, shown: Duration?) {
        let received = self.newReceived.flatMap { self.delay(of: $0, at: now) }
        let shown = self.newShown.flatMap { self.delay(of: $0, at: now) }
        guard received != nil || shown != nil else { return (nil, nil) }
        var delays = self.delays ?? EndpointDelays()
        if let received, let moment = self.newReceived {
            self.newReceived = nil
            delays.received.add(received.time)
            delays.roundTripMicroseconds = UInt64(clamping: received.roundTrip.nanoseconds / 1_000)
            self.received = Delay(
                sequence: moment.sequence, microseconds: delays.received.lastMicroseconds)
        }
        if let shown, let moment = self.newShown {
            self.newShown = nil
            delays.shown.add(shown.time)
            delays.roundTripMicroseconds = UInt64(clamping: shown.roundTrip.nanoseconds / 1_000)
            self.shown = Delay(sequence: moment.sequence, microseconds: delays.shown.lastMicroseconds)
        }
        self.delays = delays
        return (received?.time, shown?.time)
    }

    /// No endpoint receives what is not published yet, or tells of it before it has.
    private func delay(of moment: Moment, at now: Instant) -> (time: Duration, roundTrip: Duration)? {
        self.clock.convert(moment.stamp, at: now).map {
            (max(.zero, min($0.instant - moment.published, now - moment.published)), $0.roundTrip)
        }
    }
}

// MARK: The gateway

extension Gateway {
    /// Measures delays from a receipt of an endpoint, or asks for its clock first.
    mutating func measure(
        _ receipt: Receipt, in session: GatewaySession, _ path: EndpointPath, _ connection: ConnectionID,
        at now: Instant, into actions: inout [Action]
    ) {
        guard receipt.receivedNanoseconds != nil || receipt.shownNanoseconds != nil,
            let published = session.published,
            var timing = self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.timing
        else { return }
        if let stamp = timing.note(receipt, published, at: now) {
            actions.append(.send(connection, Envelope(.ping(nonce: stamp, sentNanoseconds: stamp))))
        }
        self.count(timing.measure(at: now))
        self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.timing = timing
    }

    /// Measures the delays that waited for an endpoint's clock.
    mutating func compareClock(
        _ nonce: UInt64, _ times: PongTimes, _ path: EndpointPath, _ connection: ConnectionID,
        at now: Instant
    ) {
        guard let vehicle = self.vehicles.elements[path.vehicle],
            let endpoint = vehicle.endpoints[path.endpoint], endpoint.connection == connection
        else { return }
        var timing = endpoint.timing
        timing.answer(nonce, times, at: now)
        let measured = timing.measure(at: now)
        guard timing != endpoint.timing else { return }
        self.vehicles[path.vehicle]?.endpoints[path.endpoint]?.timing = timing
        self.count(measured)
        guard measured.received != nil || measured.shown != nil, let session = vehicle.session else {
            return
        }
        self.planReport(of: session, at: now)
    }

    private mutating func count(_ measured: (received: Duration?, shown: Duration?)) {
        if let received = measured.received {
            self.counters.receivedDelays = self.counters.receivedDelays.adding(received)
        }
        if let shown = measured.shown {
            self.counters.shownDelays = self.counters.shownDelays.adding(shown)
        }
    }
}

extension DelayCounts? {
    fileprivate func adding(_ delay: Duration) -> DelayCounts {
        var counts = self ?? DelayCounts()
        counts.add(delay)
        return counts
    }
}
