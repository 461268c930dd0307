import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

@Suite struct EndpointOutboxTests {
    private static let session = SessionID(4)
    private static let request = Message.waypointRequest(WaypointRequest(requestID: "r", waypoint: place))
    private static let withdrawal = Message.withdrawRequest(WithdrawRequest(requestID: "r"))
    private static let cancel = Message.cancelNavigation(.userStopped)
    private static let ownNavigation = Message.cancelNavigation(.ownNavigationStarted)
    private static let source = Message.updateRouteSource(UpdateRouteSource(routeSource: .vehicle))
    private static let prompt = Message.promptAnswer(PromptAnswer(requestID: "p", isAccepted: true))
    private static let share = Message.destinationShareAnswer(
        DestinationShareAnswer(shareID: "s", outcome: .accepted))
    private static let alert = Message.alertResponse(AlertResponse(alert: 1, response: .action(1)))
    private static let tyres = Message.vehicleExtension(
        VehicleExtension(name: ExtensionName(unchecked: "org.example.tyres"), content: [7]))
    private static let preview = Message.selectPreview(SelectPreview(trip: "t", routeChoice: 2))
    private static let start = Message.startTripRequest(StartTripRequest(requestID: "r", trip: "t"))
    private static let simulation = Message.simulateDrive(SimulateDrive(.start, speedPercent: 200))
    private static let feedback = Message.updateRouteFeedback(
        UpdateRouteFeedback(RouteFeedback(generation: 1)))
    private static let wanted = Message.destinationShareWanted(DestinationShareWanted())
    private static let zoom = Message.zoomCluster(ZoomCluster(direction: .in))
    private static let settings: Message = {
        var settings = VehicleSettings()
        settings.compass = .enabled
        return .vehicleSettings(settings)
    }()

    /// The entries that are said again, of those not sent and those sent; and the same at a gateway that has forgotten the endpoint.
    @Test(arguments: [
        (request, true, true, true, false), (withdrawal, true, true, false, false),
        (cancel, true, true, true, true), (.allowNavigation, true, true, true, true),
        (source, true, true, true, true), (ownNavigation, true, true, true, true),
        (settings, true, true, true, true), (prompt, true, true, false, false),
        (share, true, true, false, false), (alert, true, false, false, false),
        (preview, true, true, false, false), (start, true, true, true, false),
        (feedback, true, true, false, false), (wanted, true, false, false, false),
        (tyres, true, false, false, false), (simulation, true, false, false, false),
        (zoom, false, false, false, false),
    ])
    func `each kind of message survives a loss as its table says`(
        _ message: Message, _ unsent: Bool, _ sent: Bool, _ unsentForgotten: Bool, _ sentForgotten: Bool
    ) {
        for (isSent, isResumed, isExpected) in [
            (false, true, unsent), (true, true, sent), (false, false, unsentForgotten),
            (true, false, sentForgotten),
        ] {
            var outbox = EndpointOutbox()
            outbox.send(Envelope(message, session: Self.session))
            if isSent { #expect(outbox.dequeueAll().map(\.message) == [message]) }
            outbox.welcome(isResumed: isResumed)
            #expect(
                outbox.dequeueAll().map(\.message) == (isExpected ? [message] : []), "\(isSent) \(isResumed)")
        }
    }

    @Test func `a selection that newer previews have answered, or that was rejected, is not sent again`() {
        var rejection = Rejection(.unknownReference, field: "trip_id", reason: "is gone")
        rejection.messageType = MessageType.selectPreview.rawValue
        let answers: [Message] = [
            .publication(.tripPreviews([trip], selected: "")),
            .publication(.startGuidance(trip, generation: 1, route)), .error(rejection),
        ]
        for answer in answers {
            var outbox = EndpointOutbox()
            outbox.send(Envelope(Self.preview, session: Self.session))
            // It is not sent yet, so it is about what comes now.
            outbox.received(answer, in: Self.session)
            #expect(outbox.dequeueAll().map(\.message) == [Self.preview])
            outbox.received(answer, in: Self.session)
            outbox.welcome(isResumed: true)
            #expect(outbox.dequeueAll().isEmpty)
        }
    }

    @Test func `the newest selection takes the place of one before`() {
        var outbox = EndpointOutbox()
        let newer = Message.selectPreview(SelectPreview(trip: "u"))
        for message in [Self.preview, newer] { outbox.send(Envelope(message, session: Self.session)) }
        #expect(outbox.dequeueAll().map(\.message) == [newer])
    }

    @Test func `nothing is sent again without a loss`() {
        var outbox = EndpointOutbox()
        for message in [Self.request, Self.cancel, Self.settings, Self.source] {
            outbox.send(Envelope(message))
        }
        #expect(outbox.dequeueAll().count == 4)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test func `a message that was answered is not sent again`() {
        var outbox = EndpointOutbox()
        for message in [Self.request, Self.withdrawal, Self.cancel, Self.prompt] {
            outbox.send(Envelope(message, session: Self.session))
        }
        _ = outbox.dequeueAll()
        let vehicle = VehicleID(unchecked: "car")
        outbox.received(
            .requestOutcome(RequestOutcome(requestID: "r", vehicle: vehicle, outcome: .withdrawn)))
        outbox.received(.sessionEnded(SessionEnded(session: Self.session, reason: .userStopped)))
        outbox.received(.promptOver(PromptOver(requestID: "p", outcome: .accepted)))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test func `a request and its withdrawal are sent until they are answered, other messages at most twice`()
    {
        var outbox = EndpointOutbox()
        for message in [Self.request, Self.cancel, Self.source] {
            outbox.send(Envelope(message, session: Self.session))
        }
        for round in 1...4 {
            #expect(outbox.dequeueAll().count == (round <= 2 ? 3 : 2))
            outbox.welcome(isResumed: true)
        }
    }

    @Test func `own navigation is sent to a restarted gateway, until it is allowed again`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(.cancelNavigation(.ownNavigationStarted)))
        _ = outbox.dequeueAll()
        outbox.received(.sessionEnded(SessionEnded(session: Self.session, reason: .ownNavigationStarted)))
        outbox.welcome(isResumed: false)
        #expect(outbox.dequeueAll().map(\.message) == [.cancelNavigation(.ownNavigationStarted)])
        outbox.received(.sessionEnded(SessionEnded(session: .none, reason: .ownNavigationStarted)))
        outbox.send(Envelope(.allowNavigation))
        outbox.welcome(isResumed: false)
        #expect(outbox.dequeueAll().map(\.message) == [.allowNavigation])
        outbox.welcome(isResumed: false)
        outbox.welcome(isResumed: false)
        #expect(!outbox.dequeueAll().map(\.message).contains(.cancelNavigation(.ownNavigationStarted)))
    }

    @Test func `own navigation that is allowed again before its confirmation is not told again`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(.cancelNavigation(.ownNavigationStarted)))
        _ = outbox.dequeueAll()
        outbox.send(Envelope(.allowNavigation))
        outbox.received(.sessionEnded(SessionEnded(session: Self.session, reason: .ownNavigationStarted)))
        #expect(outbox.dequeueAll().map(\.message) == [.allowNavigation])
        outbox.welcome(isResumed: false)
        #expect(!outbox.dequeueAll().map(\.message).contains(.cancelNavigation(.ownNavigationStarted)))
    }

    @Test(arguments: [
        Message.requestOutcome(
            RequestOutcome(requestID: "d", vehicle: VehicleID(unchecked: "car"), outcome: .accepted)),
        .snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))),
    ])
    func `a vehicle that is guided again does not navigate by itself`(_ message: Message) {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(.cancelNavigation(.ownNavigationStarted)))
        _ = outbox.dequeueAll()
        let ended = SessionEnded(session: Self.session, reason: .ownNavigationStarted)
        if case .snapshotBegin = message { outbox.received(message) }  // On its way when it was cancelled.
        outbox.received(.sessionEnded(ended))
        outbox.welcome(isResumed: false)
        #expect(outbox.dequeueAll().map(\.message) == [.cancelNavigation(.ownNavigationStarted)])
        outbox.received(.sessionEnded(ended))
        outbox.received(message)
        outbox.welcome(isResumed: false)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test
    func `a message that is not granted is not sent again; a refused answer does not end requests`() {
        var outbox = EndpointOutbox()
        for message in [Self.request, Self.cancel] { outbox.send(Envelope(message, session: Self.session)) }
        _ = outbox.dequeueAll()
        var rejection = Rejection(.notGranted, reason: "")
        rejection.messageType = MessageType.promptAnswer.rawValue
        outbox.received(.error(rejection))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().count == 2)
        rejection.messageType = MessageType.cancelNavigation.rawValue
        outbox.received(.error(rejection))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test func `a stop is sent to every gateway until its session has ended`() {
        for ending: (inout EndpointOutbox) -> Void in [
            { $0.received(.sessionEnded(SessionEnded(session: Self.session, reason: .replaced))) },
            { $0.received(.publication(.finishGuidance), in: Self.session) },
            { $0.received(.publication(.cancelGuidance), in: Self.session) },
            {
                let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
                $0.received(.snapshotBegin(begin), in: SessionID(5))
            },
        ] {
            var outbox = EndpointOutbox()
            outbox.send(Envelope(Self.cancel, session: Self.session))
            _ = outbox.dequeueAll()
            outbox.received(.sessionEnded(SessionEnded(session: SessionID(9), reason: .finished)))
            outbox.welcome(isResumed: false)
            #expect(outbox.dequeueAll() == [Envelope(Self.cancel, session: Self.session)])
            ending(&outbox)
            outbox.welcome(isResumed: false)
            #expect(outbox.dequeueAll().isEmpty)
        }
    }

    @Test func `a stop without a session is sent at most once`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.cancel))
        #expect(outbox.dequeueAll() == [Envelope(Self.cancel)])
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().isEmpty)
        outbox.send(Envelope(Self.cancel))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test func `own navigation is sent again until it is confirmed, whatever ends a session meanwhile`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.ownNavigation))
        _ = outbox.dequeueAll()
        outbox.received(.sessionEnded(SessionEnded(session: Self.session, reason: .replaced)))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().map(\.message) == [Self.ownNavigation])
        outbox.received(.sessionEnded(SessionEnded(session: .none, reason: .ownNavigationStarted)))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test(arguments: [("app", true), ("other", false)])
    func `a new gateway hears the route source of a drive once the same client guides again`(
        _ client: String, _ isRestated: Bool
    ) {
        var outbox = EndpointOutbox()
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        outbox.received(.snapshotBegin(begin), in: Self.session)
        outbox.send(Envelope(Self.source, session: Self.session))
        _ = outbox.dequeueAll()
        outbox.welcome(isResumed: false)
        #expect(outbox.dequeueAll().isEmpty)
        let again = SnapshotBegin(kind: .full, client: ClientID(unchecked: client))
        outbox.received(.snapshotBegin(again), in: SessionID(8))
        #expect(outbox.dequeueAll() == (isRestated ? [Envelope(Self.source, session: SessionID(8))] : []))
    }

    @Test func `a request that is withdrawn is not made again; one that is made again is not withdrawn`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.request))
        _ = outbox.dequeueAll()
        outbox.welcome(isResumed: true)
        outbox.send(Envelope(Self.withdrawal))
        outbox.send(Envelope(Self.request))
        #expect(outbox.dequeueAll().map(\.message) == [Self.request])
        outbox.send(Envelope(Self.withdrawal))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().map(\.message) == [Self.withdrawal])
    }

    @Test func `a request that was never sent is sent to a gateway that has forgotten the endpoint, once`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.request))
        // No connection lasts until something is written.
        for _ in 0..<3 { outbox.welcome(isResumed: false) }
        #expect(outbox.isRequesting("r"))
        #expect(outbox.dequeueAll().map(\.message) == [Self.request])
        outbox.welcome(isResumed: false)
        #expect(!outbox.isRequesting("r"))
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test func `a request that was repeated is not sent to a gateway that has forgotten the endpoint`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.request))
        for _ in 0..<3 {
            #expect(outbox.dequeueAll().map(\.message) == [Self.request])
            outbox.welcome(isResumed: true)
        }
        outbox.welcome(isResumed: false)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test(arguments: [false, true])
    func `a request that is made again after its withdrawal counts as sent`(_ isWithdrawalSent: Bool) {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.request))
        _ = outbox.dequeueAll()
        outbox.send(Envelope(Self.withdrawal))
        if isWithdrawalSent { _ = outbox.dequeueAll() }
        outbox.send(Envelope(Self.request))
        let isRemoved = outbox.removeUnsent("r")
        #expect(!isRemoved, "the gateway has it, and must be told")
        outbox.welcome(isResumed: false)
        #expect(outbox.dequeueAll().isEmpty)
    }

    @Test func `a refused answer to a prompt does not end the request that it names`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.request))
        _ = outbox.dequeueAll()
        var rejection = Rejection(.notGranted, reason: "")
        rejection.messageType = MessageType.promptAnswer.rawValue
        rejection.requestID = "r"
        outbox.received(.error(rejection))
        outbox.welcome(isResumed: true)
        #expect(outbox.dequeueAll().map(\.message) == [Self.request])
    }

    @Test func `settings are merged, and memory is bounded`() {
        var outbox = EndpointOutbox()
        outbox.send(Envelope(Self.settings))
        var ready = VehicleSettings()
        ready.isReadyToShow = true
        outbox.send(Envelope(.vehicleSettings(ready)))
        ready.compass = .enabled
        #expect(outbox.dequeueAll().map(\.message) == [.vehicleSettings(ready)])
        for number in 1...1_000 {
            outbox.send(Envelope(Self.zoom))
            outbox.send(Envelope(.alertResponse(AlertResponse(alert: UInt32(number), response: .action(1)))))
            outbox.send(Envelope(.promptAnswer(PromptAnswer(requestID: "\(number)", isAccepted: true))))
        }
        #expect(outbox.dequeueAll().count == 3 * EndpointOutbox.kindMax)
    }
}
