/// The reason for which a listener could not be opened.
package enum ListenerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The address is in use.
    case inUse(ListenAddress)
    /// The path names a file that is not a socket. The file is not changed.
    case notASocket(path: String)
    /// `localhost` is another machine's address here.
    case notLoopback(ListenAddress)
    /// A socket that was handed over cannot be used to accept connections.
    case unusable(descriptor: CInt, reason: String)
    /// The system refused.
    case failed(ListenAddress, reason: String)

    package var description: String {
        switch self {
        case .inUse(let address): "another process listens on \(address) already"
        case .notASocket(let path): "\(path) exists and is not a socket"
        case .notLoopback(let address): "\(address) is not a loopback address on this machine"
        case .unusable(let descriptor, let reason): "cannot accept from descriptor \(descriptor): \(reason)"
        case .failed(let address, let reason): "cannot listen on \(address): \(reason)"
        }
    }
}
