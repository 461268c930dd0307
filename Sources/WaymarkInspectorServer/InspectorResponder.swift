#if Inspector
    package import Foundation
    internal import HTTPTypes
    package import Hummingbird
    internal import NIOCore
    internal import Synchronization
    internal import WaymarkInspector
    internal import WaymarkWeb

    /// Connects the inspector with Hummingbird. What requests mean is for ``InspectorHTTP``.
    package struct InspectorResponder: HTTPResponder {
        package typealias Context = BasicRequestContext

        /// Event streams at one time.
        package static let streamsMax = 8
        /// How often a page is told what has changed, at most.
        package static let interval = Duration.milliseconds(50)

        private let http: InspectorHTTP
        private let streams = StreamCount()
        private let now: @Sendable () -> Date

        /// `now` is the time by which cookies end.
        package init(_ http: InspectorHTTP, now: @escaping @Sendable () -> Date = { Date() }) {
            (self.http, self.now) = (http, now)
        }

        package func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
            var body = Data()
            if [.post, .put, .patch, .delete].contains(request.method) {
                do {
                    let buffer = try await request.body.collect(upTo: InspectorHTTP.bodyBytesMax)
                    body = Data(buffer.readableBytesView)
                } catch {
                    let error = InspectorError(
                        .tooLarge, "the body must be at most \(InspectorHTTP.bodyBytesMax) bytes")
                    return self.response(.error(error), request)
                }
            }
            let name = Self.cookieName(request.head.authority)
            let asked = PageRequest(
                request.method.rawValue, request.uri.path, query: request.uri.query ?? "",
                cookie: Self.cookie(name, request), contentType: request.headers[.contentType] ?? "",
                lastEventID: HTTPField.Name("Last-Event-ID").flatMap { request.headers[$0] },
                acceptEncoding: request.headers[values: .acceptEncoding].joined(separator: ","), body: body)
            let answer = await self.http.respond(to: asked, cookieName: name, now: self.now())
            return self.response(answer, request)
        }

        /// Cookies do not know ports, but two inspectors on one machine need two.
        private static func cookieName(_ authority: String?) -> String {
            let port = authority?.split(separator: ":").last.flatMap { UInt16($0) }
            return "waymark-\(port ?? 80)"
        }

        private static func cookie(_ name: String, _ request: Request) -> String? {
            for field in request.headers[values: .cookie] {
                for pair in field.split(separator: ";") {
                    let parts = pair.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
                    if parts.count == 2, parts[0] == name { return String(parts[1]) }
                }
            }
            return nil
        }

        private func response(_ answer: PageResponse, _ request: Request) -> Response {
            var headers = HTTPFields()
            for (name, value) in answer.headers {
                guard let name = HTTPField.Name(name) else { continue }
                headers.append(HTTPField(name: name, value: value))
            }
            headers[.contentSecurityPolicy] = InspectorHTTP.contentSecurityPolicy
            if let stream = answer.stream {
                guard let place = StreamPlace(self.streams) else {
                    return self.response(
                        .error(InspectorError(.busy, field: "views", "\(Self.streamsMax) streams are open")),
                        request)
                }
                return Response(
                    status: .ok, headers: headers,
                    body: self.body(of: stream, place, answer.streamCookie ?? ""))
            }
            headers[.contentLength] = "\(answer.body.count)"
            let body =
                request.method == .head
                ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
            return Response(status: .init(code: answer.status), headers: headers, body: body)
        }

        /// Goes on as long as the session of `cookie`.
        private func body(of stream: EventStream, _ place: StreamPlace, _ cookie: String) -> ResponseBody {
            let (http, clock) = (self.http, self.now)
            return ResponseBody { writer in
                defer { place.keep() }
                var stream = stream
                var seen: (UInt64, UInt64)?
                var lastBeat = ContinuousClock.now
                while http.isOpen(cookie, at: clock()), !Task.isCancelled {
                    let versions = await (http.desk.currentVersion, http.actions?.version ?? 0)
                    // Something is written at least once a second: only a failed write shows that the browser has gone.
                    if seen.map({ $0 != versions }) ?? true || ContinuousClock.now - lastBeat >= .seconds(1) {
                        seen = versions
                        lastBeat = .now
                        var actions: [String: Data] = [:]
                        let now = clock()
                        for vehicle in stream.actionVehicles {
                            actions[vehicle] = await http.actionData(vehicle, now)
                        }
                        let (events, next) = await http.desk.events(of: stream, actions: actions, now: now)
                        stream = next
                        let text = events.isEmpty ? ":\n\n" : events.map(\.text).joined()
                        try await writer.write(ByteBuffer(string: text))
                    }
                    try await Task.sleep(for: Self.interval)
                }
                try await writer.finish(nil)
            }
        }
    }

    /// Counts event streams.
    private final class StreamCount: Sendable {
        let count = Atomic<Int>(0)
    }

    /// One of the streams that may be open. It is given back when its response is gone, also if it was never written.
    private final class StreamPlace: Sendable {
        private let streams: StreamCount

        init?(_ streams: StreamCount) {
            self.streams = streams
            guard streams.count.add(1, ordering: .relaxed).newValue <= InspectorResponder.streamsMax else {
                return nil
            }
        }

        deinit { self.streams.count.subtract(1, ordering: .relaxed) }

        /// Keeps the place until here, where the stream ends.
        func keep() {}
    }
#endif
