package import ArgumentParser
internal import WaymarkProtocol

/// The command line tool.
package struct Waymark: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "waymark",
        abstract: "Guidance from navigation clients to vehicles, on the command line.",
        discussion: """
            Addresses are tcp:HOST:PORT or unix:/path; the default is this user's waymarkd if it runs, else the system's service.
            """,
        version: Software.name,
        subcommands: Self.commands)

    private static var commands: [any ParsableCommand.Type] {
        var commands: [any ParsableCommand.Type] = [
            Demo.self, Navigate.self, Cluster.self, Request.self, Watch.self, Status.self, Top.self,
            Simulate.self, Lint.self,
            Record.self, RecordingCommand.self, Replay.self, Test.self, Proxy.self, Routes.self,
            Exporter.self,
        ]
        #if Inspector
            commands.append(Inspect.self)
        #endif
        return commands
    }

    package init() {}
}
