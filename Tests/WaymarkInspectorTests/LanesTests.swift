import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkInspector
@testable import WaymarkTexts

@Suite(.timeLimit(.minutes(10))) struct LanesTests {
    private static let text = """
        route: vaduz-balzers
        speed: 10
        vehicle: { endpoints: { cluster: {}, hud: {} } }
        ended: finished
        """

    /// All parts of a question.
    private static func parts(
        _ source: InspectedSource, _ values: [String: String], _ bounds: Lanes.Bounds = Lanes.Bounds()
    ) throws -> [Answer.Lanes] {
        var (parts, values) = ([Answer.Lanes](), values)
        for _ in 0..<100_000 {
            let query = InspectorQuery(values)
            var lanes = try Lanes(query, source, bounds)
            let part = try lanes.answer(query)
            parts.append(part)
            guard part.truncated else { return parts }
            #expect(part.last != values["after"])
            values["after"] = part.last
        }
        Issue.record("there is no last part")
        return parts
    }

    private static func drive() throws -> InspectedSource {
        try #require(try InspectedDrive(Self.text).inspection.sources.first)
    }

    /// A gateway with a session that guides.
    private static func guided(_ gateway: LiveGateway = LiveGateway()) -> LiveGateway {
        var gateway = gateway
        gateway.tellState()
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let trip = Trip(id: "t", origin: place, destination: place)
        gateway.publish(.startGuidance(trip, generation: 1, RouteInformation()), to: [])
        return gateway
    }

    private static let limit = Publication.speedLimit(
        SpeedLimit(status: .limited, value: 50, unit: .kilometersPerHour), next: nil)

    /// The words of a lane with their times, of all parts, without repetitions.
    private static func words(
        _ parts: [Answer.Lanes], _ lane: String, of endpoint: String? = nil
    ) -> [String] {
        parts.flatMap(\.bands).filter { $0.lane == lane && $0.endpoint == endpoint }.reduce(into: []) {
            if $0.last != $1.text { $0.append($1.text) }
        }
    }

    private static func points(
        _ parts: [Answer.Lanes], _ name: String, of endpoint: String? = nil
    ) -> [[Double]] {
        parts.flatMap(\.curves).filter { $0.name == name && $0.endpoint == endpoint }.flatMap(\.points)
    }

    @Test(arguments: [1, 20, 400])
    func `an answer has a few points and bands in each column`(_ columns: Int) throws {
        for part in try Self.parts(Self.drive(), ["id": "dut", "columns": "\(columns)"]) {
            #expect(part.curves.contains { $0.name == "distanceLeft" })
            for curve in part.curves {
                #expect(!curve.points.isEmpty && curve.points.count <= 3 * columns, "\(curve.name)")
                #expect(curve.points.map { $0[0] } == curve.points.map { $0[0] }.sorted(), "\(curve.name)")
            }
            for lane in Dictionary(grouping: part.bands, by: { "\($0.lane) \($0.endpoint ?? "")" }) {
                #expect(lane.value.count <= columns, "\(lane.key)")
            }
        }
    }

    @Test func `the lanes of a drive are those of all its endpoints`() throws {
        let parts = try Self.parts(Self.drive(), ["id": "dut"])
        #expect(Self.words(parts, "maneuver").filter { !$0.isEmpty }.count > 3)
        #expect(!Self.words(parts, "state").filter { !$0.isEmpty }.isEmpty)
        for endpoint in ["cluster", "hud"] {
            #expect(Self.words(parts, "connection", of: endpoint).contains("connected"), "\(endpoint)")
        }
        let distances = Self.points(parts, "distanceLeft").map { $0[1] }
        #expect(try #require(distances.first) > (try #require(distances.last)))
        #expect(Self.points(parts, "rate").contains { $0[1] > 0 })
    }

    @Test func `the rate in all columns is that of all publications`() throws {
        var drive = try InspectedDrive(Self.text)
        let source = try #require(drive.inspection.sources.first)
        let newest = try drive.ask("updates", ["id": "dut", "limit": "1"]).objects("rows").first
        let parts = try Self.parts(source, ["id": "dut", "columns": "100"])
        let length = source.seconds(source.end) / 100
        let counted = Self.points(parts, "rate").map { $0[1] * length }.reduce(0, +)
        #expect(abs(counted - Double(try #require(newest?["sequence"] as? Int))) < 1)
    }

    @Test(arguments: [1, 7, 100])
    func `parts of any size say together what one says`(_ entries: Int) throws {
        let source = try Self.drive()
        let whole = try Self.parts(source, ["id": "dut", "columns": "1000"])
        var bounds = Lanes.Bounds()
        // A few entries: each part looks for the state anew.
        bounds.entries = entries
        let end = source.seconds(source.end) / (entries == 1 ? 50 : entries == 7 ? 10 : 1)
        let values = ["id": "dut", "columns": "1000", "to": String(format: "%.6f", end)]
        let parts = try Self.parts(source, values, bounds)
        #expect(parts.count > 1)
        let at = try Self.parts(source, values)
        #expect(at.count == 1 && whole.count == 1)
        for lane in ["maneuver", "state", "lanes", "client"] {
            // Of words that begin in one column, a part has the last one.
            #expect(Self.words(parts, lane).last == Self.words(at, lane).last, "\(lane)")
        }
        #expect(Self.points(parts, "distanceLeft").last?[1] == Self.points(at, "distanceLeft").last?[1])
        let sums = [parts, at].map { Self.points($0, "rate").map { $0[1] }.reduce(0, +) }
        #expect(abs(sums[0] - sums[1]) <= sums[1] / 100)
    }

    @Test func `what is new is asked for after the last place`() throws {
        var gateway = Self.guided()
        gateway.publish(.currentRoadName(["one"]), to: ["car/hud"])
        var source = try #require(gateway.inspection.sources.first)
        let first = try #require(try Self.parts(source, ["id": "car"]).last)
        #expect(first.to == source.seconds(source.end))
        gateway.publish(Self.limit, to: ["car/hud"])
        source = try #require(gateway.inspection.sources.first)
        let news = try Self.parts(source, ["id": "car", "after": first.last, "columns": "1"])
        #expect(Self.points(news, "speedLimit").map { $0[1] } == [50])
        let rate = Self.points(news, "rate").map { $0[1] * source.seconds(source.end) }
        #expect(rate.count == 1 && abs(rate[0] - 1) < 0.01)
        let end = try #require(news.last)
        let nothing = try Self.parts(source, ["id": "car", "after": end.last])
        #expect(nothing.count == 1 && nothing[0].last == end.last)
        #expect(Self.points(nothing, "rate").allSatisfy { $0[1] == 0 })
    }

    @Test func `times until something is shown are told of each endpoint, also across parts`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.publish(.currentRoadName(["one"]), to: ["car/hud", "car/cluster"])
        var source = try #require(gateway.inspection.sources.first)
        let first = try #require(try Self.parts(source, ["id": "car"]).last)
        gateway.wait(.milliseconds(19))
        gateway.confirm("car/hud", upTo: 1)
        gateway.wait(.milliseconds(29))
        gateway.confirm("car/cluster", upTo: 1)
        gateway.confirm("bus/cluster", upTo: 1)
        source = try #require(gateway.inspection.sources.first)
        for values in [["id": "car"], ["id": "car", "after": first.last]] {
            let parts = try Self.parts(source, values)
            #expect(Self.points(parts, "shown", of: "hud").map { $0[1] } == [20])
            #expect(Self.points(parts, "shown", of: "cluster").map { $0[1] } == [50])
        }
    }

    @Test func `an endpoint that is away has no connection, and one that left has no word`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.publish(.currentRoadName(["one"]), to: ["car/hud"])
        gateway.wait(.seconds(1))
        gateway.change("car") { vehicle in vehicle.endpoints[1].connection = nil }
        gateway.publish(.currentRoadName(["two"]), to: [])
        gateway.wait(.seconds(1))
        gateway.change("car") { vehicle in vehicle.endpoints.removeLast() }
        gateway.publish(.currentRoadName(["three"]), to: [])
        let source = try #require(gateway.inspection.sources.first)
        let parts = try Self.parts(source, ["id": "car", "columns": "1000"])
        #expect(Self.words(parts, "connection", of: "hud").suffix(3) == ["connected", "away", ""])
        #expect(Self.words(parts, "connection", of: "cluster").last == "connected")
        #expect(Self.words(parts, "client").last == "app")
    }

    @Test func `bytes that wait are a curve of each endpoint`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.publish(.currentRoadName(["one"]), to: ["car/hud"])
        func measure(_ bytes: UInt64) {
            gateway.wait(.seconds(1))
            var (report, measure) = (CounterReport(), ConnectionMeasure(ConnectionID(3)))
            measure.waitingBytes = bytes
            (report.instant, report.connections) = (gateway.instant, [measure])
            gateway.inspection.sources[0].measure([report])
        }
        for bytes: UInt64 in [0, 512, 512, 4_096, 0] { measure(bytes) }
        gateway.publish(.currentRoadName(["two"]), to: ["car/hud"])
        let source = try #require(gateway.inspection.sources.first)
        let parts = try Self.parts(source, ["id": "car", "columns": "1000"])
        #expect(Self.points(parts, "waiting", of: "hud").map { $0[1] } == [512, 4_096, 0])
        #expect(Self.points(parts, "waiting", of: "cluster").isEmpty)
        let other = try Self.parts(source, ["id": "bus", "columns": "1000"])
        #expect(Self.points(other, "waiting", of: "cluster").isEmpty)
    }

    @Test func `what waited is kept up to a number of changes`() {
        var history = WaitingHistory()
        let (id, begin) = (ConnectionID(3), LiveGateway.start)
        var measure = ConnectionMeasure(id)
        for number in 1...150_000 {
            measure.waitingBytes = UInt64(number)
            history.note([id: measure], at: begin + .milliseconds(number))
        }
        let kept = history.samples(after: nil, to: begin + .seconds(1_000))
        #expect((50_000...100_000).contains(kept.count))
        #expect(kept.last?.bytes == 150_000)
        #expect(
            history.samples(after: begin + .milliseconds(149_998), to: begin + .milliseconds(149_999)).count
                == 1)
    }

    @Test func `of a column with too many entries a part is left out where the history can be entered`()
        throws
    {
        var gateway = Self.guided(LiveGateway(blockBytesMax: 2_000))
        for number in 0..<500 { gateway.publish(.currentRoadName(["road \(number)"]), to: ["car/hud"]) }
        gateway.publish(Self.limit, to: ["car/hud"])
        let source = try #require(gateway.inspection.sources.first)
        var bounds = Lanes.Bounds()
        bounds.columnEntries = 50
        let parts = try Self.parts(source, ["id": "car", "columns": "2"], bounds)
        #expect(parts.contains { $0.sampled })
        // The state is that of everything, and the rate assumes as much as was read.
        #expect(Self.points(parts, "speedLimit").last?[1] == 50)
        let rates = Self.points(parts, "rate").map { $0[1] }
        #expect(rates.allSatisfy { (80...120).contains($0) }, "\(rates)")
        #expect(try Self.parts(source, ["id": "car", "columns": "2"]).allSatisfy { !$0.sampled })
    }

    @Test func `at most 32 endpoints have lanes`() throws {
        var gateway = LiveGateway()
        let index = try #require(gateway.records.vehicles.firstIndex { $0.vehicle.rawValue == "car" })
        for number in 0..<100 {
            gateway.records.vehicles[index].endpoints.append(
                EndpointRecord(EndpointName(unchecked: "e\(number)")))
        }
        gateway.tellState()
        gateway.publish(.currentRoadName(["one"]), to: [])
        let source = try #require(gateway.inspection.sources.first)
        let bands = try Self.parts(source, ["id": "car"]).flatMap(\.bands)
        #expect(Set(bands.compactMap(\.endpoint)).count == LaneDrawing.endpointsMax)
    }

    @Test(arguments: [
        (["columns": "10"], "id"), (["id": "no vehicle"], "id"), (["id": "dut", "columns": "0"], "columns"),
        (["id": "dut", "columns": "1001"], "columns"), (["id": "dut", "from": "9", "to": "1"], "to"),
        (["id": "dut", "after": "x"], "after"),
    ])
    func `what cannot be answered is refused with the field`(_ values: [String: String], _ field: String)
        throws
    {
        var drive = try InspectedDrive(Self.text)
        let error = #expect(throws: InspectorError.self) { try drive.ask("lanes", values) }
        #expect(error?.field == field)
    }
}
