internal import Glibc
package import ListeningSockets
package import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkObservation
package import WaymarkProtocol

/// The state that a driver hands over to the driver of the next process: the gateway, and the gateway's end of every connection.
///
/// Valid until the system reboots: instants are times of CLOCK_MONOTONIC, and sockets are identified by their cookies.
package struct DriverState: Codable, Sendable {
    let gateway: GatewayState
    let nextConnection: UInt64
    package let connections: [HandoverConnection]
    /// Absent in the state of older versions.
    let failures: [TokenBuckets<PeerAccount>.Entry]?
    /// Both are absent in the state of older versions.
    let observation: ObservationState?
    let tallies: Tallies?

    package var identity: GatewayIdentity { self.gateway.identity }
}

/// One connection and the socket that belongs to it.
package struct HandoverConnection: Codable, Sendable {
    package let connection: DetachedConnection
    package let cookie: SocketCookie
    /// The address of the listener that accepted it. (The state stores members by name, so that renaming one ends the handover
    /// from older versions.)
    package let entrance: ListenAddress
    let source: PeerSource
    let role: Hello.Role?
    /// The key that the Hello presented.
    let key: ListenerKey?
}

/// The state and the sockets that a driver detached. The receiver owns the descriptors.
package struct DetachedDriver: Sendable {
    package let state: DriverState
    /// Open sockets of connections of ``state``.
    package let descriptors: [CInt]
    /// The number of connections that were closed instead, because their peers did not read the pending output in time.
    package let cutCount: Int
}

/// The kernel's number of a socket, unique until the next boot. All descriptors of a socket share it.
package struct SocketCookie: Sendable, Hashable, Codable {
    private let rawValue: UInt64

    /// nil if the descriptor is not a socket.
    package init?(_ descriptor: CInt) {
        var cookie: UInt64 = 0
        var length = socklen_t(MemoryLayout<UInt64>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, Self.option, &cookie, &length) == 0 else {
            return nil
        }
        self.rawValue = cookie
    }

    /// SO_COOKIE of asm-generic/socket.h, which Glibc does not show to Swift.
    private static let option: CInt = 57
}
