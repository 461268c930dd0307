import FakeGateway
import Logging
import Synchronization
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// Collects what is logged, as `level: message`.
final class LogRecorder: LogHandler, Sendable {
    private let lines = Mutex<[String]>([])
    private let values = Mutex<[Logger.Metadata]>([])
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        self.lines.withLock { $0.append("\(event.level): \(event.message)") }
        self.values.withLock { $0.append(event.metadata ?? [:]) }
    }

    var recorded: [String] { self.lines.withLock { $0 } }
    /// What each line has beside its text.
    var recordedValues: [Logger.Metadata] { self.values.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in self } }
}

/// What the library does by itself is in the log.
@Suite(.timeLimit(.minutes(10))) struct LogTests {
    @Test func `an endpoint logs connecting, losses, reconnecting, refusals and its end`() async throws {
        let log = LogRecorder()
        let gateway = try await FakeGateway.start()
        let (endpoint, peer) = try await gateway.endpoint { $0.logger = log.logger }
        #expect(log.recorded == ["debug: connecting", "notice: connected"])
        await endpoint.setCompass(.unrecognized(.max))
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome()
        try await back.send(.goodbye(Goodbye(.takenOver, reason: "elsewhere")))
        await back.close()
        for await _ in await endpoint.connectionStates {}
        #expect(
            log.recorded.dropFirst(2) == [
                "warning: the gateway refuses a message of this endpoint",
                "warning: connection lost, reconnecting", "debug: connecting", "notice: connected",
                "error: connection closed for good",
            ])
        await gateway.close()
    }

    @Test func `a client logs its sessions, refused publications and readers that are too slow`() async throws
    {
        let log = LogRecorder()
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client { $0.logger = log.logger }
        async let opening = client.openSession(vehicles: .vehicles(["car"]))
        try await peer.open(SessionID(7))
        let session = try await opening
        var events = await session.events.makeAsyncIterator()
        var refusal = Rejection(.wrongState, field: "state", reason: "goes backwards")
        refusal.session = SessionID(7)
        try await peer.send(.error(refusal))
        #expect(await events.next() == .rejected(field: "state", reason: "goes backwards"))
        let car = EndpointPath(vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "c"))
        for _ in 0...SessionEvent.queuedMax {
            var zoom = ZoomCluster(direction: .in)
            zoom.source = car
            try await peer.send(.zoomCluster(zoom), session: SessionID(7))
        }
        try await peer.send(.sessionEnded(SessionEnded(session: SessionID(7), reason: .finished)))
        // Not read before all events have come.
        while session.endReason == nil { await Task.yield() }
        #expect(await events.next() == .missed(2))
        while await events.next() != nil {}
        #expect(
            log.recorded.dropFirst(2) == [
                "info: session opened", "warning: the gateway refused a publication",
                "warning: a reader of session events is too slow and misses some", "info: session ended",
            ])
        #expect(log.recordedValues.dropFirst(2).map { $0["session"] } == Array(repeating: "7", count: 4))
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test func `an error of an accepted stop is logged`() async throws {
        struct NoRoute: Error {}
        let log = LogRecorder()
        let gateway = try await FakeGateway.start()
        let (client, peer) = try await gateway.client { $0.logger = log.logger }
        let (failed, fail) = AsyncStream.makeStream(of: Void.self)
        async let opening = client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in
                .estimates(TravelEstimates(distanceRemaining: .meters(1))) {
                    defer { fail.finish() }
                    throw NoRoute()
                }
            })
        try await peer.open(SessionID(7))
        _ = try await opening
        let car = VehicleID(unchecked: "car")
        try await peer.send(
            .waypointRequest(WaypointRequest(requestID: "r", waypoint: place, vehicle: car)),
            session: SessionID(7))
        _ = await peer.next { $0.message.type == .requestAnswer ? true : nil }
        try await peer.send(
            .requestOutcome(RequestOutcome(requestID: "r", vehicle: car, outcome: .accepted)),
            session: SessionID(7))
        for await _ in failed {}
        let line = "warning: the app could not carry out what it has offered to a vehicle"
        while !log.recorded.contains(line) { await Task.yield() }
        await peer.close()
        await client.close()
        await gateway.close()
    }
}
