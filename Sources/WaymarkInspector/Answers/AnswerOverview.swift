extension Answer {
    struct Overview: Encodable {
        let totals: Totals
        let truncated: Bool
        let vehicles: [Joined<VehicleRecord, OverviewRow>]
        var next: String?
    }

    /// The overview in a stream: rows that are new or differ from those that were told.
    struct OverviewEvent: Encodable {
        let view: String
        let totals: Totals
        let truncated: Bool
        let order: [String]
        var at: Double
        var changed: [Joined<VehicleRecord, OverviewRow>]
        var gone: [String]
        var next: String?
    }

    struct Totals: Encodable {
        let vehicles: Int
        let clients: Int
        let sessions: Int
        let requests: Int
        let matching: Int
        var sessionsWithoutContent: Int?
        var waitingBytes: Int?
        var framesPerSecond: Double?
        var deliveriesPerSecond: Double?
    }

    /// The first clients and sessions.
    struct Others: Encodable {
        let clients: [Joined<ClientRecord, Connection>]
        var sessions: [SessionRecord]
        let othersTruncated: Bool
    }

    /// The members of a vehicle's row beside its record.
    struct OverviewRow: Encodable {
        let openRequests: Int
        let findings: Int
        var waitingBytes: Int?
        var client: String?
        var phase: String?
        var suspended: Bool?
        var generation: Int?
        var sequence: Int?
        var currentRoadName: String?
        var destination: String?
        var nextManeuverType: String?
        var nextManeuver: String?
        var trafficSide: String?
        var junctionExitAngle: Int?
        var distanceToManeuverMeters: Int?
        var distanceLeftMeters: Int?
        var timeLeftSeconds: Int?
        var ageSeconds: Double?
        let derived: [String]
    }
}
