import Testing
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// Rules that hold clients to the CarPlay guide: the meanings of types, sparing updates, declared features, alerts.
@Suite struct LintMeaningTests {
    // MARK: Types

    @Test(arguments: [
        (ManeuverType.leftTurn, -35, -34), (.leftTurn, -145, -146), (.rightTurn, 35, 34),
        (.rightTurn, 145, 146), (.rightTurn, 90, -90), (.sharpLeftTurn, -125, -124),
        (.sharpRightTurn, 180, 60), (.slightLeftTurn, -55, -56), (.slightRightTurn, -60, -61),
        (.leftTurnAtEnd, 10, 61), (.leftTurnAtEnd, -179, 90),
    ])
    func `a turn leads as far as its type says`(_ type: ManeuverType, _ right: Int, _ wrong: Int) {
        var sketch = LintSketch.guided()
        var maneuver = Maneuver.turn(4, type)
        maneuver.junctionExitAngle = .degrees(right)
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [])
        maneuver.id = ManeuverID(rawValue: 5)
        maneuver.junctionExitAngle = .degrees(wrong)
        sketch.publish(.add(maneuver), at: 1)
        #expect(sketch.rules() == [.maneuverAngle])
        #expect(sketch.findings().first?.field == "maneuvers[0].junction_exit_angle_degrees")
    }

    @Test func `straight ahead the road's name changes`() {
        func drive(_ type: ManeuverType, _ roads: [String]) -> [LintID] {
            var sketch = LintSketch.guided()
            for (index, road) in roads.enumerated() {
                var maneuver = Maneuver.turn(UInt32(index) + 4, type)
                maneuver.roadFollowingManeuverVariants = road.isEmpty ? [] : [road]
                sketch.publish(.add(maneuver), at: 1)
            }
            return sketch.rules()
        }
        #expect(drive(.straightAhead, ["A 13", "Landstrasse", "A 13"]) == [])
        #expect(drive(.straightAhead, ["", ""]) == [])
        #expect(drive(.followRoad, ["A 13", "A 13"]) == [])
        #expect(drive(.straightAhead, ["A 13", "A 13"]) == [.maneuverKind])
    }

    // MARK: Updates

    /// Estimates of 4 km and of so many seconds, each so long after the one before.
    private static func drive(
        every seconds: Double, _ times: [Int], meters: [UInt32] = [4_000],
        color: TimeRemainingColor = .default
    ) -> [LintID] {
        var sketch = LintSketch.guided()
        for (index, time) in times.enumerated() {
            let estimates = TravelEstimates(
                distanceRemaining: .meters(meters[index % meters.count]), timeRemaining: .seconds(time))
            sketch.publish(
                .tripEstimates(estimates, index % 2 == 0 ? .default : color),
                at: 4 + Double(index) * seconds)
        }
        return sketch.rules().filter { $0 == .estimatesSame }
    }

    @Test func `an update changes what is displayed`() {
        #expect(Self.drive(every: 1, [599, 580, 570]) == [])
        #expect(Self.drive(every: 1, [599, 580, 570, 560]) == [.estimatesSame])
        // Another minute, and below two minutes another ten seconds.
        #expect(Self.drive(every: 1, [599, 539, 479, 419, 359]) == [])
        #expect(Self.drive(every: 1, [119, 109, 99, 89, 79]) == [])
        #expect(Self.drive(every: 1, [119, 118, 117, 116]) == [.estimatesSame])
        #expect(Self.drive(every: 1, [599, 598, 597, 596], meters: [4_000, 3_800]) == [])
        #expect(Self.drive(every: 1, [599, 598, 597, 596], meters: [4_001, 4_000]) == [.estimatesSame])
        #expect(Self.drive(every: 1, [599, 598, 597, 596], color: .red) == [])
    }

    @Test func `estimates may be repeated so that vehicles know that the client still guides`() {
        #expect(Self.drive(every: 5, Array(repeating: 599, count: 9)) == [])
        #expect(Self.drive(every: 4.9, Array(repeating: 599, count: 9)) == [.estimatesSame])
        // Seldom it is no habit.
        var sketch = LintSketch.guided()
        for second in stride(from: 4.0, to: 200, by: 20) {
            sketch.publish([.trip(4_000), .trip(4_000)], at: second)
        }
        #expect(!sketch.rules().contains(.estimatesSame))
    }

    @Test func `maneuvers come together`() {
        var sketch = LintSketch.guided()
        for id in 4...7 as ClosedRange<UInt32> { sketch.publish(.add(.turn(id)), at: 1) }
        sketch.publish(.addManeuvers([.turn(8), .turn(9)], generation: 1), at: 2)
        #expect(sketch.rules() == [])
        sketch.publish(.add(.turn(10)), at: 3)
        #expect(sketch.rules() == [.maneuverSingle])
        sketch.publish(.add(.turn(11)), at: 4)
        #expect(sketch.rules() == [.maneuverSingle])
    }

    // MARK: Features

    /// A client that declares features, guides for so long, and publishes this meanwhile.
    private static func rules(
        declaring features: [Feature], seconds: Double, _ publications: [Publication] = []
    ) -> [LintID] {
        var sketch = LintSketch()
        let hello = Hello(
            role: .navigation(NavigationHello(client: ClientID(unchecked: "app"), features: features)))
        sketch.send(.hello(hello), from: LintSketch.app, at: 0)
        sketch.publish(.startGuidance(.short, generation: 1, .turns), at: 0)
        sketch.publish(publications, at: 1)
        sketch.publish(.finishGuidance, at: seconds)
        return sketch.rules().filter { $0 == .featureUnused }
    }

    @Test func `a client that declares road names publishes one`() {
        #expect(Self.rules(declaring: [.currentRoadName], seconds: 60) == [.featureUnused])
        #expect(Self.rules(declaring: [.currentRoadName], seconds: 59) == [])
        #expect(Self.rules(declaring: [], seconds: 60) == [])
        #expect(Self.rules(declaring: [.currentRoadName], seconds: 60, [.currentRoadName(["A"])]) == [])
    }

    @Test func `a client that declares lane guidance adds some`() {
        let maneuvers = (4...100).map { Maneuver.turn(UInt32($0)) }
        let (all, fewer) = (maneuvers, Array(maneuvers.dropLast()))
        let lanes = Publication.addLaneGuidances([.shown(1)], generation: 1)
        #expect(
            Self.rules(declaring: [.laneGuidance], seconds: 9, [.addManeuvers(all, generation: 1)]) == [
                .featureUnused
            ])
        #expect(
            Self.rules(declaring: [.laneGuidance], seconds: 9, [.addManeuvers(fewer, generation: 1)]) == [])
        #expect(
            Self.rules(declaring: [.laneGuidance], seconds: 9, [.addManeuvers(all, generation: 1), lanes])
                == [])
    }

    // MARK: Alerts

    @Test func `an alert of high priority may interrupt the display`() {
        func show(_ notification: NotificationStyle?, _ priority: AlertPriority?) -> [LintID] {
            var sketch = LintSketch.guided()
            let alert = NavigationAlert(
                id: 5, titleVariants: ["Ice"], notification: notification, priority: priority)
            sketch.publish(.showAlert(alert), at: 1)
            return sketch.rules()
        }
        #expect(show(.once, .high) == [] && show(nil, .high) == [] && show(.never, .medium) == [])
        #expect(show(.never, .high) == [.alertQuiet])
    }
}
