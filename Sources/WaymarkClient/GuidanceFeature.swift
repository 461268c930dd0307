package import WaymarkProtocol

/// A feature that a client may publish or answer, and an endpoint may receive or ask for. Each can be granted or withheld.
public enum GuidanceFeature: String, Sendable, Hashable, CaseIterable {
    /// Maneuvers, their states and their estimates.
    case maneuvers
    /// Lanes to take.
    case laneGuidance
    /// Names of exits.
    case exitLabels
    /// The name of the road that the vehicle is on.
    case currentRoadName
    /// The route's segments with their lines.
    case routeSegments
    /// Destinations that a client offers to its vehicles.
    case destinationSharing
    /// Alerts.
    case navigationAlerts
    /// Charging stops, and batteries on arrival.
    case charge
    /// The time zones of estimated arrivals.
    case timeZone
    /// Trips to choose from before guidance.
    case tripPreviews
    /// Speed limits: where the vehicle is, ahead, and along the line of the route.
    case speedLimit
    /// Requests of the vehicle: stops, destinations, the end of guidance.
    case requests
    /// Questions to the vehicle's user.
    case prompts
    /// A client that answers requests for a stop.
    case waypointRequests
    /// A client that answers requests for a drive.
    case destinationRequests
    /// Receipts: the numbers of the last publications that each endpoint has received and shown.
    case receipts
    /// Sessions that survive a lost connection.
    case resumption
    /// A client that is told which trip of its previews is selected, and that answers requests to start one.
    case tripRequests
    /// A client that simulates drives when it is asked to, or an endpoint that asks for it.
    case simulatedDrives
}

/// The reason why a feature is withheld.
public enum WithholdingReason: String, Sendable, Hashable, CaseIterable {
    /// The endpoint has not asked for it.
    case notRequested
    /// The endpoint, or the gateway, has no room for it.
    case noCapacity
    /// The client that guides does not provide it.
    case clientDoesNotProvide
    /// The trip says that it has none.
    case tripOptedOut
    /// The user has not agreed.
    case noConsent
    /// The gateway's operator withholds it.
    case policy
    /// The vehicle says that it does not show it now.
    case vehicleDoesNotWant
    /// No reason was given.
    case unspecified
}

extension GuidanceFeature {
    package init(_ feature: Feature) {
        self =
            switch feature {
            case .maneuvers: .maneuvers
            case .laneGuidance: .laneGuidance
            case .exitLabels: .exitLabels
            case .currentRoadName: .currentRoadName
            case .routeSegments: .routeSegments
            case .destinationSharing: .destinationSharing
            case .navigationAlerts: .navigationAlerts
            case .charge: .charge
            case .timeZone: .timeZone
            case .tripPreviews: .tripPreviews
            case .requests: .requests
            case .prompts: .prompts
            case .waypointRequests: .waypointRequests
            case .destinationRequests: .destinationRequests
            case .receipts: .receipts
            case .resumption: .resumption
            case .speedLimit: .speedLimit
            case .tripRequests: .tripRequests
            case .simulatedDrives: .simulatedDrives
            }
    }
}

extension WithholdingReason {
    package init(_ reason: WithheldReason?) {
        self =
            switch reason {
            case .notRequested: .notRequested
            case .noCapacity: .noCapacity
            case .clientDoesNotProvide: .clientDoesNotProvide
            case .tripOptedOut: .tripOptedOut
            case .noConsent: .noConsent
            case .policy: .policy
            case .vehicleDoesNotWant: .vehicleDoesNotWant
            case nil: .unspecified
            }
    }
}

extension [GuidanceFeature: WithholdingReason] {
    init(_ grants: [FeatureGrant]) {
        self.init(
            grants.map { (GuidanceFeature($0.feature), WithholdingReason($0.withheld)) },
            uniquingKeysWith: { first, _ in first })
    }
}
