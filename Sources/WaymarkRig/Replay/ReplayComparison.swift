internal import WaymarkConfiguration
package import WaymarkHistory
package import WaymarkProtocol
package import WaymarkScenario
internal import WaymarkTexts

/// What peers received in a replay, compared with the recording: frames of each connection in order, equal but for what
/// Docs/recordings.md names.
package struct ReplayComparison: Sendable {
    /// A place in which the replay differs.
    package struct Difference: Sendable {
        package let peer: PeerID
        /// The peer's connections, counted from 1.
        package let connection: Int
        /// As a failed expectation, for ``FailureText``.
        package let failure: Failure
    }

    /// So many are told of a connection.
    private static let differencesMax = 4
    /// So far ahead a frame is looked for, before it is missing.
    private static let lookAhead = 24

    package let tolerance: ReplayTolerance
    package private(set) var differences: [Difference] = []
    package private(set) var frameCount = 0
    package private(set) var connectionCount = 0
    /// Of these frames only the header was compared: the rest is hidden in the recording.
    package private(set) var hiddenCount = 0
    /// Frames at the end of connections that were cut in the recording, in which they were lost.
    package private(set) var lostCount = 0

    package var isEqual: Bool { self.differences.isEmpty }

    /// A frame, and where it was.
    struct Received {
        let crossed: CrossedFrame
        let instant: Instant
        /// In the history of the replay.
        var index: Int?
        var isRedacted = false

        var isWelcome: Bool { self.crossed.frame.header.type == .welcome }
    }

    /// Compares what peers received.
    ///
    /// - Parameters:
    ///   - conversation: The recording.
    ///   - history: What happened in the replay.
    ///   - peers: Those that were replayed.
    ///   - begin: When instant 0 of the recording was in the replay.
    ///   - tolerance: What may differ because of time.
    package init(
        _ conversation: RecordedConversation, _ history: History, _ peers: [ReplayPeer],
        begin: Instant = Instant(nanoseconds: 0), tolerance: ReplayTolerance = .virtual
    ) {
        self.tolerance = tolerance
        let end = begin + (conversation.end - Instant(nanoseconds: 0)).divided(by: peers.first?.speed ?? 1)
        for peer in peers {
            let recorded = conversation.connections.filter { $0.peer == peer.id }
            let replayed = Self.connections(of: peer.id, in: history)
            for (place, connection) in recorded.enumerated() {
                let sight = place < replayed.count ? replayed[place] : []
                var comparing = Comparing(
                    peer, number: place + 1, isCut: connection.isCut, end: end, tolerance)
                comparing.compare(connection, sight)
                self.add(comparing)
            }
            for (place, sight) in replayed.enumerated().dropFirst(recorded.count) {
                var comparing = Comparing(peer, number: place + 1, isCut: false, end: end, tolerance)
                comparing.compare(nil, sight)
                self.add(comparing)
            }
        }
        self.differences.sort { $0.failure.instant < $1.failure.instant }
    }

    private mutating func add(_ comparing: Comparing) {
        self.differences += comparing.differences
        self.frameCount += comparing.frameCount
        self.hiddenCount += comparing.hiddenCount
        self.lostCount += comparing.lostCount
        self.connectionCount += 1
    }

    /// What each connection of a peer received, without those on which nothing crossed.
    private static func connections(of peer: PeerID, in history: History) -> [[Received]] {
        var connections: [[Received]] = []
        for entry in history.entries {
            switch entry.kind {
            case .connection(peer, .connecting):
                if connections.last?.isEmpty != true { connections.append([]) }
            case .frame(let crossed) where crossed.peer == peer && crossed.way == .toPeer:
                guard !connections.isEmpty else { continue }
                connections[connections.count - 1].append(
                    Received(crossed: crossed, instant: entry.instant, index: entry.index))
            default: continue
            }
        }
        if connections.last?.isEmpty == true { connections.removeLast() }
        return connections
    }

    // MARK: One connection

    private struct Comparing {
        let peer: ReplayPeer
        let number: Int
        let isCut: Bool
        /// When the recording is over: what comes later is not in it.
        let end: Instant
        var differences: [Difference] = []
        var frameCount = 0
        var hiddenCount = 0
        var lostCount = 0
        /// The last entry that was as recorded.
        private var anchor: Int?

        private let tolerance: ReplayTolerance

        init(_ peer: ReplayPeer, number: Int, isCut: Bool, end: Instant, _ tolerance: ReplayTolerance) {
            (self.peer, self.number, self.isCut, self.end, self.tolerance) = (
                peer, number, isCut, end, tolerance
            )
        }

        mutating func compare(_ connection: RecordedConversation.Connection?, _ sight: [Received]) {
            let lost = connection?.lostFrames(self.peer.sessions) ?? []
            let recorded = (connection?.received ?? []).filter { self.isCompared($0, lost, isRecorded: true) }
            let replayed = sight.filter { self.isCompared($0, lost, isRecorded: false) }
            var (left, right) = (0, 0)
            while left < recorded.count || right < replayed.count {
                guard self.differences.count < ReplayComparison.differencesMax else { return }
                guard left < recorded.count else {
                    self.endWith(replayed[right...])
                    break
                }
                guard right < replayed.count else {
                    self.miss(recorded[left], nil)
                    left += 1
                    continue
                }
                if self.isSame(recorded[left], replayed[right]) {
                    self.frameCount += 1
                    if recorded[left].isRedacted { self.hiddenCount += 1 }
                    self.anchor = replayed[right].index
                    (left, right) = (left + 1, right + 1)
                } else {
                    self.resume(recorded, replayed, &left, &right)
                }
            }
            self.compareAcknowledged(connection?.received ?? [], sight)
        }

        /// Keepalive, and what the protocol's page allows to come otherwise, are not compared.
        private func isCompared(_ frame: Received, _ lost: Set<LostFrame>, isRecorded: Bool) -> Bool {
            switch frame.crossed.message {
            case .ping, .pong, .acknowledgement: return false
            // It crosses a connection that its peer has given up.
            case .goodbye(let goodbye): return goodbye.code != .takenOver
            case .error(let error) where error.sequence > 0:
                let session = isRecorded ? self.peer.sessions[error.session] ?? error.session : error.session
                return !lost.contains(LostFrame(session: session, sequence: error.sequence))
            default: return true
            }
        }

        private func isSame(_ recorded: Received, _ replayed: Received) -> Bool {
            FrameComparison.isEqual(
                recorded.crossed, replayed.crossed, self.peer.sessions, recorded.isRedacted, self.tolerance)
        }

        /// Finds where both are the same again.
        private mutating func resume(
            _ recorded: [Received], _ replayed: [Received], _ left: inout Int, _ right: inout Int
        ) {
            let (first, second) = (recorded[left], replayed[right])
            for distance in 1...ReplayComparison.lookAhead {
                if right + distance < replayed.count, self.isSame(first, replayed[right + distance]) {
                    for extra in replayed[right..<(right + distance)] { self.exceed(extra) }
                    return right += distance
                }
                if left + distance < recorded.count, self.isSame(recorded[left + distance], second) {
                    for missing in recorded[left..<(left + distance)] { self.miss(missing, second) }
                    return left += distance
                }
            }
            self.miss(first, second)
            (left, right) = (left + 1, right + 1)
        }

        /// The recording has no more of this connection.
        private mutating func endWith(_ rest: ArraySlice<Received>) {
            for frame in rest where frame.instant <= self.end {
                guard !self.isCut else {
                    self.lostCount += 1
                    continue
                }
                self.exceed(frame)
            }
        }

        private mutating func miss(_ recorded: Received, _ seen: Received?) {
            let text = FrameText.text(recorded.crossed)
            let differences = seen.map {
                FrameComparison.differences(recorded.crossed, $0.crossed, self.peer.sessions)
            }
            let nearest = seen.flatMap { seen in
                seen.index.map { Nearest(index: $0, differences: differences ?? []) }
            }
            self.add(
                "\(text)\nas recorded at \(ClockText.seconds(recorded.instant)) s, on connection \(self.number)",
                at: seen?.instant ?? recorded.instant, nearest)
        }

        private mutating func exceed(_ seen: Received) {
            let nearest = seen.index.map {
                Nearest(
                    index: $0,
                    differences: [
                        FieldDifference("frame", expected: "none", seen: FrameText.text(seen.crossed))
                    ])
            }
            self.add(
                "no frame that is not in the recording, on connection \(self.number)", at: seen.instant,
                nearest)
        }

        private mutating func add(_ expected: String, at instant: Instant, _ nearest: Nearest?) {
            guard self.differences.count < ReplayComparison.differencesMax else { return }
            self.differences.append(
                Difference(
                    peer: self.peer.id, connection: self.number,
                    failure: Failure(expected, anchor: self.anchor, at: instant, nearest: nearest)))
        }

        /// Acknowledgements are grouped differently each time; all numbers must be acknowledged.
        private mutating func compareAcknowledged(_ recorded: [Received], _ replayed: [Received]) {
            guard self.differences.isEmpty else { return }
            let seen = Self.acknowledged(replayed) { $0 }
            let expected = Self.acknowledged(self.timely(recorded)) { self.peer.sessions[$0] ?? $0 }
            for (session, number) in expected.sorted(by: { $0.key < $1.key })
            where seen[session, default: 0] < number {
                self.add(
                    "all up to \(number) are acknowledged, on connection \(self.number)",
                    at: self.end, nil)
            }
        }

        /// Without the acknowledgements that may come too late for the end of their session.
        private func timely(_ recorded: [Received]) -> [Received] {
            guard self.tolerance.acknowledgement > .zero, let last = recorded.last else { return recorded }
            var ends: [SessionID: Instant] = [:]
            for frame in recorded {
                if case .sessionEnded(let ended)? = frame.crossed.message {
                    ends[ended.session] = frame.instant
                }
            }
            return recorded.filter {
                let end = ends[$0.crossed.frame.header.session] ?? last.instant
                return $0.instant + self.tolerance.acknowledgement <= end
            }
        }

        private static func acknowledged(
            _ frames: [Received], _ session: (SessionID) -> SessionID
        ) -> [SessionID: UInt64] {
            var numbers: [SessionID: UInt64] = [:]
            for frame in frames {
                guard case .acknowledgement(let number)? = frame.crossed.message else { continue }
                let session = session(frame.crossed.frame.header.session)
                numbers[session] = max(numbers[session, default: 0], number)
            }
            return numbers
        }
    }
}

/// A frame whose content is not in a recording.
struct LostFrame: Hashable {
    let session: SessionID
    let sequence: UInt64
}

extension RecordedConversation.Connection {
    /// Its peer left without a word, so that something may have been lost with it.
    fileprivate var isCut: Bool {
        guard !self.isSuperseded else { return true }
        return self.lines.contains { if case .left = $0.kind { true } else { false } }
    }

    /// What the peer received. The Welcome is the first of it, though an observer may be told later than of what follows.
    fileprivate var received: [ReplayComparison.Received] {
        let received = self.lines.compactMap { line -> ReplayComparison.Received? in
            guard case .received(let crossed) = line.kind else { return nil }
            return ReplayComparison.Received(
                crossed: crossed, instant: line.instant, isRedacted: line.isRedacted)
        }
        return received.filter(\.isWelcome) + received.filter { !$0.isWelcome }
    }

    fileprivate func lostFrames(_ sessions: [SessionID: SessionID]) -> Set<LostFrame> {
        Set(
            self.lines.compactMap { line in
                guard case .lostFrame(let header) = line.kind else { return nil }
                return LostFrame(
                    session: sessions[header.session] ?? header.session, sequence: header.sequence)
            })
    }
}
