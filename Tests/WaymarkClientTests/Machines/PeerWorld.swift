import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// An endpoint and a client with a real gateway between them, in virtual time: no socket, no clock, no chance.
struct PeerWorld {
    private enum PeerName { case endpoint, client }

    var endpoint: DrivenPeer<EndpointMachine>
    var client: DrivenPeer<ClientMachine>
    private var gateway = Gateway(policy: .init(), coder: Codec.coder, firstSession: SessionID(1))
    private var gatewayDeadline: Instant?
    private var connections: [ConnectionID: PeerName] = [:]
    private var members: [AudienceID: [ConnectionID]] = [:]
    private var connectionCount: UInt64 = 0

    init(seed: UInt64) throws {
        self.endpoint = try .endpoint(seed: seed)
        self.client = try .client(seed: seed)
        self.endpoint.handle(.open)
        self.client.handle(.open)
        self.settle()
    }

    private var now: Instant { self.endpoint.now }

    /// Everything under way arrives.
    mutating func settle() {
        while self.exchange(.endpoint, \.endpoint) || self.exchange(.client, \.client) {}
    }

    /// Time passes.
    mutating func wait(_ duration: Duration) {
        let end = self.now + duration
        repeat {
            let deadlines = [
                self.endpoint.link.deadline, self.client.link.deadline, self.gatewayDeadline, end,
            ]
            let next = deadlines.compactMap(\.self).min() ?? end
            self.endpoint.advance(to: max(next, self.now))
            self.client.advance(to: self.now)
            if let deadline = self.gatewayDeadline, deadline <= self.now {
                self.gatewayDeadline = nil
                self.hand(.deadlineReached)
            }
            self.settle()
        } while self.now < end
    }

    /// The endpoint's connection is lost, with what is under way.
    mutating func cutEndpoint() { self.cut(.endpoint, \.endpoint) }

    /// The client's connection is lost, with what is under way.
    mutating func cutClient() { self.cut(.client, \.client) }

    private mutating func cut<Machine>(
        _ name: PeerName, _ peer: WritableKeyPath<PeerWorld, DrivenPeer<Machine>>
    ) {
        for id in self.ids(of: name) { self.depart(id, clean: false) }
        if self[keyPath: peer].isConnected { self[keyPath: peer].handle(.transportClosed(nil)) }
        self.settle()
    }

    private func ids(of name: PeerName) -> [ConnectionID] {
        self.connections.filter { $0.value == name }.map(\.key)
    }

    private mutating func depart(_ id: ConnectionID, clean: Bool) {
        self.connections[id] = nil
        self.hand(.departed(id, clean: clean))
    }

    // MARK: One peer

    /// - Returns: Whether anything has happened.
    private mutating func exchange<Machine>(
        _ name: PeerName, _ peer: WritableKeyPath<PeerWorld, DrivenPeer<Machine>>
    ) -> Bool {
        if self[keyPath: peer].isConnecting {
            self.connectionCount += 1
            self.connections[ConnectionID(self.connectionCount)] = name
            self[keyPath: peer].handle(.transportOpened)
            return true
        }
        if self[keyPath: peer].isHalfClosed || self[keyPath: peer].wantsEnd {
            self.take(self[keyPath: peer].read(), name)
            self[keyPath: peer].handle(.transportClosed(nil))
            return true
        }
        let frames = self[keyPath: peer].read()
        self.take(frames, name)
        return !frames.isEmpty
    }

    private mutating func take(_ frames: [Frame], _ name: PeerName) {
        for frame in frames {
            guard let id = self.ids(of: name).first, let envelope = try? Codec.decode(frame) else { return }
            switch envelope.message {
            case .hello(let hello):
                let token = ResumptionToken(high: 9, low: self.connectionCount)
                self.hand(.arrived(id, hello, .anyone, token: token))
            case .ping(let nonce, _): self.send(Codec.encode(Envelope(.pong(nonce: nonce))), to: id)
            case .pong: break
            case .goodbye: self.depart(id, clean: true)
            case .publication:
                guard let outline = try? Codec.outline(of: frame) else { return }
                self.hand(.published(id, PublishedFrames(frame, outline)))
            default:
                let request = ReceivedRequest(envelope.message)
                self.hand(
                    request.map { .requested(id, $0, envelope.session) }
                        ?? .received(id, envelope.message, envelope.session))
            }
        }
    }

    // MARK: The gateway

    private mutating func hand(_ event: Gateway.Event) {
        self.begin(event)
        while self.gateway.hasSteps(of: event.cause) { self.begin(.stepDue(of: event.cause)) }
    }

    private mutating func begin(_ event: Gateway.Event) {
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: self.now, into: &actions)
        for action in actions {
            switch action {
            case .admit(let id, let welcome): self.send(Codec.encode(Envelope(.welcome(welcome))), to: id)
            case .refuse(let id, let goodbye), .close(let id, let goodbye):
                self.send(Codec.encode(Envelope(.goodbye(goodbye))), to: id)
                self.connections[id] = nil
            case .send(let id, let envelope): self.send(Codec.encode(envelope), to: id)
            case .forward(let id, let request, let vehicle, let session):
                self.send(Codec.frame(of: request, from: vehicle, session: session), to: id)
            case .sendFrames(let id, let frames): for frame in frames { self.send(frame, to: id) }
            case .publish(let audience, let frames):
                for (frame, _) in frames.frames {
                    for id in self.members[audience] ?? [] { self.send(frame, to: id) }
                }
            case .join(let id, let audience): self.members[audience, default: []].append(id)
            case .leave(let id, let audience): self.members[audience]?.removeAll { $0 == id }
            case .arm(let deadline): self.gatewayDeadline = deadline
            case .purge, .purgeShares, .note, .observe: break
            }
        }
    }

    private mutating func send(_ frame: Frame, to id: ConnectionID) {
        switch self.connections[id] {
        case .endpoint: self.endpoint.handle(.received(Array(frame.bytes)))
        case .client: self.client.handle(.received(Array(frame.bytes)))
        case nil: break
        }
    }
}
