internal import Logging
internal import NIOCore
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry

/// Writes what happens to connections, so that no source can flood the log. Lives on the gateway's loop.
final class PeerLog {
    private let logger: Logger
    private let loop: any EventLoop
    private var limiter: LogLimiter

    var limits: LogLimiter.Limits {
        get { self.limiter.limits }
        set { self.limiter.limits = newValue }
    }

    init(_ logger: Logger, limits: LogLimiter.Limits, loop: any EventLoop) {
        self.logger = logger
        self.loop = loop
        self.limiter = LogLimiter(limits: limits)
    }

    /// What happened to a connection.
    func write(_ notice: PeerNotice, _ peer: PeerDescription, at now: Instant) {
        self.write(
            notice.event, notice.level, peer.metadata.merging(notice.metadata) { $1 }, of: peer.source,
            peer.subject, at: now)
    }

    /// A turn in the life of a session, which somebody at `source` has brought about; `unknown`: the time has.
    func write(_ note: Gateway.Note, _ source: PeerSource, at now: Instant) {
        self.write(note.event, Gateway.Note.level, note.metadata, of: source, note.subject, at: now)
    }

    /// Writes a line, or counts it and tells later how many there were.
    private func write(
        _ event: LoggedEvent, _ level: Logger.Level, _ metadata: @autoclosure () -> Logger.Metadata,
        of source: PeerSource, _ subject: LogSubject?, at now: Instant
    ) {
        guard self.logger.logLevel <= level else { return }
        switch self.limiter.count(source, about: subject, level, at: now) {
        case .pass: self.logger.log(level: level, "\(event)", metadata: metadata())
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
    /// Once the gateway has taken it.
    var isAdmitted = false

    /// Whose lines are counted by themselves. An id that nobody has vouched for makes no difference.
    var subject: LogSubject? {
        guard self.isAdmitted else { return nil }
        switch self.role {
        case .vehicle(let hello): return .vehicle(hello.vehicle)
        case .navigation(let hello): return .client(hello.client)
        case nil: return nil
        }
    }

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
