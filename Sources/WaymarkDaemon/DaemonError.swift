package import Systemd
package import WaymarkConfiguration
package import WaymarkTransport

/// Why the daemon could not start.
package enum DaemonError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A listener's settings cannot be used.
    case setting(Settings.Listener, ListenerProblem)
    /// The folder for sockets cannot be made, or others can reach into it.
    case folder(path: String, reason: String)
    case listener(ListenerError)
    /// What the service manager handed over cannot be found out.
    case serviceManager(SystemdError)
    /// What the service manager handed over is not a listening stream socket.
    case inherited(InheritedSocketError)
    /// A Unix socket of the service manager has no file, so that everybody on the machine could connect.
    case abstract(name: String, descriptor: CInt)
    /// A socket of the service manager belongs to no listener of the settings.
    case stray(name: String, descriptor: CInt, ListenAddress)

    package var description: String {
        switch self {
        case .setting(let listener, let problem):
            "\(listener.place.map { "\($0): " } ?? "")\(listener.name): \(problem)"
        case .folder(let path, let reason): "the folder \(path) cannot be used: \(reason)"
        case .listener(let error): "\(error)"
        case .serviceManager(let error): "the sockets of the service manager cannot be taken: \(error)"
        case .inherited(let error): "\(error)"
        case .abstract(let name, let descriptor):
            "descriptor \(descriptor) of the service manager (\(name)) is a Unix socket without a file"
        case .stray(let name, let descriptor, let address):
            "descriptor \(descriptor) of the service manager (\(name), \(address)) belongs to no listener of the settings"
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
    /// An inherited TCP socket can be reached from other machines, and the listener has no key.
    case inheritedOpenToAnyone(ListenAddress)
    /// Another listener has the name of the same sockets.
    case duplicateSocket(String)
    /// The service manager handed over no socket of this name, and there is no address to open one at.
    case notHandedOver
    /// Mode and group are for the files of Unix sockets that the daemon opens.
    case permissionsWithoutFile
    case unknownGroup(String)

    package var description: String {
        switch self {
        case .address(let error): "is not an address: \(error)"
        case .openToAnyone:
            "can be reached from other machines; give the listener a key, or set allow-anyone: true"
        case .duplicate(let address): "collides with the listener on \(address)"
        case .inheritedOpenToAnyone(let address):
            "\(address) can be reached from other machines; give the listener a key, or set allow-anyone: true"
        case .duplicateSocket(let name): "another listener is for the sockets named \(name)"
        case .notHandedOver:
            "the service manager handed over no socket of this name, and the listener has no address"
        case .permissionsWithoutFile: "mode and group are for Unix sockets that the daemon opens"
        case .unknownGroup(let name): "there is no group \(name)"
        }
    }
}
