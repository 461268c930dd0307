import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Fields that this build does not know, in publications that are encoded again.
@Suite struct UnknownFieldTests {
    /// The fields of each message that have messages in them. Written from the protos, not from the code.
    private static let messages: [String: [Int: String]] = [
        "TripPreviews": [1: "Trip"],
        "StartGuidance": [1: "Trip", 3: "RouteInformation"],
        "UpdateTrip": [1: "Trip"],
        "AddManeuvers": [2: "Maneuver"],
        "AddLaneGuidances": [2: "LaneGuidance"],
        "AddRouteSegments": [2: "RouteSegment"],
        "UpdateTripEstimates": [1: "TravelEstimates"],
        "UpdateManeuverEstimates": [3: "TravelEstimates"],
        "ResumeGuidance": [3: "RouteInformation"],
        "ShowAlert": [1: "NavigationAlert"],
        "ShareDestination": [2: "Waypoint"],
        "Trip": [2: "Waypoint", 3: "Waypoint", 4: "Waypoint", 5: "RouteChoice"],
        "Waypoint": [1: "Coordinate", 5: "Coordinate", 9: "ChargeStop"],
        "RouteChoice": [5: "TravelEstimates"],
        "TravelEstimates": [3: "DisplayDistance"],
        "RouteInformation": [
            1: "Maneuver", 2: "LaneGuidance", 3: "RouteSegment", 7: "TravelEstimates",
            8: "TravelEstimates",
        ],
        "Maneuver": [11: "TravelEstimates"],
        "LaneGuidance": [2: "Lane"],
        "RouteSegment": [
            2: "Waypoint", 3: "Waypoint", 4: "Polyline", 9: "TravelEstimates", 10: "TravelEstimates",
        ],
        "NavigationAlert": [4: "AlertAction"],
    ]

    private struct Field {
        let number: Int
        let wireType: UInt64
        let content: [UInt8]
        let bytes: [UInt8]
    }

    private static func fields(_ body: [UInt8]) -> [Field] {
        var (fields, at): ([Field], Int) = ([], 0)
        func varint() -> UInt64 {
            var (value, shift): (UInt64, UInt64) = (0, 0)
            while true {
                let byte = body[at]
                at += 1
                value |= UInt64(byte & 0x7F) << shift
                shift += 7
                if byte < 0x80 { return value }
            }
        }
        while at < body.count {
            let start = at
            let key = varint()
            var content: [UInt8] = []
            switch key & 7 {
            case 0: _ = varint()
            case 1: at += 8
            case 5: at += 4
            default:
                let count = Int(varint())
                content = Array(body[at..<at + count])
                at += count
            }
            fields.append(
                Field(
                    number: Int(key >> 3), wireType: key & 7, content: content,
                    bytes: Array(body[start..<at])))
        }
        return fields
    }

    /// The body with unknown fields in about half of its messages, at their beginnings and ends.
    private static func adding(
        to body: [UInt8], _ message: String, _ random: inout RandomValues, _ room: inout Int
    ) -> [UInt8] {
        var writer = WireWriter()
        func add() {
            guard room > 0, random.flag() else { return }
            room -= 1
            switch random.number(0...3) {
            case 0: writer.number(random.number(20...300), random.number(0...UInt64.max))
            case 1: writer.text(random.number(20...300), "unknown")
            case 2:
                writer.tag(random.number(20...300), 1)
                writer.bytes += [1, 2, 3, 4, 5, 6, 7, 8]
            default:
                writer.tag(random.number(20...300), 5)
                writer.bytes += [1, 2, 3, 4]
            }
        }
        add()
        for field in Self.fields(body) {
            if let below = Self.messages[message]?[field.number] {
                writer.bytes(field.number, Self.adding(to: field.content, below, &random, &room))
            } else {
                writer.bytes += field.bytes
            }
        }
        add()
        return writer.bytes
    }

    /// The unknown fields of each message, by the fields and indices that lead to it.
    private static func unknown(in body: [UInt8], _ message: String, _ path: String = "") -> [String: [UInt8]]
    {
        var unknown: [String: [UInt8]] = [:]
        var counts: [Int: Int] = [:]
        for field in Self.fields(body) {
            if field.number >= 20 { unknown[path, default: []] += field.bytes }
            guard let below = Self.messages[message]?[field.number] else { continue }
            let index = counts[field.number, default: 0]
            counts[field.number] = index + 1
            unknown.merge(Self.unknown(in: field.content, below, "\(path)/\(field.number)[\(index)]")) { $1 }
        }
        return unknown
    }

    @Test(arguments: MessageType.allCases.filter { MessageType.published.contains($0.rawValue) })
    func `unknown fields of every message and level are put back where they were`(_ type: MessageType) throws
    {
        let name = "\(type)".prefix(1).uppercased() + "\(type)".dropFirst()
        var count = 0
        for seed in UInt64(0)..<60 {
            var random = RandomValues(seed: seed << 16 | UInt64(type.rawValue))
            let envelope = random.envelope(type)
            let plain = Codec.encode(envelope)
            var room = 1_000
            let body = Self.adding(to: Array(plain.body), name, &random, &room)
            let decoded = try #require(Codec.coder.decode(Frame(header: plain.header, body: body)))
            #expect(envelope.message == .publication(decoded.content))
            let expected = Self.unknown(in: body, name)
            count += expected.count
            guard let unknown = decoded.unknown else {
                #expect(expected.isEmpty)
                continue
            }
            let restored = Codec.coder.restore(plain, unknown, true)
            #expect(Self.unknown(in: Array(restored.body), name) == expected, "seed \(seed)")
            #expect(try Codec.decode(restored) == envelope, "seed \(seed)")
            // Without those of the body itself; those of parts of a route stay.
            let parts = Codec.coder.restore(plain, unknown, false)
            let rest = Self.unknown(in: Array(parts.body), name)
            #expect(rest[""] == nil && rest.allSatisfy { expected[$0.key] == $0.value })
        }
        #expect(count > 30)
    }

    @Test func `more unknown fields than receivers accept are left out`() throws {
        func frame(_ count: Int) throws -> (plain: Frame, restored: Frame) {
            let body = WireWriter.body { writer in
                writer.text(1, "A road")
                for _ in 0..<count { writer.number(30, 1) }
            }
            let decoded = try #require(Codec.coder.decode(Frame(.currentRoadName, body: body)))
            let plain = Codec.encode(Envelope(.publication(decoded.content)))
            let parts = UnknownFields(
                type: MessageType.currentRoadName.rawValue, body: try #require(decoded.unknown).body,
                parts: [:])
            return (plain, Codec.coder.restore(plain, parts, true))
        }
        let most = try frame(1_024)
        #expect(most.restored.bytes.count == most.plain.bytes.count + 3 * 1_024)
        // A body cannot have more, but a window of several can.
        let maneuver = WireWriter.body { writer in for _ in 0..<600 { writer.number(30, 1) } }
        var parts: UnknownFields.Parts = [:]
        for id in UInt32(1)...2 { parts[.maneuver(.init(rawValue: id))] = maneuver }
        let unknown = UnknownFields(type: 0x0101, body: [], parts: parts)
        let window = Frame(
            .addManeuvers,
            body: WireWriter.body { writer in
                for id in UInt64(1)...2 { writer.message(2) { $0.number(1, id) } }
            })
        #expect(Codec.coder.restore(window, unknown, true) == window)
    }
}
