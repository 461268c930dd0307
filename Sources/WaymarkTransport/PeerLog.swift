internal import ListeningSockets
internal import Logging
internal import NIOCore
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry

/// Logs what happens to connections and sessions, limited so that no source can flood the log. Used only on the gateway's loop.
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

    /// Logs what happened to a connection.
    func write(_ notice: PeerNotice, _ peer: PeerDescription, at now: Instant) {
        self.write(
            notice.event, notice.level, peer.metadata.merging(notice.metadata) { $1 }, of: peer.source,
            peer.subject, at: now)
    }

    /// Logs a note of the gateway. `source` is the peer that caused it, `unknown` if a deadline did.
    func write(_ note: Gateway.Note, _ source: PeerSource, at now: Instant) {
        var metadata = note.metadata
        if case .helloRefused = note.turn, source != .unknown { metadata[LogKey.peer] = "\(source)" }
        self.write(note.event, Gateway.Note.level, metadata, of: source, note.subject, at: now)
    }

    /// Writes a line, or suppresses it and schedules the line that says how many were suppressed.
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
                self.writeSuppressed()
            }
        }
    }

    /// Logs how many lines were suppressed.
    func writeSuppressed() {
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

/// The peer that a log line is about.
struct PeerDescription: Sendable {
    var source: PeerSource
    /// The address of the listener that accepted the connection.
    var listener: ListenAddress
    /// nil for a connection that was refused.
    var connection: ConnectionID?
    /// Set once a Hello was read.
    private var identity: Identity?
    /// Set once the gateway has admitted the peer.
    var isAdmitted = false

    // Why not the Hello: an idle connection would keep all that an endpoint said of itself.
    private enum Identity: Sendable {
        case endpoint(EndpointPath)
        case client(ClientID)
        case observer(ObserverHello)
    }

    init(source: PeerSource, listener: ListenAddress, connection: ConnectionID? = nil) {
        self.source = source
        self.listener = listener
        self.connection = connection
    }

    /// The role of its Hello, with no more than the ids and what an observer sees; nil before the Hello was read.
    var role: Hello.Role? {
        get {
            switch self.identity {
            case .endpoint(let path):
                .vehicle(VehicleHello(vehicle: path.vehicle, endpoint: path.endpoint, features: FeatureSet()))
            case .client(let client): .navigation(NavigationHello(client: client, features: FeatureSet()))
            case .observer(let hello): .observer(hello)
            case nil: nil
            }
        }
        set {
            self.identity =
                switch newValue {
                case .vehicle(let hello):
                    .endpoint(EndpointPath(vehicle: hello.vehicle, endpoint: hello.endpoint))
                case .navigation(let hello): .client(hello.client)
                case .observer(let hello): .observer(hello)
                case nil: nil
                }
        }
    }

    /// Counts the lines of an admitted peer separately. The id of a peer that was not admitted is unverified, so it has no effect.
    var subject: LogSubject? {
        guard self.isAdmitted else { return nil }
        switch self.identity {
        case .endpoint(let path): return .vehicle(path.vehicle)
        case .client(let client): return .client(client)
        case .observer, nil: return nil
        }
    }

    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            LogKey.peer: "\(self.source)", LogKey.address: "\(self.listener)",
        ]
        if let user = self.source.user { metadata[LogKey.peerUser] = "\(user)" }
        if let connection = self.connection { metadata[LogKey.connection] = "\(connection.rawValue)" }
        switch self.identity {
        case .endpoint(let path):
            metadata[LogKey.vehicle] = "\(path.vehicle)"
            metadata[LogKey.endpoint] = "\(path.endpoint)"
        case .client(let client): metadata[LogKey.client] = "\(client)"
        case .observer(let hello): metadata[LogKey.observer] = "\(hello.observer)"
        case nil: break
        }
        return metadata
    }
}
