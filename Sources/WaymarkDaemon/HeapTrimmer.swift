internal import CMalloc
internal import Glibc
internal import ProcessIO
package import WaymarkGateway

/// Gives freed memory back to the system after a peak.
///
/// The C library keeps freed memory for later while anything behind it in the heap is in use. Giving it back takes some milliseconds for each
/// hundred megabytes, in which the event loops may wait for memory: so it is done seldom, and more seldom where it gained nothing, until
/// peers leave.
package struct HeapTrimmer {
    /// How many bytes more than at the start are left alone.
    package static let spareByteCount = 64 << 20
    /// How many calls of ``check(_:_:trim:)`` pass between two trims, at least and at most.
    private static let waits = 4...1_024

    private var startByteCount: Int?
    private var peerCount = 0
    private var wait = Self.waits.lowerBound
    private var callsLeft = 0

    package init() {}

    /// Called every second: trims the heap if the process is much larger than at the start.
    package mutating func check(_ census: Gateway.Census) {
        self.check(census.endpoints + census.clients, Self.residentByteCount) { malloc_trim(0) }
    }

    /// `size` is the resident size of the process, in bytes; 0 if it is unknown.
    package mutating func check(_ peerCount: Int, _ size: () -> Int, trim: () -> Void) {
        let before = size()
        guard before > 0 else { return }
        let start = self.startByteCount ?? before
        self.startByteCount = start
        if peerCount < self.peerCount {
            self.wait = Self.waits.lowerBound
            self.callsLeft = min(self.callsLeft, self.wait)
        }
        self.peerCount = peerCount
        self.callsLeft = max(0, self.callsLeft - 1)
        let excess = before - start
        guard excess > Self.spareByteCount, self.callsLeft == 0 else { return }
        trim()
        let isUseful = before - size() > excess / 8
        self.wait = isUseful ? Self.waits.lowerBound : min(2 * self.wait, Self.waits.upperBound)
        self.callsLeft = self.wait
    }

    private static func residentByteCount() -> Int {
        do throws(FileError) {
            let fields = try FileContent(path: "/proc/self/statm").bytes.split(separator: UInt8(ascii: " "))
            guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else {
                return 0
            }
            return pages * sysconf(CInt(_SC_PAGESIZE))
        } catch {
            return 0
        }
    }
}
