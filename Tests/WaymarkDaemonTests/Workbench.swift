import Foundation
import ListeningSockets
import Logging
import NIOCore
import Synchronization
import Testing
import WaymarkCodec
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkProtocol

/// A temporary folder.
final class Folder: Sendable {
    let path: String

    init() throws {
        self.path =
            FileManager.default.temporaryDirectory.appending(path: "wmd-\(UInt32.random(in: 0 ... .max))")
            .path
        try FileManager.default.createDirectory(
            atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func path(_ name: String) -> String { "\(self.path)/\(name)" }

    /// A daemon with a Unix listener `socket` for both roles, and a TCP listener for vehicles.
    func daemon(
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ change: (inout Settings) -> Void = { _ in }
    ) async throws -> Daemon {
        try await Daemon.start(self.settings(change), logger: logger)
    }

    /// The settings of ``daemon(logger:_:)``.
    func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
        var settings = Settings()
        settings.listeners = [
            .init(address: "unix:\(self.path("socket"))", roles: [.vehicle, .navigation]),
            .init(address: "tcp:127.0.0.1:0", roles: [.vehicle]),
        ]
        settings.drainTimeout = .seconds(2)
        settings.connectionsMax = 100  // Fits every descriptor limit.
        // A busy machine must not cause timeouts.
        settings.connection.handshakeTimeout = .seconds(600)
        settings.connection.keepalive = .seconds(600)
        change(&settings)
        return settings
    }

    /// Writes a configuration file and returns the arguments that use it. Without `times:` it gets the timeouts of ``settings(_:)``.
    func configuration(_ text: String) throws -> [String] {
        let times = text.contains("times:") ? "" : "times: { handshake: 600s, keepalive: 600s }\n"
        try Data("\(text)\n\(times)".utf8).write(to: URL(filePath: self.path("config.yaml")))
        return ["--config", self.path("config.yaml")]
    }

    /// The result of lstat(2); nil if the file does not exist.
    func status(_ name: String) -> stat? {
        var status = stat()
        return lstat(self.path(name), &status) == 0 ? status : nil
    }
}

/// A blocking socket, for peers that violate the protocol.
final class RawSocket {
    let descriptor: CInt

    struct Failure: Error { var call: String, code = errno }

    /// Connects to a listener.
    init(_ address: ListenAddress) throws {
        switch address {
        case .unix(let path):
            self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            guard Self.withAddress(path, { connect(self.descriptor, $0, $1) }) == 0 else {
                throw Failure(call: "connect")
            }
        case .tcp(let host, let port):
            let address = try SocketAddress(ipAddress: host, port: port)
            self.descriptor = socket(CInt(address.protocol.rawValue), Int32(SOCK_STREAM.rawValue), 0)
            guard address.withSockAddr({ connect(self.descriptor, $0, UInt32($1)) }) == 0 else {
                throw Failure(call: "connect")
            }
        }
        // A test must not hang.
        var time = timeval(tv_sec: 120, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(self.descriptor, SOL_SOCKET, option, &time, UInt32(MemoryLayout<timeval>.size))
        }
    }

    /// Binds to a path without listening. The file stays, as after a killed process.
    init(boundTo path: String, type: __socket_type = SOCK_STREAM) throws {
        self.descriptor = socket(AF_UNIX, Int32(type.rawValue), 0)
        guard Self.withAddress(path, { bind(self.descriptor, $0, $1) }) == 0 else {
            throw Failure(call: "bind")
        }
    }

    deinit { Glibc.close(self.descriptor) }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, UInt32) -> CInt) -> CInt
    {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, UInt32(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Shuts the connection down.
    func close() { shutdown(self.descriptor, Int32(SHUT_RDWR)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(call: "send") }
            sent += count
        }
    }

    func send(_ message: Message) throws { try self.send(Array(Codec.encode(Envelope(message)).bytes)) }

    /// The next message; nil at the end of the stream.
    func receive() throws -> Message? {
        guard let header = try self.read(FrameHeader.byteCount) else { return nil }
        let length = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
        let body = try self.read(length) ?? []
        var splitter = FrameSplitter(frameBytesMax: .max)
        splitter.append(header + body)
        return try splitter.next().map { try Codec.decode($0).message }
    }

    /// The Goodbye, if it is the last message of the stream.
    func goodbye() throws -> Goodbye? {
        guard case .goodbye(let goodbye)? = try self.receive(), try self.receive() == nil else { return nil }
        return goodbye
    }

    /// Connects, sends `hello`, and expects a Welcome.
    static func welcomed(_ address: ListenAddress, _ hello: Message) throws -> RawSocket {
        let peer = try RawSocket(address)
        try peer.send(hello)
        #expect(try peer.receive()?.type == .welcome)
        return peer
    }

    /// Whether the gateway answers a Ping.
    func isAnswered() throws -> Bool {
        try self.send(.ping(nonce: 7))
        return try self.receive() == .pong(nonce: 7)
    }

    private func read(_ count: Int) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var part = [UInt8](repeating: 0, count: count - bytes.count)
            let length = recv(self.descriptor, &part, part.count, 0)
            if length == 0 { return nil }
            guard length > 0 else { throw Failure(call: "recv") }
            bytes += part.prefix(length)
        }
        return bytes
    }
}

/// Records log messages.
final class LogRecorder: Sendable {
    private let kept = Mutex<[String]>([])

    /// The messages at `warning` and above.
    var warnings: [String] { self.kept.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) { self.recorder.kept.withLock { $0.append("\(event.message)") } }
    }
}

let vehicleHello = endpointHello("cluster")

/// The Hello of an endpoint.
func endpointHello(_ endpoint: String, of vehicle: String = "car") -> Message {
    .hello(
        Hello(
            role: .vehicle(
                VehicleHello(
                    vehicle: VehicleID(unchecked: vehicle), endpoint: EndpointName(unchecked: endpoint),
                    features: []))))
}

let navigationHello = Message.hello(
    Hello(
        role: .navigation(
            NavigationHello(client: ClientID(unchecked: "app"), features: Set(Feature.allCases)))))
