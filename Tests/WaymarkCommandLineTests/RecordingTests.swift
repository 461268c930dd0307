import ArgumentParser
import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkTexts

@testable import WaymarkClient
@testable import WaymarkCommandLine
@testable import WaymarkRecording

@Suite struct RecordingTests {
    private static let time = RecordingTime(nanoseconds: 1_795_425_300_250_000_000)

    @Test(arguments: ObservedKind.allCases)
    func `a recorded event is the line that watch prints`(_ kind: ObservedKind) throws {
        for code in [UInt32(0), 1, 2, 3, 4, 99] {
            var event = ObservedEvent(kind)
            (event.number, event.code, event.session) = (17, code, SessionID(7))
            event.reason = "a \"rule\" \\ of\tten/4\u{1B}\u{85}\u{202E}ü"
            event.vehicles = [VehicleID(unchecked: "car"), VehicleID(unchecked: "bus")]
            event.client = ClientID(unchecked: "app")
            event.request = "stop-1"
            let update = GatewayUpdate.recorded(
                .event(.recorded(event, peer: "car/cluster")), number: 17, at: Self.time.date)
            let line = EventJSON.text(event, peer: "car/cluster", at: Self.time)
            #expect(line == ObservedJSON.line(update))
            // Read again, for people.
            var options = WatchReport.Options()
            options.isEverythingShown = true
            var (report, watch) = (RecordedReport(options), WatchReport(options))
            let entry = RecordedEntry(number: 17, time: Self.time, content: .event(line))
            #expect(report.line(for: entry, RecordedState()) == watch.line(for: update))
        }
    }

    @Test func `dropped entries and states have the lines of watch`() {
        let dropped = GatewayUpdate.recorded(.dropped(12), number: 40, at: Self.time.date)
        #expect(EventJSON.dropped(12, number: 40, at: Self.time) == ObservedJSON.line(dropped))
        let connection = ClusterJSON.connection(.connected(resumed: true), at: Self.time.date)
        #expect(EventJSON.connection("connected", resumed: true, at: Self.time) == connection)
        #expect(
            EventJSON.connection("connecting", at: Self.time)
                == ClusterJSON.connection(.connecting, at: Self.time.date))
    }

    @Test func `events of other kinds, and what is no JSON, do no harm`() {
        var report = RecordedReport(WatchReport.Options())
        func line(_ text: String) -> String? {
            report.line(
                for: RecordedEntry(number: 1, time: Self.time, content: .event(text)), RecordedState())
        }
        #expect(line("not json") == nil)
        #expect(line("[1]") == nil)
        #expect(line(#"{"kind":"event","event":"fromTheFuture","code":-1,"vehicles":7}"#) != nil)
        #expect(
            line(#"{"kind":"mark","text":"here"}"#)?.hasSuffix(#"-- {"kind":"mark","text":"here"}"#) == true)
        #expect(line(#"{"kind":"dropped","count":3}"#)?.contains("3 entries are missing") == true)
    }

    @Test func `sizes have units`() throws {
        #expect(ByteSize(argument: "1GiB")?.bytes == 1_073_741_824)
        #expect(ByteSize(argument: "500MiB")?.bytes == 524_288_000)
        #expect(ByteSize(argument: "1000000")?.bytes == 1_000_000)
        #expect("\(ByteSize(1_073_741_824))" == "1GiB")
        #expect("\(ByteSize(1_500))" == "1500")
        for text in ["", "GiB", "1TB", "-1", "1.5GiB", "99999999999GiB", "1 GiB"] {
            #expect(ByteSize(argument: text) == nil, "\(text)")
        }
    }

    @Test func `places in a recording are times since its beginning, or of day`() throws {
        let begin = RecordingTime(nanoseconds: 1_000_000_000_000)
        func seconds(_ text: String) throws -> Double {
            (try RecordingPlace(text).time(in: begin...begin, .gmt) - begin) / .seconds(1)
        }
        #expect(try seconds("90s") == 90)
        #expect(try seconds("0.1s") == 0.1)
        #expect(try seconds("250ms") == 0.25)
        #expect(try seconds("5min") == 300)
        #expect(try seconds("2h") == 7_200)
        #expect(try seconds("1:30") == 90)
        #expect(try seconds("1:00:30.5") == 3_630.5)
        #expect(try seconds("12") == 12)
        #expect(try RecordingPlace("2026-11-23T09:15:00.250Z").time(in: begin...begin, .gmt) == Self.time)
        for text in ["", "soon", "-1s", "1:2:3:4", "nan", "inf", "2026-11-23", "1:-30"] {
            #expect(throws: (any Error).self, "\(text)") { try RecordingPlace(text) }
        }
    }

    @Test func `a place is a time of day if the recording contains it`() throws {
        // 2026-11-23, 09:15:00.250.
        let begin = Self.time
        let zone = try #require(TimeZone(identifier: "Europe/Zurich"))
        func time(_ text: String, hours: Double, _ zone: TimeZone) throws -> String {
            "\(try RecordingPlace(text).time(in: begin...(begin + .seconds(hours * 3_600)), zone))"
        }
        #expect(try time("09:20:30.5", hours: 1, .gmt) == "2026-11-23T09:20:30.500Z")
        #expect(try time("10:20:30", hours: 1, zone) == "2026-11-23T09:20:30.000Z")
        // Across midnight.
        #expect(try time("00:10:00", hours: 20, .gmt) == "2026-11-24T00:10:00.000Z")
        // The second in which it begins.
        #expect(try time("09:15:00", hours: 1, .gmt) == "2026-11-23T09:15:00.250Z")
        // Not in it: since its beginning.
        #expect(try time("00:10:00", hours: 1, .gmt) == "2026-11-23T09:25:00.250Z")
        #expect(try time("08:00:00", hours: 1, .gmt) == "2026-11-23T17:15:00.250Z")
        // Two parts are minutes and seconds.
        #expect(try time("09:20", hours: 1, .gmt) == "2026-11-23T09:24:20.250Z")
        #expect(try time("2600-01-01T00:00:00Z", hours: 1, .gmt).hasPrefix("2286-"))
    }

    @Test func `how much of a recording is shown has a unit, or is seconds`() throws {
        #expect(try RecordingPlace.length("10") == .seconds(10))
        #expect(try RecordingPlace.length("0.5s") == .milliseconds(500))
        #expect(try RecordingPlace.length("1:30") == .seconds(90))
        for text in ["", "soon", "0", "-1s", "nan", "infs", "8000h", "2026-11-23T09:15:00Z"] {
            #expect(throws: (any Error).self, "\(text)") { try RecordingPlace.length(text) }
        }
    }

    @Test func `a file that cannot be written is named once`() {
        do {
            try Data().write(to: URL(filePath: "/nowhere/x"))
            Issue.record("a file in no folder was written")
        } catch {
            #expect(CommandFailure.reason(error) == "no such file or directory")
        }
    }

    @Test(arguments: [
        ["--max-file", "1KiB"], ["--keep", "1MiB"], ["--max-hours", "0"], ["--keep-days", "-1"],
        ["--name", "a/b"], ["--redact", "everything"], ["--max-file", "much"],
    ])
    func `options of record outside of their range are refused`(_ arguments: [String]) throws {
        _ = try Record.parse([])
        #expect(throws: (any Error).self) { try Record.parse(arguments) }
    }

    @Test func `an export is of one kind`() {
        for arguments in [["f"], ["--jsonl", "--decoded", "g", "f"]] {
            #expect(throws: (any Error).self) { try RecordingCommand.Export.parse(arguments) }
        }
    }
}
