internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

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
        case .currentRoadName(let variants): unsafe arena.currentRoadName(variants)
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
        case .shareDestination(let shareID, let destination):
            unsafe arena.shareDestination(shareID, destination)
        case .finishGuidance: unsafe arena.body(waymark__v1__finish_guidance__init)
        case .cancelGuidance: unsafe arena.body(waymark__v1__cancel_guidance__init)
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

    fileprivate func currentRoadName(
        _ variants: [String]
    ) -> AnyWire {
        unsafe self.body(waymark__v1__current_road_name__init) { wire in
            unsafe (wire.pointee.n_name_variants, wire.pointee.name_variants) = unsafe self.texts(variants)
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
        _ shareID: String, _ destination: Waypoint
    ) -> AnyWire {
        unsafe self.body(waymark__v1__share_destination__init) { wire in
            unsafe wire.pointee.share_id = self.text(shareID)
            unsafe wire.pointee.destination = destination.wire(in: self)
        }
    }
}
