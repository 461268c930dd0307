internal import Glibc
package import NIOCore
internal import WaymarkConnections

/// A connected stream socket that is written to past the channel that owns it. Only as long as the channel is open: the number
/// may be another socket's afterwards.
package struct BareSocket: Sendable, Equatable {
    fileprivate let descriptor: CInt

    /// Its name in ``LoopCore``.
    var id: SocketID { SocketID(rawValue: self.descriptor) }

    package init(descriptor: CInt) { self.descriptor = descriptor }

    /// Hands bytes to the kernel without waiting.
    ///
    /// - Returns: How many it took, from the front. None also if the peer has gone or the socket is broken: its channel finds
    ///   that out, and closes. There is no signal then.
    package func send(_ bytes: RawSpan) -> Int {
        max(0, Self.send(SocketID(rawValue: self.descriptor), bytes))
    }

    /// The same, as ``LoopCore`` needs it: -1 where the kernel takes nothing.
    static func send(_ socket: SocketID, _ bytes: RawSpan) -> Int {
        let flags = CInt(MSG_NOSIGNAL | MSG_DONTWAIT)
        return unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(socket.rawValue, $0.baseAddress, $0.count, flags)
        }
    }

    /// Appends what is there to be read, up to the buffer's capacity, without waiting.
    ///
    /// That nothing comes means nothing: if the peer has gone or the socket is broken, its channel finds that out.
    func receive(into buffer: inout ByteBuffer) {
        unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) {
            unsafe max(0, recv(self.descriptor, $0.baseAddress, $0.count, CInt(MSG_DONTWAIT)))
        }
    }

    /// The user id at the other end, of a Unix socket.
    var user: UInt32? { self.credentials?.user }

    /// The group ids that the process at the other end of a Unix socket had when it connected; nil if the kernel does not say.
    var groups: [UInt32]? {
        guard let primary = self.credentials?.group else { return nil }
        var groups = [UInt32](repeating: 0, count: 64)
        while true {
            var length = socklen_t(groups.count * MemoryLayout<UInt32>.stride)
            let result = unsafe groups.withUnsafeMutableBytes {
                unsafe getsockopt(self.descriptor, SOL_SOCKET, Self.peerGroups, $0.baseAddress, &length)
            }
            let count = Int(length) / MemoryLayout<UInt32>.stride
            if result == 0 { return [primary] + groups[..<count].filter { $0 != primary } }
            guard errno == ERANGE, count > groups.count else { return [primary] }
            groups = [UInt32](repeating: 0, count: count)
        }
    }

    /// SO_PEERGROUPS of asm-generic/socket.h, which Glibc does not show to Swift.
    private static let peerGroups: CInt = 59

    /// Another descriptor of the socket, which stays open when the channel closes.
    ///
    /// - Returns: nil if there are too many descriptors.
    func copyDescriptor() -> CInt? {
        let copy = fcntl(self.descriptor, F_DUPFD_CLOEXEC, 3)
        return copy == -1 ? nil : copy
    }

    private var credentials: PeerCredentials? {
        var credentials = PeerCredentials()
        var length = socklen_t(MemoryLayout<PeerCredentials>.size)
        guard unsafe getsockopt(self.descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
            return nil
        }
        return credentials
    }
}

/// `struct ucred` of unix(7), which Glibc shows only with extensions that Swift does not switch on.
private struct PeerCredentials {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0
}

extension Channel {
    /// Its socket, if it is nothing more than a socket: the peer reads exactly what is written to it, and another process can take it over. On
    /// the channel's loop. The look-up takes as long as several messages.
    package var bareSocket: BareSocket? {
        // Why not `try`: it throws only for a channel that is closed.
        do {
            return try self.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) {
                BareSocket(descriptor: $0)
            }
        } catch {
            return nil
        }
    }
}
