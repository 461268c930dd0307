import NIOCore
import NIOEmbedded
import WaymarkCodec
import WaymarkProtocol

/// Endpoints of one session, each of a vehicle of its own, to which nothing is published.
struct Crowd {
    /// What they do again and again.
    enum Life {
        /// All are cut at once, and come back with their tokens.
        case cutAndBack
        /// They answer Pings. They came at ten different times.
        case idle
    }

    enum Failure: Error { case noWelcome, notResumed, missing(MessageType), unexpected([MessageType?]) }

    private static let shifts = 10

    private let station = Station()
    private let life: Life
    private let hellos: [Hello]
    private var peers: [Peer] = []

    init(_ count: Int, _ life: Life) throws {
        self.life = life
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
            if self.life == .idle, index % (self.hellos.count / Self.shifts) == 0 {
                self.station.pass(.milliseconds(10))
            }
            self.peers.append(try self.station.connect(hello.role))
        }
    }

    /// Lives so many times, and checks what the endpoints got each time.
    mutating func live(through times: Int) throws -> Report {
        var tokens = try self.peers.map { try Self.welcome($0.frames()).resumptionToken }
        for _ in 0..<times {
            switch self.life {
            case .cutAndBack: tokens = try self.comeBack(with: tokens)
            case .idle: try self.pingAll()
            }
        }
        let count = times * self.peers.count
        return Report(frames: count, deliveries: count, allocations: self.station.allocations)
    }

    /// - Returns: Their new tokens.
    private mutating func comeBack(with tokens: [ResumptionToken]) throws -> [ResumptionToken] {
        let station = self.station
        let old = self.peers
        let new = try old.map { _ in try Peer(loop: station.loop) }
        let greetings = zip(self.hellos, tokens).map { hello, token in
            var hello = hello
            hello.resumptionToken = token
            return ByteBuffer(bytes: Codec.encode(Envelope(.hello(hello))).bytes)
        }
        try station.measure {
            for peer in old { peer.channel.close(promise: nil) }
            station.loop.run()
            for (peer, greeting) in zip(new, greetings) {
                try station.accept(peer)
                peer.channel.pipeline.fireChannelRead(greeting)
                peer.channel.pipeline.fireChannelReadComplete()
            }
            station.loop.run()
        }
        self.peers = new
        return try new.map { peer in
            let frames = try peer.frames()
            for part in [MessageType.snapshotBegin, .startGuidance, .snapshotEnd]
            where !frames.contains(where: { $0.header.type == part }) {
                throw Failure.missing(part)
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

    /// A keepalive later, each is asked for a sign of life once, and answers.
    private func pingAll() throws {
        let interval = Duration.seconds(10) - .milliseconds(10) * (Self.shifts - 1)
        self.station.measure { self.station.pass(interval) }
        for _ in 1..<Self.shifts { self.station.measure { self.station.pass(.milliseconds(10)) } }
        for peer in self.peers {
            let frames = try peer.frames()
            guard frames.count == 1, frames[0].header.type == .ping else {
                throw Failure.unexpected(frames.map(\.header.type))
            }
            guard case .ping(let nonce) = try Codec.decode(frames[0]).message else { continue }
            let pong = ByteBuffer(bytes: Codec.encode(Envelope(.pong(nonce: nonce))).bytes)
            self.station.measure { self.station.read([(pong, peer)]) }
        }
    }
}
