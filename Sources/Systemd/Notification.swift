internal import CSystemd
internal import Glibc

/// One thing that the service manager is told; see sd_notify(3).
package enum Notification: Sendable, Hashable {
    /// Started, or done with reloading.
    case ready
    /// Begins to reload, at a time of CLOCK_MONOTONIC in microseconds; ``reloadingNow()`` reads it. Ends with ``ready``.
    case reloading(monotonicMicroseconds: UInt64)
    case stopping
    /// A sentence for `systemctl status`. Line breaks become spaces.
    case status(String)
    /// Alive, for this watchdog interval.
    case watchdog
    /// Needs at least so much time from now to start or stop, in place of what the unit allows. Not negative.
    case extendTimeout(Duration)
    /// The process that the manager is to watch.
    case mainProcess(Int32)

    /// ``reloading(monotonicMicroseconds:)`` from this moment on.
    package static func reloadingNow() -> Notification {
        var time = timespec()
        // Why unchecked: it fails only for a clock that the system does not have.
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .reloading(
            monotonicMicroseconds: UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000)
    }

    /// As it is sent.
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

/// The name under which the service manager keeps a descriptor: 1 to 255 printable ASCII characters but `:`.
package struct StoredName: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    /// nil if the text is not such a name.
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
