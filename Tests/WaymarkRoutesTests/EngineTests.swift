import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing
import WaymarkModel
import WaymarkRoutes

@Suite struct EngineTests {
    private static let vaduz = Coordinate(latitude: 47.141, longitude: 9.5215)
    private static let triesen = Coordinate(latitude: 47.107, longitude: 9.527)
    private static let balzers = Coordinate(latitude: 47.068, longitude: 9.501)

    /// Why: on a busy machine even an immediate answer takes time.
    private static let patient: RoutingLimits = {
        var limits = RoutingLimits()
        limits.deadline = .seconds(300)
        return limits
    }()

    private func answer(_ name: String) throws -> RecordedServer.Answer {
        let file = try #require(RouteFile.shipped.first { $0.name == name })
        return RecordedServer.Answer(body: try file.bytes())
    }

    @Test func `a request to OSRM has OSRM's form`() async throws {
        try await RecordedServer.serve(try self.answer("vaduz-balzers.json")) { server in
            let engine = try OSRMEngine("\(server.address)/", limits: Self.patient)
            let answer = try await engine.route(through: [Self.vaduz, Self.balzers])
            #expect(answer.routes[0].information.maneuvers.count == 14)
            let asked = try #require(server.asked.first)
            #expect(asked.hasPrefix("/route/v1/driving/9.521500,47.141000;9.501000,47.068000?steps=true"))
            #expect(asked.contains("geometries=polyline6"))
        }
    }

    @Test(arguments: [(choices: 1, asked: "false"), (choices: 3, asked: "2")])
    func `OSRM is asked for as many alternatives as there can be choices`(
        _ choices: Int, _ asked: String
    ) async throws {
        try await RecordedServer.serve(try self.answer("vaduz-balzers.json")) { server in
            let engine = try OSRMEngine(server.address, limits: Self.patient)
            _ = try await engine.routes(through: [Self.vaduz, Self.balzers], choices: choices)
            #expect(try #require(server.asked.first).hasSuffix("&alternatives=\(asked)"))
        }
    }

    @Test func `Valhalla is asked for alternates between two points only`() async throws {
        try await RecordedServer.serve(try self.answer("heidelberg-lanes.json")) { server in
            let engine = try ValhallaEngine(server.address, limits: Self.patient)
            _ = try await engine.routes(through: [Self.vaduz, Self.balzers], choices: 3)
            _ = try await engine.routes(through: [Self.vaduz, Self.triesen, Self.balzers], choices: 3)
            _ = try await engine.route(through: [Self.vaduz, Self.balzers])
            let asked = server.asked.map { $0.removingPercentEncoding ?? "" }
            #expect(asked.map { $0.contains("\"alternates\":2") } == [true, false, false])
            #expect(asked.dropFirst().allSatisfy { !$0.contains("alternates") })
        }
    }

    @Test func `numbers in an address have no exponent`() async throws {
        try await RecordedServer.serve(try self.answer("vaduz-balzers.json")) { server in
            let points = [
                Coordinate(latitude: -0.0000004, longitude: 0.00002),
                Coordinate(latitude: -89.5, longitude: -179.9999999),
            ]
            _ = try await OSRMEngine(server.address, limits: Self.patient).route(through: points)
            #expect(try #require(server.asked.first).contains("/0.000020,0.000000;-180.000000,-89.500000?"))
        }
    }

    @Test func `a request to Valhalla has Valhalla's form and asks for lanes and stops`() async throws {
        try await RecordedServer.serve(try self.answer("heidelberg-lanes.json")) { server in
            let engine = try ValhallaEngine(server.address, limits: Self.patient)
            _ = try await engine.route(through: [Self.vaduz, Self.triesen, Self.balzers])
            let asked = try #require(server.asked.first)
            let query = try #require(URLComponents(string: asked)?.queryItems?.first)
            let json = try #require(
                try JSONSerialization.jsonObject(with: Data((query.value ?? "").utf8)) as? [String: Any])
            #expect(query.name == "json" && asked.hasPrefix("/route?"))
            #expect(json["turn_lanes"] as? Bool == true && json["costing"] as? String == "auto")
            let locations = try #require(json["locations"] as? [[String: Any]])
            #expect(locations.map { $0["lat"] as? Double } == [47.141, 47.107, 47.068])
            #expect(locations.allSatisfy { $0["type"] as? String == "break" })
        }
    }

    @Test func `points that the engine moved far are reported`() async throws {
        try await RecordedServer.serve(try self.answer("vaduz-balzers.json")) { server in
            let far = Coordinate(latitude: 47.2, longitude: 9.52)
            let answer = try await OSRMEngine(server.address, limits: Self.patient).route(through: [
                far, Self.balzers,
            ])
            let notice = try #require(answer.routes[0].notices.first { $0.path == "point 1" })
            #expect(notice.reason.contains("moved this point by 65"))
            #expect(!answer.routes[0].notices.contains { $0.path == "point 2" })
            #expect(answer.routes[0].information.maneuvers.last?.type != .arriveEndOfDirections)
            let missed = try #require(answer.routes[0].metersMissed([far, Self.balzers]))
            #expect(missed[0] > 6_500 && missed[1] < 250)
        }
    }

    @Test func `a moved point is reported once even if the engine reports it too`() async throws {
        let file = try self.answer("vaduz-balzers.json")
        let text = String(decoding: file.body, as: UTF8.self)
        let moved = text.replacing(/"distance":[0-9.]+,"name"/, with: #""distance":6500,"name""#)
        for text in [text, moved] {
            try await RecordedServer.serve(.init(body: Array(text.utf8))) { server in
                let far = Coordinate(latitude: 47.2, longitude: 9.52)
                let answer = try await OSRMEngine(server.address, limits: Self.patient).route(through: [
                    far, Self.balzers,
                ])
                let notices = answer.routes[0].notices.filter { $0.reason.contains("moved this point") }
                #expect(notices.map(\.path) == ["point 1"])
            }
        }
    }

    @Test func `a route that does not lead to its destination ends with the end of the directions`()
        async throws
    {
        try await RecordedServer.serve(try self.answer("vaduz-balzers.json")) { server in
            let far = Coordinate(latitude: 46.9, longitude: 9.5)
            let answer = try await OSRMEngine(server.address, limits: Self.patient).route(through: [
                Self.vaduz, far,
            ])
            #expect(answer.routes[0].information.maneuvers.last?.type == .arriveEndOfDirections)
            #expect(answer.routes[0].notices.contains { $0.path == "point 2" })
        }
    }

    @Test func `the engine's error message is passed on`() async throws {
        let body = #"{"error_code":171,"error":"No suitable edges near location","status_code":400}"#
        try await RecordedServer.serve(.init(status: 400, body: Array(body.utf8))) { server in
            let engine = try ValhallaEngine(server.address, limits: Self.patient)
            await #expect(
                throws: RoutingError.refused(code: "171", message: "No suitable edges near location")
            ) { try await engine.route(through: [Self.vaduz, Self.balzers]) }
        }
    }

    @Test func `a web page is rejected and the HTTP status is reported`() async throws {
        try await RecordedServer.serve(.init(status: 404, body: Array("<html>".utf8))) { server in
            let engine = try OSRMEngine(server.address, limits: Self.patient)
            let error = await #expect(throws: RoutingError.self) {
                try await engine.route(through: [Self.vaduz, Self.balzers])
            }
            #expect(error.map { "\($0)".contains("404") } ?? false)
            guard case .unreadable(_, _, .notJSON(line: 1, column: 1, reason: _)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `an answer that is too large is not read to its end`() async throws {
        var limits = Self.patient
        limits.bytesMax = 1_000
        try await RecordedServer.serve(.init(body: Array(repeating: 0x20, count: 100_000))) { server in
            let engine = try OSRMEngine(server.address, limits: limits)
            await #expect(throws: RoutingError.tooLarge(address: server.address, bytesMax: 1_000)) {
                try await engine.route(through: [Self.vaduz, Self.balzers])
            }
        }
    }

    @Test(arguments: [RecordedServer.Stall.beforeHead, .withinBody])
    func `a request to an engine that stops answering times out`(_ stall: RecordedServer.Stall) async throws {
        var limits = RoutingLimits()
        limits.deadline = .milliseconds(150)
        try await RecordedServer.serve(.init(body: Array("{}".utf8), stall: stall)) { server in
            let engine = try OSRMEngine(server.address, limits: limits)
            await #expect(
                throws: RoutingError.timedOut(address: server.address, after: .milliseconds(150))
            ) { try await engine.route(through: [Self.vaduz, Self.balzers]) }
        }
    }

    @Test func `a refused connection is reported with the address`() async throws {
        // Why: a port that was just bound and closed has no listener.
        let address = try await RecordedServer.serve(.init(body: [])) { $0.address }
        let engine = try ValhallaEngine(address, limits: Self.patient)
        let error = await #expect(throws: RoutingError.self) {
            try await engine.route(through: [Self.vaduz, Self.balzers])
        }
        guard case .unreachable(address, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason == "nothing accepts the connection")
    }

    @Test func `an engine without TLS is reported in plain words`() async throws {
        let reason = try await Self.reason(of: .init(body: [])) {
            $0.replacing("http://", with: "https://")
        }
        #expect(reason == "it does not speak TLS")
    }

    @Test func `what is not HTTP, and what ends too early, is reported in plain words`() async throws {
        let garbage = RecordedServer.Answer(body: Array("SSH-2.0-x\r\n".utf8), stall: .withoutHead)
        #expect(try await Self.reason(of: garbage) == "what answers there is not HTTP")
        let cut = RecordedServer.Answer(body: Array("{}".utf8), stall: .closesWithinBody)
        #expect(try await Self.reason(of: cut) == "the connection was closed")
    }

    /// Why an engine that answers so is not reached.
    private static func reason(
        of answer: RecordedServer.Answer, address: @Sendable (String) -> String = { $0 }
    ) async throws -> String {
        try await RecordedServer.serve(answer) { server in
            let engine = try ValhallaEngine(address(server.address), limits: Self.patient)
            let error = await #expect(throws: RoutingError.self) {
                try await engine.route(through: [Self.vaduz, Self.balzers])
            }
            return if case .unreachable(_, let reason) = error { reason } else { "" }
        }
    }

    @Test func `a cancelled caller gets the error cancelled`() async throws {
        try await RecordedServer.serve(.init(body: [], stall: .beforeHead)) { server in
            let engine = try OSRMEngine(server.address, limits: Self.patient)
            let task = Task { try await engine.route(through: [Self.vaduz, Self.balzers]) }
            task.cancel()
            await #expect(throws: RoutingError.cancelled) { try await task.value }
        }
    }

    @Test(arguments: ["", "localhost:8002", "ftp://127.0.0.1", "http://", "unix:/run/x"])
    func `an invalid address is rejected`(_ address: String) {
        #expect(throws: RoutingError.badAddress(address)) { try OSRMEngine(address) }
        #expect(throws: RoutingError.badAddress(address)) { try ValhallaEngine(address) }
    }

    @Test func `invalid points are rejected before an engine is asked`() async throws {
        let engine = try OSRMEngine("http://127.0.0.1:1")
        for points in [
            [], [Self.vaduz], [Self.vaduz, Coordinate(latitude: .nan, longitude: 0)],
            Array(repeating: Self.vaduz, count: 67),
        ] {
            let error = await #expect(throws: RoutingError.self) { try await engine.route(through: points) }
            guard case .badPoints = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    private static let liveAddress = ProcessInfo.processInfo.environment["WAYMARK_VALHALLA"]

    @Test(.enabled(if: liveAddress != nil, "WAYMARK_VALHALLA is not set: no live engine over Liechtenstein"))
    func `a real engine computes a route through a new stop`() async throws {
        let engine = try ValhallaEngine(try #require(Self.liveAddress), limits: Self.patient)
        let direct = try await engine.route(through: [Self.vaduz, Self.balzers]).routes[0]
        Promises.check(direct)
        let stopping = try await engine.route(through: [Self.vaduz, Self.triesen, Self.balzers]).routes[0]
        Promises.check(stopping)
        #expect(stopping.information.segments.count == 2)
        #expect(stopping.line.contains { $0.meters(to: Self.triesen) < 250 })
        #expect(stopping.information.maneuvers.contains { $0.isIntermediateWaypoint })
        let sea = Coordinate(latitude: 0, longitude: 0)
        let error = await #expect(throws: RoutingError.self) {
            try await engine.route(through: [Self.vaduz, sea])
        }
        guard case .refused = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}

/// A server on a free port of this machine that gives every client the same answer.
final class RecordedServer: Sendable {
    /// Where an answer stops.
    enum Stall: Sendable { case beforeHead, withinBody, closesWithinBody, withoutHead }

    struct Answer: Sendable {
        var status = 200
        var body: [UInt8]
        var stall: Stall?
        /// The answers to what is posted, of which the request contains the key; nil: a post is closed, as TLS is.
        var posted: [(key: String, body: [UInt8])]?
    }

    let address: String
    private let requests: RequestLog

    /// The requested paths with their queries.
    var asked: [String] { self.requests.paths.withLock(\.self) }

    private init(address: String, requests: RequestLog) {
        self.address = address
        self.requests = requests
    }

    static func serve<Result: Sendable>(
        _ answer: Answer, _ body: (RecordedServer) async throws -> Result
    ) async throws -> Result {
        let requests = RequestLog()
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler(answer: answer, requests: requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        let server = RecordedServer(address: "http://127.0.0.1:\(port)", requests: requests)
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }

    private final class RequestLog: Sendable {
        let paths = Mutex<[String]>([])
    }

    /// One request of a connection, and its answer.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: Answer
        private let requests: RequestLog
        private var request = ""

        init(answer: Answer, requests: RequestLog) {
            self.answer = answer
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            self.request += String(buffer: self.unwrapInboundIn(data))
            // TLS has no such end, and is closed.
            var answer = self.answer
            if let posted = answer.posted, self.request.hasPrefix("POST ") {
                guard self.isPostWhole else { return }
                answer.body = posted.first { self.request.contains($0.key) }?.body ?? []
            } else {
                guard self.request.hasPrefix("GET ") else { return context.close(promise: nil) }
                guard self.request.hasSuffix("\r\n\r\n") else { return }
            }
            let path = self.request.split(separator: " ")[1]
            self.requests.paths.withLock { $0.append(String(path)) }
            guard answer.stall != .beforeHead else { return }
            let head = """
                HTTP/1.1 \(answer.status) Some Words\r
                content-length: \(answer.body.count)\r
                connection: close\r
                \r\n
                """
            let hasHead = answer.stall != .withoutHead
            let isWhole = answer.stall == nil || !hasHead
            var bytes = ByteBuffer(string: hasHead ? head : "")
            bytes.writeBytes(isWhole ? answer.body[...] : answer.body.dropLast())
            context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
            if isWhole || answer.stall == .closesWithinBody { context.close(promise: nil) }
        }

        /// Whether all of the request's body has come.
        private var isPostWhole: Bool {
            guard let head = self.request.range(of: "\r\n\r\n"),
                let length = self.request[..<head.lowerBound].lowercased().split(separator: "\r\n").lazy
                    .compactMap({ $0.hasPrefix("content-length: ") ? Int($0.dropFirst(16)) : nil }).first
            else { return false }
            return self.request[head.upperBound...].utf8.count >= length
        }
    }
}
