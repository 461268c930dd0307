package import WaymarkModel
internal import WaymarkProtocol

// Requests and settings of the vehicle. Those with a field outside of its range are not queued: ``Output/refused(_:)`` names it.
extension EndpointMachine {
    // MARK: Requests

    /// See ``VehicleEndpoint/requestWaypoint(_:segment:requestID:)``.
    package mutating func requestWaypoint(
        _ waypoint: Waypoint, segment: String = "", id: String? = nil, call: Int,
        into outputs: inout [Output]
    ) {
        let id = Identifier(id ?? self.newRequestID())
        let request = WaypointRequest(requestID: id, waypoint: waypoint, segment: Identifier(segment))
        // The request is about the drive that the user sees, not about a later one.
        self.request(id, .waypointRequest(request), self.sessionID, call, &outputs)
    }

    /// See ``VehicleEndpoint/requestDestination(_:requestID:)``.
    package mutating func requestDestination(
        _ destination: Waypoint, id: String? = nil, call: Int, into outputs: inout [Output]
    ) {
        let id = Identifier(id ?? self.newRequestID())
        let request = DestinationRequest(requestID: id, destination: destination)
        self.request(id, .destinationRequest(request), .none, call, &outputs)
    }

    /// See ``VehicleEndpoint/startTrip(_:routeChoice:requestID:)``.
    package mutating func startTrip(
        _ trip: String, routeChoice: UInt32? = nil, id: String? = nil, call: Int,
        into outputs: inout [Output]
    ) {
        let id = Identifier(id ?? self.newRequestID())
        let request = StartTripRequest(requestID: id, trip: Identifier(trip), routeChoice: routeChoice)
        // The request is about the previews that the user sees.
        self.request(id, .startTripRequest(request), self.sessionID, call, &outputs)
    }

    private mutating func request(
        _ id: Identifier, _ message: Message, _ session: SessionID, _ call: Int, _ outputs: inout [Output]
    ) {
        guard self.isSendable(message, &outputs) else {
            return outputs.append(.requestEnded(call: call, RequestEnding(.invalid)))
        }
        guard self.isOpen else { return outputs.append(.requestEnded(call: call, RequestEnding(.gone))) }
        // A second call with the same id waits for the same request.
        if !self.isWaiting(for: id) { self.send(message, session) }
        self.requests.append(WaitingRequest(id: id, call: call))
    }

    private func isWaiting(for id: Identifier) -> Bool { self.requests.contains { $0.id == id } }

    /// Withdraws an open request: the call that waits for it gets ``RequestResult/withdrawn``, or the outcome if the gateway
    /// has decided before.
    package mutating func withdrawRequest(_ requestID: String, into outputs: inout [Output]) {
        let id = Identifier(requestID)
        guard self.isWaiting(for: id) else { return }
        if self.outbox.removeUnsent(id) { return self.endRequest(id, RequestEnding(.withdrawn), &outputs) }
        self.send(.withdrawRequest(WithdrawRequest(requestID: id)))
    }

    /// The app no longer waits for a call. A request is withdrawn with the last call that waits for it; a stop that is not sent yet
    /// is not sent.
    package mutating func abandon(call: Int, into outputs: inout [Output]) {
        self.abandonRequest(call, &outputs)
        self.abandonCancellation(call, &outputs)
    }

    private mutating func abandonRequest(_ call: Int, _ outputs: inout [Output]) {
        guard let index = self.requests.firstIndex(where: { $0.call == call }) else {
            return  // It has its answer.
        }
        let id = self.requests.remove(at: index).id
        if !self.isWaiting(for: id), !self.outbox.removeUnsent(id) {
            self.send(.withdrawRequest(WithdrawRequest(requestID: id)))
        }
        outputs.append(.requestEnded(call: call, RequestEnding(.withdrawn)))
    }

    mutating func endRequest(_ id: Identifier, _ ending: RequestEnding, _ outputs: inout [Output]) {
        self.endRequests(ending, &outputs) { $0.id == id }
    }

    private mutating func endRequests(
        _ ending: RequestEnding, _ outputs: inout [Output], where isOver: (WaitingRequest) -> Bool
    ) {
        for request in self.requests where isOver(request) {
            outputs.append(.requestEnded(call: request.call, ending))
        }
        self.requests.removeAll(where: isOver)
    }

    /// The gateway has refused a message. If this endpoint may not make requests for its vehicle, no open request will be
    /// answered.
    mutating func refused(_ rejection: Rejection, _ outputs: inout [Output]) {
        if rejection.deniesRequests {
            self.endRequests(RequestEnding(.notSupported), &outputs) { _ in true }
            self.endCancellations(.notAllowed, &outputs) { _ in true }
            return
        }
        switch MessageType(rawValue: rejection.messageType) {
        case .waypointRequest, .destinationRequest, .startTripRequest:
            self.endRequest(rejection.requestID, RequestEnding(.invalid), &outputs)
        case .withdrawRequest:
            // The gateway never received the request. A newer one with the same id stays open.
            if !self.outbox.isRequesting(rejection.requestID) {
                self.endRequest(rejection.requestID, RequestEnding(.withdrawn), &outputs)
            }
        default: break  // An answer to a prompt has the request's id too; the request stays open.
        }
    }

    /// The gateway does not know this endpoint: requests that were sent get no outcome any more, and are not in the outbox.
    mutating func loseSentRequests(_ outputs: inout [Output]) {
        let outbox = self.outbox
        self.endRequests(RequestEnding(.gone), &outputs) { !outbox.isRequesting($0.id) }
    }

    /// The connection is closed for good: no open request will be answered.
    mutating func endRequests(_ error: ClientError, _ outputs: inout [Output]) {
        self.endRequests(RequestEnding(.gone), &outputs) { _ in true }
        self.endCancellations(.connectionClosed(error), &outputs) { _ in true }
    }

    // MARK: Guidance

    /// See ``VehicleEndpoint/cancelNavigation(_:)``.
    package mutating func cancelNavigation(
        _ reason: CancellationReason, call number: Int, into outputs: inout [Output]
    ) {
        // Own navigation is about the vehicle, not about one session.
        let session = reason == .userStopped ? self.sessionID : .none
        let call = WaitingCancellation(call: number, reason: reason, session: session)
        guard self.isOpen else {
            return outputs.append(.guidanceEnded(call: number, .connectionClosed(.closed)))
        }
        guard !call.isUnbound || self.isConnected else {
            return outputs.append(.guidanceEnded(call: number, .noSession))
        }
        self.cancellations.append(call)
        switch reason {
        case .ownNavigationStarted: self.send(.cancelNavigation(.ownNavigationStarted))
        case .userStopped: self.send(.cancelNavigation(.userStopped), session)
        }
    }

    private mutating func abandonCancellation(_ number: Int, _ outputs: inout [Output]) {
        guard let call = self.cancellations.first(where: { $0.call == number }) else { return }
        self.endCancellations(.connectionClosed(.cancelled), &outputs) { $0.call == number }
        guard !self.cancellations.contains(where: { $0.reason == call.reason && $0.session == call.session })
        else { return }  // Another call waits for the same end.
        switch call.reason {
        case .ownNavigationStarted: self.outbox.giveUpOwnNavigation()
        case .userStopped: self.outbox.giveUpStop(call.session)
        }
    }

    /// Lets clients guide again after the vehicle navigated itself.
    package mutating func allowNavigation() { self.send(.allowNavigation) }

    /// The gateway says that a session has ended, or that there was none.
    mutating func endCancellations(_ ended: SessionEnded, _ outputs: inout [Output]) {
        for call in self.cancellations where call.isEnded(by: ended) {
            self.endCancellations(call.end(by: ended), &outputs) { $0.call == call.call }
        }
    }

    /// The client has ended a session.
    mutating func endCancellations(
        of session: SessionID, _ reason: EndReason, _ outputs: inout [Output]
    ) {
        self.endCancellations(reason, &outputs) { $0.session == session && $0.session != .none }
    }

    /// A session has begun. A vehicle is in one at a time, so every other one has ended.
    mutating func endCancellations(ofOthersThan session: SessionID, _ outputs: inout [Output]) {
        self.endCancellations(.endedWhileAway, &outputs) { $0.session != .none && $0.session != session }
    }

    /// The connection was lost. A stop that names no session is not sent again: it could end guidance that the user has not
    /// seen.
    mutating func loseUnboundStops(_ outputs: inout [Output]) {
        let reason = "the connection was lost; cancel again if guidance continues"
        self.endCancellations(.connectionClosed(.interrupted(reason)), &outputs, where: \.isUnbound)
    }

    private mutating func endCancellations(
        _ reason: EndReason, _ outputs: inout [Output], where isOver: (WaitingCancellation) -> Bool
    ) {
        for call in self.cancellations where isOver(call) {
            outputs.append(.guidanceEnded(call: call.call, reason))
        }
        self.cancellations.removeAll(where: isOver)
    }

    // MARK: Answers and settings

    /// Answers the alert that is shown: an action, or 0 to dismiss it.
    package mutating func respondToAlert(
        _ alert: UInt32, action: UInt32 = 0, into outputs: inout [Output]
    ) {
        let response: AlertResponse.Response = action == 0 ? .dismissed(.userDismissed) : .action(action)
        self.sendChecked(
            .alertResponse(AlertResponse(alert: alert, response: response)), self.sessionID, into: &outputs)
    }

    /// Tells the client what the vehicle does with the route.
    package mutating func setRouteSource(_ source: RouteSource, into outputs: inout [Output]) {
        self.sendChecked(
            .updateRouteSource(UpdateRouteSource(routeSource: source)), self.sessionID, into: &outputs)
    }

    /// See ``VehicleEndpoint/selectPreview(trip:routeChoice:)``.
    package mutating func selectPreview(
        trip: String, routeChoice: UInt32? = nil, into outputs: inout [Output]
    ) {
        let selection = SelectPreview(trip: Identifier(trip), routeChoice: routeChoice)
        self.sendChecked(.selectPreview(selection), self.sessionID, into: &outputs)
    }

    /// Tells the client how far the vehicle gets on the route.
    package mutating func setRouteFeedback(_ feedback: RouteFeedback, into outputs: inout [Output]) {
        self.sendChecked(.updateRouteFeedback(UpdateRouteFeedback(feedback)), self.sessionID, into: &outputs)
    }

    /// Asks the client to share the destination of a trip.
    package mutating func wantDestination(ofTrip trip: String, into outputs: inout [Output]) {
        let wanted = DestinationShareWanted(trip: Identifier(trip))
        self.sendChecked(.destinationShareWanted(wanted), self.sessionID, into: &outputs)
    }

    /// Tells the client how the display is set; nil leaves a setting as it was.
    package mutating func update(_ settings: DisplaySettings, into outputs: inout [Output]) {
        self.sendChecked(.vehicleSettings(settings.message), into: &outputs)
    }

    /// Sends the client content of an extension.
    package mutating func sendExtension(
        _ name: String, _ content: [UInt8], into outputs: inout [Output]
    ) {
        self.sendChecked(
            .vehicleExtension(VehicleExtension(name: ExtensionName(unchecked: name), content: content)),
            self.sessionID, into: &outputs)
    }

    /// Asks the client to simulate a drive, or to stop.
    package mutating func simulate(
        _ action: SimulationAction, speedPercent: UInt32, into outputs: inout [Output]
    ) {
        self.sendChecked(
            .simulateDrive(SimulateDrive(action, speedPercent: speedPercent)), self.sessionID,
            into: &outputs)
    }

    /// Asks the client to zoom the cluster's map.
    package mutating func zoom(_ direction: ZoomDirection, into outputs: inout [Output]) {
        self.sendChecked(.zoomCluster(ZoomCluster(direction: direction)), self.sessionID, into: &outputs)
    }
}

/// A call that waits for the outcome of a request.
struct WaitingRequest: Sendable {
    let id: Identifier
    let call: Int
}

/// A call that waits for the end of guidance.
struct WaitingCancellation: Sendable {
    let call: Int
    let reason: CancellationReason
    /// The session that is to end; none: the vehicle navigates by itself, or this endpoint was in no session.
    let session: SessionID
    /// The gateway was restarted since.
    var isForgotten = false

    /// Whether it names no session.
    var isUnbound: Bool { self.reason == .userStopped && self.session == .none }

    /// Whether the end of a session is the end that the call waits for.
    func isEnded(by ended: SessionEnded) -> Bool {
        switch self.reason {
        case .ownNavigationStarted: ended.reason == .ownNavigationStarted
        case .userStopped: self.isUnbound || self.session == ended.session
        }
    }

    /// What the call returns after the end of a session.
    func end(by ended: SessionEnded) -> EndReason {
        if self.isUnbound, ended.session == .none { return .noSession }
        // The answer of a gateway that does not know the session.
        if self.isForgotten, ended.reason == .clientGone { return .endedWhileAway }
        return EndReason(ended.reason)
    }
}
