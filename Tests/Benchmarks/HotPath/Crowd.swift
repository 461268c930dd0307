import NIOCore
import NIOEmbedded
import WaymarkCodec
import WaymarkProtocol

/// Many endpoints of one session, each of its own vehicle. Nothing is published to them.
struct Crowd {
    /// What the endpoints do repeatedly.
    enum Activity {
        /// All lose their connections at once, and resume with their tokens.
        case reconnect
        /// They answer Pings. They connected at ten different times.
        case idle
    }

    enum Failure: Error { case noWelcome, notResumed, missing(MessageType), unexpected([MessageType?]) }

    private static let shifts = 10

    private let station = Station()
    private let activity: Activity
    private let hellos: [Hello]
    private var peers: [Peer] = []

    init(_ count: Int, _ activity: Activity) throws {
        self.activity = activity
        self.hellos = (0..<count).map { index in
            var vehicle = VehicleHello(
                vehicle: VehicleID(unchecked: "v\(index)"), endpoint: EndpointName(unchecked: "cluster"),
                features: Set(Feature.allCases))
            vehicle.guidanceWanted = true
            return Hello(role: .vehicle(vehicle))
        }
        let client = try self.station.connectClient(to: .anyThatAsked)
        var drive = Drive(session: try client.openedSession())
        self.station.read([(ByteBuffer(bytes: drive.start()), client)])
        for (index, hello) in self.hellos.enumerated() {
            if self.activity == .idle, index % (self.hellos.count / Self.shifts) == 0 {
                self.station.advance(.milliseconds(10))
            }
            self.peers.append(try self.station.connect(hello.role))
        }
    }

    /// Repeats the activity and checks what the endpoints received each time.
    mutating func run(_ times: Int) throws -> Report {
        var tokens = try self.peers.map { try Self.welcome($0.frames()).resumptionToken }
        for _ in 0..<times {
            switch self.activity {
            case .reconnect: tokens = try self.reconnect(with: tokens)
            case .idle: try self.pingAll()
            }
        }
        let count = times * self.peers.count
        return Report(frames: count, deliveries: count, allocations: self.station.allocations)
    }

    /// - Returns: Their new tokens.
    private mutating func reconnect(with tokens: [ResumptionToken]) throws -> [ResumptionToken] {
        let station = self.station
        let old = self.peers
        let new = try old.map { _ in try Peer(loop: station.loop) }
        let greetings = zip(self.hellos, tokens).map { hello, token in
            var hello = hello
            hello.resumptionToken = token
            return ByteBuffer(bytes: Codec.encode(Envelope(.hello(hello))).bytes)
        }
        try station.measureAll {
            for peer in old { peer.channel.close(promise: nil) }
            station.run()
            for (peer, greeting) in zip(new, greetings) {
                try station.accept(peer)
                peer.channel.pipeline.fireChannelRead(greeting)
                peer.channel.pipeline.fireChannelReadComplete()
            }
            station.run()
        }
        self.peers = new
        return try new.map { peer in
            let frames = try peer.frames()
            for type in [MessageType.snapshotBegin, .startGuidance, .snapshotEnd]
            where !frames.contains(where: { $0.header.type == type }) {
                throw Failure.missing(type)
            }
            let welcome = try Self.welcome(frames)
            guard welcome.isResumed else { throw Failure.notResumed }
            return welcome.resumptionToken
        }
    }

    private static func welcome(_ frames: [Frame]) throws -> Welcome {
        guard let first = frames.first, case .welcome(let welcome) = try Codec.decode(first).message else {
            throw Failure.noWelcome
        }
        return welcome
    }

    /// Advances time by one keepalive interval: each endpoint is pinged once, and answers.
    private func pingAll() throws {
        let interval = Duration.seconds(10) - .milliseconds(10) * (Self.shifts - 1)
        self.station.measureAll { self.station.advance(interval) }
        for _ in 1..<Self.shifts { self.station.measureAll { self.station.advance(.milliseconds(10)) } }
        for peer in self.peers {
            let frames = try peer.frames()
            guard frames.count == 1, frames[0].header.type == .ping else {
                throw Failure.unexpected(frames.map(\.header.type))
            }
            guard case .ping(let nonce, _) = try Codec.decode(frames[0]).message else { continue }
            let pong = ByteBuffer(bytes: Codec.encode(Envelope(.pong(nonce: nonce))).bytes)
            self.station.measureAll { self.station.read([(pong, peer)]) }
        }
    }
}
