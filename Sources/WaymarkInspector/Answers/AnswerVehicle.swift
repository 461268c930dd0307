extension Answer {
    struct Vehicle: Encodable {
        let number: Int
        let why: [Reason]
        var vehicle: VehicleRecord?
        var client: Joined<ClientRecord, Connection>?
        var session: SessionRecord?
        var routeKey: String?
        var published: JSONPart?
        var held: JSONPart?
        var heldBy: Holder?
        var card: Card?
        var arrival: Arrival?
        var position: Position?
        var batteries: Batteries?
    }

    struct Holder: Encodable {
        let endpoint: String
        /// The way in which it is known what the endpoint holds.
        let basis: String
        let published: Int
        let derived: Bool
        let sent: Int
        let text: String
        var received: Int?
        var waitingBytes: Int?
        var conflated: Int?
    }

    /// The next maneuver as the endpoint shows it.
    struct Card: Encodable {
        let maneuver: Int
        let variants: [String]
        let maneuverState: String
        let glyph: Glyph
        let text: String
        var chosenVariant: String?
        var road: String?
        var exitLabel: String?
        var lanes: Int?
        var distanceMeters: Int?
        var timeSeconds: Int?
        var display: Display?
    }

    struct Glyph: Encodable {
        let shape: String
        let side: String
        var angle: Int?
        var elements: [Int]?
        var exit: Int?
    }

    struct Display: Encodable {
        let tenths: Int
        let unit: String
    }

    struct Arrival: Encodable {
        let time: String
        let derived: Bool
        var basis: String
        var utcOffsetMinutes: Int?
        var timeZone: String?
    }

    struct Position: Encodable {
        let coordinate: [Double]
        let segment: String
        let derived: Bool
        let basis: String
        let lengthMeters: Int
        let distanceLeftMeters: Int
    }

    struct Batteries: Encodable, Equatable {
        var arrivalPerMille: Int?
        var departurePerMille: Int?
    }

    // MARK: Tables

    struct Tables: Encodable {
        let maneuvers: [ManeuverRow]
        let laneGuidances: [LaneGuidanceRow]
        let segments: [Joined<JSONPart, SegmentRow>]
        let stops: [JSONPart]
        var routeKey: String?
        var routeSource: String?
        /// A sentence about how far the vehicle gets.
        var routeFeedback: String?
    }

    struct ManeuverRow: Encodable {
        let order: Int
        let id: Int
        let state: String
        let published: JSONPart
        let glyph: Glyph
        let text: String
        let why: [Reason]
        var addedBy: Int?
        var estimates: JSONPart?
        var held: JSONPart?
        var chosenVariant: Int?
        var distanceFromPreviousMeters: Int?
        var at: [Double]?
        var segment: String?
        var derived: [String]?
    }

    struct LaneGuidanceRow: Encodable {
        let order: Int
        let id: Int
        let current: Bool
        let linkedFrom: [Int]
        let published: JSONPart
        let text: String
        let why: [Reason]
        var held: JSONPart?
        var addedBy: Int?
    }

    /// The members of a segment's row beside the segment.
    struct SegmentRow: Encodable {
        let order: Int
        let current: Bool
        let points: PointCounts
        let why: [Reason]
        var lengthMeters: Int?
        var derived: [String]?
    }

    struct PointCounts: Encodable {
        let published: Int
        var held: Int?
    }

    // MARK: Lines

    struct Route: Encodable {
        var routeKey: String?
        var truncated: Bool?
        let segments: [RouteSegment]
        let maneuvers: [RouteManeuver]
        let places: [Joined<JSONPart, PlaceRole>]
        var position: Position?
        /// The south-western and the north-eastern corner.
        var bounds: [[Double]]?
    }

    struct RouteSegment: Encodable {
        let id: String
        let current: Bool
        let published: Line
        let why: [Reason]
        var held: Line?
    }

    struct Line: Encodable {
        let coordinates: [[Double]]
    }

    struct RouteManeuver: Encodable {
        let id: Int
        let coordinate: [Double]
        let segment: String
        let derived: Bool
    }

    struct PlaceRole: Encodable {
        let role: String
    }
}
