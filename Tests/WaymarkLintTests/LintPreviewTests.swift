import Testing
import WaymarkHistory
import WaymarkLint
import WaymarkModel
import WaymarkProtocol

/// Rules about the trips that a client offers before guidance.
@Suite struct LintPreviewTests {
    private static let app = LintSketch.app
    private static let cluster = LintSketch.cluster
    private static let session = SessionID(1)
    private static let estimates = TravelEstimates(distanceRemaining: .meters(900))

    private static func trip(_ id: String, _ estimates: TravelEstimates? = Self.estimates) -> Trip {
        var trip = Trip.short
        (trip.id, trip.travelEstimates) = (id, estimates)
        return trip
    }

    private static func previews(_ ids: String...) -> Publication {
        .tripPreviews(ids.map { Self.trip($0) }, selected: "")
    }

    // MARK: Estimates

    @Test func `each trip that is offered has estimates`() {
        func rules(_ trips: [Trip]) -> [LintID] {
            var sketch = LintSketch()
            sketch.publish(.tripPreviews(trips, selected: ""), at: 1)
            // Told once.
            sketch.publish(.tripPreviews(trips, selected: ""), at: 2)
            return sketch.rules()
        }
        #expect(rules([Self.trip("a"), Self.trip("b")]) == [])
        #expect(rules([Self.trip("a"), Self.trip("b", nil)]) == [.previewEstimates])
        #expect(rules([Self.trip("a", nil), Self.trip("b", nil)]) == [.previewEstimates, .previewEstimates])
        #expect(rules([]) == [])
    }

    @Test func `the estimates may be those of the route choice that is selected, or of the first one`() {
        func rules(selected: UInt32?) -> [LintID] {
            var trip = Self.trip("a", nil)
            trip.routeChoices = [RouteChoice(id: 1, travelEstimates: Self.estimates), RouteChoice(id: 2)]
            trip.selectedRouteChoice = selected
            var sketch = LintSketch()
            sketch.publish(.tripPreviews([trip], selected: ""), at: 1)
            return sketch.rules()
        }
        #expect(rules(selected: nil) == [])
        #expect(rules(selected: 1) == [])
        #expect(rules(selected: 2) == [.previewEstimates])
    }

    // MARK: Choices

    /// An endpoint is sent the trips a and b, then c at 5 s, and says something.
    private static func chosen(_ message: Message, at seconds: Double) -> [LintID] {
        var sketch = LintSketch()
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        sketch.deliver(.snapshotBegin(begin), to: self.cluster, session: self.session, at: 0)
        sketch.deliver(.snapshotEnd, to: self.cluster, session: self.session, at: 0)
        sketch.deliver(
            .publication(self.previews("a", "b")), to: self.cluster, session: self.session, sequence: 1,
            at: 0.5)
        if seconds >= 5 {
            sketch.deliver(
                .publication(self.previews("c")), to: self.cluster, session: self.session, sequence: 2, at: 5)
        }
        sketch.send(message, from: self.cluster, session: self.session, at: seconds)
        return sketch.rules()
    }

    private static func select(_ trip: Identifier, _ choice: UInt32? = nil) -> Message {
        .selectPreview(SelectPreview(trip: trip, routeChoice: choice))
    }

    private static func start(_ trip: Identifier) -> Message {
        .startTripRequest(StartTripRequest(requestID: "s", trip: trip))
    }

    @Test func `a vehicle chooses what it was offered`() {
        #expect(Self.chosen(Self.select("b"), at: 1) == [])
        #expect(Self.chosen(Self.start("b"), at: 1) == [])
        #expect(Self.chosen(Self.select("c"), at: 1) == [.previewUnknown])
        #expect(Self.chosen(Self.start("c"), at: 1) == [.previewUnknown])
        #expect(Self.chosen(Self.select("b", 3), at: 1) == [.previewUnknown])
    }

    @Test func `a choice may cross the trips that replace the offered ones`() {
        #expect(Self.chosen(Self.select("c"), at: 5) == [])
        #expect(Self.chosen(Self.select("b"), at: 6) == [])
        #expect(Self.chosen(Self.select("b"), at: 6.1) == [.previewUnknown])
    }

    @Test func `the rejection of a choice that crossed is no finding`() {
        var sketch = LintSketch()
        var rejection = Rejection(.unknownReference, field: "trip_id", reason: "is gone")
        rejection.messageType = MessageType.selectPreview.rawValue
        sketch.deliver(.error(rejection), to: Self.cluster, at: 1)
        #expect(sketch.rules() == [])
        rejection.messageType = MessageType.receipt.rawValue
        sketch.deliver(.error(rejection), to: Self.cluster, at: 2)
        #expect(sketch.rules() == [.vehicleRejected])
    }

    // MARK: Starts

    /// The client offers two trips, is asked to start one, and accepts.
    private static func accepted(answersAt: Double? = nil) -> LintSketch {
        var sketch = LintSketch()
        sketch.publish(self.previews("a", "b"), at: 0)
        let request = StartTripRequest(requestID: "s", trip: "b", vehicle: LintSketch.car)
        sketch.deliver(.startTripRequest(request), to: self.app, session: self.session, at: 1)
        if let answersAt {
            let answer = RequestAnswer(requestID: "s", vehicle: LintSketch.car, answer: .accept)
            sketch.send(.requestAnswer(answer), from: self.app, at: answersAt)
        }
        return sketch
    }

    private static func outcome(_ outcome: Outcome) -> Message {
        .requestOutcome(RequestOutcome(requestID: "s", vehicle: LintSketch.car, outcome: outcome))
    }

    private static func guidance(_ id: String) -> Publication {
        .startGuidance(self.trip(id, nil), generation: 1, .turns)
    }

    private static func silent(_ rules: [LintID]) -> [LintID] { rules.filter { $0 != .driveSilent } }

    @Test func `an accepted start leads to guidance on this trip`() {
        var sketch = Self.accepted()
        sketch.deliver(Self.outcome(.accepted), to: Self.app, session: Self.session, at: 2)
        #expect(Self.silent(sketch.rules(until: 11.9)) == [])
        #expect(Self.silent(sketch.rules(until: 12)) == [.startGuidance])
        var other = sketch
        other.publish(Self.guidance("a"), at: 3)
        #expect(Self.silent(other.rules(until: 30)) == [.startGuidance])
        var ended = sketch
        ended.publish(.cancelGuidance, at: 3)
        #expect(Self.silent(ended.rules(until: 30)) == [])
        sketch.publish(Self.guidance("b"), at: 3)
        #expect(Self.silent(sketch.rules(until: 30)) == [])
    }

    @Test func `a start that is not accepted leads to nothing`() {
        var sketch = Self.accepted()
        sketch.deliver(Self.outcome(.declinedByUser), to: Self.app, session: Self.session, at: 2)
        #expect(Self.silent(sketch.rules(until: 30)) == [])
    }

    @Test func `a client may start guidance before it knows the outcome`() {
        var sketch = Self.accepted(answersAt: 2)
        sketch.publish(Self.guidance("b"), at: 2.5)
        sketch.deliver(Self.outcome(.accepted), to: Self.app, session: Self.session, at: 3)
        #expect(Self.silent(sketch.rules(until: 30)) == [])
    }
}
