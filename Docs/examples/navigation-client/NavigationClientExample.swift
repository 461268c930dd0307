import WaymarkClient
import WaymarkModel

/// Guides a vehicle over two turns and offers it the destination. Declines stops on the way.
///
/// `NavigationClientExample [ADDRESS]`: where the gateway listens for navigation clients, by default this user's `waymarkd`.
@main struct NavigationClientExample {
    static func main() async throws {
        let address =
            CommandLine.arguments.dropFirst().first.flatMap(ServiceAddress.init) ?? .defaultNavigation
        try await withNavigationClient(to: address, .init(id: "example-app")) { client in
            let session = try await client.openSession(vehicles: .vehicles(["example-car"])) { inquiry, _ in
                print("the vehicle wants to stop at", inquiry.waypoint.nameVariants.first ?? "a place")
                return .decline(.declinedByUser)
            }
            print("waiting for a cluster that is ready to show")
            try await session.whenReady("example-car")
            try await Self.drive(session)
        }
    }

    static func drive(_ session: NavigationSession) async throws {
        let home = Waypoint(
            center: Coordinate(latitude: 47.141, longitude: 9.521), nameVariants: ["Vaduz"])
        let castle = Waypoint(
            center: Coordinate(latitude: 47.068, longitude: 9.503),
            nameVariants: ["Gutenberg Castle, Balzers", "Balzers"])
        let left = Maneuver(
            id: ManeuverID(rawValue: 1), type: .leftTurn,
            instructionVariants: ["Turn left onto Landstrasse", "Turn left"],
            roadFollowingManeuverVariants: ["Landstrasse"], notification: .withEstimates)
        let arrival = Maneuver(
            id: ManeuverID(rawValue: 2), type: .arriveAtDestination, instructionVariants: ["Arrive"])
        try await session.start(
            Trip(id: "castle", origin: home, destination: castle),
            route: RouteInformation(
                maneuvers: [left, arrival], upcomingManeuvers: [left.id, arrival.id],
                tripTravelEstimates: TravelEstimates(
                    distanceRemaining: .meters(9_800), timeRemaining: .seconds(840))))
        for (meters, state) in [(300, ManeuverState.initial), (120, .prepare), (10, .execute)] {
            try await session.updateEstimates(
                of: left.id, TravelEstimates(distanceRemaining: .meters(UInt32(meters))))
            try await session.setManeuverState(state)
            try await Task.sleep(for: .milliseconds(200))  // A real app publishes as the vehicle moves.
        }
        try await session.setUpcomingManeuvers([arrival.id])
        try await session.setCurrentRoadName(["Landstrasse"])
        let answers = try await session.share(castle, shareID: "castle")
        for (vehicle, answer) in answers { print(vehicle, "and the destination:", answer.explanation) }
        try await session.finish()
    }
}
