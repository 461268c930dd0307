import Testing
import WaymarkDaemon

/// A process whose heap has so many bytes in use and so many spare ones.
private struct Heap {
    var used = 30 << 20
    var spare = 0
    var trims = 0
    var peerCount = 0

    mutating func trim() {
        self.spare = 0
        self.trims += 1
    }
}

@Suite struct HeapTrimmerTests {
    private func check(_ heap: inout Heap, _ trimmer: inout HeapTrimmer, times: Int = 1) {
        for _ in 0..<times {
            var copy = heap
            trimmer.check(copy.peerCount, { copy.used + copy.spare }, trim: { copy.trim() })
            heap = copy
        }
    }

    @Test func `a heap that shrank after a peak is given back`() {
        var (heap, trimmer) = (Heap(), HeapTrimmer())
        self.check(&heap, &trimmer)
        heap.spare = 300 << 20
        self.check(&heap, &trimmer)
        #expect(heap.spare == 0)
        #expect(heap.trims == 1)
    }

    @Test func `little spare memory is kept`() {
        var (heap, trimmer) = (Heap(), HeapTrimmer())
        self.check(&heap, &trimmer)
        heap.spare = HeapTrimmer.spareByteCount
        self.check(&heap, &trimmer, times: 100)
        #expect(heap.trims == 0)
    }

    @Test func `memory that stays in use is looked at more and more seldom`() {
        var (heap, trimmer) = (Heap(), HeapTrimmer())
        self.check(&heap, &trimmer)
        heap.used += 300 << 20
        heap.peerCount = 2
        self.check(&heap, &trimmer, times: 1_000)
        #expect((1...8).contains(heap.trims))
        (heap.used, heap.spare, heap.peerCount) = (30 << 20, 300 << 20, 1)
        self.check(&heap, &trimmer, times: 4)
        #expect(heap.spare == 0)
    }

    @Test func `a process of unknown size is left alone`() {
        var trimmer = HeapTrimmer()
        for _ in 0..<10 { trimmer.check(0, { 0 }, trim: { Issue.record("trimmed") }) }
    }
}
