public import WaymarkModel
internal import WaymarkProtocol

/// Why a vehicle ends guidance.
public enum CancellationReason: Sendable, Hashable, CaseIterable {
    /// The vehicle navigates by itself: no client may guide it before it allows or asks.
    case ownNavigationStarted
    /// The user stopped guidance.
    case userStopped
}

// What the vehicle asks for, answers and says of itself. What the gateway would refuse for a field outside of its range is
// not sent: readers of the updates hear of it, see ``VehicleUpdate/Content/refused(field:reason:)``.
extension VehicleEndpoint {
    // MARK: Requests

    /// Asks the client that guides to stop somewhere on the way.
    ///
    /// Survives lost connections. The same id again is the same request, with the same outcome. Cancelling the task
    /// withdraws the request, and the call returns ``RequestResult/withdrawn`` at once; ``VehicleUpdate/Content/requestEnded(id:_:)``
    /// tells if the gateway was faster.
    ///
    /// - Parameters:
    ///   - waypoint: Where to stop.
    ///   - segment: The segment to insert into; empty: the client chooses.
    ///   - requestID: 1 ... 64 bytes, to name the request in ``withdrawRequest(_:)``; nil: drawn.
    /// - Returns: How it ended; ``RequestResult/invalid`` also for a field outside of its range, of which
    ///   ``VehicleUpdate/Content/refused(field:reason:)`` tells more.
    public func requestWaypoint(
        _ waypoint: Waypoint, segment: String = "", requestID: String? = nil
    ) async -> RequestResult {
        let id = requestID ?? self.newRequestID()
        let request = WaypointRequest(requestID: id, waypoint: waypoint, segment: segment)
        // About the drive that the user sees: not about one that comes after it.
        return await self.request(id, .waypointRequest(request), self.sessionID)
    }

    /// Asks for a drive to a place; returns how it ended. As ``requestWaypoint(_:segment:requestID:)``.
    public func requestDestination(_ destination: Waypoint, requestID: String? = nil) async -> RequestResult {
        let id = requestID ?? self.newRequestID()
        let request = DestinationRequest(requestID: id, destination: destination)
        return await self.request(id, .destinationRequest(request), .none)
    }

    /// Takes a request back that is open: whoever waits for it gets ``RequestResult/withdrawn``, or the outcome that was
    /// faster.
    public func withdrawRequest(_ requestID: String) {
        guard self.waiting[requestID] != nil else { return }
        if self.outbox.takeBack(requestID) { return self.end(requestID, .withdrawn) }
        self.send(.withdrawRequest(WithdrawRequest(requestID: requestID)))
    }

    private func request(_ id: String, _ message: Message, _ session: SessionID) async -> RequestResult {
        guard self.isSendable(message) else { return .invalid }
        let number = self.newWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard self.isOpen else { return continuation.resume(returning: .gone) }
                guard !Task.isCancelled else { return continuation.resume(returning: .withdrawn) }
                // Made twice, it is one request: only the call that waits for it is added.
                if self.waiting[id] == nil { self.send(message, session) }
                self.waiting[id, default: []].append(
                    WaitingRequest(number: number, continuation: continuation))
            }
        } onCancel: {
            Task { await self.abandonRequest(id, number) }
        }
    }

    /// The task of a call was cancelled. The request is withdrawn with the last call that waits for it.
    private func abandonRequest(_ id: String, _ number: Int) {
        guard let calls = self.waiting[id], let call = calls.first(where: { $0.number == number }) else {
            return  // It has ended.
        }
        if calls.count > 1 {
            self.waiting[id]?.removeAll { $0.number == number }
        } else {
            self.waiting[id] = nil
            if !self.outbox.takeBack(id) {
                self.send(.withdrawRequest(WithdrawRequest(requestID: id)))
            }
        }
        call.continuation.resume(returning: .withdrawn)
    }

    /// A request has ended.
    func end(_ id: String, _ result: RequestResult) {
        for call in self.waiting.removeValue(forKey: id) ?? [] { call.continuation.resume(returning: result) }
    }

    /// Something that was sent was refused. Where this endpoint may not speak for its vehicle, nothing else will be
    /// answered either.
    func refused(_ rejection: Rejection) {
        if rejection.deniesRequests {
            for id in self.waiting.keys { self.end(id, .notSupported) }
            self.endCancellations(.notAllowed) { _ in true }
            return
        }
        switch MessageType(rawValue: rejection.messageType) {
        case .waypointRequest, .destinationRequest: self.end(rejection.requestID, .invalid)
        case .withdrawRequest:
            // The gateway never had it. One of the same id that was made since goes on.
            if !self.outbox.isRequesting(rejection.requestID) { self.end(rejection.requestID, .withdrawn) }
        default: break  // An answer to a prompt names the request too, which goes on.
        }
    }

    /// The connection is over for good: nothing will be answered.
    func endRequests(_ error: ClientError) {
        for id in self.waiting.keys { self.end(id, .gone) }
        self.endCancellations(.connectionClosed(error)) { _ in true }
    }

    // MARK: Guidance

    /// Ends guidance at once; not one more frame of it is received.
    ///
    /// `userStopped` ends the session that ``state`` holds now, and never one that comes after it: if that session ends by
    /// itself meanwhile, the call returns how. Outside of a session it ends whatever guidance the gateway has when it
    /// reads this; while there is no connection, it does nothing then.
    ///
    /// Cancelling the task ends the call; what was not sent by then is not sent any more.
    ///
    /// - Returns: Why the session ended: as asked, unless something else was faster. ``EndReason/noSession`` if there was
    ///   none to stop; ``EndReason/connectionClosed(_:)`` with the error if it is not known how it ended.
    public func cancelNavigation(_ reason: CancellationReason) async -> EndReason {
        let number = self.newWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Own navigation is about the vehicle, whatever session it is in.
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
        else { return }  // Another call wants the same.
        switch call.reason {
        case .ownNavigationStarted: self.outbox.giveUpOwnNavigation()
        case .userStopped: self.outbox.giveUpStop(call.session)
        }
    }

    /// Lets clients guide again after the vehicle navigated by itself.
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

    /// A session begins: a vehicle is in one at a time, so every other one has ended.
    func endCancellations(ofOthersThan session: SessionID) {
        self.endCancellations(.endedWhileAway) { $0.session != .none && $0.session != session }
    }

    /// The connection was lost. What would end whatever guidance there is must not be said again.
    func loseUnboundStops() {
        let reason = "the connection was lost; cancel again if guidance goes on"
        self.endCancellations(.connectionClosed(.interrupted(reason)), where: \.isUnbound)
    }

    private func endCancellations(_ reason: EndReason, where isOver: (WaitingCancellation) -> Bool) {
        let over = self.cancellations.filter(isOver)
        self.cancellations.removeAll(where: isOver)
        for call in over { call.continuation.resume(returning: reason) }
    }

    // MARK: Answers

    /// Answers a prompt; the first answer of the vehicle's endpoints counts.
    public func answerPrompt(_ prompt: String, isAccepted: Bool) {
        self.sendChecked(.promptAnswer(PromptAnswer(requestID: prompt, isAccepted: isAccepted)))
    }

    /// Takes a shared destination, or not; the first answer of the vehicle's endpoints counts.
    public func answerShare(_ shareID: String, isTaken: Bool) {
        self.answerShare(shareID, isTaken: isTaken, self.sessionID)
    }

    /// Answers a share of one session: another session may have one of the same id.
    func answerShare(_ shareID: String, isTaken: Bool, _ session: SessionID) {
        let outcome: Outcome = isTaken ? .accepted : .declinedByUser
        let answer = DestinationShareAnswer(shareID: shareID, outcome: outcome)
        self.sendChecked(.destinationShareAnswer(answer), session)
    }

    /// Answers the alert that is shown: an action, or 0 to dismiss it.
    public func respondToAlert(_ alert: UInt32, action: UInt32 = 0) {
        let response: AlertResponse.Response = action == 0 ? .dismissed(.userDismissed) : .action(action)
        self.sendChecked(.alertResponse(AlertResponse(alert: alert, response: response)), self.sessionID)
    }

    // MARK: Settings

    /// Says what the vehicle does with the route.
    public func setRouteSource(_ source: RouteSource) {
        self.sendChecked(.updateRouteSource(UpdateRouteSource(routeSource: source)), self.sessionID)
    }

    /// Says how the display is set; what is nil stays as it was.
    public func update(_ settings: DisplaySettings) { self.sendChecked(.vehicleSettings(settings.message)) }

    /// Says that the display is, or is not, ready to show.
    public func setReady(_ isReady: Bool) { self.update(DisplaySettings(isReadyToShow: isReady)) }

    /// Says whether light or dark content is shown.
    public func setContentStyle(_ style: ContentStyle) { self.update(DisplaySettings(contentStyle: style)) }

    /// Says whether a compass is shown.
    public func setCompass(_ setting: ClusterSetting) { self.update(DisplaySettings(compass: setting)) }

    /// Says whether the speed limit is shown.
    public func setSpeedLimit(_ setting: ClusterSetting) { self.update(DisplaySettings(speedLimit: setting)) }

    /// Says what may not be used now; empty for no limits.
    public func setLimitedUserInterfaces(_ interfaces: LimitableUserInterfaces) {
        self.update(DisplaySettings(limitedUserInterfaces: interfaces))
    }

    /// Zooms the cluster's map.
    public func zoom(_ direction: ZoomDirection) {
        self.sendChecked(.zoomCluster(ZoomCluster(direction: direction)), self.sessionID)
    }
}
