import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient
@testable import WaymarkTexts

struct StoryTests {
    private var story = Story()
    private var state = VehicleState()
    private static let session = SessionID(7)

    private static let stop = Waypoint(
        center: Coordinate(latitude: 47.07, longitude: 9.5), nameVariants: ["Charging"])
    private static func place(_ name: String) -> Waypoint {
        Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: name.isEmpty ? [] : [name])
    }
    private static func estimates(_ kilometers: UInt32, minutes: Int) -> TravelEstimates {
        TravelEstimates(distanceRemaining: .meters(kilometers * 1_000), timeRemaining: .seconds(minutes * 60))
    }

    /// What the story says of a message.
    private mutating func hear(_ message: Message, session: SessionID = Self.session) -> String? {
        let envelope = Envelope(message, session: session, sequence: 1)
        self.state.apply(envelope)
        return self.story.sentence(for: VehicleUpdate(envelope, self.state))
    }

    private mutating func hear(_ publication: Publication) -> String? { self.hear(.publication(publication)) }

    private mutating func begin() {
        #expect(
            self.hear(.snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app")))) == nil)
        #expect(self.hear(.snapshotEnd) == nil)
    }

    private mutating func start(stops: [Waypoint] = []) -> String? {
        let trip = Trip(id: "t", origin: Self.place("A"), destination: Self.place("B"), waypoints: stops)
        var route = RouteInformation()
        route.tripTravelEstimates = Self.estimates(9, minutes: 12)
        return self.hear(.startGuidance(trip, generation: 1, route))
    }

    @Test mutating func `a route in several parts is told once, when the last part has arrived`() {
        self.begin()
        let trip = Trip(id: "t", origin: Self.place("A"), destination: Self.place("B"))
        func part(_ publication: Publication, isLast: Bool) -> Envelope {
            Envelope(
                .publication(publication), session: Self.session, sequence: 1,
                flags: isLast ? .fitted : [.fitted, .more])
        }
        let route = RouteInformation(tripTravelEstimates: Self.estimates(9, minutes: 12))
        var told: [String?] = []
        for envelope in [
            part(.startGuidance(trip, generation: 1, route), isLast: false),
            part(
                .addManeuvers([Maneuver(id: ManeuverID(rawValue: 1), type: .leftTurn)], generation: 1),
                isLast: false),
            part(.upcomingManeuvers([ManeuverID(rawValue: 1)], generation: 1), isLast: true),
        ] {
            self.state.apply(envelope)
            let update = VehicleUpdate(envelope, self.state)
            #expect(update.hasMore != update.state.isComplete)
            told.append(self.story.sentence(for: update))
        }
        #expect(told == [nil, nil, "guided by app from A to B: 9 km, 12 min"])
    }

    @Test mutating func `trips to choose from are told with their routes, another selection alone`() {
        self.begin()
        func trip(_ name: String, routes: Int, selected: UInt32?) -> Trip {
            let choices = (0..<routes).map { index in
                RouteChoice(
                    id: UInt32(index + 1), summaryVariants: ["Street \(index + 1)"],
                    travelEstimates: Self.estimates(UInt32(9 + index), minutes: 12))
            }
            return Trip(
                id: name, origin: Self.place("A"), destination: Self.place(name), routeChoices: choices,
                selectedRouteChoice: selected)
        }
        let routes = "to B by Street 1: 9 km, 12 min; Street 2: 10 km, 12 min"
        #expect(
            self.hear(.tripPreviews([trip("B", routes: 2, selected: 1)], selected: "B"))
                == "app offers 1 trip: \(routes)")
        #expect(self.hear(.tripPreviews([trip("B", routes: 2, selected: 1)], selected: "B")) == nil)
        #expect(
            self.hear(.tripPreviews([trip("B", routes: 2, selected: 2)], selected: "B"))
                == "selected: to B by Street 2: 10 km, 12 min")
        let two = [trip("B", routes: 2, selected: 2), trip("C", routes: 1, selected: 1)]
        #expect(self.hear(.tripPreviews(two, selected: "")) == "app offers 2 trips: \(routes); to C")
        #expect(self.hear(.tripPreviews(two, selected: "C")) == "selected: to C by Street 1: 9 km, 12 min")
        #expect(
            self.hear(.tripPreviews([trip("C", routes: 0, selected: nil)], selected: "C"))
                == "app offers 1 trip: to C")
        // Another session may use the same ids.
        self.begin()
        #expect(
            self.hear(.tripPreviews([trip("C", routes: 0, selected: nil)], selected: "C"))
                == "app offers 1 trip: to C")
        #expect(self.hear(.tripPreviews([], selected: "")) == "app offers 0 trips")
    }

    @Test mutating func `a drive with a stop on the way is reported step by step`() {
        self.begin()
        #expect(self.start() == "guided by app from A to B: 9 km, 12 min")
        let prompt = Prompt(
            requestID: "r", waypoint: Self.stop, travelEstimates: Self.estimates(10, minutes: 14),
            deadlineMilliseconds: 1)
        #expect(self.hear(.prompt(prompt), session: .none) == nil)
        #expect(
            Story.asked(WaypointPrompt(prompt), self.state)
                == "the client's estimates with a stop at Charging: 10 km, 14 min to go, without it 9 km, 12 min"
        )
        let over = PromptOver(requestID: "r", outcome: .accepted)
        #expect(self.hear(.promptOver(over), session: .none) == "the stop is accepted")
        let outcome = RequestOutcome(
            requestID: "r", vehicle: VehicleID(unchecked: "car"), outcome: .accepted)
        #expect(self.hear(.requestOutcome(outcome), session: .none) == nil)
        #expect(self.hear(.pauseGuidance(.rerouting, description: [])) == nil)
        let trip = Trip(
            id: "t", origin: Self.place("A"), destination: Self.place("B"), waypoints: [Self.stop])
        #expect(self.hear(.updateTrip(trip)) == nil)
        var route = RouteInformation()
        route.tripTravelEstimates = Self.estimates(10, minutes: 14)
        #expect(
            self.hear(.resumeGuidance(generation: 2, .waypointModified, route))
                == "new route via Charging: 10 km, 14 min")
        #expect(self.hear(.pauseGuidance(.arrived, description: [])) == "at the stop Charging")
        #expect(self.hear(.resumeGuidance(generation: 2, .unknown, nil)) == nil)
        #expect(self.hear(.pauseGuidance(.arrived, description: [])) == nil)
        #expect(self.hear(.finishGuidance) == "arrived at B")
        // The gateway confirms what the client has said.
        let ended = SessionEnded(session: Self.session, reason: .finished)
        #expect(self.hear(.sessionEnded(ended), session: .none) == nil)
    }

    @Test mutating func `a cluster that joins in mid-drive is told once how far guidance is`() {
        #expect(
            self.hear(.snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app")))) == nil)
        #expect(self.start() == nil)
        #expect(self.hear(.resumeGuidance(generation: 2, .missedTurn, RouteInformation())) == nil)
        #expect(self.hear(.snapshotEnd) == "guided by app from A to B: –")
    }

    @Test mutating func `every end is a sentence`() {
        for (reason, sentence) in [
            (SessionEndReason.userStopped, "the vehicle's user stopped guidance"),
            (.clientGone, "the navigation client was away for too long"),
            (.replaced, "another navigation client has taken over"),
        ] {
            self.begin()
            _ = self.start()
            let ended = SessionEnded(session: Self.session, reason: reason)
            #expect(self.hear(.sessionEnded(ended), session: .none) == "guidance is over: \(sentence)")
        }
        self.begin()
        _ = self.start()
        #expect(self.hear(.cancelGuidance) == "guidance is over: the navigation client stopped guidance")
    }

    @Test mutating func `an end without a session says that there was none`() {
        let ended = SessionEnded(session: .none, reason: .userStopped)
        #expect(self.hear(.sessionEnded(ended), session: .none) == "there was no guidance to end")
    }

    @Test mutating func `a request that no client takes is told with the reason`() {
        let outcome = RequestOutcome(
            requestID: "r", vehicle: VehicleID(unchecked: "car"), outcome: .notSupported)
        let sentence = self.hear(.requestOutcome(outcome), session: .none)
        #expect(sentence == "the request is not accepted: \(RequestResult.notSupported.explanation)")
        let reasoned = RequestOutcome(
            requestID: "s", vehicle: VehicleID(unchecked: "car"), outcome: .notSupported, cause: .noClient)
        #expect(
            self.hear(.requestOutcome(reasoned), session: .none)
                == """
                the request is not accepted: no connected client that may guide the vehicle handles such requests
                """)
    }

    @Test mutating func `a connection is reported when it opens, is lost and opens again`() {
        #expect(self.story.sentence(for: .connecting) == nil)
        #expect(self.story.sentence(for: .closed(.refused(reason: "full"))) == nil)
        #expect(self.story.sentence(for: .connected(resumed: false)) == "connected to the gateway")
        #expect(self.story.sentence(for: .connecting) == "connection to the gateway lost; reconnecting")
        // Each further attempt is no news.
        #expect(self.story.sentence(for: .connecting) == nil)
        #expect(self.story.sentence(for: .connected(resumed: true)) == "connected to the gateway again")
        #expect(self.story.sentence(for: .closed(.closed)) == nil)
        #expect(
            self.story.sentence(for: .closed(.refused(reason: "full")))
                == "connection closed: \(ClientError.refused(reason: "full"))")
    }
}
