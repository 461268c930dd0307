package import WaymarkGateway
package import WaymarkProtocol

/// Everything that can be configured, with its defaults. Docs/configuration.md describes each key.
package struct Settings: Sendable, Hashable {
    /// Where peers connect, and which peers may. Has an address, a socket name or both.
    package struct Listener: Sendable, Hashable {
        /// `tcp:HOST:PORT` or `unix:/path`. The daemon opens it unless the service manager passes the socket.
        package var address: String?
        /// The name of the sockets that the service manager passes (`FileDescriptorName=`).
        package var socket: String?
        package var roles: Set<AcceptingSession.Role>
        /// A pre-shared key; its name is that of the listener.
        package var key: String?
        /// Further pre-shared keys. If a listener has any, every Hello must carry one of them.
        package var keys: [Key] = []
        /// What observers see; nil: state.
        package var visibility: Visibility?
        /// Observers that see content also see what a vehicle's owner or a trip does not share.
        package var observesWithoutConsent = false
        /// Lets a TCP listener without a key bind to other addresses than loopback.
        package var allowAnyone = false
        /// Permissions of a Unix socket's file, as for chmod(2); nil: only the daemon's own user may connect.
        package var mode: UInt32?
        /// The group of a Unix socket's file, by name or number; nil for the daemon's own.
        package var group: String?
        /// Its location in the file; nil if it comes from the command line.
        package var location: SourceLocation?

        package init(
            address: String? = nil, socket: String? = nil, roles: Set<AcceptingSession.Role>
        ) {
            self.address = address
            self.socket = socket
            self.roles = roles
        }

        /// Its name in messages. It also identifies the peers that authenticate with its key.
        package var name: String { self.socket ?? self.address ?? "" }
    }

    /// A fault that the daemon injects into itself on SIGUSR2, for tests.
    package enum Fault: String, Sendable, Hashable, CaseIterable {
        case none
        /// An event loop blocks forever.
        case stopLoop = "stop-loop"
        /// An event loop is busy for ten seconds, with short pauses.
        case busyLoop = "busy-loop"
    }

    /// If empty, the daemon opens its default listeners.
    package var listeners: [Listener] = []
    package var policy = Gateway.Policy()
    /// The name of a gateway that takes over no state; nil to draw one.
    package var instance: GatewayName?
    package var connection = ConnectionLimits()
    package var outbox = Outbox.Limits()
    /// The bytes that may be queued for all endpoints together.
    package var outboxBytesInAllMax = 536_870_912
    /// The same, for the endpoints of one user or IP address.
    package var outboxBytesPerUserMax = 268_435_456
    /// The bytes of frames that have not arrived completely, of all connections.
    package var inputBytesInAllMax = 268_435_456
    /// The same, of one user or IP address.
    package var inputBytesPerUserMax = 67_108_864
    package var connectionsMax = 20_000
    package var connectionsPerUserMax = 12_000
    /// Who may be and guide which vehicle, as written in the file. ``Gateway/Policy/access`` has what they mean.
    package var rules: [Rule] = []
    /// Connections whose handshake is not finished.
    package var handshakesMax = 8_192
    package var handshakesPerUserMax = 2_048
    /// Failed handshakes of one user or IP address that are answered at once, and how many of them come back in a minute.
    package var failuresMax = 100
    package var failuresPerMinute = 300
    /// How much later the failed handshakes beyond them are answered.
    package var failureDelay: Duration = .seconds(1)
    /// The lowest level that is logged, by its name in swift-log.
    package var logLevel = "info"
    /// The number of event loops. The gateway runs on the first.
    package var threads = 1
    /// Log lines per peer, level and minute.
    package var logLinesPerPeerMax = 20
    /// How long a shutdown waits for peers to disconnect.
    package var drainTimeout: Duration = .seconds(5)
    /// The daemon exits after this time without a connection, if all its sockets are inherited; zero: never.
    package var idleExit: Duration = .zero
    package var fault = Fault.none

    /// The bytes of a pre-shared key. A shorter one can be found by trying.
    package static let keyBytes = 16...ProtocolConstants.credentialBytesMax

    package init() {}

    /// Sets how long a peer may take for the handshake, and for the answer to a request or a destination share.
    package mutating func waitForPeers(_ timeout: Duration) {
        self.connection.handshakeTimeout = timeout
        self.policy.limits.requestTimeout = timeout
        self.policy.limits.shareTimeout = timeout
    }
}

/// One key of the configuration file.
struct Setting: Sendable {
    /// The key with its section, e.g. `limits.grace`.
    let key: String
    /// The allowed values, for error messages: "KEY must be …".
    let allowed: String
    /// Assigns a value; returns false if it is not allowed.
    let set: @Sendable (inout Settings, ConfigurationValue) -> Bool
}

extension Settings {
    /// Every key of the file, with its section: `limits.connections`.
    package static var keys: [String] { self.all.map(\.key) + ["listeners", "rules", "vehicles"] }

    /// All keys except `listeners`, `rules` and `vehicles`, which are read separately.
    static let all: [Setting] =
        [
            Setting(key: "log-level", allowed: "trace, debug, info, notice, warning, error or critical") {
                settings, value in
                let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
                guard let level = value.text, levels.contains(level) else { return false }
                settings.logLevel = level
                return true
            },
            Setting(key: "instance", allowed: "1 to 64 of the characters A-Z a-z 0-9 . _ : -") {
                settings, value in
                guard let instance = value.text.flatMap({ GatewayName($0) }) else { return false }
                settings.instance = instance
                return true
            },
            Setting(key: "debug.fault", allowed: "none, stop-loop or busy-loop") { settings, value in
                guard let fault = value.text.flatMap({ Settings.Fault(rawValue: $0) }) else { return false }
                settings.fault = fault
                return true
            },
            Setting(key: "arbitration", allowed: "refuse, replace or priority") { settings, value in
                guard let text = value.text, let arbitration = Gateway.Policy.Arbitration(rawValue: text)
                else {
                    return false
                }
                settings.policy.arbitration = arbitration
                return true
            },
            Setting(key: "withheld-features", allowed: "a list of features, e.g. [routeSegments, charge]") {
                settings, value in
                guard let names = value.list else { return false }
                let features = names.compactMap { name in Feature.allCases.first { "\($0)" == name } }
                settings.policy.withheldFeatures = Set(features)
                return features.count == names.count
            },
            Setting(key: "withheld-extensions", allowed: "a list of names, e.g. [org.example.tyres]") {
                settings, value in
                guard let names = value.list else { return false }
                let extensions = names.compactMap { ExtensionName($0) }
                settings.policy.withheldExtensions = Set(extensions)
                return extensions.count == names.count
            },
            Setting(key: "route-sharing-vehicles", allowed: "a list of vehicle ids") { settings, value in
                guard let names = value.list else { return false }
                let vehicles = names.compactMap { VehicleID($0) }
                settings.policy.routeSharingVehicles = Set(vehicles)
                return vehicles.count == names.count
            },
        ] + Self.numbers + Self.durations

    private static let numbers: [Setting] = [
        .number("threads", 1...64, \.threads),
        .number("limits.connections", 1...1_000_000, \.connectionsMax),
        .number("limits.connections-per-user", 1...1_000_000, \.connectionsPerUserMax),
        .number("limits.handshakes", 1...1_000_000, \.handshakesMax),
        .number("limits.handshakes-per-user", 1...1_000_000, \.handshakesPerUserMax),
        .number("limits.failed-handshakes", 1...1_000_000, \.failuresMax),
        .number("limits.failed-handshakes-per-minute", 1...1_000_000, \.failuresPerMinute),
        .number("limits.input-bytes-in-all", 65_536...1_099_511_627_776, \.inputBytesInAllMax),
        .number("limits.input-bytes-per-user", 65_536...1_099_511_627_776, \.inputBytesPerUserMax),
        .number("limits.frame-bytes", 4_096...16_777_216, \.frameBytes),
        .number("limits.outbox-bytes", 65_536...1_073_741_824, \.outbox.bytesMax),
        .number("limits.outbox-events-per-endpoint", 1...65_536, \.outbox.eventsPerEndpointMax),
        .number(
            "limits.outbox-event-bytes-per-endpoint", 4_096...1_073_741_824,
            \.outbox.eventBytesPerEndpointMax),
        .number("limits.outbox-bytes-in-all", 65_536...1_099_511_627_776, \.outboxBytesInAllMax),
        .number("limits.outbox-bytes-per-user", 65_536...1_099_511_627_776, \.outboxBytesPerUserMax),
        .number("limits.log-lines", 0...1_000_000, \.logLinesPerPeerMax),
        .number("limits.errors", 0...1_000_000, \.connection.errorsMax),
        .number("limits.peers", 1...1_000_000, \.policy.limits.peersMax),
        .number("limits.peers-per-user", 1...1_000_000, \.policy.limits.peersPerUserMax),
        .number("limits.vehicles", 1...1_000_000, \.policy.limits.vehiclesMax),
        .number("limits.vehicles-per-user", 1...1_000_000, \.policy.limits.vehiclesPerUserMax),
        .number("limits.vehicles-awaited", 1...1_000_000, \.policy.limits.vehiclesAwaitedMax),
        .number("limits.vehicles-awaited-per-user", 1...1_000_000, \.policy.limits.vehiclesAwaitedPerUserMax),
        .number("limits.sessions", 1...1_000_000, \.policy.limits.sessionsMax),
        .number("limits.sessions-per-user", 1...1_000_000, \.policy.limits.sessionsPerUserMax),
        .number("limits.sessions-per-client", 1...1_000_000, \.policy.limits.sessionsPerClientMax),
        .number("limits.endpoints-per-vehicle", 1...1_024, \.policy.limits.endpointsPerVehicleMax),
        .number("limits.requests-open", 1...1_024, \.policy.limits.requestsOpenMax),
        .number(
            "limits.request-bytes-in-all", 65_536...1_099_511_627_776, \.policy.limits.requestBytesInAllMax),
        .number(
            "limits.request-bytes-per-user", 65_536...1_099_511_627_776,
            \.policy.limits.requestBytesPerUserMax),
        .number("limits.observers", 1...64, \.policy.limits.observersMax),
        .number("limits.observers-per-user", 1...64, \.policy.limits.observersPerUserMax),
        .number(
            "limits.observation-bytes", 65_536...1_099_511_627_776, \.policy.limits.observationBytesMax),
        .number("limits.retained-bytes", 65_536...1_073_741_824, \.policy.limits.retainedBytesMax),
        .number(
            "limits.retained-bytes-per-client", 65_536...1_099_511_627_776,
            \.policy.limits.retainedBytesPerClientMax),
        .number(
            "limits.retained-bytes-per-user", 65_536...1_099_511_627_776,
            \.policy.limits.retainedBytesPerUserMax),
        .number(
            "limits.retained-bytes-in-all", 65_536...1_099_511_627_776, \.policy.limits.retainedBytesInAllMax
        ),
        .number(
            "limits.replay-bytes-per-user", 0...1_099_511_627_776, \.policy.limits.replayBytesPerUserMax),
        .number("limits.replay-bytes-in-all", 0...1_099_511_627_776, \.policy.limits.replayBytesInAllMax),
        .number("limits.replay-bytes", 0...1_073_741_824, \.policy.limits.replayBytesMax),
        .number("limits.profiles-per-session", 1...1_024, \.policy.limits.profilesPerSessionMax),
        .number("limits.outcomes-kept", 1...65_536, \.policy.limits.outcomesKeptMax),
        .number("limits.shares-open", 1...1_024, \.policy.limits.sharesOpenMax),
        .number("limits.maneuvers-per-session", 1...1_000_000, \.policy.limits.route.maneuversPerSessionMax),
        .number(
            "limits.lane-guidances-per-session", 1...1_000_000,
            \.policy.limits.route.laneGuidancesPerSessionMax),
        .number("limits.segments-per-session", 1...65_536, \.policy.limits.route.segmentsPerSessionMax),
    ]

    private static let durations: [Setting] = [
        .duration("times.handshake", .milliseconds(100) ... .seconds(600), \.connection.handshakeTimeout),
        .duration("times.keepalive", .seconds(1) ... .seconds(600), \.connection.keepalive),
        .duration("times.keepalive-min", .seconds(1) ... .seconds(600), \.connection.keepaliveMin),
        .duration("times.keepalive-max", .seconds(1) ... .seconds(600), \.connection.keepaliveMax),
        .duration("times.failed-handshake", .zero ... .seconds(60), \.failureDelay),
        .duration("times.errors", .milliseconds(100) ... .seconds(3_600), \.connection.errorWindow),
        .duration("times.goodbye", .zero ... .seconds(600), \.connection.drainTimeout),
        .duration(
            "times.slow-consumer", .milliseconds(100) ... .seconds(3_600), \.outbox.slowConsumerTimeout),
        .duration("times.drain", .zero ... .seconds(600), \.drainTimeout),
        .duration("times.idle-exit", .zero ... .seconds(86_400), \.idleExit),
        .duration("times.grace", .zero ... .seconds(86_400), \.policy.limits.grace),
        .duration("times.request", .milliseconds(100) ... .seconds(3_600), \.policy.limits.requestTimeout),
        .duration("times.prompt", .milliseconds(100) ... .seconds(3_600), \.policy.limits.promptTimeout),
        .duration("times.share", .milliseconds(100) ... .seconds(3_600), \.policy.limits.shareTimeout),
    ]

    private var frameBytes: Int {
        get { Int(self.connection.frameBytesMax) }
        set {
            self.connection.frameBytesMax = UInt32(clamping: newValue)
            self.policy.limits.frameBytesMax = self.connection.frameBytesMax
        }
    }
}

extension Setting {
    fileprivate static func number(
        _ key: String, _ range: ClosedRange<Int>, _ path: any (WritableKeyPath<Settings, Int> & Sendable)
    ) -> Setting {
        Setting(
            key: key,
            allowed: "an integer, \(range.lowerBound) to \(range.upperBound), optionally with KiB or MiB"
        ) {
            settings, value in
            guard let number = value.number, range.contains(number) else { return false }
            settings[keyPath: path] = number
            return true
        }
    }

    fileprivate static func duration(
        _ key: String, _ range: ClosedRange<Duration>,
        _ path: any (WritableKeyPath<Settings, Duration> & Sendable)
    ) -> Setting {
        Setting(
            key: key,
            allowed:
                "a duration such as 500ms, 30s or 5m, \(range.lowerBound.text) to \(range.upperBound.text)"
        ) {
            settings, value in
            guard let duration = value.duration, range.contains(duration) else { return false }
            settings[keyPath: path] = duration
            return true
        }
    }
}

extension Duration {
    /// The notation of the file, in s if that is exact, otherwise in ms.
    fileprivate var text: String {
        self.milliseconds % 1_000 == 0 ? "\(self.milliseconds / 1_000)s" : "\(self.milliseconds)ms"
    }
}
