import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// A vehicle's request on its way to a client.
@Suite struct ForwardingTests {
    private static let types: [MessageType] = [.waypointRequest, .destinationRequest, .startTripRequest]
    private static let car = VehicleID(unchecked: "car")
    private static let session = SessionID(7)
    private static let seeds: UInt64 = 200

    /// The same request of another vehicle, or of none.
    private func request(_ message: Message, of vehicle: VehicleID?) -> Message {
        switch message {
        case .waypointRequest(var request):
            request.vehicle = vehicle
            return .waypointRequest(request)
        case .destinationRequest(var request):
            request.vehicle = vehicle
            return .destinationRequest(request)
        case .startTripRequest(var request):
            request.vehicle = vehicle
            return .startTripRequest(request)
        case let other: return other
        }
    }

    private func place(_ message: Message) -> Waypoint? {
        switch message {
        case .waypointRequest(let request): request.waypoint
        case .destinationRequest(let request): request.destination
        case _: nil
        }
    }

    @Test(arguments: types)
    func `a client gets what the vehicle sent, with the vehicle's name`(_ type: MessageType) throws {
        let decoder = BodyDecoder()
        for seed in 0..<Self.seeds {
            var random = RandomValues(seed: seed << 16 | UInt64(type.rawValue))
            let message = random.envelope(type).message
            // A vehicle that says who it is may be wrong.
            for sent in [message, self.request(message, of: nil)] {
                let request = try decoder.request(of: Codec.encode(Envelope(sent)))
                #expect(request == ReceivedRequest(message), "seed \(seed)")
                #expect(request.type == type)
                #expect(Codec.waypoint(of: request) == self.place(message))
                let forwarded = Codec.frame(of: request, from: Self.car, session: Self.session)
                let expected = Envelope(self.request(message, of: Self.car), session: Self.session)
                #expect(forwarded == Codec.encode(expected), "seed \(seed)")
            }
        }
    }

    @Test(arguments: types)
    func `unknown fields and a vehicle name in a request are not forwarded`(_ type: MessageType) throws {
        let decoder = BodyDecoder()
        let isOfTrip = type == .startTripRequest
        let vehicleField = type == .destinationRequest ? 3 : 4
        func body(_ place: (inout WireWriter) -> Void, _ rest: (inout WireWriter) -> Void) -> [UInt8] {
            WireWriter.body {
                $0.text(1, "r")
                if isOfTrip {
                    $0.text(2, "t")
                } else {
                    $0.message(2) {
                        $0.message(1) { _ in }
                        place(&$0)
                    }
                }
                rest(&$0)
            }
        }
        let plain = try decoder.request(of: Frame(type, body: body({ _ in }, { _ in })))
        #expect(plain.frame.body.elementsEqual(body({ _ in }, { _ in })))
        let additions: [(inout WireWriter) -> Void] = [
            { $0.text(vehicleField, "other") }, { $0.text(vehicleField, "") }, { $0.number(30, 1) },
            { $0.bytes(200, Array(repeating: 1, count: 5_000)) },
        ]
        for addition in additions {
            let request = try decoder.request(of: Frame(type, body: body({ _ in }, addition)))
            #expect(request == plain)
        }
        let inside = try decoder.request(of: Frame(type, body: body({ $0.number(30, 1) }, { _ in })))
        #expect(inside == plain)
    }

    @Test(arguments: types)
    func `a request is refused as any message is`(_ type: MessageType) throws {
        let decoder = BodyDecoder()
        var refused = 0
        for seed in 0..<Self.seeds * 20 {
            var random = RandomValues(seed: seed << 16 | UInt64(type.rawValue))
            var bytes = Array(Codec.encode(random.envelope(type)).bytes)
            for _ in 0..<random.number(1...3) {
                bytes[random.number(FrameHeader.byteCount...bytes.count - 1)] = UInt8(random.number(0...255))
            }
            let header = try #require(
                try FrameHeader.read(from: bytes.span.bytes, frameBytesMax: .max))
            let frame = Frame(header: header, bytes: bytes[...])
            let decoded = Result { () throws(DecodingError) in try decoder.decode(frame).message }
            let received = Result { () throws(DecodingError) in try decoder.request(of: frame) }
            switch (decoded, received) {
            case (.success(let message), .success(let request)):
                let forwarded = Codec.frame(of: request, from: Self.car, session: .none)
                #expect(try decoder.decode(forwarded).message == self.request(message, of: Self.car))
            case (.failure(let error), .failure(let other)):
                refused += 1
                #expect(error == other, "seed \(seed)")
            case _: Issue.record("seed \(seed): \(decoded), but \(received)")
            }
        }
        #expect(refused > 0)
    }

    @Test func `nothing else is a request`() {
        let decoder = BodyDecoder()
        for type in MessageType.allCases where !Self.types.contains(type) {
            var random = RandomValues(seed: UInt64(type.rawValue))
            let envelope = random.envelope(type)
            #expect(ReceivedRequest(envelope.message) == nil)
            #expect(throws: DecodingError.self) { try decoder.request(of: Codec.encode(envelope)) }
        }
    }
}
