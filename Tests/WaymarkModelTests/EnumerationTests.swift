import Testing
import WaymarkModel

@Suite struct EnumerationTests {
    @Test func `raw values are CarPlay's`() {
        #expect(ManeuverType.allKnown.map(\.rawValue) == Array(0...53))
        #expect(JunctionType.allKnown.map(\.rawValue) == [0, 1])
        #expect(TrafficSide.allKnown.map(\.rawValue) == [0, 1])
        #expect(LaneStatus.allKnown.map(\.rawValue) == [0, 1, 2])
        #expect(ManeuverState.allKnown.map(\.rawValue) == [0, 1, 2, 3])
        #expect(PauseReason.allKnown.map(\.rawValue) == [1, 2, 3, 4, 5])
        #expect(RerouteReason.allKnown.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(RouteSource.allKnown.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(ManeuverType.enterFerry.rawValue == 15)
        #expect(ManeuverType.changeHighwayRight.rawValue == 53)
    }

    @Test func `every known value comes back from its raw value, and an unknown one survives`() {
        for type in ManeuverType.allKnown { #expect(ManeuverType(rawValue: type.rawValue) == type) }
        #expect(ManeuverType(rawValue: 54) == .unrecognized(54))
        #expect(ManeuverType(rawValue: 54).rawValue == 54)
    }

    @Test func `a speed limit is that of the last span that began`() {
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let segment = RouteSegment(
            id: "s", origin: place, destination: place,
            speedLimits: [
                SpeedLimitSpan(from: 2, SpeedLimit(80, .kilometersPerHour)),
                SpeedLimitSpan(from: 4, .unlimited),
            ])
        let limits = (0...5).map { segment.speedLimit(atPoint: $0).status }
        #expect(limits == [.unknown, .unknown, .limited, .limited, .none, .none])
        #expect(SpeedLimit(35, .milesPerHour).value == 35)
        #expect(SpeedLimitStatus(rawValue: 3) == .unrecognized(3))
    }

    @Test func `exits 1 to 19 have a type each way, others have none`() {
        for exit in UInt8(1)...19 {
            #expect(ManeuverType.roundaboutExit(exit)?.rawValue == 27 + UInt32(exit))
            #expect(ManeuverType.roundaboutExit(exit)?.roundaboutExit == exit)
        }
        #expect(ManeuverType.roundaboutExit(0) == nil)
        #expect(ManeuverType.roundaboutExit(20) == nil)
        #expect(ManeuverType.sharpLeftTurn.roundaboutExit == nil)
    }

    @Test(arguments: [
        (0, 0), (180, -180), (-180, -180), (181, -179), (540, -180), (-270, 90), (359, -1), (.max, 7),
        (.min, -8),
    ])
    func `angles are turned into the range`(_ given: Int, _ expected: Int16) {
        #expect(Angle.degrees(given).degrees == expected)
    }

    @Test func `distances are shown as clusters do`() {
        func tenths(_ meters: UInt32, _ units: DistanceUnits) -> (UInt32, DistanceUnit) {
            let shown = DisplayDistance.rounded(.meters(meters), units: units)
            return (shown.valueTenths, shown.unit)
        }
        #expect(tenths(44, .metric) == (400, .meters))
        #expect(tenths(430, .metric) == (4_500, .meters))
        #expect(tenths(980, .metric) == (10, .kilometers))
        #expect(tenths(4_560, .metric) == (46, .kilometers))
        #expect(tenths(12_600, .metric) == (130, .kilometers))
        #expect(tenths(100, .imperialFeet) == (3_500, .feet))
        #expect(tenths(1_609, .imperialFeet) == (10, .miles))
        #expect(tenths(100, .imperialYards) == (1_000, .yards))
    }
}
