import Testing
import WaymarkProtocol

@Suite struct SplitterTests {
    static func frame(_ byteCount: Int, sequence: UInt64 = 0) -> Frame {
        Frame(
            header: FrameHeader(type: 0x0108, sequence: sequence),
            body: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test func `frames are the same however they are cut`() throws {
        let frames = [0, 1, 500, 3].enumerated().map { Self.frame($1, sequence: UInt64($0)) }
        let bytes = frames.flatMap { Array($0.bytes) }
        for piece in 1...bytes.count {
            var splitter = FrameSplitter(frameBytesMax: 1_000)
            var found: [Frame] = []
            for start in stride(from: 0, to: bytes.count, by: piece) {
                splitter.append(Array(bytes[start..<min(start + piece, bytes.count)]))
                while let frame = try splitter.next() { found.append(frame) }
            }
            #expect(found == frames, "in pieces of \(piece)")
        }
    }

    @Test func `frames are the same where their reads may contain secrets`() throws {
        let frames = [0, 1, 500, 3].enumerated().map { Self.frame($1, sequence: UInt64($0)) }
        let bytes = frames.flatMap { Array($0.bytes) }
        for piece in 1...bytes.count {
            var splitter = FrameSplitter(frameBytesMax: 1_000)
            var found: [Frame] = []
            for start in stride(from: 0, to: bytes.count, by: piece) {
                unsafe splitter.appendSecret(bytes[start..<min(start + piece, bytes.count)].span.bytes)
                while let frame = try splitter.next() {
                    let copy = Frame(header: frame.header, bytes: frame.bytes.map { $0 }[...])
                    splitter.wipe(frame)
                    #expect(frame.bytes.allSatisfy { $0 == 0 })
                    found.append(copy)
                }
            }
            #expect(found == frames, "in pieces of \(piece)")
        }
    }

    @Test func `bytes that others share are not wiped`() throws {
        var splitter = FrameSplitter(frameBytesMax: 1_000)
        let bytes = Array(Self.frame(100).bytes.dropLast())
        splitter.append(bytes)
        let rest = splitter.rest
        splitter.wipeRest()
        #expect(rest == bytes)
        #expect(splitter.rest == Array(repeating: 0, count: bytes.count))
    }

    @Test func `a frame does not hold the read that it came with`() throws {
        var splitter = FrameSplitter(frameBytesMax: 100_000)
        let small = Self.frame(10)
        splitter.append(Array(small.bytes) + Array(Self.frame(60_000).bytes) + Array(small.bytes.prefix(30)))
        let first = try #require(try splitter.next())
        #expect(first.bytes.startIndex == 0, "it is a part of the whole read")
        #expect(first == small)
        _ = try splitter.next()
        #expect(try splitter.next() == nil)
        #expect(splitter.byteCapacity < 1_000)
    }

    @Test func `whether a published frame comes next is known from its type`() throws {
        var splitter = FrameSplitter(frameBytesMax: 1_000)
        let request = Frame(header: FrameHeader(type: MessageType.waypointRequest.rawValue), body: [1, 2])
        splitter.append(Array(Self.frame(10).bytes.prefix(5)))
        #expect(!splitter.isPublishedNext)
        splitter.append(Array(Self.frame(10).bytes.dropFirst(5)) + Array(request.bytes))
        #expect(splitter.isPublishedNext)
        #expect(try splitter.next() == Self.frame(10))
        #expect(!splitter.isPublishedNext)
        #expect(try splitter.next() == request)
        #expect(!splitter.isPublishedNext)
    }

    @Test func `nothing is held between frames`() throws {
        var splitter = FrameSplitter(frameBytesMax: 100_000)
        splitter.append(Array(Self.frame(60_000).bytes))
        _ = try splitter.next()
        #expect(try splitter.next() == nil)
        #expect(splitter.byteCapacity == 0)
    }

    @Test func `a part of a frame is held within bounds`() throws {
        var splitter = FrameSplitter(frameBytesMax: 100_000)
        let bytes = Array(Self.frame(100_000 - 24).bytes)
        for start in stride(from: 0, to: bytes.count - 1, by: 50) {
            splitter.append(Array(bytes[start..<min(start + 50, bytes.count - 1)]))
            #expect(try splitter.next() == nil)
            #expect(splitter.byteCapacity <= 2 * 100_000)
        }
    }

    @Test func `after a length that is too long no byte is kept`() throws {
        var splitter = FrameSplitter(frameBytesMax: 100)
        let frame = Self.frame(77)
        let bytes = Array(frame.bytes)
        let error = FramingError.tooLarge(frame.header, max: 100)
        splitter.append(bytes)
        #expect(throws: error) { try splitter.next() }
        for _ in 0..<10 {
            splitter.append(bytes)
            #expect(splitter.byteCapacity == 0)
            #expect(throws: error) { try splitter.next() }
        }
    }
}
