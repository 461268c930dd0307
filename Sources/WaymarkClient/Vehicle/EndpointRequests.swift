public import WaymarkModel

/// The reason why a vehicle ends guidance.
public enum CancellationReason: Sendable, Hashable, CaseIterable {
    /// The vehicle navigates itself: no client may guide it until it allows guidance or asks for a drive.
    case ownNavigationStarted
    /// The user stopped guidance.
    case userStopped
}

/// A request of a vehicle to a client.
public enum VehicleRequest: Sendable, Hashable {
    /// A stop on the way, in a segment of the route; empty: the client chooses.
    case waypoint(Waypoint, segment: String = "")
    /// A drive to a place.
    case destination(Waypoint)
    /// The start of a trip of the previews, with one of its route choices; nil: the selected one, or the first.
    case startTrip(String, routeChoice: UInt32? = nil)
}

// Requests, answers and settings of the vehicle. A message with a field outside of its range is not sent; the update
// ``VehicleUpdate/Content/refused(field:reason:)`` names the field.
extension VehicleEndpoint {
    // MARK: Requests

    /// Asks for something, like ``requestWaypoint(_:segment:requestID:)``, and tells also who decided, and why.
    public func request(_ request: VehicleRequest, requestID: String? = nil) async -> RequestEnding {
        await self.wait { endpoint, call, outputs in
            switch request {
            case .waypoint(let place, let segment):
                endpoint.requestWaypoint(place, segment: segment, id: requestID, call: call, into: &outputs)
            case .destination(let place):
                endpoint.requestDestination(place, id: requestID, call: call, into: &outputs)
            case .startTrip(let trip, let routeChoice):
                endpoint.startTrip(
                    trip, routeChoice: routeChoice, id: requestID, call: call, into: &outputs)
            }
        }
    }

    /// Asks the client that guides to stop somewhere on the way.
    ///
    /// The request survives lost connections, but not a restart of the gateway after it was sent: then the call returns
    /// ``RequestResult/gone``, and a new request needs a new id. A second call with the same id waits for the same request.
    /// Cancelling the task withdraws the request, and the call returns ``RequestResult/withdrawn`` at once. If the gateway has
    /// decided before, the update ``VehicleUpdate/Content/requestEnded(id:_:)`` has the outcome.
    ///
    /// - Parameters:
    ///   - waypoint: The place at which to stop.
    ///   - segment: The segment to insert into; empty: the client chooses.
    ///   - requestID: The id of the request, 1 ... 64 bytes, the argument of ``withdrawRequest(_:)``; nil: a random one.
    /// - Returns: The outcome; ``RequestResult/invalid`` also for a field outside of its range, which the update
    ///   ``VehicleUpdate/Content/refused(field:reason:)`` names.
    public func requestWaypoint(
        _ waypoint: Waypoint, segment: String = "", requestID: String? = nil
    ) async -> RequestResult {
        await self.request(.waypoint(waypoint, segment: segment), requestID: requestID).result
    }

    /// Asks for a drive to a place, like ``requestWaypoint(_:segment:requestID:)``.
    public func requestDestination(_ destination: Waypoint, requestID: String? = nil) async -> RequestResult {
        await self.request(.destination(destination), requestID: requestID).result
    }

    /// Asks the client to start a trip of the previews, like ``requestWaypoint(_:segment:requestID:)``. Once it is accepted, guidance follows.
    ///
    /// - Parameters:
    ///   - trip: The id of the trip, one of ``VehicleState/previews``.
    ///   - routeChoice: The id of one of its route choices; nil: the selected one, or the first.
    ///   - requestID: As for a waypoint.
    /// - Returns: The outcome; ``RequestResult/busy`` if another endpoint of the vehicle was faster.
    public func startTrip(
        _ trip: String, routeChoice: UInt32? = nil, requestID: String? = nil
    ) async -> RequestResult {
        await self.request(.startTrip(trip, routeChoice: routeChoice), requestID: requestID).result
    }

    /// Withdraws an open request: the call that waits for it returns ``RequestResult/withdrawn``, or the outcome if the gateway
    /// has decided before.
    public func withdrawRequest(_ requestID: String) {
        self.use { endpoint, outputs in endpoint.withdrawRequest(requestID, into: &outputs) }
    }

    // MARK: Guidance

    /// Ends guidance at once; no frame of it is received afterwards.
    ///
    /// `userStopped` ends the session of the present ``state`` and never a later one: if that session ends otherwise
    /// meanwhile, the call returns that reason. Outside of a session it ends the guidance that the gateway has when it reads
    /// the message, and does nothing without a connection.
    ///
    /// Cancelling the task ends the call; a message that is not sent yet is not sent.
    ///
    /// - Returns: The reason why the session ended. ``EndReason/noSession`` if there was none; ``EndReason/connectionClosed(_:)`` with
    ///   the error if it is not known how it ended.
    public func cancelNavigation(_ reason: CancellationReason) async -> EndReason {
        await self.cancel(reason)
    }

    /// Lets clients guide again after the vehicle navigated itself.
    public func allowNavigation() { self.use { endpoint, _ in endpoint.allowNavigation() } }

    // MARK: Answers

    /// Answers the alert that is shown: an action, or 0 to dismiss it.
    public func respondToAlert(_ alert: UInt32, action: UInt32 = 0) {
        self.use { endpoint, outputs in endpoint.respondToAlert(alert, action: action, into: &outputs) }
    }

    // MARK: Settings

    /// Tells the client what the vehicle does with the route.
    public func setRouteSource(_ source: RouteSource) {
        self.use { endpoint, outputs in endpoint.setRouteSource(source, into: &outputs) }
    }

    /// Tells the client which trip of ``VehicleState/previews`` the vehicle's user has selected, and which of its route choices; nil: the
    /// selected one, or the first. The client may show the previews again with this selection.
    public func selectPreview(trip: String, routeChoice: UInt32? = nil) {
        self.use { endpoint, outputs in
            endpoint.selectPreview(trip: trip, routeChoice: routeChoice, into: &outputs)
        }
    }

    /// Tells the client how far the vehicle gets on the route with its charge. The gateway ignores feedback on a route that is not the
    /// current one: ``VehicleState/generation`` is the current one's.
    public func setRouteFeedback(_ feedback: RouteFeedback) {
        self.use { endpoint, outputs in endpoint.setRouteFeedback(feedback, into: &outputs) }
    }

    /// Asks the client to share the destination of a trip. The client does so, or does nothing.
    ///
    /// - Parameter trip: The id of one of the trip previews; empty while guided: the trip that is driven.
    public func wantDestination(ofTrip trip: String = "") {
        self.use { endpoint, outputs in endpoint.wantDestination(ofTrip: trip, into: &outputs) }
    }

    /// Tells the client how the display is set; nil leaves a setting as it was.
    public func update(_ settings: DisplaySettings) {
        self.use { endpoint, outputs in endpoint.update(settings, into: &outputs) }
    }

    /// Tells the client whether the display is ready to show.
    public func setReady(_ isReady: Bool) { self.update(DisplaySettings(isReadyToShow: isReady)) }

    /// Tells the client whether the display shows light or dark content.
    public func setContentStyle(_ style: ContentStyle) { self.update(DisplaySettings(contentStyle: style)) }

    /// Tells the client whether a compass is shown.
    public func setCompass(_ setting: ClusterSetting) { self.update(DisplaySettings(compass: setting)) }

    /// Tells the client whether the speed limit is shown.
    public func setSpeedLimit(_ setting: ClusterSetting) { self.update(DisplaySettings(speedLimit: setting)) }

    /// Tells the client which user interfaces the vehicle limits now.
    public func setLimitedUserInterfaces(_ interfaces: LimitableUserInterfaces) {
        self.update(DisplaySettings(limitedUserInterfaces: interfaces))
    }

    /// Asks the client to zoom the cluster's map.
    public func zoom(_ direction: ZoomDirection) {
        self.use { endpoint, outputs in endpoint.zoom(direction, into: &outputs) }
    }

    /// Asks the client that guides to simulate a drive, or to stop: from now on it moves by itself. It reaches a client that simulates drives
    /// (``NavigationClient/Configuration/onSimulateDrive``) if the gateway's access rules allow it; ``Configuration/asksForSimulatedDrives``
    /// must be true. What has no session, or was lost with a connection, is not repeated.
    ///
    /// - Parameters:
    ///   - action: Start, or stop.
    ///   - speedFactor: How many times faster than real time, 0.01 ... 1 000.
    public func simulateDrive(_ action: SimulationAction, speedFactor: Double = 1) {
        let percent = SimulatedDrive.percent(speedFactor)
        self.use { endpoint, outputs in endpoint.simulate(action, speedPercent: percent, into: &outputs) }
    }

    /// Sends the client content that this endpoint and the client agree on: an event of the session that the vehicle is in. It reaches a client
    /// whose configuration has the extension too. What has no session, no such client, or was lost with a connection, is not repeated.
    ///
    /// - Parameters:
    ///   - name: The extension; one of ``Configuration/extensions``.
    ///   - content: At most 4 096 bytes.
    public func sendExtension(_ name: String, _ content: [UInt8]) {
        self.use { endpoint, outputs in endpoint.sendExtension(name, content, into: &outputs) }
    }
}
