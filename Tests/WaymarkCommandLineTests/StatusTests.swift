import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient
@testable import WaymarkCommandLine

@Suite struct StatusTests {
    private static let start = Date(timeIntervalSince1970: 1_000_000)

    private static func clock() -> GatewayClock {
        var clock = GatewayClock()
        clock.set(Instant(nanoseconds: 0), arrived: Self.start)
        return clock
    }

    private static func seconds(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    private static func snapshot(
        vehicle: String = "car", delays: EndpointDelays? = nil
    ) -> GatewaySnapshot {
        var hud = EndpointRecord(EndpointName(unchecked: "hud"))
        hud.instant = Self.seconds(112)
        hud.withheld = [
            FeatureGrant(.routeSegments, withheld: .noConsent),
            FeatureGrant(.charge, withheld: .notRequested),
        ]
        var cluster = EndpointRecord(EndpointName(unchecked: "cluster"))
        (cluster.connection, cluster.settings.isReadyToShow) = (ConnectionID(3), true)
        cluster.delays = delays
        var car = VehicleRecord(VehicleID(unchecked: vehicle))
        car.session = SessionID(7)
        car.endpoints = [cluster, hud]
        var app = ClientRecord(ClientID(unchecked: "app"))
        (app.connection, app.priority, app.displayName) = (ConnectionID(4), 5, "An app")
        var request = RequestRecord(
            RequestKey(vehicle: VehicleID(unchecked: vehicle), requestID: "stop-4"),
            to: ClientID(unchecked: "app"))
        (request.stage, request.deadline) = (.prompting, Self.seconds(141))
        var session = SessionRecord(SessionID(7), of: ClientID(unchecked: "app"))
        (session.phase, session.isSuspended) = (.active, true)
        var records = ObservedRecords()
        (records.vehicles, records.clients, records.isLast) = ([car], [app], true)
        (records.sessions, records.requests) = ([session], [request])
        var observed = ObservedGateway()
        observed.apply(.observedRecords(records)) { _ in nil }
        let gateway = GatewaySnapshot.Gateway(
            instance: "depot", start: Self.start, software: "waymark 0.1.0", showsContent: false)
        return GatewaySnapshot(gateway, observed, Self.clock())
    }

    private static func counters(at second: Int64, publications: UInt64) -> GatewayCounters {
        var peers = ObservedPeers()
        var hello = VehicleHello(
            vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "cluster"), features: [])
        hello.guidanceWanted = true
        peers.apply(Hello(role: .vehicle(hello)), on: ConnectionID(3))
        var report = CounterReport()
        report.instant = Self.seconds(second)
        report.counters = [
            .init(.publications, label: 0x0101, publications),
            .init(.deliveries, label: 0x0101, publications * 2),
            .init(.retainedBytes, 1_258_291), .init(.waitingBytes, 3_000), .init(.observersConnected, 1),
        ]
        var measure = ConnectionMeasure(ConnectionID(3))
        measure.waitingBytes = 3_000
        report.connections = [measure]
        var session = SessionMeasure(SessionID(7))
        (session.sequence, session.ageMilliseconds, session.retainedBytes) = (publications, 100, 77)
        report.sessions = [session]
        return GatewayCounters([report], Self.clock(), peers)
    }

    private static func report(_ snapshot: GatewaySnapshot, publications: UInt64 = 82) -> StatusReport {
        StatusReport(
            address: .unix(path: "/run/waymark/observe.sock"), snapshot: snapshot,
            counters: Self.counters(at: 100, publications: publications),
            before: Self.counters(at: 98, publications: 41))
    }

    @Test func `status shows who is there, what waits, and how much crosses`() {
        #expect(
            StatusTable.lines(Self.report(Self.snapshot()), columns: 80) == [
                "waymark 0.1.0 at unix:/run/waymark/observe.sock",
                "instance depot, up 100 s",
                "1 vehicle (2 endpoints), 1 client, 1 session, 1 request, 1 observer",
                "20.5 frames/s published, 41.0 frames/s delivered",
                "retained 1.2 MiB, kept for resumption 0 B, waiting 3 KiB",
                "",
                "VEHICLE  ENDPOINT  SINCE            SESSION  WAITING  NOTES",
                "car      cluster   100 s            7        3 KiB    ready",
                "         hud       away, 12 s left           -        not ready, no routeSegmen…",
                "",
                "CLIENT  SINCE  PRIORITY  SESSIONS  NAME",
                "app     100 s  5         7         An app",
                "",
                "SESSION  CLIENT  PHASE         VEHICLES  FRAMES/S  PUBLISHED  RETAINED",
                "7        app     active, away  car       20.5      0.1 s ago  77 B",
                "",
                "REQUEST  VEHICLE  KIND  CLIENT  STAGE                        LEFT",
                "stop-4   car      stop  app     the vehicle's user is asked  41 s",
            ])
    }

    @Test(arguments: [40, 80, 200])
    func `no line is wider than the terminal`(_ columns: Int) {
        let long = Self.snapshot(vehicle: String(repeating: "v", count: 64))
        for line in StatusTable.lines(Self.report(long), columns: columns).dropFirst() {
            // What does not fit into forty columns is at least cut.
            #expect(line.count <= max(columns, 60), "\(line)")
        }
    }

    @Test func `a counter that went back has no rate`() {
        let report = Self.report(Self.snapshot(), publications: 3)
        #expect(report.framesPerSecond == nil)
        #expect(report.framesPerSecond(of: 7) == nil)
    }

    @Test func `numbers are written for people`() {
        let seconds = [0.46, 9.99, 10, 119, 120, 7_199, 7_200, 172_800, 280_000].map(StatusTable.seconds)
        #expect(
            seconds == [
                "0.4 s", "9.9 s", "10 s", "119 s", "2 min", "119 min", "2 h 0 min", "2 d 0 h", "3 d 5 h",
            ])
        #expect(
            [0, 1_023, 1_024, 1_025, 1_572_864].map(StatusTable.bytes) == [
                "0 B", "1023 B", "1 KiB", "2 KiB", "1.5 MiB",
            ])
    }

    @Test func `status says how long publications take to a display`() throws {
        var delays = EndpointDelays()
        for milliseconds in [10, 20] { delays.shown.add(.milliseconds(milliseconds)) }
        delays.received.add(.microseconds(400))
        delays.roundTripMicroseconds = 700
        let report = Self.report(Self.snapshot(delays: delays))
        let notes =
            "ready, shown in 15.0 ms (95 % within 25 ms), received in 0.4 ms (95 % within 1 ms)"
        #expect(StatusTable.lines(report, columns: 200).contains { $0.hasSuffix(notes) })
        let line = StatusJSON.line(report)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let vehicle = try #require((object["vehicles"] as? [[String: Any]])?.first)
        let endpoints = try #require(vehicle["endpoints"] as? [[String: Any]])
        let shown = try #require(endpoints[0]["shownDelays"] as? [String: Any])
        #expect(shown["count"] as? Int == 2)
        #expect(shown["lastMicroseconds"] as? Int == 20_000)
        #expect(shown["meanMicroseconds"] as? Int == 15_000)
        #expect(shown["counts"] as? [String: Int] == ["10": 1, "25": 1])
        #expect(endpoints[0]["roundTripMicroseconds"] as? Int == 700)
        #expect(endpoints[1]["shownDelays"] == nil)
    }

    @Test func `the object has everything`() throws {
        let line = StatusJSON.line(Self.report(Self.snapshot()))
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["framesPerSecond"] as? Double == 20.5)
        let counters = try #require(object["counters"] as? [String: Any])
        #expect(counters["publications"] as? [String: Int] == ["startGuidance": 82])
        #expect(counters["waitingBytes"] as? Int == 3_000)
        let vehicle = try #require((object["vehicles"] as? [[String: Any]])?.first)
        #expect(vehicle["vehicle"] as? String == "car")
        let endpoints = try #require(vehicle["endpoints"] as? [[String: Any]])
        #expect(endpoints.map { $0["waitingBytes"] as? Int } == [3_000, nil])
        #expect(endpoints[1]["until"] as? String == "1970-01-12T13:48:32.000Z")
        #expect(
            endpoints[1]["withheld"] as? [String: String] == [
                "routeSegments": "noConsent", "charge": "notRequested",
            ])
        let session = try #require((object["sessions"] as? [[String: Any]])?.first)
        #expect(session["ageMilliseconds"] as? Int == 100)
        let request = try #require((object["requests"] as? [[String: Any]])?.first)
        #expect(request["stage"] as? String == "prompting")
    }
}
