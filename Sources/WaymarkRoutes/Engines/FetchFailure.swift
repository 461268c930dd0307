#if LiveEngines
    internal import AsyncHTTPClient
    internal import NIOCore
    internal import NIOHTTP1
    internal import NIOPosix
    internal import ProcessIO

    /// Why an engine was not reached, in words.
    enum FetchFailure {
        static func reason(_ error: any Error) -> String {
            switch error {
            case let error as IOError: SystemError.reason(error.errnoCode)
            case let error as NIOConnectionError:
                error.connectionErrors.first.map { self.reason($0.error) }
                    ?? "the name \(error.host) is not known"
            case let error as SocketAddressError.UnknownHost: "the name \(error.host) is not known"
            case is HTTPParserError: "what answers there is not HTTP"
            case let error as HTTPClientError where error == .remoteConnectionClosed:
                "the connection was closed"
            // Why by name: SwiftNIO SSL is only the HTTP client's dependency. Its errors quote its source files.
            case _ where String(reflecting: type(of: error)).hasPrefix("NIOSSL."):
                "it does not speak TLS, or its certificate is not trusted"
            case let error as HTTPClientError: "the HTTP client says: \(error.shortDescription)"
            default: "the request failed (\(type(of: error)))"
            }
        }
    }
#endif
