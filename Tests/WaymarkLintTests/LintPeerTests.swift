import Testing
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// Rules that judge how clients and vehicles behave: for each the smallest history with a finding, and the nearest without.
@Suite struct LintPeerTests {
    private static let app = LintSketch.app
    private static let cluster = LintSketch.cluster
    private static let car = LintSketch.car
    private static let session = SessionID(1)

    // MARK: Clients

    private static func request(_ answers: [(RequestAnswer.Answer, Double)] = []) -> LintSketch {
        var sketch = LintSketch.guided()
        let asked = WaypointRequest(requestID: "stop", waypoint: .place, vehicle: self.car)
        sketch.deliver(.waypointRequest(asked), to: self.app, session: self.session, at: 1)
        for (answer, seconds) in answers {
            let answer = RequestAnswer(requestID: "stop", vehicle: self.car, answer: answer)
            sketch.send(.requestAnswer(answer), from: self.app, at: seconds)
        }
        return sketch
    }

    private static func outcome(_ outcome: Outcome) -> Message {
        .requestOutcome(RequestOutcome(requestID: "stop", vehicle: self.car, outcome: outcome))
    }

    private static func silent(_ rules: [LintID]) -> [LintID] { rules.filter { $0 != .driveSilent } }

    @Test func `an accepted stop leads to another route`() {
        var sketch = Self.request()
        sketch.deliver(Self.outcome(.accepted), to: Self.app, session: Self.session, at: 2)
        #expect(Self.silent(sketch.rules(until: 16.9)) == [])
        #expect(Self.silent(sketch.rules(until: 17)) == [.requestReroute])
        #expect(sketch.findings(until: 17).last?.entry == 2)
        sketch.publish(.pauseGuidance(.rerouting, description: []), at: 5)
        var same = sketch
        same.publish(.resumeGuidance(generation: 1, .unknown, nil), at: 6)
        #expect(Self.silent(same.rules(until: 17)) == [.requestReroute])
        sketch.publish(.resumeGuidance(generation: 2, .waypointModified, .turns), at: 6)
        #expect(Self.silent(sketch.rules(until: 40)) == [])

        sketch = Self.request()
        sketch.deliver(Self.outcome(.declinedByUser), to: Self.app, session: Self.session, at: 2)
        #expect(Self.silent(sketch.rules(until: 40)) == [])
        sketch = Self.request()
        sketch.deliver(Self.outcome(.accepted), to: Self.app, session: Self.session, at: 2)
        sketch.publish(.finishGuidance, at: 3)
        #expect(Self.silent(sketch.rules(until: 40)) == [])
    }

    @Test func `a client that agrees by itself may change the route before the outcome`() {
        func drive(agreedAt seconds: Double) -> LintSketch {
            var sketch = Self.request([(.accept, seconds)])
            sketch.publish(.pauseGuidance(.rerouting, description: []), at: 3)
            sketch.publish(.resumeGuidance(generation: 2, .waypointModified, .turns), at: 3)
            sketch.deliver(Self.outcome(.accepted), to: Self.app, session: Self.session, at: 5)
            return sketch
        }
        #expect(Self.silent(drive(agreedAt: 2).rules(until: 40)) == [])
        #expect(Self.silent(drive(agreedAt: 4).rules(until: 40)) == [.requestReroute])
    }

    @Test func `a client stops when its session has ended`() {
        var sketch = LintSketch.guided()
        sketch.deliver(
            .sessionEnded(SessionEnded(session: Self.session, reason: .userStopped)), to: Self.app, at: 2)
        sketch.publish(.trip(4_000), at: 3)
        #expect(sketch.rules() == [])
        sketch.publish(.trip(3_900), at: 3.1)
        sketch.publish(.trip(3_800), at: 3.2)
        #expect(sketch.rules() == [.cancelIgnored])
    }

    @Test func `a vehicle that ended guidance is not guided again at once`() {
        func drive(_ client: PeerID, _ after: Double, allows: Bool = false) -> [LintID] {
            var sketch = LintSketch()
            let opened = SessionOpened(
                requestID: "r", session: Self.session,
                vehicles: [VehicleStatus(vehicle: Self.car, standing: .joined)])
            sketch.deliver(.sessionOpened(opened), to: Self.app, at: 0)
            sketch.send(.cancelNavigation(.userStopped), from: Self.cluster, at: 1)
            if allows { sketch.send(.allowNavigation, from: Self.cluster, at: 2) }
            sketch.send(
                .openSession(OpenSession(requestID: "r2", vehicles: .vehicles([Self.car]))), from: client,
                at: 1 + after)
            return sketch.rules()
        }
        #expect(drive(Self.app, 29) == [.cancelIgnored])
        #expect(drive(Self.app, 30) == [])
        #expect(drive(Self.app, 29, allows: true) == [])
        #expect(drive(.client(ClientID(unchecked: "other")), 29) == [])
    }

    private static func rejection(
        _ code: ErrorCode, _ type: MessageType, field: String = "", session: SessionID = Self.session
    ) -> Message {
        var rejection = Rejection(code, field: field, reason: "is wrong")
        rejection.messageType = type.rawValue
        rejection.session = session
        rejection.sequence = 7
        return .error(rejection)
    }

    @Test func `a rejected publication is a finding`() {
        var sketch = LintSketch.guided()
        sketch.deliver(Self.rejection(.ignored, .updateTripEstimates), to: Self.app, at: 1)
        sketch.deliver(Self.rejection(.unknownReference, .requestAnswer), to: Self.app, at: 1)
        #expect(sketch.rules() == [])
        sketch.deliver(
            Self.rejection(.outOfRange, .addManeuvers, field: "maneuvers[0].id"), to: Self.app, at: 1)
        #expect(sketch.rules() == [.clientRejected])
        #expect(
            sketch.findings().first?.text
                == "AddManeuvers 7 was rejected, outOfRange: maneuvers[0].id is wrong")
    }

    @Test func `a contradiction is found in the rejection, once`() {
        var sketch = LintSketch.guided(.lanes)
        var guidance = LaneGuidance.shown(3)
        guidance.lanes[1].status = .notGood
        sketch.publish(.addLaneGuidances([guidance], generation: 1), at: 1)
        var rejection = Rejection(
            .inconsistent, field: "lane_guidances[0].lanes[1].highlighted_angle_degrees",
            reason: "the lane's status is NOT_GOOD")
        rejection.messageType = MessageType.addLaneGuidances.rawValue
        (rejection.session, rejection.sequence) = (Self.session, 2)
        sketch.deliver(.error(rejection), to: Self.app, at: 1)
        #expect(sketch.rules() == [.laneStatus])
        // Of a frame that an observer was not told.
        rejection.sequence = 3
        sketch.deliver(.error(rejection), to: Self.app, at: 1)
        #expect(sketch.rules() == [.laneStatus, .laneStatus])
    }

    @Test func `what is rejected after the end, or because of a fault, is no mistake`() {
        var sketch = LintSketch.guided()
        sketch.deliver(
            .sessionEnded(SessionEnded(session: Self.session, reason: .userStopped)), to: Self.app, at: 2)
        sketch.deliver(Self.rejection(.unknownSession, .updateTripEstimates), to: Self.app, at: 2.5)
        #expect(sketch.rules() == [])
        sketch.deliver(
            Self.rejection(.unknownSession, .updateTripEstimates, session: SessionID(9)), to: Self.app,
            at: 2.5)
        #expect(sketch.rules() == [.clientRejected])

        for isDropped in [true, false] {
            sketch = LintSketch.guided()
            if isDropped {
                sketch.publish(.trip(4_000), at: 1, delivery: .dropped)
            } else {
                sketch.fault("reorder", of: Self.app, at: 1)
            }
            sketch.deliver(Self.rejection(.sequenceGap, .updateTripEstimates), to: Self.app, at: 2)
            #expect(sketch.rules() == [])
            sketch.connection(.ended(nil), of: Self.app, at: 3)
            sketch.connection(.admitted(resumed: true), of: Self.app, at: 4)
            sketch.deliver(Self.rejection(.sequenceGap, .updateTripEstimates), to: Self.app, at: 5)
            #expect(sketch.rules() == [.clientRejected])
        }
    }

    @Test func `what a fault changed is not judged`() {
        var sketch = LintSketch.guided(.lanes)
        sketch.publish(.add(.turn(4, .enterRoundabout)), at: 1, delivery: .corrupted)
        #expect(sketch.rules() == [])
    }

    @Test func `what a fault delays is not judged`() {
        var sketch = LintSketch.guided()
        sketch.fault("stall", of: Self.app, at: 5)
        sketch.publish(.trip(4_000), at: 30)
        #expect(sketch.rules() == [])
        // The fault changes no content.
        sketch.publish(.trip(4_500), at: 31)
        #expect(sketch.rules() == [.tripRises])
        // It is over with the connection.
        sketch.connection(.ended(nil), of: Self.app, at: 40)
        sketch.connection(.admitted(resumed: true), of: Self.app, at: 41)
        #expect(sketch.rules(until: 60) == [.tripRises, .driveSilent])
    }

    // MARK: Vehicles

    @Test func `a rejected message of a vehicle is a finding`() {
        var sketch = LintSketch()
        sketch.deliver(Self.rejection(.ignored, .zoomCluster), to: Self.cluster, at: 1)
        #expect(sketch.rules() == [])
        sketch.deliver(Self.rejection(.malformed, .waypointRequest), to: Self.cluster, at: 1)
        #expect(sketch.rules() == [.vehicleRejected])
    }

    @Test func `a prompt is answered in time`() {
        func drive(_ outcome: Outcome, isCut: Bool = false) -> [LintID] {
            var sketch = LintSketch()
            let prompt = Prompt(
                requestID: "stop", waypoint: .place,
                travelEstimates: TravelEstimates(distanceRemaining: .meters(900)),
                deadlineMilliseconds: 60_000)
            sketch.deliver(.prompt(prompt), to: Self.cluster, at: 1)
            if isCut { sketch.connection(.ended(nil), of: Self.cluster, at: 2) }
            sketch.deliver(
                .promptOver(PromptOver(requestID: "stop", outcome: outcome)), to: Self.cluster, at: 61)
            return sketch.rules()
        }
        #expect(drive(.timedOut) == [.promptLate])
        #expect(drive(.accepted) == [])
        #expect(drive(.timedOut, isCut: true) == [])
    }

    @Test func `an alert is answered while it is shown`() {
        func drive(_ publications: [Publication], after seconds: Double) -> [LintID] {
            var sketch = LintSketch()
            for publication in publications {
                sketch.deliver(.publication(publication), to: Self.cluster, session: Self.session, at: 1)
            }
            let response = AlertResponse(alert: 5, response: .action(1))
            sketch.send(.alertResponse(response), from: Self.cluster, at: 1 + seconds)
            return sketch.rules()
        }
        let alert = NavigationAlert(id: 5, titleVariants: ["Road closed"])
        let other = NavigationAlert(id: 6, titleVariants: ["Road open"])
        #expect(drive([.showAlert(alert)], after: 9) == [])
        #expect(drive([.showAlert(alert), .dismissAlert(5, .timeout)], after: 1) == [])
        #expect(drive([.showAlert(alert), .dismissAlert(5, .timeout)], after: 1.1) == [.alertStale])
        #expect(drive([.showAlert(alert), .showAlert(other)], after: 1.1) == [.alertStale])
        #expect(drive([.showAlert(alert), .showAlert(other), .showAlert(alert)], after: 2) == [])
    }

    private static func receipts(every milliseconds: UInt32 = 1_000) -> LintSketch {
        var sketch = LintSketch()
        var begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        begin.receiptsEveryMilliseconds = milliseconds
        begin.toSequence = 10
        sketch.deliver(.snapshotBegin(begin), to: self.cluster, session: self.session, at: 0)
        sketch.deliver(
            .publication(.trip(4_000)), to: self.cluster, session: self.session, sequence: 11, at: 3)
        return sketch
    }

    private static func receipt(_ number: UInt64) -> Message {
        .receipt(Receipt(receivedSequence: number, shownSequence: 0))
    }

    @Test func `a receipt confirms what was sent, and never less than before`() {
        var sketch = Self.receipts()
        sketch.send(Self.receipt(11), from: Self.cluster, at: 4)
        sketch.send(Self.receipt(11), from: Self.cluster, at: 5)
        #expect(sketch.rules() == [])
        sketch.send(Self.receipt(10), from: Self.cluster, at: 6)
        #expect(sketch.rules() == [.receiptWrong])
        sketch.send(Self.receipt(12), from: Self.cluster, at: 7)
        #expect(sketch.rules() == [.receiptWrong, .receiptWrong])

        // The number of long ago.
        sketch = Self.receipts()
        for (number, second) in [(UInt64(12), 4.0), (20, 8), (30, 12)] {
            sketch.deliver(
                .publication(.trip(4_000)), to: Self.cluster, session: Self.session, sequence: number,
                at: second)
            sketch.send(Self.receipt(11), from: Self.cluster, at: second + 0.5)
        }
        #expect(sketch.rules() == [.receiptWrong])

        // Of the state before the snapshot.
        sketch = Self.receipts()
        sketch.send(Self.receipt(40), from: Self.cluster, session: SessionID(9), at: 4)
        #expect(sketch.rules() == [])
    }

    @Test func `receipts that are wanted come`() {
        var sketch = Self.receipts()
        #expect(sketch.rules(until: 5.9) == [])
        #expect(sketch.rules(until: 60) == [.receiptWrong])
        sketch.send(Self.receipt(11), from: Self.cluster, at: 5.9)
        #expect(sketch.rules(until: 60) == [])
        #expect(Self.receipts(every: 0).rules(until: 60) == [])
        // The session is over for the endpoint.
        for end in [Publication.finishGuidance, .cancelGuidance] {
            sketch = Self.receipts()
            sketch.deliver(.publication(end), to: Self.cluster, session: Self.session, sequence: 12, at: 5)
            #expect(sketch.rules(until: 60) == [])
        }
    }

    private static func comeback(
        after seconds: Double, _ token: ResumptionToken?, says: Goodbye? = nil
    ) -> [LintID] {
        var sketch = LintSketch()
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        welcome.graceMilliseconds = 30_000
        sketch.deliver(.welcome(welcome), to: self.cluster, at: 0)
        if let says { sketch.send(.goodbye(says), from: self.cluster, at: 1) }
        sketch.connection(.ended(nil), of: self.cluster, at: 1)
        let role = VehicleHello(
            vehicle: self.car, endpoint: EndpointName(unchecked: "cluster"), features: FeatureSet())
        var hello = Hello(role: .vehicle(role))
        hello.resumptionToken = token
        sketch.send(.hello(hello), from: self.cluster, at: 1 + seconds)
        return sketch.rules()
    }

    @Test func `a peer that comes back uses its token`() {
        #expect(Self.comeback(after: 30, ResumptionToken(high: 1, low: 2)) == [])
        #expect(Self.comeback(after: 30, nil) == [.resumeForgotten])
        #expect(Self.comeback(after: 30, ResumptionToken(high: 1, low: 3)) == [.resumeForgotten])
        #expect(Self.comeback(after: 31, nil) == [])
        #expect(Self.comeback(after: 30, nil, says: Goodbye(.normal)) == [])
    }

    @Test func `a peer that has said Goodbye does not keep the token of a Welcome that crosses it`() {
        func welcome(_ low: UInt64) -> Message {
            var welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: low))
            welcome.graceMilliseconds = 30_000
            return .welcome(welcome)
        }
        func comeback(crosses: Bool) -> [LintID] {
            let role = VehicleHello(
                vehicle: Self.car, endpoint: EndpointName(unchecked: "cluster"), features: FeatureSet())
            let hello = Message.hello(Hello(role: .vehicle(role)))
            var sketch = LintSketch()
            if crosses { sketch.send(.goodbye(Goodbye(.handshakeTimeout)), from: Self.cluster, at: 1) }
            sketch.deliver(welcome(2), to: Self.cluster, at: 2)
            sketch.connection(.ended(.handshakeTimeout), of: Self.cluster, at: 3)
            sketch.send(hello, from: Self.cluster, at: 4)
            // Of a later connection it keeps the token.
            sketch.deliver(welcome(3), to: Self.cluster, at: 5)
            sketch.connection(.ended(nil), of: Self.cluster, at: 6)
            sketch.send(hello, from: Self.cluster, at: 7)
            return sketch.rules()
        }
        #expect(comeback(crosses: true) == [.resumeForgotten])
        #expect(comeback(crosses: false) == [.resumeForgotten, .resumeForgotten])
    }

    @Test func `a vehicle reads and answers`() {
        func drive(_ code: CloseCode, _ peer: PeerID = Self.cluster, fault: String? = nil) -> [LintID] {
            var sketch = LintSketch()
            if let fault { sketch.fault(fault, of: peer, at: 0) }
            sketch.deliver(.goodbye(Goodbye(code)), to: peer, at: 1)
            sketch.connection(.ended(code), of: peer, at: 1)
            return sketch.rules()
        }
        #expect(drive(.slowConsumer) == [.readSlow])
        #expect(drive(.keepaliveTimeout) == [.readSlow])
        #expect(drive(.shuttingDown) == [])
        #expect(drive(.slowConsumer, Self.app) == [])
        #expect(drive(.keepaliveTimeout, fault: "stall") == [])
    }
}
