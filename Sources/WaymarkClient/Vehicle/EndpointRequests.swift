internal import WaymarkCodec
public import WaymarkModel
internal import WaymarkProtocol

/// Why a vehicle ends guidance.
public enum CancellationReason: Sendable, Hashable, CaseIterable {
    /// The vehicle navigates by itself: no client may guide it before it allows or asks.
    case ownNavigationStarted
    /// The user stopped guidance.
    case userStopped
}

// What the vehicle asks for, answers and says of itself.
extension VehicleEndpoint {
    // MARK: Requests

    /// Asks the client that guides to stop somewhere on the way.
    ///
    /// Survives lost connections. The same id again is the same request, with the same outcome. Cancelling the task
    /// withdraws the request.
    ///
    /// - Parameters:
    ///   - waypoint: Where to stop.
    ///   - segment: The segment to insert into; empty: the client chooses.
    ///   - requestID: 1 ... 64 bytes, to name the request in ``withdrawRequest(_:)``; nil: drawn.
    /// - Returns: How it ended.
    public func requestWaypoint(
        _ waypoint: Waypoint, segment: String = "", requestID: String? = nil
    ) async -> RequestResult {
        let id = requestID ?? self.newRequestID()
        return await self.request(
            id, .waypointRequest(WaypointRequest(requestID: id, waypoint: waypoint, segment: segment)))
    }

    /// Asks for a drive to a place; returns how it ended. As ``requestWaypoint(_:segment:requestID:)``.
    public func requestDestination(_ destination: Waypoint, requestID: String? = nil) async -> RequestResult {
        let id = requestID ?? self.newRequestID()
        return await self.request(
            id, .destinationRequest(DestinationRequest(requestID: id, destination: destination)))
    }

    /// Takes a request back that is open: whoever waits for it gets ``RequestResult/withdrawn``, or the outcome that was
    /// faster.
    public func withdrawRequest(_ requestID: String) {
        guard self.waiting[requestID] != nil else { return }
        if self.outbox.takeBack(requestID) { return self.end(requestID, .withdrawn) }
        self.send(.withdrawRequest(WithdrawRequest(requestID: requestID)))
    }

    private func request(_ id: String, _ message: Message) async -> RequestResult {
        do throws(ClientError) { try Codec.check(message) } catch { return .invalid }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard self.isOpen else { return continuation.resume(returning: .gone) }
                // Made twice, it is one request: only who waits for it is added.
                if self.waiting[id] == nil { self.send(message) }
                self.waiting[id, default: []].append(continuation)
            }
        } onCancel: {
            Task { await self.withdrawRequest(id) }
        }
    }

    /// A request has ended.
    func end(_ id: String, _ result: RequestResult) {
        for continuation in self.waiting.removeValue(forKey: id) ?? [] {
            continuation.resume(returning: result)
        }
    }

    /// Something that was sent was refused. Where this endpoint may not speak for its vehicle, nothing else will be
    /// answered either.
    func refused(_ rejection: Rejection) {
        if rejection.deniesRequests {
            for id in self.waiting.keys { self.end(id, .notSupported) }
            self.endCancellations(.notAllowed)
        } else {
            self.end(rejection.requestID, .invalid)
        }
    }

    /// The connection is over for good: nothing will be answered.
    func endRequests(_ error: ClientError) {
        for id in self.waiting.keys { self.end(id, .gone) }
        self.endCancellations(.connectionClosed(error))
    }

    // MARK: Guidance

    /// Ends guidance at once; not one more frame of it is received.
    ///
    /// - Returns: Why the session ended: as asked, unless something else was faster.
    public func cancelNavigation(_ reason: CancellationReason) async -> EndReason {
        await withCheckedContinuation { continuation in
            guard self.isOpen else { return continuation.resume(returning: .connectionClosed(.closed)) }
            self.cancellations.append(continuation)
            switch reason {
            // About the vehicle, whatever session it is in.
            case .ownNavigationStarted: self.send(.cancelNavigation(.ownNavigationStarted))
            // About what the user sees: not about a session that comes after it.
            case .userStopped: self.send(.cancelNavigation(.userStopped), self.sessionID)
            }
        }
    }

    /// Lets clients guide again after the vehicle navigated by itself.
    public func allowNavigation() { self.send(.allowNavigation) }

    /// Guidance has ended.
    func endCancellations(_ reason: EndReason) {
        for continuation in self.cancellations { continuation.resume(returning: reason) }
        self.cancellations = []
    }

    // MARK: Answers

    /// Answers a prompt; the first answer of the vehicle's endpoints counts.
    public func answerPrompt(_ prompt: String, isAccepted: Bool) {
        self.send(.promptAnswer(PromptAnswer(requestID: prompt, isAccepted: isAccepted)))
    }

    /// Takes a shared destination, or not; the first answer of the vehicle's endpoints counts.
    public func answerShare(_ shareID: String, isTaken: Bool) {
        let outcome: Outcome = isTaken ? .accepted : .declinedByUser
        self.send(.destinationShareAnswer(DestinationShareAnswer(shareID: shareID, outcome: outcome)))
    }

    /// Answers the alert that is shown: an action, or 0 to dismiss it.
    public func respondToAlert(_ alert: UInt32, action: UInt32 = 0) {
        let response: AlertResponse.Response = action == 0 ? .dismissed(.userDismissed) : .action(action)
        self.send(.alertResponse(AlertResponse(alert: alert, response: response)))
    }

    // MARK: Settings

    /// Says what the vehicle does with the route.
    public func setRouteSource(_ source: RouteSource) {
        self.send(.updateRouteSource(UpdateRouteSource(routeSource: source)))
    }

    /// Says how the display is set; what is nil stays as it was.
    public func update(_ settings: DisplaySettings) { self.send(.vehicleSettings(settings.message)) }

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
        self.send(.zoomCluster(ZoomCluster(direction: direction)))
    }
}
