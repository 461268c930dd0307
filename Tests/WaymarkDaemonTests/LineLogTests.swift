import Foundation
import Logging
import ProcessIO
import Testing
import WaymarkConfiguration
import WaymarkDaemon

@Suite struct LineLogTests {
    /// The text that `body` writes to a stream.
    private static func written(_ body: (StandardStream) async -> Void) async throws -> String {
        let folder = try Folder()
        let descriptor = open(folder.path("log"), O_RDWR | O_CREAT | O_APPEND, 0o600)
        await body(StandardStream(descriptor))
        close(descriptor)
        return try String(contentsOfFile: folder.path("log"), encoding: .utf8)
    }

    @Test func `a line has time, level, program, metadata and message, and no control characters`()
        async throws
    {
        let text = try await Self.written { stream in
            let logger = Logger(label: "waymarkd") { LineLogHandler(label: $0, stream: stream) }
            logger.warning("a sentence", metadata: ["b": "x\u{1B}[2J", "a": "1\n2"])
        }
        #expect(
            text.wholeMatch(
                of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} warning waymarkd: a=1 2 b=x \[2J a sentence\n/)
                != nil, "\(text)")
    }

    @Test func `lines of concurrent tasks do not mix`() async throws {
        let long = String(repeating: "x", count: 70_000)
        let text = try await Self.written { stream in
            await withTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        let logger = Logger(label: "l") { LineLogHandler(label: $0, stream: stream) }
                        for _ in 0..<20 { logger.info("\(number)\(long)\(number)") }
                    }
                }
            }
        }
        let lines = text.split(separator: "\n")
        #expect(lines.count == 160)
        #expect(lines.allSatisfy { $0.firstMatch(of: /\ (\d)x+(\d)$/).map { $0.1 == $0.2 } == true })
    }

    @Test func `a stream that cannot be written does not stop the program`() async throws {
        let logger = Logger(label: "l") { LineLogHandler(label: $0, stream: StandardStream(-1)) }
        logger.info("a sentence")
        #expect(throws: WriteError.failed(EBADF)) { try StandardStream(-1).write("a") }
    }
}

@Suite struct HangupTests {
    @Test func `SIGHUP reloads only with the option or under a service manager`() {
        #expect(Hangup.response(isReloadWanted: true, environment: [:]) == .reload)
        #expect(Hangup.response(isReloadWanted: false, environment: ["NOTIFY_SOCKET": "/run/x"]) == .reload)
        // INVOCATION_ID is inherited by every program in a terminal that a service manager started.
        #expect(Hangup.response(isReloadWanted: false, environment: ["INVOCATION_ID": "1"]) == .end)
        #expect(Hangup.response(isReloadWanted: false, environment: ["NOTIFY_SOCKET": ""]) == .end)
    }
}

@Suite struct SettingsFileTests {
    @Test func `the errors for a folder and for a missing file name the reason`() throws {
        let folder = try Folder()
        #expect(throws: SettingsError.unreadable(file: folder.path, reason: "it is a folder, not a file")) {
            _ = try SettingsSource(file: folder.path).read()
        }
        let missing = folder.path("missing")
        #expect(throws: SettingsError.unreadable(file: missing, reason: "no such file or directory")) {
            _ = try SettingsSource(file: missing).read()
        }
    }

    @Test func `a key that every user can read is an error`() throws {
        let folder = try Folder()
        let file = folder.path("waymarkd.yaml")
        let listener = "listeners:\n  - address: unix:/a\n    roles: [vehicle]\n"
        for (text, mode, isRefused) in [
            (listener + "    key: a secret that is long\n", mode_t(0o644), true),
            (listener + "    key: a secret that is long\n", 0o640, false),
            (listener, 0o644, false),
        ] {
            try Data(text.utf8).write(to: URL(filePath: file))
            chmod(file, mode)
            var found: SettingsError?
            do throws(SettingsError) { _ = try SettingsSource(file: file).read() } catch { found = error }
            #expect((found != nil) == isRefused)
            if let found {
                let reason = "the file contains a key, and every user can read it; run chmod o-r \(file)"
                #expect("\(found)" == "\(file):2:5: \(reason)")
            }
        }
    }
}
