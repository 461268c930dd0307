internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

// vehicle.proto: from messages to C.
extension Packer {
    mutating func waypointRequest(_ model: WaypointRequest) -> Pointer<Waymark__V1__WaypointRequest> {
        let wire = unsafe self.make(waymark__v1__waypoint_request__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.waypoint = self.waypoint(model.waypoint)
        unsafe wire.pointee.segment_id = self.text(model.segment)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle?.rawValue ?? "")
        return unsafe wire
    }

    mutating func destinationRequest(_ model: DestinationRequest) -> Pointer<Waymark__V1__DestinationRequest>
    {
        let wire = unsafe self.make(waymark__v1__destination_request__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.destination = self.waypoint(model.destination)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle?.rawValue ?? "")
        return unsafe wire
    }

    mutating func requestAnswer(_ model: RequestAnswer) -> Pointer<Waymark__V1__RequestAnswer> {
        let wire = unsafe self.make(waymark__v1__request_answer__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle.rawValue)
        switch model.answer {
        case .estimates(let estimates):
            unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_ESTIMATES
            unsafe wire.pointee.travel_estimates = self.travelEstimates(estimates)
        case .ownPrompt:
            unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_OWN_PROMPT
        case .accept:
            unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_ACCEPT
        case .decline(let reason):
            unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_DECLINE
            unsafe wire.pointee.reason = Waymark__V1__Outcome(rawValue: reason.rawValue)
        }
        return unsafe wire
    }

    mutating func prompt(_ model: Prompt) -> Pointer<Waymark__V1__Prompt> {
        let wire = unsafe self.make(waymark__v1__prompt__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.waypoint = self.waypoint(model.waypoint)
        unsafe wire.pointee.travel_estimates = self.travelEstimates(model.travelEstimates)
        unsafe wire.pointee.deadline_milliseconds = model.deadlineMilliseconds
        return unsafe wire
    }

    mutating func promptAnswer(_ model: PromptAnswer) -> Pointer<Waymark__V1__PromptAnswer> {
        let wire = unsafe self.make(waymark__v1__prompt_answer__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.accepted = model.isAccepted ? 1 : 0
        return unsafe wire
    }

    mutating func promptOver(_ model: PromptOver) -> Pointer<Waymark__V1__PromptOver> {
        let wire = unsafe self.make(waymark__v1__prompt_over__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.outcome = Waymark__V1__Outcome(rawValue: model.outcome.rawValue)
        return unsafe wire
    }

    mutating func requestOutcome(_ model: RequestOutcome) -> Pointer<Waymark__V1__RequestOutcome> {
        let wire = unsafe self.make(waymark__v1__request_outcome__init)
        unsafe wire.pointee.request_id = self.text(model.requestID)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle.rawValue)
        unsafe wire.pointee.outcome = Waymark__V1__Outcome(rawValue: model.outcome.rawValue)
        unsafe wire.pointee.client_id = self.text(model.client?.rawValue ?? "")
        return unsafe wire
    }

    mutating func updateRouteSource(_ model: UpdateRouteSource) -> Pointer<Waymark__V1__UpdateRouteSource> {
        let wire = unsafe self.make(waymark__v1__update_route_source__init)
        unsafe wire.pointee.route_source = Waymark__V1__RouteSource(rawValue: model.routeSource.rawValue)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle?.rawValue ?? "")
        return unsafe wire
    }

    mutating func vehicleSettings(_ model: VehicleSettings) -> Pointer<Waymark__V1__VehicleSettings> {
        let wire = unsafe self.make(waymark__v1__vehicle_settings__init)
        unsafe wire.pointee.compass = Waymark__V1__ClusterSetting(rawValue: model.compass?.rawValue ?? 0)
        unsafe wire.pointee.speed_limit = Waymark__V1__ClusterSetting(
            rawValue: model.speedLimit?.rawValue ?? 0)
        unsafe wire.pointee.content_style = Waymark__V1__ContentStyle(
            rawValue: model.contentStyle?.rawValue ?? 0)
        if let limited = model.limitedUserInterfaces {
            unsafe wire.pointee.limited_user_interfaces = limited
            unsafe wire.pointee.limited_case = WAYMARK__V1__VEHICLE_SETTINGS__LIMITED_LIMITED_USER_INTERFACES
        }
        if let isReady = model.isReadyToShow {
            unsafe wire.pointee.ready_to_show = isReady ? 1 : 0
            unsafe wire.pointee.readiness_case = WAYMARK__V1__VEHICLE_SETTINGS__READINESS_READY_TO_SHOW
        }
        unsafe wire.pointee.vehicle_id = self.text(model.source?.vehicle.rawValue ?? "")
        unsafe wire.pointee.endpoint = self.text(model.source?.endpoint.rawValue ?? "")
        return unsafe wire
    }

    mutating func zoomCluster(_ model: ZoomCluster) -> Pointer<Waymark__V1__ZoomCluster> {
        let wire = unsafe self.make(waymark__v1__zoom_cluster__init)
        unsafe wire.pointee.direction = Waymark__V1__ZoomDirection(rawValue: model.direction.rawValue)
        unsafe wire.pointee.vehicle_id = self.text(model.source?.vehicle.rawValue ?? "")
        unsafe wire.pointee.endpoint = self.text(model.source?.endpoint.rawValue ?? "")
        return unsafe wire
    }

    mutating func alertResponse(_ model: AlertResponse) -> Pointer<Waymark__V1__AlertResponse> {
        let wire = unsafe self.make(waymark__v1__alert_response__init)
        unsafe wire.pointee.alert_id = model.alert
        switch model.response {
        case .dismissed(let dismissal):
            unsafe wire.pointee.dismissal = Waymark__V1__AlertDismissal(rawValue: dismissal.rawValue)
        case .action(let action): unsafe wire.pointee.action_id = action
        }
        unsafe wire.pointee.vehicle_id = self.text(model.source?.vehicle.rawValue ?? "")
        unsafe wire.pointee.endpoint = self.text(model.source?.endpoint.rawValue ?? "")
        return unsafe wire
    }

    mutating func destinationShareAnswer(_ model: DestinationShareAnswer) -> Pointer<
        Waymark__V1__DestinationShareAnswer
    > {
        let wire = unsafe self.make(waymark__v1__destination_share_answer__init)
        unsafe wire.pointee.share_id = self.text(model.shareID)
        unsafe wire.pointee.outcome = Waymark__V1__Outcome(rawValue: model.outcome.rawValue)
        return unsafe wire
    }

    mutating func destinationShareStatus(_ model: DestinationShareStatus) -> Pointer<
        Waymark__V1__DestinationShareStatus
    > {
        let wire = unsafe self.make(waymark__v1__destination_share_status__init)
        unsafe wire.pointee.share_id = self.text(model.shareID)
        unsafe wire.pointee.vehicle_id = self.text(model.vehicle.rawValue)
        switch model.stage {
        case .willShare:
            unsafe wire.pointee.stage = WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_WILL_SHARE
        case .didShare:
            unsafe wire.pointee.stage = WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_SHARE
        case .didFailToShare(let outcome):
            unsafe wire.pointee.stage = WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_FAIL_TO_SHARE
            unsafe wire.pointee.outcome = Waymark__V1__Outcome(rawValue: outcome.rawValue)
        }
        return unsafe wire
    }
}
