internal import WaymarkModel
package import WaymarkProtocol

extension RandomValues {
    /// A valid message of `type` in an envelope.
    package mutating func envelope(_ type: MessageType) -> Envelope {
        let flags = FrameHeader.Flags(rawValue: self.number(0...7))
        return Envelope(
            self.message(type), session: SessionID(self.number(0...UInt32.max)),
            sequence: self.number(0...UInt64.max), flags: flags)
    }

    package mutating func requestID() -> Identifier { Identifier(self.text(1...64)) }
    package mutating func vehicleID() -> VehicleID { VehicleID(unchecked: self.name()) }
    package mutating func endpoint() -> EndpointName { EndpointName(unchecked: self.name()) }
    private mutating func path() -> EndpointPath {
        EndpointPath(vehicle: self.vehicleID(), endpoint: self.endpoint())
    }
    package mutating func features() -> Set<Feature> { Set(self.list(0...16) { $0.one() }) }
    private mutating func token() -> ResumptionToken {
        ResumptionToken(high: self.number(0...UInt64.max), low: self.number(0...UInt64.max))
    }
    package mutating func grants() -> [FeatureGrant] {
        Feature.allCases.map { FeatureGrant($0, withheld: self.maybe { $0.one() }) }
    }

    private mutating func hello() -> Hello {
        let role: Hello.Role
        if self.next() % 4 == 0 {
            var observer = ObserverHello(observer: ObserverName(unchecked: self.name()))
            observer.reportsIgnored = self.flag()
            observer.receiveFrameBytesMax = self.flag() ? 0 : self.number(ProtocolConstants.frameBytes)
            role = .observer(observer)
        } else if self.flag() {
            var vehicle = VehicleHello(
                vehicle: self.vehicleID(), endpoint: self.endpoint(), features: self.features())
            vehicle.limits.currentRoadNameLengthMax = self.number(0...UInt32.max)
            vehicle.limits.destinationNameLengthMax = self.number(0...UInt32.max)
            vehicle.limits.roadFollowingManeuverLengthMax = self.number(0...UInt32.max)
            vehicle.limits.maneuverInstructionLengthMax = self.number(0...UInt32.max)
            vehicle.limits.laneInstructionLengthMax = self.number(0...UInt32.max)
            vehicle.limits.alertTextLengthMax = self.number(0...UInt32.max)
            vehicle.limits.maneuversStoredMax = self.number(0...UInt32.max)
            vehicle.limits.laneGuidancesStoredMax = self.number(0...UInt32.max)
            vehicle.limits.routeSegmentPointsMax = self.number(0...UInt32.max)
            vehicle.receiveFrameBytesMax = self.flag() ? 0 : self.number(ProtocolConstants.frameBytes)
            vehicle.preferences.distanceUnits = self.enumeration()
            vehicle.preferences.locale = self.text(0...35)
            vehicle.guidanceWanted = self.flag()
            vehicle.reportsIgnored = self.flag()
            vehicle.extensions = self.extensionNames()
            role = .vehicle(vehicle)
        } else {
            var navigation = NavigationHello(
                client: ClientID(unchecked: self.name()), features: self.features())
            navigation.priority = self.number(-1_000...1_000)
            navigation.reportsIgnored = self.flag()
            navigation.receiveFrameBytesMax = self.flag() ? 0 : self.number(ProtocolConstants.frameBytes)
            navigation.extensions = self.extensionNames()
            role = .navigation(navigation)
        }
        var hello = Hello(role: role)
        let lowest = self.number(1...UInt32.max)
        hello.versions = lowest...self.number(lowest...UInt32.max)
        hello.displayName = self.text(0...128)
        hello.software = self.text(0...128)
        hello.credential = Credential(self.list(0...256) { $0.number(0...UInt8.max) })
        hello.keepaliveMilliseconds = self.maybe { $0.number(1_000...600_000) }
        hello.sendFrameBytesMax = self.maybe { $0.number(4_096...16_777_216) }
        hello.resumptionToken = self.maybe { $0.token() }
        hello.resumeSession = SessionID(self.number(0...UInt32.max))
        hello.resumeSequence = self.number(0...UInt64.max)
        hello.negotiatedLimits = self.maybe { $0.negotiatedLimits() }
        return hello
    }

    private mutating func negotiatedLimits() -> NegotiatedLimits {
        var limits = NegotiatedLimits()
        limits.vehiclesPerSessionMax = self.number(256...65_536)
        limits.extensionStatesMax = self.number(64...65_536)
        limits.routeSegmentsMax = self.number(65...4_096)
        limits.coordinatesMax = self.number(262_144...4_194_304)
        return limits
    }

    private mutating func welcome() -> Welcome {
        var welcome = Welcome(resumptionToken: self.token())
        welcome.version = self.number(1...UInt32.max)
        welcome.features = self.grants()
        welcome.keepaliveMilliseconds = self.number(0...UInt32.max)
        welcome.receiveFrameBytesMax = self.number(0...UInt32.max)
        welcome.sendFrameBytesMax = self.number(0...UInt32.max)
        welcome.isResumed = self.flag()
        welcome.sessions = self.list(0...4) {
            let phase: SessionPhase = $0.one()
            return ResumedSession(
                session: SessionID($0.id()), sequence: $0.number(0...UInt64.max), phase: phase,
                endReason: phase == .ended ? $0.one() : nil)
        }
        welcome.graceMilliseconds = self.number(0...UInt32.max)
        welcome.requestsOpenMax = self.number(0...UInt32.max)
        welcome.software = self.text(0...128)
        welcome.negotiatedLimits = self.negotiatedLimits()
        welcome.gateway = GatewayIdentity(
            instance: GatewayName(unchecked: self.name()), epoch: self.number(1...UInt64.max))
        welcome.visibility = self.maybe { $0.one() }
        welcome.extensions = self.extensionNames()
        return welcome
    }

    private mutating func extensionNames() -> [ExtensionName] { self.list(0...4) { $0.extensionName() } }

    private mutating func extensionName() -> ExtensionName {
        let letters = Array("az09-.")
        let start = String(self.list(1...60) { $0.pick(letters) })
        return ExtensionName(unchecked: start + "." + String(self.list(1...60) { $0.pick(letters) }))
    }

    private mutating func rejection() -> Rejection {
        var rejection = Rejection(self.one(), field: self.text(0...512), reason: self.text(0...512))
        rejection.messageType = self.number(0...UInt16.max)
        rejection.session = SessionID(self.number(0...UInt32.max))
        rejection.sequence = self.number(0...UInt64.max)
        rejection.requestID = Identifier(self.text(0...64))
        rejection.limit = self.maybe { $0.limit() }
        rejection.retryAfterMilliseconds = self.number(0...UInt32.max)
        return rejection
    }

    private mutating func limit() -> ReachedLimit {
        ReachedLimit(self.name(), self.number(0...UInt64.max))
    }

    private mutating func vehicleStatus() -> VehicleStatus {
        let standing: VehicleStanding =
            switch self.next() % 4 {
            case 0: .joined
            case 1: .awaited
            case 2: .refused(self.one())
            default: .left(self.one())
            }
        return VehicleStatus(
            vehicle: self.vehicleID(), standing: standing,
            endpoints: self.list(0...3) {
                EndpointStatus(
                    endpoint: $0.endpoint(), isReady: $0.flag(), locale: $0.text(0...35),
                    withheld: $0.grants())
            })
    }

    private mutating func snapshotBegin() -> SnapshotBegin {
        var begin = SnapshotBegin(kind: self.one(), client: ClientID(unchecked: self.name()))
        begin.clientDisplayName = self.text(0...128)
        begin.isSuspended = self.flag()
        begin.receiptsEveryMilliseconds = self.number(0...UInt32.max)
        begin.withheld = self.grants()
        begin.fromSequence = self.number(0...UInt64.max)
        begin.toSequence = self.number(0...UInt64.max)
        begin.ageMilliseconds = self.flag() ? self.number(0...UInt32.max) : nil
        begin.estimatesAgeMilliseconds = self.flag() ? self.number(0...UInt32.max) : nil
        return begin
    }

    package mutating func receipt() -> Receipt {
        let received = self.number(0...UInt64.max)
        var receipt = Receipt(receivedSequence: received, shownSequence: self.number(0...received))
        receipt.receivedNanoseconds = self.flag() ? self.number(0...UInt64.max) : nil
        receipt.shownNanoseconds = self.flag() ? self.number(0...UInt64.max) : nil
        return receipt
    }

    private mutating func endpointReceipt() -> EndpointReceipt {
        var receipt = EndpointReceipt(
            vehicle: self.vehicleID(), endpoint: self.endpoint(), receipt: self.receipt())
        receipt.receivedDelayMicroseconds = self.flag() ? self.number(0...UInt64.max) : nil
        receipt.shownDelayMicroseconds = self.flag() ? self.number(0...UInt64.max) : nil
        return receipt
    }

    private mutating func pongTimes() -> PongTimes {
        PongTimes(
            receivedNanoseconds: self.number(0...UInt64.max), sentNanoseconds: self.number(0...UInt64.max))
    }

    private mutating func openSession() -> OpenSession {
        let vehicles: VehicleSelection =
            self.flag() ? .anyThatAsked : .vehicles(Array(Set(self.list(1...20) { $0.vehicleID() })))
        return OpenSession(
            requestID: self.requestID(), vehicles: vehicles,
            receiptsEveryMilliseconds: self.flag() ? 0 : self.number(100...60_000))
    }

    private mutating func answer() -> RequestAnswer.Answer {
        switch self.next() % 4 {
        case 0: .estimates(self.estimates())
        case 1: .ownPrompt
        case 2: .accept
        default:
            .decline(
                self.pick([.notSupported, .declinedByUser, .busy, .invalid, .tooLarge]))
        }
    }

    private mutating func simulateDrive() -> SimulateDrive {
        var asked = SimulateDrive(self.enumeration(), speedPercent: self.number(0...100_000))
        asked.client = self.maybe { ClientID(unchecked: $0.name()) }
        asked.vehicle = self.maybe { $0.vehicleID() }
        if asked.vehicle != nil { asked.endpoint = self.maybe { $0.endpoint() } }
        return asked
    }

    package mutating func settings() -> VehicleSettings {
        var settings = VehicleSettings()
        settings.compass = self.maybe { $0.enumeration() }
        settings.speedLimit = self.maybe { $0.enumeration() }
        settings.contentStyle = self.maybe { $0.enumeration() }
        settings.limitedUserInterfaces = self.maybe { $0.number(0...UInt32.max) }
        settings.isReadyToShow = self.maybe { $0.flag() }
        settings.source = self.maybe { $0.path() }
        return settings
    }

    private mutating func shareStage() -> DestinationShareStatus.Stage {
        switch self.next() % 3 {
        case 0: .willShare
        case 1: .didShare
        default: .didFailToShare(self.one())
        }
    }

    private mutating func message(_ type: MessageType) -> Message {
        switch type {
        case .hello: .hello(self.hello())
        case .welcome: .welcome(self.welcome())
        case .goodbye:
            .goodbye(
                Goodbye(
                    self.one(), reason: self.text(0...256),
                    reconnectAfterMilliseconds: self.number(0...UInt32.max),
                    limit: self.maybe { $0.limit() }))
        case .ping:
            .ping(
                nonce: self.number(0...UInt64.max),
                sentNanoseconds: self.flag() ? self.number(0...UInt64.max) : nil)
        case .pong: .pong(nonce: self.number(0...UInt64.max), self.maybe { $0.pongTimes() })
        case .error: .error(self.rejection())
        case .openSession: .openSession(self.openSession())
        case .sessionOpened:
            .sessionOpened(
                SessionOpened(
                    requestID: self.requestID(), session: SessionID(self.id()),
                    vehicles: self.list(0...4) { $0.vehicleStatus() }))
        case .vehicleChanged: .vehicleChanged(self.vehicleStatus())
        case .sessionEnded: .sessionEnded(SessionEnded(session: SessionID(self.id()), reason: self.one()))
        case .snapshotBegin: .snapshotBegin(self.snapshotBegin())
        case .snapshotEnd: .snapshotEnd
        case .sessionSuspended:
            .sessionSuspended(
                SessionSuspended(
                    graceMilliseconds: self.number(0...UInt32.max),
                    ageMilliseconds: self.flag() ? self.number(0...UInt32.max) : nil,
                    estimatesAgeMilliseconds: self.flag() ? self.number(0...UInt32.max) : nil))
        case .sessionRestored: .sessionRestored
        case .receipt: .receipt(self.receipt())
        case .acknowledgement: .acknowledgement(sequence: self.number(1...UInt64.max))
        case .receiptReport:
            .receiptReport(
                ReceiptReport(
                    gatewaySequence: self.number(0...UInt64.max),
                    endpoints: self.list(0...5) { $0.endpointReceipt() }))
        case .waypointRequest:
            .waypointRequest(
                WaypointRequest(
                    requestID: self.requestID(), waypoint: self.waypoint(),
                    segment: Identifier(self.text(0...128)),
                    vehicle: self.maybe { $0.vehicleID() }))
        case .destinationRequest:
            .destinationRequest(
                DestinationRequest(
                    requestID: self.requestID(), destination: self.waypoint(),
                    vehicle: self.maybe { $0.vehicleID() }))
        case .startTripRequest:
            .startTripRequest(
                StartTripRequest(
                    requestID: self.requestID(), trip: Identifier(self.text(1...128)),
                    routeChoice: self.maybe { $0.id() }, vehicle: self.maybe { $0.vehicleID() }))
        case .selectPreview:
            .selectPreview(
                SelectPreview(
                    trip: Identifier(self.text(1...128)), routeChoice: self.maybe { $0.id() },
                    source: self.maybe { $0.path() }))
        case .withdrawRequest:
            .withdrawRequest(
                WithdrawRequest(requestID: self.requestID()))
        case .requestAnswer:
            .requestAnswer(
                RequestAnswer(
                    requestID: self.requestID(), vehicle: self.vehicleID(), answer: self.answer()))
        case .prompt:
            .prompt(
                Prompt(
                    requestID: self.requestID(), waypoint: self.waypoint(), travelEstimates: self.estimates(),
                    deadlineMilliseconds: self.number(0...UInt32.max)))
        case .promptAnswer:
            .promptAnswer(PromptAnswer(requestID: self.requestID(), isAccepted: self.flag()))
        case .promptOver: .promptOver(PromptOver(requestID: self.requestID(), outcome: self.one()))
        case .requestOutcome:
            .requestOutcome(
                RequestOutcome(
                    requestID: self.requestID(), vehicle: self.vehicleID(), outcome: self.one(),
                    client: self.maybe { ClientID(unchecked: $0.name()) }, cause: self.maybe { $0.one() },
                    endpoint: self.maybe { EndpointName(unchecked: $0.name()) }))
        case .cancelNavigation: .cancelNavigation(self.one())
        case .allowNavigation: .allowNavigation
        case .updateRouteSource:
            .updateRouteSource(
                UpdateRouteSource(
                    routeSource: self.enumeration(), vehicle: self.maybe { $0.vehicleID() }))
        case .vehicleSettings: .vehicleSettings(self.settings())
        case .zoomCluster:
            .zoomCluster(ZoomCluster(direction: self.enumeration(), source: self.maybe { $0.path() }))
        case .simulateDrive: .simulateDrive(self.simulateDrive())
        case .alertResponse:
            .alertResponse(
                AlertResponse(
                    alert: self.id(),
                    response: self.flag() ? .dismissed(self.enumeration()) : .action(self.number(1...2)),
                    source: self.maybe { $0.path() }))
        case .destinationShareAnswer:
            .destinationShareAnswer(
                DestinationShareAnswer(shareID: self.requestID(), outcome: self.one()))
        case .destinationShareStatus:
            .destinationShareStatus(
                DestinationShareStatus(
                    shareID: self.requestID(), vehicle: self.vehicleID(), stage: self.shareStage()))
        case .vehicleExtension:
            .vehicleExtension(
                VehicleExtension(
                    name: self.extensionName(), content: self.list(0...64) { $0.number(0...UInt8.max) },
                    source: self.maybe { $0.path() }))
        case .destinationShareWanted:
            .destinationShareWanted(
                DestinationShareWanted(
                    trip: Identifier(self.text(0...128)), source: self.maybe { $0.path() }))
        case .updateRouteFeedback:
            .updateRouteFeedback(
                UpdateRouteFeedback(self.routeFeedback(), vehicle: self.maybe { $0.vehicleID() }))
        case .observe, .observationBegin, .observedRecords, .observedEvent, .observedFrames, .observationGap,
            .readCounters, .counters:
            self.observerMessage(type)
        default: .publication(self.publication(type))
        }
    }

    mutating func routeFeedback() -> RouteFeedback {
        RouteFeedback(
            generation: self.number(0...UInt32.max),
            stops: self.list(0...65) {
                StopFeedback(
                    arrivalBatteryPerMille: $0.maybe { $0.number(0...1_000) },
                    reachability: $0.maybe { $0.enumeration() })
            }, firstUnreachableSegment: self.maybe { $0.text(1...128) })
    }

    private mutating func publication(_ type: MessageType) -> Publication {
        let generation = self.number(0...UInt32.max)
        switch type {
        case .tripPreviews:
            let trips = (0..<self.number(0...3)).map { self.trip("trip \($0)") }
            return .tripPreviews(trips, selected: trips.randomElement(using: &self)?.id ?? "")
        case .startGuidance:
            return .startGuidance(self.trip(self.text(1...128)), generation: generation, self.route())
        case .updateTrip: return .updateTrip(self.trip(self.text(1...128)))
        case .addManeuvers: return .addManeuvers(self.maneuvers(), generation: generation)
        case .addLaneGuidances: return .addLaneGuidances(self.laneGuidances(), generation: generation)
        case .addRouteSegments: return .addRouteSegments(self.segments(), generation: generation)
        case .upcomingManeuvers:
            let ids = self.list(0...64) { ManeuverID(rawValue: $0.id()) }
            return .upcomingManeuvers(ids, generation: generation)
        case .currentLaneGuidance:
            let guidance = self.maybe { LaneGuidanceID(rawValue: $0.id()) }
            return .currentLaneGuidance(guidance, generation: generation)
        case .currentRoadName: return .currentRoadName(self.variants())
        case .updateManeuverState: return .maneuverState(self.enumeration(), generation: generation)
        case .updateTripEstimates: return .tripEstimates(self.estimates(), self.enumeration())
        case .updateManeuverEstimates:
            return .maneuverEstimates(
                ManeuverID(rawValue: self.id()), self.estimates(), generation: generation)
        case .currentRouteSegment: return .currentRouteSegment(self.text(1...128), generation: generation)
        case .pauseGuidance: return .pauseGuidance(self.enumeration(), description: self.variants())
        case .resumeGuidance:
            return .resumeGuidance(
                generation: generation, self.enumeration(), self.maybe { $0.route() })
        case .showAlert: return .showAlert(self.alert())
        case .dismissAlert: return .dismissAlert(self.id(), self.enumeration())
        case .shareDestination:
            return .shareDestination(shareID: self.text(1...64), self.waypoint(), trip: self.text(0...128))
        case .updateSpeedLimit:
            return .speedLimit(self.speedLimit(), next: self.maybe { $0.speedLimitAhead() })
        case .finishGuidance: return .finishGuidance
        case .cancelGuidance: return .cancelGuidance
        case .publishExtension:
            let key = self.maybe { $0.number(0...UInt16.max) }
            return .publishExtension(
                PublishedExtension(
                    name: self.extensionName(), content: self.list(0...64) { $0.number(0...UInt8.max) },
                    key: key, isRetained: key != nil && self.flag()))
        default: preconditionFailure("\(type) has no generator")
        }
    }
}
