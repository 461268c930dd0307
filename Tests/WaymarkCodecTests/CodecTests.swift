import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// SplitMix64: the seed is the whole recipe.
struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct CodecTests {
    /// The frame of a body of some type.
    static func frame(_ type: MessageType, _ body: [UInt8]) -> Frame {
        Frame(header: FrameHeader(type: type.rawValue), body: body)
    }

    static func rejection(_ type: MessageType, _ body: [UInt8]) -> Rejection? {
        do throws(DecodingError) { _ = try Codec.decode(Self.frame(type, body)) } catch {
            if case .rejected(let rejection) = error { return rejection }
        }
        return nil
    }

    @Test func `there is a sample of every message type`() {
        #expect(Set(Samples.messages.map(\.type)) == Set(MessageType.allCases))
    }

    @Test(arguments: Samples.messages)
    func `every message comes back as it was`(_ message: Message) throws {
        let envelope = Envelope(message, session: SessionID(7), sequence: 99, flags: [.gateway])
        #expect(try Codec.decode(Codec.encode(envelope)) == envelope)
    }

    @Test(arguments: Samples.publications)
    func `the outline from the bytes is the outline of the value`(_ publication: Publication) throws {
        let frame = Codec.encode(Envelope(.publication(publication)))
        #expect(try Codec.outline(of: frame) == publication.outline)
    }

    @Test(arguments: Samples.messages)
    func `a body cut anywhere is a message or an error, never a crash`(_ message: Message) {
        let frame = Codec.encode(Envelope(message))
        for count in 0..<frame.body.count {
            _ = Self.rejection(message.type, Array(frame.body.prefix(count)))
        }
    }

    @Test(arguments: 0..<200)
    func `changed bytes are a message or an error, never a crash`(_ seed: Int) throws {
        var random = Random(state: UInt64(seed))
        for message in Samples.messages {
            var body = Array(Codec.encode(Envelope(message)).body)
            for _ in 0..<Int.random(in: 1...4, using: &random) where !body.isEmpty {
                let place = Int.random(in: 0..<body.count, using: &random)
                switch UInt8.random(in: 0...3, using: &random) {
                case 0: body[place] = .random(in: 0...255, using: &random)
                case 1: body.remove(at: place)
                case 2: body.insert(.random(in: 0...255, using: &random), at: place)
                default: body[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                }
            }
            do throws(DecodingError) {
                // What is taken can be said again.
                let envelope = try Codec.decode(Self.frame(message.type, body))
                #expect(try Codec.decode(Codec.encode(envelope)) == envelope, "seed \(seed)")
            } catch {
                guard case .rejected(let rejection) = error else { Issue.record("\(error)"); return }
                #expect(!rejection.reason.isEmpty)
            }
        }
    }

    @Test func `a memory bomb is refused`() {
        // 1 MiB of empty maneuvers.
        let body = (0..<524_288).flatMap { _ in [0x12, 0] as [UInt8] }
        #expect(Self.rejection(.addManeuvers, body) != nil)
    }

    @Test func `deep nesting is refused before it reaches the stack`() {
        var body: [UInt8] = []
        for _ in 0..<1_000 { body = [0x0A] + Self.varint(body.count) + body }
        let rejection = Self.rejection(.startGuidance, body)
        #expect(rejection != nil)
    }

    static func varint(_ number: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = number
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes
    }

    @Test func `unknown fields are skipped, unknown enumeration values are kept`() throws {
        var body = Array(Codec.encode(Envelope(.publication(.maneuverState(.execute, generation: 1)))).body)
        body += [0xF8, 0x07, 5]  // Field 127.
        #expect(
            try Codec.decode(Self.frame(.updateManeuverState, body)).message
                == .publication(.maneuverState(.execute, generation: 1)))
        #expect(
            try Codec.decode(Self.frame(.updateManeuverState, [0x08, 1, 0x10, 9])).message
                == .publication(.maneuverState(.unrecognized(9), generation: 1)))
    }

    @Test func `unknown types are told apart by whether they may be skipped`() {
        let skippable = Frame(header: FrameHeader(type: 0x01FE, flags: .skippable), body: [])
        let needed = Frame(header: FrameHeader(type: 0x01FE), body: [])
        #expect(throws: DecodingError.unknownType(isSkippable: true)) { try Codec.decode(skippable) }
        #expect(throws: DecodingError.unknownType(isSkippable: false)) { try Codec.decode(needed) }
    }

    static func maneuver(_ change: (inout Maneuver) -> Void) -> Publication {
        var maneuver = Samples.maneuver
        change(&maneuver)
        return .addManeuvers([maneuver], generation: 1)
    }

    static func waypoint(_ change: (inout Waypoint) -> Void) -> Publication {
        var waypoint = Samples.waypoint
        change(&waypoint)
        return .shareDestination(shareID: "s", waypoint)
    }

    /// What must be refused, with the field that is named and the code.
    static let wrong: [(Publication, String, ErrorCode)] = [
        (waypoint { $0.center.latitude = .nan }, "destination.center.latitude", .outOfRange),
        (waypoint { $0.center.longitude = 180.1 }, "destination.center.longitude", .outOfRange),
        (waypoint { $0.center.altitude = .infinity }, "destination.center.altitude_meters", .outOfRange),
        (waypoint { $0.utcOffsetMinutes = 841 }, "destination.utc_offset_minutes", .outOfRange),
        (
            waypoint { $0.locationThreshold = .meters(100_001) }, "destination.location_threshold_meters",
            .outOfRange
        ),
        (
            waypoint { $0.charge?.arrivalBatteryPerMille = 1_001 },
            "destination.charge.arrival_battery_per_mille", .outOfRange
        ),
        (
            waypoint { $0.nameVariants = ["", String(repeating: "x", count: 513)] },
            "destination.name_variants[1]",
            .outOfRange
        ),
        (
            waypoint { $0.nameVariants = Array(repeating: "x", count: 9) }, "destination.name_variants",
            .outOfRange
        ),
        (maneuver { $0.id = ManeuverID(rawValue: 0) }, "maneuvers[0].id", .outOfRange),
        (
            maneuver { $0.junctionElementAngles = [.degrees(0), .degrees(-180)] },
            "maneuvers[0].junction_element_angles_degrees[1]", .inconsistent
        ),
        (.addManeuvers([Samples.maneuver, Samples.maneuver], generation: 1), "maneuvers[1].id", .duplicate),
        (.addManeuvers([], generation: 0), "generation", .outOfRange),
        (
            .addLaneGuidances(
                [
                    LaneGuidance(
                        id: LaneGuidanceID(rawValue: 1),
                        lanes: [Lane(angles: [], highlightedAngle: .degrees(0), status: .good)])
                ],
                generation: 1), "lane_guidances[0].lanes[0].highlighted_angle_degrees", .inconsistent
        ),
        (
            .addLaneGuidances([LaneGuidance(id: LaneGuidanceID(rawValue: 1), lanes: [])], generation: 1),
            "lane_guidances[0].lanes", .missing
        ),
        (
            .tripEstimates(TravelEstimates(distanceRemaining: .meters(50_000_001)), .default),
            "travel_estimates.distance_remaining_meters", .outOfRange
        ),
        (.tripPreviews([], selected: "t"), "selected_trip_id", .unknownReference),
        (.pauseGuidance(.unrecognized(0), description: []), "reason", .missing),
        (.showAlert(NavigationAlert(id: 1, titleVariants: [])), "alert.title_variants", .missing),
    ]

    @Test(arguments: wrong.indices)
    func `what is out of range is refused, and the field is named`(_ index: Int) {
        let (publication, field, code) = Self.wrong[index]
        let frame = Codec.encode(Envelope(.publication(publication), session: SessionID(3), sequence: 4))
        #expect(throws: DecodingError.self) { try Codec.outline(of: frame) }
        let rejection = Self.rejection(publication.type, Array(frame.body))
        #expect(rejection?.field == field)
        #expect(rejection?.code == code)
    }

    @Test func `text that is not UTF-8 or has a NUL is refused`() {
        #expect(
            Self.rejection(.currentRoadName, [0x0A, 1, 0xFF])
                == Rejection(.invalidText, field: "name_variants", reason: "is not UTF-8").of(
                    FrameHeader(type: 0x0108)))
        #expect(Self.rejection(.currentRoadName, [0x0A, 2, 0x41, 0])?.code == .invalidText)
    }

    @Test func `numbers that do not fit their field are refused, not cut`() {
        // generation = 2^32 + 1
        #expect(
            Self.rejection(.updateManeuverState, [0x08, 0x81, 0x80, 0x80, 0x80, 0x10])?.code == .outOfRange)
    }

    @Test func `a line that leaves the Earth is refused`() {
        var segment = Samples.segment
        segment.coordinates = [
            Coordinate(latitude: 90, longitude: 0), Coordinate(latitude: 91, longitude: 0),
        ]
        let frame = Codec.encode(Envelope(.publication(.addRouteSegments([segment], generation: 1))))
        #expect(
            Self.rejection(.addRouteSegments, Array(frame.body))?.field
                == "segments[0].coordinates.latitude_e6_deltas[1]")
    }
}
