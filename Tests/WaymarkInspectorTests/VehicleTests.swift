import Foundation
import Testing
import WaymarkClient
import WaymarkModel
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkHistory
@testable import WaymarkInspector
@testable import WaymarkRig
@testable import WaymarkTexts

@Suite(.timeLimit(.minutes(10))) struct VehicleTests {
    private static func drive(_ profile: String) throws -> InspectedDrive {
        try InspectedDrive(
            """
            about: A drive.
            route: heidelberg-lanes
            speed: 10
            vehicle: { profile: \(profile) }
            ended: finished
            """)
    }

    /// Values in which an endpoint need not hold what it would be sent if it joined now.
    private static func compared(_ state: VehicleState) -> [String: Any] {
        var object = ClusterJSON.object(state)
        object["withheld"] = nil
        // Estimates of maneuvers that are over may be left from before.
        object["maneuverEstimates"] = nil
        return object
    }

    private static let profiles = [
        "full", "no-lanes", "short-text", "two-maneuvers", "left-hand-traffic", "small-frames",
        "small-everything",
    ]

    @Test(arguments: Self.profiles)
    func `what an endpoint holds is computed as it received it`(_ profile: String) throws {
        var drive = try Self.drive(profile)
        let record = try #require(drive.history.endpoint(PeerID(observed: "dut/cluster")!))
        let source = try #require(drive.inspection.sources.first)
        var cache = ContentCache()
        var compared = 0
        for moment in record.moments where moment.isComplete && moment.index % 5 == 0 {
            let index = moment.index
            // All that was published before has arrived, and nothing is under way.
            guard drive.history.entries.indices.contains(index + 1),
                drive.history.entries[index + 1].instant > drive.history.entries[index].instant,
                moment.state.session != 0, record.moment(at: index + 1)?.index == index
            else { continue }
            let time =
                RunRecording.virtualBegin + (drive.history.entries[index].instant - Instant(nanoseconds: 0))
            let state = try source.state(at: time)
            let picture = VehiclePicture(
                VehicleID(unchecked: "dut"), endpoint: "cluster", state, source, &cache)
            guard let held = picture.held, held.sequence == moment.state.sequence else { continue }
            compared += 1
            let (mine, theirs) = (JSON.line(Self.compared(held)), JSON.line(Self.compared(moment.state)))
            #expect(mine == theirs, "at entry \(index)")
            if mine != theirs { return }
        }
        #expect(compared > 20)
        _ = try drive.ask("vehicle", ["id": "dut"])
    }

    @Test(arguments: Self.profiles)
    func `everything that an endpoint holds in another way has a reason`(_ profile: String) throws {
        var drive = try Self.drive(profile)
        for second in stride(from: 1, through: 60, by: 7) {
            let answer = try drive.ask("vehicle", ["id": "dut", "at": "\(second)"])
            let paths = answer.objects("why").filter { $0.text("side") == "held" }.map { $0.text("path") }
            var differences = JSONDifferences()
            differences.find(answer.object("published"), answer.object("held"))
            for path in differences.found.map(\.path) where !path.hasPrefix("withheld") {
                #expect(
                    paths.contains {
                        !$0.isEmpty && ("\(path)/".hasPrefix("\($0)/") || $0.hasPrefix("\(path)/"))
                    },
                    "\(path) after \(second) s")
            }
        }
    }

    @Test func `a line that is longer than a frame may be is held thinned, for that reason`()
        throws
    {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.change("car") { car in
            car.endpoints[0].features = FeatureSet([.routeSegments])
            car.endpoints[0].receiveFrameBytesMax = 4_096
        }
        let points = (0..<3_000).map {
            Coordinate(latitude: 47 + Double($0 * $0 % 997) / 1_000, longitude: 9 + Double($0) / 1_000)
        }
        let (begin, end) = (Waypoint(center: points[0]), Waypoint(center: points[2_999]))
        var trip = Trip(id: "t", origin: begin, destination: end)
        trip.routeSegmentsAvailable = true
        var route = RouteInformation()
        route.segments = [RouteSegment(id: "s", origin: begin, destination: end, coordinates: points)]
        gateway.publish(.startGuidance(trip, generation: 1, route), to: ["car/cluster"])
        let answer = try gateway.ask("vehicle", ["id": "car", "endpoint": "cluster"])
        let published = answer.object("published").objects("segments").map { $0["points"] as? Int }
        let held = answer.object("held").objects("segments").compactMap { $0["points"] as? Int }
        #expect(published == [3_000])
        #expect(held.count == 1 && held.allSatisfy { (100..<2_999).contains($0) })
        let cut = answer.objects("why").filter { $0.text("path") == "segments/s/coordinates" }
        #expect(cut.map { $0.text("limit") } == ["frameBytes"])
        #expect(cut.map { $0["value"] as? Int } == [4_096])
    }

    @Test func `a text that this observer is not told is hidden, not unpublished`() throws {
        var drive = try Self.drive("full")
        drive.inspection.sources = [
            InspectedSource("r1", name: "drive.mcap", .recorded(drive.recording), isRedacted: true)
        ]
        let why = try drive.ask("vehicle", ["id": "dut", "at": "20"]).objects("why")
        let road = why.filter { $0.text("path") == "currentRoadName" }
        #expect(road.map { $0.text("reason") } == ["hidden"])
    }

    @Test func `why there are no lanes: the feature, the reason, and what to do`() throws {
        var drive = try Self.drive("no-lanes")
        let vehicle = try drive.ask("vehicle", ["id": "dut", "at": "20"])
        #expect(!vehicle.object("published").objects("laneGuidances").isEmpty)
        #expect(vehicle.object("held").objects("laneGuidances").isEmpty)
        let why = vehicle.objects("why").filter { $0.text("path") == "laneGuidances" }
        #expect(why.map { $0.text("reason") } == ["withheld"])
        #expect(why.map { $0.text("code") } == ["notRequested"])
        #expect(why.first?.text("next").contains("laneGuidance") == true)
    }

    @Test func `why a text is cut, and why a maneuver is missing`() throws {
        var short = try Self.drive("short-text")
        let cut = try short.ask("vehicle", ["id": "dut", "at": "20"]).objects("why")
            .filter { $0.text("reason") == "fitted" }
        #expect(cut.contains { $0.text("limit") == "maneuverInstruction" && $0["value"] as? Int == 20 })
        var few = try Self.drive("two-maneuvers")
        let answer = try few.ask("vehicle", ["id": "dut", "at": "20"])
        let missing = answer.objects("why").filter { $0.text("reason") == "slots" }
        let published = answer.object("published").objects("maneuvers").count
        #expect(answer.object("held").objects("maneuvers").count == 2)
        #expect(missing.filter { $0.text("path").hasPrefix("maneuvers/") }.count == published - 2)
    }

    @Test func `another profile shows what an endpoint would hold that is not there`() throws {
        var drive = try Self.drive("full")
        let body = Data(
            #"{"vehicle": "dut", "at": 20, "profile": {"limits": {"maneuversStored": 1}, "without": ["laneGuidance"]}}"#
                .utf8)
        guard case .json(let data) = try drive.inspection.preview(body, now: Date(timeIntervalSince1970: 0))
        else {
            Issue.record("no object")
            return
        }
        let answer = try #require(RecordedJSON.object(String(decoding: data, as: UTF8.self)))
        #expect(answer.object("held").objects("maneuvers").count == 1)
        #expect(answer.object("held").objects("laneGuidances").isEmpty)
        #expect(answer.object("heldBy").text("endpoint") == "preview")
        let wrong = Data(#"{"vehicle": "dut", "profile": {"limits": {"lanes": 1}}}"#.utf8)
        #expect(throws: InspectorError.self) {
            try drive.inspection.preview(wrong, now: Date(timeIntervalSince1970: 0))
        }
    }

    @Test func `tables, route and exports say the same as the state`() throws {
        var drive = try Self.drive("full")
        let query = ["id": "dut", "at": "20"]
        let vehicle = try drive.ask("vehicle", query)
        let tables = try drive.ask("vehicle/tables", query)
        let route = try drive.ask("route", query)
        let ids = vehicle.object("published").objects("maneuvers").map { $0["id"] as? Int }
        #expect(tables.objects("maneuvers").map { $0["id"] as? Int } == ids)
        #expect(tables.objects("maneuvers").filter { $0.text("state") == "current" }.count == 1)
        #expect(vehicle.text("routeKey") == route.text("routeKey"))
        #expect(vehicle.text("routeKey") == tables.text("routeKey"))
        let lengths = tables.objects("segments").compactMap { $0["lengthMeters"] as? Int }
        #expect(lengths.allSatisfy { $0 > 100 } && !lengths.isEmpty)
        let position = try #require(vehicle["position"] as? [String: Any])
        #expect(position["derived"] as? Bool == true)
        for format in ["geojson", "gpx", "kml"] {
            let query = InspectorQuery(query.merging(["format": format]) { $1 })
            guard
                case .file(let name, _, let data) = try drive.inspection.answer("export", query, now: Date())
            else {
                Issue.record("no file")
                continue
            }
            #expect(name == "dut-1.\(format)")
            #expect(data.count > 1_000)
        }
    }
}
