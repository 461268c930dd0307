internal import Foundation
package import WaymarkProtocol
package import WaymarkRecording

/// Reads a recording as entries of a history: one of a run, and one of `waymark record`.
package struct RecordedHistory {
    package enum Item: Sendable {
        /// Its index is the number in the recording, its instant the time since the recording began.
        case entry(History.Entry)
        /// The gateway's state was told anew: what was known before is void.
        case state(RecordedState)
        /// So many entries are missing: the recorder read too slowly.
        case dropped(Int)
    }

    private var walk: RecordingWalk
    /// The time of the first message; instants are since then.
    package let begin: RecordingTime
    /// It is of a run: its events say more than an observer is told.
    private let isOfRun: Bool
    private var instant = Instant(nanoseconds: 0)
    /// The number of the last item.
    private var number = 0
    /// Items that the last message made, reversed.
    private var waiting: [Item] = []

    package init(_ recording: Recording) {
        self.walk = RecordingWalk(recording, holdsContent: false, tellsStates: true)
        self.begin = recording.times?.lowerBound ?? RecordingTime(nanoseconds: 0)
        self.isOfRun = recording.origin?.run != nil
    }

    /// Of the last item. Times of observers can go back a little; instants do not.
    package var time: RecordingTime { self.begin + (self.instant - Instant(nanoseconds: 0)) }

    /// The vehicles of a session at the last item.
    package func vehicles(of session: SessionID) -> Set<VehicleID> {
        self.walk.state.peers.vehicles(of: session)
    }

    /// The next item; nil at the end.
    package mutating func next() throws(RecordingError) -> Item? {
        while self.waiting.isEmpty {
            guard let entry = try self.walk.next() else { return nil }
            self.instant = max(self.instant, self.instant(of: entry.time))
            self.number = Int(entry.number)
            self.waiting = self.items(entry).reversed()
        }
        return self.waiting.popLast()
    }

    /// So much later than the beginning nothing is: rules add to instants, also to those of a damaged file.
    private static let durationMax = Duration.seconds(3_000_000_000)

    private func instant(of time: RecordingTime) -> Instant {
        let duration = min(max(time - self.begin, .zero - Self.durationMax), Self.durationMax)
        return Instant(nanoseconds: 0) + duration
    }

    /// The end of a recording.
    package func end(of recording: Recording) -> Instant? {
        recording.times.map { self.instant(of: $0.upperBound) }
    }

    private func items(_ entry: RecordedEntry) -> [Item] {
        switch entry.content {
        case .frame(let frame):
            return frame.peers.compactMap { name in
                PeerID(observed: name).map { self.item(.frame(self.crossed(frame, of: $0))) }
            }
        case .broken(let bytes, let direction, let name):
            return PeerID(observed: name).map {
                [self.item(.broken($0, direction == .in ? .toGateway : .toPeer, bytes))]
            } ?? []
        case .event(let text): return self.items(text)
        case .state(let state): return [.state(state)]
        }
    }

    private func item(_ kind: History.Kind) -> Item {
        .entry(History.Entry(index: self.number, instant: self.instant, kind: kind))
    }

    // MARK: Frames

    private func crossed(_ recorded: RecordedFrame, of peer: PeerID) -> CrossedFrame {
        let delivery: CrossedFrame.Delivery =
            switch recorded.delivery {
            case .whole, .repeated: .whole
            case .corrupted: .corrupted
            case .dropped: .dropped
            }
        let crossed = CrossedFrame(
            recorded.frame, of: peer, recorded.direction == .in ? .toGateway : .toPeer,
            sent: self.instant(of: recorded.sent), delivery: delivery)
        // Without its texts a body may be one that no peer may send.
        return recorded.isRedacted && crossed.rejection != nil ? crossed.withoutRejection : crossed
    }

    // MARK: Events

    private func items(_ text: String) -> [Item] {
        let json: Any
        do { json = try JSONSerialization.jsonObject(with: Data(text.utf8)) } catch { return [] }
        guard let object = json as? [String: Any], let kind = object["kind"] as? String else { return [] }
        if kind == "dropped" { return [.dropped(object["count"] as? Int ?? 0)] }
        return (self.isOfRun ? Self.kind(ofRun: kind, object) : Self.kind(observed: kind, object))
            .map { [self.item($0)] } ?? []
    }

    private static func peer(_ object: [String: Any]) -> PeerID? {
        (object["peer"] as? String).flatMap { PeerID(observed: $0) }
    }

    private static func kind(observed kind: String, _ object: [String: Any]) -> History.Kind? {
        guard kind == "event", let peer = self.peer(object) else { return nil }
        return switch object["event"] as? String {
        case "\(ObservedKind.admitted)": .connection(peer, .admitted(resumed: false))
        case "\(ObservedKind.resumed)": .connection(peer, .admitted(resumed: true))
        case "\(ObservedKind.departed)":
            .connection(peer, .ended(object["code"] as? Int == 1 ? .normal : nil))
        default: nil
        }
    }

    private static func kind(ofRun kind: String, _ object: [String: Any]) -> History.Kind? {
        let text = object["text"] as? String ?? ""
        switch kind {
        case "connection":
            guard let peer = self.peer(object) else { return nil }
            switch object["state"] as? String {
            case "connecting": return .connection(peer, .connecting)
            case "connected": return .connection(peer, .admitted(resumed: object["resumed"] as? Bool == true))
            case "refused": return .connection(peer, .refused(object["reason"] as? String ?? ""))
            case "closed":
                let name = object["code"] as? String
                return .connection(peer, .ended(CloseCode.allCases.first { "\($0)" == name }))
            default: return nil
            }
        case "fault":
            return .fault(FaultRecord(object["fault"] as? String ?? "", of: self.peer(object), text))
        case "mark": return .step(object["step"] as? Int ?? 0, text)
        case "log": return .log(self.peer(object), text)
        default: return nil
        }
    }
}

extension CrossedFrame {
    /// The same, of a frame whose body says less than it did.
    fileprivate var withoutRejection: CrossedFrame {
        CrossedFrame(unread: self.frame, of: self.peer, self.way, sent: self.sent, delivery: self.delivery)
    }
}
