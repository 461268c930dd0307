internal import Foundation
internal import WaymarkCodec
internal import WaymarkHistory
internal import WaymarkProtocol
internal import WaymarkRecording

extension RecordedConversation {
    /// Puts the entries of a recording together.
    struct Reading {
        private(set) var connections: [Connection] = []
        private(set) var gatewayLines: [GatewayLine] = []
        private(set) var omissions: [Omission] = []
        private(set) var end = Instant(nanoseconds: 0)
        private(set) var byteCount = 0
        /// The longest time for which the gateway said that it keeps a peer's state.
        private(set) var grace: Duration?
        private var order = 0
        private var places: [ConnectionID: Int] = [:]
        /// Connections of a peer that have not ended, oldest first.
        private var open: [PeerID: [Int]] = [:]
        private var unknown: Set<ConnectionID> = []
        /// Connections whose peer has left.
        private var left: Set<Int> = []

        mutating func see(_ entry: RecordedEntry, at instant: Instant) {
            self.end = max(self.end, instant)
            switch entry.content {
            case .frame(let frame):
                for (number, peer) in zip(frame.connections, frame.peers) {
                    self.see(frame, of: number, named: peer, at: instant)
                }
            case .event(let text): self.see(event: text, at: instant)
            case .broken, .state: break
            }
        }

        private mutating func omit(_ text: String) {
            if let place = self.omissions.firstIndex(where: { $0.text == text }) {
                self.omissions[place].count += 1
            } else {
                self.omissions.append(Omission(text: text))
            }
        }

        private mutating func append(
            _ kind: Line.Kind, to place: Int, at instant: Instant, isRedacted: Bool = false
        ) {
            self.order += 1
            self.connections[place].lines.append(
                Line(order: self.order, instant: instant, kind: kind, isRedacted: isRedacted))
        }

        // MARK: Frames

        private mutating func see(
            _ recorded: RecordedFrame, of number: ConnectionID, named name: String, at instant: Instant
        ) {
            let frame = recorded.frame.compacted()
            if recorded.direction == .in, frame.header.type == .hello {
                self.begin(frame, number, at: instant)
            }
            guard let place = self.places[number] else {
                if self.unknown.insert(number).inserted {
                    self.omit("a connection of \(name) was open before the recording began")
                }
                return
            }
            // What is told of a connection whose peer has left did not cross it.
            guard !self.left.contains(place), self.hasArrived(recorded) else { return }
            self.byteCount += frame.bytes.count
            let isRedacted = recorded.isRedacted
            switch recorded.direction {
            case .in: self.append(.sent(frame), to: place, at: instant, isRedacted: isRedacted)
            case .out:
                let crossed = CrossedFrame(
                    frame, of: self.connections[place].peer, .toPeer, sent: instant)
                self.append(.received(crossed), to: place, at: instant, isRedacted: isRedacted)
                self.learn(from: crossed, place)
            }
        }

        /// The gateway got it; or sent it, whatever became of it.
        private mutating func hasArrived(_ recorded: RecordedFrame) -> Bool {
            guard recorded.direction == .in else { return true }
            switch recorded.delivery {
            case .whole, .repeated: return true
            case .dropped: return false
            case .corrupted:
                self.omit("a frame that a fault changed is not in the recording as it arrived")
                return false
            }
        }

        private mutating func begin(_ frame: Frame, _ number: ConnectionID, at instant: Instant) {
            guard self.places[number] == nil else { return }
            let crossed = CrossedFrame(
                frame, of: .client(ClientID(unchecked: "")), .toGateway, sent: instant)
            guard case .hello(let hello)? = crossed.message, let peer = PeerID(hello) else { return }
            for older in self.open[peer] ?? [] { self.connections[older].isSuperseded = true }
            let place = self.connections.count
            self.places[number] = place
            self.open[peer, default: []].append(place)
            self.connections.append(Connection(number: number, peer: peer, hello: hello))
            if let vehicle = peer.vehicle { self.connections[place].vehicles = [vehicle] }
        }

        /// What later shows who belongs together, and how connections end.
        private mutating func learn(from crossed: CrossedFrame, _ place: Int) {
            switch crossed.message {
            case .welcome(let welcome):
                let grace = Duration.milliseconds(Int64(welcome.graceMilliseconds))
                self.grace = max(self.grace ?? .zero, grace)
            case .sessionOpened(let opened):
                self.connections[place].vehicles.formUnion(opened.vehicles.map(\.vehicle))
            case .vehicleChanged(let status): self.connections[place].vehicles.insert(status.vehicle)
            case .goodbye(let goodbye):
                self.connections[place].isSilent = goodbye.code == .keepaliveTimeout
                self.close(place)
            default: break
            }
        }

        private mutating func close(_ place: Int) {
            self.open[self.connections[place].peer]?.removeAll { $0 == place }
        }

        // MARK: Events

        /// The keys of a line of `/events` that say how connections end, and what happened to the gateway.
        private struct Event: Decodable {
            var kind: String?
            var event: String?
            var state: String?
            var peer: String?
            var fault: String?
        }

        private mutating func see(event text: String, at instant: Instant) {
            let event: Event
            do { event = try JSONDecoder().decode(Event.self, from: Data(text.utf8)) } catch {
                return  // Of a newer recorder: it says nothing that this one knows.
            }
            if event.kind == "fault", let name = event.fault {
                return self.see(fault: name, of: event.peer, at: instant)
            }
            let isEnd = event.event == "departed" || (event.kind == "connection" && event.state == "closed")
            if event.kind == "dropped" { self.omit("the gateway dropped entries of the recorder") }
            guard isEnd, let peer = event.peer.flatMap(PeerID.init(observed:)),
                let place = self.open[peer]?.first
            else { return }
            self.append(.left, to: place, at: instant)
            self.left.insert(place)
            self.close(place)
        }

        private mutating func see(fault name: String, of peer: String?, at instant: Instant) {
            guard peer == nil, let fault = VirtualRun.GatewayFault(rawValue: name) else { return }
            self.order += 1
            self.gatewayLines.append(
                GatewayLine(order: self.order, instant: instant, fault: fault, until: nil))
        }

        // MARK: The end

        mutating func finish() {
            for place in self.gatewayLines.indices {
                self.gatewayLines[place].until = self.end(of: self.gatewayLines[place])
            }
            for place in self.connections.indices { self.addLostFrames(place) }
        }

        /// A gateway that died is back when it was sent something, one that stood still when it says something.
        private func end(of fault: GatewayLine) -> Instant? {
            let later = self.connections.flatMap(\.lines).filter { line in
                guard line.order > fault.order else { return false }
                return switch (fault.fault, line.kind) {
                case (.kill, .sent), (.stop, .received): true
                default: false
                }
            }
            return later.map(\.instant).min()
        }

        /// Frames that the gateway's codec refuses are not told to observers, but they used a number up.
        private mutating func addLostFrames(_ place: Int) {
            var seen: [SessionID: Set<UInt64>] = [:]
            for line in self.connections[place].lines {
                guard case .sent(let frame) = line.kind, frame.header.sequence > 0 else { continue }
                seen[frame.header.session, default: []].insert(frame.header.sequence)
            }
            var index = 0
            while index < self.connections[place].lines.count {
                defer { index += 1 }
                let line = self.connections[place].lines[index]
                guard case .received(let crossed) = line.kind, case .error(let error)? = crossed.message,
                    error.sequence > 0,
                    seen[error.session, default: []].insert(error.sequence).inserted
                else { continue }
                let header = FrameHeader(
                    type: error.messageType, session: error.session, sequence: error.sequence)
                let behind = self.connections[place].lines[..<index].firstIndex {
                    guard case .sent(let frame) = $0.kind else { return false }
                    return frame.header.session == error.session && frame.header.sequence > error.sequence
                }
                let at = behind ?? index
                let next = self.connections[place].lines[at]
                self.connections[place].lines.insert(
                    Line(order: next.order, instant: next.instant, kind: .lostFrame(header)), at: at)
                self.omit("the content of a frame that the gateway refused to read is not in the recording")
                index += 1
            }
        }
    }
}
