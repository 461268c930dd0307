#if LiveEngines
    import AsyncHTTPClient
    import NIOCore
#endif

/// What came back over HTTP.
struct Fetched: Sendable {
    /// E.g. "404 Not Found".
    let status: String
    let bytes: [UInt8]
}

#if LiveEngines
    extension EngineConnection {
        /// Gets what is at `url`, whatever the status.
        func fetch(_ url: String) async throws(RoutingError) -> Fetched {
            do {
                // Why: the client's own deadline ends with the head of the answer; a body may trickle for ever.
                return try await withThrowingTaskGroup(of: Fetched?.self) { group in
                    group.addTask { try await self.exchange(url) }
                    group.addTask {
                        try await Task.sleep(for: self.limits.deadline)
                        return nil
                    }
                    defer { group.cancelAll() }
                    guard let first = try await group.next(), let answer = first else {
                        throw RoutingError.timedOut(address: self.address, after: self.limits.deadline)
                    }
                    return answer
                }
            } catch let error as RoutingError {
                throw error
            } catch is CancellationError {
                throw .cancelled
            } catch is NIOTooManyBytesError {
                throw .tooLarge(address: self.address, bytesMax: self.limits.bytesMax)
            } catch let error as HTTPClientError where error == .cancelled {
                throw .cancelled
            } catch let error as HTTPClientError where Self.timeouts.contains(error) {
                throw .timedOut(address: self.address, after: self.limits.deadline)
            } catch {
                throw .unreachable(address: self.address, reason: FetchFailure.reason(error))
            }
        }

        private static let timeouts: [HTTPClientError] = [.deadlineExceeded, .connectTimeout, .readTimeout]

        private func exchange(_ url: String) async throws -> Fetched {
            // Why: rounded up, so that the deadline of the whole exchange is the one that strikes.
            let timeout = TimeAmount.seconds(min(self.limits.deadline.components.seconds, 86_400) + 1)
            var configuration = HTTPClient.Configuration()
            // Why: a refused connection is reported at once; trying until the deadline would not help.
            configuration.connectionPool.retryConnectionEstablishment = false
            return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
                let response = try await client.execute(HTTPClientRequest(url: url), timeout: timeout)
                var body = try await response.body.collect(upTo: self.limits.bytesMax)
                return Fetched(
                    status: "\(response.status)", bytes: body.readBytes(length: body.readableBytes) ?? [])
            }
        }
    }
#else
    extension EngineConnection {
        /// The package was built without its trait `LiveEngines`.
        func fetch(_ url: String) async throws(RoutingError) -> Fetched {
            throw .unreachable(address: self.address, reason: "built without an HTTP client")
        }
    }
#endif
