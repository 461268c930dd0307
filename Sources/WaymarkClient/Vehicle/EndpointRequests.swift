public import WaymarkModel

/// The reason why a vehicle ends guidance.
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
        await self.request { endpoint, call, outputs in
            endpoint.requestWaypoint(
                waypoint, segment: segment, id: requestID, call: call, into: &outputs)
        }
    }

    /// Asks for a drive to a place, like ``requestWaypoint(_:segment:requestID:)``.
    public func requestDestination(_ destination: Waypoint, requestID: String? = nil) async -> RequestResult {
        await self.request { endpoint, call, outputs in
            endpoint.requestDestination(destination, id: requestID, call: call, into: &outputs)
        }
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
