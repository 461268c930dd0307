#if Inspector
    package import Hummingbird
    package import ListeningSockets
    package import WaymarkWeb

    /// Serves a gateway's counters to Prometheus: `GET /metrics`.
    package struct MetricsResponder: HTTPResponder {
        package typealias Context = BasicRequestContext

        private let read: @Sendable () async -> GatewayReading?

        /// - Parameter read: Returns nil if the gateway does not answer.
        package init(_ read: @escaping @Sendable () async -> GatewayReading?) { self.read = read }

        @concurrent package func respond(
            to request: Request, context: BasicRequestContext
        ) async throws -> Response {
            guard ["/metrics", "/"].contains(request.uri.path) else {
                return .text("there is only /metrics\n", status: .notFound)
            }
            guard request.method == .get || request.method == .head else {
                var response = Response.text("only GET and HEAD are possible\n", status: .methodNotAllowed)
                response.headers[.allow] = "GET, HEAD"
                return response
            }
            guard request.uri.path == "/metrics" else {
                return .text("waymark exporter: the counters of a gateway, for Prometheus, at /metrics\n")
            }
            let format = MetricFormat(accept: request.headers[.accept])
            var response = Response.text(format.text(GatewayMetrics.families(of: await self.read())))
            response.headers[.contentType] = format.contentType
            response.headers[.vary] = "Accept"
            return response
        }
    }

    package enum MetricsServer {
        /// Opens a server of the counters that `reader` reads. Run it, and close it and the reader afterwards.
        ///
        /// - Throws: `ListenerError` if the address cannot be listened on.
        /// - Returns: The server, which is not running.
        package static func open(
            _ address: LoopbackAddress, _ reader: CounterReader
        ) async throws(ListenerError) -> LoopbackServer {
            var limits = LoopbackServer.Limits()
            limits.connections = 32
            // Prometheus' targets are often written so, and no page can make its own name resolve to it.
            let names: Set = ["localhost"]
            return try await LoopbackServer.open(
                address, names: names, needsOrigin: false, limits: limits,
                MetricsResponder { await reader.read() })
        }

        /// Where the metrics are, for people.
        package static func location(of server: LoopbackServer) -> String {
            let address = "\(server.address)"
            return address.hasPrefix("unix:") ? "/metrics of \(address)" : "\(address)/metrics"
        }
    }
#endif
