import NIOCore
import WaymarkCodec
import WaymarkProtocol

/// Many drives at a time, each of a client of its own to an endpoint of its own.
///
/// Each drive publishes one frame in turn: between two frames of a drive are those of all others, so that the caches hold little of what
/// the next one needs.
struct Fleet {
    /// The rounds before the measured ones: with them each drive has published both kinds of estimates.
    private static let roundsBefore = 2

    private let station = Station()
    private var drives: [(client: Peer, endpoint: Peer, drive: Drive)] = []

    init(_ count: Int) throws {
        for index in 0..<count {
            let vehicle = VehicleID(unchecked: "v\(index)")
            let hello = VehicleHello(
                vehicle: vehicle, endpoint: EndpointName(unchecked: "cluster"),
                features: Set(Feature.allCases))
            let endpoint = try self.station.connect(.vehicle(hello))
            let client = try self.station.connectClient(
                to: .vehicles([vehicle]), as: ClientID(unchecked: "app\(index)"))
            var drive = Drive(session: try client.openedSession())
            self.station.read([(ByteBuffer(bytes: drive.start()), client)])
            self.station.run()
            self.drives.append((client, endpoint, drive))
        }
        _ = try self.countDelivered()
    }

    /// Publishes `rounds` frames of each drive, and checks that its endpoint received them.
    mutating func run(_ rounds: Int) throws -> Report {
        let station = self.station
        for _ in 0..<Self.roundsBefore {
            try self.publish { read in
                station.read(read)
                station.run()
            }
        }
        for _ in 0..<rounds { try self.publish { read in station.measureAll { station.read(read) } } }
        let frames = rounds * self.drives.count
        return Report(frames: frames, deliveries: frames, allocations: station.allocations)
    }

    /// Publishes a frame of each drive.
    private mutating func publish(_ read: ([(bytes: ByteBuffer, peer: Peer)]) -> Void) throws {
        let reads = self.drives.indices.map { ByteBuffer(bytes: self.drives[$0].drive.states(1)) }
        for (bytes, drive) in zip(reads, self.drives) { read([(bytes, drive.client)]) }
        let delivered = try self.countDelivered()
        guard delivered == self.drives.count else {
            throw Rig.Failure.lost(delivered: delivered, expected: self.drives.count)
        }
    }

    private func countDelivered() throws -> Int {
        try self.drives.reduce(0) { try $0 + $1.endpoint.frames().count }
    }
}
