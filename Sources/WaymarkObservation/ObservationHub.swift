package import WaymarkAccess
internal import WaymarkCodec
package import WaymarkGateway
package import WaymarkProtocol

/// Everything that observers are told: what each of them wants, and what happened since.
///
/// The gateway's driver hands in each event with the actions that followed. It turns them into entries of one ring, which all observers
/// read at their own speed: an observer that reads too slowly loses the oldest entries, and no peer waits for it.
///
/// A value without I/O and clock, like the gateway. It exists while there are observers.
package struct ObservationHub {
    /// The answer to the Hello of an observer.
    package enum Verdict: Sendable {
        /// The connection that it had before must be closed.
        case admitted(Welcome, takenOver: ConnectionID?)
        case refused(Goodbye)
    }

    /// What one observer is sent at a time.
    package struct Portion {
        package let connection: ConnectionID
        package let frames: [Frame]
        /// Nothing more waits for it.
        package let isLast: Bool
    }

    /// The length of a portion in bytes; a single entry may be longer.
    static let portionBytes = 32_768
    /// Several frames are told in one message up to this length.
    static let togetherBytesMax = 65_536
    /// Entries of all observers that are looked at for one portion of one of them.
    private static let entriesLookedAtMax: UInt64 = 4_096
    /// Records that are looked at for one part of the present state.
    static let recordsPerPart = 256

    /// By place.
    var observations = ObservationTable()
    private var places: [ConnectionID: Int] = [:]
    var ring = ObservationRing()
    var told = ToldRecords()
    /// Observations that have something to send, and room for it.
    private var due: ObservationSet = []
    /// Entries that came since portions were taken, in bytes.
    private var newByteCount = 0
    /// The place whose turn it is to be told a part of the state.
    private var nextWalker = 0
    /// Who is behind connections that were told, as long as they are open.
    var parties: [ConnectionID: Gateway.Party] = [:]
    /// Where in the ring a session's trip ceased to share something.
    var optOuts: [SessionID: UInt64] = [:]
    /// Entries that observers were or will be told that they missed, each once for each of them, however often it is told.
    package private(set) var droppedCount: UInt64 = 0
    /// Some observer may have asked for counters that are not being answered.
    var mayBeAsked = false
    /// What was redacted last in the present step.
    var lastRedacted: (frames: ArraySlice<UInt8>, redacted: [UInt8])?
    let encoder = BodyEncoder()

    private var access: AccessPolicy
    private var ringBytesMax: Int

    /// For the observers of a gateway that notes its changes, see ``Gateway/trackChanges(_:)``.
    package init(of gateway: Gateway) {
        self.ringBytesMax = gateway.policy.limits.observationBytesMax
        self.access = gateway.policy.access
    }

    /// What the ring holds, in bytes.
    package var byteCount: Int { self.ring.byteCount }
    package var connectedCount: Int { self.places.count }
    /// No observer is connected or may resume.
    package var isEmpty: Bool { self.observations.allSatisfy { $0 == nil } }

    /// The connections of observers.
    package var connections: [ConnectionID] { self.places.keys.sorted() }

    package func has(_ connection: ConnectionID) -> Bool { self.places[connection] != nil }
    /// The subject that the access rules see; nil if the connection is not that of an observer.
    package func subject(of connection: ConnectionID) -> AccessSubject? {
        self.places[connection].flatMap { self.observations[$0]?.subject }
    }
    func place(of connection: ConnectionID) -> Int? { self.places[connection] }

    // MARK: Observers

    /// Admits an observer, or refuses it. `seesAllVehicles`: whatever the access rules say.
    package mutating func admit(
        _ connection: ConnectionID, _ hello: ObserverHello, resuming old: ResumptionToken?,
        _ principal: Principal, _ subject: AccessSubject, _ token: ResumptionToken, in gateway: Gateway,
        seesAllVehicles: Bool = false, at now: Instant
    ) -> Verdict {
        self.forgetExpired(at: now)
        let resumed = self.observations.firstIndex {
            guard let known = $0, known.principal == principal else { return false }
            return known.tokens.verdict(on: old, from: connection) != .invalid
        }
        var takenOver: ConnectionID?
        if let resumed {
            if self.observations[resumed]?.tokens.verdict(on: old, from: connection) == .late {
                return .refused(
                    Goodbye(.idInUse, reason: "the observer has resumed on a later connection"))
            }
            takenOver = self.observations[resumed]?.connection
            if let takenOver { self.places[takenOver] = nil }
        } else if let refusal = self.refusal(of: principal, gateway.policy.limits) {
            return .refused(refusal)
        }
        var observation =
            resumed.flatMap { self.observations[$0] }
            ?? Observation(
                hello: hello, principal: principal, subject: subject, grant: .open, scope: nil,
                tokens: ResumptionTokens(token, on: connection))
        // Entries for the observation that had the place before are not its own.
        if resumed == nil { (observation.cursor, observation.first) = (self.ring.end, self.ring.end) }
        // It may have come through another listener.
        if observation.hello.visibility != hello.visibility {
            observation = observation.with(hello)
            (observation.cursor, observation.first) = (self.ring.end, self.ring.end)
        }
        observation.hello = hello
        observation.grant = gateway.grant(ofObserver: subject)
        observation.scope = seesAllVehicles ? nil : gateway.scope(ofObserver: observation.grant)
        observation.tokens = ResumptionTokens(
            token, resuming: resumed == nil ? nil : old, on: connection)
        observation.connection = connection
        observation.mayContinue = resumed != nil
        observation.isReady = true
        // What it asked on another connection is answered only if it asks again.
        (observation.asked, observation.answer) = (nil, nil)
        let place = resumed ?? self.freePlace()
        self.observations[place] = observation
        self.places[connection] = place
        var welcome = Welcome(resumptionToken: token)
        welcome.isResumed = resumed != nil
        welcome.graceMilliseconds = UInt32(clamping: gateway.policy.limits.grace.milliseconds)
        welcome.visibility = hello.visibility
        return .admitted(welcome, takenOver: takenOver)
    }

    /// An observer that was resumed has sent something since, so that it has its Welcome.
    package mutating func confirm(_ connection: ConnectionID) {
        guard let place = self.places[connection] else { return }
        self.observations[place]?.tokens.endSpare()
    }

    /// Adds an observation of another process.
    mutating func add(_ observation: Observation) {
        let place = self.freePlace()
        self.observations[place] = observation
        if let connection = observation.connection { self.places[connection] = place }
        if observation.asked != nil { self.mayBeAsked = true }
        self.note(place)
    }

    /// How many entries of the ring an observer was not told.
    func waitingCount(of place: Int) -> UInt64 {
        var count: UInt64 = 0
        var index = max(self.observations[place]?.cursor ?? 0, self.ring.start)
        while index < self.ring.end {
            if self.ring[index].receivers.contains(ObservationSet(place)) { count += 1 }
            index += 1
        }
        return count
    }

    /// How many entries observers were not told, which a handover drops.
    package var waitingCount: UInt64 {
        var count: UInt64 = 0
        for place in self.observations.indices where self.observations[place] != nil {
            count &+= self.waitingCount(of: place)
        }
        return count
    }

    private mutating func freePlace() -> Int {
        if let free = self.observations.firstIndex(where: { $0 == nil }) { return free }
        self.observations.append(nil)
        return self.observations.count - 1
    }

    private func refusal(of principal: Principal, _ limits: GatewayLimits) -> Goodbye? {
        let known = self.observations.compactMap(\.self)
        let knownMax = min(limits.observersMax, ObservationSet.countMax)
        if known.count >= knownMax {
            return Goodbye(
                .resourceLimit, reason: "\(known.count) observers are known",
                limit: ReachedLimit("observers_max", knownMax))
        }
        let own = known.count { $0.principal == principal }
        guard own >= limits.observersPerUserMax else { return nil }
        return Goodbye(
            .resourceLimit, reason: "\(own) observers of this user are known",
            limit: ReachedLimit("observers_per_user_max", limits.observersPerUserMax))
    }

    /// An observer has gone. It may resume until `end`, unless it said Goodbye.
    package mutating func depart(_ connection: ConnectionID, clean: Bool, until end: Instant) {
        guard let place = self.places.removeValue(forKey: connection) else { return }
        self.observations[place]?.connection = nil
        self.observations[place]?.end = end
        self.observations[place]?.asked = nil
        self.observations[place]?.answer = nil
        self.due.remove(ObservationSet(place))
        if clean { self.observations[place] = nil }
    }

    /// Forgets observers that did not resume in time.
    package mutating func forgetExpired(at now: Instant) {
        for place in self.observations.indices {
            guard let observation = self.observations[place], observation.connection == nil,
                observation.end <= now
            else { continue }
            self.observations[place] = nil
        }
    }

    /// An observer says what it wants.
    package mutating func receive(
        _ observe: Observe, from connection: ConnectionID, at now: Instant
    ) {
        guard let place = self.places[connection], var observation = self.observations[place] else { return }
        // Of the present state the last part may have been lost with the connection, unless an entry behind it arrived.
        let isComplete = observation.walk == nil && observe.afterNumber > observation.stateNumber
        let continues =
            observation.mayContinue && (isComplete || !observe.wantsState)
            && observation.observe?.wantsTheSame(as: observe) == true
            && observe.afterNumber <= observation.number
        observation.mayContinue = false
        observation.observe = observe
        observation.retained = nil
        observation.visibleSessions = [:]
        if continues {
            self.rewind(&observation, place, to: observe.afterNumber)
            observation.begin = ObservationBegin(.missed, after: observe.afterNumber, at: now)
        } else {
            observation.begin = ObservationBegin(.full, after: observation.number, at: now)
            (observation.cursor, observation.first) = (self.ring.end, self.ring.end)
            observation.dropped = 0
            observation.walk = observe.wantsState ? .vehicles(after: nil) : nil
        }
        self.observations[place] = observation
        self.note(place)
    }

    /// Goes back to the entry behind the one with this number. Those that the ring no longer has are dropped: it was told them, or that
    /// they were dropped, on a connection that was cut.
    private mutating func rewind(_ observation: inout Observation, _ place: Int, to number: UInt64) {
        var missing = observation.number - number
        observation.number = number
        observation.cursor = max(observation.cursor, self.ring.start)
        let first = max(observation.first, self.ring.start)
        while missing > 0, observation.cursor > first {
            observation.cursor -= 1
            if self.ring[observation.cursor].receivers.contains(ObservationSet(place)) { missing -= 1 }
        }
        self.droppedCount += missing - observation.gaps.count(in: number..<number + missing)
        observation.gaps.removeAll(behind: number)
        observation.dropped += missing
    }

    /// The loop of an observer has room for another portion.
    package mutating func noteRoom(for connection: ConnectionID) {
        guard let place = self.places[connection] else { return }
        self.observations[place]?.isReady = true
        self.note(place)
    }

    /// Applies another policy. Forgets observers whose vehicles changed rules change, and returns their connections. They may say Hello
    /// again.
    package mutating func endForbidden(by gateway: Gateway) -> [ConnectionID] {
        self.ringBytesMax = gateway.policy.limits.observationBytesMax
        let access = gateway.policy.access
        guard access != self.access else { return [] }
        self.access = access
        var ended: [ConnectionID] = []
        for place in self.observations.indices {
            guard let observation = self.observations[place], let scope = observation.scope else { continue }
            let grant = gateway.grant(ofObserver: observation.subject)
            guard gateway.scope(ofObserver: grant) != scope else {
                self.observations[place]?.grant = grant
                continue
            }
            if let connection = observation.connection {
                ended.append(connection)
                self.places[connection] = nil
            }
            self.observations[place] = nil
        }
        self.due = []
        for place in self.observations.indices { self.note(place) }
        return ended
    }

    // MARK: Entries

    /// Adds an entry for those who want it.
    mutating func append(_ entry: ObservationRing.Entry) {
        guard !entry.receivers.isEmpty else { return }
        self.ring.append(entry)
        self.newByteCount += max(entry.body.count, entry.redacted.count)
        self.due.formUnion(entry.receivers)
        while self.ring.byteCount > self.ringBytesMax { self.dropOldest() }
    }

    private mutating func dropOldest() {
        let index = self.ring.start
        for place in self.ring.dropFirst().places {
            guard let cursor = self.observations[place]?.cursor, cursor <= index else { continue }
            self.observations[place]?.dropped += 1
            self.droppedCount += 1
        }
    }

    /// From now on, what a session's trip no longer shares is not told any more, also if it crossed before.
    mutating func noteOptOut(of session: SessionID) {
        self.optOuts[session] = self.ring.end
        guard self.optOuts.count > Self.optOutsMax else { return }
        let start = self.ring.start
        self.optOuts = self.optOuts.filter { $0.value > start }
    }

    private static let optOutsMax = 4_096

    /// A peer is about to depart: the gateway forgets who it was.
    package mutating func noteParty(of connection: ConnectionID, in gateway: Gateway) {
        self.parties[connection] = self.parties[connection] ?? gateway.party(connection)
    }

    mutating func forgetParty(of connection: ConnectionID) { self.parties[connection] = nil }

    /// The redacted form of an entry that was not made redacted.
    private static func redacted(_ entry: ObservationRing.Entry) -> ArraySlice<UInt8> {
        entry.redacted.isEmpty ? Codec.redacted(entry: entry.body) : entry.redacted
    }

    /// Whether an observer may be sent something now.
    package var isDue: Bool { !self.due.isEmpty }
    /// Enough came since portions were taken to fill one.
    package var fillsPortion: Bool { self.newByteCount >= Self.portionBytes }

    /// Some observer may be told counters now.
    package var needsMeasures: Bool {
        self.due.places.contains {
            if case .counters? = self.observations[$0]?.answer?.part { true } else { false }
        }
    }

    /// Adds an observation to those that have something to send, or removes it.
    mutating func note(_ place: Int) {
        guard let observation = self.observations[place], observation.isReady, !observation.mayContinue,
            observation.connection != nil, observation.isDue || observation.cursor < self.ring.end
        else { return self.due.subtract(ObservationSet(place)) }
        self.due.formUnion(ObservationSet(place))
    }

    /// The next portion of each observer that has room. One of those that wait for the present state is told a part of it.
    package mutating func takePortions(
        of gateway: inout Gateway, measures: () -> Measures, at now: Instant
    ) -> [Portion] {
        self.newByteCount = 0
        var portions: [Portion] = []
        let walker = self.takeWalker()
        for place in self.due.places {
            guard var observation = self.observations[place], let connection = observation.connection,
                observation.isReady, !observation.mayContinue
            else {
                self.due.subtract(ObservationSet(place))
                continue
            }
            var frames: [Frame] = []
            self.fill(
                &frames, &observation, place, walks: place == walker, &gateway, measures, at: now)
            if frames.contains(where: { $0.bytes.count > observation.frameBytesMax }) {
                frames = frames.flatMap { self.parts(of: $0, frameBytesMax: observation.frameBytesMax) }
            }
            if !frames.isEmpty {
                observation.isReady = false
                let isLast = !observation.isDue && observation.cursor == self.ring.end
                portions.append(Portion(connection: connection, frames: frames, isLast: isLast))
            }
            self.observations[place] = observation
            self.note(place)
        }
        return portions
    }

    /// The next one in turn of those that are due and wait for the present state.
    private mutating func takeWalker() -> Int? {
        let walkers = self.due.places.filter { self.observations[$0]?.walk != nil }
        let walker = walkers.first { $0 >= self.nextWalker } ?? walkers.first
        if let walker { self.nextWalker = walker + 1 }
        return walker
    }

    private mutating func fill(
        _ frames: inout [Frame], _ observation: inout Observation, _ place: Int, walks: Bool,
        _ gateway: inout Gateway, _ measures: () -> Measures, at now: Instant
    ) {
        var room = Self.portionBytes
        let encoder = self.encoder
        func add(_ message: Message) { frames.append(encoder.encode(Envelope(message))) }
        if let begin = observation.begin {
            observation.begin = nil
            add(.observationBegin(begin))
        }
        observation.cursor = max(observation.cursor, self.ring.start)
        if observation.dropped > 0 {
            observation.number += observation.dropped
            add(
                .observationGap(
                    ObservationGap(dropped: observation.dropped, nextNumber: observation.number + 1)))
            observation.gaps.append(observation.dropped, endingAt: observation.number)
            observation.dropped = 0
            if observation.observe?.wantsState == true {
                add(.observationBegin(ObservationBegin(.full, after: observation.number, at: now)))
                observation.walk = .vehicles(after: nil)
                observation.retained = nil
            }
        }
        if observation.retained != nil {
            guard walks else { return }
            self.tellRetained(&observation, gateway, &room, into: &frames)
            guard observation.retained == nil else { return }
        }
        let end = min(self.ring.end, observation.cursor + Self.entriesLookedAtMax)
        while observation.cursor < end, room > 0 {
            let index = observation.cursor
            observation.cursor += 1
            guard let frame = self.frame(at: index, for: place, observation) else { continue }
            observation.number += 1
            room -= frame.bytes.count
            frames.append(frame)
        }
        guard observation.cursor == self.ring.end, room > 0 else { return }
        self.tellCounters(&observation, &gateway, &room, measures, into: &frames, at: now)
        if walks, room > 0 { self.tellState(&observation, &gateway, room, into: &frames, at: now) }
    }

    /// A frame, or if it is longer than an observer takes, those into which its message is divided.
    private func parts(of frame: Frame, frameBytesMax: Int) -> [Frame] {
        guard frame.bytes.count > frameBytesMax else { return [frame] }
        do throws(DecodingError) {
            return try Codec.decode(frame).divided(frameBytesMax: frameBytesMax, encode: self.encoder.encode)
                .map { self.encoder.encode($0) }
        } catch { return [] }  // Not reached: this build made the frame.
    }

    /// The next frame of an observer; nil if the entry is not for it.
    private func frame(at index: UInt64, for place: Int, _ observation: Observation) -> Frame? {
        let number = observation.number + 1
        let entry = self.ring[index]
        guard entry.receivers.contains(ObservationSet(place)) else { return nil }
        if entry.redactedFor.contains(ObservationSet(place)) {
            return Codec.frame(ofEntry: entry.redacted, entry.type, number: number)
        }
        // The trip has ceased to share it since.
        if entry.sensitiveSession != .none, observation.hello.visibility < .all,
            let optOut = self.optOuts[entry.sensitiveSession], optOut > index
        {
            return Codec.frame(ofEntry: Self.redacted(entry), entry.type, number: number)
        }
        return Codec.frame(ofEntry: entry.body, entry.type, number: number)
    }
}
