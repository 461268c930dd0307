internal import WaymarkInspector

extension Answer {
    /// The actions of a vehicle.
    struct Actions: Encodable {
        let enabled: Bool
        /// The reason why actions are not possible.
        var reason: String?
        var vehicle: String?
        var endpoint: OwnEndpoint?
        var prompt: Prompt?
        var share: OfferedShare?
        /// Seconds, so that the page knows which of two answers is newer.
        var at: Double?
        let done: [Action]
    }

    /// The inspector's own endpoint.
    struct OwnEndpoint: Encodable {
        let endpoint: String
        var state: String
        var reason: String?
        /// The name of the configuration with which it is connected as a display.
        var configuration: String?
        /// The state that it holds as a display.
        var held: JSONPart?
        /// The last messages that it received, as a display; the newest is the last.
        var received: [Received]?
    }

    struct Received: Encodable {
        let message: String
        let at: Double
    }

    struct Prompt: Encodable {
        let requestID: String
        let waypoint: JSONPart
        let travelEstimates: JSONPart
        let deadline: Double
    }

    struct OfferedShare: Encodable {
        let shareID: String
        let destination: JSONPart
        let deadline: Double
    }

    struct Action: Encodable {
        let id: String
        let action: String
        let text: String
        let at: Double
        /// `underWay` or `ended`.
        let state: String
        var outcome: String?
        var explanation: String?
        var requestID: String?
    }

    /// The action that has begun.
    struct Begun: Encodable {
        let id: String
    }
}
