import Testing
import WaymarkModel
import WaymarkRoutes

@Suite struct MappingTests {
    /// CarPlay's raw values by type and modifier, in the order uturn, sharp left, left, slight left, straight, slight
    /// right, right, sharp right, none. The table of Docs/routes.md.
    static let osrm: [(OSRMManeuver.Kind, [UInt32])] = [
        (.turn, [4, 47, 1, 49, 3, 50, 2, 48, 0]),
        (.continue, [4, 47, 1, 49, 5, 50, 2, 48, 5]),
        (.newName, [4, 47, 1, 3, 3, 3, 2, 48, 3]),
        (.endOfRoad, [4, 20, 20, 20, 3, 21, 21, 21, 0]),
        (.fork, [4, 13, 13, 13, 3, 14, 14, 14, 5]),
        (.merge, [4, 13, 13, 13, 5, 14, 14, 14, 5]),
        (.onRamp, [9, 9, 9, 9, 9, 9, 9, 9, 9]),
        (.offRamp, [8, 22, 22, 22, 8, 23, 23, 23, 8]),
        (.roundabout, [19, 6, 6, 6, 6, 6, 6, 6, 6]),
        (.rotary, [19, 6, 6, 6, 6, 6, 6, 6, 6]),
        (.roundaboutTurn, [19, 47, 1, 49, 3, 50, 2, 48, 6]),
        (.exitRoundabout, [7, 7, 7, 7, 7, 7, 7, 7, 7]),
        (.exitRotary, [7, 7, 7, 7, 7, 7, 7, 7, 7]),
        (.depart, [18, 11, 11, 11, 11, 11, 11, 11, 11]),
        (.arrive, [12, 24, 24, 24, 12, 25, 25, 25, 12]),
        (.useLane, [5, 5, 5, 5, 5, 5, 5, 5, 5]),
        (.notification, [4, 13, 13, 13, 5, 14, 14, 14, 5]),
    ]

    private static let directions: [TurnDirection?] = TurnDirection.allCases + [nil]

    @Test func `the OSRM table has a row for every type`() {
        #expect(Set(Self.osrm.map(\.0)) == Set(OSRMManeuver.Kind.allCases))
    }

    @Test(arguments: osrm)
    func `every type and modifier of OSRM maps to its maneuver`(_ kind: OSRMManeuver.Kind, _ types: [UInt32])
    {
        for (direction, type) in zip(Self.directions, types) {
            let found = OSRMManeuver(kind: kind, direction: direction).type
            #expect(found == ManeuverType(rawValue: type), "\(kind) \(direction?.rawValue ?? "none")")
        }
    }

    @Test func `an unknown type of OSRM is a turn`() {
        for (direction, type) in zip(Self.directions, Self.osrm[0].1) {
            #expect(OSRMManeuver(kind: nil, direction: direction).type == ManeuverType(rawValue: type))
        }
    }

    @Test(arguments: [OSRMManeuver.Kind.roundabout, .rotary], 1...255)
    func `exits up to 19 have separate maneuver types`(_ kind: OSRMManeuver.Kind, _ exit: UInt8) {
        for direction in Self.directions {
            let found = OSRMManeuver(kind: kind, direction: direction, exit: exit).type
            let numbered: ManeuverType =
                exit <= 19 ? ManeuverType(rawValue: 27 + UInt32(exit)) : .exitRoundabout
            #expect(found == (direction == .uTurn ? .uTurnAtRoundabout : numbered))
        }
    }

    @Test(arguments: OSRMManeuver.Kind.allCases)
    func `every type of maneuver to, from or on a ferry is a ferry maneuver`(_ kind: OSRMManeuver.Kind) {
        let expected: [(OSRMManeuver.Roads.Ferry, ManeuverType)] = [
            (.enter, .enterFerry), (.leave, .exitFerry), (.change, .changeFerry),
        ]
        for (ferry, type) in expected {
            let found = OSRMManeuver(kind: kind, direction: .left, roads: .init(ferry: ferry)).type
            switch kind {
            case .depart: #expect(found == .startRoute)
            case .arrive: #expect(found == .arriveAtDestinationLeft)
            default: #expect(found == type)
            }
        }
    }

    @Test func `between motorways a fork or a merge changes the motorway`() {
        let roads = OSRMManeuver.Roads(isChangeOfMotorway: true)
        for kind in [OSRMManeuver.Kind.fork, .merge] {
            #expect(OSRMManeuver(kind: kind, direction: .slightLeft, roads: roads).type == .changeHighwayLeft)
            #expect(OSRMManeuver(kind: kind, direction: .right, roads: roads).type == .changeHighwayRight)
            #expect(OSRMManeuver(kind: kind, direction: .straight, roads: roads).type == .changeHighway)
            #expect(OSRMManeuver(kind: kind, direction: nil, roads: roads).type == .changeHighway)
        }
        #expect(OSRMManeuver(kind: .turn, direction: .left, roads: roads).type == .leftTurn)
    }

    @Test func `types are recognised in the spellings of OSRM's variants`() {
        for kind in OSRMManeuver.Kind.allCases { #expect(OSRMManeuver.Kind(name: kind.rawValue) == kind) }
        #expect(OSRMManeuver.Kind(name: "endofroad") == .endOfRoad)
        #expect(OSRMManeuver.Kind(name: "end_of_road") == .endOfRoad)
        #expect(OSRMManeuver.Kind(name: "Exit Roundabout") == .exitRoundabout)
        #expect(OSRMManeuver.Kind(name: "ramp") == .onRamp)
        #expect(OSRMManeuver.Kind(name: "teleport") == nil)
        #expect(OSRMManeuver.Kind(name: "") == nil)
    }

    /// By Valhalla's number; the roundabout has its own test.
    static let valhalla: [UInt32] = [
        0, 11, 11, 11, 12, 25, 24, 3, 5, 50, 2, 48, 4, 4, 47, 1, 49, 9, 9, 9, 23, 22, 3, 14, 13, 5, 6, 7, 15,
        16, 10,
        0, 0, 10, 0, 0, 0, 14, 13, 0, 0, 0, 0, 0, 0, 10,
    ]

    @Test func `every type of Valhalla maps to its maneuver`() {
        #expect(ValhallaManeuver.allCases.map(\.rawValue) == Array(0...45))
        for (kind, type) in zip(ValhallaManeuver.allCases, Self.valhalla) {
            let found = kind.type(exit: nil, leavesMotorway: false, leavesFerry: false)
            #expect(found == ManeuverType(rawValue: type), "\(kind)")
        }
    }

    @Test func `maneuver types that Valhalla leaves to neighbouring steps`() {
        #expect(
            ValhallaManeuver.rampStraight.type(exit: nil, leavesMotorway: true, leavesFerry: false)
                == .offRamp)
        #expect(
            ValhallaManeuver.ferryEnter.type(exit: nil, leavesMotorway: false, leavesFerry: true)
                == .changeFerry)
        let enter = ValhallaManeuver.roundaboutEnter
        for exit in UInt8(1)...19 {
            #expect(
                enter.type(exit: exit, leavesMotorway: false, leavesFerry: false)
                    == ManeuverType(rawValue: 27 + UInt32(exit)))
        }
        #expect(enter.type(exit: 20, leavesMotorway: false, leavesFerry: false) == .exitRoundabout)
        #expect(
            ValhallaManeuver.start.type(exit: 3, leavesMotorway: false, leavesFerry: false) == .startRoute)
    }

    static let graphHopper: [(Int, UInt32)] = [
        (-99, 0), (-98, 4), (-8, 4), (-7, 13), (-6, 7), (-3, 47), (-2, 1), (-1, 49), (0, 5), (1, 50), (2, 2),
        (3, 48),
        (4, 12), (5, 12), (6, 6), (7, 14), (8, 4), (9, 15),
    ]

    @Test func `every sign of GraphHopper maps to its maneuver`() throws {
        #expect(GraphHopperManeuver.allCases.map(\.rawValue) == Self.graphHopper.map(\.0))
        for (sign, type) in Self.graphHopper {
            let kind = try #require(GraphHopperManeuver(rawValue: sign))
            #expect(kind.type(exit: nil, isFirst: false) == ManeuverType(rawValue: type))
        }
        #expect(GraphHopperManeuver.continue.type(exit: nil, isFirst: true) == .startRoute)
        #expect(GraphHopperManeuver.useRoundabout.type(exit: 4, isFirst: false) == .roundaboutExit4)
        #expect(GraphHopperManeuver.useRoundabout.type(exit: 20, isFirst: false) == .exitRoundabout)
    }

    @Test(arguments: [
        (ManeuverType.leftTurn, -44, ManeuverType.slightLeftTurn), (.leftTurn, -45, .leftTurn),
        (.leftTurn, -135, .leftTurn), (.leftTurn, -136, .sharpLeftTurn), (.leftTurn, 60, .slightLeftTurn),
        (.leftTurn, 61, .leftTurn), (.leftTurn, 170, .sharpLeftTurn), (.rightTurn, 10, .slightRightTurn),
        (.rightTurn, -60, .slightRightTurn), (.rightTurn, -180, .sharpRightTurn),
        (.sharpLeftTurn, -60, .leftTurn), (.sharpRightTurn, 134, .rightTurn),
        (.sharpRightTurn, 136, .sharpRightTurn), (.slightLeftTurn, -46, .leftTurn),
        (.slightRightTurn, 0, .slightRightTurn), (.leftTurnAtEnd, -10, .leftTurnAtEnd),
        (.keepLeft, -90, .keepLeft), (.uTurn, 90, .uTurn), (.straightAhead, 90, .straightAhead),
    ])
    func `a turn is slight below 45 degrees and sharp above 135 degrees`(
        _ said: ManeuverType, _ degrees: Int, _ type: ManeuverType
    ) {
        #expect(said.turning(by: .degrees(degrees)) == type)
        #expect(said.turning(by: nil) == said)
    }

    @Test func `straight ahead the road's name changes, and a road that is followed keeps it`() {
        for type in [ManeuverType.straightAhead, .followRoad] {
            #expect(type.leading(from: ["A 13", "13"], to: ["A 13"]) == .followRoad)
            #expect(type.leading(from: ["Hauptstrasse (B 3)", "B 3"], to: ["B 3"]) == .straightAhead)
            #expect(type.leading(from: [], to: ["A 13"]) == type)
            #expect(type.leading(from: ["A 13"], to: []) == type)
        }
        #expect(ManeuverType.keepLeft.leading(from: ["A"], to: ["B"]) == .keepLeft)
    }

    @Test func `receivers recognise every arrow by its angle`() {
        let angles = TurnDirection.allCases.map { Int($0.laneAngle.degrees) }
        #expect(angles == [-180, -150, -90, -30, 0, 30, 90, 150])
        for direction in TurnDirection.allCases { #expect(TurnDirection(direction.laneAngle) == direction) }
    }

    @Test(arguments: [
        (0, TurnDirection.straight), (15, .straight), (16, .slightRight), (-44, .slightLeft), (45, .right),
        (-134, .left), (135, .sharpRight), (-169, .sharpLeft), (170, .uTurn), (-180, .uTurn),
    ])
    func `an angle maps to its direction`(_ degrees: Int, _ direction: TurnDirection) {
        #expect(TurnDirection(.degrees(degrees)) == direction)
    }

    @Test func `lane words and lane bits mean the same arrows`() throws {
        for direction in TurnDirection.allCases {
            #expect(try #require(LaneArrows.direction(indication: direction.rawValue)) == direction)
        }
        #expect(try #require(LaneArrows.direction(indication: "none")) == nil)
        #expect(LaneArrows.direction(indication: "sideways") == .none)
        #expect(LaneArrows.directions(mask: 1) == [])
        #expect(LaneArrows.directions(mask: 2 | 64) == [.straight, .right])
        #expect(LaneArrows.directions(mask: 512) == [.slightLeft])
        #expect(LaneArrows.directions(mask: 1_024) == [.slightRight])
        #expect(LaneArrows.directions(mask: 2_046).count == 10)
    }

    @Test func `only a usable lane has a highlighted angle, which is one of its arrows`() {
        let unusable = Lane(directions: [.left], taken: .left, maneuver: .left, status: .notGood)
        #expect(unusable.highlightedAngle == nil)
        let said = Lane(
            directions: [.right, .straight], taken: .right, maneuver: .straight, status: .preferred)
        #expect(said.angles == [.degrees(0), .degrees(90)])
        #expect(said.highlightedAngle == .degrees(90))
        // OSRM itself does not say which arrow to follow.
        let nearest = Lane(
            directions: [.straight, .right], taken: nil, maneuver: .slightRight, status: .good)
        #expect(nearest.highlightedAngle == .degrees(0))
        let foreign = Lane(
            directions: [.straight, .right], taken: .left, maneuver: .sharpRight, status: .good)
        #expect(foreign.highlightedAngle == nil, "the nearest arrow is 60 degrees from the maneuver")
        let measured = Lane(
            directions: [.straight, .right], taken: nil, maneuver: .sharpRight, angle: .degrees(136),
            status: .good)
        #expect(measured.highlightedAngle == nil)
        let near = Lane(
            directions: [.straight, .right], taken: nil, maneuver: .sharpRight, angle: .degrees(135),
            status: .good)
        #expect(
            near.highlightedAngle == .degrees(90), "it is 45 degrees from the maneuver's angle on the line")
        let bare = Lane(directions: [], taken: .left, maneuver: .left, status: .preferred)
        #expect(bare.angles == [] && bare.highlightedAngle == nil && bare.status == .preferred)
    }
}
