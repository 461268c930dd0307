package import Logging
internal import Systemd
internal import WaymarkTelemetry

/// Chooses where the log is written.
package enum ServiceLog {
    /// Journal entries with fields if standard error is connected to the journal, otherwise lines on standard error.
    package static func handler(label: String, threshold: LogThreshold) -> any LogHandler {
        ThresholdLogHandler(Self.base(label, Self.queue), threshold: threshold)
    }

    /// Returns when all lines are written, or after a second. Call it before the process ends.
    package static func flush() { Self.queue.flush(within: .seconds(1)) }

    private static let queue = LogQueue { count in
        // On the queue's thread, so not through the queue.
        Logger(label: "waymarkd") { Self.base($0, nil) }
            .warning("\(LoggedEvent.linesDropped)", metadata: [LogKey.count: "\(count)"])
    }

    private static func base(_ label: String, _ queue: LogQueue?) -> any LogHandler {
        Journal.isErrorOutput
            ? JournalLogHandler(label: label, level: .trace, queue: queue)
            : LineLogHandler(label: label, queue: queue)
    }
}
