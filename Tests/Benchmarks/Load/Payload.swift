import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// The published bodies: those of real frames, all of one length, no two equal.
package enum Payload: Sendable, Hashable {
    /// The name of the road in three variants, 128 bytes.
    case roadName
    /// The distance and time to a maneuver, about 20 bytes: the most frequent publication of a drive.
    case estimates
    /// A route of one segment with this number of points. Each one starts guidance again.
    case route(points: Int)

    var type: MessageType { self.publication.type }

    /// The body, with the offsets of its numbers.
    func body() -> Template {
        let frame = Codec.encode(Envelope(.publication(self.publication), session: .none, sequence: 1))
        var template = Template(bytes: Array(frame.body))
        switch self {
        case .roadName:
            template.patches = Self.places(of: Array("00000000".utf8), in: template.bytes).map(Patch.decimal)
        case .estimates, .route:
            var varint: UInt32 = 0
            withUnsafeMutablePointer(to: &varint) {
                Patch.varint(0).apply(0, to: UnsafeMutableRawPointer($0))
            }
            let marker = withUnsafeBytes(of: varint) { Array($0) }
            template.patches = Self.places(of: marker, in: template.bytes).prefix(1).map(Patch.varint)
        }
        precondition(!template.patches.isEmpty, "a message without a number")
        return template
    }

    /// The start of guidance, which an endpoint receives in its snapshot.
    static func start(points: Int, generation: UInt32) -> Publication {
        var route = RouteInformation(
            maneuvers: (1...4).map { number in
                Maneuver(
                    id: ManeuverID(rawValue: number), type: .rightTurn,
                    instructionVariants: ["Turn right onto road \(number)"],
                    junctionExitAngle: .degrees(90))
            }, upcomingManeuvers: [ManeuverID(rawValue: 1), ManeuverID(rawValue: 2)])
        if points > 0 {
            route.segments = [
                RouteSegment(
                    id: "segment", origin: Self.waypoint("Vaduz"), destination: Self.waypoint("Balzers"),
                    coordinates: (0..<points).map(Self.coordinate))
            ]
        }
        let trip = Trip(id: "trip", origin: Self.waypoint("Vaduz"), destination: Self.waypoint("Balzers"))
        return .startGuidance(trip, generation: generation, route)
    }

    private var publication: Publication {
        switch self {
        case .roadName:
            .currentRoadName([
                "Rheintal/Walgau Autobahn A 14, in Richtung Feldkirch, km 00000000",
                "A 14 Rheintal/Walgau, Kilometer 00000000", "A 14, km 00000000",
            ])
        case .estimates:
            .maneuverEstimates(
                ManeuverID(rawValue: 1),
                TravelEstimates(
                    distanceRemaining: .meters(Patch.varintBase), timeRemaining: .seconds(20_000),
                    distanceRemainingToDisplay: DisplayDistance(valueTenths: 100_000, unit: .kilometers)),
                generation: 1)
        case .route(let points): Self.start(points: points, generation: Patch.varintBase)
        }
    }

    /// A point of a road with bends, so that coordinate differences have realistic lengths.
    private static func coordinate(_ point: Int) -> Coordinate {
        let latitude = 47_100_000 + point * 200 + point % 7 * 30
        let longitude = 9_500_000 + point % 11 * 100
        return Coordinate(latitude: Double(latitude) / 1_000_000, longitude: Double(longitude) / 1_000_000)
    }

    private static func waypoint(_ name: String) -> Waypoint {
        Waypoint(center: Coordinate(latitude: 47.1, longitude: 9.5), nameVariants: [name])
    }

    private static func places(of marker: [UInt8], in bytes: [UInt8]) -> [Int] {
        guard bytes.count >= marker.count else { return [] }
        return (0...bytes.count - marker.count).filter { bytes[$0..<$0 + marker.count].elementsEqual(marker) }
    }
}
