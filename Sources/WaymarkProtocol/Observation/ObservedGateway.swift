/// A gateway's state as an observer was told it: apply every message in order.
package struct ObservedGateway: Sendable, Hashable {
    package private(set) var vehicles: [VehicleID: VehicleRecord] = [:]
    package private(set) var clients: [ClientID: ClientRecord] = [:]
    package private(set) var sessions: [SessionID: SessionRecord] = [:]
    package private(set) var requests: [RequestKey: RequestRecord] = [:]
    /// What sessions retain, for an observer of frames; without those of ``sessionsWithoutContent``.
    package private(set) var retained: [SessionID: ObservedRetention] = [:]
    /// Sessions of which nothing is retained here until they end or the state is told again: all sessions would take more than
    /// ``contentBytesMax``. Those that took most are chosen.
    package private(set) var sessionsWithoutContent: Set<SessionID> = []
    /// The size of ``retained``, counted as the gateway counts it.
    package private(set) var contentByteCount = 0
    /// The most that ``contentByteCount`` may be.
    package let contentBytesMax: Int
    /// The number of the last entry.
    package private(set) var number: UInt64 = 0
    /// How many entries were dropped.
    package private(set) var dropped: UInt64 = 0
    /// The whole state was told.
    package private(set) var isComplete = false

    /// Nothing is told yet. By default, twice as much may be retained as a gateway retains by its default limits.
    package init(contentBytesMax: Int = 1_073_741_824) { self.contentBytesMax = contentBytesMax }

    /// Applies a message of the gateway. `outline` reads a publication; nil for what it cannot read.
    package mutating func apply(_ message: Message, outline: (Frame) -> PublicationOutline?) {
        switch message {
        case .observationBegin(let begin):
            if begin.kind == .full { self.forgetState() }
            self.number = begin.number
        case .observedRecords(let records):
            if records.number != 0 { self.number = records.number }
            self.apply(records, outline)
        case .observedEvent(let event): self.number = event.number
        case .observedFrames(let frames):
            self.number = frames.number
            self.apply(frames, outline)
        case .observationGap(let gap):
            self.dropped.addSaturating(gap.dropped)
            self.number.addSaturating(gap.dropped)
        default: break  // Of the connection, or Counters.
        }
    }

    private mutating func forgetState() {
        (self.vehicles, self.clients, self.sessions, self.requests) = ([:], [:], [:], [:])
        (self.retained, self.sessionsWithoutContent, self.contentByteCount) = ([:], [], 0)
        self.isComplete = false
    }

    private mutating func apply(_ records: ObservedRecords, _ outline: (Frame) -> PublicationOutline?) {
        for record in records.vehicles { self.vehicles[record.vehicle] = record }
        for record in records.clients { self.clients[record.client] = record }
        for record in records.sessions { self.sessions[record.session] = record }
        for record in records.requests { self.requests[record.key] = record }
        for id in records.vehiclesGone { self.vehicles[id] = nil }
        for id in records.clientsGone { self.clients[id] = nil }
        for id in records.sessionsGone {
            self.sessions[id] = nil
            self.sessionsWithoutContent.remove(id)
            self.forgetRetention(of: id)
        }
        for key in records.requestsGone { self.requests[key] = nil }
        for part in records.retained {
            if part.isFirst { self.forgetRetention(of: part.session) }
            guard !part.frames.isEmpty else { continue }
            self.changeRetention(of: part.session) { retention in
                for frame in Frame.all(in: part.frames) {
                    guard let content = outline(frame) else { continue }
                    retention.keep(frame.compacted(unlessMostOf: part.frames.count), content)
                }
            }
        }
        if records.isLast { self.isComplete = true }
    }

    private mutating func apply(_ told: ObservedFrames, _ outline: (Frame) -> PublicationOutline?) {
        guard told.direction == .in, !told.isRejected, self.sessions[told.session] != nil else { return }
        let published = Frame.all(in: told.frames).filter {
            MessageType.published.contains($0.header.rawType)
        }
        guard !published.isEmpty else { return }
        self.changeRetention(of: told.session) { retention in
            for frame in published {
                guard let content = outline(frame) else { continue }
                retention.apply(frame.compacted(unlessMostOf: told.frames.count), content)
            }
        }
    }

    // MARK: What is retained

    private mutating func changeRetention(
        of session: SessionID, _ change: (inout ObservedRetention) -> Void
    ) {
        guard !self.sessionsWithoutContent.contains(session) else { return }
        let before = self.retained[session]?.byteCount ?? 0
        change(&self.retained[session, default: ObservedRetention()])
        if self.retained[session]?.frames.isEmpty == true { self.retained[session] = nil }
        self.contentByteCount += (self.retained[session]?.byteCount ?? 0) - before
        if self.contentByteCount > self.contentBytesMax { self.forgetLargestRetentions() }
    }

    private mutating func forgetRetention(of session: SessionID) {
        guard let retention = self.retained.removeValue(forKey: session) else { return }
        self.contentByteCount -= retention.byteCount
    }

    private mutating func forgetLargestRetentions() {
        for session in self.retained.mapValues(\.byteCount).largest(above: self.contentBytesMax) {
            self.forgetRetention(of: session)
            self.sessionsWithoutContent.insert(session)
        }
    }
}

/// The frames that a session retains, see Docs/protocol.md, "Publications".
package struct ObservedRetention: Sendable, Hashable {
    private struct Kept: Sendable, Hashable {
        let frame: Frame
        /// Of a state.
        let key: ConflationKey?
        /// It names upcoming maneuvers, or a current lane guidance.
        let isNaming: Bool
    }

    private var kept: [Kept] = []
    /// What named upcoming maneuvers, or a current lane guidance, of the route last, while the newest such state names none.
    private var named: [ConflationKey: Frame] = [:]

    package init() {}

    /// In the publisher's order.
    package var frames: [Frame] { self.kept.map(\.frame) }

    /// Bytes that the gateway counts for each retained frame beside its own.
    private static let frameExtraBytes = 128

    /// The bytes of all frames, each with what it takes besides.
    package var byteCount: Int {
        let named = self.named.values.reduce(0) { $0 + $1.bytes.count + Self.frameExtraBytes }
        return self.kept.reduce(named) { $0 + $1.frame.bytes.count + Self.frameExtraBytes }
    }

    /// The publications that named upcoming maneuvers, or a current lane guidance, of the route last, if the newest ones name none. The
    /// gateway retains them no longer, but endpoints with few slots hold what is next by them.
    package var lastNamed: [Frame] { self.kept.compactMap { $0.key.flatMap { self.named[$0] } } }

    /// ``frames``, and ``lastNamed`` before those that replaced them: told as retained frames, they lead to the same retention.
    package var framesToTell: [Frame] {
        self.kept.flatMap { [$0.key.flatMap { self.named[$0] }, $0.frame].compactMap(\.self) }
    }

    /// Adds a frame that is retained already.
    fileprivate mutating func keep(_ frame: Frame, _ outline: PublicationOutline) {
        let key = outline.conflationKey
        if key != nil, self.kept.contains(where: { $0.key == key }) { return self.apply(frame, outline) }
        self.kept.append(Kept(frame: frame, key: key, isNaming: outline.isNaming))
    }

    /// Applies the next publication.
    fileprivate mutating func apply(_ frame: Frame, _ outline: PublicationOutline) {
        guard let key = outline.conflationKey else { return self.apply(event: frame, outline) }
        let isRetained = outline.rule.kind != .stateByKey || outline.isRetainedByHeader
        if let old = self.kept.firstIndex(where: { $0.key == key }) {
            // A state that is said again changes nothing, not even its number.
            guard !isRetained || self.kept[old].frame.body != frame.body else { return }
            let before = self.kept.remove(at: old)
            if outline.isNaming {
                self.named[key] = nil
            } else if before.isNaming {
                self.named[key] = before.frame
            }
        }
        if isRetained { self.kept.append(Kept(frame: frame, key: key, isNaming: outline.isNaming)) }
    }

    private mutating func apply(event frame: Frame, _ outline: PublicationOutline) {
        let rule = outline.rule
        // ResumeGuidance along the old route.
        let isOldRoute = rule.adds == .wholeRoute && outline.route == nil
        let voids: PublicationRule.Voids = isOldRoute ? .pause : rule.voids
        self.kept.removeAll { $0.frame.header.isVoided(by: voids) }
        self.named = self.named.filter { !$0.value.header.isVoided(by: voids) }
        if !isOldRoute, rule.retention != .nothing {
            self.kept.append(Kept(frame: frame, key: nil, isNaming: false))
        }
    }
}

extension [SessionID: Int] {
    /// The sessions to give up, the largest first, if these sizes are to take at most `max` in all. An eighth of it becomes free at once,
    /// because this looks at all sessions.
    package func largest(above max: Int) -> [SessionID] {
        var total = self.values.reduce(0, +)
        let sizes = self.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        var given: [SessionID] = []
        for (session, size) in sizes where total > max / 8 * 7 {
            given.append(session)
            total -= size
        }
        return given
    }
}

extension PublicationOutline {
    /// Whether it names upcoming maneuvers, or a current lane guidance.
    fileprivate var isNaming: Bool {
        switch self.content {
        case .maneuvers(let ids): self.rule.refersTo == .maneuvers && !ids.isEmpty
        case .laneGuidance(let id): id != nil
        default: false
        }
    }
}

extension FrameHeader {
    /// Whether an event makes a retained frame void.
    fileprivate func isVoided(by voids: PublicationRule.Voids) -> Bool {
        if voids.contains(.everything) { return true }
        let rule = PublicationRule.rule(for: self.rawType)
        if voids.contains(.route) { return rule.isOfRoute }
        return switch self.type {
        case .pauseGuidance: voids.contains(.pause)
        case .updateManeuverState: voids.contains(.maneuverState)
        case .showAlert: voids.contains(.alert)
        default: false
        }
    }
}

extension Frame {
    /// The frame in an array of its own, unless it is at least half of the `byteCount` bytes that it shares: a small frame that is kept
    /// would keep all of them.
    fileprivate func compacted(unlessMostOf byteCount: Int) -> Frame {
        self.bytes.count >= byteCount / 2 ? self : self.compacted()
    }

    /// Whole frames, one behind the other; stops at what is none.
    package static func all(in bytes: [UInt8]) -> [Frame] {
        var frames: [Frame] = []
        var start = 0
        while start + FrameHeader.byteCount <= bytes.count {
            let header = FrameHeader(at: start, of: bytes)
            let end = start + header.frameByteCount
            guard end <= bytes.count else { break }
            frames.append(Frame(header: header, bytes: bytes[start..<end]))
            start = end
        }
        return frames
    }
}
