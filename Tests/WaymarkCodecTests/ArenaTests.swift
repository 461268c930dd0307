import Testing

@testable import WaymarkCodec

@Suite struct ArenaTests {
    @Test(arguments: [true, false])
    func `what was handed out is overwritten when it is taken back, if that is wanted`(_ wiping: Bool) throws
    {
        let arena = Arena(bytesMax: 100_000, firstChunkBytes: 1_024)
        // The first chunk stays, the others are freed.
        let first = try #require(arena.allocate(500))
        first.initializeMemory(as: UInt8.self, repeating: 7, count: 500)
        for _ in 0..<3 { #expect(arena.allocate(10_000) != nil) }
        arena.reset(wiping: wiping)
        let bytes = UnsafeRawBufferPointer(start: first, count: 500)
        #expect(bytes.allSatisfy { $0 == (wiping ? 0 : 7) })
        #expect(arena.allocate(500) == first)
    }
}
