internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// session.proto: from C to messages.

private typealias Limit = ProtocolConstants

func requestID(_ pointer: Text?, _ field: String = "request_id") throws(Rejection) -> String {
    try unsafe text(pointer, field, bytesMax: Limit.requestIDBytesMax, mayBeEmpty: false)
}

func openSession(_ wire: Waymark__V1__OpenSession) throws(Rejection) -> OpenSession {
    var selection = VehicleSelection.anyThatAsked
    if let set = unsafe wire.vehicles?.pointee {
        guard unsafe wire.any_that_asked == 0 else {
            throw Rejection(.inconsistent, field: "any_that_asked", reason: "is set beside vehicles")
        }
        let field = "vehicles.vehicle_ids"
        let ids: [VehicleID] = try unsafe list(
            set.n_vehicle_ids, field, max: Limit.vehiclesPerSessionMax
        ) { index throws(Rejection) in try unsafe name(set.vehicle_ids[index], "") }
        guard !ids.isEmpty else { throw missing(field) }
        try checkUnique(ids, field, "")
        selection = .vehicles(ids)
    } else if unsafe wire.any_that_asked == 0 {
        throw missing("vehicles")
    }
    let every = unsafe wire.receipts_every_milliseconds
    return try unsafe OpenSession(
        requestID: requestID(wire.request_id), vehicles: selection,
        receiptsEveryMilliseconds: every == 0
            ? 0 : checked(every, in: Limit.receiptsMilliseconds, "receipts_every_milliseconds"))
}

func vehicleStatus(_ wire: Waymark__V1__VehicleStatus) throws(Rejection) -> VehicleStatus {
    let standing: VehicleStanding =
        switch unsafe wire.standing {
        case WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_JOINED: .joined
        case WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_AWAITED: .awaited
        case WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_REFUSED:
            .refused(try unsafe closed(wire.refusal.rawValue, "refusal"))
        case WAYMARK__V1__VEHICLE_STANDING__VEHICLE_STANDING_LEFT:
            .left(try unsafe closed(wire.end_reason.rawValue, "end_reason"))
        default: throw missing("standing")
        }
    return try unsafe VehicleStatus(
        vehicle: name(wire.vehicle_id, "vehicle_id"), standing: standing,
        endpoints: messages(wire.endpoints, wire.n_endpoints, "endpoints", max: 1_024, endpointStatus))
}

private func endpointStatus(_ wire: Waymark__V1__EndpointStatus) throws(Rejection) -> EndpointStatus {
    try unsafe EndpointStatus(
        endpoint: name(wire.endpoint, "endpoint"), isReady: wire.ready != 0,
        locale: text(wire.locale, "locale", bytesMax: Limit.localeBytesMax),
        withheld: grants(wire.withheld, wire.n_withheld, "withheld"))
}

func sessionOpened(_ wire: Waymark__V1__SessionOpened) throws(Rejection) -> SessionOpened {
    try unsafe SessionOpened(
        requestID: requestID(wire.request_id), session: SessionID(wire.session_id),
        vehicles: messages(wire.vehicles, wire.n_vehicles, "vehicles", max: 65_536, vehicleStatus))
}

func snapshotBegin(_ wire: Waymark__V1__SnapshotBegin) throws(Rejection) -> SnapshotBegin {
    var begin = try unsafe SnapshotBegin(
        kind: closed(wire.kind.rawValue, "kind"), client: name(wire.client_id, "client_id"))
    begin.clientDisplayName = try unsafe text(
        wire.client_display_name, "client_display_name", bytesMax: Limit.identifierBytesMax)
    begin.isSuspended = unsafe wire.suspended != 0
    begin.receiptsEveryMilliseconds = unsafe wire.receipts_every_milliseconds
    begin.withheld = try unsafe grants(wire.withheld, wire.n_withheld, "withheld")
    return begin
}

private func generation(_ value: UInt32) throws(Rejection) -> UInt32 { try identifier(value, "generation") }

func tripPreviews(_ wire: Waymark__V1__TripPreviews) throws(Rejection) -> Publication {
    let trips = try unsafe messages(wire.trips, wire.n_trips, "trips", max: Limit.tripPreviewsMax, trip)
    try checkUnique(trips.map(\.id), "trips", ".id")
    let field = "selected_trip_id"
    let selected = try unsafe text(wire.selected_trip_id, field, bytesMax: Limit.identifierBytesMax)
    guard selected.isEmpty || trips.contains(where: { $0.id == selected }) else {
        throw Rejection(.unknownReference, field: field, reason: "\(selected) is not one of trips")
    }
    return .tripPreviews(trips, selected: selected)
}

func startGuidance(_ wire: Waymark__V1__StartGuidance) throws(Rejection) -> Publication {
    try unsafe .startGuidance(
        required(wire.trip, "trip", trip), generation: generation(wire.generation),
        optional(wire.route, "route", routeInformation) ?? RouteInformation())
}

func addManeuvers(_ wire: Waymark__V1__AddManeuvers) throws(Rejection) -> Publication {
    let maneuvers = try unsafe messages(
        wire.maneuvers, wire.n_maneuvers, "maneuvers", max: Limit.maneuversMax, maneuver)
    try checkUnique(maneuvers.map(\.id), "maneuvers", ".id")
    return .addManeuvers(maneuvers, generation: try unsafe generation(wire.generation))
}

func addLaneGuidances(_ wire: Waymark__V1__AddLaneGuidances) throws(Rejection) -> Publication {
    let guidances = try unsafe messages(
        wire.lane_guidances, wire.n_lane_guidances, "lane_guidances", max: Limit.laneGuidancesMax,
        laneGuidance)
    try checkUnique(guidances.map(\.id), "lane_guidances", ".id")
    return .addLaneGuidances(guidances, generation: try unsafe generation(wire.generation))
}

func addRouteSegments(_ wire: Waymark__V1__AddRouteSegments) throws(Rejection) -> Publication {
    let segments = try unsafe messages(
        wire.segments, wire.n_segments, "segments", max: Limit.routeSegmentsMax, routeSegment)
    try checkUnique(segments.map(\.id), "segments", ".id")
    return .addRouteSegments(segments, generation: try unsafe generation(wire.generation))
}

func upcomingManeuvers(_ wire: Waymark__V1__UpcomingManeuvers) throws(Rejection) -> Publication {
    try unsafe .upcomingManeuvers(
        maneuverIDs(wire.maneuver_ids, wire.n_maneuver_ids, "maneuver_ids", max: Limit.upcomingManeuversMax),
        generation: generation(wire.generation))
}

func currentRouteSegment(_ wire: Waymark__V1__CurrentRouteSegment) throws(Rejection) -> Publication {
    try unsafe .currentRouteSegment(
        text(wire.segment_id, "segment_id", bytesMax: Limit.identifierBytesMax, mayBeEmpty: false),
        generation: generation(wire.generation))
}

func tripEstimates(_ wire: Waymark__V1__UpdateTripEstimates) throws(Rejection) -> Publication {
    try unsafe .tripEstimates(
        required(wire.travel_estimates, "travel_estimates", travelEstimates),
        open(wire.time_remaining_color.rawValue))
}

func maneuverEstimates(_ wire: Waymark__V1__UpdateManeuverEstimates) throws(Rejection) -> Publication {
    try unsafe .maneuverEstimates(
        ManeuverID(rawValue: identifier(wire.maneuver_id, "maneuver_id")),
        required(wire.travel_estimates, "travel_estimates", travelEstimates),
        generation: generation(wire.generation))
}

func pauseGuidance(_ wire: Waymark__V1__PauseGuidance) throws(Rejection) -> Publication {
    try unsafe .pauseGuidance(
        openSpecified(wire.reason.rawValue, "reason"),
        description: variants(wire.description_variants, wire.n_description_variants, "description_variants"))
}

func resumeGuidance(_ wire: Waymark__V1__ResumeGuidance) throws(Rejection) -> Publication {
    try unsafe .resumeGuidance(
        generation: generation(wire.generation), open(wire.reason.rawValue),
        optional(wire.route, "route", routeInformation))
}

func receipt(_ received: UInt64, _ shown: UInt64) throws(Rejection) -> Receipt {
    guard shown <= received else {
        throw Rejection(.inconsistent, field: "shown_sequence", reason: "is above received_sequence")
    }
    return Receipt(receivedSequence: received, shownSequence: shown)
}

func receiptReport(_ wire: Waymark__V1__ReceiptReport) throws(Rejection) -> ReceiptReport {
    let endpoints = try unsafe messages(wire.endpoints, wire.n_endpoints, "endpoints", max: 65_536) {
        (wire: Waymark__V1__EndpointReceipt) throws(Rejection) in
        try unsafe EndpointReceipt(
            vehicle: name(wire.vehicle_id, "vehicle_id"), endpoint: name(wire.endpoint, "endpoint"),
            receipt: receipt(wire.received_sequence, wire.shown_sequence))
    }
    return unsafe ReceiptReport(gatewaySequence: wire.gateway_sequence, endpoints: endpoints)
}
