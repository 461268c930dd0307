import Foundation
import Testing

/// Both programs when their output cannot be written.
@Suite(.timeLimit(.minutes(5))) struct OutputTests {
    private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path
    private static var route: String { ProgramTests.route("vaduz-balzers") }

    /// Commands that print something and exit.
    static let printing = [
        "waymark --help", "waymark help cluster", "waymark help watch", "waymark help status",
        "waymark help record", "waymark help recording",
        "waymark --version",
        "waymark --generate-completion-script bash", "waymark routes show \(Self.route)",
        "waymark routes show --format json \(Self.route)", "waymark routes export \(Self.route)",
        "waymark routes export --format gpx \(Self.route)", "waymark demo --speed 1000",
        "waymark demo --speed 1000 --json", "waymarkd --help", "waymarkd --version",
        "waymarkd --check-config",
        "waymarkd --generate-completion-script zsh",
    ]

    /// Runs a line of bash with the programs in its PATH; returns the exit status and the output.
    private func run(_ line: String) async throws -> (status: Int32, output: [String], errors: String) {
        let file = FileManager.default.temporaryDirectory.appending(
            path: "o-\(UInt32.random(in: 0 ... .max))"
        ).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let program = try Program(command: [
            "bash", "-c", "PATH=\(Self.folder):$PATH; { \(line); } 2>\(file)",
        ])
        let status = await program.end()
        return (status, program.lines, (try? String(contentsOfFile: file, encoding: .utf8)) ?? "")
    }

    @Test(arguments: Self.printing)
    func `a full disk causes one error message and status 1`(_ command: String) async throws {
        let (status, _, errors) = try await self.run("\(command) >/dev/full")
        #expect(status == 1)
        let program = command.prefix { $0 != " " }
        #expect(errors == "\(program): cannot write to standard output: no space left on device\n")
    }

    @Test(arguments: Self.printing)
    func `a closed standard output causes one error message and status 1`(_ command: String) async throws {
        let (status, _, errors) = try await self.run("\(command) >&-")
        #expect(status == 1)
        let program = command.prefix { $0 != " " }
        #expect(errors == "\(program): cannot write to standard output: it is closed\n")
    }

    @Test(arguments: Self.printing)
    func `a program whose reader has exited ends as if by SIGPIPE`(_ command: String) async throws {
        // The reader exits before anything is written.
        let (_, output, errors) = try await self.run("exec 3> >(exit 0); wait $!; \(command) >&3; echo $?")
        #expect(output == ["141"])
        #expect(errors == "")
    }

    @Test(arguments: [
        "waymark bogus", "waymark request", "waymarkd --bogus", "waymarkd --vehicle-listen nowhere",
    ])
    func `a closed standard error does not change the exit status`(_ command: String) async throws {
        #expect(try await self.run("\(command) 2>&-").status == 64)
        #expect(try await self.run("\(command) 2>/dev/full").status == 64)
    }

    @Test(arguments: [
        "waymark", "waymark request", "waymark routes", "waymark bogus", "waymark cluster",
        "waymark cluster --id ''",
        "waymark cluster --id car --connect nowhere",
        "waymark request allow --id car --timeout nan", "waymark navigate --speed 0 --route x",
        "waymark watch --kind bogus", "waymark watch --session 0", "waymark watch --vehicle ''",
        "waymark watch --connect nowhere", "waymark status --connect nowhere", "waymark status --interval -1",
        "waymarkd --bogus", "waymarkd --log-level loud",
        "waymarkd --vehicle-listen nowhere",
    ])
    func `an invalid command line causes status 64`(_ command: String) async throws {
        let (status, output, errors) = try await self.run("XDG_RUNTIME_DIR=/nowhere \(command)")
        #expect(status == 64)
        #expect(output == [])
        #expect(!errors.isEmpty)
    }

    @Test func `a daemon runs without standard error`() async throws {
        for closing in ["2>&-", "2>/dev/full", "2> >(exit 0)"] {
            let folder = try RunningDaemon.newFolder()
            let socket = "\(folder)/v"
            let daemon = try Program(command: [
                "bash", "-c",
                "exec \(Self.folder)/waymarkd --log-level trace --vehicle-listen unix:\(socket) \(closing)",
            ])
            // The client retries until the daemon listens.
            let request = ["request", "allow", "--id", "car", "--connect", "unix:\(socket)"]
            while try await Program("waymark", request).end() != 0 {}
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
            try FileManager.default.removeItem(atPath: folder)
        }
    }

    @Test func `control characters in a file do not reach the terminal`() async throws {
        let folder = try RunningDaemon.newFolder()
        try #""\e]0;title\a\e[2J": 1"#.write(toFile: "\(folder)/f", atomically: true, encoding: .utf8)
        let (status, _, errors) = try await self.run("waymarkd --check-config --config \(folder)/f")
        #expect(status == 78)
        #expect(errors == "waymarkd: \(folder)/f:1:1: unknown setting  ]0;title  [2J\n")
        let (profile, _, refusal) = try await self.run("waymark cluster --id car --profile $'a\\e[2J'")
        #expect(profile == 1)
        #expect(refusal.contains("a [2J is not one of") && !refusal.contains("\u{1B}"))
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `the executable chooses its program by the name it is started with`() async throws {
        let folder = try RunningDaemon.newFolder()
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/waymarkd", withDestinationPath: "\(Self.folder)/waymark")
        let (status, output, _) = try await self.run("\(folder)/waymarkd --help")
        #expect(status == 0)
        #expect(output.first?.contains("Streams guidance") == true)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `without a service manager SIGHUP stops the daemon like SIGTERM`() async throws {
        let daemon = try await RunningDaemon.start()
        daemon.program.signal(SIGHUP)
        #expect(await daemon.program.end() == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(daemon.folder)/v"))
        try FileManager.default.removeItem(atPath: daemon.folder)
    }
}
