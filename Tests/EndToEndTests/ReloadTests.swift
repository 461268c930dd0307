import Foundation
import Testing

/// SIGHUP during a drive.
@Suite(.timeLimit(.minutes(5))) struct ReloadTests {
    @Test func `a reload during a drive opens and closes listeners, and an invalid file changes nothing`()
        async throws
    {
        let folder = try RunningDaemon.newFolder()
        let file = URL(filePath: "\(folder)/waymarkd.yaml")
        try Data("log-level: info\n".utf8).write(to: file)
        let daemon = try await RunningDaemon.start(
            ["--config", file.path, "--reload-on-hangup"], in: folder)
        let cluster = try daemon.waymark("cluster", "--id", "car", "--json", "--until", "finished")
        try await cluster.line(containing: "\"connected\"")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "40", "--route", ProgramTests.route("vaduz-balzers"))
        try await cluster.line(containing: "\"upcomingManeuvers\":[2")

        try Data("listeners:\n  - address: unix:\(folder)/x\n    roles: [vehicle]\n".utf8).write(to: file)
        daemon.program.signal(SIGHUP)
        try await daemon.program.errorLine { $0.contains("unix:\(folder)/x") ? $0 : nil }
        let second = try Program(
            "waymark",
            ["cluster", "--id", "car", "--endpoint", "second", "--json", "--connect", "unix:\(folder)/x"])
        try await second.until("\"connected\"")

        try Data("log-level: info\nthreads: 0\n".utf8).write(to: file)
        daemon.program.signal(SIGHUP)
        let refusal = try await daemon.program.errorLine { $0.contains("were rejected") ? $0 : nil }
        #expect(refusal.contains("\(file.path):2:10: threads must be"))

        try Data("log-level: error\n".utf8).write(to: file)
        daemon.program.signal(SIGHUP)
        try await daemon.program.errorLine { $0.contains("a listener was closed") ? $0 : nil }
        try await second.until("\"connecting\"")
        second.signal(SIGTERM)
        await second.end()

        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        #expect(cluster.lines.count { $0.contains("\"state\":\"connected\"") } == 1)
        #expect(!FileManager.default.fileExists(atPath: "\(folder)/x"))
        try await daemon.stop()
    }
}
