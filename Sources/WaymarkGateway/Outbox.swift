package import WaymarkProtocol

/// What waits to be written to one endpoint: newest states, all events, in the publisher's order, within a bound.
package struct Outbox: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// Frames waiting, in bytes. Over it the endpoint is closed: events are never dropped. More than what a session
        /// retains, so that a snapshot fits; its frames are shared with the session.
        package var bytesMax = 33_554_432
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
        case event(UInt64)
    }

    package let limits: Limits
    /// Bytes waiting.
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
        } else {
            slot = .event(self.eventCount)
            self.eventCount += 1
        }
        guard self.byteCount + frame.bytes.count <= self.limits.bytesMax else { return .overflow }
        self.compactIfSparse()
        self.places[slot] = self.queue.count
        self.queue.append((slot, frame))
        self.byteCount += frame.bytes.count
        return .queued
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

    /// Drops what waits of a session.
    package mutating func purge(_ session: SessionID) {
        for place in self.head..<self.queue.count where self.queue[place]?.frame.header.session == session {
            self.remove(at: place)
        }
        self.compactIfSparse()
    }

    private mutating func remove(at place: Int) {
        guard let (slot, frame) = self.queue[place] else { return }
        self.queue[place] = nil
        self.places[slot] = nil
        self.byteCount -= frame.bytes.count
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

    /// The frames waiting, in order.
    private var frames: [Frame] { self.queue[self.head...].compactMap { $0?.frame } }

    package static func == (lhs: Outbox, rhs: Outbox) -> Bool {
        lhs.limits == rhs.limits && lhs.frames == rhs.frames
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.frames) }
}
