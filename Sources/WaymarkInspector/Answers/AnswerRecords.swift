extension Answer {
    /// Whether an endpoint or client is connected, since when or until when, and what waits for it.
    struct Connection: Encodable {
        let connected: Bool
        var since: String?
        var until: String?
        var waitingBytes: Int?
        var conflated: Int?
    }

    struct VehicleRecord: Encodable {
        let vehicle: String
        let session: Int
        let navigatesItself: Bool
        let hasStopped: Bool
        let guidanceWanted: Bool
        let owner: String
        let standing: [String]
        /// None in a preview.
        var endpoints: [Joined<EndpointRecord, Connection>]?
        var routeSource: String?
        var routeFeedback: JSONPart?
    }

    struct EndpointRecord: Encodable {
        let endpoint: String
        let ready: Bool
        let features: [String]
        let withheld: [String: String]
        let standing: [String]
        var received: Int?
        var shown: Int?
        var limits: [String: Int]?
        var settings: Settings?
        var locale: String?
        var distanceUnits: String?
    }

    struct Settings: Encodable, Equatable {
        var compass: String?
        var speedLimit: String?
        var contentStyle: String?
        var limitedUserInterfaces: Int?
    }

    struct ClientRecord: Encodable {
        let client: String
        let displayName: String
        let priority: Int
        let owner: String
        let features: [String]
        let sessions: [Int]
    }

    struct SessionRecord: Encodable {
        let session: Int
        let client: String
        let phase: String
        let suspended: Bool
        let generation: Int
        let anyThatAsked: Bool
        let optedOut: [String]
        let vehicles: [String]
        var alertID: Int?
        var withoutContent: Bool?
        var sequence: Int?
        var retainedBytes: Int?
        var replayBytes: Int?
        var ageMilliseconds: Int?
        var framesPerSecond: Double?
    }
}
