internal import Logging
internal import NIOCore
internal import WaymarkProtocol
internal import WaymarkTelemetry

/// Writes what happens to connections, so that no source can flood the log. Lives on the gateway's loop.
final class PeerLog {
    private let logger: Logger
    private let limits: LogLimiter.Limits
    private let loop: any EventLoop
    private var limiter: LogLimiter

    init(_ logger: Logger, limits: LogLimiter.Limits, loop: any EventLoop) {
        self.logger = logger
        self.limits = limits
        self.loop = loop
        self.limiter = LogLimiter(limits: limits)
    }

    /// Writes a line, or counts it and tells later how many there were.
    func write(_ notice: PeerNotice, _ peer: PeerDescription, at now: Instant) {
        switch self.limiter.count(peer.source, notice.level, at: now) {
        case .pass:
            let metadata = peer.metadata.merging(notice.metadata) { $1 }
            self.logger.log(level: notice.level, "\(notice.event)", metadata: metadata)
        case .suppress: break
        case .suppressFirst:
            self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(self.limits.window.nanoseconds)) {
                self.tell()
            }
        }
    }

    /// Says what was kept back.
    func tell() {
        let suppressed = self.limiter.takeSuppressed()
        for (key, count) in suppressed {
            self.logger.log(
                level: key.level, "\(LoggedEvent.linesLeftOut)",
                metadata: [
                    LogKey.peer: "\(key.source.map { "\($0)" } ?? "others")", LogKey.count: "\(count)",
                ])
        }
    }
}

/// Who a log line is about.
struct PeerDescription: Sendable {
    var source: PeerSource
    var entrance: ListenAddress
    /// nil for one that was not taken.
    var connection: ConnectionID?
    /// Once a Hello was read.
    var role: Hello.Role?

    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            LogKey.peer: "\(self.source)", LogKey.address: "\(self.entrance)",
        ]
        if let user = self.source.user { metadata[LogKey.peerUser] = "\(user)" }
        if let connection = self.connection { metadata[LogKey.connection] = "\(connection.rawValue)" }
        switch self.role {
        case .vehicle(let hello):
            metadata[LogKey.vehicle] = "\(hello.vehicle)"
            metadata[LogKey.endpoint] = "\(hello.endpoint)"
        case .navigation(let hello): metadata[LogKey.client] = "\(hello.client)"
        case nil: break
        }
        return metadata
    }
}
