import Foundation
import Logging
import Synchronization
import Systemd
import Testing
import WaymarkDaemon
import WaymarkTelemetry

@Suite struct JournalTests {
    /// Records the entries that a handler sends.
    private final class Sent: Sendable {
        private let kept = Mutex<[[Journal.Field]]>([])
        var entries: [[String: String]] {
            self.kept.withLock {
                $0.map { Dictionary($0.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }) }
            }
        }

        func logger(_ level: Logger.Level) -> Logger {
            Logger(label: "test") { label in
                JournalLogHandler(label: label, level: level) { fields in
                    self.kept.withLock { $0.append(fields) }
                }
            }
        }
    }

    @Test func `metadata is in the fields and in the message`() throws {
        let sent = Sent()
        var logger = sent.logger(.info)
        logger[metadataKey: LogKey.vehicle] = "bus-7"
        logger.warning(
            "\(LoggedEvent.peerRefused)",
            metadata: [
                LogKey.endpoint: "cluster", LogKey.session: "3", LogKey.client: "app",
                LogKey.peerUser: "1000",
            ])
        logger.debug("not now")
        let entry = try #require(sent.entries.first)
        #expect(sent.entries.count == 1)
        #expect(
            entry["MESSAGE"]
                == "refused a peer: client=app endpoint=cluster peer-uid=1000 session=3 vehicle=bus-7")
        #expect(entry["MESSAGE_ID"] == LoggedEvent.peerRefused.messageID)
        #expect(entry["PRIORITY"] == "4")
        #expect(entry["WAYMARK_VEHICLE"] == "bus-7")
        #expect(entry["WAYMARK_ENDPOINT"] == "cluster")
        #expect(entry["WAYMARK_SESSION"] == "3")
        #expect(entry["WAYMARK_CLIENT"] == "app")
        #expect(entry["WAYMARK_PEER_UID"] == "1000")
        #expect(entry["CODE_FILE"]?.hasSuffix("LogTests.swift") == true)
        #expect(entry["CODE_LINE"].flatMap { Int($0) } != nil)
        #expect(entry["CODE_FUNC"]?.contains("metadata is in the fields") == true)
    }

    @Test func `an entry about several vehicles is found by each of them`() throws {
        let sent = Mutex<[Journal.Field]>([])
        let logger = Logger(label: "test") { label in
            JournalLogHandler(label: label, level: .info) { new in sent.withLock { $0 = new } }
        }
        logger.info("\(LoggedEvent.sessionOpened)", metadata: [LogKey.vehicle: ["bus-7", "bus-8"]])
        let fields = sent.withLock { $0 }
        #expect(fields.filter { $0.name == "WAYMARK_VEHICLE" }.map(\.value) == ["bus-7", "bus-8"])
    }

    @Test func `priorities are those of syslog, and an unknown message has no id`() {
        let sent = Sent()
        let logger = sent.logger(.trace)
        for level in Logger.Level.allCases { logger.log(level: level, "something") }
        #expect(sent.entries.map { $0["PRIORITY"] } == ["7", "7", "6", "5", "4", "3", "2"])
        #expect(sent.entries.allSatisfy { $0["MESSAGE_ID"] == nil && $0["MESSAGE"] == "something" })
    }
}

@Suite struct LoggedEventTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `every event has a unique message id`() {
        let ids = LoggedEvent.allCases.map(\.messageID)
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{32}/) != nil })
    }

    @Test func `the catalog explains each event and nothing else`() throws {
        let catalog = try String(
            contentsOf: Self.root.appending(path: "systemd/waymark.catalog"), encoding: .utf8)
        let keys = try String(
            contentsOf: Self.root.appending(path: "Sources/WaymarkTelemetry/LogKey.swift"), encoding: .utf8)
        let fields = keys.matches(of: /static let \w+ = "(.+)"/).map {
            LogKey.journalField(of: String($0.output.1))
        }
        let entries = catalog.components(separatedBy: "\n-- ").dropFirst()
        #expect(
            entries.map { String($0.prefix(32)) }.sorted() == LoggedEvent.allCases.map(\.messageID).sorted())
        for entry in entries {
            let match = try #require(
                entry.wholeMatch(
                    of:
                        /[0-9a-f]{32}\nSubject: .+\nDefined-By: Waymark\nDocumentation: man:waymarkd\(8\)\n\n([^:].+\n)+(\n(.+\n)+)*/
                ))
            // Every placeholder must be a log key.
            for field in match.output.0.matches(of: /@(WAYMARK_[A-Z_]+)@/) {
                #expect(fields.contains(String(field.output.1)), "\(field.output.0)")
            }
        }
    }

    @Test func `the documentation lists every message`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "Docs/configuration.md"), encoding: .utf8)
        let log = try #require(page.components(separatedBy: "## The log").last)
        for event in LoggedEvent.allCases { #expect(log.contains(event.description), "\(event)") }
    }

    @Test func `every log statement uses a LoggedEvent`() throws {
        for module in ["WaymarkDaemon", "WaymarkTransport", "WaymarkCommandLine/Commands"] {
            let folder = Self.root.appending(path: "Sources/\(module)")
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
                for match in text.matches(
                    of: /ogger\.(trace|debug|info|notice|warning|error|critical)\(\s*"(.*)"/)
                {
                    #expect(match.output.2.hasPrefix("\\(LoggedEvent."), "\(name): \(match.output.0)")
                }
            }
        }
    }
}
