import Foundation
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// Docs/protocol.md says what the code does.
@Suite struct ProtocolPageTests {
    static let page: String = {
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/protocol.md")
        do { return try String(contentsOf: url, encoding: .utf8) } catch { return "" }
    }()

    static let examples: [Message] = [
        .ping(nonce: 5),
        .hello(
            Hello(
                role: .vehicle(
                    VehicleHello(
                        vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"),
                        features: [.maneuvers])))), .publication(.maneuverState(.prepare, generation: 1)),
        .goodbye(Goodbye(.normal)),
    ]

    @Test func `the examples are whole frames of what they say`() throws {
        let blocks = Self.page.matches(of: /```hex\n([\s\S]*?)```/).map { String($0.1) }
        #expect(blocks.count == Self.examples.count)
        for (block, expected) in zip(blocks, Self.examples) {
            let bytes = block.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
            let header = try #require(try FrameHeader.read(from: bytes.span.bytes, frameBytesMax: 1_000))
            #expect(header.frameByteCount == bytes.count)
            #expect(try Codec.decode(Frame(header: header, bytes: bytes[...])).message == expected)
        }
    }

    @Test func `all types and codes are in the tables`() {
        for type in MessageType.allCases {
            let number = String(type.rawValue, radix: 16, uppercase: true)
            let padded = String(repeating: "0", count: 4 - number.count) + number
            #expect(
                Self.page.lowercased().contains("| 0x\(padded.lowercased()) | \("\(type)".lowercased()) |"),
                "\(type)")
        }
        let rows = Self.page.split(separator: "\n").map { $0.replacing("_", with: "").lowercased() }
        for code in CloseCode.allCases {
            #expect(
                rows.contains { $0.hasPrefix("| \(code.rawValue) | \("\(code)".lowercased()) |") }, "\(code)")
        }
        for code in ErrorCode.allCases {
            #expect(
                rows.contains { $0.hasPrefix("| \(code.rawValue) | \("\(code)".lowercased()) |") }, "\(code)")
        }
    }
}
