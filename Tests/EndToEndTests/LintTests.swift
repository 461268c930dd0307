import Foundation
import Testing
import WaymarkClient
import WaymarkModel

/// `waymark lint` beside real peers.
@Suite(.timeLimit(.minutes(5))) struct LintTests {
    /// Guidance of a client that makes one mistake of content and one of order; returns when the gateway has accepted both.
    private static func mistakes(_ daemon: RunningDaemon) async throws {
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5), nameVariants: ["Here"])
        let ids = [1, 2].map { ManeuverID(rawValue: $0) }
        try await session.start(
            Trip(id: "t", origin: place, destination: place),
            route: RouteInformation(
                maneuvers: [
                    Maneuver(id: ids[0], type: .enterRoundabout), Maneuver(id: ids[1], type: .leftTurn),
                ], upcomingManeuvers: ids))
        try await session.setCurrentRoadName(["A 13", "Autobahn A 13"])
        try await session.setUpcomingManeuvers([ids[1], ids[0]])
        try await session.whenAccepted()
        await client.close()
    }

    @Test func `lint prints what a client does wrong, and has status 1`() async throws {
        let daemon = try await RunningDaemon.observed()
        let lint = try daemon.waymark("lint", "--live")
        try await lint.line(containing: "judging 0 vehicles, 0 clients, 0 sessions")
        let client = Task { try await Self.mistakes(daemon) }
        let kind = try await lint.line(containing: "LINT-MANEUVER-KIND")
        #expect(
            kind.contains(
                /app: maneuver 1 is enterRoundabout, and its junction is no roundabout \(session \d+, route\.man/
            ))
        #expect(kind.prefixMatch(of: /\d\d:\d\d:\d\d\.\d{3} {2}LINT/) != nil)
        try await lint.line(containing: "LINT-TEXT-ORDER  app: \"Autobahn A 13\" is longer")
        try await lint.line(containing: "LINT-UPCOMING-ORDER  app: maneuver 1 comes before 2")
        try await client.value
        lint.signal(SIGINT)
        #expect(await lint.end() == 1)
        #expect(lint.lines.contains("3 findings"))
        #expect(
            lint.lines.last
                == "LINT-TEXT-ORDER  1  The variants of a text are not ordered from the longest to the shortest."
        )
        try await daemon.stop()
    }

    @Test func `what is there already is judged, and what is allowed is not printed`() async throws {
        let daemon = try await RunningDaemon.observed()
        let client = try await NavigationClient.connect(
            to: try #require(ServiceAddress(daemon.navigation)), .init(id: "app"))
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        let place = Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5), nameVariants: ["A", "AB"])
        let maneuvers = [
            Maneuver(id: ManeuverID(rawValue: 1), type: .enterRoundabout),
            Maneuver(id: ManeuverID(rawValue: 2), type: .leftTurn),
        ]
        try await session.start(
            Trip(id: "t", origin: place, destination: place),
            route: RouteInformation(maneuvers: maneuvers, upcomingManeuvers: maneuvers.map(\.id)))
        try await session.whenAccepted()
        let lint = try daemon.waymark(
            "lint", "--live", "--json", "--allow", "LINT-MANEUVER-KIND=the map lacks roundabouts",
            "--allow", "LINT-TEXT-ORDER=names come from the map", "--allow", "LINT-LANE-LINK=no lanes")
        try await lint.line(containing: "judging 1 vehicle, 1 client, 1 session")
        try await session.setUpcomingManeuvers(maneuvers.reversed().map(\.id))
        try await lint.line(containing: "LINT-UPCOMING-ORDER")
        lint.signal(SIGTERM)
        #expect(await lint.end() == 1)
        let objects = lint.lines.map(ProgramTests.object)
        let findings = objects.filter { $0["kind"] as? String == "finding" }
        #expect(findings.map { $0["rule"] as? String } == ["LINT-UPCOMING-ORDER"])
        #expect(findings.first?["peer"] as? String == "app")
        #expect(findings.first?["field"] as? String == "maneuver_ids[1]")
        let summary = try #require(objects.last)
        #expect(summary["kind"] as? String == "lint")
        let rules = try #require(summary["rules"] as? [[String: Any]])
        let allowed = rules.filter { $0["allowed"] != nil }
        #expect(
            allowed.map { $0["rule"] as? String } == [
                "LINT-MANEUVER-KIND", "LINT-LANE-LINK", "LINT-TEXT-ORDER",
            ])
        #expect(allowed.map { $0["found"] as? Int } == [1, 0, 2])
        await client.close()
        try await daemon.stop()
    }

    @Test func `a good drive has no findings at any speed, and lint says which rules are off`() async throws {
        let daemon = try await RunningDaemon.observed("state")
        let lint = try daemon.waymark("lint", "--live", "--vehicle", "car")
        try await lint.line(containing: "judging")
        let cluster = try daemon.waymark("cluster", "--id", "car", "--until", "finished")
        try await cluster.line(containing: "connected")
        let navigate = try daemon.waymark(
            "navigate", "--vehicle", "car", "--speed", "400", "--route", ProgramTests.route("vaduz-balzers"))
        #expect(await navigate.end() == 0)
        #expect(await cluster.end() == 0)
        lint.signal(SIGINT)
        #expect(await lint.end() == 0)
        #expect(lint.lines.filter { $0.contains("LINT-") } == [])
        try await lint.errorLine {
            $0.hasPrefix("texts and places are hidden, so ")
                && $0.contains("LINT-TEXT-ORDER, LINT-TEXT-LONG, LINT-SEGMENT-JOIN, LINT-SEGMENT-LINE are")
                ? $0 : nil
        }
        try await daemon.stop()
    }

    @Test func `lint has status 2 without a gateway, and 64 for a wrong argument`() async throws {
        let lint = try Program("waymark", ["lint", "--live", "--connect", "unix:/nowhere/socket"])
        #expect(await lint.end() == 2)
        #expect(lint.lines == [])
        for arguments in [
            [], ["--live", "--allow", "LINT-LANE"], ["--live", "--allow", "LINT-LANE-LINK"],
            ["--live", "--allow", "LINT-LANE-LINK= "], ["--live", "--vehicle", "no car"],
            ["--live", "--allow", "LINT-LANE-LINK=a", "--allow", "LINT-LANE-LINK=b"],
        ] {
            let lint = try Program("waymark", ["lint"] + arguments)
            #expect(await lint.end() == 64, "\(arguments)")
        }
    }
}
