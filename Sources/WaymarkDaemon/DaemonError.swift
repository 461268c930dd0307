package import WaymarkConfiguration
package import WaymarkTransport

/// Why the daemon could not start.
package enum DaemonError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A listener's settings cannot be used.
    case setting(Settings.Listener, ListenerProblem)
    /// The folder for sockets cannot be made, or others can reach into it.
    case folder(path: String, reason: String)
    case listener(ListenerError)

    package var description: String {
        switch self {
        case .setting(let listener, let problem):
            "\(listener.place.map { "\($0): " } ?? "")\(listener.address): \(problem)"
        case .folder(let path, let reason): "the folder \(path) cannot be used: \(reason)"
        case .listener(let error): "\(error)"
        }
    }
}

/// What is wrong with a listener's settings.
package enum ListenerProblem: Sendable, Hashable, CustomStringConvertible {
    case address(ListenAddressError)
    /// A TCP listener without a key would be open to other machines.
    case openToAnyone
    /// Another listener has an address that cannot be used beside it.
    case duplicate(of: ListenAddress)
    /// Mode and group are for the files of Unix sockets.
    case permissionsOfTCP
    case unknownGroup(String)

    package var description: String {
        switch self {
        case .address(let error): "is not an address: \(error)"
        case .openToAnyone:
            "can be reached from other machines; give the listener a key, or set allow-anyone: true"
        case .duplicate(let address): "collides with the listener on \(address)"
        case .permissionsOfTCP: "mode and group are for Unix sockets"
        case .unknownGroup(let name): "there is no group \(name)"
        }
    }
}
