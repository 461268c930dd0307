#if LiveEngines
    internal import AsyncHTTPClient
    internal import NIOHTTP1
    internal import NetworkErrors

    /// Why an engine was not reached, in words.
    enum FetchFailure {
        static func reason(_ error: any Error) -> String {
            if let reason = NetworkError.knownReason(error) { return reason }
            return switch error {
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
