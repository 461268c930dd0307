package import Logging
internal import Systemd

/// Where the log goes.
package enum ServiceLog {
    /// The journal, with fields, if standard error is connected to it; otherwise lines on standard error.
    package static func handler(label: String, threshold: LogThreshold) -> any LogHandler {
        let base: any LogHandler =
            Journal.isErrorOutput
            ? JournalLogHandler(label: label, level: .trace) : LineLogHandler(label: label)
        return ThresholdLogHandler(base, threshold: threshold)
    }
}
