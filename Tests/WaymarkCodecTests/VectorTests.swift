import Foundation
import Testing

@testable import WaymarkCodec
@testable import WaymarkProtocol

/// Protos/vectors: what a receiver makes of a body.
@Suite struct VectorTests {
    static let files = [
        "connection.jsonl", "session.jsonl", "vehicle.jsonl", "observer.jsonl", "lines.jsonl", "large.jsonl",
    ]

    /// What is wrong with the vectors of a file, in a few lines.
    private static func disagreements(
        _ file: String, _ check: (Vector) throws -> String?
    ) throws -> [String] {
        let vectors = try Vector.read(file)
        #expect(!vectors.isEmpty)
        return try vectors.compactMap { vector in try check(vector).map { "\(vector.name): \($0)" } }
    }

    @Test(arguments: Self.files) func `a body is valid, or refused with the code and the field`(
        _ file: String
    ) throws {
        let wrong = try Self.disagreements(file) { vector in
            let frame = Frame(try vector.type, body: try vector.body)
            let expected = vector.valid ? "valid" : "\(vector.code ?? "") \(vector.field ?? "")"
            let found: String
            do throws(DecodingError) {
                _ = try BodyDecoder().decode(frame)
                found = "valid"
            } catch .rejected(let rejection) {
                found = "\(CodeName.of(rejection.code)) \(rejection.field)"
            } catch {
                found = "\(error)"
            }
            return found == expected ? nil : "\(found), not \(expected)"
        }
        #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }

    @Test(arguments: Self.files) func `a valid body has the JSON form`(_ file: String) throws {
        let wrong = try Self.disagreements(file) { vector in
            guard vector.valid, let json = vector.json else { return nil }
            let body = try vector.body
            let (found, written) = try WireJSON.read(body, vector.type.descriptor)
            if found != json { return "\(found), not \(json)" }
            if vector.canonical == true, written != body { return "is written as \(Vector.hex(written))" }
            return nil
        }
        #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }

    @Test(arguments: Self.files) func `a message that was read and written again has the same JSON form`(
        _ file: String
    ) throws {
        let wrong = try Self.disagreements(file) { vector in
            guard vector.valid, let json = vector.json else { return nil }
            let type = try vector.type
            let frame = Frame(type, body: try vector.body)
            let envelope = try Codec.decode(frame)
            let written = Codec.encode(envelope)
            if try Codec.decode(written) != envelope { return "is another message when it is written again" }
            guard file != "observer.jsonl" else { return nil }
            let found = try WireJSON.read(Array(written.body), type.descriptor).json
            let expected = Reading.of(json, vector.message)
            return found == expected ? nil : "\(found), not \(expected)"
        }
        #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }

    @Test func `the unknown fields of a publication are kept when it is encoded again`() throws {
        var count = 0
        let wrong = try Self.disagreements("session.jsonl") { vector in
            let type = try vector.type
            guard vector.valid, let json = vector.json, MessageType.published.contains(type.rawValue),
                Reading.withoutUnknown(json) != json
            else { return nil }
            count += 1
            let frame = Frame(type, body: try vector.body)
            let decoded = try #require(Codec.publication(of: frame))
            let written = Codec.encode(Envelope(.publication(decoded.content)))
            let unknown = try #require(decoded.unknown)
            let restored = Codec.coder.restore(written, unknown, true)
            let found = try WireJSON.read(Array(restored.body), type.descriptor).json
            // A line without points is left out, and so are its fields.
            let expected = vector.message == "AddRouteSegments" ? Reading.withoutEmptyLines(json) : json
            return found == expected ? nil : "\(found), not \(expected)"
        }
        #expect(count > 30)
        #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }
}

/// How this library reads values that the page lets a receiver read in another way than they are written.
enum Reading {
    static func of(_ json: JSON, _ message: String) -> JSON {
        var json = self.withoutUnknown(json)
        switch message {
        case "Hello": self.readHello(&json)
        case "Welcome":
            json["features"] = self.grants(json["features"])
            json["negotiated_limits"] = self.limits(json["negotiated_limits"] ?? .object([:]))
            json["sessions"] = self.each(json["sessions"]) {
                self.close($0, "end_reason", SessionEndReason.self)
            }
        case "Goodbye":
            json = self.close(json, "code", CloseCode.self, otherwise: CloseCode.internalError)
            json["moved_to"] = nil  // Reserved.
        case "Error": json = self.close(json, "code", ErrorCode.self, otherwise: ErrorCode.inconsistent)
        case "SessionOpened": json["vehicles"] = self.each(json["vehicles"], self.status)
        case "VehicleChanged": json["vehicle"] = json["vehicle"].map(self.status)
        case "SessionEnded": json = self.close(json, "reason", SessionEndReason.self)
        case "SnapshotBegin": json["withheld"] = self.grants(json["withheld"])
        case "CancelNavigation":
            json = self.close(json, "reason", CancelReason.self, otherwise: CancelReason.userStopped)
        case "PromptOver", "RequestOutcome", "DestinationShareAnswer", "DestinationShareStatus":
            json = self.close(json, "outcome", Outcome.self, otherwise: Outcome.invalid)
        case "RequestAnswer": json = self.close(json, "reason", Outcome.self, otherwise: Outcome.invalid)
        case "ShowAlert":
            if var alert = json["alert"], let duration = alert["duration_milliseconds"]?.number,
                duration < 5_000
            {
                alert["duration_milliseconds"] = .number(5_000)
                json["alert"] = alert
            }
        case "AddRouteSegments": json = self.withoutEmptyLines(json)
        default: break
        }
        return json
    }

    static func withoutUnknown(_ json: JSON) -> JSON {
        switch json {
        case .list(let list): .list(list.map(self.withoutUnknown))
        case .object(let object): .object(object.filter { $0.key != "?" }.mapValues(self.withoutUnknown))
        case _: json
        }
    }

    private static func each(_ list: JSON?, _ read: (JSON) -> JSON) -> JSON? {
        list.map { .list($0.list.map(read)) }
    }

    private static func readHello(_ json: inout JSON) {
        if var vehicle = json["vehicle"] {
            vehicle["features"] = self.features(vehicle["features"])
            vehicle["limits"] = vehicle["limits"] ?? .object([:])
            vehicle["preferences"] = vehicle["preferences"] ?? .object([:])
            json["vehicle"] = vehicle
        }
        if var navigation = json["navigation"] {
            navigation["features"] = self.features(navigation["features"])
            json["navigation"] = navigation
        }
        json["negotiated_limits"] = json["negotiated_limits"].map(self.limits)
    }

    private static func features(_ list: JSON?) -> JSON? {
        let numbers = (list?.list ?? []).compactMap(\.number)
        let known = Set(numbers.filter { Feature(rawValue: UInt32($0)) != nil })
        return known.isEmpty ? nil : .list(known.sorted().map(JSON.number))
    }

    private static func grants(_ list: JSON?) -> JSON? {
        let known = (list?.list ?? []).filter { Feature(rawValue: UInt32($0["feature"]?.number ?? 0)) != nil }
        let read = known.map {
            self.close($0, "reason", WithheldReason.self, otherwise: WithheldReason.policy)
        }
        return read.isEmpty ? nil : .list(read)
    }

    private static func limits(_ json: JSON) -> JSON {
        let page = [
            ("vehicles_per_session_max", 256.0), ("extension_states_max", 64), ("route_segments_max", 65),
            ("coordinates_max", 262_144),
        ]
        return page.reduce(into: json) { $0[$1.0] = $0[$1.0] ?? .number($1.1) }
    }

    private static func status(_ json: JSON) -> JSON {
        var json = self.close(json, "refusal", ErrorCode.self, otherwise: ErrorCode.inconsistent)
        json = self.close(json, "end_reason", SessionEndReason.self)
        json["endpoints"] = self.each(json["endpoints"]) { endpoint in
            var endpoint = endpoint
            endpoint["withheld"] = self.grants(endpoint["withheld"])
            return endpoint
        }
        return json
    }

    static func withoutEmptyLines(_ json: JSON) -> JSON {
        var json = json
        json["segments"] = self.each(json["segments"]) { segment in
            var segment = segment
            if segment["coordinates"]?["latitude_e6_deltas"] == nil { segment["coordinates"] = nil }
            return segment
        }
        return json
    }

    /// A value that the enumeration does not have is read as another one.
    private static func close<Value: RawRepresentable<UInt32>>(
        _ json: JSON, _ field: String, _ type: Value.Type, otherwise: Value? = nil
    ) -> JSON {
        guard let number = json[field]?.number, Value(rawValue: UInt32(number)) == nil else { return json }
        var json = json
        json[field] = .number(Double(otherwise?.rawValue ?? 2_147_483_647))
        return json
    }
}
