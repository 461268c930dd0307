import Testing
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// Rules about times, and about how a vehicle holds and answers: for each the smallest history with a finding, and the nearest without.
@Suite struct LintConnectionTests {
    private static let app = LintSketch.app
    private static let cluster = LintSketch.cluster
    private static let session = SessionID(1)

    // MARK: Estimates

    private static func estimates(_ meters: UInt32, _ seconds: Int) -> TravelEstimates {
        TravelEstimates(distanceRemaining: .meters(meters), timeRemaining: .seconds(seconds))
    }

    @Test func `a time is one in which a road vehicle drives the distance`() {
        func rules(_ meters: UInt32, _ seconds: Int) -> [LintID] {
            var sketch = LintSketch.guided()
            sketch.publish(.tripEstimates(Self.estimates(meters, seconds), .default), at: 1)
            return sketch.rules()
        }
        #expect(rules(4_900, 49) == [])
        #expect(rules(4_900, 48) == [.timeDistance])
        #expect(rules(299, 1) == [])
        #expect(rules(400, 1) == [.timeDistance])
        #expect(rules(4_999, 100_000) == [])
        #expect(rules(5_000, 16_600) == [])
        #expect(rules(5_000, 16_700) == [.timeDistance])
    }

    @Test func `the time to the destination falls with the distance`() {
        func rules(_ drives: [(meters: UInt32, seconds: Int)]) -> [LintID] {
            var sketch = LintSketch.guided()
            for (index, drive) in drives.enumerated() {
                let estimates = Self.estimates(drive.meters, drive.seconds)
                sketch.publish(.tripEstimates(estimates, .default), at: 1 + Double(index))
            }
            return sketch.rules()
        }
        #expect(rules([(4_900, 300), (1_900, 300)]) == [])
        #expect(rules([(4_900, 300), (1_899, 300), (1_800, 300)]) == [.timeDistance])
        #expect(rules([(4_900, 300), (3_000, 240), (1_000, 240)]) == [])
    }

    @Test func `the next speed limit is another one, comes nearer, and is on a sign`() {
        func rules(_ limits: [(at: Double, here: SpeedLimit, next: SpeedLimitAhead?, trip: UInt32)])
            -> [LintID]
        {
            var sketch = LintSketch.guided()
            for limit in limits {
                sketch.publish(.trip(limit.trip), at: limit.at)
                sketch.publish(.speedLimit(limit.here, next: limit.next), at: limit.at)
            }
            return sketch.rules()
        }
        let (fast, slow) = (SpeedLimit(80, .kilometersPerHour), SpeedLimit(50, .kilometersPerHour))
        func ahead(_ limit: SpeedLimit, _ meters: UInt32) -> SpeedLimitAhead {
            SpeedLimitAhead(limit, in: .meters(meters))
        }
        #expect(rules([(1, fast, ahead(slow, 500), 4_900), (2, slow, nil, 4_400)]) == [])
        #expect(
            rules([(1, fast, ahead(fast, 500), 4_900), (2, fast, ahead(fast, 400), 4_800)]) == [.speedSame])
        #expect(rules([(1, .unknown, ahead(.unknown, 500), 4_900)]) == [])
        #expect(rules([(1, .unlimited, ahead(.unlimited, 500), 4_900)]) == [.speedSame])
        // It rises: by little, by much, and right after the start.
        #expect(rules([(4, fast, ahead(slow, 500), 4_900), (5, fast, ahead(slow, 550), 4_850)]) == [])
        #expect(
            rules([(4, fast, ahead(slow, 500), 4_900), (5, fast, ahead(slow, 551), 4_850)]) == [
                .speedDistance
            ])
        #expect(rules([(1, fast, ahead(slow, 500), 4_900), (2, fast, ahead(slow, 900), 4_850)]) == [])
        // It stays, and the vehicle drives on.
        #expect(rules([(4, fast, ahead(slow, 500), 4_900), (5, fast, ahead(slow, 500), 4_100)]) == [])
        #expect(
            rules([(4, fast, ahead(slow, 500), 4_900), (5, fast, ahead(slow, 500), 4_099)]) == [
                .speedDistance
            ])
        // A fast drive comes so far between two publications.
        #expect(rules([(4, fast, ahead(slow, 500), 4_900), (4.9, fast, ahead(slow, 500), 3_000)]) == [])
        #expect(rules([(1, SpeedLimit(160, .kilometersPerHour), nil, 4_900)]) == [])
        #expect(rules([(1, SpeedLimit(161, .kilometersPerHour), nil, 4_900)]) == [.speedValue])
        #expect(rules([(1, fast, ahead(SpeedLimit(86, .milesPerHour), 9), 4_900)]) == [.speedValue])
    }

    @Test func `the speed limits of a segment are on signs`() {
        var route = RouteInformation.turns
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        route.segments = [
            RouteSegment(
                id: "a", origin: place, destination: place,
                speedLimits: [
                    SpeedLimitSpan(from: 0, SpeedLimit(80, .kilometersPerHour)),
                    SpeedLimitSpan(from: 1, SpeedLimit(255, .kilometersPerHour)),
                    SpeedLimitSpan(from: 2, SpeedLimit(255, .kilometersPerHour)),
                ])
        ]
        #expect(LintSketch.guided(route).findings().filter { $0.rule == .speedValue }.count == 1)
    }

    @Test func `the destination comes nearer with the maneuvers`() {
        func rules(_ end: UInt32, says trip: UInt32? = nil) -> [LintID] {
            var route = RouteInformation.turns
            route.tripTravelEstimates = TravelEstimates(distanceRemaining: .meters(9_000))
            var sketch = LintSketch.guided(route)
            sketch.publish(.to(1, 5_000), at: 1)
            sketch.publish(.to(1, 4_000), at: 2)
            if let trip { sketch.publish(.trip(trip), at: 2) }
            sketch.publish(.to(1, end), at: 3)
            sketch.publish(.to(1, end - 100), at: 4)
            return sketch.rules()
        }
        #expect(rules(3_100) == [])
        #expect(rules(2_900) == [.tripStays])
        #expect(rules(2_900, says: 9_000) == [.tripStays])
        #expect(rules(2_900, says: 8_000) == [])
    }

    @Test func `turns that lead straight ahead are found, each for itself`() {
        func rules(_ degrees: [Int]) -> [LintID] {
            var route = RouteInformation.turns
            route.maneuvers = degrees.enumerated().map { index, degrees in
                var turn = Maneuver.turn(UInt32(index) + 1, .rightTurn)
                turn.junctionExitAngle = .degrees(degrees)
                return turn
            }
            return LintSketch.guided(route).rules()
        }
        #expect(rules([1, 2]) == [.maneuverAngle, .maneuverAngle])
        #expect(rules([1, 35, 34]) == [.maneuverAngle, .maneuverAngle])
        #expect(rules([35, 90, 145]) == [])
    }

    @Test func `estimates behind a new route are those of the route`() {
        func rules(_ meters: UInt32, after seconds: Double) -> [LintID] {
            var sketch = LintSketch.guided()
            sketch.publish(.trip(meters), at: seconds)
            return sketch.rules()
        }
        #expect(rules(4_700, after: 0.1) == [])
        #expect(rules(4_699, after: 0.1) == [.routeEstimates])
        #expect(rules(5_301, after: 0) == [.routeEstimates])
        #expect(rules(4_000, after: 0.3) == [])
        var sketch = LintSketch.guided()
        sketch.publish(.to(1, 500), at: 0)
        sketch.publish(.to(1, 1_500), at: 0)
        #expect(sketch.rules() == [.routeEstimates])
    }

    @Test func `a state ends before the next maneuver is named`() {
        func rules(_ states: [ManeuverState]) -> [LintID] {
            var sketch = LintSketch.guided()
            for state in states { sketch.publish(.state(state), at: 1) }
            sketch.publish(.upcoming(2, 3), at: 1)
            sketch.publish(.upcoming(3), at: 1)
            return sketch.rules()
        }
        #expect(rules([]) == [])
        #expect(rules([.prepare, .continue]) == [])
        #expect(rules([.prepare]) == [.stateOrder])
        #expect(rules([.initial, .prepare]) == [.stateOrder])
    }

    // MARK: Answers

    private static func asked(_ change: (inout LintSketch) -> Void) -> [LintID] {
        var sketch = LintSketch()
        let request = WaypointRequest(requestID: "stop", waypoint: .place, vehicle: LintSketch.car)
        sketch.deliver(.waypointRequest(request), to: self.app, session: self.session, at: 1)
        change(&sketch)
        return sketch.rules()
    }

    private static func answer(_ answer: RequestAnswer.Answer, _ id: Identifier = "stop") -> Message {
        .requestAnswer(RequestAnswer(requestID: id, vehicle: LintSketch.car, answer: answer))
    }

    @Test(arguments: [
        ([RequestAnswer.Answer.ownPrompt, .accept], false), ([.ownPrompt, .decline(.declinedByUser)], false),
        ([.accept, .accept], true), ([.ownPrompt, .ownPrompt], true), ([.ownPrompt, .accept, .accept], true),
        ([.decline(.declinedByUser), .accept], true),
    ])
    func `a request is answered once`(_ answers: [RequestAnswer.Answer], _ isFound: Bool) {
        let found = Self.asked { sketch in
            for answer in answers { sketch.send(Self.answer(answer), from: Self.app, at: 2) }
        }
        #expect(found == (isFound ? [.answerTwice] : []))
    }

    @Test func `a request is answered by who was asked`() {
        #expect(
            Self.asked { $0.send(Self.answer(.accept, "other"), from: Self.app, at: 2) } == [.answerTwice])
    }

    // MARK: Prompts

    private static func prompted(_ change: (inout LintSketch) -> Void) -> [LintID] {
        var sketch = LintSketch()
        let prompt = Prompt(
            requestID: "stop", waypoint: .place,
            travelEstimates: TravelEstimates(distanceRemaining: .meters(900)), deadlineMilliseconds: 60_000)
        sketch.deliver(.prompt(prompt), to: self.cluster, at: 1)
        change(&sketch)
        return sketch.rules()
    }

    private static func answer(_ request: Identifier = "stop") -> Message {
        .promptAnswer(PromptAnswer(requestID: request, isAccepted: true))
    }

    @Test func `a prompt is answered once, by who was asked`() {
        #expect(Self.prompted { $0.send(Self.answer(), from: Self.cluster, at: 2) } == [])
        #expect(
            Self.prompted { $0.send(Self.answer("other"), from: Self.cluster, at: 2) } == [.promptUnasked])
        let twice = Self.prompted {
            $0.send(Self.answer(), from: Self.cluster, at: 2)
            $0.send(Self.answer(), from: Self.cluster, at: 3)
        }
        #expect(twice == [.promptUnasked])
        let repeated = Self.prompted {
            $0.send(Self.answer(), from: Self.cluster, at: 2)
            $0.connection(.ended(nil), of: Self.cluster, at: 3)
            $0.send(Self.answer(), from: Self.cluster, at: 4)
        }
        #expect(repeated == [])
        // The gateway asks again, and the answer of before and another one cross.
        let crossed = Self.prompted {
            $0.send(Self.answer(), from: Self.cluster, at: 2)
            $0.connection(.ended(nil), of: Self.cluster, at: 3)
            $0.send(Self.answer(), from: Self.cluster, at: 4)
            $0.send(Self.answer(), from: Self.cluster, at: 4)
        }
        #expect(crossed == [])
    }

    @Test func `an answer may cross the end of its prompt`() {
        func rules(after seconds: Double) -> [LintID] {
            Self.prompted {
                let over = PromptOver(requestID: "stop", outcome: .accepted)
                $0.deliver(.promptOver(over), to: Self.cluster, at: 2)
                $0.send(Self.answer(), from: Self.cluster, at: 2 + seconds)
            }
        }
        #expect(rules(after: 1) == [])
        #expect(rules(after: 1.1) == [.promptUnasked])
    }

    // MARK: Connections

    /// Holds the session up to 12, and comes back with other numbers.
    private static func comeback(
        _ session: SessionID, _ sequence: UInt64, ends: Bool = false, snapshotEnds: Bool = true
    ) -> [LintID] {
        var sketch = LintSketch()
        let token = ResumptionToken(high: 1, low: 2)
        var welcome = Welcome(resumptionToken: token)
        welcome.graceMilliseconds = 30_000
        sketch.deliver(.welcome(welcome), to: self.cluster, at: 0)
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        begin.toSequence = 10
        sketch.deliver(.snapshotBegin(begin), to: self.cluster, session: self.session, at: 0)
        if snapshotEnds {
            sketch.deliver(.snapshotEnd, to: self.cluster, session: self.session, at: 0)
            sketch.deliver(
                .publication(.trip(4_000)), to: self.cluster, session: self.session, sequence: 12, at: 1)
        }
        if ends {
            let ended = SessionEnded(session: self.session, reason: .finished)
            sketch.deliver(.sessionEnded(ended), to: self.cluster, at: 2)
        }
        sketch.connection(.ended(nil), of: self.cluster, at: 3)
        let role = VehicleHello(
            vehicle: LintSketch.car, endpoint: EndpointName(unchecked: "cluster"), features: FeatureSet())
        var hello = Hello(role: .vehicle(role))
        (hello.resumptionToken, hello.resumeSession, hello.resumeSequence) = (token, session, sequence)
        sketch.send(.hello(hello), from: self.cluster, at: 4)
        return sketch.rules()
    }

    @Test func `an endpoint resumes where it is`() {
        #expect(Self.comeback(Self.session, 12) == [])
        #expect(Self.comeback(Self.session, 11) == [.resumeCursor])
        #expect(Self.comeback(Self.session, 13) == [.resumeCursor])
        #expect(Self.comeback(.none, 0) == [.resumeCursor])
        #expect(Self.comeback(.none, 0, ends: true) == [])
        #expect(Self.comeback(.none, 0, snapshotEnds: false) == [])
    }

    @Test func `a peer sends a frame in every interval`() {
        func rules(_ last: Double, pings: [Double]) -> [LintID] {
            var sketch = LintSketch()
            var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
            welcome.keepaliveMilliseconds = 10_000
            sketch.deliver(.welcome(welcome), to: Self.cluster, at: 0)
            sketch.send(.ping(nonce: 1), from: Self.cluster, at: last)
            for ping in pings { sketch.deliver(.ping(nonce: 2), to: Self.cluster, at: ping) }
            return sketch.rules()
        }
        #expect(rules(10, pings: [20, 24]) == [])
        #expect(rules(10, pings: [25, 40]) == [.peerSilent])
    }
}
