internal import Glibc
internal import Logging
internal import StateCoding
internal import Systemd
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry
internal import WaymarkTransport

/// What a process of the daemon leaves to the next one: one descriptor in the service manager's store, a ``Parcel``. In it are
/// sealed memory with a ``DaemonState``, and the sockets that this speaks of.
///
/// - Source: Docs/decisions/0008-restart-without-a-cut.md.
package final class Handover: Sendable {
    /// What the store knows it by.
    static let storedName = "handover"
    /// The file in `$RUNTIME_DIRECTORY` that says that stopping is for starting again.
    private static let restartFile = "restart"

    private let parcel: CInt

    /// Owns `parcel` from now on.
    init(parcel: CInt) { self.parcel = parcel }

    deinit { _ = close(self.parcel) }

    /// Takes what the service manager kept of the process before, if there is something.
    static func take(from inherited: inout InheritedSockets) -> Handover? {
        guard let name = StoredName(Self.storedName) else { return nil }
        var parcels = inherited.takeStored(name)
        let newest = parcels.popLast()
        for parcel in parcels { _ = close(parcel) }
        return newest.map { Handover(parcel: $0) }
    }

    /// Whether the process is told to stop because another one follows. Says it once.
    static func takeRestartMark() -> Bool {
        guard let folders = unsafe getenv("RUNTIME_DIRECTORY") else { return false }
        return unsafe String(cString: folders).split(separator: ":").contains {
            unsafe unlink("\($0)/\(Self.restartFile)") == 0
        }
    }

    /// Takes everything out. The store is told to forget it.
    ///
    /// - Returns: nil if it cannot be read; why is in the log. Then everything is closed, and peers come back by their tokens.
    func open(_ logger: Logger) -> HandedOver? {
        let name = StoredName(Self.storedName)
        do throws(SystemdError) {
            if let name { try ServiceManager.removeStored(name) }
            let descriptors = try Parcel.unpack(self.parcel)
            guard let memory = descriptors.first else { return nil }  // Another process took it out.
            defer { _ = close(memory) }
            let sockets = Dictionary(
                descriptors.dropFirst().compactMap { descriptor in
                    SocketCookie(descriptor).map { ($0, descriptor) }
                }, uniquingKeysWith: { $1 })
            guard let state = Self.read(memory, logger) else {
                for descriptor in sockets.values { _ = close(descriptor) }
                return nil
            }
            return HandedOver(state: state, sockets: sockets)
        } catch {
            Self.warn(logger, "\(error)")
            return nil
        }
    }

    private static func read(_ memory: CInt, _ logger: Logger) -> DaemonState? {
        do {
            guard let bytes = try SealedMemory.read(memory) else {
                Self.warn(logger, "it is not sealed")
                return nil
            }
            return try StateCoder.decode(DaemonState.self, from: bytes, format: GatewayState.format)
        } catch {
            Self.warn(logger, "\(error)")
            return nil
        }
    }

    private static func warn(_ logger: Logger, _ reason: String) {
        logger.warning("\(LoggedEvent.cannotGoOn)", metadata: [LogKey.reason: "\(reason)"])
    }

    /// Gives `state` and its sockets to the service manager, and returns when it has them. The caller keeps its own descriptors.
    ///
    /// - Throws: ``SystemdError``, or what encoding throws.
    static func store(_ state: DaemonState, _ sockets: [CInt]) throws {
        let memory = try SealedMemory.make(
            try StateCoder.encode(state, format: GatewayState.format), name: "waymark-state")
        defer { _ = close(memory) }
        let parcel = try Parcel.pack([memory] + sockets)
        defer { _ = close(parcel) }
        guard let name = StoredName(Self.storedName) else { return }
        try ServiceManager.store([parcel], as: name, isPolled: false)
        try ServiceManager.waitUntilHeard()
    }
}

/// All that a daemon is, but for its settings.
struct DaemonState: Codable {
    struct Listening: Codable {
        var address: ListenAddress
        var cookie: SocketCookie
    }

    var driver: DriverState
    /// The sockets that the daemon opened by itself.
    var listening: [Listening]
}

/// A state, and the sockets that came with it. Whoever has it owns them.
struct HandedOver {
    let state: DaemonState
    private(set) var sockets: [SocketCookie: CInt]

    init(state: DaemonState, sockets: [SocketCookie: CInt]) {
        self.state = state
        self.sockets = sockets
    }

    /// A listening socket, with the address that it is bound to.
    struct Listening {
        let address: ListenAddress
        let descriptor: CInt
    }

    /// Takes the listening socket for an address of the settings.
    mutating func takeListener(for address: ListenAddress) -> Listening? {
        for listening in self.state.listening where address.mayBeBound(to: listening.address) {
            if let descriptor = self.sockets.removeValue(forKey: listening.cookie) {
                return Listening(address: listening.address, descriptor: descriptor)
            }
        }
        return nil
    }

    /// Takes all connections, each with the rules of the listener that it came through: closed ones if that is gone.
    mutating func takeConnections(
        _ rules: [ListenAddress: ListenerRules]
    ) -> [(ConnectionState, CInt, ListenerRules)] {
        var taken: [(ConnectionState, CInt, ListenerRules)] = []
        for connection in self.state.driver.connections {
            guard let descriptor = self.sockets.removeValue(forKey: connection.cookie) else { continue }
            taken.append((connection, descriptor, rules[connection.entrance] ?? ListenerRules(nil)))
        }
        return taken
    }

    /// Takes the listening sockets that nobody took.
    mutating func takeListeners() -> [Listening] {
        self.state.listening.compactMap { listening in
            self.sockets.removeValue(forKey: listening.cookie).map {
                Listening(address: listening.address, descriptor: $0)
            }
        }
    }

    /// Closes what nobody took.
    mutating func closeRest() {
        for descriptor in self.sockets.values { _ = close(descriptor) }
        self.sockets = [:]
    }
}
