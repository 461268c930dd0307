public import WaymarkModel
internal import WaymarkProtocol

/// Why a vehicle ends guidance.
public enum CancellationReason: Sendable, Hashable, CaseIterable {
    /// The vehicle navigates itself: no client may guide it until it allows guidance or asks for a drive.
    case ownNavigationStarted
    /// The user stopped guidance.
    case userStopped
}

// Requests, answers and settings of the vehicle. A message with a field outside of its range is not sent; the update
// ``VehicleUpdate/Content/refused(field:reason:)`` names the field.
extension VehicleEndpoint {
    // MARK: Requests

    /// Asks the client that guides to stop somewhere on the way.
    ///
    /// The request survives lost connections. A second call with the same id waits for the same request. Cancelling the task
    /// withdraws the request, and the call returns ``RequestResult/withdrawn`` at once. If the gateway has decided before, the
    /// update ``VehicleUpdate/Content/requestEnded(id:_:)`` has the outcome.
    ///
    /// - Parameters:
    ///   - waypoint: Where to stop.
    ///   - segment: The segment to insert into; empty: the client chooses.
    ///   - requestID: 1 ... 64 bytes, the argument of ``withdrawRequest(_:)``; nil: a random one.
    /// - Returns: How it ended; ``RequestResult/invalid`` also for a field outside of its range, which the update
    ///   ``VehicleUpdate/Content/refused(field:reason:)`` names.
    public func requestWaypoint(
        _ waypoint: Waypoint, segment: String = "", requestID: String? = nil
    ) async -> RequestResult {
        let id = Identifier(requestID ?? self.newRequestID())
        let request = WaypointRequest(requestID: id, waypoint: waypoint, segment: Identifier(segment))
        // The request is about the drive that the user sees, not about a later one.
        return await self.request(id, .waypointRequest(request), self.sessionID)
    }

    /// Asks for a drive to a place, like ``requestWaypoint(_:segment:requestID:)``.
    public func requestDestination(_ destination: Waypoint, requestID: String? = nil) async -> RequestResult {
        let id = Identifier(requestID ?? self.newRequestID())
        let request = DestinationRequest(requestID: id, destination: destination)
        return await self.request(id, .destinationRequest(request), .none)
    }

    /// Withdraws an open request: the call that waits for it returns ``RequestResult/withdrawn``, or the outcome if the gateway
    /// has decided before.
    public func withdrawRequest(_ requestID: String) {
        let id = Identifier(requestID)
        guard self.waiting[id] != nil else { return }
        if self.outbox.removeUnsent(id) { return self.end(id, .withdrawn) }
        self.send(.withdrawRequest(WithdrawRequest(requestID: id)))
    }

    private func request(_ id: Identifier, _ message: Message, _ session: SessionID) async -> RequestResult {
        guard self.isSendable(message) else { return .invalid }
        let number = self.newWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard self.isOpen else { return continuation.resume(returning: .gone) }
                guard !Task.isCancelled else { return continuation.resume(returning: .withdrawn) }
                // A second call with the same id waits for the same request.
                if self.waiting[id] == nil { self.send(message, session) }
                self.waiting[id, default: []].append(
                    WaitingRequest(number: number, continuation: continuation))
            }
        } onCancel: {
            Task { await self.abandonRequest(id, number) }
        }
    }

    /// The task of a call was cancelled. The request is withdrawn with the last call that waits for it.
    private func abandonRequest(_ id: Identifier, _ number: Int) {
        guard let calls = self.waiting[id], let call = calls.first(where: { $0.number == number }) else {
            return  // The call has returned.
        }
        if calls.count > 1 {
            self.waiting[id]?.removeAll { $0.number == number }
        } else {
            self.waiting[id] = nil
            if !self.outbox.removeUnsent(id) {
                self.send(.withdrawRequest(WithdrawRequest(requestID: id)))
            }
        }
        call.continuation.resume(returning: .withdrawn)
    }

    /// A request has ended.
    func end(_ id: Identifier, _ result: RequestResult) {
        for call in self.waiting.removeValue(forKey: id) ?? [] { call.continuation.resume(returning: result) }
    }

    /// The gateway has refused a message. If this endpoint may not make requests for its vehicle, no open request will be
    /// answered.
    func refused(_ rejection: Rejection) {
        if rejection.deniesRequests {
            for id in self.waiting.keys { self.end(id, .notSupported) }
            self.endCancellations(.notAllowed) { _ in true }
            return
        }
        switch MessageType(rawValue: rejection.messageType) {
        case .waypointRequest, .destinationRequest: self.end(rejection.requestID, .invalid)
        case .withdrawRequest:
            // The gateway never received the request. A newer one with the same id stays open.
            if !self.outbox.isRequesting(rejection.requestID) { self.end(rejection.requestID, .withdrawn) }
        default: break  // An answer to a prompt has the request's id too; the request stays open.
        }
    }

    /// The connection is closed for good: no open request will be answered.
    func endRequests(_ error: ClientError) {
        for id in self.waiting.keys { self.end(id, .gone) }
        self.endCancellations(.connectionClosed(error)) { _ in true }
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
    /// - Returns: Why the session ended. ``EndReason/noSession`` if there was none; ``EndReason/connectionClosed(_:)`` with
    ///   the error if it is not known how it ended.
    public func cancelNavigation(_ reason: CancellationReason) async -> EndReason {
        let number = self.newWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Own navigation is about the vehicle, not about one session.
                let session = reason == .userStopped ? self.sessionID : .none
                self.cancel(
                    WaitingCancellation(
                        number: number, reason: reason, continuation: continuation, session: session))
            }
        } onCancel: {
            Task { await self.abandonCancellation(number) }
        }
    }

    private func cancel(_ call: WaitingCancellation) {
        guard self.isOpen else { return call.continuation.resume(returning: .connectionClosed(.closed)) }
        guard !Task.isCancelled else {
            return call.continuation.resume(returning: .connectionClosed(.cancelled))
        }
        guard !call.isUnbound || self.isConnected else {
            return call.continuation.resume(returning: .noSession)
        }
        self.cancellations.append(call)
        switch call.reason {
        case .ownNavigationStarted: self.send(.cancelNavigation(.ownNavigationStarted))
        case .userStopped: self.send(.cancelNavigation(.userStopped), call.session)
        }
    }

    /// The task of a call was cancelled.
    private func abandonCancellation(_ number: Int) {
        guard let call = self.cancellations.first(where: { $0.number == number }) else { return }
        self.endCancellations(.connectionClosed(.cancelled)) { $0.number == number }
        guard !self.cancellations.contains(where: { $0.reason == call.reason && $0.session == call.session })
        else { return }  // Another call waits for the same end.
        switch call.reason {
        case .ownNavigationStarted: self.outbox.giveUpOwnNavigation()
        case .userStopped: self.outbox.giveUpStop(call.session)
        }
    }

    /// Lets clients guide again after the vehicle navigated itself.
    public func allowNavigation() { self.send(.allowNavigation) }

    /// The gateway says that a session has ended, or that there was none.
    func endCancellations(_ ended: SessionEnded) {
        for call in self.cancellations where call.isEnded(by: ended) {
            self.endCancellations(call.end(by: ended)) { $0.number == call.number }
        }
    }

    /// The client has ended a session.
    func endCancellations(of session: SessionID, _ reason: EndReason) {
        self.endCancellations(reason) { $0.session == session && $0.session != .none }
    }

    /// A session has begun. A vehicle is in one at a time, so every other one has ended.
    func endCancellations(ofOthersThan session: SessionID) {
        self.endCancellations(.endedWhileAway) { $0.session != .none && $0.session != session }
    }

    /// The connection was lost. A stop that names no session is not sent again: it could end guidance that the user has not
    /// seen.
    func loseUnboundStops() {
        let reason = "the connection was lost; cancel again if guidance continues"
        self.endCancellations(.connectionClosed(.interrupted(reason)), where: \.isUnbound)
    }

    private func endCancellations(_ reason: EndReason, where isOver: (WaitingCancellation) -> Bool) {
        let over = self.cancellations.filter(isOver)
        self.cancellations.removeAll(where: isOver)
        for call in over { call.continuation.resume(returning: reason) }
    }

    // MARK: Answers

    /// Answers a prompt; the first answer of the vehicle's endpoints counts.
    func answerPrompt(_ prompt: Identifier, isAccepted: Bool) {
        self.sendChecked(.promptAnswer(PromptAnswer(requestID: prompt, isAccepted: isAccepted)))
    }

    /// Answers a share of one session, since another session may have one of the same id. The first answer of the vehicle's
    /// endpoints counts.
    func answerShare(_ shareID: Identifier, isAccepted: Bool, _ session: SessionID) {
        let outcome: Outcome = isAccepted ? .accepted : .declinedByUser
        let answer = DestinationShareAnswer(shareID: shareID, outcome: outcome)
        self.sendChecked(.destinationShareAnswer(answer), session)
    }

    /// Answers the alert that is shown: an action, or 0 to dismiss it.
    public func respondToAlert(_ alert: UInt32, action: UInt32 = 0) {
        let response: AlertResponse.Response = action == 0 ? .dismissed(.userDismissed) : .action(action)
        self.sendChecked(.alertResponse(AlertResponse(alert: alert, response: response)), self.sessionID)
    }

    // MARK: Settings

    /// Tells the client what the vehicle does with the route.
    public func setRouteSource(_ source: RouteSource) {
        self.sendChecked(.updateRouteSource(UpdateRouteSource(routeSource: source)), self.sessionID)
    }

    /// Tells the client how the display is set; nil leaves a setting as it was.
    public func update(_ settings: DisplaySettings) { self.sendChecked(.vehicleSettings(settings.message)) }

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
        self.sendChecked(.zoomCluster(ZoomCluster(direction: direction)), self.sessionID)
    }
}
