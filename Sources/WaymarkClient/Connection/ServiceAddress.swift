internal import Foundation

/// The address at which a gateway listens: `tcp:HOST:PORT` or `unix:/path`.
public enum ServiceAddress: Sendable, Hashable, CustomStringConvertible {
    /// A host name or address, and a port, 1 ... 65 535.
    case tcp(host: String, port: Int)
    /// A Unix stream socket.
    case unix(path: String)

    /// Reads `tcp:HOST:PORT`, `tcp:[::1]:7227` or `unix:/path`; nil if it is of another form.
    public init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            self = .unix(path: String(text.dropFirst(5)))
            return
        }
        guard text.hasPrefix("tcp:"), let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { return nil }
        let start = text.index(text.startIndex, offsetBy: 4)
        guard start < colon else { return nil }
        var host = text[start..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self = .tcp(host: String(host), port: Int(port))
    }

    /// The form that ``init(_:)`` reads.
    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// The default address for navigation clients: the socket of this user's `waymarkd` if it exists, else that of the
    /// system's service (`/run/waymark/navigation.sock`) if it exists, else this user's.
    public static var defaultNavigation: ServiceAddress { self.find("navigation.sock") }

    /// The default address for vehicles: like ``defaultNavigation``, with `vehicle.sock`.
    public static var defaultVehicle: ServiceAddress { self.find("vehicle.sock") }

    /// The default address for observers: like ``defaultNavigation``, with `observe.sock`.
    public static var defaultObserver: ServiceAddress { self.find("observe.sock") }

    /// The first folder that has the socket; without any, the first folder.
    static func find(_ name: String, in folders: [String] = [Self.folder, Self.systemFolder])
        -> ServiceAddress
    {
        let found = folders.first { folder in
            var status = stat()
            return unsafe stat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
        return .unix(path: "\(found ?? folders[0])/\(name)")
    }

    /// Where the units of the package listen.
    private static let systemFolder = "/run/waymark"

    private static var folder: String {
        if let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"], !runtime.isEmpty {
            return "\(runtime)/waymark"
        }
        let run = "/run/user/\(getuid())"
        return FileManager.default.fileExists(atPath: run) ? "\(run)/waymark" : "/tmp/waymark-\(getuid())"
    }
}
