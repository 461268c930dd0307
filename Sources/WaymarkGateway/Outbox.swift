package import WaymarkProtocol

/// What waits to be written to one endpoint: newest states, all events, in the publisher's order, within a bound.
///
/// The frames that the gateway hands out own their bytes, so that what waits here pins nothing but itself.
package struct Outbox: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// What waits, in bytes; every frame counts as 128 bytes more than it has. Over it the endpoint is closed: events are never dropped.
        package var bytesMax = 4_194_304
        /// An endpoint that takes nothing for this long while something waits is closed.
        package var slowConsumerTimeout: Duration = .seconds(30)

        package init() {}
    }

    /// Whether a frame was taken.
    package enum Verdict: Sendable, Hashable {
        case queued
        /// Over ``Limits/bytesMax`` even after conflation.
        case overflow
    }

    /// What a waiting frame is found by: a state by what it is the value of, an event by its place.
    private enum Slot: Sendable, Hashable {
        case state(SessionID, ConflationKey)
        /// The maneuver state in front of the upcoming maneuvers that wait.
        case endOfManeuver(SessionID)
        case event(UInt64)
    }

    package let limits: Limits
    /// What waits takes, in bytes, see ``Limits/bytesMax``.
    package private(set) var byteCount = 0
    /// States that were replaced before they were written.
    package private(set) var conflatedCount: UInt64 = 0
    private var queue: [(slot: Slot, frame: Frame)?] = []
    private var head = 0
    private var places: [Slot: Int] = [:]
    private var eventCount: UInt64 = 0

    package init(limits: Limits) { self.limits = limits }

    package var isEmpty: Bool { self.places.isEmpty }

    /// Puts a frame at the end; a state takes the place of an older waiting value of the same session and key.
    ///
    /// The older value is removed and the newer one goes to the end, so that it is never ahead of an event that was
    /// published before it. O(1) on average.
    package mutating func append(_ frame: Frame, key: ConflationKey?) -> Verdict {
        let slot: Slot
        if let key {
            slot = .state(frame.header.session, key)
            if let place = self.places[slot] {
                self.remove(at: place)
                self.conflatedCount += 1
            }
            if key.type == MessageType.upcomingManeuvers.rawValue {
                self.keepManeuverState(of: frame.header.session)
            }
        } else {
            slot = .event(self.eventCount)
            self.eventCount += 1
        }
        guard self.byteCount + frame.keptByteCount <= self.limits.bytesMax else { return .overflow }
        self.compactIfSparse()
        self.places[slot] = self.queue.count
        self.queue.append((slot, frame))
        self.byteCount += frame.keptByteCount
        return .queued
    }

    /// Keeps a maneuver state that waits before UpcomingManeuvers: it ends the previous maneuver. Otherwise the endpoint would apply
    /// the old maneuver's state to the new one.
    private mutating func keepManeuverState(of session: SessionID) {
        let slot = Slot.state(session, ConflationKey(type: .updateManeuverState))
        guard let place = self.places.removeValue(forKey: slot) else { return }
        if let older = self.places[.endOfManeuver(session)] {
            self.remove(at: older)
            self.conflatedCount += 1
        }
        self.queue[place]?.slot = .endOfManeuver(session)
        self.places[.endOfManeuver(session)] = place
    }

    /// Takes frames from the front to write them: at least one if there is one, then as many as fit `byteCount`.
    package mutating func take(byteCount: Int) -> [Frame] {
        var frames: [Frame] = []
        var taken = 0
        while self.head < self.queue.count {
            if let (_, frame) = self.queue[self.head] {
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

    /// Drops what waits of a session, or only what is of one type.
    package mutating func purge(_ session: SessionID, only type: MessageType? = nil) {
        for place in self.head..<self.queue.count {
            guard let header = self.queue[place]?.frame.header, header.session == session,
                type == nil || header.type == type
            else { continue }
            self.remove(at: place)
        }
        self.compactIfSparse()
    }

    private mutating func remove(at place: Int) {
        guard let (slot, frame) = self.queue[place] else { return }
        self.queue[place] = nil
        self.places[slot] = nil
        self.byteCount -= frame.keptByteCount
    }

    /// Closes the holes once they are the larger part, so that memory follows what waits.
    private mutating func compactIfSparse() {
        guard self.queue.count > 32, self.queue.count > 2 * self.places.count else { return }
        self.queue = self.queue[self.head...].filter { $0 != nil }
        self.head = 0
        for (place, entry) in self.queue.enumerated() {
            if let entry { self.places[entry.slot] = place }
        }
    }

    /// What waits, in order; a state with its key.
    package var waiting: [(frame: Frame, key: ConflationKey?)] {
        self.queue[self.head...].compactMap { entry in
            entry.map { entry in
                switch entry.slot {
                case .state(_, let key): (entry.frame, key)
                case .endOfManeuver: (entry.frame, ConflationKey(type: .updateManeuverState))
                case .event: (entry.frame, nil)
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
