internal import CProtobufC
internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// Each publication and its C structure, both ways.

extension Publication {
    /// Reads an unpacked publication, whose frame has `header`. `type` must be a published one.
    init(_ type: MessageType, _ wire: AnyWire, _ header: FrameHeader) {
        switch type {
        case .tripPreviews:
            let wire = unsafe wire.message(as: Waymark__V1__TripPreviews.self)
            unsafe self = .tripPreviews(
                list(wire.pointee.n_trips, wire.pointee.trips) { unsafe Trip($0) },
                selected: text(wire.pointee.selected_trip_id))
        case .startGuidance:
            let wire = unsafe wire.message(as: Waymark__V1__StartGuidance.self)
            unsafe self = .startGuidance(
                Trip(wire.pointee.trip), generation: wire.pointee.generation,
                RouteInformation(wire.pointee.route))
        case .updateTrip:
            let wire = unsafe wire.message(as: Waymark__V1__UpdateTrip.self)
            unsafe self = .updateTrip(Trip(wire.pointee.trip))
        case .addManeuvers:
            let wire = unsafe wire.message(as: Waymark__V1__AddManeuvers.self)
            unsafe self = .addManeuvers(
                list(wire.pointee.n_maneuvers, wire.pointee.maneuvers) { unsafe Maneuver($0) },
                generation: wire.pointee.generation)
        case .addLaneGuidances:
            let wire = unsafe wire.message(as: Waymark__V1__AddLaneGuidances.self)
            unsafe self = .addLaneGuidances(
                list(wire.pointee.n_lane_guidances, wire.pointee.lane_guidances) { unsafe LaneGuidance($0) },
                generation: wire.pointee.generation)
        case .addRouteSegments:
            let wire = unsafe wire.message(as: Waymark__V1__AddRouteSegments.self)
            unsafe self = .addRouteSegments(
                list(wire.pointee.n_segments, wire.pointee.segments) { unsafe RouteSegment($0) },
                generation: wire.pointee.generation)
        case .upcomingManeuvers:
            let wire = unsafe wire.message(as: Waymark__V1__UpcomingManeuvers.self)
            unsafe self = .upcomingManeuvers(
                numbers(wire.pointee.n_maneuver_ids, wire.pointee.maneuver_ids, ManeuverID.init),
                generation: wire.pointee.generation)
        case .currentLaneGuidance:
            let wire = unsafe wire.message(as: Waymark__V1__CurrentLaneGuidance.self)
            unsafe self = .currentLaneGuidance(
                wire.pointee.lane_guidance_id.given.map(LaneGuidanceID.init),
                generation: wire.pointee.generation)
        case .updateManeuverState:
            let wire = unsafe wire.message(as: Waymark__V1__UpdateManeuverState.self)
            unsafe self = .maneuverState(.init(wire: wire.pointee.state), generation: wire.pointee.generation)
        case .updateTripEstimates:
            let wire = unsafe wire.message(as: Waymark__V1__UpdateTripEstimates.self)
            unsafe self = .tripEstimates(
                TravelEstimates(wire.pointee.travel_estimates),
                .init(wire: wire.pointee.time_remaining_color))
        case .updateManeuverEstimates:
            let wire = unsafe wire.message(as: Waymark__V1__UpdateManeuverEstimates.self)
            unsafe self = .maneuverEstimates(
                ManeuverID(rawValue: wire.pointee.maneuver_id),
                TravelEstimates(wire.pointee.travel_estimates), generation: wire.pointee.generation)
        case .currentRouteSegment:
            let wire = unsafe wire.message(as: Waymark__V1__CurrentRouteSegment.self)
            unsafe self = .currentRouteSegment(
                text(wire.pointee.segment_id), generation: wire.pointee.generation)
        case .pauseGuidance:
            let wire = unsafe wire.message(as: Waymark__V1__PauseGuidance.self)
            unsafe self = .pauseGuidance(
                .init(wire: wire.pointee.reason),
                description: texts(wire.pointee.n_description_variants, wire.pointee.description_variants))
        case .resumeGuidance:
            let wire = unsafe wire.message(as: Waymark__V1__ResumeGuidance.self)
            unsafe self = .resumeGuidance(
                generation: wire.pointee.generation, .init(wire: wire.pointee.reason),
                wire.pointee.route.map { unsafe RouteInformation($0) })
        case .showAlert:
            let wire = unsafe wire.message(as: Waymark__V1__ShowAlert.self)
            unsafe self = .showAlert(NavigationAlert(wire.pointee.alert))
        case .dismissAlert:
            let wire = unsafe wire.message(as: Waymark__V1__DismissAlert.self)
            unsafe self = .dismissAlert(wire.pointee.alert_id, .init(wire: wire.pointee.dismissal))
        case .shareDestination:
            let wire = unsafe wire.message(as: Waymark__V1__ShareDestination.self)
            unsafe self = .shareDestination(
                shareID: text(wire.pointee.share_id), Waypoint(wire.pointee.destination),
                trip: text(wire.pointee.trip_id))
        case .updateSpeedLimit:
            let wire = unsafe wire.message(as: Waymark__V1__UpdateSpeedLimit.self)
            unsafe self = .speedLimit(
                SpeedLimit(wire.pointee.limit),
                next: wire.pointee.next.map { unsafe SpeedLimitAhead($0) })
        case .finishGuidance: self = .finishGuidance
        case .cancelGuidance: self = .cancelGuidance
        case .publishExtension:
            let wire = unsafe wire.message(as: Waymark__V1__PublishExtension.self)
            self = .publishExtension(
                PublishedExtension(
                    name: ExtensionName(unchecked: unsafe text(wire.pointee.name)),
                    content: unsafe numbers(wire.pointee.content.len, wire.pointee.content.data) { $0 },
                    of: header))
        default:
            guard let state = unsafe PlainState(type, wire) else {
                preconditionFailure("\(type) is not published")
            }
            self = .plain(state)
        }
    }
}

extension Publication {
    /// The C structure of the type.
    func wire(in arena: Arena) -> AnyWire {
        switch self {
        case .tripPreviews(let trips, let selected): unsafe arena.tripPreviews(trips, selected)
        case .startGuidance(let trip, let generation, let route):
            unsafe arena.startGuidance(trip, generation, route)
        case .updateTrip(let trip):
            unsafe arena.body(waymark__v1__update_trip__init) {
                unsafe $0.pointee.trip = trip.wire(in: arena)
            }
        case .addManeuvers(let maneuvers, let generation): unsafe arena.addManeuvers(maneuvers, generation)
        case .addLaneGuidances(let guidances, let generation):
            unsafe arena.addLaneGuidances(guidances, generation)
        case .addRouteSegments(let segments, let generation):
            unsafe arena.addRouteSegments(segments, generation)
        case .upcomingManeuvers(let maneuvers, let generation):
            unsafe arena.upcomingManeuvers(maneuvers, generation)
        case .currentLaneGuidance(let guidance, let generation):
            unsafe arena.currentLaneGuidance(guidance, generation)
        case .maneuverState(let state, let generation): unsafe arena.maneuverState(state, generation)
        case .tripEstimates(let estimates, let color): unsafe arena.tripEstimates(estimates, color)
        case .maneuverEstimates(let maneuver, let estimates, let generation):
            unsafe arena.maneuverEstimates(maneuver, estimates, generation)
        case .currentRouteSegment(let segment, let generation):
            unsafe arena.currentRouteSegment(segment, generation)
        case .pauseGuidance(let reason, let description): unsafe arena.pauseGuidance(reason, description)
        case .resumeGuidance(let generation, let reason, let route):
            unsafe arena.resumeGuidance(generation, reason, route)
        case .showAlert(let alert):
            unsafe arena.body(waymark__v1__show_alert__init) {
                unsafe $0.pointee.alert = alert.wire(in: arena)
            }
        case .dismissAlert(let alert, let dismissal): unsafe arena.dismissAlert(alert, dismissal)
        case .shareDestination(let shareID, let destination, let trip):
            unsafe arena.shareDestination(shareID, destination, trip)
        case .speedLimit(let limit, let next):
            unsafe arena.body(waymark__v1__update_speed_limit__init) {
                unsafe $0.pointee.limit = limit.wire(in: arena)
                unsafe $0.pointee.next = next?.wire(in: arena)
            }
        case .finishGuidance: unsafe arena.body(waymark__v1__finish_guidance__init)
        case .cancelGuidance: unsafe arena.body(waymark__v1__cancel_guidance__init)
        case .plain(let state): unsafe state.wire(in: arena)
        case .publishExtension(let published):
            unsafe arena.body(waymark__v1__publish_extension__init) {
                unsafe $0.pointee.name = arena.text(published.name.rawValue)
                unsafe $0.pointee.content = arena.bytes(published.content)
            }
        }
    }
}

extension Arena {
    fileprivate func tripPreviews(
        _ trips: [Trip], _ selected: String
    ) -> AnyWire {
        unsafe self.body(waymark__v1__trip_previews__init) { wire in
            unsafe (wire.pointee.n_trips, wire.pointee.trips) = unsafe self.list(trips) {
                unsafe $0.wire(in: self)
            }
            unsafe wire.pointee.selected_trip_id = self.text(selected)
        }
    }

    fileprivate func startGuidance(
        _ trip: Trip, _ generation: UInt32, _ route: RouteInformation
    ) -> AnyWire {
        unsafe self.body(waymark__v1__start_guidance__init) { wire in
            unsafe wire.pointee.trip = trip.wire(in: self)
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.route = route.wire(in: self)
        }
    }

    fileprivate func addManeuvers(
        _ maneuvers: [Maneuver], _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__add_maneuvers__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe (wire.pointee.n_maneuvers, wire.pointee.maneuvers) = unsafe self.list(maneuvers) {
                unsafe $0.wire(in: self)
            }
        }
    }

    fileprivate func addLaneGuidances(
        _ guidances: [LaneGuidance], _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__add_lane_guidances__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe (wire.pointee.n_lane_guidances, wire.pointee.lane_guidances) = unsafe self.list(guidances)
            { unsafe $0.wire(in: self) }
        }
    }

    fileprivate func addRouteSegments(
        _ segments: [RouteSegment], _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__add_route_segments__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe (wire.pointee.n_segments, wire.pointee.segments) = unsafe self.list(segments) {
                unsafe $0.wire(in: self)
            }
        }
    }

    fileprivate func upcomingManeuvers(
        _ maneuvers: [ManeuverID], _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__upcoming_maneuvers__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe (wire.pointee.n_maneuver_ids, wire.pointee.maneuver_ids) = unsafe self.list(maneuvers) {
                $0.rawValue
            }
        }
    }

    fileprivate func currentLaneGuidance(
        _ guidance: LaneGuidanceID?, _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__current_lane_guidance__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.lane_guidance_id = guidance?.rawValue ?? 0
        }
    }

    fileprivate func maneuverState(
        _ state: ManeuverState, _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__update_maneuver_state__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.state = .init(rawValue: state.rawValue)
        }
    }

    fileprivate func tripEstimates(
        _ estimates: TravelEstimates, _ color: TimeRemainingColor
    ) -> AnyWire {
        unsafe self.body(waymark__v1__update_trip_estimates__init) { wire in
            unsafe wire.pointee.travel_estimates = estimates.wire(in: self)
            unsafe wire.pointee.time_remaining_color = .init(rawValue: color.rawValue)
        }
    }

    fileprivate func maneuverEstimates(
        _ maneuver: ManeuverID, _ estimates: TravelEstimates, _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__update_maneuver_estimates__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.maneuver_id = maneuver.rawValue
            unsafe wire.pointee.travel_estimates = estimates.wire(in: self)
        }
    }

    fileprivate func currentRouteSegment(
        _ segment: String, _ generation: UInt32
    ) -> AnyWire {
        unsafe self.body(waymark__v1__current_route_segment__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.segment_id = self.text(segment)
        }
    }

    fileprivate func pauseGuidance(
        _ reason: PauseReason, _ description: [String]
    ) -> AnyWire {
        unsafe self.body(waymark__v1__pause_guidance__init) { wire in
            unsafe wire.pointee.reason = .init(rawValue: reason.rawValue)
            unsafe (wire.pointee.n_description_variants, wire.pointee.description_variants) =
                unsafe self.texts(description)
        }
    }

    fileprivate func resumeGuidance(
        _ generation: UInt32, _ reason: RerouteReason, _ route: RouteInformation?
    ) -> AnyWire {
        unsafe self.body(waymark__v1__resume_guidance__init) { wire in
            unsafe wire.pointee.generation = generation
            unsafe wire.pointee.reason = .init(rawValue: reason.rawValue)
            unsafe wire.pointee.route = route?.wire(in: self)
        }
    }

    fileprivate func dismissAlert(
        _ alert: UInt32, _ dismissal: AlertDismissal
    ) -> AnyWire {
        unsafe self.body(waymark__v1__dismiss_alert__init) { wire in
            unsafe wire.pointee.alert_id = alert
            unsafe wire.pointee.dismissal = .init(rawValue: dismissal.rawValue)
        }
    }

    fileprivate func shareDestination(
        _ shareID: String, _ destination: Waypoint, _ trip: String
    ) -> AnyWire {
        unsafe self.body(waymark__v1__share_destination__init) { wire in
            unsafe wire.pointee.share_id = self.text(shareID)
            unsafe wire.pointee.destination = destination.wire(in: self)
            unsafe wire.pointee.trip_id = self.text(trip)
        }
    }
}
