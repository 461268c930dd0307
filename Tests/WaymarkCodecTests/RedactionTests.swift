import Foundation
import RandomMessages
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// What observers that may not see places are told.
@Suite struct RedactionTests {
    private static let marker = "Hauptstrasse-5"

    @Test(arguments: MessageType.allCases)
    func `a redacted frame can be read, and redacting it again changes nothing`(_ type: MessageType) throws {
        let decoder = BodyDecoder()
        for seed in 0..<40 {
            var random = RandomValues(seed: UInt64(seed) << 16 | UInt64(type.rawValue))
            let envelope = random.envelope(type)
            let redacted = Codec.redacted(Codec.encode(envelope).bytes)
            let frame = try #require(Frame.all(in: redacted).first)
            #expect(frame.bytes.count == redacted.count)
            #expect(try decoder.decode(frame).message.type == type, "seed \(seed)")
            #expect(Codec.redacted(redacted) == redacted)
        }
    }

    @Test(arguments: MessageType.allCases)
    func `no coordinate, address, name or text is left`(_ type: MessageType) throws {
        let frame = Codec.encode(Samples.envelope(type))
        let redacted = Codec.redacted(frame.bytes)
        let text = String(decoding: redacted, as: UTF8.self)
        for place in [
            "Vaduz", "Feldkirch", "Reichs", "poi-1", "Europe/", "second exit", "12A", "Keep right", "Schaan",
            "Faster", "Saves", "Take it", "traffic",
        ] {
            #expect(!text.contains(place), "\(type) still has \(place)")
        }
        for degrees in [47.141, 9.521, 47.2393, 9.5972] {
            let bytes = withUnsafeBytes(of: degrees.bitPattern.littleEndian) { Array($0) }
            #expect(redacted.firstRange(of: bytes) == nil, "\(type) still has \(degrees)")
        }
    }

    @Test func `what has no place stays as it is, frame by frame`() throws {
        let frames = [MessageType.upcomingManeuvers, .updateManeuverEstimates, .currentLaneGuidance].map {
            Codec.encode(Samples.envelope($0)).bytes
        }
        let bytes = Array(frames.joined())
        #expect(Codec.redacted(bytes) == bytes)
    }

    @Test func `fields and types that this build does not know are removed`() throws {
        let known = Codec.encode(Samples.envelope(.dismissAlert))
        let unknownField = Frame(header: known.header, body: Array(known.body) + [0x7A, 2, 0x68, 0x69])
        #expect(Codec.redacted(unknownField.bytes) == Array(known.bytes))
        let unknownType = Frame(
            header: FrameHeader(type: 0x01E5, flags: .skippable), body: Array("here".utf8))
        #expect(Codec.redacted(unknownType.bytes).count == FrameHeader.byteCount)
    }

    @Test func `every field of a place is marked in the protos`() throws {
        let protos = try ["model", "session", "vehicle"].map {
            try ProtocolPageTests.text("Protos/waymark/v1/\($0).proto")
        }.joined(separator: "\n")
        let pattern = /\/\/ ([^\n]*)\n\s+repeated string (\w+_variants)/
        let matches = protos.matches(of: pattern)
        #expect(matches.count > 10)
        for match in matches { #expect(match.1.hasSuffix(", place]"), "\(match.2) is not marked") }
        #expect(protos.matches(of: /place\]\n\s+(double|oneof altitude)/).count == 3)
        #expect(protos.matches(of: /place\]\n\s+repeated sint32 \w+_deltas/).count == 2)
    }
}
