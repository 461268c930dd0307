import Foundation
import Testing
import WaymarkCodec
import WaymarkProtocol

/// The inputs from which scripts/fuzz.sh starts.
@Suite struct FuzzCorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fuzz/Corpus/FuzzCodec")

    @Test(arguments: MessageType.allCases)
    func `the corpus has a valid message of each type, under its name`(_ type: MessageType) throws {
        let bytes = try Data(contentsOf: Self.folder.appending(path: "\(type)"))
        var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
        splitter.append(Array(bytes))
        let frame = try #require(try splitter.next())
        #expect(frame.header.type == type)
        #expect(throws: Never.self) { try Codec.decode(frame) }
    }
}
