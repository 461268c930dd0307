import Foundation
import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkInspector
@testable import WaymarkTexts

@Suite(.timeLimit(.minutes(10))) struct HistoryTests {
    private static let text = """
        about: A stop that the user declines, and one that the client declines.
        route: vaduz-balzers
        speed: 10
        vehicle: { endpoints: { cluster: { profile: short-text }, hud: {} } }
        client: { on-waypoint: decline }
        steps:
          - { at: 1km, do: { as: dut/cluster, request: { waypoint: [47.0756, 9.5076], name: Charging } } }
        ended: finished
        """

    /// All pages of a question, from the newest to the oldest.
    private static func all(
        _ drive: inout InspectedDrive, _ path: String, _ key: String, _ values: [String: String]
    ) throws -> [[String: Any]] {
        var (all, values) = ([[String: Any]](), values)
        for _ in 0..<1_000 {
            let page = try drive.ask(path, values)
            all += page.objects(key)
            guard let next = page["next"] as? String else { return all }
            values["before"] = next
        }
        Issue.record("there is no last page")
        return all
    }

    @Test(arguments: ["1", "7", "500"])
    func `pages have every entry once, whatever their size`(_ limit: String) throws {
        var drive = try InspectedDrive(Self.text)
        let pages = try Self.all(&drive, "entries", "entries", ["limit": limit, "to": "12"])
        var walk = RecordingWalk(drive.recording, holdsContent: true)
        var expected: [String] = []
        let source = try #require(drive.inspection.sources.first)
        while let entry = try walk.next() {
            guard source.seconds(entry.time) <= 12 else { break }
            expected.append("\(entry.time.nanoseconds)-\(entry.number)")
        }
        let seen = pages.map { $0.text("entry").split(separator: "-").dropLast().joined(separator: "-") }
        #expect(Array(seen.reversed()) == expected)
        #expect(Set(pages.map { $0.text("entry") }).count == pages.count)
    }

    @Test func `newer entries follow a cursor, step by step`() throws {
        var drive = try InspectedDrive(Self.text)
        let newest = try drive.ask("entries", ["kind": "frame", "limit": "5", "to": "10"]).objects("entries")
        let oldest = try #require(newest.last?.text("entry"))
        let after = try drive.ask("entries", ["kind": "frame", "limit": "4", "after": oldest]).objects(
            "entries")
        #expect(after.map { $0.text("entry") } == newest.dropLast().reversed().map { $0.text("entry") })
    }

    @Test func `filters run at the server`() throws {
        var drive = try InspectedDrive(Self.text)
        let requests = try Self.all(
            &drive, "entries", "entries", ["message": "waypointRequest", "limit": "500"])
        #expect(requests.count == 2)
        #expect(requests.allSatisfy { $0.text("message") == "waypointRequest" })
        let search = try Self.all(&drive, "entries", "entries", ["search": "CHARGING", "limit": "500"])
        #expect(search.count >= 2)
        #expect(try Self.all(&drive, "entries", "entries", ["vehicle": "other", "kind": "frame"]).isEmpty)
        let events = try Self.all(
            &drive, "entries", "entries", ["kind": "event", "vehicle": "dut", "limit": "500"])
        #expect(events.contains { $0.text("event") == "joined" })
        #expect(events.allSatisfy { $0.text("kind") == "event" && !$0.text("text").isEmpty })
    }

    @Test func `a frame is a tree whose ranges are its bytes`() throws {
        var drive = try InspectedDrive(Self.text)
        let frames = try Self.all(
            &drive, "entries", "entries", ["kind": "frame", "limit": "500", "to": "15"])
        try #require(frames.count > 50)
        for entry in frames.enumerated().filter({ $0.offset % 5 == 0 }).map(\.element) {
            let frame = try drive.ask("frame", ["entry": entry.text("entry")])
            let bytes = frame.text("hex").utf8.count / 2
            #expect(bytes == entry["bytes"] as? Int)
            func check(_ nodes: [[String: Any]], in outer: Range<Int>) {
                for node in nodes {
                    let range = node["range"] as? [Int] ?? []
                    #expect(range.count == 2 && range[0] >= outer.lowerBound && range[1] <= outer.upperBound)
                    #expect(
                        node["problem"] == nil && node.text("name") != "malformed"
                            && node.text("name") != "unknown")
                    if range.count == 2 { check(node.objects("children"), in: range[0]..<range[1]) }
                }
            }
            let tree = frame.objects("tree")
            #expect(tree.map { $0.text("name") } == ["header", "body"])
            check(tree, in: 0..<bytes)
        }
    }

    @Test func `a request is a time line that says why it was declined`() throws {
        var drive = try InspectedDrive(Self.text)
        let requests = try drive.ask("requests", ["id": "dut"]).objects("requests")
        let request = try #require(requests.first)
        #expect(requests.count == 1)
        #expect(request.text("outcome") == "declinedByUser")
        #expect(request.text("request") == "stop")
        #expect(request.object("why").text("text").contains("declined"))
        #expect(
            request.objects("steps").map { $0.text("what") } == ["asked", "forwarded", "decline", "ended"])
        let times = request.objects("steps").compactMap { $0["at"] as? Double }
        #expect(times == times.sorted())
        for step in request.objects("steps") {
            let entry = try drive.ask("entries", ["after": step.text("entry"), "limit": "1"])
            #expect(!entry.objects("entries").isEmpty)
        }
    }

    @Test func `updates have a row for each publication, with the state after it`() throws {
        var drive = try InspectedDrive(Self.text)
        let rows = try Self.all(&drive, "updates", "rows", ["id": "dut", "limit": "50"])
        let sequences = rows.compactMap { $0["sequence"] as? Int }
        #expect(sequences == Array((1...sequences.count).reversed()))
        let roads = rows.filter { $0.text("message") == "currentRoadName" }
        #expect(rows.contains { ($0["fittedFor"] as? [String])?.contains("dut/cluster") == true })
        #expect(roads.contains { !$0.text("currentRoadName").isEmpty })
        // The session's record is gone before the frame that ends it.
        #expect(rows.first?.text("message") == "finishGuidance")
        #expect(rows.first?.text("endReason") == "finished")
        #expect(rows.allSatisfy { $0["changed"] != nil })
        #expect(rows.first { $0.text("message") == "startGuidance" }?["changed"] as? [String] ?? [] != [])
        var compared = 0
        let source = try #require(drive.inspection.sources.first)
        for row in rows.enumerated().filter({ $0.offset % 11 == 0 }).map(\.element) {
            let place = try EntryPlace(row.text("entry"), field: "")
            var cache = ContentCache()
            let state = try source.state(at: place.time)
            let picture = VehiclePicture(VehicleID(unchecked: "dut"), endpoint: nil, state, source, &cache)
            // Several publications of one time have one state.
            guard picture.content?.sequence == UInt64(row["sequence"] as? Int ?? 0),
                let published = picture.published
            else { continue }
            compared += 1
            let cells = JSON.members(of: UpdateRows.cells(published))
            for (key, value) in cells {
                var differences = JSONDifferences()
                differences.find(row[key], value)
                #expect(differences.found.isEmpty, "\(key)")
            }
        }
        #expect(compared > 10)
    }

    @Test func `the state at any time equals a full replay`() throws {
        var drive = try InspectedDrive(Self.text)
        let source = try #require(drive.inspection.sources.first)
        var walk = RecordingWalk(drive.recording, holdsContent: true)
        var random = SeededNumbers(7)
        var compared = 0
        var last: (time: RecordingTime, state: ObservedGateway)?
        while let entry = try walk.next() {
            // Of entries of one time, the state after the last.
            if let last, entry.time > last.time, Int.random(in: 0..<4, using: &random) == 0 {
                compared += 1
                #expect(try source.state(at: last.time).gateway == last.state, "\(last.time)")
            }
            last = (entry.time, walk.state.gateway)
        }
        #expect(compared > 20)
        _ = try drive.ask("moments")
    }

    @Test func `moments, receipts, findings and comparisons are there`() throws {
        var drive = try InspectedDrive(Self.text)
        let moments = try drive.ask("moments", ["vehicle": "dut"])
        let lanes = Set(moments.objects("moments").map { $0.text("lane") })
        #expect(lanes.isSuperset(of: ["connection", "session", "request"]))
        #expect((moments["density"] as? [Int])?.count == 200)
        let receipts = try drive.ask("receipts", ["id": "dut", "at": "12"])
        #expect(receipts.objects("rows").count > 5)
        var book = FindingBook(drive.recording)
        #expect(book.progress == 0)
        while book.judgeMore(100, drive.recording) {}
        #expect(book.progress == 1)
        drive.inspection.findings["r1"] = book
        #expect(try drive.ask("findings")["judging"] as? Double == 1)
        let same = try drive.ask("compare", ["a": "r1", "b": "r1", "vehicle": "dut", "at": "12"])
        #expect(same.objects("differences").isEmpty)
        let other = try drive.ask(
            "compare", ["a": "r1", "b": "r1", "vehicle": "dut", "at": "12", "atB": "14"])
        #expect(!other.objects("differences").isEmpty)
    }

    @Test func `receipts say how long publications took to the display`() throws {
        var drive = try InspectedDrive(
            """
            route: vaduz-balzers
            speed: 10
            vehicle: { shows-after: 20ms }
            client: { receipts: 1s }
            ended: finished
            """)
        let receipts = try drive.ask("receipts", ["id": "dut", "at": "20"])
        let endpoint = try #require(receipts.objects("endpoints").first)
        let shown = try #require(endpoint["shownDelays"] as? [String: Any])
        let mean = try #require(shown["meanMilliseconds"] as? Double)
        #expect((20...25).contains(mean))
        #expect(try #require(shown["count"] as? Int) > 5)
        #expect(endpoint["receivedDelays"] != nil)
    }

    @Test func `nothing places-like is left when places are removed`() throws {
        var drive = try InspectedDrive(Self.text)
        drive.inspection.sources = [
            InspectedSource("r1", name: "drive.mcap", .recorded(drive.recording), isRedacted: true)
        ]
        var texts = JSON.line(try drive.ask("vehicle", ["id": "dut", "at": "12"]))
        texts += JSON.line(try drive.ask("vehicle/tables", ["id": "dut", "at": "12"]))
        texts += JSON.line(try drive.ask("route", ["id": "dut", "at": "12"]))
        texts += JSON.line(try drive.ask("updates", ["id": "dut"]))
        texts += JSON.line(try drive.ask("requests", ["id": "dut"]))
        texts += JSON.line(try drive.ask("overview"))
        texts += JSON.line(try drive.ask("findings"))
        for entry in try Self.all(&drive, "entries", "entries", ["limit": "500"]) {
            texts += JSON.line(entry)
            guard entry.text("kind") == "frame", entry.text("message") == "startGuidance" else { continue }
            texts += JSON.line(try drive.ask("frame", ["entry": entry.text("entry")]))
        }
        for word in ["Landstrasse", "Vaduz", "Balzers", "Charging", "[47.", "[9."] {
            #expect(!texts.contains(word), "\(word)")
        }
    }

    @Test(
        arguments: [
            ("vehicle", ["id": "other"], "notFound", "id"), ("vehicle", [:], "invalid", "id"),
            ("vehicle", ["id": "a b"], "invalid", "id"),
            ("vehicle", ["id": "dut", "x": "1"], "invalid", "x"),
            ("vehicle", ["id": "dut", "at": "-1"], "invalid", "at"),
            ("overview", ["source": "r9"], "notFound", "source"),
            ("overview", ["only": "bad"], "invalid", "only"),
            ("overview", ["sort": "x"], "invalid", "sort"), ("entries", ["before": "x"], "invalid", "before"),
            ("entries", ["limit": "0"], "invalid", "limit"), ("entries", ["kind": "x"], "invalid", "kind"),
            ("frame", ["entry": "1-2-3"], "gone", "entry"), ("frame", [:], "invalid", "entry"),
            ("export", ["id": "dut"], "invalid", "format"),
            ("export", ["id": "dut", "format": "pdf"], "invalid", "format"),
            ("moments", ["from": "9", "to": "1"], "invalid", "to"), ("nothing", [:], "notFound", ""),
        ] as [(String, [String: String], String, String)])
    func `what is asked wrongly is refused, with the field`(
        _ path: String, _ values: [String: String], _ code: String, _ field: String
    ) throws {
        var drive = try InspectedDrive("{ about: Short., route: vaduz-balzers, speed: 100, ended: finished }")
        do {
            _ = try drive.inspection.answer(path, InspectorQuery(values), now: Date())
            Issue.record("it was answered")
        } catch {
            #expect(error.code.rawValue == code)
            #expect(error.field == field)
            #expect(!error.reason.isEmpty)
        }
    }
}

/// The same numbers in each run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return self.state ^ (self.state >> 33)
    }
}
