import ArticleExamples
import Foundation
import ProcessIO
import Testing
import WaymarkClient
import WaymarkModel

/// The examples in Docs/examples, run as documented.
enum Example: String, CaseIterable, CustomTestStringConvertible {
    case python, c

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/examples").path

    var testDescription: String { self.rawValue }

    /// Whether this machine has the tools that the example needs.
    var isAvailable: Bool {
        switch self {
        case .python: Self.succeeds("python3 -c 'import select, socket'")
        case .c: Self.succeeds("command -v cc && pkg-config --exists libprotobuf-c")
        }
    }

    /// The command that runs `cluster` or `navigate`; C programs are built in `folder`.
    func command(_ program: String, _ folder: String) async throws -> [String] {
        switch self {
        case .python: return ["python3", "-B", "\(Self.folder)/\(program).py"]
        case .c:
            // Built by the commands in the source's comment, but into another folder.
            let source = try String(contentsOfFile: "\(Self.folder)/\(program).c", encoding: .utf8)
            let build = source.split(separator: "\n").prefix { $0.hasPrefix("//") }
                .filter { $0.contains("cc -o") || $0.contains("wire=") }
                .map {
                    $0.dropFirst(2).replacing(
                        "-o \(program)", with: "-Wall -Wextra -Werror -o \(folder)/\(program)")
                }
            try #require(build.count == 2)
            let script = "cd '\(Self.folder)'\n" + build.joined(separator: "\n")
            try #require(await Program(command: ["sh", "-ec", script]).end() == 0)
            return ["\(folder)/\(program)"]
        }
    }

    private static func succeeds(_ script: String) -> Bool {
        (try? FinishedProcess(["/bin/sh", "-ec", script]))?.exit == .status(0)
    }
}

@Suite(.timeLimit(.minutes(10))) struct DocumentExampleTests {
    static let available = Example.allCases.filter(\.isAvailable)

    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    @Test(arguments: [
        "navigation-client/NavigationClientExample.swift", "vehicle-endpoint/VehicleEndpointExample.swift",
    ])
    func `Docs/client.md shows the example as it is compiled`(_ file: String) throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Docs/client.md"), encoding: .utf8)
        let example = try String(
            contentsOf: Self.root.appending(path: "Docs/examples/\(file)"), encoding: .utf8)
        #expect(page.contains("```swift\n\(example)```"))
    }

    @Test func `the article's test against a private gateway passes`() async throws {
        let name = try await withPrivateGateway(waymarkd: Program.folder.appending(path: "waymarkd").path) {
            gateway in
            try await destinationSeen(by: "car", through: gateway)
        }
        #expect(name == "Gutenberg Castle")
    }

    @Test func `the Swift examples run against each other`() async throws {
        let daemon = try await RunningDaemon.start()
        let cluster = try Program("VehicleEndpointExample", [daemon.vehicle])
        let app = try Program("NavigationClientExample", [daemon.navigation])
        #expect(await app.end() == 0)
        #expect(await cluster.end() == 0)
        try await app.line(containing: "example-car and the destination: accepted")
        for line in ["to Gutenberg Castle, Balzers", "on Landstrasse", "the drive is over"] {
            try await cluster.line(containing: line)
        }
        try await daemon.stop()
    }

    // Each language in each role, and mixed.
    @Test(arguments: zip(available, available.reversed()))
    func `a cluster and a navigation client in any two languages complete a drive`(
        _ cluster: Example, _ client: Example
    )
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let clusterCommand =
            try await cluster.command("cluster", daemon.folder) + [daemon.vehicle, "car"]
        let clientCommand =
            try await client.command("navigate", daemon.folder) + [daemon.navigation, "car"]
        let drive = Drive(
            cluster: try Program(command: clusterCommand), headUp: clusterCommand + ["head-up"],
            client: try Program(command: clientCommand))
        try await drive.begin()
        try await drive.showGauges()
        try await drive.insertWaypoint()
        try await drive.loseConnections()
        try await drive.cancel()
        try await drive.requestDestination()
        for program in [drive.cluster, drive.client] {
            try program.tell("quit")
            #expect(await program.end() == 0)
            #expect(!program.lines.contains { $0.hasPrefix("unknown command") || $0.hasPrefix("goodbye") })
        }
        try await daemon.stop()
    }

    @Test(.enabled(if: Example.python.isAvailable))
    func `an observer in Python sees a drive without taking part in it, and continues after a cut`()
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let command = try await Example.python.command("observe", daemon.folder) + [daemon.observer]
        let observer = try Program(command: command)
        try await observer.until("sees content")
        try await observer.until("full from number 0")
        try await observer.until("holds 0 vehicles, 0 clients, 0 sessions")
        let cluster = try Program(
            command: try await Example.python.command("cluster", daemon.folder) + [daemon.vehicle, "car"])
        try await cluster.until("connected")
        let app = try Program(
            command: try await Example.python.command("navigate", daemon.folder) + [daemon.navigation, "car"])
        try await app.until("connected")
        try app.tell("start")
        try await app.until("acknowledged 2, 0 frames kept")
        for line in [
            "vehicle car: cluster", "event admitted: car", "event admitted: python",
            "session opened: car, python",
            ": python, active", "from python: 0x0101 number 1", "to car/cluster: 0x0101 number 1",
        ] { try await observer.line(containing: line) }
        try observer.tell("cut")
        try await observer.until("resumed")
        try await observer.until("missed from number")
        try app.tell("step")
        try await observer.until("to car/cluster: 0x010B number 3")
        // A request to which it could give an answer, if it took part.
        try cluster.tell("waypoint 47.139 9.523")
        try await observer.until("request request-1 of car")
        try await observer.until("to car/cluster: 0x0204")
        // One that joins late, and of which only the vehicle is of interest.
        let late = try Program(command: command + ["car"])
        try await late.until(" retains 0x0101 number 1, 0x0108 number 2")
        try await late.until("holds 1 vehicles, 1 clients, 1 sessions")
        try late.tell("counters")
        try await late.until("counter 1 label 257: 1")
        try cluster.tell("yes")
        try await late.until("from car/cluster: 0x0205")
        try await late.until("event request ended code 1: car, python")
        try app.tell("finish")
        try await late.until("to car/cluster: 0x0112")
        try await late.until("event session ended code 1: car, python")
        for program in [cluster, app] {
            try program.tell("quit")
            #expect(await program.end() == 0)
        }
        try await late.until("vehicle car is gone")
        for program in [observer, late] {
            try program.tell("quit")
            #expect(await program.end() == 0)
            #expect(!program.lines.contains { $0.hasPrefix("error") || $0.hasPrefix("goodbye") })
        }
        try await daemon.stop()
    }

    @Test(arguments: available)
    func `a navigation client keeps apart requests whose ids only Unicode calls equal`(_ client: Example)
        async throws
    {
        let daemon = try await RunningDaemon.start()
        let app = try Program(
            command: try await client.command("navigate", daemon.folder) + [daemon.navigation, "car"])
        try await app.until("connected")
        try app.tell("start")
        try await app.until("session opened")
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        configuration.onPrompt = { _ in true }
        let address = try #require(ServiceAddress(daemon.vehicle))
        try await withVehicleEndpoint(to: address, configuration) { cluster in
            for await state in await cluster.states where state.phase == .active { break }
            for id in ["\u{E9}", "e\u{301}"] {
                let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5))
                #expect(await cluster.requestWaypoint(place, requestID: id) == .accepted)
                let asked = try await app.until("asked for waypoint")
                #expect(asked.utf8.elementsEqual("asked for waypoint \(id) by car".utf8))
                let outcome = try await app.until("outcome 1 of")
                #expect(outcome.utf8.elementsEqual("outcome 1 of \(id)".utf8))
            }
        }
        try app.tell("quit")
        #expect(await app.end() == 0)
        try await daemon.stop()
    }

    /// One drive, step by step.
    struct Drive {
        let cluster: Program
        let headUp: [String]
        let client: Program

        func begin() async throws {
            try await self.cluster.until("connected")
            try await self.client.until("connected")
            try self.client.tell("start")
            try await self.client.until("session opened, standing 1")
            try await self.client.until("acknowledged 2, 0 frames kept")
            try await self.cluster.until("snapshot full from")
            let line = try await self.cluster.until("Main street")
            #expect(
                line.hasSuffix(
                    "Turn right in 500 m, continue, 2 maneuvers, 2 lanes, 1 segments with 3 points"))
        }

        /// States of a type that the gateway does not know; an endpoint that joins late shows their newest values.
        func showGauges() async throws {
            for command in ["gauge 3 70", "gauge 1 5", "gauge 3 71"] { try self.client.tell(command) }
            try await self.cluster.until("with 3 points, gauge 1 at 5 %, gauge 3 at 71 %")
        }

        /// A second endpoint joins late, shows the same, and answers for the vehicle's user.
        func insertWaypoint() async throws {
            try self.client.tell("step")
            let early = try await self.cluster.until("400 m, initial")
            #expect(early.hasSuffix("gauge 1 at 5 %, gauge 3 at 71 %"))
            let other = try Program(command: self.headUp)
            #expect(try await other.until("shows") == early)
            try self.cluster.tell("waypoint 47.139 9.523")
            try await self.client.until("asked for waypoint request-1 by car")
            try await self.cluster.until("prompt request-1: A place, then 1500 m to go")
            try await other.until("prompt request-1")
            try other.tell("yes")
            for program in [self.cluster, other, self.client] {
                try await program.until("outcome 1 of request-1")
            }
            for program in [self.cluster, other] { try await program.until("generation 2") }
            try other.tell("quit")
            #expect(await other.end() == 0)
        }

        func loseConnections() async throws {
            try self.cluster.tell("cut")
            try await self.cluster.until("resumed")
            try await self.cluster.until("snapshot missed")
            try self.client.tell("step")
            try await self.cluster.until("400 m, initial")
            try self.client.tell("cut")
            try await self.client.until("resumed")
            try await self.cluster.until("suspended")
            try await self.cluster.until("restored")
            try self.client.tell("step")
            try await self.cluster.until("150 m, prepare")
            try self.client.tell("pause")
            try await self.cluster.until("paused")
            try self.client.tell("resume")
            try await self.cluster.until("150 m, continue")
        }

        func cancel() async throws {
            try self.cluster.tell("cancel")
            try await self.cluster.until("ended 4")
            try await self.cluster.until("shows nothing")
            try await self.client.until("ended 4")
        }

        /// The vehicle navigates itself and refuses a client, but accepts the one that it asks for guidance.
        func requestDestination() async throws {
            try self.cluster.tell("own")
            try await self.cluster.until("ended 3")
            try self.client.tell("start")
            try await self.client.until("error 12")
            try self.cluster.tell("destination 47.1 9.5")
            try await self.client.until("asked for destination request-2 by car")
            try await self.client.until("outcome 1 of request-2")
            try await self.cluster.until("outcome 1 of request-2")
            try await self.cluster.until("Main street")
            try self.client.tell("finish")
            try await self.cluster.until("finished")
            try await self.client.until("ended 1")
        }
    }
}
