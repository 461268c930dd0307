extension Answer {
    /// The end of a part of the history.
    struct PartEnd: Encodable {
        let truncated: Bool
        /// The place where the next part begins.
        var next: String?
        let scanned: Int
        /// Seconds; nothing older is kept.
        let from: Double
    }

    struct Entries: Encodable {
        let entries: [Joined<JSONPart, Entry>]
        var last: String?
    }

    struct EntriesEvent: Encodable {
        let view: String
        let entries: [Joined<JSONPart, Entry>]
        let skipped: Int
    }

    /// The members of an entry beside its line of `waymark watch --json`.
    struct Entry: Encodable {
        let number: Int
        let entry: String
        let at: Double
        let time: String
        var text: String?
        var delivery: String?
        var vehicles: [String]?
    }

    // MARK: One frame

    struct Frame: Encodable {
        let entry: String
        let at: Double
        let line: Joined<JSONPart, Entry>
        let hex: String
        let tree: [FrameNode]
        let redacted: Bool
        var hexTruncated: Bool?
        let others: [FrameHop]
    }

    /// A node of a frame's tree; ranges are `[first, end)`.
    struct FrameNode: Encodable {
        let name: String
        let range: [Int]
        var valueRange: [Int]?
        var number: Int?
        var type: String?
        var text: String?
        var problem: String?
        var unknown: Bool?
        var value: JSONPart?
        var children: [FrameNode]?
    }

    /// The same publication on another hop.
    struct FrameHop: Encodable {
        let entry: String
        let at: Double
        let message: String
        let bytes: Int
        let fitted: Bool
        var from: String?
        var to: [String]?
    }

    // MARK: Updates and receipts

    struct Updates: Encodable {
        let rows: [Joined<UpdateCells, UpdateRow>]
    }

    /// The columns that are of the state.
    struct UpdateCells: Encodable {
        let generation: Int
        let maneuverState: String
        let upcoming: [Int]
        let maneuverCount: Int
        let laneGuidanceCount: Int
        let phase: String
        var pauseReason: String?
        var endReason: String?
        var currentRoadName: String?
        var speedLimit: String?
        var nextSpeedLimit: String?
        var destination: String?
        var laneGuidance: Int?
        var distanceLeftMeters: Int?
        var distanceLeftShown: Display?
        var timeLeftSeconds: Int?
        var toManeuverMeters: Int?
        var toManeuverShown: Display?
        var timeToManeuverSeconds: Int?
        var arrivalBatteryPerMille: Int?
        var departureBatteryPerMille: Int?
        var utcOffsetMinutes: Int?
        var rerouteReason: String?
        var arrival: String?
    }

    struct UpdateRow: Encodable {
        let entry: String
        let number: Int
        let at: Double
        let time: String
        let message: String
        let sequence: Int
        let session: Int
        let client: String
        let bytes: Int
        let rejected: Bool
        var fittedFor: [String]
        let derived: [String]
        let changed: [String]
    }

    struct Receipts: Encodable {
        let session: Int
        let published: Int
        let endpoints: [EndpointReceipts]
        let rows: [ReceiptRow]
        let truncated: Bool
        let why: [Reason]
    }

    struct EndpointReceipts: Encodable {
        let endpoint: String
        var received: Int?
        var shown: Int?
        var behind: Int?
        var behindAtLeast: Bool?
        var receiptAt: Double?
        /// Delays from when the gateway accepted publications until the endpoint had received them.
        var receivedDelays: Delays?
        /// The same until their content was on its display.
        var shownDelays: Delays?
    }

    struct Delays: Encodable {
        let count: Int
        let lastMilliseconds: Double
        let meanMilliseconds: Double
    }

    struct ReceiptRow: Encodable {
        let sequence: Int
        let message: String
        let entry: String
        let sentAt: Double
        let endpoints: [String: Confirmation]
    }

    struct Confirmation: Encodable {
        var receivedAt: Double?
        var shownAt: Double?
    }

    // MARK: Requests and shares

    struct Requests: Encodable {
        let requests: [Request]
        let truncated: Bool
    }

    struct Request: Encodable {
        let requestID: String
        let vehicle: String
        /// `stop` or `drive`.
        let request: String
        var stage: String
        var by: String?
        var begin: Double?
        var waypoint: JSONPart?
        var segment: String?
        var destination: JSONPart?
        var client: String?
        var session: Int?
        var deadline: Double?
        var end: Double?
        var outcome: String?
        var steps: [RequestStep]
        var why: RequestWhy?
    }

    struct RequestStep: Encodable {
        let at: Double
        let what: String
        let text: String
        let entry: String
        var peer: String?
        var outcome: String?
        var accepted: Bool?
        var travelEstimates: JSONPart?
        var deadline: Double?
        var field: String?
        var reason: String?
    }

    struct RequestWhy: Encodable {
        let text: String
        var by: String?
        /// The index of the step that decided.
        let step: Int
    }

    struct Destinations: Encodable {
        let destinations: [SharedDestination]
        let truncated: Bool
    }

    struct SharedDestination: Encodable {
        let shareID: String
        let destination: JSONPart
        var stage: String
        let client: String
        let at: Double
        let time: String
        let entry: String
        var by: String?
        var outcome: String?
    }

    // MARK: Findings and moments

    struct Findings: Encodable {
        let findings: [Finding]
        let truncated: Bool
        /// The part of the source that is judged, 0 to 1.
        let judging: Double
        let stopped: Bool
        let off: [String]
        let rules: [RuleCount]
        var unjudgedSessions: Int?
    }

    struct Finding: Encodable {
        let kind: String
        let rule: String
        let sentence: String
        let peer: String
        let number: Int
        let vehicles: [String]
        let at: Double
        let time: String
        let text: String
        var session: Int?
        var field: String?
        var values: [String: String]?
    }

    struct RuleCount: Encodable {
        let rule: String
        let found: Int
        let omitted: Int
    }

    struct Moments: Encodable {
        let from: Double
        let to: Double
        let moments: [Moment]
        let density: [Int]
        let truncated: Bool
        var next: Double?
    }

    struct Moment: Encodable {
        let at: Double
        let lane: String
        let text: String
        var event: String?
        var requestID: String?
        var verdict: String?
        var step: Int?
        var vehicles: [String]?
    }
}
