package import Logging
internal import Synchronization

/// The lowest level that is logged. A reload can change it.
package final class LogThreshold: Sendable {
    private let current: Mutex<Logger.Level>

    package init(_ level: Logger.Level) { self.current = Mutex(level) }

    package var level: Logger.Level { self.current.withLock { $0 } }

    package func set(_ level: Logger.Level) { self.current.withLock { $0 = level } }
}

/// Forwards log events at or above the threshold to another handler.
package struct ThresholdLogHandler: LogHandler {
    private var base: any LogHandler
    private let threshold: LogThreshold
    /// The level of one logger, if it was set.
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
