internal import DequeModule
package import WaymarkProtocol

/// The queue of frames for one endpoint that reads slowly: the newest value of each state, every event, in the publisher's order,
/// within a bound. Frames that need no order among those go first.
///
/// Its frames own their bytes: a small frame that waits does not keep a large read alive.
package struct Outbox: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// The most bytes that may wait; every frame counts as 128 bytes more than it has. Over it the endpoint is closed, because events
        /// are never dropped.
        package var bytesMax = 4_194_304
        /// An endpoint that reads nothing for this long while frames wait is closed.
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
    }

    /// Identifies a waiting frame: a state by its key, an event by its number.
    private enum Slot: Sendable, Hashable {
        case state(SessionID, ConflationKey)
        /// The maneuver state in front of the upcoming maneuvers that wait.
        case endOfManeuver(SessionID)
        case event(UInt64)
    }

    package let limits: Limits
    /// Bytes that wait, as ``Limits/bytesMax`` counts them.
    package private(set) var byteCount = 0
    /// States that were replaced before they were written.
    package private(set) var conflatedCount: UInt64 = 0
    /// What goes before ``queue``.
    private var urgent: Deque<Frame> = []
    private var queue: [(slot: Slot, frame: Frame)?] = []
    private var head = 0
    private var indices: [Slot: Int] = [:]
    private var eventCount: UInt64 = 0

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
            slot = .event(self.eventCount)
            self.eventCount += 1
        }
        guard self.byteCount + frame.keptByteCount <= self.limits.bytesMax else { return .overflow }
        self.compactIfSparse()
        self.indices[slot] = self.queue.count
        self.queue.append((slot, frame))
        self.byteCount += frame.keptByteCount
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
        guard let (slot, frame) = self.queue[index] else { return }
        self.queue[index] = nil
        self.indices[slot] = nil
        self.byteCount -= frame.keptByteCount
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

    /// The waiting frames, in order; a state with its key.
    package var waiting: [(frame: Frame, key: ConflationKey?)] {
        self.urgent.map { ($0, nil) }
            + self.queue[self.head...].compactMap { entry in
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
