package import WaymarkModel
internal import WaymarkProtocol

/// Makes valid values; the same seed makes the same ones.
package struct RandomValues: RandomNumberGenerator {
    private var random: SeededRandom

    package init(seed: UInt64) { self.random = SeededRandom(seed: seed) }

    package mutating func next() -> UInt64 { self.random.next() }

    package mutating func flag() -> Bool { self.next() & 1 == 0 }

    /// Often one of the ends of `range`, or a number at which a narrower type ends.
    package mutating func number<Number: FixedWidthInteger>(_ range: ClosedRange<Number>) -> Number {
        switch self.next() % 6 {
        case 0: return range.lowerBound
        case 1: return range.upperBound
        case 2:
            let edge = Self.edges[Int(self.next() % UInt64(Self.edges.count))]
            let number = Number(clamping: edge)
            return min(max(number, range.lowerBound), range.upperBound)
        default: return Number.random(in: range, using: &self)
        }
    }

    /// Where a sum or a conversion can leave a type's range.
    private static let edges: [UInt64] = [
        0, 1, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 53, 1 << 63 - 1, 1 << 63, .max - 1, .max,
    ]

    /// One of `values`, which must not be empty.
    package mutating func pick<Value>(_ values: [Value]) -> Value {
        values[self.number(0...values.count - 1)]
    }

    package mutating func maybe<Value>(_ make: (inout RandomValues) -> Value) -> Value? {
        self.flag() ? make(&self) : nil
    }

    package mutating func list<Value>(_ counts: ClosedRange<Int>, _ make: (inout RandomValues) -> Value)
        -> [Value]
    {
        (0..<Int.random(in: counts, using: &self)).map { _ in make(&self) }
    }

    /// At most `bytes` bytes, with characters of one to four bytes.
    package mutating func text(_ bytes: ClosedRange<Int>) -> String {
        let alphabet: [Character] = ["a", "Z", "7", " ", "ä", "ß", "ñ", "…", "東", "京", "🚗", "🧭"]
        let length = Int.random(in: bytes, using: &self)
        var text = ""
        while true {
            let next = text + String(self.pick(alphabet))
            guard next.utf8.count <= length else { break }
            text = next
        }
        return text.isEmpty && bytes.lowerBound > 0 ? "x" : text
    }

    package mutating func name() -> String {
        let alphabet = Array("ABCXYZabcxyz0189._:-")
        return String(self.list(1...64) { $0.pick(alphabet) })
    }

    package mutating func variants(_ counts: ClosedRange<Int> = 0...8) -> [String] {
        self.list(counts) { $0.text(0...($0.flag() ? 512 : 20)) }
    }

    /// One of the known values, or one that this build does not know.
    package mutating func enumeration<Value: WireEnumeration>(_ type: Value.Type = Value.self) -> Value {
        self.next() % 8 == 0
            ? Value(rawValue: self.number(100...UInt32(Int32.max)))
            : self.pick(Value.allKnown)
    }

    package mutating func one<Value: CaseIterable>(of type: Value.Type = Value.self) -> Value {
        self.pick(Array(Value.allCases))
    }
}

extension RandomValues {
    package mutating func id() -> UInt32 { self.number(1...UInt32.max) }

    package mutating func angle() -> Angle { .degrees(self.number(-180...179)) }

    package mutating func coordinate() -> Coordinate {
        Coordinate(
            latitude: .random(in: -90...90, using: &self), longitude: .random(in: -180...180, using: &self),
            altitude: self.maybe { .random(in: -12_000...100_000, using: &$0) })
    }

    /// As precise as a polyline is.
    package mutating func point() -> Coordinate {
        Coordinate(
            latitude: Double(self.number(-90_000_000...90_000_000)) / 1e6,
            longitude: Double(self.number(-180_000_000...180_000_000)) / 1e6)
    }

    package mutating func estimates() -> TravelEstimates {
        TravelEstimates(
            distanceRemaining: .meters(self.number(0...50_000_000)),
            timeRemaining: self.maybe { .seconds($0.number(0...31_536_000)) },
            distanceRemainingToDisplay: self.maybe {
                DisplayDistance(valueTenths: $0.number(0...99_999_999), unit: $0.enumeration())
            })
    }

    package mutating func maneuver(_ id: UInt32) -> Maneuver {
        let exit = self.maybe { $0.angle() }
        return Maneuver(
            id: ManeuverID(rawValue: id), type: self.enumeration(), junctionType: self.enumeration(),
            trafficSide: self.enumeration(), instructionVariants: self.variants(),
            roadFollowingManeuverVariants: self.variants(), highwayExitLabel: self.text(0...64),
            junctionExitAngle: exit,
            junctionElementAngles: self.list(0...32) { $0.angle() }.filter { $0 != exit },
            linkedLaneGuidance: self.maybe { LaneGuidanceID(rawValue: $0.id()) },
            initialTravelEstimates: self.maybe { $0.estimates() },
            roundaboutExitNumber: self.maybe { $0.number(1...255) }, isIntermediateWaypoint: self.flag(),
            notification: self.maybe { $0.enumeration() })
    }

    package mutating func lane() -> Lane {
        let angles = self.list(0...16) { $0.angle() }
        let status: LaneStatus = self.enumeration()
        let highlighted = status == .notGood ? nil : self.maybe { angles.randomElement(using: &$0) } ?? nil
        return Lane(angles: angles, highlightedAngle: highlighted, status: status)
    }

    package mutating func laneGuidance(_ id: UInt32) -> LaneGuidance {
        LaneGuidance(
            id: LaneGuidanceID(rawValue: id), lanes: self.list(1...8) { $0.lane() },
            instructionVariants: self.variants())
    }

    package mutating func waypoint() -> Waypoint {
        Waypoint(
            center: self.coordinate(), locationThreshold: self.maybe { .meters($0.number(1...100_000)) },
            nameVariants: self.variants(), addressVariants: self.variants(),
            entryPoints: self.list(0...16) { $0.coordinate() }, timeZone: self.text(0...64),
            utcOffsetMinutes: self.maybe { $0.number(-840...840) },
            stopKind: self.maybe { $0.enumeration() }, charge: self.maybe { $0.chargeStop() },
            id: self.text(0...128))
    }

    package mutating func chargeStop() -> ChargeStop {
        ChargeStop(
            arrivalBatteryPerMille: self.maybe { $0.number(0...1_000) },
            departureBatteryPerMille: self.maybe { $0.number(0...1_000) },
            connector: self.maybe { $0.enumeration() }, powerWatts: self.maybe { $0.number(1...10_000_000) },
            chargingTime: self.maybe { .seconds($0.number(1...604_800)) })
    }

    package mutating func trip(_ id: String) -> Trip {
        let choices = (0..<self.number(0...3)).map { index in
            RouteChoice(
                id: UInt32(3 - index), summaryVariants: self.variants(),
                additionalInformationVariants: self.variants(), selectionSummaryVariants: self.variants(),
                travelEstimates: self.maybe { $0.estimates() })
        }
        return Trip(
            id: id, origin: self.waypoint(), destination: self.waypoint(),
            waypoints: self.list(0...3) { $0.waypoint() }, routeChoices: choices,
            selectedRouteChoice: choices.randomElement(using: &self)?.id,
            isDestinationShareable: self.flag(), routeSegmentsAvailable: self.flag(),
            travelEstimates: self.maybe { $0.estimates() })
    }

    package mutating func segment(_ id: String) -> RouteSegment {
        RouteSegment(
            id: id, origin: self.waypoint(), destination: self.waypoint(),
            coordinates: self.list(0...50) { $0.point() },
            maneuvers: self.list(0...10) { ManeuverID(rawValue: $0.id()) },
            laneGuidances: self.list(0...10) { LaneGuidanceID(rawValue: $0.id()) },
            currentManeuvers: self.list(0...4) { ManeuverID(rawValue: $0.id()) },
            currentLaneGuidance: self.maybe { LaneGuidanceID(rawValue: $0.id()) },
            tripTravelEstimates: self.maybe { $0.estimates() },
            maneuverTravelEstimates: self.maybe { $0.estimates() }, speedLimits: self.speedLimitSpans())
    }

    package mutating func speedLimit() -> SpeedLimit {
        let isLimited = self.flag()
        return SpeedLimit(
            status: isLimited ? .limited : self.flag() ? .none : .unknown,
            value: isLimited ? self.number(1...500) : nil, unit: isLimited ? self.enumeration() : nil,
            kind: self.maybe { $0.enumeration() }, sign: self.maybe { $0.enumeration() })
    }

    package mutating func speedLimitAhead() -> SpeedLimitAhead {
        SpeedLimitAhead(
            self.speedLimit(), in: .meters(self.number(0...50_000_000)),
            distanceToDisplay: self.maybe {
                DisplayDistance(valueTenths: $0.number(0...99_999_999), unit: $0.enumeration())
            })
    }

    /// Spans whose first points rise, not all of points that the line has.
    private mutating func speedLimitSpans() -> [SpeedLimitSpan] {
        Set(self.list(0...6) { $0.number(0...60) as UInt32 }).sorted()
            .map { SpeedLimitSpan(from: $0, self.speedLimit()) }
    }

    /// Ids that are all different, ascending or not.
    package mutating func ids(_ counts: ClosedRange<Int>) -> [UInt32] {
        let ids = Array(Set(self.list(counts) { $0.id() })).sorted()
        return self.flag() ? ids : ids.reversed()
    }

    package mutating func maneuvers() -> [Maneuver] { self.ids(0...6).map { self.maneuver($0) } }

    package mutating func laneGuidances() -> [LaneGuidance] { self.ids(0...6).map { self.laneGuidance($0) } }

    package mutating func segments() -> [RouteSegment] {
        (0..<self.number(0...3)).map { self.segment("\($0)" + self.text(0...100)) }
    }

    package mutating func route() -> RouteInformation {
        RouteInformation(
            maneuvers: self.maneuvers(), laneGuidances: self.laneGuidances(), segments: self.segments(),
            currentSegment: self.maybe { $0.text(1...128) },
            upcomingManeuvers: self.list(0...64) { ManeuverID(rawValue: $0.id()) },
            currentLaneGuidance: self.maybe { LaneGuidanceID(rawValue: $0.id()) },
            tripTravelEstimates: self.maybe { $0.estimates() },
            maneuverTravelEstimates: self.maybe { $0.estimates() })
    }

    package mutating func alert() -> NavigationAlert {
        NavigationAlert(
            id: self.id(), titleVariants: self.variants(1...8), subtitleVariants: self.variants(),
            actions: (1...2).prefix(self.number(0...2)).map {
                AlertAction(id: UInt32($0), titleVariants: self.variants(1...8))
            },
            duration: self.maybe { .milliseconds($0.number(5_000...600_000)) },
            notification: self.maybe { $0.enumeration() }, priority: self.maybe { $0.enumeration() })
    }
}
