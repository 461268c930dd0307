import Glibc

/// One socket of the generator, stored in plain memory.
struct Connection {
    enum State { case absent, greeting, ready, stalled }

    var peer: Peer
    var descriptor: CInt = -1
    var state = State.absent
    /// An endpoint's position in its stream, in bytes.
    var position = 0
    /// The number of the next message that it receives.
    var message = 0
    /// Whether the epoll set reports when the socket is writable.
    var waitsToWrite = false
    /// The number of its open request, and when it was sent.
    var request = 0
    var requestedAt: UInt64 = 0
    /// The start of a frame that has arrived in part.
    var pending = ByteQueue()
    var out = ByteQueue()

    init(peer: Peer) { self.peer = peer }

    mutating func close() {
        Glibc.close(self.descriptor)
        self.descriptor = -1
        self.state = .absent
        self.waitsToWrite = false
        self.pending.release()
        self.out.release()
    }
}

extension Plan.Address {
    /// Begins to connect a non-blocking socket.
    ///
    /// - Returns: nil while the server's queue is full.
    func connect() throws(LoadError) -> CInt? {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(self.family, type, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        guard self.connect(descriptor) != 0, errno != EINPROGRESS else { return descriptor }
        let code = errno
        close(descriptor)
        guard code == EAGAIN else { throw .system(call: "connect", code: code) }
        return nil
    }

    private var family: CInt {
        switch self {
        case .unix: AF_UNIX
        case .tcp: AF_INET
        }
    }

    private func connect(_ descriptor: CInt) -> CInt {
        switch self {
        case .unix(let path):
            var name = sockaddr_un()
            name.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            return Self.connect(descriptor, &name)
        case .tcp(let port):
            var one: CInt = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return Self.connect(descriptor, &name)
        }
    }

    private static func connect<Name>(_ descriptor: CInt, _ name: inout Name) -> CInt {
        withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Name>.size))
            }
        }
    }
}
