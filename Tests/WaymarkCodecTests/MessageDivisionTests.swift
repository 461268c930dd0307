import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Messages to peers that take small frames: what they are divided into, and joined again.
@Suite struct MessageDivisionTests {
    private static func byteCount(_ envelope: Envelope) -> Int { Codec.encode(envelope).bytes.count }

    private static func parts(_ envelope: Envelope, _ frameBytesMax: Int = 4_096) -> [Envelope] {
        envelope.divided(frameBytesMax: frameBytesMax, encode: Codec.encode)
    }

    /// What a peer reads of frames that it decodes one by one.
    private static func joined(_ parts: [Envelope]) throws -> [Envelope] {
        var partial = PartialMessage()
        return try parts.compactMap { part in
            let frame = Codec.encode(part)
            return try partial.add(try Codec.decode(frame), byteCount: frame.bytes.count)
        }
    }

    private static let vehicles = (0..<100).map { number in
        VehicleStatus(
            vehicle: VehicleID(unchecked: "vehicle-\(number)"), standing: .joined,
            endpoints: (0..<number % 7).map { index in
                EndpointStatus(
                    endpoint: EndpointName(unchecked: "endpoint-\(index)"), isReady: index == 1,
                    locale: "de-LI",
                    withheld: [
                        FeatureGrant(.charge, withheld: .policy),
                        FeatureGrant(.timeZone, withheld: .noConsent),
                    ])
            })
    }

    private static var records: ObservedRecords {
        var records = ObservedRecords()
        (records.number, records.instant, records.isLast) = (0, Instant(nanoseconds: 5_000), true)
        records.vehicles = (0..<30).map { number in
            var vehicle = VehicleRecord(VehicleID(unchecked: "vehicle-\(number)"))
            vehicle.owner = "user 1000"
            vehicle.endpoints = (0..<number).map { EndpointRecord(EndpointName(unchecked: "endpoint-\($0)")) }
            return vehicle
        }
        records.clients = (0..<30).map { ClientRecord(ClientID(unchecked: "client-\($0)")) }
        records.sessions = (1..<30).map { SessionRecord(SessionID($0), of: ClientID(unchecked: "client-1")) }
        for session in UInt32(1)...3 {
            var retained = RetainedFrames(
                SessionID(session), [UInt8](repeating: UInt8(session), count: 6_000))
            retained.isFirst = session != 2
            records.retained.append(retained)
        }
        records.vehiclesGone = [VehicleID(unchecked: "gone")]
        records.sessionsGone = (1...2_000).map { SessionID($0) }
        return records
    }

    /// One long message of each type that is divided.
    private static var long: [Message] {
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        welcome.features = Feature.allCases.map { FeatureGrant($0, withheld: .policy) }
        welcome.extensions = (0..<32).map {
            ExtensionName(unchecked: "org.example.\(String(repeating: "x", count: 110)).\($0)")
        }
        welcome.sessions = (1...500).map {
            ResumedSession(session: SessionID($0), sequence: UInt64($0) << 40, phase: .active)
        }
        var changed = Self.vehicles[6]
        changed.endpoints = (0..<256).map {
            EndpointStatus(endpoint: EndpointName(unchecked: "endpoint-\($0)"), isReady: true)
        }
        var event = ObservedEvent(.vehiclesRefused)
        event.number = 7
        event.vehicles =
            Self.vehicles.map(\.vehicle)
            + (0..<150).map { VehicleID(unchecked: "other-vehicle-number-\($0)") }
        var frames = ObservedFrames(.in, (0..<20_000).map { UInt8($0 % 251) })
        (frames.number, frames.session) = (8, SessionID(7))
        var report = CounterReport()
        report.counters = (0..<500).map { CounterReport.Counter(.publications, label: $0, UInt64($0) << 30) }
        report.isLast = true
        return [
            .welcome(welcome),
            .sessionOpened(SessionOpened(requestID: "open", session: SessionID(7), vehicles: Self.vehicles)),
            .vehicleChanged(changed),
            .receiptReport(
                ReceiptReport(
                    gatewaySequence: 9,
                    endpoints: (0..<300).map {
                        EndpointReceipt(
                            vehicle: VehicleID(unchecked: "vehicle-\($0)"),
                            endpoint: EndpointName(unchecked: "cluster"),
                            receipt: Receipt(receivedSequence: 9, shownSequence: 8))
                    })),
            .observedRecords(Self.records), .observedEvent(event), .observedFrames(frames), .counters(report),
        ]
    }

    @Test(arguments: [4_096, 5_000, 16_384])
    func `a long message comes in frames that the peer takes, and is the same when it is joined`(
        _ frameBytesMax: Int
    ) throws {
        for message in Self.long {
            let whole = Envelope(message, session: SessionID(7))
            let parts = Self.parts(whole, frameBytesMax)
            #expect(parts.allSatisfy { Self.byteCount($0) <= frameBytesMax }, "\(message.type)")
            #expect(parts.dropLast().allSatisfy { $0.flags == .more } && parts.last?.flags == [])
            #expect(parts.allSatisfy { $0.session == whole.session && $0.message.type == message.type })
            #expect(try Self.joined(parts) == [whole], "\(message.type)")
            // No more frames than are needed, but for what each repeats.
            let least = Self.byteCount(whole) / frameBytesMax
            #expect(parts.count <= least + least / 2 + 2, "\(message.type): \(parts.count) frames")
        }
    }

    @Test func `a message of each of these types is divided, and no other one`() {
        let divided = Set(Self.long.map(\.type))
        #expect(divided.count == Self.long.count)
        var random = RandomValues(seed: 1)
        for type in MessageType.allCases {
            #expect(random.envelope(type).message.isDivisible == divided.contains(type), "\(type)")
        }
    }

    @Test(arguments: 0..<200)
    func `what fits stays as it is, and what does not is joined again`(_ seed: Int) throws {
        var random = RandomValues(seed: UInt64(seed))
        for type in MessageType.allCases {
            var envelope = random.envelope(type)
            envelope.flags.subtract(.more)
            // In random lists two vehicles may have the same name.
            let isUnique = type != .sessionOpened && type != .observedRecords
            guard envelope.message.isDivisible, isUnique else { continue }
            let parts = Self.parts(envelope)
            if Self.byteCount(envelope) <= 4_096 {
                #expect(parts == [envelope])
            } else {
                #expect(try Self.joined(parts) == [try Codec.decode(Codec.encode(envelope))], "\(type)")
            }
        }
    }

    @Test func `other messages come between the parts, and those of another one take their place`() throws {
        let parts = Self.parts(Envelope(Self.long[1]))
        let ping = Envelope(.ping(nonce: 1))
        var between: [Envelope] = []
        for part in parts { between += [part, ping] }
        let read = try Self.joined(between)
        #expect(read.count == parts.count + 1)
        #expect(read.filter { $0 != ping } == [Envelope(Self.long[1])])
        // Of a session whose end was not sent.
        let changed = Self.parts(Envelope(Self.long[2], session: SessionID(8)))
        let other = Envelope(Self.long[2], session: SessionID(9))
        #expect(try Self.joined(Array(changed.dropLast()) + Self.parts(other)) == [other])
    }

    @Test func `parts without an end are refused before they fill the memory`() throws {
        var partial = PartialMessage()
        let part = Envelope(Self.long[6], flags: .more)
        for _ in 0..<2 { #expect(try partial.add(part, byteCount: 16_000_000) == nil) }
        #expect(throws: PartialMessageError.tooLong) { try partial.add(part, byteCount: 16_000_000) }
        #expect(partial.byteCount == 0)
    }

    @Test func `parts of two messages are no message`() throws {
        var parts = Self.parts(Envelope(Self.long[2]))
        var other = Self.vehicles[1]
        other.endpoints = []
        parts[parts.count - 1].message = .vehicleChanged(other)
        #expect(throws: PartialMessageError.differentMessages) { try Self.joined(parts) }
    }
}
