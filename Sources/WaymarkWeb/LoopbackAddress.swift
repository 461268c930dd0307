package import ListeningSockets

/// Why a text is not an address that only this machine can reach.
package enum LoopbackAddressError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is no address.
    case invalid(ListenAddressError)
    /// It is an address that other machines may reach, or a name.
    case notLoopback

    package var description: String {
        switch self {
        case .invalid(let error): "\(error)"
        case .notLoopback:
            "only this machine can be let in: 127.0.0.1:PORT, [::1]:PORT or unix:/path"
        }
    }
}

/// Where a ``LoopbackServer`` listens: `127.0.0.1:PORT`, `[::1]:PORT`, both also with `tcp:` before them, or `unix:/path`. Names,
/// also `localhost`, are not accepted, because what they lead to is decided elsewhere.
package struct LoopbackAddress: Sendable, Hashable, CustomStringConvertible {
    package let address: ListenAddress

    /// Parses one of the forms above. Port 0 lets the system choose.
    package init(_ text: String) throws(LoopbackAddressError) {
        let isWhole = text.hasPrefix("unix:") || text.hasPrefix("tcp:")
        let address: ListenAddress
        do throws(ListenAddressError) { address = try ListenAddress(isWhole ? text : "tcp:\(text)") } catch {
            throw .invalid(error)
        }
        if case .tcp(let host, _) = address, host != "127.0.0.1", host != "::1" { throw .notLoopback }
        self.address = address
    }

    /// As a browser needs it, `http://127.0.0.1:8080`; for a Unix socket `unix:/path`.
    package var description: String {
        switch self.address {
        case .tcp: "http://\(self.authority ?? "")"
        case .unix: "\(self.address)"
        }
    }

    /// `HOST:PORT`, as in the header Host; nil for a Unix socket.
    var authority: String? {
        guard case .tcp(let host, let port) = self.address else { return nil }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The same with the port that the system chose.
    func bound(to bound: ListenAddress?) -> LoopbackAddress {
        guard case .tcp(let host, _) = self.address, case .tcp(_, let port) = bound else { return self }
        return LoopbackAddress(checked: .tcp(host: host, port: port))
    }

    private init(checked address: ListenAddress) { self.address = address }
}
