internal import NIOCore
internal import NIOPosix
internal import ProcessIO

/// Errors of SwiftNIO in words.
package enum SystemReason {
    /// The words for `error`, to go on in a sentence: "permission denied".
    package static func words(for error: any Error) -> String {
        if let code = self.code(of: error) { return SystemError.reason(code) }
        switch error {
        case ChannelError.connectTimeout: return "no answer in time"
        case let error as ChannelError where error == .ioOnClosedChannel || error == .alreadyClosed:
            return "it was closed"
        case is SocketAddressError: return "there is no such host"
        case let error as NIOConnectionError where error.connectionErrors.isEmpty:
            return "the name \(error.host) is not known"
        default: return "\(error)"
        }
    }

    /// The system's error number, if that is what `error` has; of several addresses, the first's.
    package static func code(of error: any Error) -> CInt? {
        switch error {
        case let error as IOError: error.errnoCode
        case let error as NIOConnectionError: error.connectionErrors.first.flatMap { self.code(of: $0.error) }
        default: nil
        }
    }
}
