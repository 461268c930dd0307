#if Inspector
    package import HTTPTypes
    package import Hummingbird
    internal import Logging
    package import NIOCore
    internal import NIOEmbedded

    /// A client that asks a responder itself, without sockets.
    package struct RouteClient: Sendable {
        /// The answer of the responder.
        package struct Answer: Sendable {
            package let status: HTTPResponse.Status
            package let headers: HTTPFields
            package let body: ByteBuffer
        }

        private let respond: @Sendable (Request) async throws -> Response

        package init<Responder: HTTPResponder>(_ responder: Responder)
        where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
            self.respond = { request in
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                let source = ApplicationRequestContextSource(
                    channel: NIOAsyncTestingChannel(), logger: logger)
                return try await responder.respond(to: request, context: Responder.Context(source: source))
            }
        }

        /// Asks as a client at `http://localhost`. What the responder throws is the status 500, as for a server.
        package func execute(
            uri: String, method: HTTPRequest.Method, headers: HTTPFields = [:], body: ByteBuffer? = nil
        ) async throws -> Answer {
            var headers = headers
            if let body { headers[.contentLength] = "\(body.readableBytes)" }
            let head = HTTPRequest(
                method: method, scheme: "http", authority: "localhost", path: uri, headerFields: headers)
            let request = Request(head: head, body: RequestBody(buffer: body ?? ByteBuffer()))
            let response: Response
            do { response = try await self.respond(request) } catch {
                return Answer(status: .internalServerError, headers: [:], body: ByteBuffer())
            }
            let written = WrittenBody()
            try await response.body.write(written)
            return Answer(status: response.status, headers: response.headers, body: written.bytes)
        }
    }

    /// The body that a responder writes.
    private final class WrittenBody: ResponseBodyWriter {
        private(set) var bytes = ByteBuffer()

        func write(_ buffer: ByteBuffer) async throws { self.bytes.writeImmutableBuffer(buffer) }

        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
#endif
