import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// The encoded frames of a drive: what a navigation client sends from the start of guidance on.
struct Drive {
    private static let maneuverCount: UInt32 = 8

    let session: SessionID
    private(set) var sequence: UInt64 = 0
    private var step: UInt32 = 0
    private var generation: UInt32 = 0

    init(session: SessionID) { self.session = session }

    /// Starts guidance, also again, along a route of eight maneuvers and a segment of `points` points.
    mutating func start(points: Int = 0) -> [UInt8] {
        let maneuvers = (1...Self.maneuverCount).map { id in
            Maneuver(
                id: ManeuverID(rawValue: id), type: .rightTurn,
                instructionVariants: ["Turn right onto road \(id)"])
        }
        var route = RouteInformation(
            maneuvers: maneuvers, upcomingManeuvers: [ManeuverID(rawValue: 1), ManeuverID(rawValue: 2)])
        var trip = Trip(id: "t", origin: Self.waypoint("Here"), destination: Self.waypoint("There"))
        if points > 0 {
            let segment = RouteSegment(
                id: "s", origin: trip.origin, destination: trip.destination,
                coordinates: (0..<points).map(Self.coordinate))
            route.segments = [segment]
            trip.routeSegmentsAvailable = true
        }
        self.generation += 1
        return self.encode(.startGuidance(trip, generation: self.generation, route))
    }

    /// `count` small states: of sixteen, seven have the estimates to the maneuver, seven those to the destination, one the upcoming
    /// maneuvers and one the name of the road. No state repeats the one before.
    mutating func states(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { _ -> [UInt8] in
            self.step += 1
            return self.encode(self.state)
        }
    }

    private var state: Publication {
        let estimates = TravelEstimates(
            distanceRemaining: .meters(1_000_000 + self.step), timeRemaining: .seconds(3_600),
            distanceRemainingToDisplay: DisplayDistance(valueTenths: self.step, unit: .kilometers))
        let maneuver = ManeuverID(rawValue: 1 + self.step / 16 % Self.maneuverCount)
        return switch self.step % 16 {
        case 0: .upcomingManeuvers([maneuver], generation: 1)
        case 8: .currentRoadName(["Highway \(self.step)", "H \(self.step)"])
        case let step where step % 2 == 1: .maneuverEstimates(maneuver, estimates, generation: 1)
        case _: .tripEstimates(estimates, .default)
        }
    }

    private mutating func encode(_ publication: Publication) -> [UInt8] {
        self.sequence += 1
        let envelope = Envelope(.publication(publication), session: self.session, sequence: self.sequence)
        return Array(Codec.encode(envelope).bytes)
    }

    /// A point of a road with bends: most coordinate differences take two bytes, some one.
    private static func coordinate(_ point: Int) -> Coordinate {
        let latitude = 47_100_000 + point * 200 + point % 7 * 30
        let longitude = 9_500_000 + point % 11 * 100
        return Coordinate(latitude: Double(latitude) / 1_000_000, longitude: Double(longitude) / 1_000_000)
    }

    private static func waypoint(_ name: String) -> Waypoint {
        Waypoint(center: Coordinate(latitude: 1, longitude: 2), nameVariants: [name])
    }
}
