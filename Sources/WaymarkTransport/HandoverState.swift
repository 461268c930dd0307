internal import Glibc
package import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

/// What a driver leaves to the driver of the next process: the gateway, and the gateway's end of every connection.
///
/// A value of this process's boot: instants are times of CLOCK_MONOTONIC, sockets go by their cookies.
package struct DriverState: Codable, Sendable {
    let gateway: GatewayState
    let nextConnection: UInt64
    package let connections: [ConnectionState]
}

/// One connection and the socket that belongs to it.
package struct ConnectionState: Codable, Sendable {
    package let connection: DetachedConnection
    package let cookie: SocketCookie
    /// The listener that it came through.
    package let entrance: ListenAddress
    let source: PeerSource
    let role: Hello.Role?
}

/// What a driver let go of. Whoever has it owns the descriptors.
package struct DetachedDriver: Sendable {
    package let state: DriverState
    /// Open sockets of connections of ``state``.
    package let descriptors: [CInt]
    /// How many connections did not come along: their peers did not take in time what was under way to them.
    package let cutCount: Int
}

/// The number that the kernel gives a socket, and no other until the next boot. Copies of a descriptor share it.
package struct SocketCookie: Sendable, Hashable, Codable {
    private let rawValue: UInt64

    /// nil for what is not a socket.
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
