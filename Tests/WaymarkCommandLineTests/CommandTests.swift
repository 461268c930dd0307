import ArgumentParser
import Foundation
import Synchronization
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkRig
import WaymarkRoutes
import WaymarkTexts

@testable import WaymarkClient
@testable import WaymarkCommandLine

@Suite(.timeLimit(.minutes(10))) struct CommandTests {
    @Test func `the demo succeeds`() async throws {
        try await Demo.parse(["--speed", "2000"]).run()
    }

    @Test func `the demo drives any other route, and its request is declined`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Sources/WaymarkCommandLine/Resources/routes/heidelberg-lanes.json")
        try await Demo.parse(["--speed", "2000", "--route", file.path]).run()
    }

    @Test func `errors of files are in the system's words, whatever Foundation throws`() {
        let cause = CocoaError(
            .fileWriteUnknown, userInfo: [NSUnderlyingErrorKey: POSIXError(.EDQUOT)])
        #expect(CommandFailure.reason(cause) == "disk quota exceeded")
        #expect(CommandFailure.reason(CocoaError(.fileWriteOutOfSpace)) == "no space left on device")
        #expect(CommandFailure.reason(CocoaError(.fileReadNoPermission)) == "permission denied")
        #expect(CommandFailure.reason(POSIXError(.ENOSPC)) == "no space left on device")
    }

    @Test func `signals are caught and never ignored, as programs that are started would inherit it`()
        async throws
    {
        // The second command of a process, too.
        for _ in 0..<2 {
            try await interruptible {}
            for number in [SIGINT, SIGTERM] {
                var action = sigaction()
                #expect(sigaction(number, nil, &action) == 0)
                let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                // SIG_DFL and SIG_IGN.
                #expect(handler != 0 && handler != 1)
            }
        }
    }

    @Test func `a drive skips nothing, however far its clock jumps`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "wm-\(UInt32.random(in: 0 ... .max))").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
        let hours = Mutex(0)
        let stops = Mutex(0)
        let answer = try readAnswer(Resources.route("vaduz-balzers"), name: "route")
        var options = Guide.Options()
        options.pause = (at: 0.5, body: { stops.withLock { $0 += 1 } })
        options.pace.now = {
            hours.withLock {
                $0 += 1; return .seconds(3_600 * $0)
            }
        }
        options.pace.sleep = { _ in await Task.yield() }
        let chosen = options
        try await Demo.withDaemon(folder) {
            let client = try await NavigationClient.connect(
                to: .unix(path: "\(folder)/navigation.sock"), .init(id: "app"))
            let session = try await client.openSession(vehicles: .vehicles(["car"]))
            let guide = Guide(session, answer.routes[0], trip: answer.trip(id: "trip"), options: chosen)
            #expect(try await guide.run() == .arrived)
            await client.close()
        }
        #expect(stops.withLock { $0 } == 1)
        // A look for each of many pieces, and none of them leapt to the end.
        #expect(hours.withLock { $0 } > 20)
    }

    @Test(arguments: Resources.profileNames)
    func `profiles that ship can be read`(_ name: String) throws {
        _ = try ClusterProfile.load(name)
    }

    @Test func `a wrong profile is refused by its key`() throws {
        #expect(
            try ClusterProfile.parse(Data("{\"limits\":{\"frameBytes\":4096}}".utf8), "p")
                .receiveFrameBytesMax == 4_096)
        let extensions = "{\"extensions\":[\"org.example.tyres\"]}"
        #expect(try ClusterProfile.parse(Data(extensions.utf8), "p").extensions == ["org.example.tyres"])
        for text in [
            "{\"limit\":{}}", "{\"limits\":{\"lanes\":1}}", "{\"locale\":5}", "[]",
            "{\"extensions\":[\"tyres\"]}",
        ] {
            #expect(throws: (any Error).self) { try ClusterProfile.parse(Data(text.utf8), "p") }
        }
    }

    @Test(arguments: ["4095", "16777217", "-1", "few"])
    func `a size of frames that the protocol does not allow is refused`(_ size: String) throws {
        _ = try Cluster.parse(["--id", "car", "--receive-frame-bytes-max", "4096"])
        #expect(throws: (any Error).self) {
            try Cluster.parse(["--id", "car", "--receive-frame-bytes-max", size])
        }
    }

    @Test func `a screen shows maneuver, distance, lanes and the maneuver after it`() {
        var state = VehicleState()
        state.phase = .active
        state.maneuvers = [
            Maneuver(
                id: ManeuverID(rawValue: 1), type: .roundaboutExit3, instructionVariants: ["Third exit"]),
            Maneuver(id: ManeuverID(rawValue: 2), type: .rightTurn, instructionVariants: ["Turn right"]),
        ]
        state.upcomingManeuvers = state.maneuvers.map(\.id)
        state.maneuverEstimates[ManeuverID(rawValue: 1)] = TravelEstimates(distanceRemaining: .meters(740))
        state.laneGuidances = [
            LaneGuidance(
                id: LaneGuidanceID(rawValue: 1),
                lanes: [
                    Lane(angles: [.degrees(-90)], status: .notGood),
                    Lane(angles: [.degrees(0)], status: .good),
                ])
        ]
        state.currentLaneGuidance = LaneGuidanceID(rawValue: 1)
        var view = ClusterScreen.View()
        view.state = state
        let text = ClusterScreen.lines(view, columns: 80, rows: 24).joined(separator: "\n")
        for part in ["↻3  750 m", "Third exit", "lanes ← │ [↑]", "then → Turn right"] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test func `every key of the JSON is documented`() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "Docs/cluster-json.md"), encoding: .utf8)
        for line in Self.jsonLines {
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            for key in Self.keys(object) { #expect(page.contains("`\(key)`"), "\(key) in \(line)") }
            #expect(page.contains("**`\(object["kind"] ?? "")`**"))
            if let message = object["message"] as? String, Self.hasContent(object) {
                #expect(page.contains("`\(message)`"), "\(message)")
            }
        }
    }

    @Test func `equal states are equal lines, and other states are not`() {
        let lines = Set((0..<20).map { _ in ClusterJSON.state(Self.fullState, at: Self.time) })
        #expect(lines.count == 1)
        var other = Self.fullState
        other.segments[0].coordinates[0].latitude += 0.000001
        #expect(!lines.contains(ClusterJSON.state(other, at: Self.time)))
    }

    @Test func `no text from the network controls the terminal, however it is printed`() throws {
        let name = "a\u{1B}[2J\u{9B}c\u{7F}\u{202E}\u{E0041}ä日\n"
        let line = JSON.line(["name": name])
        #expect(!line.unicodeScalars.contains(where: Terminal.steers))
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
        #expect(object == ["name": name])
        let failure = CommandFailure("refused: \(name)")
        #expect(!failure.description.unicodeScalars.contains(where: Terminal.steers))
    }

    @Test func `cancelling succeeds only if guidance is over`() throws {
        for reason in [EndReason.userStopped, .ownNavigationStarted, .vehicleGone] {
            try Request.Cancel.report(reason, noOutcome: "none")
        }
        for reason in [EndReason.notAllowed, .noSession] {
            #expect(throws: ExitCode(2)) { try Request.Cancel.report(reason, noOutcome: "none") }
        }
        for error in [ClientError.cancelled, .closed, .refused(reason: "\u{1B}c")] {
            let failure = #expect(throws: CommandFailure.self) {
                try Request.Cancel.report(.connectionClosed(error), noOutcome: "none")
            }
            // What waited is this program, which has given up.
            if case .refused = error { continue }
            #expect(failure?.description == "none")
        }
    }

    @Test func `a wrong argument that the command itself finds is shown with that command's usage`() {
        let text = Program.message(Waymark.self, Cluster.self, ValidationError("--x is wrong"))
        #expect(text.hasPrefix("Error: --x is wrong\n"))
        #expect(text.contains("\nUsage: waymark cluster --id <id>"))
    }

    @Test func `texts from the network cannot control the terminal`() {
        #expect(Terminal.printable("a\u{1B}[2Jb\u{9B}c\r\nd\u{202E}") == "a [2Jb c  d ")
        #expect(Terminal.clipped("日本語のみち", columns: 5) == "日本")
        #expect(Terminal.clipped("abc", columns: 5) == "abc")
    }

    @Test func `keys are told from the sequences of a terminal`() {
        #expect(Keyboard.keys("w1\r") == [.character("w"), .character("1"), .enter])
        #expect(Keyboard.keys("\u{1B}[A").isEmpty)
        #expect(Keyboard.keys("\u{7F}\u{1B}") == [.backspace, .escape])
    }

    @Test(arguments: [
        ["cluster"], ["demo"], ["request"], ["request", "waypoint"], ["request", "destination"],
        ["request", "cancel"], ["request", "allow"], ["request", "share-accept"],
        ["request", "route-source"],
    ])
    func `the help fits into 80 columns, and breaks its lines only where they are full`(_ command: [String])
        throws
    {
        var type: any ParsableCommand.Type = Waymark.self
        for name in command {
            type = try #require(
                type.configuration.subcommands.first {
                    ($0.configuration.commandName ?? "\($0)".lowercased()) == name
                })
        }
        let lines = type.helpMessage(columns: 80).split(separator: "\n", omittingEmptySubsequences: false)
        for line in lines { #expect(line.count <= 80, "\(line)") }
        let prose = lines.prefix { !$0.hasPrefix("USAGE") }
        for (line, next) in zip(prose, prose.dropFirst()) where !line.isEmpty && !next.isEmpty {
            let word = next.prefix { $0 != " " }
            #expect(line.count + 1 + word.count >= 80, "\(line) / \(next)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions name every command`(_ shell: String) throws {
        let script = Waymark.completionScript(for: try #require(CompletionShell(rawValue: shell)))
        for command in ["demo", "navigate", "cluster", "request", "routes", "share-accept"] {
            #expect(script.contains(command))
        }
    }

    @Test(arguments: [
        ["navigate"], ["navigate", "--route", "f", "--speed", "0"], ["request", "waypoint", "1,2"],
        ["nonsense"], ["navigate", "--route", "f", "--from", "1,2"],
        ["navigate", "--engine", "osrm=http://h"],
        ["navigate", "--engine", "osrm=http://h", "--from", "1,2", "--to", "91,2"],
        ["navigate", "--route", "f", "--on-waypoint", "perhaps"],
        ["cluster", "--id", "v", "--until", "noon"],
        ["cluster", "--id", "v", "--accept-prompts", "maybe"],
        ["cluster", "--id", "v", "--watch", "--accept-prompts", "no"],
        ["cluster", "--id", "v", "--watch", "--commands"],
        ["cluster", "--id", "v", "--accept-prompts", "no", "--commands"],
        ["navigate", "--route", "-", "--commands"],
        ["cluster", "--id", "v", "--states", "full"],
        ["cluster", "--id", "v", "--json", "--states", "some"], ["cluster", "--id", "v", "--timeout", "0"],
        ["cluster", "--id", "v", "--wait", "-1"], ["request", "cancel", "--id", "v", "--timeout", "inf"],
        ["request", "route-source", "mine", "--id", "v"],
        ["routes", "show", "f", "--traffic-side", "middle"], ["routes", "export", "f", "--format", "kml"],
    ])
    func `wrong command lines are refused`(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try Waymark.parseAsRoot(arguments) }
    }

    // MARK: Samples with everything in them

    private static let time = Date(timeIntervalSince1970: 1.5)

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func keys(_ value: Any) -> Set<String> {
        if let list = value as? [Any] { return list.reduce(into: []) { $0.formUnion(Self.keys($1)) } }
        guard let object = value as? [String: Any] else { return [] }
        return object.reduce(into: Set(object.keys)) { keys, member in
            // Features are the protocol's own names.
            if member.key == "withheld" { return }
            keys.formUnion(Self.keys(member.value))
        }
    }

    private static func hasContent(_ object: [String: Any]) -> Bool {
        object.count > 8
    }

    private static let estimates = TravelEstimates(
        distanceRemaining: .meters(1), timeRemaining: .seconds(1),
        distanceRemainingToDisplay: DisplayDistance(valueTenths: 10, unit: .meters))

    private static let place = Waypoint(
        center: Coordinate(latitude: 1, longitude: 2, altitude: 3), locationThreshold: .meters(4),
        nameVariants: ["n"], addressVariants: ["a"], entryPoints: [Coordinate(latitude: 1, longitude: 2)],
        timeZone: "Europe/Vaduz", utcOffsetMinutes: 60, stopKind: .charging,
        charge: ChargeStop(
            arrivalBatteryPerMille: 1, departureBatteryPerMille: 2, connector: .ccs2, powerWatts: 3,
            chargingTime: .seconds(4)), id: "i")

    private static let trip = Trip(
        id: "t", origin: place, destination: place, waypoints: [place],
        routeChoices: [
            RouteChoice(
                id: 1, summaryVariants: ["s"], additionalInformationVariants: ["i"],
                selectionSummaryVariants: ["x"], travelEstimates: estimates)
        ], selectedRouteChoice: 1)

    private static let alert = NavigationAlert(
        id: 1, titleVariants: ["t"], subtitleVariants: ["s"],
        actions: [AlertAction(id: 1, titleVariants: ["a"])],
        duration: .seconds(5), notification: .once, priority: .high)

    private static let speedLimit = SpeedLimit(80, .kilometersPerHour, kind: .posted, sign: .vienna)

    private static let nextSpeedLimit = SpeedLimitAhead(
        .unlimited, in: .meters(5), distanceToDisplay: DisplayDistance(valueTenths: 50, unit: .meters))

    private static let route: RouteInformation = {
        let (maneuver, lanes) = (ManeuverID(rawValue: 1), LaneGuidanceID(rawValue: 1))
        return RouteInformation(
            maneuvers: [
                Maneuver(
                    id: maneuver, type: .roundaboutExit1, instructionVariants: ["i"],
                    roadFollowingManeuverVariants: ["r"], highwayExitLabel: "1A",
                    junctionExitAngle: .degrees(5),
                    junctionElementAngles: [.degrees(6)], linkedLaneGuidance: lanes,
                    initialTravelEstimates: estimates, roundaboutExitNumber: 1, isIntermediateWaypoint: true,
                    notification: .once)
            ],
            laneGuidances: [
                LaneGuidance(
                    id: lanes,
                    lanes: [Lane(angles: [.degrees(0)], highlightedAngle: .degrees(0), status: .preferred)],
                    instructionVariants: ["i"])
            ],
            segments: [
                RouteSegment(
                    id: "s", origin: place, destination: place,
                    coordinates: [Coordinate(latitude: 1, longitude: 2)],
                    maneuvers: [maneuver], laneGuidances: [lanes], currentManeuvers: [maneuver],
                    currentLaneGuidance: lanes, tripTravelEstimates: estimates,
                    maneuverTravelEstimates: estimates, speedLimits: [SpeedLimitSpan(from: 0, speedLimit)])
            ], currentSegment: "s", upcomingManeuvers: [maneuver], currentLaneGuidance: lanes,
            tripTravelEstimates: estimates, maneuverTravelEstimates: estimates)
    }()

    static var fullState: VehicleState {
        var state = VehicleState()
        state.phase = .paused(.rerouting, description: ["d"])
        state.previews = [self.trip]
        state.trip = self.trip
        state.maneuvers = self.route.maneuvers
        state.laneGuidances = self.route.laneGuidances
        state.segments = self.route.segments
        state.upcomingManeuvers = self.route.upcomingManeuvers
        state.currentLaneGuidance = self.route.currentLaneGuidance
        state.currentSegment = "s"
        state.currentRoadName = ["r"]
        state.tripEstimates = self.estimates
        state.maneuverEstimates[ManeuverID(rawValue: 1)] = self.estimates
        (state.speedLimit, state.nextSpeedLimit) = (self.speedLimit, self.nextSpeedLimit)
        state.alert = self.alert
        state.withheld = [.routeSegments: .notRequested]
        return state
    }

    /// A line of every kind, and of every message that a vehicle may receive.
    private static var jsonLines: [String] {
        let generation: UInt32 = 1
        let publications: [Publication] = [
            .tripPreviews([self.trip], selected: "t"),
            .startGuidance(self.trip, generation: generation, self.route),
            .updateTrip(self.trip), .addManeuvers(self.route.maneuvers, generation: generation),
            .addLaneGuidances(self.route.laneGuidances, generation: generation),
            .addRouteSegments(self.route.segments, generation: generation),
            .upcomingManeuvers([ManeuverID(rawValue: 1)], generation: generation),
            .currentLaneGuidance(nil, generation: generation), .currentRoadName(["r"]),
            .maneuverState(.initial, generation: generation), .tripEstimates(self.estimates, .green),
            .maneuverEstimates(ManeuverID(rawValue: 1), self.estimates, generation: generation),
            .currentRouteSegment("s", generation: generation), .pauseGuidance(.loading, description: ["d"]),
            .resumeGuidance(generation: generation, .missedTurn, self.route), .showAlert(self.alert),
            .dismissAlert(1, .timeout), .shareDestination(shareID: "x", self.place), .finishGuidance,
            .cancelGuidance, .speedLimit(self.speedLimit, next: self.nextSpeedLimit),
            .publishExtension(
                PublishedExtension(name: ExtensionName(unchecked: "org.example.tyres"), content: [7], key: 1)),
        ]
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "c"))
        begin.withheld = [FeatureGrant(.charge, withheld: .policy)]
        let vehicle = VehicleID(unchecked: "v")
        let others: [Message] = [
            .snapshotBegin(begin), .snapshotEnd, .sessionSuspended(SessionSuspended(graceMilliseconds: 1)),
            .sessionRestored,
            .sessionEnded(SessionEnded(session: SessionID(1), reason: .finished)),
            .prompt(
                Prompt(
                    requestID: "r", waypoint: self.place, travelEstimates: self.estimates,
                    deadlineMilliseconds: 1)),
            .promptOver(PromptOver(requestID: "r", outcome: .accepted)),
            .requestOutcome(RequestOutcome(requestID: "r", vehicle: vehicle, outcome: .accepted)),
            .error(Rejection(.missing, field: "f", reason: "r")),
        ]
        let messages =
            publications.map { ClusterJSON.message(Self.update(.publication($0)), at: Self.time) }
            + others.map { ClusterJSON.message(Self.update($0), at: Self.time) }
        let connections: [ConnectionState] = [.connecting, .connected(resumed: true), .closed(.closed)]
        var ended = VehicleState()
        ended.phase = .ended(.finished)
        return messages + connections.map { ClusterJSON.connection($0, at: Self.time) }
            + [Self.fullState, ended].map { ClusterJSON.state($0, at: Self.time) }
            + [ClusterJSON.change(Self.fullState, since: ended, at: Self.time) ?? ""]
    }

    private static func update(_ message: Message) -> VehicleUpdate {
        VehicleUpdate(Envelope(message, session: SessionID(1), sequence: 1), VehicleState())
    }
}
