internal import Glibc
internal import ListeningSockets
internal import Logging
internal import StateCoding
internal import Systemd
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkTelemetry
internal import WaymarkTransport

/// What one process of the daemon hands over to the next: one descriptor in the service manager's descriptor store, a
/// ``Parcel`` that contains sealed memory with a ``DaemonState``, and the sockets that the state refers to.
///
/// - Source: Docs/decisions/0008-restart-without-disconnecting.md.
package final class Handover: Sendable {
    /// The parcel's name in the descriptor store.
    static let storedName = "handover"
    private let parcel: CInt

    /// Takes ownership of `parcel`.
    init(parcel: CInt) { self.parcel = parcel }

    deinit { _ = close(self.parcel) }

    /// Removes the previous process's parcel from the inherited descriptors; nil if there is none.
    static func remove(from inherited: inout InheritedSockets) -> Handover? {
        guard let name = StoredName(Self.storedName) else { return nil }
        var parcels = inherited.removeStored(name)
        let newest = parcels.popLast()
        for parcel in parcels { _ = close(parcel) }
        return newest.map { Handover(parcel: $0) }
    }

    /// Whether this stop is part of a restart: the file that `$WAYMARKD_RESTART_MARK` names is there. It is in a folder that the daemon
    /// cannot write; the unit, which makes it, removes it at the next start.
    static func hasRestartMark() -> Bool {
        guard let path = unsafe getenv("WAYMARKD_RESTART_MARK") else { return false }
        return unsafe access(path, F_OK) == 0
    }

    /// Unpacks the parcel and removes it from the descriptor store.
    ///
    /// - Returns: nil if the state cannot be read; the reason is logged. Then all its sockets are closed, and peers reconnect with
    ///   their tokens.
    func open(_ logger: Logger) -> HandedOver? {
        let name = StoredName(Self.storedName)
        do throws(SystemdError) {
            if let name { try ServiceManager.removeStored(name) }
            let descriptors = try Parcel.unpack(self.parcel)
            guard let memory = descriptors.first else { return nil }  // Another process unpacked it.
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
                Self.warn(logger, "its memory is not sealed")
                return nil
            }
            return try StateCoder.decode(DaemonState.self, from: bytes, format: GatewayState.format)
        } catch {
            Self.warn(logger, "\(error)")
            return nil
        }
    }

    private static func warn(_ logger: Logger, _ reason: String) {
        logger.warning("\(LoggedEvent.takeoverFailed)", metadata: [LogKey.reason: "\(reason)"])
    }

    /// Stores `state` and its sockets with the service manager, and returns when it has confirmed. The caller still owns
    /// `sockets`.
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
        try ServiceManager.waitUntilProcessed()
    }
}

/// The state of a daemon, without its settings.
struct DaemonState: Codable {
    struct Listening: Codable {
        var address: ListenAddress
        var cookie: SocketCookie
    }

    var driver: DriverState
    /// The listening sockets that the daemon opened itself. The service manager passes the others anyway.
    var listening: [Listening]
}

/// An unpacked state and its sockets, which it owns until they are removed or closed.
struct HandedOver {
    let state: DaemonState
    private(set) var sockets: [SocketCookie: CInt]

    init(state: DaemonState, sockets: [SocketCookie: CInt]) {
        self.state = state
        self.sockets = sockets
    }

    /// A listening socket and its bound address.
    struct Listening {
        let address: ListenAddress
        let descriptor: CInt
    }

    /// Removes and returns the listening socket for an address in the settings.
    mutating func removeListener(for address: ListenAddress) -> Listening? {
        for listening in self.state.listening where address.mayBeBound(to: listening.address) {
            if let descriptor = self.sockets.removeValue(forKey: listening.cookie) {
                return Listening(address: listening.address, descriptor: descriptor)
            }
        }
        return nil
    }

    /// Removes and returns all connections, each with the policy of its listener. If the listener no longer exists, the policy
    /// accepts no connection.
    mutating func removeConnections(
        _ policies: [ListenAddress: CurrentPolicy]
    ) -> [(HandoverConnection, CInt, CurrentPolicy)] {
        var connections: [(HandoverConnection, CInt, CurrentPolicy)] = []
        for connection in self.state.driver.connections {
            guard let descriptor = self.sockets.removeValue(forKey: connection.cookie) else { continue }
            connections.append((connection, descriptor, policies[connection.entrance] ?? CurrentPolicy(nil)))
        }
        return connections
    }

    /// Removes and returns the remaining listening sockets.
    mutating func removeListeners() -> [Listening] {
        self.state.listening.compactMap { listening in
            self.sockets.removeValue(forKey: listening.cookie).map {
                Listening(address: listening.address, descriptor: $0)
            }
        }
    }

    /// Closes the remaining sockets.
    mutating func closeRest() {
        for descriptor in self.sockets.values { _ = close(descriptor) }
        self.sockets = [:]
    }
}
