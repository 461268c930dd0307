import ListeningSockets
import NIOCore
import NIOPosix
import WaymarkClient
import WaymarkCodec
import WaymarkProtocol
import WaymarkRigSockets

/// Sockets of a test, at both ends of a proxy, and what each of them saw.
actor SocketEnds: SocketOwner {
    /// What one socket saw.
    struct Seen: Sendable {
        var bytes: [UInt8] = []
        var reads: [Int] = []
        var isOpen = false
        /// It read the end.
        var hasEnded = false
        /// nil until it is closed; empty without a reason.
        var closed: String?
        /// More was written than the kernel takes.
        var isFull = false

        /// What a reset looks like: closed without an end.
        var wasReset: Bool { self.closed != nil && !self.hasEnded }
    }

    private struct Waiting {
        let socket: Int
        let holds: @Sendable (Seen) -> Bool
        let continuation: CheckedContinuation<Seen, Never>
    }

    nonisolated let loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any()
    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.executor.asUnownedSerialExecutor() }

    private var seen: [Int: Seen] = [:]
    private var sockets: [Int: RigSocket] = [:]
    private var waiting: [Waiting] = []
    private var listener: SocketListener?
    private var lastNumber = 0
    private var readsAccepted = true
    /// The first accepted socket is 1 001.
    private var lastAccepted = 1_000

    /// Listens as a gateway would. `reads`: what it accepts is read.
    func listen(_ address: ListenAddress = .tcp(host: "127.0.0.1", port: 0), reads: Bool = true) async throws
        -> ServiceAddress
    {
        self.readsAccepted = reads
        let listener = try await SocketListener.open(address, number: 0, for: self)
        self.listener = listener
        return listener.address.service
    }

    /// Connects as a peer would; returns the socket's number.
    func connect(to address: ServiceAddress) -> Int {
        self.lastNumber += 1
        self.seen[self.lastNumber] = Seen()
        RigSocket.connect(to: address, as: self.lastNumber, for: self)
        return self.lastNumber
    }

    func send(_ bytes: [UInt8], on socket: Int) async {
        _ = await self.until(socket) { $0.isOpen || $0.closed != nil }
        self.sockets[socket]?.write(bytes)
    }

    func endWriting(_ socket: Int) { self.sockets[socket]?.endWriting() }
    func close(_ socket: Int) { self.sockets[socket]?.close() }
    func reset(_ socket: Int) { self.sockets[socket]?.reset() }
    func setReading(_ socket: Int, _ isReading: Bool) { self.sockets[socket]?.setReading(isReading) }
    func state(_ socket: Int) -> Seen { self.seen[socket] ?? Seen() }

    /// Waits until `holds` is true of what a socket saw.
    @discardableResult
    func until(_ socket: Int, _ holds: @escaping @Sendable (Seen) -> Bool) async -> Seen {
        let seen = self.state(socket)
        if holds(seen) { return seen }
        return await withCheckedContinuation {
            self.waiting.append(Waiting(socket: socket, holds: holds, continuation: $0))
        }
    }

    /// Waits for so many bytes.
    @discardableResult
    func bytes(_ count: Int, on socket: Int) async -> [UInt8] {
        await self.until(socket) { $0.bytes.count >= count || $0.closed != nil }.bytes
    }

    func stop() async {
        await self.listener?.close()
        for socket in self.sockets.values { socket.reset() }
    }

    func accepted(_ socket: RigSocket, by listener: Int) -> Int {
        self.lastAccepted += 1
        self.sockets[self.lastAccepted] = socket
        socket.setReading(self.readsAccepted)
        self.change(self.lastAccepted) { $0.isOpen = true }
        return self.lastAccepted
    }

    func handle(_ event: SocketEvent, of number: Int) {
        switch event {
        case .opened(let socket):
            self.sockets[number] = socket
            socket.setReading(true)
            self.change(number) { $0.isOpen = true }
        case .bytes(let bytes):
            self.change(number) {
                $0.bytes += bytes
                $0.reads.append(bytes.count)
            }
        case .ended: self.change(number) { $0.hasEnded = true }
        case .writable(let isWritable): self.change(number) { $0.isFull = !isWritable }
        case .closed(let reason): self.change(number) { $0.closed = reason ?? "" }
        }
    }

    private func change(_ number: Int, _ body: (inout Seen) -> Void) {
        body(&self.seen[number, default: Seen()])
        let seen = self.state(number)
        let ready = self.waiting.filter { $0.socket == number && $0.holds(seen) }
        self.waiting.removeAll { $0.socket == number && $0.holds(seen) }
        for waiter in ready { waiter.continuation.resume(returning: seen) }
    }
}

extension ListenAddress {
    var service: ServiceAddress {
        switch self {
        case .tcp(let host, let port): .tcp(host: host, port: port)
        case .unix(let path): .unix(path: path)
        }
    }
}

/// Frames of tests.
enum Frames {
    static func client(_ name: String = "app") -> [UInt8] {
        self.hello(.navigation(NavigationHello(client: ClientID(unchecked: name), features: [Feature]())))
    }

    static func endpoint(_ vehicle: String = "dut", _ endpoint: String = "cluster") -> [UInt8] {
        self.hello(
            .vehicle(
                VehicleHello(
                    vehicle: VehicleID(unchecked: vehicle), endpoint: EndpointName(unchecked: endpoint),
                    features: [Feature]())))
    }

    private static func hello(_ role: Hello.Role) -> [UInt8] {
        Array(Codec.encode(Envelope(.hello(Hello(role: role)))).bytes)
    }

    static func ping(_ nonce: UInt64) -> [UInt8] { Array(Codec.encode(Envelope(.ping(nonce: nonce))).bytes) }

    /// The frame of a publication.
    static func road(_ sequence: UInt64, text: String = "Road") -> [UInt8] {
        Array(
            Codec.encode(
                Envelope(
                    .publication(.currentRoadName(["\(text) \(sequence)"])), session: SessionID(1),
                    sequence: sequence)
            ).bytes)
    }
}
