internal import Glibc
package import NIOCore

/// Why a text is not an address to listen on.
package enum ListenAddressError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text begins neither with `tcp:` nor with `unix:`.
    case unknownKind
    /// The path of a Unix socket does not begin with `/`, names a folder or contains a NUL.
    case badPath
    /// The path of a Unix socket is longer than the system allows, 107 bytes.
    case pathTooLong
    /// There is no `:PORT` at the end, or the port is not a whole number from 0 to 65535.
    case badPort
    /// An IPv6 address that is not in brackets.
    case bracketsMissing
    /// The text in the brackets is not an IPv6 address.
    case badIPv6Address
    /// The host is empty, or has characters other than letters, digits, `.`, `-` and `_`.
    case badHost

    package var description: String {
        switch self {
        case .unknownKind: "use tcp:HOST:PORT or unix:/path"
        case .badPath: "a Unix socket needs the whole path of a file, e.g. unix:/run/waymark/vehicle.sock"
        case .pathTooLong: "the path of a Unix socket may have at most 107 bytes"
        case .badPort: "it must end in a port, 0 to 65535, e.g. tcp:127.0.0.1:7227"
        case .bracketsMissing: "an IPv6 address must be in brackets, e.g. tcp:[::1]:7227"
        case .badIPv6Address: "the text in the brackets is not an IPv6 address"
        case .badHost: "the host must be a name or an address"
        }
    }
}

/// Where a listener listens: `tcp:HOST:PORT`, `tcp:[::1]:0`, `unix:/path`.
package enum ListenAddress: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Port 0 lets the system choose.
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// The longest path that `sockaddr_un` holds, in bytes.
    private static let pathBytesMax = 107

    /// Parses one of the forms above.
    package init(_ text: String) throws(ListenAddressError) {
        if text.hasPrefix("unix:") {
            self = .unix(path: try Self.path(text.dropFirst(5)))
        } else if text.hasPrefix("tcp:") {
            self = try Self.tcp(text.dropFirst(4))
        } else {
            throw .unknownKind
        }
    }

    /// The address of a bound socket; nil if it is neither TCP nor a Unix socket with a file.
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

    /// The address that a socket is bound to; nil if it is neither TCP nor a Unix socket with a file.
    package init?(boundSocket descriptor: CInt) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            guard let name = unsafe bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else {
                return CInt(-1)
            }
            return unsafe getsockname(descriptor, name, &length)
        }
        guard result == 0 else { return nil }
        let address: SocketAddress? = unsafe withUnsafeBytes(of: storage) { bytes in
            switch CInt(storage.ss_family) {
            case AF_INET: unsafe SocketAddress(bytes.loadUnaligned(as: sockaddr_in.self))
            case AF_INET6: unsafe SocketAddress(bytes.loadUnaligned(as: sockaddr_in6.self))
            case AF_UNIX: unsafe SocketAddress(bytes.loadUnaligned(as: sockaddr_un.self))
            default: nil
            }
        }
        self.init(address)
        // The path of an unnamed or abstract socket begins with NUL.
        if case .unix("") = self { return nil }
    }

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether only this machine can reach it: a Unix socket, a literal address in 127.0.0.0/8, ::1, or `localhost`, which
    /// ``Listener`` accepts only if it resolves to one of these. No other name is trusted.
    package var isLocal: Bool {
        switch self {
        case .unix: true
        case .tcp("localhost", _): true
        case .tcp(let host, let port): Self.literal(host, port: port)?.isLoopback ?? false
        }
    }

    /// Whether two listeners cannot use both addresses at the same time.
    package func collides(with other: ListenAddress) -> Bool {
        switch (self, other) {
        case (.unix(let path), .unix(let otherPath)): return path == otherPath
        case (.tcp(let host, let port), .tcp(let otherHost, let otherPort)):
            guard port == otherPort, port != 0 else { return false }
            return host == otherHost || [host, otherHost].contains { $0 == "0.0.0.0" || $0 == "::" }
        case (.unix, .tcp), (.tcp, .unix): return false
        }
    }

    /// Whether a listener that was opened for this address may be bound to `other`: the system chose the port or resolved the
    /// host's name.
    package func mayBeBound(to other: ListenAddress) -> Bool {
        guard case .tcp(let host, let port) = self, case .tcp(let otherHost, let otherPort) = other else {
            return self == other
        }
        return (port == 0 || port == otherPort)
            && (host == otherHost || Self.literal(host, port: port) == nil)
    }

    /// The socket address if `host` is a literal IP address; nil if it is a name.
    package static func literal(_ host: String, port: Int) -> SocketAddress? {
        do { return try SocketAddress(ipAddress: host, port: port) } catch { return nil }  // A name.
    }

    private static func path(_ text: Substring) throws(ListenAddressError) -> String {
        guard text.hasPrefix("/"), !text.hasSuffix("/"), !text.utf8.contains(0) else { throw .badPath }
        guard text.utf8.count <= Self.pathBytesMax else { throw .pathTooLong }
        return String(text)
    }

    private static func tcp(_ text: Substring) throws(ListenAddressError) -> ListenAddress {
        guard let colon = text.lastIndex(of: ":") else { throw .badPort }
        let digits = text[text.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = UInt16(digits)
        else { throw .badPort }
        return .tcp(host: try Self.host(text[..<colon]), port: Int(port))
    }

    private static func host(_ text: Substring) throws(ListenAddressError) -> String {
        if text.hasPrefix("["), text.hasSuffix("]") {
            let host = String(text.dropFirst().dropLast())
            guard let literal = Self.literal(host, port: 0), case .v6 = literal,
                let canonical = literal.ipAddress
            else { throw .badIPv6Address }
            return canonical
        }
        guard !text.contains(":") else { throw .bracketsMissing }
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, !text.isEmpty else { throw .badHost }
        return String(text)
    }
}

extension SocketAddress {
    /// Whether it is in 127.0.0.0/8, or ::1.
    package var isLoopback: Bool {
        switch self {
        case .v4: self.ipAddress?.hasPrefix("127.") ?? false
        case .v6: self.ipAddress == "::1"
        case .unixDomainSocket: false
        }
    }
}
