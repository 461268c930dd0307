import WaymarkClient
import WaymarkModel

/// Guides a vehicle over two turns, offers it the destination, and answers its wish for a stop.
///
/// `NavigationClientExample [ADDRESS]`: ADDRESS is where the gateway takes navigation clients, by default that of this
/// user's `waymarkd`.
@main struct NavigationClientExample {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first.flatMap(ServiceAddress.init)
        let client = try await NavigationClient.connect(
            to: address ?? .defaultNavigation, .init(id: "example-app"))
        let session = try await client.openSession(
            vehicles: .vehicles(["example-car"]),
            onEvent: { event in print("event:", event) },
            onWaypoint: { inquiry in
                // A real app computes the detour here, and reroutes once the vehicle's user has agreed.
                print("the vehicle wants to stop at", inquiry.waypoint.nameVariants.first ?? "a place")
                return .decline(.declinedByUser)
            })
        print("waiting for a cluster that is ready to show")
        for await case .vehicleChanged(_, .joined, let endpoints) in await session.events
        where endpoints.contains(where: \.isReady) {
            break
        }
        try await self.drive(session)
        await client.close()
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
            roadFollowingManeuverVariants: ["Landstrasse"])
        let arrival = Maneuver(
            id: ManeuverID(rawValue: 2), type: .arriveAtDestination, instructionVariants: ["Arrive"])
        try await session.start(
            Trip(id: "castle", origin: home, destination: castle),
            route: RouteInformation(
                maneuvers: [left, arrival], upcomingManeuvers: [left.id, arrival.id],
                tripTravelEstimates: TravelEstimates(
                    distanceRemaining: .meters(9_800), timeRemaining: .seconds(840))))
        try await session.setCurrentRoadName(["Aulestrasse"])
        for (meters, state) in [(300, ManeuverState.initial), (120, .prepare), (10, .execute)] {
            try await session.updateEstimates(
                of: left.id, TravelEstimates(distanceRemaining: .meters(UInt32(meters))))
            try await session.setManeuverState(state)
            try await Task.sleep(for: .milliseconds(200))  // A real app publishes as the vehicle moves.
        }
        try await session.setUpcomingManeuvers([arrival.id])
        try await session.setCurrentRoadName(["Landstrasse"])

        let shared = try await session.share(castle, shareID: "castle")
        for (vehicle, result) in shared { print(vehicle, "and the destination:", result.explanation) }
        try await session.finish()
    }
}
