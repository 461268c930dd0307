internal import Foundation
internal import Synchronization

/// Writes log lines on a thread of its own, so that a reader of the log that does not read cannot hold up the daemon.
///
/// Memory is bounded: lines that come while ``bytesMax`` wait are dropped and counted.
package final class LogQueue: Sendable {
    /// Bytes of lines that may wait; every line counts as 256 bytes more than it has.
    package static let bytesMax = 1_048_576

    private struct State {
        var waitingByteCount = 0
        var droppedCount = 0
    }

    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "waymarkd.log")
    private let writeDropped: @Sendable (Int) -> Void

    /// `writeDropped` writes how many lines were dropped, once lines are written again.
    package init(writeDropped: @escaping @Sendable (Int) -> Void) { self.writeDropped = writeDropped }

    /// Calls `write` later, behind all lines before, or drops the line of `byteCount` bytes.
    package func add(_ byteCount: Int, _ write: @escaping @Sendable () -> Void) {
        let cost = byteCount + 256
        let isAdded = self.state.withLock { state in
            guard state.waitingByteCount + cost <= Self.bytesMax else {
                state.droppedCount += 1
                return false
            }
            state.waitingByteCount += cost
            return true
        }
        guard isAdded else { return }
        self.thread.async {
            write()
            let droppedCount = self.state.withLock { state in
                state.waitingByteCount -= cost
                defer { state.droppedCount = 0 }
                return state.droppedCount
            }
            if droppedCount > 0 { self.writeDropped(droppedCount) }
        }
    }

    /// Returns when the lines added before are written, or after `timeout`.
    ///
    /// - Returns: Whether they are.
    @discardableResult
    package func flush(within timeout: Duration) -> Bool {
        let written = DispatchSemaphore(value: 0)
        self.thread.async { written.signal() }
        let seconds = Double(timeout.components.seconds) + Double(timeout.components.attoseconds) / 1e18
        return written.wait(timeout: .now() + seconds) == .success
    }
}
