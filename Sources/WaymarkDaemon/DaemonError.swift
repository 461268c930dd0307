package import ListeningSockets
package import Systemd
package import WaymarkConfiguration

/// Why the daemon could not start.
package enum DaemonError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A listener's settings are invalid.
    case setting(Settings.Listener, ListenerProblem)
    /// The folder for sockets cannot be created, or other users can write to it.
    case folder(path: String, reason: String)
    case listener(ListenerError)
    /// The sockets that the service manager passed cannot be received.
    case serviceManager(SystemdError)
    /// The service manager passed a descriptor that is not a listening stream socket.
    case inherited(InheritedSocketError)
    /// The service manager passed a Unix socket without a file, to which every user of the machine could connect.
    case abstract(name: String, descriptor: CInt)
    /// The service manager passed a socket that matches no listener in the settings.
    case stray(name: String, descriptor: CInt, ListenAddress)

    package var description: String {
        switch self {
        case .setting(let listener, let problem):
            "\(listener.location.map { "\($0): " } ?? "")\(listener.name): \(problem)"
        case .folder(let path, let reason): "cannot use the folder \(path): \(reason)"
        case .listener(let error): "\(error)"
        case .serviceManager(let error): "cannot receive sockets from the service manager: \(error)"
        case .inherited(let error): "\(error)"
        case .abstract(let name, let descriptor):
            "inherited descriptor \(descriptor) (\(name)) is a Unix socket without a file"
        case .stray(let name, let descriptor, let address):
            "inherited descriptor \(descriptor) (\(name), \(address)) matches no listener in the settings"
        }
    }
}

/// Why a listener's settings are invalid.
package enum ListenerProblem: Sendable, Hashable, CustomStringConvertible {
    case address(ListenAddressError)
    /// A TCP listener without a key would accept connections from other machines.
    case openToAnyone
    /// Another listener already uses this address, or all addresses on this port.
    case duplicate(of: ListenAddress)
    /// An inherited TCP socket accepts connections from other machines, and the listener has no key.
    case inheritedOpenToAnyone(ListenAddress)
    /// Another listener has the same socket name.
    case duplicateSocket(String)
    /// The service manager passed no socket with this name, and the listener has no address.
    case notHandedOver
    /// Mode and group apply only to the files of Unix sockets that the daemon opens.
    case permissionsWithoutFile
    case unknownGroup(String)
    /// The settings did not come from ``SettingsSource``, which reads the files of keys.
    case keyNotRead(file: String)
    /// Two keys of the listener are the same, so that a peer's name would be ambiguous.
    case sameKey(String, String)

    package var description: String {
        switch self {
        case .address(let error): "invalid address: \(error)"
        case .openToAnyone:
            "can be reached from other machines; give the listener a key, or set allow-anyone: true"
        case .duplicate(let address): "conflicts with the listener on \(address)"
        case .inheritedOpenToAnyone(let address):
            "\(address) can be reached from other machines; give the listener a key, or set allow-anyone: true"
        case .duplicateSocket(let name): "another listener already has the socket name \(name)"
        case .notHandedOver:
            "the service manager passed no socket with this name, and the listener has no address"
        case .permissionsWithoutFile: "mode and group apply only to Unix sockets that the daemon opens"
        case .unknownGroup(let name): "there is no group \(name)"
        case .keyNotRead(let file): "the key file \(file) was not read"
        case .sameKey(let name, let other): "the key \(name) is the same as the key \(other)"
        }
    }
}
