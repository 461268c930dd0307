package import Logging
internal import Synchronization

/// The level below which nothing is logged; it can change while the daemon runs.
package final class LogThreshold: Sendable {
    private let kept: Mutex<Logger.Level>

    package init(_ level: Logger.Level) { self.kept = Mutex(level) }

    package var level: Logger.Level { self.kept.withLock { $0 } }

    package func set(_ level: Logger.Level) { self.kept.withLock { $0 = level } }
}

/// Writes what the threshold lets through with another handler.
package struct ThresholdLogHandler: LogHandler {
    private var base: any LogHandler
    private let threshold: LogThreshold
    /// What a single logger was set to, if it was.
    private var ownLevel: Logger.Level?

    package init(_ base: any LogHandler, threshold: LogThreshold) {
        self.base = base
        self.base.logLevel = .trace
        self.threshold = threshold
    }

    package var logLevel: Logger.Level {
        get { self.ownLevel ?? self.threshold.level }
        set { self.ownLevel = newValue }
    }

    package var metadata: Logger.Metadata {
        get { self.base.metadata }
        set { self.base.metadata = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.base[metadataKey: key] }
        set { self.base[metadataKey: key] = newValue }
    }

    package func log(event: LogEvent) { self.base.log(event: event) }
}
