internal import Foundation
package import Logging
internal import NIOCore
internal import NIOPosix
package import WaymarkConfiguration
package import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry
package import WaymarkTransport

/// Why the daemon could not start.
package enum DaemonError: Error, Sendable, Hashable, CustomStringConvertible {
    /// An address is not of the form `tcp:HOST:PORT` or `unix:/path`.
    case badAddress(String)
    /// A TCP listener without a key would be open to other machines.
    case openToAnyone(ListenAddress)
    /// The folder for sockets cannot be made, or belongs to somebody else.
    case folder(path: String, reason: String)
    case listener(ListenerError)

    package var description: String {
        switch self {
        case .badAddress(let text): "\(text) is not an address; use tcp:HOST:PORT or unix:/path"
        case .openToAnyone(let address):
            "\(address) can be reached from other machines; give the listener a key, or set allow-anyone: true"
        case .folder(let path, let reason): "the folder \(path) cannot be used: \(reason)"
        case .listener(let error): "\(error)"
        }
    }
}

/// Gateway, transport and listeners, put together.
package struct Daemon: Sendable {
    /// As bound, in the order of the settings.
    package let addresses: [ListenAddress]
    private let listeners: [Listener]
    private let driver: GatewayDriver
    private let group: MultiThreadedEventLoopGroup
    private let drainTimeout: Duration
    private let logger: Logger

    /// Opens all listeners.
    package static func start(_ settings: Settings, logger: Logger) async throws(DaemonError) -> Daemon {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: settings.threads)
        let start = NIODeadline.now()
        let clock: @Sendable () -> Instant = { Instant(nanoseconds: (NIODeadline.now() - start).nanoseconds) }
        var ledger = ConnectionLedger.Limits()
        ledger.connectionsMax = settings.connectionsMax
        ledger.connectionsPerUserMax = settings.connectionsPerUserMax
        let loops = group.makeIterator().map { $0 as any EventLoop }
        let driver = GatewayDriver(loops: loops, policy: settings.policy, connections: ledger, clock: clock)
        var listeners: [Listener] = []
        do throws(DaemonError) {
            for listener in settings.listeners {
                let address = try Self.address(of: listener)
                let policy = Self.policy(of: listener, settings)
                do throws(ListenerError) {
                    listeners.append(
                        try await Listener.open(
                            address, policy: policy, driver: driver, group: group,
                            connectionLimits: settings.connection, outboxLimits: settings.outbox,
                            clock: clock,
                            logger: logger))
                } catch {
                    throw .listener(error)
                }
            }
        } catch {
            for listener in listeners { await listener.close() }
            await Self.stop(group, logger)
            throw error
        }
        for (listener, setting) in zip(listeners, settings.listeners) {
            let roles = setting.roles.map { "\($0)" }.sorted().joined(separator: ",")
            logger.notice(
                "listening", metadata: [LogKey.address: "\(listener.address)", LogKey.role: "\(roles)"])
        }
        return Daemon(
            addresses: listeners.map(\.address), listeners: listeners, driver: driver, group: group,
            drainTimeout: settings.drainTimeout, logger: logger)
    }

    /// How many there are now.
    package func census() async throws -> Gateway.Census { try await self.driver.census() }

    /// Stops listening, says goodbye to all peers, and returns when they are gone or the drain timeout is over.
    package func shutdown(reconnectAfter: Duration = .seconds(1)) async {
        for listener in self.listeners { await listener.close() }
        let goodbye = Goodbye(
            .shuttingDown, reason: "the gateway is going down",
            reconnectAfterMilliseconds: UInt32(clamping: reconnectAfter.milliseconds))
        let drained = self.driver.drain(goodbye)
        let deadline = self.group.next().makePromise(of: Void.self)
        deadline.futureResult.cascade(to: nil)
        let timer = self.group.next().scheduleTask(in: .milliseconds(self.drainTimeout.milliseconds)) {
            deadline.succeed()
        }
        drained.whenComplete { _ in
            timer.cancel()
            deadline.succeed()
        }
        do { try await deadline.futureResult.get() } catch { /* It never fails. */  }
        await Self.stop(self.group, self.logger)
        self.logger.notice("stopped")
    }

    private static func stop(_ group: MultiThreadedEventLoopGroup, _ logger: Logger) async {
        do { try await group.shutdownGracefully() } catch {
            logger.warning("event loops did not stop cleanly, ignoring", metadata: [LogKey.error: "\(error)"])
        }
    }

    private static func address(of listener: Settings.Listener) throws(DaemonError) -> ListenAddress {
        guard let address = ListenAddress(listener.address) else { throw .badAddress(listener.address) }
        guard address.isLocal || listener.key != nil || listener.allowAnyone else {
            throw .openToAnyone(address)
        }
        return address
    }

    private static func policy(of listener: Settings.Listener, _ settings: Settings) -> ListenerPolicy {
        var policy = ListenerPolicy(roles: listener.roles)
        policy.key = listener.key.map { Array($0.utf8) }
        policy.keyName = listener.address
        policy.navigationUsers = settings.navigationUsers
        return policy
    }
}

/// Where the daemon listens when nothing is configured, and its clients connect.
package enum DefaultAddresses {
    /// The TCP port for vehicles, on loopback.
    package static let port = 7_227

    /// The listeners of an ordinary user's daemon; makes the folder for the sockets.
    package static func listeners() throws(DaemonError) -> [Settings.Listener] {
        let folder = self.folder
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let attributes = try FileManager.default.attributesOfItem(atPath: folder)
            guard attributes[.ownerAccountID] as? Int ?? Int(getuid()) == Int(getuid()) else {
                throw DaemonError.folder(path: folder, reason: "it belongs to another user")
            }
        } catch let error as DaemonError {
            throw error
        } catch {
            throw .folder(path: folder, reason: "\(error)")
        }
        return [
            Settings.Listener(address: "unix:\(folder)/vehicle.sock", roles: [.vehicle]),
            Settings.Listener(address: "unix:\(folder)/navigation.sock", roles: [.navigation]),
            Settings.Listener(address: "tcp:127.0.0.1:\(self.port)", roles: [.vehicle]),
        ]
    }

    /// `$XDG_RUNTIME_DIR/waymark`, else `/run/user/UID/waymark`, else `/tmp/waymark-UID`.
    package static var folder: String {
        if let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], !runtime.isEmpty {
            return "\(runtime)/waymark"
        }
        let run = "/run/user/\(getuid())"
        return FileManager.default.fileExists(atPath: run) ? "\(run)/waymark" : "/tmp/waymark-\(getuid())"
    }
}
