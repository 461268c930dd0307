internal import NIOCore
internal import NIOPosix
internal import ProcessIO

/// Errors of SwiftNIO as text.
package enum NetworkError {
    /// The reason for `error`, to follow a colon: "permission denied".
    package static func reason(_ error: any Error) -> String { self.knownReason(error) ?? "\(error)" }

    /// The reason for `error`; nil for errors of other libraries.
    package static func knownReason(_ error: any Error) -> String? {
        if let code = self.code(of: error) { return SystemError.reason(code) }
        switch error {
        case ChannelError.connectTimeout: return "no answer in time"
        case let error as ChannelError where error == .ioOnClosedChannel || error == .alreadyClosed:
            return "it was closed"
        case let error as SocketAddressError.UnknownHost: return "the name \(error.host) is not known"
        case is SocketAddressError: return "there is no such host"
        case let error as NIOConnectionError:
            return error.connectionErrors.first.map { self.reason($0.error) }
                ?? "the name \(error.host) is not known"
        default: return nil
        }
    }

    /// The system's error number; nil for other errors. If several addresses were tried, that of the first.
    package static func code(of error: any Error) -> CInt? {
        switch error {
        case let error as IOError: error.errnoCode
        case let error as NIOConnectionError: error.connectionErrors.first.flatMap { self.code(of: $0.error) }
        default: nil
        }
    }
}
