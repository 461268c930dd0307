import ArgumentParser
import Foundation
import Testing
import WaymarkModel

@testable import WaymarkClient
@testable import WaymarkCommandLine

@Suite(.timeLimit(.minutes(2))) struct CommandTests {
    @Test func `the demo does all that it should`() async throws {
        try await Demo.parse(["--speed", "2000", "--json"]).run()
    }

    @Test func `the demo drives any other route, and its request is declined`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Sources/WaymarkCommandLine/Resources/routes/heidelberg-roundabout-lanes.json")
        try await Demo.parse(["--speed", "2000", "--json", "--route", file.path]).run()
    }

    @Test(arguments: Resources.profileNames)
    func `profiles that ship can be read`(_ name: String) throws {
        _ = try ClusterProfile.load(name)
    }

    @Test func `a wrong profile is refused by its key`() {
        for text in ["{\"limit\":{}}", "{\"limits\":{\"lanes\":1}}", "{\"locale\":5}", "[]"] {
            #expect(throws: (any Error).self) { try ClusterProfile.parse(Data(text.utf8), "p") }
        }
    }

    @Test func `a screen shows maneuver, distance, lanes and what is next`() {
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
        let text = ClusterScreen.lines(state, title: "car").joined(separator: "\n")
        for part in ["↻3  750 m", "Third exit", "lanes ← │ [↑]", "then → Turn right"] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test func `every key of the JSON is documented`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appending(path: "Docs/cluster-json.md"), encoding: .utf8)
        var state = VehicleState()
        let place = Waypoint(center: Coordinate(latitude: 1, longitude: 2))
        state.trip = Trip(id: "t", origin: place, destination: place)
        state.maneuvers = [Maneuver(id: ManeuverID(rawValue: 1), type: .leftTurn)]
        state.upcomingManeuvers = [ManeuverID(rawValue: 1)]
        state.tripEstimates = TravelEstimates(distanceRemaining: .meters(1), timeRemaining: .seconds(1))
        state.maneuverEstimates[ManeuverID(rawValue: 1)] = state.tripEstimates
        state.alert = NavigationAlert(id: 1, titleVariants: ["x"])
        for match in ClusterJSON.state(state).matches(of: /"(\w+)":/) {
            #expect(page.contains("`\(match.1)`"), "\(match.1)")
        }
    }

    @Test(arguments: [
        ["navigate"], ["navigate", "--route", "f", "--speed", "0"], ["request", "waypoint", "1,2"],
        ["nonsense"],
    ])
    func `wrong command lines are refused`(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try Waymark.parseAsRoot(arguments) }
    }
}
