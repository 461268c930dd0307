internal import Glibc
internal import ListeningSockets
internal import NIOCore
internal import NetworkErrors

extension ListenerError {
    /// Why a listener could not be opened.
    init(_ error: any Error, _ address: ListenAddress) {
        if NetworkError.code(of: error) == EADDRINUSE {
            self = .inUse(address)
        } else {
            self = .failed(address, reason: NetworkError.reason(error))
        }
    }
}
