import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkTexts

@testable import WaymarkInspector

@Suite struct EventStreamTests {
    private static let all = ["car/cluster", "car/hud", "bus/cluster"]

    private static func road(_ name: String) -> Publication { .currentRoadName([name]) }

    /// What a stream says next, by the names of the events.
    private static func next(
        _ stream: inout EventStream, _ gateway: inout LiveGateway
    ) throws -> [String: [String: Any]] {
        var objects: [String: [String: Any]] = [:]
        for event in stream.next(&gateway.inspection, actions: [:], now: gateway.date) {
            objects[event.name] = RecordedJSON.object(String(decoding: event.data, as: UTF8.self)) ?? [:]
        }
        return objects
    }

    private static func stream(
        _ gateway: LiveGateway, _ views: String, _ more: [String: String] = [:], lastID: String? = nil
    ) throws -> EventStream {
        try EventStream(
            InspectorQuery(more.merging(["views": views]) { $1 }), lastID: lastID, gateway.inspection)
    }

    @Test func `an overview tells all rows, then those that changed, and their order`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        var stream = try Self.stream(gateway, "overview")
        let first = try #require(try Self.next(&stream, &gateway)["overview"])
        #expect(first["order"] as? [String] == ["bus", "car"])
        #expect(first.objects("changed").map { $0.text("vehicle") } == ["bus", "car"])
        #expect(first.objects("clients").map { $0.text("client") } == ["app"])
        #expect(try Self.next(&stream, &gateway)["overview"] == nil)
        gateway.change("car") { $0.navigatesItself = true }
        let second = try #require(try Self.next(&stream, &gateway)["overview"])
        #expect(second.objects("changed").map { $0.text("vehicle") } == ["car"])
        #expect(second["gone"] as? [String] == [])
        var records = ObservedRecords()
        records.vehiclesGone = [VehicleID(unchecked: "bus")]
        gateway.tell(.observedRecords(records))
        let third = try #require(try Self.next(&stream, &gateway)["overview"])
        #expect(third["gone"] as? [String] == ["bus"])
        #expect(third["order"] as? [String] == ["car"])
    }

    @Test func `entries are those since the stream began, or since the event that the page had last`() throws
    {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.publish(Self.road("before"), to: [])
        var stream = try Self.stream(gateway, "entries", ["vehicle": "car"])
        #expect(try Self.next(&stream, &gateway)["entries"] == nil)
        let id = gateway.number
        for number in 1...3 { gateway.publish(Self.road("road \(number)"), to: []) }
        let new = try #require(try Self.next(&stream, &gateway)["entries"])
        #expect(new.objects("entries").compactMap { $0["number"] as? Int } == [2, 3, 4])
        var resumed = try Self.stream(gateway, "entries", lastID: "\(id)")
        let missed = try #require(try Self.next(&resumed, &gateway)["entries"])
        #expect(missed.objects("entries").compactMap { $0["number"] as? Int } == [2, 3, 4])
        for number in 0..<150 { gateway.publish(Self.road("road \(number)"), to: []) }
        let many = try #require(try Self.next(&stream, &gateway)["entries"])
        #expect(many.objects("entries").count == 100)
        #expect(many["skipped"] as? Int == 50)
    }

    @Test func `findings of a vehicle are told to its view`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        var (own, other) = (
            try Self.stream(gateway, "findings:car"), try Self.stream(gateway, "findings:taxi")
        )
        #expect(try Self.next(&own, &gateway)["findings"]?.objects("findings").isEmpty == true)
        _ = try Self.next(&other, &gateway)
        gateway.reject(.currentRoadName, "name")
        let findings = try #require(try Self.next(&own, &gateway)["findings"]).objects("findings")
        #expect(findings.map { $0.text("rule") } == ["LINT-CLIENT-REJECTED"])
        #expect(try Self.next(&other, &gateway)["findings"] == nil)
    }

    @Test func `receipts count what was sent to the endpoint, at most once a second`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        // The second and third are withheld from the head-up display.
        gateway.publish(Self.road("1"), to: Self.all)
        gateway.publish(Self.road("2"), to: ["car/cluster", "bus/cluster"])
        gateway.publish(Self.road("3"), to: ["car/cluster", "bus/cluster"])
        gateway.confirm("car/hud", upTo: 1)
        gateway.confirm("car/cluster", upTo: 2)
        var stream = try Self.stream(gateway, "receipts:car")
        let first = try #require(try Self.next(&stream, &gateway)["receipts"])
        let behind = Dictionary(
            uniqueKeysWithValues: first.objects("endpoints").map {
                ($0.text("endpoint"), $0["behind"] as? Int)
            })
        #expect(behind == ["cluster": 1, "hud": 0])
        #expect(
            first.objects("rows").map { $0.object("endpoints").keys.sorted() } == [
                [], ["cluster"], ["cluster", "hud"],
            ])
        gateway.confirm("car/cluster", upTo: 3)
        #expect(try Self.next(&stream, &gateway)["receipts"] == nil)
        gateway.wait(.seconds(1))
        let second = try #require(try Self.next(&stream, &gateway)["receipts"])
        #expect(second.objects("endpoints").map { $0["behind"] as? Int } == [0, 0])
    }

    @Test func `two vehicles of one session have rows of their own`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.publish(Self.road("1"), to: Self.all)
        gateway.confirm("bus/cluster", upTo: 1)
        let receipts = try gateway.ask("receipts", ["id": "car"])
        #expect(receipts.objects("rows").map { $0.object("endpoints").count } == [0])
        #expect(receipts.objects("endpoints").map { $0.text("endpoint") } == ["cluster", "hud"])
        let bus = try gateway.ask("receipts", ["id": "bus"])
        #expect(bus.objects("rows").map { $0.object("endpoints").keys.sorted() } == [["cluster"]])
    }

    @Test func `a drive that one client declines and the next accepts is accepted`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        let (id, car) = (Identifier("d1"), VehicleID(unchecked: "car"))
        let (hud, place) = (
            LiveGateway.connections["car/hud"]!, Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        )
        gateway.frame(
            .in, hud, Envelope(.destinationRequest(DestinationRequest(requestID: id, destination: place))))
        let forwarded = DestinationRequest(requestID: id, destination: place, vehicle: car)
        for outcome in [Outcome.declinedByUser, .accepted] {
            gateway.wait(.milliseconds(10))
            gateway.frame(.out, LiveGateway.app, Envelope(.destinationRequest(forwarded)))
            let answer: RequestAnswer.Answer = outcome == .accepted ? .accept : .decline(outcome)
            gateway.frame(
                .in, LiveGateway.app,
                Envelope(.requestAnswer(RequestAnswer(requestID: id, vehicle: car, answer: answer))))
            gateway.frame(
                .out, LiveGateway.app,
                Envelope(.requestOutcome(RequestOutcome(requestID: id, vehicle: car, outcome: outcome))))
        }
        gateway.frame(
            .out, hud,
            Envelope(.requestOutcome(RequestOutcome(requestID: id, vehicle: car, outcome: .accepted))))
        let requests = try gateway.ask("requests", ["id": "car"]).objects("requests")
        #expect(requests.map { $0.text("outcome") } == ["accepted"])
        #expect(
            requests.first?.objects("steps").map { $0.text("what") } == [
                "asked", "forwarded", "decline", "forwarded", "accept", "ended",
            ])
        // Also those without a session are the vehicle's.
        let entries = try gateway.ask("entries", ["vehicle": "car", "kind": "frame"]).objects("entries")
        #expect(entries.count { $0.text("message") == "requestOutcome" } == 3)
        #expect(try gateway.ask("entries", ["vehicle": "bus", "kind": "frame"]).objects("entries").isEmpty)
    }

    @Test func `what this program missed is told once, and each beat says what is kept`() throws {
        var gateway = LiveGateway(bytesMax: 20_000, blockBytesMax: 2_000)
        gateway.tellState()
        var stream = try Self.stream(gateway, "overview")
        let first = try Self.next(&stream, &gateway)
        #expect(first["gap"] == nil)
        #expect(first["beat"]?["from"] as? Double == 0)
        gateway.tell(.observationGap(ObservationGap(dropped: 3, nextNumber: gateway.number + 4)))
        #expect(try Self.next(&stream, &gateway)["gap"]?["missed"] as? Int == 3)
        #expect(try Self.next(&stream, &gateway)["gap"] == nil)
        for number in 0..<500 { gateway.publish(Self.road("\(number)"), to: []) }
        gateway.wait(.seconds(6))
        let from = try #require(try Self.next(&stream, &gateway)["beat"]?["from"] as? Double)
        #expect(from > 0)
    }

    @Test(arguments: [
        "", "x", "vehicle", "findings:", String(repeating: "overview,", count: EventStream.viewsMax + 1),
    ])
    func `views that there are not are refused`(_ views: String) throws {
        #expect(throws: InspectorError.self) { try Self.stream(LiveGateway(), views) }
    }
}
