public import WaymarkClient
public import WaymarkModel

/// Opens a session in which the vehicle's user chooses one of the trips. `route` computes the route of a trip with its selected route
/// choice.
public func openSession(
    _ client: NavigationClient, vehicle: String, offering trips: [Trip],
    route: @escaping @Sendable (Trip) async throws -> RouteInformation
) async throws -> NavigationSession {
    let session = try await client.openSession(
        vehicles: .vehicles([vehicle]),
        onStartTrip: { inquiry, session in
            guard var trip = trips.first(where: { $0.id == inquiry.trip }) else { return .decline(.invalid) }
            trip.selectedRouteChoice = inquiry.routeChoice ?? trip.selectedRouteChoice
            let chosen = trip
            return .accept { try await session.start(chosen, route: route(chosen)) }
        })
    try await session.showPreviews(trips, selected: trips.first?.id ?? "")
    return session
}

/// Highlights what the vehicle's user selects, until the session is over.
public func followSelection(of trips: [Trip], in session: NavigationSession) async throws {
    var trips = trips
    for await event in await session.events {
        guard case .previewSelected(_, _, let trip, let routeChoice) = event,
            let index = trips.firstIndex(where: { $0.id == trip })
        else { continue }
        trips[index].selectedRouteChoice = routeChoice ?? trips[index].selectedRouteChoice
        try await session.showPreviews(trips, selected: trip)
    }
}
