package import Logging
internal import Systemd

/// Chooses where the log is written.
package enum ServiceLog {
    /// Journal entries with fields if standard error is connected to the journal, otherwise lines on standard error.
    package static func handler(label: String, threshold: LogThreshold) -> any LogHandler {
        let base: any LogHandler =
            Journal.isErrorOutput
            ? JournalLogHandler(label: label, level: .trace) : LineLogHandler(label: label)
        return ThresholdLogHandler(base, threshold: threshold)
    }
}
