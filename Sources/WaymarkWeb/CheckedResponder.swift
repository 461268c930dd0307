#if Inspector
    package import Hummingbird
    internal import HTTPTypes

    /// Checks each request before another responder sees it, also requests for files and for what does not exist, and adds to each
    /// response what keeps other sites away from it.
    package struct CheckedResponder<Base: HTTPResponder>: HTTPResponder {
        private let base: Base
        private let check: RequestCheck

        package init(_ base: Base, _ check: RequestCheck) {
            self.base = base
            self.check = check
        }

        @concurrent package func respond(to request: Request, context: Base.Context) async throws -> Response
        {
            var response: Response
            if let refusal = self.check.refusal(request.head) {
                response = .text(refusal.reason + "\n", status: refusal.status)
            } else {
                response = try await self.base.respond(to: request, context: context)
            }
            if request.method == .head {
                let length = response.body.contentLength
                response = response.createHeadResponse()
                if response.headers[.contentLength] == nil, let length {
                    response.headers[.contentLength] = "\(length)"
                }
            }
            for (name, value) in responseDefaults where !response.headers.contains(name) {
                response.headers[name] = value
            }
            return response
        }
    }

    /// Headers of every response, unless it has its own.
    private let responseDefaults: [(HTTPField.Name, String)] = [
        (.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'"),
        (.xContentTypeOptions, "nosniff"), (.cacheControl, "no-store"),
        (.crossOriginResourcePolicy, "same-origin"), (.referrerPolicy, "no-referrer"),
    ]

    extension Response {
        /// A response of plain text.
        package static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
            Response(
                status: status,
                headers: [
                    .contentType: "text/plain; charset=utf-8", .contentLength: "\(text.utf8.count)",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
    }
#endif
