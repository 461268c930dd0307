package import NIOCore

/// Where a listener listens: `tcp:HOST:PORT`, `tcp:[::1]:0`, `unix:/path`.
package enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// Port 0 lets the system choose.
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// Reads the form above; nil if it is another.
    package init?(_ text: String) {
        if text.hasPrefix("unix:/") {
            let path = String(text.dropFirst(5))
            guard path.utf8.count < 108 else { return nil }  // sun_path
            self = .unix(path: path)
            return
        }
        guard text.hasPrefix("tcp:"), let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[
            text.index(text.startIndex, offsetBy: 4)..<max(colon, text.index(text.startIndex, offsetBy: 4))]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        self = .tcp(host: String(host), port: Int(port))
    }

    /// What a bound socket says of itself.
    package init?(_ address: SocketAddress?) {
        switch address {
        case .v4, .v6:
            guard let host = address?.ipAddress, let port = address?.port else { return nil }
            self = .tcp(host: host, port: port)
        case .unixDomainSocket:
            guard let path = address?.pathname else { return nil }
            self = .unix(path: path)
        case nil: return nil
        }
    }

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether only this machine can reach it.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
        }
    }
}
