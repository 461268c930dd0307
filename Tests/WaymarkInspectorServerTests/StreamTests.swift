#if Inspector
    import Foundation
    import HTTPTypes
    import Hummingbird
    import Logging
    import NIOEmbedded
    import Synchronization
    import Testing
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkModel
    import WaymarkProtocol

    /// A browser that reads as much as a test lets it.
    private final class Browser: Sendable {
        private struct State {
            var texts: [String] = []
            var isFinished = false
            var isReading = true
            var waiting: CheckedContinuation<Void, Never>?
        }

        private let state = Mutex(State())

        var texts: [String] { self.state.withLock { $0.texts } }
        var isFinished: Bool { self.state.withLock { $0.isFinished } }
        var isWrittenTo: Bool { self.state.withLock { $0.waiting != nil } }

        func stopReading() { self.state.withLock { $0.isReading = false } }

        /// Reads what waits, and no more.
        func readOnce() { self.state.withLock { $0.waiting.take() }?.resume() }

        func readOn() {
            self.state.withLock { $0.isReading = true }
            self.readOnce()
        }

        fileprivate func write(_ text: String) async {
            await withCheckedContinuation { continuation in
                let isReading = self.state.withLock { state in
                    state.texts.append(text)
                    if !state.isReading { state.waiting = continuation }
                    return state.isReading
                }
                if isReading { continuation.resume() }
            }
        }

        fileprivate func finish() { self.state.withLock { $0.isFinished = true } }

        struct Writer: ResponseBodyWriter {
            let browser: Browser
            mutating func write(_ buffer: ByteBuffer) async throws {
                await self.browser.write(String(buffer: buffer))
            }
            consuming func finish(_ trailingHeaders: HTTPFields?) async throws { self.browser.finish() }
        }
    }

    @Suite(.timeLimit(.minutes(2))) struct StreamTests {
        private final class Clock: Sendable {
            private let date = Mutex(Date())
            var now: Date { self.date.withLock { $0 } }
            func advance(_ seconds: Double) { self.date.withLock { $0 += seconds } }
        }

        private static let context = BasicRequestContext(
            source: ApplicationRequestContextSource(
                channel: EmbeddedChannel(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))

        private static func respond(
            _ responder: InspectorResponder, _ method: HTTPRequest.Method, _ path: String,
            cookie: String = "",
            body: String = ""
        ) async throws -> Response {
            var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
            head.headerFields[.cookie] = cookie
            head.headerFields[.contentType] = "application/json"
            return try await responder.respond(
                to: Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body))),
                context: Self.context)
        }

        /// The cookie of a new session.
        private static func open(_ responder: InspectorResponder) async throws -> String {
            let opened = try await Self.respond(
                responder, .post, "/session", body: #"{"token": "\#(Bench.token)"}"#)
            return String(try #require(opened.headers[.setCookie]).prefix { $0 != ";" })
        }

        private static func stream(_ responder: InspectorResponder, _ cookie: String) async throws -> Response
        {
            try await Self.respond(
                responder, .get, "/events?views=overview,vehicle:\(Bench.vehicle),entries", cookie: cookie)
        }

        private static func read(_ response: Response, _ browser: Browser) -> Task<Void, any Error> {
            Task { try await response.body.write(Browser.Writer(browser: browser)) }
        }

        @Test func `the ninth stream is refused, and a place that is given back is used again`() async throws
        {
            let responder = InspectorResponder(Bench().http)
            let cookie = try await Self.open(responder)
            var responses: [Response] = []
            for _ in 0..<8 { responses.append(try await Self.stream(responder, cookie)) }
            #expect(responses.allSatisfy { $0.status == .ok })
            // Refusals use no places.
            for _ in 0..<3 { #expect(try await Self.stream(responder, cookie).status == .tooManyRequests) }
            // One that was never read.
            responses.removeLast()
            responses.append(try await Self.stream(responder, cookie))
            #expect(responses.last?.status == .ok)
            #expect(try await Self.stream(responder, cookie).status == .tooManyRequests)
            // One whose browser has gone while it was read.
            let browser = Browser()
            var reading: Task<Void, any Error>? = Self.read(responses.removeLast(), browser)
            try await until { !browser.texts.isEmpty }
            #expect(try await Self.stream(responder, cookie).status == .tooManyRequests)
            reading?.cancel()
            _ = await reading?.result
            reading = nil
            try await until { try await Self.stream(responder, cookie).status == .ok }
        }

        @Test func `a stream ends with its session, and no other does`() async throws {
            let responder = InspectorResponder(Bench().http)
            let (mine, other) = (try await Self.open(responder), try await Self.open(responder))
            let (first, second) = (Browser(), Browser())
            let reading = Self.read(try await Self.stream(responder, mine), first)
            let otherReading = Self.read(try await Self.stream(responder, other), second)
            try await until { !first.texts.isEmpty && !second.texts.isEmpty }
            #expect(try await Self.respond(responder, .delete, "/session", cookie: mine).status == .noContent)
            try await reading.value
            #expect(first.isFinished && !second.isFinished)
            #expect(try await Self.stream(responder, mine).status == .unauthorized)
            otherReading.cancel()
            _ = await otherReading.result
        }

        @Test func `a stream ends when its cookie does`() async throws {
            let clock = Clock()
            let responder = InspectorResponder(Bench().http, now: { clock.now })
            let cookie = try await Self.open(responder)
            let browser = Browser()
            let reading = Self.read(try await Self.stream(responder, cookie), browser)
            try await until { !browser.texts.isEmpty }
            clock.advance(PageSessions.lifetime - 1)
            #expect(try await Self.stream(responder, cookie).status == .ok)
            #expect(!browser.isFinished)
            clock.advance(1)
            try await reading.value
            #expect(browser.isFinished)
            #expect(try await Self.stream(responder, cookie).status == .unauthorized)
        }

        @Test func `a browser that does not read misses states, and what waits for it is bounded`()
            async throws
        {
            var bench = Bench()
            let responder = InspectorResponder(bench.http)
            let cookie = try await Self.open(responder)
            let browser = Browser()
            let reading = Self.read(try await Self.stream(responder, cookie), browser)
            try await until { !browser.texts.isEmpty }
            browser.stopReading()
            for number in 1...3_000 { bench.publish(.currentRoadName(["Road \(number)"])) }
            try await until { browser.isWrittenTo }
            // Perhaps not the newest: what came meanwhile is in the next one.
            for number in 3_001...6_000 { bench.publish(.currentRoadName(["Road \(number)"])) }
            let count = browser.texts.count
            browser.readOnce()
            try await until { browser.isWrittenTo && browser.texts.count == count + 1 }
            let last = try #require(browser.texts.last)
            #expect(last.contains("Road 6000"))
            #expect(!last.contains("Road 4000"))
            #expect(last.utf8.count < 200_000)
            browser.readOn()
            reading.cancel()
            _ = await reading.result
        }
    }
#endif
