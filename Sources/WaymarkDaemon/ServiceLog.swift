package import Logging
internal import Systemd

/// Where the log goes.
package enum ServiceLog {
    /// The journal, with fields, if standard error is connected to it; otherwise lines on standard error.
    package static func handler(label: String, level: Logger.Level) -> any LogHandler {
        if Journal.isErrorOutput { return JournalLogHandler(label: label, level: level) }
        var handler = StreamLogHandler.standardError(label: label)
        handler.logLevel = level
        return handler
    }
}
