internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

/// The name in a checked field that may be empty for "none".
func givenName<Name: WireName>(_ wire: UnsafeMutablePointer<CChar>?) -> Name? {
    unsafe givenText(wire).map { Name(unchecked: $0) }
}

extension WaypointRequest {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__waypoint_request__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.waypoint = self.waypoint.wire(in: arena)
            unsafe wire.pointee.segment_id = arena.text(self.segment.rawValue)
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle?.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__WaypointRequest>) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            waypoint: unsafe Waypoint(wire.pointee.waypoint),
            segment: unsafe identifier(wire.pointee.segment_id),
            vehicle: unsafe givenName(wire.pointee.vehicle_id))
    }
}

extension DestinationRequest {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__destination_request__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.destination = self.destination.wire(in: arena)
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle?.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__DestinationRequest>) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            destination: unsafe Waypoint(wire.pointee.destination),
            vehicle: unsafe givenName(wire.pointee.vehicle_id))
    }
}

extension StartTripRequest {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__start_trip_request__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.trip_id = arena.text(self.trip.rawValue)
            unsafe wire.pointee.route_choice_id = self.routeChoice ?? 0
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle?.rawValue ?? "")
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__StartTripRequest>) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            trip: unsafe identifier(wire.pointee.trip_id),
            routeChoice: unsafe wire.pointee.route_choice_id.given,
            vehicle: unsafe givenName(wire.pointee.vehicle_id))
    }
}

extension WithdrawRequest {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__withdraw_request__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__WithdrawRequest>) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id))
    }
}

extension RequestAnswer {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__request_answer__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle.rawValue)
            switch self.answer {
            case .estimates(let estimates):
                unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_ESTIMATES
                unsafe wire.pointee.travel_estimates = estimates.wire(in: arena)
            case .ownPrompt: unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_OWN_PROMPT
            case .accept: unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_ACCEPT
            case .acceptWithPreview:
                unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_ACCEPT_WITH_PREVIEW
            case .decline(let outcome):
                unsafe wire.pointee.answer = WAYMARK__V1__ANSWER__ANSWER_DECLINE
                unsafe wire.pointee.reason = .init(rawValue: outcome.rawValue)
            }
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__RequestAnswer>) throws(Rejection) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)),
            answer: try unsafe Answer(wire))
    }
}

extension RequestAnswer.Answer {
    fileprivate init(_ wire: UnsafeMutablePointer<Waymark__V1__RequestAnswer>) throws(Rejection) {
        let answer = unsafe wire.pointee.answer
        let reason = unsafe wire.pointee.reason.rawValue
        let isDecline = answer == WAYMARK__V1__ANSWER__ANSWER_DECLINE
        let isEstimates = answer == WAYMARK__V1__ANSWER__ANSWER_ESTIMATES
        let estimates = unsafe wire.pointee.travel_estimates.map { unsafe TravelEstimates($0) }
        if isEstimates, estimates == nil {
            throw Rejection(.missing, field: "travel_estimates", reason: "the answer needs them")
        }
        if !isEstimates, estimates != nil {
            throw Rejection(.inconsistent, field: "travel_estimates", reason: "do not fit the answer")
        }
        guard isDecline || reason == 0 else {
            throw Rejection(.inconsistent, field: "reason", reason: "only a decline has one")
        }
        if let estimates {
            self = .estimates(estimates)
        } else if isDecline {
            self = .decline(try Self.declineReason(reason))
        } else {
            self =
                answer == WAYMARK__V1__ANSWER__ANSWER_OWN_PROMPT
                ? .ownPrompt
                : answer == WAYMARK__V1__ANSWER__ANSWER_ACCEPT_WITH_PREVIEW ? .acceptWithPreview : .accept
        }
    }

    private static func declineReason(_ raw: UInt32) throws(Rejection) -> Outcome {
        guard raw != 0 else { throw Rejection(.missing, field: "reason", reason: "a decline needs one") }
        let reason = Outcome(wire: raw)
        switch reason {
        case .notSupported, .declinedByUser, .busy, .invalid, .tooLarge: return reason
        case .accepted, .timedOut, .gone, .withdrawn, .sessionEnded:
            throw Rejection(.outOfRange, field: "reason", reason: "is not a reason to decline")
        }
    }
}

extension Prompt {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__prompt__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.waypoint = self.waypoint.wire(in: arena)
            unsafe wire.pointee.travel_estimates = self.travelEstimates.wire(in: arena)
            unsafe wire.pointee.deadline_milliseconds = self.deadlineMilliseconds
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__Prompt>) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            waypoint: unsafe Waypoint(wire.pointee.waypoint),
            travelEstimates: unsafe TravelEstimates(wire.pointee.travel_estimates),
            deadlineMilliseconds: unsafe wire.pointee.deadline_milliseconds)
    }
}

extension PromptAnswer {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__prompt_answer__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.accepted = self.isAccepted ? 1 : 0
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__PromptAnswer>) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            isAccepted: unsafe wire.pointee.accepted != 0)
    }
}

extension PromptOver {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__prompt_over__init) { wire in
            unsafe wire.pointee.request_id = arena.text(self.requestID.rawValue)
            unsafe wire.pointee.outcome = .init(rawValue: self.outcome.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__PromptOver>) {
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            outcome: Outcome(wire: unsafe wire.pointee.outcome.rawValue))
    }
}

extension RequestOutcome {
    /// Numbers of its fields, as in the proto.
    private typealias Field = FieldNumber.RequestOutcome

    /// The whole frame: of what the gateway itself says, most is this.
    func frame(_ header: FrameHeader) -> Frame {
        let (client, endpoint) = (self.client?.rawValue ?? "", self.endpoint?.rawValue ?? "")
        let textBytes =
            self.requestID.rawValue.utf8.count + self.vehicle.rawValue.utf8.count + client.utf8.count
            + endpoint.utf8.count
        var writer = FrameWriter(header, bodyByteCount: textBytes + 14)
        writer.text(Field.requestId, self.requestID.rawValue)
        writer.text(Field.vehicleId, self.vehicle.rawValue)
        writer.number(Field.outcome, UInt64(self.outcome.rawValue))
        writer.text(Field.clientId, client)
        writer.number(Field.previewFollows, self.previewFollows ? 1 : 0)
        writer.number(Field.cause, UInt64(self.cause?.rawValue ?? 0))
        writer.text(Field.endpoint, endpoint)
        return writer.frame()
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__RequestOutcome>) throws(Rejection) {
        let outcome = Outcome(wire: unsafe wire.pointee.outcome.rawValue)
        let previewFollows = unsafe wire.pointee.preview_follows != 0
        guard !previewFollows || outcome == .accepted else {
            throw Rejection(
                .inconsistent, field: "preview_follows", reason: "only an accepted request has one")
        }
        self.init(
            requestID: unsafe identifier(wire.pointee.request_id),
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)), outcome: outcome,
            client: unsafe givenName(wire.pointee.client_id), previewFollows: previewFollows,
            // One that this build does not know is not said.
            cause: OutcomeCause(rawValue: unsafe wire.pointee.cause.rawValue),
            endpoint: unsafe givenName(wire.pointee.endpoint))
    }
}

extension DestinationShareAnswer {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__destination_share_answer__init) { wire in
            unsafe wire.pointee.share_id = arena.text(self.shareID.rawValue)
            unsafe wire.pointee.outcome = .init(rawValue: self.outcome.rawValue)
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__DestinationShareAnswer>) {
        self.init(
            shareID: unsafe identifier(wire.pointee.share_id),
            outcome: Outcome(wire: unsafe wire.pointee.outcome.rawValue))
    }
}

extension DestinationShareStatus {
    func wire(in arena: Arena) -> AnyWire {
        unsafe arena.body(waymark__v1__destination_share_status__init) { wire in
            unsafe wire.pointee.share_id = arena.text(self.shareID.rawValue)
            unsafe wire.pointee.vehicle_id = arena.text(self.vehicle.rawValue)
            switch self.stage {
            case .willShare: unsafe wire.pointee.stage = WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_WILL_SHARE
            case .didShare: unsafe wire.pointee.stage = WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_SHARE
            case .didFailToShare(let outcome):
                unsafe wire.pointee.stage = WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_FAIL_TO_SHARE
                unsafe wire.pointee.outcome = .init(rawValue: outcome.rawValue)
            }
        }
    }

    init(_ wire: UnsafeMutablePointer<Waymark__V1__DestinationShareStatus>) throws(Rejection) {
        let stage = unsafe wire.pointee.stage
        let outcome = unsafe wire.pointee.outcome.rawValue
        let hasFailed = stage == WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_FAIL_TO_SHARE
        if hasFailed, outcome == 0 {
            throw Rejection(.missing, field: "outcome", reason: "a failure needs one")
        }
        if !hasFailed, outcome != 0 {
            throw Rejection(.inconsistent, field: "outcome", reason: "only a failure has one")
        }
        let isDone = stage == WAYMARK__V1__SHARE_STAGE__SHARE_STAGE_DID_SHARE
        self.init(
            shareID: unsafe identifier(wire.pointee.share_id),
            vehicle: VehicleID(unchecked: unsafe text(wire.pointee.vehicle_id)),
            stage: hasFailed ? .didFailToShare(Outcome(wire: outcome)) : isDone ? .didShare : .willShare)
    }
}
