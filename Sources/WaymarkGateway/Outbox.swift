internal import DequeModule
package import WaymarkProtocol

/// The queue of frames for one peer that reads slowly: the newest value of each state, every event, in the publisher's order,
/// within a bound. Frames that need no order among those go first. Of what vehicles send to a client, each endpoint has a share.
///
/// Its frames own their bytes: a small frame that waits does not keep a large read alive.
package struct Outbox: Sendable, Hashable {
    package struct Limits: Defaultable {
        /// The most bytes that may wait; every frame counts as 128 bytes more than it has. Over it the peer is closed, because events
        /// are never dropped.
        package var bytesMax = 4_194_304
        /// The most events of one endpoint that may wait for a client, and their bytes. Beyond it they are not forwarded.
        package var eventsPerEndpointMax = 16
        package var eventBytesPerEndpointMax = 65_536
        /// A peer that reads nothing for this long while frames wait is closed.
        package var slowConsumerTimeout: Duration = .seconds(30)

        package init() {}

        /// For a queue whose memory is bounded in another way.
        package static let none = {
            var limits = Limits()
            limits.bytesMax = .max
            return limits
        }()
    }

    /// Whether a frame was queued.
    package enum Verdict: Sendable, Hashable {
        case queued
        /// Over ``Limits/bytesMax`` even after conflation.
        case overflow
        /// An event beyond the share of its endpoint. It is dropped, and its endpoint must be told.
        case rejected(EventLimit)
    }

    /// Identifies a waiting frame: a state by its key, an event by its number.
    private enum Slot: Sendable, Hashable {
        case state(SessionID, ConflationKey)
        /// The maneuver state in front of the upcoming maneuvers that wait.
        case endOfManeuver(SessionID)
        case event(UInt64)
        /// A state for a client, of a type.
        indirect case relayed(Relay, SessionID, UInt16)
        /// A request for a client.
        indirect case request(VehicleID, Identifier)
    }

    private struct Entry: Sendable, Hashable {
        var slot: Slot
        let frame: Frame
        /// nil for a frame that is not ``Relay``'s.
        var relay: Relay?
    }

    /// A frame that waits, with what decides how it waits.
    package struct Waiting: Sendable, Hashable, Codable {
        package var frame: Frame
        /// nil for a frame that no newer one replaces by this key.
        package var key: ConflationKey?
        package var relay: Relay?
    }

    package let limits: Limits
    /// Bytes that wait, as ``Limits/bytesMax`` counts them.
    package private(set) var byteCount = 0
    /// States that were replaced before they were written.
    package private(set) var conflatedCount: UInt64 = 0
    /// What goes before ``queue``.
    private var urgent: Deque<Frame> = []
    private var queue: [Entry?] = []
    private var head = 0
    private var indices: [Slot: Int] = [:]
    private var eventCount: UInt64 = 0
    private var shares = EventShares()

    package init(limits: Limits) { self.limits = limits }

    /// Drops all waiting frames.
    package mutating func removeAll() {
        let conflatedCount = self.conflatedCount
        self = Outbox(limits: self.limits)
        self.conflatedCount = conflatedCount
    }

    package var isEmpty: Bool { self.indices.isEmpty && self.urgent.isEmpty }

    /// Puts a frame at the end; a state takes the place of an older waiting value of the same session and key.
    ///
    /// The older value is removed and the newer one goes to the end, so that it is never ahead of an event that was
    /// published before it. O(1) on average.
    package mutating func append(_ frame: Frame, key: ConflationKey?) -> Verdict {
        let slot: Slot
        if let key {
            slot = .state(frame.header.session, key)
            if let index = self.indices[slot] {
                self.remove(at: index)
                self.conflatedCount += 1
            }
            if key.type == MessageType.upcomingManeuvers.rawValue {
                self.keepManeuverState(of: frame.header.session)
            }
        } else {
            slot = .event(self.nextEvent())
        }
        return self.append(Entry(slot: slot, frame: frame))
    }

    private mutating func append(_ entry: Entry) -> Verdict {
        guard self.byteCount + entry.frame.keptByteCount <= self.limits.bytesMax else { return .overflow }
        self.compactIfSparse()
        self.indices[entry.slot] = self.queue.count
        self.queue.append(entry)
        self.byteCount += entry.frame.keptByteCount
        return .queued
    }

    private mutating func nextEvent() -> UInt64 {
        defer { self.eventCount += 1 }
        return self.eventCount
    }

    /// Puts a frame for a client where `relay` says. `mayExceedShare`: it waited in another process, so it is not rejected. O(1) on average.
    package mutating func append(_ frame: Frame, as relay: Relay, mayExceedShare: Bool = false) -> Verdict {
        let header = frame.header
        switch relay {
        case .state:
            let slot = Slot.relayed(relay, header.session, header.rawType)
            self.removeConflated(slot)
            return self.append(Entry(slot: slot, frame: frame, relay: relay))
        case .standing(let vehicle):
            return self.append(
                Entry(
                    slot: .relayed(relay, header.session, header.rawType), frame: frame, relay: relay),
                of: vehicle)
        case .standingPart(let vehicle):
            self.pin(.relayed(.standing(vehicle), header.session, header.rawType))
            return self.append(frame, key: nil)
        case .opened(let session):
            for case .relayed(.standing(let vehicle), session, let type) in Array(self.indices.keys) {
                self.pin(.relayed(.standing(vehicle), session, type))
            }
            return self.append(frame, key: nil)
        case .share(let vehicle): return self.append(frame, as: relay, about: vehicle)
        case .event(let endpoint, _):
            let limit = self.shares.limit(reachedBy: frame.keptByteCount, of: endpoint, self.limits)
            if let limit, !mayExceedShare { return .rejected(limit) }
            let number = self.nextEvent()
            let verdict = self.append(Entry(slot: .event(number), frame: frame, relay: relay))
            if verdict == .queued { self.shares.add(frame.keptByteCount, of: endpoint, number: number) }
            return verdict
        case .request(let vehicle, let id):
            let slot = Slot.request(vehicle, id)
            // The older one has ended: otherwise the gateway would not forward another with its id.
            if let index = self.indices[slot] { self.remove(at: index) }
            return self.append(Entry(slot: slot, frame: frame, relay: relay))
        case .outcome(let vehicle, let id):
            guard let index = self.indices[.request(vehicle, id)] else {
                return self.append(frame, as: relay, about: vehicle)
            }
            self.remove(at: index)
            return .queued
        }
    }

    /// Puts a frame about a vehicle at the end, where no newer standing of the vehicle goes before it.
    private mutating func append(_ frame: Frame, as relay: Relay, about vehicle: VehicleID) -> Verdict {
        let number = self.nextEvent()
        let verdict = self.append(Entry(slot: .event(number), frame: frame, relay: relay))
        if verdict == .queued { self.shares.note(vehicle, number: number) }
        return verdict
    }

    /// Lets a waiting state stay where it is: no newer one takes its place.
    private mutating func pin(_ slot: Slot) {
        guard let index = self.indices.removeValue(forKey: slot), let frame = self.queue[index]?.frame else {
            return
        }
        let pinned = Slot.event(self.nextEvent())
        self.queue[index] = Entry(slot: pinned, frame: frame)
        self.indices[pinned] = index
    }

    private mutating func removeConflated(_ slot: Slot) {
        guard let index = self.indices[slot] else { return }
        self.remove(at: index)
        self.conflatedCount += 1
    }

    /// Lets a VehicleChanged take the place of an older one, so that the client hears of a vehicle before it hears from it. If an event or an
    /// outcome of the vehicle waits behind the older one, both wait: the newer one may say that the vehicle has left.
    private mutating func append(_ entry: Entry, of vehicle: VehicleID) -> Verdict {
        guard let index = self.indices[entry.slot], let older = self.queue[index]?.frame else {
            return self.append(entry)
        }
        if let last = self.shares.last(of: vehicle), let event = self.indices[.event(last)], event > index {
            self.pin(entry.slot)
            return self.append(entry)
        }
        let byteCount = self.byteCount - older.keptByteCount + entry.frame.keptByteCount
        guard byteCount <= self.limits.bytesMax else { return .overflow }
        self.queue[index] = entry
        self.byteCount = byteCount
        self.conflatedCount += 1
        return .queued
    }

    /// Puts a frame behind the others that go first.
    package mutating func append(urgent frame: Frame) -> Verdict {
        guard self.byteCount + frame.keptByteCount <= self.limits.bytesMax else { return .overflow }
        self.urgent.append(frame)
        self.byteCount += frame.keptByteCount
        return .queued
    }

    /// Keeps a maneuver state that waits before UpcomingManeuvers: it ends the previous maneuver. Otherwise the endpoint would apply
    /// the old maneuver's state to the new one.
    private mutating func keepManeuverState(of session: SessionID) {
        let slot = Slot.state(session, ConflationKey(type: .updateManeuverState))
        guard let index = self.indices.removeValue(forKey: slot) else { return }
        if let older = self.indices[.endOfManeuver(session)] {
            self.remove(at: older)
            self.conflatedCount += 1
        }
        self.queue[index]?.slot = .endOfManeuver(session)
        self.indices[.endOfManeuver(session)] = index
    }

    /// Dequeues frames to write: at least one if any waits, then as many as fit `byteCount`.
    package mutating func take(byteCount: Int) -> [Frame] {
        var frames: [Frame] = []
        var taken = 0
        while let frame = self.urgent.first {
            guard frames.isEmpty || taken + frame.bytes.count <= byteCount else { return frames }
            taken += frame.bytes.count
            frames.append(frame)
            self.byteCount -= frame.keptByteCount
            self.urgent.removeFirst()
            if self.urgent.isEmpty { self.urgent = [] }  // Gives its memory back.
        }
        while self.head < self.queue.count {
            if let frame = self.queue[self.head]?.frame {
                guard frames.isEmpty || taken + frame.bytes.count <= byteCount else { break }
                taken += frame.bytes.count
                frames.append(frame)
                self.remove(at: self.head)
            }
            self.head += 1
        }
        self.compactIfSparse()
        return frames
    }

    /// Dequeues the first frame.
    mutating func takeFirst() -> Frame? { self.take(byteCount: 0).first }

    /// Drops the waiting frames of a session, or of all sessions for none, or only those of one type.
    package mutating func purge(_ session: SessionID, only type: MessageType? = nil) {
        for index in self.head..<self.queue.count {
            guard let header = self.queue[index]?.frame.header, header.session != .none,
                session == .none || header.session == session, type == nil || header.type == type
            else { continue }
            self.remove(at: index)
        }
        self.compactIfSparse()
    }

    private mutating func remove(at index: Int) {
        guard let entry = self.queue[index] else { return }
        self.queue[index] = nil
        self.indices[entry.slot] = nil
        self.byteCount -= entry.frame.keptByteCount
        switch entry.relay {
        case .event(let endpoint, _): self.shares.remove(entry.frame.keptByteCount, of: endpoint)
        case .outcome(let vehicle, _), .share(let vehicle): self.shares.forget(vehicle)
        case nil, .state, .standing, .standingPart, .opened, .request: break
        }
    }

    /// Removes the holes once they are the larger part, so that memory follows the number of frames.
    private mutating func compactIfSparse() {
        guard self.queue.count > 32, self.queue.count > 2 * self.indices.count else { return }
        self.queue = self.queue[self.head...].filter { $0 != nil }
        self.head = 0
        for (index, entry) in self.queue.enumerated() {
            if let entry { self.indices[entry.slot] = index }
        }
    }

    /// The waiting frames, in order; a state with its key. Appended in this order, they wait in the same way.
    package var waiting: [Waiting] {
        self.urgent.map { Waiting(frame: $0) }
            + self.queue[self.head...].compactMap { entry in
                entry.map { entry in
                    switch entry.slot {
                    case .state(_, let key): Waiting(frame: entry.frame, key: key)
                    case .endOfManeuver:
                        Waiting(frame: entry.frame, key: ConflationKey(type: .updateManeuverState))
                    case .event, .relayed, .request: Waiting(frame: entry.frame, relay: entry.relay)
                    }
                }
            }
    }

    private var frames: [Frame] { self.waiting.map(\.frame) }

    package static func == (lhs: Outbox, rhs: Outbox) -> Bool {
        lhs.limits == rhs.limits && lhs.frames == rhs.frames
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.frames) }
}
