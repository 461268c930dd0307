import Testing

@testable import WaymarkConnections

/// What an idle connection takes, of which there may be ten thousand. `Docs/performance.md` says how much that is in all.
@Suite struct ConnectionSizeTests {
    @Test func `a connection has no gaps`() {
        #expect(MemoryLayout<Connection>.stride <= 352)
        #expect(MemoryLayout<Output>.stride <= 112)
        #expect(MemoryLayout<Connection.Seat>.stride <= 24)
    }
}
