import Testing
import WaymarkProtocol

@Suite struct FrameTests {
    static let header = FrameHeader(
        type: 0x010B, flags: [.gateway], bodyLength: 5, session: SessionID(0x0102_0304), sequence: 0x0A0B)

    static var bytes: [UInt8] {
        var bytes: [UInt8] = []
        header.write(to: &bytes)
        return bytes
    }

    @Test func `a header has 24 bytes in network order`() {
        #expect(
            Self.bytes == [
                0x57, 0x4D, 1, 2, 0x01, 0x0B, 0, 0, 0, 0, 0, 5, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0x0A, 0x0B,
            ])
    }

    @Test func `a state's header has its key in the bytes 6 and 7`() throws {
        let header = FrameHeader(
            type: 0x01E5, flags: [.skippable, .state, .retained], key: 0xA0B0, bodyLength: 3,
            session: SessionID(7), sequence: 9)
        var bytes: [UInt8] = []
        header.write(to: &bytes)
        #expect(
            bytes == [
                0x57, 0x4D, 1, 25, 0x01, 0xE5, 0xA0, 0xB0, 0, 0, 0, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9,
            ])
        #expect(try FrameHeader.read(from: bytes.span.bytes, frameBytesMax: 100) == header)
    }

    @Test func `a header is read back, and not before all of it is there`() throws {
        for count in 0..<24 {
            let part = Array(Self.bytes.prefix(count))
            #expect(try FrameHeader.read(from: part.span.bytes, frameBytesMax: 100) == nil)
        }
        #expect(try FrameHeader.read(from: Self.bytes.span.bytes, frameBytesMax: 100) == Self.header)
    }

    @Test func `what cannot become a frame is refused at its first byte that tells`() throws {
        for text in ["G", "GE", "WE"] {
            #expect(throws: FramingError.badMagic) {
                try FrameHeader.read(from: Array(text.utf8).span.bytes, frameBytesMax: 100)
            }
        }
        #expect(throws: FramingError.unsupportedVersion(2)) {
            try FrameHeader.read(from: ([0x57, 0x4D, 2] as [UInt8]).span.bytes, frameBytesMax: 100)
        }
        let header = try #require(try FrameHeader.read(from: Self.bytes.span.bytes, frameBytesMax: 29))
        #expect(throws: FramingError.tooLarge(header, max: 28)) {
            try FrameHeader.read(from: Self.bytes.span.bytes, frameBytesMax: 28)
        }
    }
}
