public import WaymarkClient
public import WaymarkModel

/// A way through another stop, computed by the app's own routing.
public struct Detour: Sendable {
    /// The trip with the stop among its waypoints.
    public let trip: Trip
    /// From where the vehicle is now.
    public let route: RouteInformation
    /// Of the whole trip with the stop.
    public let estimates: TravelEstimates

    /// A detour.
    public init(trip: Trip, route: RouteInformation, estimates: TravelEstimates) {
        self.trip = trip
        self.route = route
        self.estimates = estimates
    }
}

/// Opens a session in which the vehicle may ask for stops. `detour` computes the way through a stop; nil if no road leads there.
public func openSession(
    _ client: NavigationClient, vehicle: String,
    detour: @escaping @Sendable (Waypoint) async -> Detour?
) async throws -> NavigationSession {
    try await client.openSession(vehicles: .vehicles([vehicle])) { inquiry, session in
        guard let detour = await detour(inquiry.waypoint) else { return .decline(.invalid) }
        return .estimates(detour.estimates) {
            try await session.pause(.rerouting)
            try await session.updateTrip(detour.trip)
            try await session.resume(route: detour.route, reason: .waypointModified)
        }
    }
}
