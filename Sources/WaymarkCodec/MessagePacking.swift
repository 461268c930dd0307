internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension Packer {
    /// The C message for a message of the protocol.
    mutating func message(_ message: Message) -> UnsafePointer<ProtobufCMessage>? {
        switch message {
        case .hello(let model): unsafe Self.base(self.hello(model))
        case .welcome(let model): unsafe Self.base(self.welcome(model))
        case .goodbye(let model): unsafe Self.base(self.goodbye(model))
        case .error(let model): unsafe Self.base(self.error(model))
        case .openSession(let model): unsafe Self.base(self.openSession(model))
        case .sessionOpened(let model): unsafe Self.base(self.sessionOpened(model))
        case .vehicleChanged(let model): unsafe Self.base(self.vehicleChanged(model))
        case .sessionEnded(let model): unsafe Self.base(self.sessionEnded(model))
        case .snapshotBegin(let model): unsafe Self.base(self.snapshotBegin(model))
        case .receipt(let model): unsafe Self.base(self.receipt(model))
        case .receiptReport(let model): unsafe Self.base(self.receiptReport(model))
        case .waypointRequest(let model): unsafe Self.base(self.waypointRequest(model))
        case .destinationRequest(let model): unsafe Self.base(self.destinationRequest(model))
        case .requestAnswer(let model): unsafe Self.base(self.requestAnswer(model))
        case .prompt(let model): unsafe Self.base(self.prompt(model))
        case .promptAnswer(let model): unsafe Self.base(self.promptAnswer(model))
        case .promptOver(let model): unsafe Self.base(self.promptOver(model))
        case .requestOutcome(let model): unsafe Self.base(self.requestOutcome(model))
        case .updateRouteSource(let model): unsafe Self.base(self.updateRouteSource(model))
        case .vehicleSettings(let model): unsafe Self.base(self.vehicleSettings(model))
        case .zoomCluster(let model): unsafe Self.base(self.zoomCluster(model))
        case .alertResponse(let model): unsafe Self.base(self.alertResponse(model))
        case .destinationShareAnswer(let model): unsafe Self.base(self.destinationShareAnswer(model))
        case .destinationShareStatus(let model): unsafe Self.base(self.destinationShareStatus(model))
        case .ping(let nonce):
            unsafe Self.base(self.number(waymark__v1__ping__init) { unsafe $0.nonce = nonce })
        case .pong(let nonce):
            unsafe Self.base(self.number(waymark__v1__pong__init) { unsafe $0.nonce = nonce })
        case .snapshotEnd: unsafe Self.base(self.make(waymark__v1__snapshot_end__init))
        case .sessionSuspended(let grace):
            unsafe Self.base(
                self.number(waymark__v1__session_suspended__init) { unsafe $0.grace_milliseconds = grace })
        case .sessionRestored: unsafe Self.base(self.make(waymark__v1__session_restored__init))
        case .withdrawRequest(let request): unsafe Self.base(self.withdrawRequest(request))
        case .cancelNavigation(let reason):
            unsafe Self.base(
                self.number(waymark__v1__cancel_navigation__init) {
                    unsafe $0.reason = Waymark__V1__CancelReason(rawValue: reason.rawValue)
                })
        case .allowNavigation: unsafe Self.base(self.make(waymark__v1__allow_navigation__init))
        case .publication(let publication): unsafe self.publication(publication)
        }
    }

    /// A message of plain numbers.
    private mutating func number<Wire>(
        _ initialize: (UnsafeMutablePointer<Wire>) -> Void, _ fill: (inout Wire) -> Void
    ) -> Pointer<Wire> {
        let wire = unsafe self.make(initialize)
        unsafe fill(&wire.pointee)
        return unsafe wire
    }

    /// Every generated message begins with its base.
    private static func base<Wire>(_ wire: Pointer<Wire>) -> UnsafePointer<ProtobufCMessage> {
        unsafe UnsafeRawPointer(wire).assumingMemoryBound(to: ProtobufCMessage.self)
    }

    private mutating func publication(_ publication: Publication) -> UnsafePointer<ProtobufCMessage> {
        switch publication {
        case .tripPreviews(let trips, let selected):
            let wire = unsafe self.make(waymark__v1__trip_previews__init)
            unsafe wire.pointee.n_trips = trips.count
            unsafe wire.pointee.trips = self.list(trips) { unsafe $0.trip($1) }
            unsafe wire.pointee.selected_trip_id = self.text(selected)
            return unsafe Self.base(wire)
        case .startGuidance(let trip, let generation, let route):
            let wire = unsafe self.make(waymark__v1__start_guidance__init)
            unsafe wire.pointee.trip = self.trip(trip)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.route = self.routeInformation(route)
            return unsafe Self.base(wire)
        case .updateTrip(let trip):
            let wire = unsafe self.make(waymark__v1__update_trip__init)
            unsafe wire.pointee.trip = self.trip(trip)
            return unsafe Self.base(wire)
        case .addManeuvers(let maneuvers, let generation):
            let wire = unsafe self.make(waymark__v1__add_maneuvers__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.n_maneuvers = maneuvers.count
            unsafe wire.pointee.maneuvers = self.list(maneuvers) { unsafe $0.maneuver($1) }
            return unsafe Self.base(wire)
        case .addLaneGuidances(let guidances, let generation):
            let wire = unsafe self.make(waymark__v1__add_lane_guidances__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.n_lane_guidances = guidances.count
            unsafe wire.pointee.lane_guidances = self.list(guidances) { unsafe $0.laneGuidance($1) }
            return unsafe Self.base(wire)
        case .addRouteSegments(let segments, let generation):
            let wire = unsafe self.make(waymark__v1__add_route_segments__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.n_segments = segments.count
            unsafe wire.pointee.segments = self.list(segments) { unsafe $0.routeSegment($1) }
            return unsafe Self.base(wire)
        case .upcomingManeuvers(let ids, let generation):
            let wire = unsafe self.make(waymark__v1__upcoming_maneuvers__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.n_maneuver_ids = ids.count
            unsafe wire.pointee.maneuver_ids = self.numbers(ids.map(\.rawValue))
            return unsafe Self.base(wire)
        case .currentLaneGuidance(let id, let generation):
            let wire = unsafe self.make(waymark__v1__current_lane_guidance__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.lane_guidance_id = id?.rawValue ?? 0
            return unsafe Self.base(wire)
        case .currentRoadName(let names):
            let wire = unsafe self.make(waymark__v1__current_road_name__init)
            unsafe wire.pointee.n_name_variants = names.count
            unsafe wire.pointee.name_variants = self.texts(names)
            return unsafe Self.base(wire)
        case .maneuverState(let state, let generation):
            let wire = unsafe self.make(waymark__v1__update_maneuver_state__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.state = Waymark__V1__ManeuverState(rawValue: state.rawValue)
            return unsafe Self.base(wire)
        case .tripEstimates(let estimates, let color):
            let wire = unsafe self.make(waymark__v1__update_trip_estimates__init)
            unsafe wire.pointee.travel_estimates = self.travelEstimates(estimates)
            unsafe wire.pointee.time_remaining_color = Waymark__V1__TimeRemainingColor(
                rawValue: color.rawValue)
            return unsafe Self.base(wire)
        case .maneuverEstimates(let id, let estimates, let generation):
            let wire = unsafe self.make(waymark__v1__update_maneuver_estimates__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.maneuver_id = id.rawValue
            unsafe wire.pointee.travel_estimates = self.travelEstimates(estimates)
            return unsafe Self.base(wire)
        case .currentRouteSegment(let segment, let generation):
            let wire = unsafe self.make(waymark__v1__current_route_segment__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.segment_id = self.text(segment)
            return unsafe Self.base(wire)
        case .pauseGuidance(let reason, let description):
            let wire = unsafe self.make(waymark__v1__pause_guidance__init)
            unsafe wire.pointee.reason = Waymark__V1__PauseReason(rawValue: reason.rawValue)
            unsafe wire.pointee.n_description_variants = description.count
            unsafe wire.pointee.description_variants = self.texts(description)
            return unsafe Self.base(wire)
        case .resumeGuidance(let generation, let reason, let route):
            let wire = unsafe self.make(waymark__v1__resume_guidance__init)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.reason = Waymark__V1__RerouteReason(rawValue: reason.rawValue)
            unsafe wire.pointee.route = self.optional(route) { unsafe $0.routeInformation($1) }
            return unsafe Self.base(wire)
        case .showAlert(let alert):
            let wire = unsafe self.make(waymark__v1__show_alert__init)
            unsafe wire.pointee.alert = self.navigationAlert(alert)
            return unsafe Self.base(wire)
        case .dismissAlert(let alert, let dismissal):
            let wire = unsafe self.make(waymark__v1__dismiss_alert__init)
            unsafe wire.pointee.alert_id = alert
            unsafe wire.pointee.dismissal = Waymark__V1__AlertDismissal(rawValue: dismissal.rawValue)
            return unsafe Self.base(wire)
        case .shareDestination(let shareID, let destination):
            let wire = unsafe self.make(waymark__v1__share_destination__init)
            unsafe wire.pointee.share_id = self.text(shareID)
            unsafe wire.pointee.destination = self.waypoint(destination)
            return unsafe Self.base(wire)
        case .finishGuidance: return unsafe Self.base(self.make(waymark__v1__finish_guidance__init))
        case .cancelGuidance: return unsafe Self.base(self.make(waymark__v1__cancel_guidance__init))
        }
    }

    private mutating func withdrawRequest(_ model: WithdrawRequest) -> Pointer<Waymark__V1__WithdrawRequest> {
        let wire = unsafe self.make(waymark__v1__withdraw_request__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        return unsafe wire
    }
}
