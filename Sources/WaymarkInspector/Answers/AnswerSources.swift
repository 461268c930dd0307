extension Answer {
    struct Sources: Encodable {
        let version: Int
        let software: String
        let now: String
        let act: Act
        let redact: Bool
        let basemap: Bool
        let sources: [Source]
    }

    /// Whether actions are possible, and why not.
    struct Act: Encodable {
        let enabled: Bool
        var reason: String?
    }

    struct Source: Encodable {
        let source: String
        let begin: String
        let from: Double
        let to: Double
        /// `live` or `recording`.
        let kind: String
        let gateway: Gateway
        var address: String?
        var connection: [String: String]?
        var kept: Kept?
        var file: String?
        var recording: Recording?
    }

    struct Gateway: Encodable {
        let showsContent: Bool
        var instance: String?
        var software: String?
        var start: String?
    }

    struct Kept: Encodable {
        let entries: Int
        let bytes: Int
        let bytesMax: Int
        let dropped: Int
        let missed: Int
        let contentBytes: Int
        let contentBytesMax: Int
        let sessionsWithoutContent: Int
    }

    struct Recording: Encodable {
        let bytes: Int
        let whole: Bool
        let messages: Int
        let damagedChunks: Int
        var redacted: Bool?
        var visibility: String?
        var recorder: String?
        var run: [String: String]?
    }

    // MARK: Names

    struct Names: Encodable {
        let maneuverTypes: [NumberedName]
        let laneStatuses: [NumberedName]
        let routeSources: [NumberedName]
        let clusterSettings: [NumberedName]
        let contentStyles: [NumberedName]
        let stopKinds: [NumberedName]
        let junctionTypes: [NumberedName]
        let distanceUnits: [NumberedName]
        let zoomDirections: [NumberedName]
        let outcomes: [ExplainedName]
        let features: [ExplainedName]
        let withholdingReasons: [ExplainedName]
        let reasons: [String]
        let eventKinds: [String]
        let entryKinds: [String]
        let messages: [String]
        let lintRules: [LintRule]
    }

    struct NumberedName: Encodable {
        let name: String
        let raw: Int
    }

    struct ExplainedName: Encodable {
        let name: String
        let text: String
    }

    struct LintRule: Encodable {
        let rule: String
        let sentence: String
    }

    // MARK: Profiles, and two states

    /// The profiles that ship, and what profiles can say.
    struct Profiles: Encodable {
        let profiles: [Profile]
        let features: [String]
        let limits: [String: ProfileLimit]
        let distanceUnits: [String]
    }

    struct Profile: Encodable {
        let name: String
        let profile: JSONPart
    }

    struct ProfileLimit: Encodable {
        let unit: String
        let max: Int
    }

    struct Comparison: Encodable {
        let a: ComparedState
        let b: ComparedState
        let differences: [Difference]
        let truncated: Bool
    }

    struct ComparedState: Encodable {
        let source: String
        let at: Double
        let vehicle: String
        var state: JSONPart?
    }

    struct Difference: Encodable {
        let path: String
        var a: JSONPart?
        var b: JSONPart?
    }

    // MARK: Events

    /// The view that an event is for.
    struct View: Encodable {
        let view: String
    }

    struct Gap: Encodable {
        let missed: Int
    }

    /// A sign of life.
    struct Beat: Encodable {
        let at: Double
        let from: Double
        let now: String
    }
}
