import Foundation
import ListeningSockets
import NIOCore
import Systemd
import Testing
import WaymarkDaemon
import WaymarkTransport

/// A listening socket of a systemd unit, which stays open when the process that accepts from it ends.
final class UnitSocket {
    let name: String
    let descriptor: CInt

    /// Binds to `address`; nil binds to an abstract name that the system chooses.
    init(
        _ name: String, _ address: ListenAddress?, type: __socket_type = SOCK_STREAM, isListening: Bool = true
    ) throws {
        self.name = name
        let family =
            switch address {
            case .unix, nil: AF_UNIX
            case .tcp(let host, _): host.contains(":") ? AF_INET6 : AF_INET
            }
        self.descriptor = socket(family, Int32(type.rawValue), 0)
        let result =
            switch address {
            case .unix(let path): try SocketAddress(unixDomainSocketPath: path).withSockAddr(self.bind)
            case .tcp(let host, let port):
                try SocketAddress(ipAddress: host, port: port).withSockAddr(self.bind)
            // Without a name the system chooses an abstract one.
            case nil:
                SocketAddress(sockaddr_un(sun_family: sa_family_t(AF_UNIX), sun_path: sockaddr_un().sun_path))
                    .withSockAddr { name, _ in self.bind(name, MemoryLayout<sa_family_t>.size) }
            }
        guard result == 0, !isListening || listen(self.descriptor, 64) == 0 else {
            throw RawSocket.Failure(call: "bind, listen")
        }
    }

    deinit { close(self.descriptor) }

    private func bind(_ name: UnsafePointer<sockaddr>, _ length: Int) -> CInt {
        Glibc.bind(self.descriptor, name, socklen_t(length))
    }

    /// The bound address.
    var address: ListenAddress {
        ListenAddress(boundSocket: self.descriptor) ?? .unix(path: "")
    }

    /// Copies of the sockets for a daemon in this process.
    static func inherited(_ sockets: [UnitSocket]) -> InheritedListeners {
        InheritedListeners(
            sockets.map {
                .init(name: $0.name, address: $0.address, descriptor: dup($0.descriptor))
            })
    }
}

/// A `waymarkd` process that inherits sockets as from a service manager.
final class ActivatedRun {
    let identifier: pid_t
    let lines: Lines
    private var isOver = false

    /// - Parameters:
    ///   - sockets: The inherited sockets.
    ///   - arguments: The command line.
    ///   - manager: Receives its notifications.
    ///   - parcel: The handover of the previous process; the new one gets a copy.
    /// - Throws: ``RawSocket/Failure`` if it cannot be started.
    init(
        _ sockets: [UnitSocket], _ arguments: [String], under manager: StoringManager? = nil,
        continuing parcel: CInt? = nil
    ) throws {
        let errors = Pipe()
        let inherited =
            sockets.map { ($0.name, $0.descriptor) } + (parcel.map { [("handover", $0)] } ?? [])
        // Moved to high numbers first, so that no descriptor overwrites another.
        let copies = inherited.map { fcntl($0.1, F_DUPFD_CLOEXEC, 200) }
        let end = fcntl(errors.fileHandleForWriting.fileDescriptor, F_DUPFD_CLOEXEC, 200)
        defer { for copy in copies + [end] { close(copy) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, end, 2)
        for (target, copy) in zip(CInt(3)..., copies) {
            posix_spawn_file_actions_adddup2(&actions, copy, target)
        }
        // No other descriptor of this process.
        for other in 3 + CInt(copies.count)..<1_024 { posix_spawn_file_actions_addclose(&actions, other) }
        let names = inherited.map(\.0).joined(separator: ":")
        let environment =
            ProcessInfo.processInfo.environment.map { "\($0)=\($1)" } + [
                "LISTEN_FDS=\(inherited.count)", "LISTEN_FDNAMES=\(names)",
            ] + (manager?.environment ?? [])
        // A shell sets LISTEN_PID, because only the new process knows its id.
        let command =
            ["/bin/sh", "-c", "export LISTEN_PID=$$; exec \"$0\" \"$@\"", executable.path] + arguments
        let strings = [command, environment].map { $0.map { strdup($0) } + [nil] }
        defer { for string in strings.joined() { free(string) } }
        var identifier: pid_t = 0
        guard posix_spawn(&identifier, "/bin/sh", &actions, nil, strings[0], strings[1]) == 0 else {
            throw RawSocket.Failure(call: "posix_spawn")
        }
        self.identifier = identifier
        self.lines = Lines(errors.fileHandleForReading)
        try errors.fileHandleForWriting.close()
    }

    deinit {
        guard !self.isOver else { return }
        kill(self.identifier, SIGKILL)
        _ = self.status()
    }

    /// Reads lines until one contains `text`; false if none does.
    func says(_ text: String) -> Bool { self.lines.contains { $0.contains(text) } }

    /// Waits for the exit; returns the exit status, or the negative signal number.
    func status() -> CInt {
        var status: CInt = 0
        Patience.forEnd(of: self.identifier) {
            while waitpid(self.identifier, &status, 0) < 0 && errno == EINTR {}
        }
        self.isOver = true
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }
}

/// A service manager that restarts a service and stores the handover between two processes.
final class StoringManager {
    private let folder: Folder
    private let socket: RawSocket

    init() throws {
        self.folder = try Folder()
        self.socket = try RawSocket(boundTo: self.folder.path("notify"), type: SOCK_DGRAM)
    }

    var environment: [String] {
        [
            "NOTIFY_SOCKET=\(self.folder.path("notify"))",
            "WAYMARKD_RESTART_MARK=\(self.folder.path("restart"))",
        ]
    }

    /// Stops `run` as for a restart.
    ///
    /// - Returns: The parcel that it hands over, which the caller owns.
    func end(_ run: ActivatedRun) throws -> CInt {
        try Data().write(to: URL(filePath: self.folder.path("restart")))
        kill(run.identifier, SIGTERM)
        var parcel: CInt?
        while true {
            var poll = pollfd(fd: self.socket.descriptor, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, 60_000) > 0 else { throw RawSocket.Failure(call: "poll") }
            // Only the descriptors matter: the parcel, and then a pipe that is closed to confirm that it was stored.
            for descriptor in try Parcel.unpack(self.socket.descriptor) {
                guard SocketCookie(descriptor) == nil else {
                    parcel = descriptor
                    continue
                }
                close(descriptor)
                guard let parcel else { throw RawSocket.Failure(call: "nothing was handed over") }
                #expect(run.status() == 0)
                // As the unit does before the next start.
                try FileManager.default.removeItem(atPath: self.folder.path("restart"))
                return parcel
            }
        }
    }
}
