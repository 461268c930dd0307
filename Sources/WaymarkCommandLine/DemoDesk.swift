internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

/// The client's part of the demo: answers the vehicle's request with the second route.
actor DemoDesk {
    private let detour: EngineRoute?
    private let report: DemoReport
    private var guide: Guide?
    private var request: Task<RequestEnding, Never>?
    /// Yields when the client knows the outcome of the request.
    private let (decisions, decision) = AsyncStream.makeStream(
        of: Void.self, bufferingPolicy: .bufferingOldest(1))

    init(detour: EngineRoute?, report: DemoReport) {
        self.detour = detour
        self.report = report
    }

    func attach(_ guide: Guide) { self.guide = guide }

    /// Sends the vehicle's request; returns once the client knows the outcome, so that the drive continues along the right
    /// route.
    func request(_ send: @escaping @Sendable () async -> RequestEnding) async {
        let request = Task { await send() }
        self.request = request
        let ending = await request.value
        await self.report.setOutcome(ending)
        // The client is told of an accepted request separately.
        if ending.isAccepted { for await _ in self.decisions { break } }
    }

    /// Waits for the request's outcome at the vehicle.
    func finish() async {
        _ = await self.request?.value
        if let guide = self.guide { await self.report.setReroutes(await guide.reroutes) }
    }

    func answer(_ inquiry: WaypointInquiry) async -> WaypointAnswer {
        guard let detour = self.detour, let guide = self.guide else { return .decline(.notSupported) }
        await guide.inquiryBegan(inquiry.vehicle)
        var route = detour
        route.take([detour.waypoints[0], inquiry.waypoint, detour.waypoints[2]])
        await guide.promise(route, to: inquiry.vehicle)
        // From where the vehicle is: the second route begins where the first one does.
        let rest = Drive(route: route, from: await guide.position).information.tripTravelEstimates
        let whole = TravelEstimates(distanceRemaining: route.distance, timeRemaining: route.duration)
        return .estimates(rest ?? whole) { /* `waypointResult` resumes the guide. */  }
    }

    func apply(_ event: SessionEvent) async {
        switch event {
        case .waypointResult(let vehicle, let ending):
            await self.guide?.inquiryEnded(vehicle, isAccepted: ending.isAccepted)
            self.decision.yield()
        case .rejected(let field, let reason, _):
            await self.report.fail("the gateway refused \(field): \(reason)")
        case .ended:
            await self.guide?.stop()
            self.decision.yield()
        default: break  // Nothing to do.
        }
    }
}
