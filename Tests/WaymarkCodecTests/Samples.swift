import WaymarkModel
import WaymarkProtocol

/// One rich value of every message.
enum Samples {
    static let estimates = TravelEstimates(
        distanceRemaining: .meters(1_234), timeRemaining: .seconds(90),
        distanceRemainingToDisplay: DisplayDistance(valueTenths: 12, unit: .kilometers))
    static let waypoint = Waypoint(
        center: Coordinate(latitude: 47.107, longitude: 9.528, altitude: 460), locationThreshold: .meters(25),
        nameVariants: ["Ladestation Triesen", "Triesen"], addressVariants: ["Landstraße 1"],
        entryPoints: [Coordinate(latitude: 47.1, longitude: 9.5)], timeZone: "Europe/Vaduz",
        utcOffsetMinutes: -60,
        stopKind: .charging,
        charge: ChargeStop(
            arrivalBatteryPerMille: 0, departureBatteryPerMille: 800, connector: .ccs2, powerWatts: 150_000,
            chargingTime: .seconds(1_200)), id: "w1")
    static let trip = Trip(
        id: "t", origin: waypoint, destination: Waypoint(center: Coordinate(latitude: -90, longitude: 180)),
        waypoints: [waypoint],
        routeChoices: [RouteChoice(id: 1, summaryVariants: ["A 14"], travelEstimates: estimates)],
        selectedRouteChoice: 1)
    static let maneuver = Maneuver(
        id: ManeuverID(rawValue: 7), type: .roundaboutExit3, junctionType: .roundabout, trafficSide: .left,
        instructionVariants: ["Take the third exit", "3rd exit"],
        roadFollowingManeuverVariants: ["Äulestrasse"],
        highwayExitLabel: "12A", junctionExitAngle: .degrees(-180),
        junctionElementAngles: [.degrees(-90), .degrees(0), .degrees(90)],
        linkedLaneGuidance: LaneGuidanceID(rawValue: 3), initialTravelEstimates: estimates,
        roundaboutExitNumber: 3,
        isIntermediateWaypoint: true)
    static let lanes = LaneGuidance(
        id: LaneGuidanceID(rawValue: 3),
        lanes: [
            Lane(angles: [.degrees(-45), .degrees(0)], highlightedAngle: .degrees(0), status: .preferred),
            Lane(angles: [], status: .notGood),
        ], instructionVariants: ["Left lane"])
    static let segment = RouteSegment(
        id: "leg-1", origin: waypoint, destination: waypoint,
        coordinates: [
            Coordinate(latitude: 47.141, longitude: 9.5215),
            Coordinate(latitude: -47.1, longitude: -179.999999),
        ], maneuvers: [ManeuverID(rawValue: 7)], laneGuidances: [LaneGuidanceID(rawValue: 3)],
        currentManeuvers: [ManeuverID(rawValue: 7)], currentLaneGuidance: LaneGuidanceID(rawValue: 3),
        tripTravelEstimates: estimates, maneuverTravelEstimates: estimates)
    static let route = RouteInformation(
        maneuvers: [maneuver], laneGuidances: [lanes], segments: [segment], currentSegment: "leg-1",
        upcomingManeuvers: [ManeuverID(rawValue: 7)], currentLaneGuidance: LaneGuidanceID(rawValue: 3),
        tripTravelEstimates: estimates, maneuverTravelEstimates: estimates)
    static let alert = NavigationAlert(
        id: 4, titleVariants: ["Traffic jam"], subtitleVariants: ["+ 10 min"],
        actions: [AlertAction(id: 1, titleVariants: ["Avoid"])], duration: .seconds(10))

    static let publications: [Publication] = [
        .tripPreviews([trip], selected: "t"), .startGuidance(trip, generation: 1, route), .updateTrip(trip),
        .addManeuvers([maneuver], generation: 2), .addLaneGuidances([lanes], generation: 2),
        .addRouteSegments([segment], generation: 2),
        .upcomingManeuvers([ManeuverID(rawValue: 7)], generation: 2),
        .currentLaneGuidance(nil, generation: 2), .currentRoadName(["Landstrasse"]),
        .maneuverState(.prepare, generation: 2), .tripEstimates(estimates, .red),
        .maneuverEstimates(ManeuverID(rawValue: 7), estimates, generation: 2),
        .currentRouteSegment("leg-1", generation: 2), .pauseGuidance(.rerouting, description: ["New route"]),
        .resumeGuidance(generation: 3, .waypointModified, route),
        .resumeGuidance(generation: 3, .unknown, nil),
        .showAlert(alert), .dismissAlert(4, .userDismissed), .shareDestination(shareID: "s", waypoint),
        .finishGuidance, .cancelGuidance,
    ]

    static let car = VehicleID(unchecked: "car")
    static let cluster = EndpointName(unchecked: "cluster")
    static let app = ClientID(unchecked: "app")
    static let path = EndpointPath(vehicle: car, endpoint: cluster)
    static let token = ResumptionToken(high: 0x0102_0304_0506_0708, low: .max)

    static var vehicleHello: Hello {
        var vehicle = VehicleHello(vehicle: car, endpoint: cluster, features: [.maneuvers, .requests])
        vehicle.limits.maneuversStoredMax = 2
        vehicle.preferences.distanceUnits = .imperialYards
        vehicle.preferences.locale = "en-GB"
        vehicle.guidanceWanted = true
        var hello = Hello(role: .vehicle(vehicle))
        hello.displayName = "Cluster"
        hello.credential = [0, 1, 255]
        hello.keepaliveMilliseconds = 2_000
        hello.frameBytesMax = 65_536
        hello.resumptionToken = token
        hello.resumeSession = SessionID(9)
        hello.resumeSequence = 10
        return hello
    }

    static var navigationHello: Hello {
        var navigation = NavigationHello(client: app, features: [.maneuvers, .waypointRequests])
        navigation.priority = -5
        return Hello(role: .navigation(navigation))
    }

    static var welcome: Welcome {
        var welcome = Welcome(resumptionToken: token)
        welcome.features = [FeatureGrant(.maneuvers), FeatureGrant(.charge, withheld: .notRequested)]
        welcome.keepaliveMilliseconds = 10_000
        welcome.frameBytesMax = 1_048_576
        welcome.isResumed = true
        welcome.sessions = [
            ResumedSession(session: SessionID(1), sequence: 5, phase: .paused),
            ResumedSession(session: SessionID(2), sequence: 6, phase: .ended, endReason: .replaced),
        ]
        welcome.graceMilliseconds = 30_000
        return welcome
    }

    static var settings: VehicleSettings {
        var settings = VehicleSettings()
        settings.compass = .enabled
        settings.contentStyle = .dark
        settings.limitedUserInterfaces = 0
        settings.isReadyToShow = false
        settings.source = path
        return settings
    }

    static var snapshot: SnapshotBegin {
        var begin = SnapshotBegin(kind: .missed, client: app)
        begin.isSuspended = true
        begin.withheld = [FeatureGrant(.routeSegments, withheld: .noConsent)]
        return begin
    }

    static let status = VehicleStatus(
        vehicle: car, standing: .joined,
        endpoints: [EndpointStatus(endpoint: cluster, isReady: true, locale: "de", withheld: [])])

    static let messages: [Message] =
        publications.map { .publication($0) } + [
            .hello(vehicleHello), .hello(navigationHello), .welcome(welcome),
            .goodbye(Goodbye(.slowConsumer, reason: "too slow", reconnectAfterMilliseconds: 500)),
            .ping(nonce: .max),
            .pong(nonce: 0), .error(Rejection(.outOfRange, field: "a[1].b", reason: "is 5")),
            .openSession(
                OpenSession(requestID: "r", vehicles: .vehicles([car]), receiptsEveryMilliseconds: 100)),
            .openSession(OpenSession(requestID: "r", vehicles: .anyThatAsked)),
            .sessionOpened(SessionOpened(requestID: "r", session: SessionID(8), vehicles: [status])),
            .vehicleChanged(VehicleStatus(vehicle: car, standing: .refused(.vehicleBusy))),
            .vehicleChanged(VehicleStatus(vehicle: car, standing: .left(.userStopped))),
            .vehicleChanged(VehicleStatus(vehicle: car, standing: .awaited)),
            .sessionEnded(SessionEnded(session: SessionID(8), reason: .ownNavigationStarted)),
            .snapshotBegin(snapshot), .snapshotEnd, .sessionSuspended(graceMilliseconds: 5), .sessionRestored,
            .receipt(Receipt(receivedSequence: 9, shownSequence: 8)),
            .receiptReport(
                ReceiptReport(
                    gatewaySequence: 10,
                    endpoints: [
                        EndpointReceipt(
                            vehicle: car, endpoint: cluster,
                            receipt: Receipt(receivedSequence: 9, shownSequence: 8))
                    ])),
            .waypointRequest(
                WaypointRequest(requestID: "r", waypoint: waypoint, segment: "leg-1", vehicle: car)),
            .destinationRequest(DestinationRequest(requestID: "r", destination: waypoint)),
            .withdrawRequest(WithdrawRequest(requestID: "r")),
            .requestAnswer(RequestAnswer(requestID: "r", vehicle: car, answer: .estimates(estimates))),
            .requestAnswer(RequestAnswer(requestID: "r", vehicle: car, answer: .ownPrompt)),
            .requestAnswer(RequestAnswer(requestID: "r", vehicle: car, answer: .accept)),
            .requestAnswer(RequestAnswer(requestID: "r", vehicle: car, answer: .decline(.busy))),
            .prompt(
                Prompt(
                    requestID: "r", waypoint: waypoint, travelEstimates: estimates,
                    deadlineMilliseconds: 60_000)),
            .promptAnswer(PromptAnswer(requestID: "r", isAccepted: true)),
            .promptOver(PromptOver(requestID: "r", outcome: .timedOut)),
            .requestOutcome(RequestOutcome(requestID: "r", vehicle: car, outcome: .accepted, client: app)),
            .cancelNavigation(.ownNavigationStarted), .allowNavigation,
            .updateRouteSource(UpdateRouteSource(routeSource: .vehicle, vehicle: car)),
            .vehicleSettings(settings),
            .zoomCluster(ZoomCluster(direction: .in, source: path)),
            .alertResponse(AlertResponse(alert: 4, response: .action(2), source: path)),
            .alertResponse(AlertResponse(alert: 4, response: .dismissed(.systemDismissed))),
            .destinationShareAnswer(DestinationShareAnswer(shareID: "s", outcome: .declinedByUser)),
            .destinationShareStatus(DestinationShareStatus(shareID: "s", vehicle: car, stage: .willShare)),
            .destinationShareStatus(
                DestinationShareStatus(shareID: "s", vehicle: car, stage: .didFailToShare(.timedOut))),
        ]
}
