import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRecording
import WaymarkTexts

@testable import WaymarkInspector

/// The view Receipts reads only what is new, and answers as if it read everything.
@Suite(.timeLimit(.minutes(10))) struct ReceiptBookTests {
    private static let all = ["car/cluster", "car/hud", "bus/cluster"]
    private static let otherSession = SessionID(8)

    /// An answer of an inspection that was asked nothing before.
    private static func wholeAnswer(
        _ inspection: Inspection, _ values: [String: String], _ now: Date
    ) throws -> String {
        var asked = Inspection(Inspection.Options())
        asked.sources = inspection.sources
        return JSON.line(
            JSON.members(of: try asked.object("receipts", InspectorQuery(values), now: now)))
    }

    /// Compares the answer of an inspection that was asked before.
    private static func compare(_ gateway: inout LiveGateway, _ values: [String: String]) throws {
        let whole = try Self.wholeAnswer(gateway.inspection, values, gateway.date)
        #expect(JSON.line(try gateway.ask("receipts", values)) == whole, "\(values)")
    }

    /// A gateway that keeps the last few hundred entries, and whose client has two sessions.
    private static func smallGateway() -> LiveGateway {
        var gateway = LiveGateway(bytesMax: 60_000, blockBytesMax: 4_000)
        gateway.records.sessions.append(
            SessionRecord(self.otherSession, of: gateway.records.clients[0].client))
        gateway.tellState()
        return gateway
    }

    /// The next thing that happens.
    private static func act(_ gateway: inout LiveGateway, _ step: Int, _ random: inout SeededNumbers) {
        let behind = UInt64.random(in: 0...3, using: &random)
        let confirmed = gateway.sequence - min(gateway.sequence, behind)
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<8:
            let endpoints = Self.all.filter { _ in Bool.random(using: &random) }
            gateway.publish(.currentRoadName(["road \(step)"]), to: endpoints)
        case 8..<10: gateway.confirm("car/cluster", upTo: confirmed)
        case 10: gateway.confirm("car/hud", upTo: confirmed)
        case 11: gateway.confirm("bus/cluster", upTo: confirmed)
        case 12: gateway.reject(.currentRoadName, "names")
        case 13: gateway.wait(.seconds(Int.random(in: 1...1_500, using: &random)))
        case 14:
            let session = Bool.random(using: &random) ? LiveGateway.session : Self.otherSession
            gateway.change("car") { vehicle in
                vehicle.session = session
                for index in vehicle.endpoints.indices { vehicle.endpoints[index].session = session }
            }
        default:
            // At the same time as what happened before.
            let publication = Envelope(
                .publication(.currentRoadName(["other"])), session: Self.otherSession,
                sequence: UInt64(step) + 1)
            gateway.frame(.in, LiveGateway.app, publication)
            gateway.frame(.out, LiveGateway.connections["car/cluster"] ?? LiveGateway.app, publication)
        }
    }

    @Test(arguments: UInt64(1)...8)
    func `answers are those of a book that reads everything, also when history is dropped`(
        _ seed: UInt64
    ) throws {
        var random = SeededNumbers(seed)
        var gateway = Self.smallGateway()
        for step in 0..<500 {
            Self.act(&gateway, step, &random)
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            try Self.compare(&gateway, ["id": "car"])
            try Self.compare(&gateway, ["id": "bus"])
            guard Int.random(in: 0..<20, using: &random) == 0, let source = gateway.inspection.sources.first
            else { continue }
            // A moment of the past, after which the present is asked for again.
            let (from, end) = (source.seconds(source.from), source.seconds(source.end))
            let moment = Double.random(in: from...end, using: &random)
            if moment > from + 1 { try Self.compare(&gateway, ["id": "car", "at": "\(Int(moment))"]) }
        }
        #expect(gateway.history.counts.dropped > 0)
    }

    @Test func `a second question goes over what is new alone`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        for number in 0..<500 { gateway.publish(.currentRoadName(["road \(number)"]), to: Self.all) }
        func read(_ vehicle: String) throws -> Int {
            let before = gateway.inspection.receiptBooks.entriesRead
            _ = try gateway.ask("receipts", ["id": vehicle])
            return gateway.inspection.receiptBooks.entriesRead - before
        }
        // Each publication comes once, and goes to three endpoints. One line says that the state was told.
        #expect(try read("car") == 2_001)
        #expect(try read("car") == 0)
        gateway.publish(.currentRoadName(["new"]), to: ["car/cluster"])
        gateway.confirm("car/cluster", upTo: gateway.sequence)
        #expect(try read("car") == 3)
        #expect(try read("bus") == 2_004)
        #expect(try read("car") == 0)
        // The books of sixteen vehicles are kept.
        for number in 0..<16 { #expect(try read("other-\(number)") == 2_004) }
        #expect(try read("other-0") == 0)
        #expect(try read("car") == 2_004)
    }

    @Test func `an entry of the same time as the last one that was read is new`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.wait(.milliseconds(10))
        let publication = Envelope(
            .publication(.currentRoadName(["1"])), session: LiveGateway.session, sequence: 1)
        gateway.frame(.in, LiveGateway.app, publication)
        try Self.compare(&gateway, ["id": "car"])
        gateway.frame(.out, LiveGateway.connections["car/cluster"] ?? LiveGateway.app, publication)
        gateway.confirm("car/cluster", upTo: 1)
        try Self.compare(&gateway, ["id": "car"])
        let rows = try gateway.ask("receipts", ["id": "car"]).objects("rows")
        #expect(rows.map { $0.object("endpoints").keys.sorted() } == [["cluster"]])
    }

    @Test func `what is older than an hour is left out, also if it was read when it was new`() throws {
        var gateway = LiveGateway()
        gateway.tellState()
        gateway.publish(.currentRoadName(["old"]), to: Self.all)
        gateway.confirm("car/cluster", upTo: 1)
        try Self.compare(&gateway, ["id": "car"])
        gateway.wait(.seconds(3_500))
        gateway.publish(.currentRoadName(["newer"]), to: Self.all)
        #expect(try gateway.ask("receipts", ["id": "car"]).objects("rows").count == 2)
        gateway.wait(.seconds(200))
        gateway.confirm("car/hud", upTo: 2)
        try Self.compare(&gateway, ["id": "car"])
        let receipts = try gateway.ask("receipts", ["id": "car"])
        #expect(receipts.objects("rows").map { $0["sequence"] as? Int } == [2])
        #expect(receipts.objects("endpoints").map { $0["receiptAt"] == nil } == [true, false])
    }

    @Test func `a recording is read on from the moment that was asked for before`() throws {
        var drive = try InspectedDrive(
            """
            route: vaduz-balzers
            speed: 10
            vehicle: { shows-after: 20ms }
            client: { receipts: 1s }
            ended: finished
            """)
        let begin = Date(timeIntervalSince1970: 0)
        var read: [Int] = []
        for at in ["4", "12", "12", "12.5", "30", "20.25", "21", "0", "600"] {
            let values = ["id": "dut", "at": at]
            let whole = try Self.wholeAnswer(drive.inspection, values, begin)
            let before = drive.inspection.receiptBooks.entriesRead
            #expect(JSON.line(try drive.ask("receipts", values)) == whole, "\(at)")
            read.append(drive.inspection.receiptBooks.entriesRead - before)
        }
        #expect(read[2] == 0)
        #expect(read[3] < read[1])
        // Before what was read, it begins anew.
        #expect(read[5] > read[3])
        #expect(read[6] < read[5])
    }
}
