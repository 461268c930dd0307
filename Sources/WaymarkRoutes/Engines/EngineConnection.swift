import AsyncHTTPClient
import Foundation
import NIOCore
import WaymarkModel
import WaymarkProtocol

/// Asks an engine over HTTP and reads what it answers, within limits.
struct EngineConnection: Sendable {
    /// What came back, whatever the status.
    private struct Fetched: Sendable {
        /// E.g. "404 Not Found".
        let status: String
        let bytes: [UInt8]
    }

    /// Scheme, host and, where there is one, a path; no slash at the end.
    let address: String
    let limits: RoutingLimits
    let reading: RouteReadingOptions

    init(_ address: String, limits: RoutingLimits, reading: RouteReadingOptions) throws(RoutingError) {
        guard let url = URL(string: address), url.scheme == "http" || url.scheme == "https",
            !(url.host() ?? "").isEmpty
        else { throw .badAddress(address) }
        self.address = String(address.reversed().drop { $0 == "/" }.reversed())
        self.limits = limits
        self.reading = reading
    }

    /// Checks what a caller wants a route through.
    static func check(_ points: [Coordinate]) throws(RoutingError) {
        guard points.count >= 2 else { throw .badPoints("at least an origin and a destination are needed") }
        guard points.count <= ProtocolConstants.routeSegmentsMax + 1 else {
            throw .badPoints("at most \(ProtocolConstants.routeSegmentsMax + 1) points can be on one route")
        }
        if let index = points.firstIndex(where: { !$0.isOnEarth }) {
            throw .badPoints("point \(index + 1) is not on the Earth")
        }
    }

    /// Sends `request` and reads the answer to it; `points` are what was asked for, to see how far they were moved.
    func answer(
        to request: HTTPClientRequest, through points: [Coordinate]
    ) async throws(RoutingError) -> RouteAnswer {
        let fetched = try await self.fetch(request)
        do throws(RouteReadingError) {
            var answer = try RouteReader.read(fetched.bytes, options: self.reading)
            answer.reportMoved(points, meters: self.limits.movedMetersMax)
            return answer
        } catch {
            switch error {
            case .refusedByEngine(let code, let message): throw .refused(code: code, message: message)
            case .tooLarge, .notJSON, .unknownFormat, .noRoute, .missing, .invalid:
                throw .unreadable(address: self.address, status: fetched.status, error)
            }
        }
    }

    private func fetch(_ request: HTTPClientRequest) async throws(RoutingError) -> Fetched {
        do {
            // Why: the client's own deadline ends with the head of the answer; a body may trickle for ever.
            return try await withThrowingTaskGroup(of: Fetched?.self) { group in
                group.addTask { try await self.exchange(request) }
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
            throw .unreachable(address: self.address, reason: "\(error)")
        }
    }

    private static let timeouts: [HTTPClientError] = [.deadlineExceeded, .connectTimeout, .readTimeout]

    private func exchange(_ request: HTTPClientRequest) async throws -> Fetched {
        // Why: rounded up, so that the deadline of the whole exchange is the one that strikes.
        let timeout = TimeAmount.seconds(min(self.limits.deadline.components.seconds, 86_400) + 1)
        var configuration = HTTPClient.Configuration()
        // Why: nobody listening is an answer of its own, to be told at once, not to be tried until the deadline.
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let response = try await client.execute(request, timeout: timeout)
            var body = try await response.body.collect(upTo: self.limits.bytesMax)
            return Fetched(
                status: "\(response.status)", bytes: body.readBytes(length: body.readableBytes) ?? [])
        }
    }
}
