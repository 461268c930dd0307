import NIOCore
import Testing
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct HostilePeerTests {
    /// The frames of a peer from Hello to Goodbye, with a guessed session id.
    static func conversation(_ isVehicle: Bool, _ number: Int, _ session: SessionID) -> [[UInt8]] {
        let messages: [Message] =
            isVehicle
            ? [
                .hello(Bench.vehicleHello("v\(number)")), .ping(nonce: 1), .allowNavigation,
                .waypointRequest(WaypointRequest(requestID: "r", waypoint: waypoint)),
                .vehicleSettings(.init()),
                .cancelNavigation(.userStopped), .goodbye(Goodbye(.normal)),
            ]
            : [
                .hello(Bench.navigationHello("n\(number)")),
                .openSession(
                    OpenSession(requestID: "r", vehicles: .vehicles([VehicleID(unchecked: "car")]))),
                .publication(.startGuidance(trip, generation: 1, .init())),
                .publication(.currentRoadName(["taken over"])), .publication(.cancelGuidance),
                .goodbye(Goodbye(.normal)),
            ]
        return messages.enumerated().map { index, message in
            Array(Codec.encode(Envelope(message, session: session, sequence: UInt64(index) + 1)).bytes)
        }
    }

    /// Changes, drops, repeats and truncates frames.
    static func spoil(_ frames: [[UInt8]], with generator: inout SeededRandom) -> [UInt8] {
        var frames = frames
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let index = frames.indices.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0...3, using: &generator) {
            case 0: frames.insert(frames[index], at: index)
            case 1: if frames.count > 1 { frames.remove(at: index) }
            case 2: frames[index].removeLast(Int.random(in: 0...frames[index].count, using: &generator))
            default:
                for offset in frames[index].indices where Int.random(in: 0...30, using: &generator) == 0 {
                    frames[index][offset] = .random(in: 0...255, using: &generator)
                }
            }
        }
        return frames.flatMap { $0 }
    }

    @Test(arguments: UInt64(0)..<40)
    func `a hostile peer does not affect what other peers receive`(_ seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let bench = Bench()
        let vehicle = try bench.vehicle("car")
        let (client, session) = try bench.guide(["car"])
        try client.startGuidance(session)
        for number in 2...30 {
            let hostile = try bench.connect(from: .user(2_000))
            let talk = Self.conversation(Bool.random(using: &generator), number, session)
            var rest = Self.spoil(talk, with: &generator)[...]
            while !rest.isEmpty {
                let piece = rest.prefix(.random(in: 1...200, using: &generator))
                try hostile.send(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            // All frames that it was sent can be decoded, and none follows a Goodbye.
            let types = try hostile.receive().map(\.message.type)
            #expect(!types.dropLast().contains(.goodbye), "\(types)")
            if hostile.isOpen { try hostile.close() }
            try client.send(
                .publication(.currentRoadName(["\(number)"])), session: session, sequence: UInt64(number))
            #expect(try vehicle.roadNames() == ["\(number)"])
        }
        #expect(!client.isOutputClosed && !vehicle.isOutputClosed)
    }
}
