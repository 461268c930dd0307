import Foundation
import Testing

@testable import WaymarkCodec
@testable import WaymarkProtocol

/// Protos/vectors: what a receiver makes of a body.
@Suite struct VectorTests {
    static let files = [
        "connection.jsonl", "session.jsonl", "vehicle.jsonl", "observer.jsonl", "lines.jsonl", "large.jsonl",
    ]

    /// Read once: under a sanitizer that takes longer than the tests.
    private static let vectors = Dictionary(
        uniqueKeysWithValues: Self.files.map { file in (file, Result { try Vector.read(file) }) })

    /// What is wrong with the vectors of a file, in a few lines.
    private static func disagreements(
        _ file: String, _ check: (Vector) throws -> String?
    ) throws -> [String] {
        let vectors = try #require(Self.vectors[file]).get()
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
