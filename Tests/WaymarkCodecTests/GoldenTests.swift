import Foundation
import Testing
import WaymarkCodec
import WaymarkProtocol

/// The bytes on the wire do not change: what is written today is what was written when the fixtures were made.
///
/// With `WAYMARK_RECORD_FIXTURES=1` the fixtures are written instead; look at the difference before committing it.
@Suite struct GoldenTests {
    @Test(arguments: MessageType.allCases)
    func `a message has the bytes of its fixture`(_ type: MessageType) throws {
        let envelope = Samples.envelope(type)
        let frame = Codec.encode(envelope)
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/\(type).hex")
        if ProcessInfo.processInfo.environment["WAYMARK_RECORD_FIXTURES"] == "1" {
            try Fixture.text(of: frame).write(to: file, atomically: true, encoding: .utf8)
        }
        let bytes = try Fixture.bytes(in: String(contentsOf: file, encoding: .utf8))
        #expect(Array(frame.bytes) == bytes)
        let header = try #require(
            try FrameHeader.read(
                from: bytes.span.bytes, frameBytesMax: ProtocolConstants.frameBytes.upperBound))
        #expect(try Codec.decode(Frame(header: header, bytes: bytes[...])) == envelope)
    }

    @Test func `the page shows the bytes of an extension`() throws {
        let page = try ProtocolPageTests.text("Docs/protocol.md")
        let section = try #require(page.split(separator: "\n## Extensions\n").dropFirst().first)
        let block = try #require(section.split(separator: "```").first { $0.hasPrefix("hex\n") })
        let published = PublishedExtension(
            name: ExtensionName(unchecked: "org.example.tyres"), content: Array("72".utf8), key: 1,
            isRetained: true)
        let frame = Codec.encode(
            Envelope(.publication(.publishExtension(published)), session: SessionID(7), sequence: 10))
        #expect(try Fixture.bytes(in: String(block.dropFirst(4))) == Array(frame.bytes))
    }

    @Test(arguments: MessageType.allCases)
    func `a fixture cut at any byte is incomplete, read or refused`(_ type: MessageType) throws {
        let bytes = Array(Codec.encode(Samples.envelope(type)).bytes)
        let decoder = BodyDecoder()
        for count in 0..<bytes.count {
            let part = bytes[..<count]
            var header = try FrameHeader.read(
                from: part.span.bytes, frameBytesMax: ProtocolConstants.frameBytes.upperBound)
            #expect((header == nil) == (count < FrameHeader.byteCount))
            guard header != nil else { continue }
            header?.bodyLength = UInt32(count - FrameHeader.byteCount)
            if let header { _ = Result { try decoder.decode(Frame(header: header, bytes: part)) } }
        }
    }
}

/// Frames as hexadecimal text: a comment begins with `#`, white space means nothing.
enum Fixture {
    static func bytes(in text: String) throws -> [UInt8] {
        let digits = text.split(separator: "\n").map { $0.prefix { $0 != "#" } }.joined(separator: " ")
        return try digits.split(whereSeparator: \.isWhitespace).map { try #require(UInt8($0, radix: 16)) }
    }

    static func text(of frame: Frame) -> String {
        let header = frame.bytes.prefix(FrameHeader.byteCount)
        let start = header.startIndex
        var lines = ["# \(frame.header.type.map { "\($0)" } ?? "unknown"), \(frame.bytes.count) bytes"]
        for (range, comment) in [
            (0..<2, "magic"), (2..<3, "major version"), (3..<4, "flags"), (4..<6, "type"),
            (6..<8, "key"),
            (8..<12, "body length"), (12..<16, "session id"), (16..<24, "sequence"),
        ] {
            lines.append(self.line(header[(start + range.lowerBound)..<(start + range.upperBound)], comment))
        }
        return (lines + self.fields(frame.body)).joined(separator: "\n") + "\n"
    }

    /// One line per field of the body; long ones continue in the next lines.
    private static func fields(_ body: ArraySlice<UInt8>) -> [String] {
        var lines: [String] = []
        var rest = body
        while let tag = rest.first {
            // Field numbers up to 15 and lengths below 16 384 are all that the samples have.
            let lengthBytes = rest[(rest.startIndex + 1)...].prefix { $0 >= 0x80 }.count + 1
            let field = tag >> 3
            let valueCount: Int
            switch tag & 7 {
            case 0: valueCount = lengthBytes
            case 1: valueCount = 8
            default:
                let length = rest.dropFirst().prefix(lengthBytes).reversed().reduce(0) {
                    $0 << 7 | Int($1 & 0x7F)
                }
                valueCount = lengthBytes + length
            }
            let whole = rest.prefix(1 + valueCount)
            for offset in stride(from: 0, to: whole.count, by: 16) {
                let part = whole.dropFirst(offset).prefix(16)
                lines.append(self.line(part, offset == 0 ? "field \(field)" : ""))
            }
            rest = rest.dropFirst(whole.count)
        }
        return lines
    }

    private static func line(_ bytes: ArraySlice<UInt8>, _ comment: String) -> String {
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        return comment.isEmpty
            ? hex : hex.padding(toLength: max(hex.count, 48), withPad: " ", startingAt: 0) + "# " + comment
    }
}
