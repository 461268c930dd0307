internal import CSystemd
internal import Glibc

/// A notification for the service manager; see sd_notify(3).
package enum Notification: Sendable, Hashable {
    /// The start or a reload is complete.
    case ready
    /// A reload begins at this time of CLOCK_MONOTONIC, see ``reloadingNow()``. It ends with ``ready``.
    case reloading(monotonicMicroseconds: UInt64)
    case stopping
    /// The status line of `systemctl status`. Line breaks become spaces.
    case status(String)
    /// Resets the watchdog timer.
    case watchdog
    /// Extends the time for starting or stopping to at least this long from now. Not negative.
    case extendTimeout(Duration)
    /// The main process of the service.
    case mainProcess(Int32)

    /// ``reloading(monotonicMicroseconds:)`` with the current time.
    package static func reloadingNow() -> Notification {
        var time = timespec()
        // Why unchecked: clock_gettime(2) fails only for a clock that the system does not have.
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .reloading(
            monotonicMicroseconds: UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000)
    }

    /// The text of the notification.
    var assignment: String {
        switch self {
        case .ready: "READY=1"
        case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
        case .stopping: "STOPPING=1"
        case .status(let text): "STATUS=\(String(text.map { $0.isNewline ? " " : $0 }))"
        case .watchdog: "WATCHDOG=1"
        case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(duration.microseconds)"
        case .mainProcess(let id): "MAINPID=\(id)"
        }
    }
}

/// The name of a descriptor in the service manager's store: 1 to 255 printable ASCII characters except `:`.
package struct StoredName: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// nil if the text is not a valid name.
    package init?(_ text: String) {
        guard (1...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ":") })
        else { return nil }
        self.description = text
    }
}

extension Duration {
    /// Whole microseconds.
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
