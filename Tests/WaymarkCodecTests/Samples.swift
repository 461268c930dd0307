import WaymarkModel
import WaymarkProtocol

/// One message of each type, as a drive from Vaduz to Feldkirch might have it. The fixtures are their bytes.
enum Samples {
    static let vehicle = VehicleID(unchecked: "ev-7")
    static let endpoint = EndpointName(unchecked: "cluster")
    static let client = ClientID(unchecked: "nav.example")
    static let path = EndpointPath(vehicle: vehicle, endpoint: endpoint)
    static let token = ResumptionToken(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF)
    static let session = SessionID(42)

    static let estimates = TravelEstimates(
        distanceRemaining: .meters(4_520), timeRemaining: .seconds(380),
        distanceRemainingToDisplay: DisplayDistance(valueTenths: 45, unit: .kilometers))
    static let origin = Waypoint(
        center: Coordinate(latitude: 47.141, longitude: 9.521, altitude: 460), nameVariants: ["Vaduz"])
    static let destination = Waypoint(
        center: Coordinate(latitude: 47.2393, longitude: 9.5972), locationThreshold: .meters(50),
        nameVariants: ["Schnellladepark Feldkirch", "Feldkirch"], addressVariants: ["Reichsstraße 1"],
        entryPoints: [Coordinate(latitude: 47.2394, longitude: 9.5970)], timeZone: "Europe/Vienna",
        utcOffsetMinutes: 60, stopKind: .charging,
        charge: ChargeStop(
            arrivalBatteryPerMille: 180, departureBatteryPerMille: 800, connector: .ccs2,
            powerWatts: 150_000, chargingTime: .seconds(1_500)), id: "poi-1")
    static let maneuver = Maneuver(
        id: ManeuverID(rawValue: 4), type: .roundaboutExit2, junctionType: .roundabout, trafficSide: .right,
        instructionVariants: ["Take the second exit", "2nd exit"],
        roadFollowingManeuverVariants: ["Feldkircher Straße"], highwayExitLabel: "12A",
        junctionExitAngle: .degrees(-10),
        junctionElementAngles: [.degrees(-180), .degrees(-90), .degrees(85)],
        linkedLaneGuidance: LaneGuidanceID(rawValue: 9), initialTravelEstimates: estimates,
        roundaboutExitNumber: 2, isIntermediateWaypoint: true, notification: .withEstimates)
    static let laneGuidance = LaneGuidance(
        id: LaneGuidanceID(rawValue: 9),
        lanes: [
            Lane(angles: [.degrees(-90)]),
            Lane(angles: [.degrees(0), .degrees(90)], highlightedAngle: .degrees(0), status: .preferred),
        ], instructionVariants: ["Keep right"])
    static let trip = Trip(
        id: "trip-1", origin: origin, destination: destination, waypoints: [origin],
        routeChoices: [
            RouteChoice(
                id: 1, summaryVariants: ["Via Schaan"], additionalInformationVariants: ["Light traffic"],
                selectionSummaryVariants: ["Schaan"], travelEstimates: estimates)
        ], selectedRouteChoice: 1)
    static let segment = RouteSegment(
        id: "leg-1", origin: origin, destination: destination,
        coordinates: [
            Coordinate(latitude: 47.141, longitude: 9.521), Coordinate(latitude: 47.1415, longitude: 9.5209),
            Coordinate(latitude: 47.2393, longitude: 9.5972),
        ], maneuvers: [maneuver.id], laneGuidances: [laneGuidance.id], currentManeuvers: [maneuver.id],
        currentLaneGuidance: laneGuidance.id, tripTravelEstimates: estimates,
        maneuverTravelEstimates: estimates)
    static let route = RouteInformation(
        maneuvers: [maneuver], laneGuidances: [laneGuidance], segments: [segment], currentSegment: "leg-1",
        upcomingManeuvers: [maneuver.id], currentLaneGuidance: laneGuidance.id,
        tripTravelEstimates: estimates, maneuverTravelEstimates: estimates)
    static let alert = NavigationAlert(
        id: 3, titleVariants: ["Faster route"], subtitleVariants: ["Saves 4 min"],
        actions: [AlertAction(id: 1, titleVariants: ["Take it"]), AlertAction(id: 2, titleVariants: ["No"])],
        duration: .seconds(10), notification: .once, priority: .high)
    static let status = VehicleStatus(
        vehicle: vehicle, standing: .refused(.vehicleBusy),
        endpoints: [
            EndpointStatus(
                endpoint: endpoint, isReady: true, locale: "de-LI",
                withheld: [FeatureGrant(.laneGuidance, withheld: .noCapacity)])
        ])

    /// The message of a type, in the envelope it would have.
    static func envelope(_ type: MessageType) -> Envelope {
        switch type {
        case .hello: Envelope(.hello(self.hello))
        case .welcome: Envelope(.welcome(self.welcome))
        case .goodbye: Envelope(.goodbye(self.goodbye))
        case .ping: Envelope(.ping(nonce: 0x0102_0304_0506_0708, sentNanoseconds: 1_000_000_000))
        case .pong:
            Envelope(
                .pong(
                    nonce: 0x0102_0304_0506_0708,
                    PongTimes(receivedNanoseconds: 0, sentNanoseconds: 300_000)))
        case .error: Envelope(.error(self.rejection))
        case .openSession:
            Envelope(
                .openSession(
                    OpenSession(
                        requestID: "open-1", vehicles: .vehicles([self.vehicle]),
                        receiptsEveryMilliseconds: 1_000)))
        case .sessionOpened:
            Envelope(
                .sessionOpened(
                    SessionOpened(requestID: "open-1", session: self.session, vehicles: [self.status])))
        case .sessionEnded:
            Envelope(.sessionEnded(SessionEnded(session: self.session, reason: .finished)))
        case .receipt:
            Envelope(
                .receipt(
                    Receipt(
                        receivedSequence: 300, shownSequence: 299, receivedNanoseconds: 2_000_000_000,
                        shownNanoseconds: 1_900_000_000)), session: self.session)
        case .receiptReport: Envelope(.receiptReport(self.report), session: self.session)
        case .acknowledgement: Envelope(.acknowledgement(sequence: 300), session: self.session)
        case .vehicleChanged: Envelope(.vehicleChanged(self.status), session: self.session)
        case .snapshotBegin: Envelope(.snapshotBegin(self.snapshotBegin), session: self.session)
        case .snapshotEnd: Envelope(.snapshotEnd, session: self.session)
        case .sessionSuspended:
            Envelope(
                .sessionSuspended(SessionSuspended(graceMilliseconds: 30_000, ageMilliseconds: 0)),
                session: self.session, flags: .gateway)
        case .sessionRestored: Envelope(.sessionRestored, session: self.session, flags: .gateway)
        case .tripPreviews, .startGuidance, .updateTrip, .addManeuvers, .addLaneGuidances, .addRouteSegments,
            .upcomingManeuvers, .currentLaneGuidance, .currentRoadName, .updateManeuverState,
            .updateTripEstimates, .updateManeuverEstimates, .currentRouteSegment, .pauseGuidance,
            .resumeGuidance, .showAlert, .dismissAlert, .shareDestination, .finishGuidance, .cancelGuidance,
            .updateSpeedLimit, .publishExtension:
            Envelope(.publication(self.publication(type)), session: self.session, sequence: 7)
        case .waypointRequest, .destinationRequest, .withdrawRequest, .requestAnswer, .prompt, .promptAnswer,
            .promptOver, .requestOutcome, .cancelNavigation, .allowNavigation, .updateRouteSource,
            .vehicleSettings, .zoomCluster, .alertResponse, .destinationShareAnswer, .destinationShareStatus,
            .vehicleExtension, .selectPreview, .startTripRequest, .simulateDrive, .destinationShareWanted,
            .updateRouteFeedback:
            Envelope(self.vehicleMessage(type))
        case .observe, .observationBegin, .observedRecords, .observedEvent, .observedFrames, .observationGap,
            .readCounters, .counters:
            Envelope(self.observerMessage(type))
        }
    }
}

extension Samples {
    private static var hello: Hello {
        var vehicle = VehicleHello(
            vehicle: self.vehicle, endpoint: self.endpoint, features: [.maneuvers, .laneGuidance, .requests])
        vehicle.limits.maneuverInstructionLengthMax = 24
        vehicle.limits.maneuversStoredMax = 10
        vehicle.receiveFrameBytesMax = 8_192
        vehicle.preferences.distanceUnits = .metric
        vehicle.preferences.locale = "de-LI"
        vehicle.guidanceWanted = true
        vehicle.reportsIgnored = true
        var hello = Hello(role: .vehicle(vehicle))
        hello.displayName = "Instrument cluster"
        hello.software = "rig 1.0"
        hello.credential = [0xDE, 0xAD, 0xBE, 0xEF]
        hello.keepaliveMilliseconds = 5_000
        hello.sendFrameBytesMax = 65_536
        hello.resumptionToken = self.token
        hello.resumeSession = self.session
        hello.resumeSequence = 300
        hello.negotiatedLimits = .page
        hello.negotiatedLimits?.vehiclesPerSessionMax = 4_096
        return hello
    }

    private static var welcome: Welcome {
        var welcome = Welcome(resumptionToken: self.token)
        welcome.features = [FeatureGrant(.maneuvers), FeatureGrant(.charge, withheld: .notRequested)]
        welcome.keepaliveMilliseconds = 5_000
        (welcome.receiveFrameBytesMax, welcome.sendFrameBytesMax) = (65_536, 8_192)
        welcome.isResumed = true
        welcome.sessions = [
            ResumedSession(session: self.session, sequence: 300, phase: .ended, endReason: .userStopped)
        ]
        welcome.graceMilliseconds = 30_000
        welcome.requestsOpenMax = 8
        welcome.software = "waymarkd"
        welcome.gateway = GatewayIdentity(
            instance: GatewayName(unchecked: "depot-3"), epoch: 1_789_000_000_000)
        return welcome
    }

    private static var goodbye: Goodbye {
        Goodbye(
            .shuttingDown, reason: "going down", reconnectAfterMilliseconds: 2_000,
            limit: ReachedLimit("peers_max", 300))
    }

    private static var rejection: Rejection {
        var rejection = Rejection(
            .outOfRange, field: "maneuvers[3].junction_element_angles_degrees[0]",
            reason: "not within -180 ... 179", limit: ReachedLimit("sessions_max", 300))
        rejection.retryAfterMilliseconds = 300
        rejection.messageType = MessageType.addManeuvers.rawValue
        rejection.session = self.session
        rejection.sequence = 7
        rejection.requestID = "req-1"
        return rejection
    }

    private static var report: ReceiptReport {
        var receipt = EndpointReceipt(
            vehicle: self.vehicle, endpoint: self.endpoint,
            receipt: Receipt(receivedSequence: 300, shownSequence: 299))
        (receipt.receivedDelayMicroseconds, receipt.shownDelayMicroseconds) = (400, 16_500)
        return ReceiptReport(gatewaySequence: 301, endpoints: [receipt])
    }

    private static var snapshotBegin: SnapshotBegin {
        var begin = SnapshotBegin(kind: .full, client: self.client)
        begin.clientDisplayName = "Example Navigation"
        begin.isSuspended = true
        begin.receiptsEveryMilliseconds = 1_000
        begin.withheld = [FeatureGrant(.routeSegments, withheld: .tripOptedOut)]
        (begin.fromSequence, begin.toSequence) = (290, 300)
        begin.ageMilliseconds = 1_200
        return begin
    }

    private static let tyres = ExtensionName(unchecked: "org.example.tyres")

    private static func publication(_ type: MessageType) -> Publication {
        switch type {
        case .tripPreviews: .tripPreviews([self.trip], selected: "trip-1")
        case .startGuidance: .startGuidance(self.trip, generation: 1, self.route)
        case .updateTrip: .updateTrip(self.trip)
        case .addManeuvers: .addManeuvers([self.maneuver], generation: 1)
        case .addLaneGuidances: .addLaneGuidances([self.laneGuidance], generation: 1)
        case .addRouteSegments: .addRouteSegments([self.segment], generation: 1)
        case .upcomingManeuvers: .upcomingManeuvers([self.maneuver.id], generation: 1)
        case .currentLaneGuidance: .currentLaneGuidance(self.laneGuidance.id, generation: 1)
        case .currentRoadName: .currentRoadName(["Feldkircher Straße", "L191"])
        case .updateManeuverState: .maneuverState(.prepare, generation: 1)
        case .updateTripEstimates: .tripEstimates(self.estimates, .orange)
        case .updateManeuverEstimates: .maneuverEstimates(self.maneuver.id, self.estimates, generation: 1)
        case .currentRouteSegment: .currentRouteSegment("leg-1", generation: 1)
        case .pauseGuidance: .pauseGuidance(.rerouting, description: ["New route"])
        case .resumeGuidance: .resumeGuidance(generation: 2, .waypointModified, self.route)
        case .showAlert: .showAlert(self.alert)
        case .dismissAlert: .dismissAlert(3, .userDismissed)
        case .shareDestination: .shareDestination(shareID: "share-1", self.destination, trip: "trip-1")
        case .cancelGuidance: .cancelGuidance
        case .updateSpeedLimit:
            .speedLimit(
                SpeedLimit(80, .kilometersPerHour, kind: .posted, sign: .vienna),
                next: SpeedLimitAhead(
                    SpeedLimit(50, .kilometersPerHour, kind: .variable, sign: .vienna), in: .meters(420),
                    distanceToDisplay: DisplayDistance(valueTenths: 4_000, unit: .meters)))
        case .publishExtension:
            .publishExtension(
                PublishedExtension(
                    name: self.tyres, content: Array("72".utf8), key: 513, isRetained: true))
        default: .finishGuidance
        }
    }

    private static func vehicleMessage(_ type: MessageType) -> Message {
        switch type {
        case .waypointRequest:
            .waypointRequest(
                WaypointRequest(
                    requestID: "req-1", waypoint: self.destination, segment: "leg-1", vehicle: self.vehicle))
        case .destinationRequest:
            .destinationRequest(
                DestinationRequest(requestID: "req-2", destination: self.origin, vehicle: self.vehicle))
        case .startTripRequest:
            .startTripRequest(
                StartTripRequest(requestID: "req-3", trip: "trip-1", routeChoice: 2, vehicle: self.vehicle))
        case .selectPreview:
            .selectPreview(SelectPreview(trip: "trip-1", routeChoice: 2, source: self.path))
        case .withdrawRequest:
            .withdrawRequest(WithdrawRequest(requestID: "req-1"))
        case .requestAnswer:
            .requestAnswer(
                RequestAnswer(requestID: "req-1", vehicle: self.vehicle, answer: .estimates(self.estimates)))
        case .prompt:
            .prompt(
                Prompt(
                    requestID: "req-1", waypoint: self.origin, travelEstimates: self.estimates,
                    deadlineMilliseconds: 20_000))
        case .promptAnswer: .promptAnswer(PromptAnswer(requestID: "req-1", isAccepted: true))
        case .promptOver: .promptOver(PromptOver(requestID: "req-1", outcome: .accepted))
        case .requestOutcome:
            .requestOutcome(
                RequestOutcome(
                    requestID: "req-1", vehicle: self.vehicle, outcome: .declinedByUser, client: self.client))
        case .cancelNavigation: .cancelNavigation(.ownNavigationStarted)
        case .updateRouteSource:
            .updateRouteSource(
                UpdateRouteSource(routeSource: .clientRouteModified, vehicle: self.vehicle))
        case .vehicleSettings: .vehicleSettings(self.settings)
        case .zoomCluster: .zoomCluster(ZoomCluster(direction: .in, source: self.path))
        case .vehicleExtension:
            .vehicleExtension(
                VehicleExtension(name: self.tyres, content: Array("ok".utf8), source: self.path))
        case .simulateDrive: .simulateDrive(self.simulateDrive)
        case .destinationShareWanted:
            .destinationShareWanted(DestinationShareWanted(trip: "trip-1", source: self.path))
        case .updateRouteFeedback:
            .updateRouteFeedback(UpdateRouteFeedback(self.feedback, vehicle: self.vehicle))
        case .alertResponse:
            .alertResponse(AlertResponse(alert: 3, response: .action(1), source: self.path))
        case .destinationShareAnswer:
            .destinationShareAnswer(DestinationShareAnswer(shareID: "share-1", outcome: .accepted))
        case .destinationShareStatus:
            .destinationShareStatus(
                DestinationShareStatus(
                    shareID: "share-1", vehicle: self.vehicle, stage: .didFailToShare(.timedOut)))
        default: .allowNavigation
        }
    }

    private static var simulateDrive: SimulateDrive {
        var asked = SimulateDrive(.start, speedPercent: 2_000)
        asked.client = self.client
        (asked.vehicle, asked.endpoint) = (self.vehicle, self.endpoint)
        return asked
    }

    static let feedback = RouteFeedback(
        generation: 3,
        stops: [
            StopFeedback(arrivalBatteryPerMille: 420, reachability: .reachable), StopFeedback(),
            StopFeedback(reachability: .unreachable),
        ], firstUnreachableSegment: "leg-2")

    private static var settings: VehicleSettings {
        var settings = VehicleSettings()
        settings.compass = .enabled
        settings.speedLimit = .userPreference
        settings.contentStyle = .dark
        settings.limitedUserInterfaces = 3
        settings.isReadyToShow = true
        settings.source = self.path
        return settings
    }
}
