package import WaymarkModel

/// How a request, or a destination share, ended.
///
/// - Source: `waymark.v1.Outcome`.
package enum Outcome: UInt32, Sendable, Hashable, CaseIterable, Codable {
    case accepted = 1
    case notSupported = 2
    case declinedByUser = 3
    case busy = 4
    case invalid = 5
    case timedOut = 6
    case tooLarge = 7
    case gone = 8
    case withdrawn = 9
    case sessionEnded = 10
}

/// The peer that decided how a request ended, and its reason. See Docs/protocol.md, "Causes", for the outcomes that each has.
///
/// - Source: `waymark.v1.OutcomeCause`.
package enum OutcomeCause: UInt32, Sendable, Hashable, CaseIterable, Codable {
    /// The client that was asked answered.
    case clientAnswered = 1
    /// The vehicle's user answered the prompt, at an endpoint.
    case promptAnswered = 2
    /// An endpoint withdrew the request.
    case withdrawn = 3
    /// The vehicle began to navigate itself, as an endpoint said.
    case ownNavigation = 4
    /// The client that was asked did not answer in time.
    case clientSilent = 5
    /// The client asked its own user, who did not answer in time.
    case clientUserSilent = 6
    /// The vehicle's user did not answer the prompt in time.
    case promptUnanswered = 7
    /// The client that was asked was disconnected before the request ended.
    case clientGone = 8
    /// The client was not connected, so it was not asked.
    case clientNotConnected = 9
    /// The client does not handle such requests, so it was not asked.
    case clientNotCapable = 10
    /// No connected client that may guide the vehicle handles such requests, so none was asked.
    case noClient = 11
    /// No endpoint of the vehicle shows prompts, so its user was not asked.
    case noPrompts = 12
    /// A stop while no client guided the vehicle.
    case notGuided = 13
    /// A drive while a client guided the vehicle.
    case guided = 14
    /// The route has no such segment.
    case unknownSegment = 15
    /// The start of a trip while no client showed previews.
    case noPreviews = 16
    /// The newest previews do not have the trip, or it has no such route choice.
    case unknownTrip = 17
    /// Another request to start a trip was open: that of another endpoint, or of the same one, was first.
    case otherStart = 18
    /// The vehicle had as many open requests as `Welcome.requests_open_max` allows.
    case tooManyOpen = 19
    /// The open requests used up the memory that the gateway has for them.
    case noMemory = 20
    /// Changed access rules were being applied.
    case rulesChanging = 21
    /// The access rules no longer let the client that was asked guide the vehicle.
    case notAllowed = 22
    /// The session ended while the request was open.
    case sessionEnded = 23
    /// The session that the request named was over, so no client was asked.
    case sessionOver = 24
    /// The vehicle's last endpoint has gone.
    case vehicleGone = 25
}

/// Vehicle to gateway to client: insert this waypoint.
package struct WaypointRequest: Sendable, Hashable {
    package var requestID: Identifier
    package var waypoint: Waypoint
    /// The segment to insert into; empty: the client chooses.
    package var segment: Identifier
    /// Set by the gateway on the way to the client.
    package var vehicle: VehicleID?

    package init(
        requestID: Identifier, waypoint: Waypoint, segment: Identifier = "", vehicle: VehicleID? = nil
    ) {
        self.requestID = requestID
        self.waypoint = waypoint
        self.segment = segment
        self.vehicle = vehicle
    }
}

/// Vehicle to gateway to clients: drive to this place.
package struct DestinationRequest: Sendable, Hashable {
    package var requestID: Identifier
    package var destination: Waypoint
    /// Set by the gateway on the way to the client.
    package var vehicle: VehicleID?

    package init(requestID: Identifier, destination: Waypoint, vehicle: VehicleID? = nil) {
        self.requestID = requestID
        self.destination = destination
        self.vehicle = vehicle
    }
}

/// Vehicle to gateway to client: start this trip of the previews.
package struct StartTripRequest: Sendable, Hashable {
    package var requestID: Identifier
    package var trip: Identifier
    /// nil: the trip's selected one, or its first.
    package var routeChoice: UInt32?
    /// Set by the gateway on the way to the client.
    package var vehicle: VehicleID?

    package init(
        requestID: Identifier, trip: Identifier, routeChoice: UInt32? = nil, vehicle: VehicleID? = nil
    ) {
        self.requestID = requestID
        self.trip = trip
        self.routeChoice = routeChoice
        self.vehicle = vehicle
    }
}

/// Vehicle to gateway: withdraws a request.
package struct WithdrawRequest: Sendable, Hashable {
    package var requestID: Identifier

    package init(requestID: Identifier) { self.requestID = requestID }
}

/// Client to gateway: answers a request.
package struct RequestAnswer: Sendable, Hashable {
    package enum Answer: Sendable, Hashable {
        /// Waypoint: ask the vehicle's user, with these estimates.
        case estimates(TravelEstimates)
        /// Waypoint: the client asks its own user; `accept` or `decline` follows.
        case ownPrompt
        case accept
        /// Destination: the client will open a session that shows previews.
        case acceptWithPreview
        /// With one of notSupported, declinedByUser, busy, invalid, tooLarge.
        case decline(Outcome)
    }

    package var requestID: Identifier
    package var vehicle: VehicleID
    package var answer: Answer

    package init(requestID: Identifier, vehicle: VehicleID, answer: Answer) {
        self.requestID = requestID
        self.vehicle = vehicle
        self.answer = answer
    }
}

/// Gateway to prompting endpoints: ask the vehicle's user.
package struct Prompt: Sendable, Hashable {
    package var requestID: Identifier
    package var waypoint: Waypoint
    package var travelEstimates: TravelEstimates
    package var deadlineMilliseconds: UInt32

    package init(
        requestID: Identifier, waypoint: Waypoint, travelEstimates: TravelEstimates,
        deadlineMilliseconds: UInt32
    ) {
        self.requestID = requestID
        self.waypoint = waypoint
        self.travelEstimates = travelEstimates
        self.deadlineMilliseconds = deadlineMilliseconds
    }
}

/// Endpoint to gateway: the user's answer to a prompt.
package struct PromptAnswer: Sendable, Hashable {
    package var requestID: Identifier
    package var isAccepted: Bool

    package init(requestID: Identifier, isAccepted: Bool) {
        self.requestID = requestID
        self.isAccepted = isAccepted
    }
}

/// Gateway to prompting endpoints: the prompt is over.
package struct PromptOver: Sendable, Hashable {
    package var requestID: Identifier
    package var outcome: Outcome

    package init(requestID: Identifier, outcome: Outcome) {
        self.requestID = requestID
        self.outcome = outcome
    }
}

/// Gateway to requesting endpoints and to the client that was asked: how the request ended.
package struct RequestOutcome: Sendable, Hashable, Codable {
    package var requestID: Identifier
    package var vehicle: VehicleID
    package var outcome: Outcome
    /// The client that accepted, or was asked last.
    package var client: ClientID?
    /// The client shows previews first. Only of an accepted destination request.
    package var previewFollows: Bool
    /// nil: not said.
    package var cause: OutcomeCause?
    /// The vehicle's endpoint that decided, or that came first.
    package var endpoint: EndpointName?

    package init(
        requestID: Identifier, vehicle: VehicleID, outcome: Outcome, client: ClientID? = nil,
        previewFollows: Bool = false, cause: OutcomeCause? = nil, endpoint: EndpointName? = nil
    ) {
        self.requestID = requestID
        self.vehicle = vehicle
        self.outcome = outcome
        self.client = client
        self.previewFollows = previewFollows
        self.cause = cause
        self.endpoint = endpoint
    }
}

/// The reason why the vehicle ends guidance.
///
/// - Source: `waymark.v1.CancelReason`.
package enum CancelReason: UInt32, Sendable, Hashable, CaseIterable {
    case ownNavigationStarted = 1
    case userStopped = 2
}

/// What the vehicle does with the route.
package struct UpdateRouteSource: Sendable, Hashable {
    package var routeSource: RouteSource
    /// Set by the gateway on the way to the client.
    package var vehicle: VehicleID?

    package init(routeSource: RouteSource, vehicle: VehicleID? = nil) {
        self.routeSource = routeSource
        self.vehicle = vehicle
    }
}

/// The vehicle's view of the route: how far it gets.
package struct UpdateRouteFeedback: Sendable, Hashable {
    package var feedback: RouteFeedback
    /// Set by the gateway on the way to the client.
    package var vehicle: VehicleID?

    package init(_ feedback: RouteFeedback, vehicle: VehicleID? = nil) {
        self.feedback = feedback
        self.vehicle = vehicle
    }
}

/// The vehicle's user wants the destination of a trip.
package struct DestinationShareWanted: Sendable, Hashable {
    /// One of the trip previews; empty: the trip that is driven.
    package var trip: Identifier
    package var source: EndpointPath?

    package init(trip: Identifier = "", source: EndpointPath? = nil) {
        self.trip = trip
        self.source = source
    }
}

/// Which endpoint of which vehicle a message comes from. Set by the gateway on the way to the client.
package struct EndpointPath: Sendable, Hashable, Comparable, Codable {
    package var vehicle: VehicleID
    package var endpoint: EndpointName

    package init(vehicle: VehicleID, endpoint: EndpointName) {
        self.vehicle = vehicle
        self.endpoint = endpoint
    }

    package static func < (lhs: EndpointPath, rhs: EndpointPath) -> Bool {
        lhs.vehicle == rhs.vehicle ? lhs.endpoint < rhs.endpoint : lhs.vehicle < rhs.vehicle
    }
}

/// Vehicle to gateway to client: a trip of the previews was selected.
package struct SelectPreview: Sendable, Hashable, Codable {
    package var trip: Identifier
    /// nil: the trip's selected one, or its first.
    package var routeChoice: UInt32?
    package var source: EndpointPath?

    package init(trip: Identifier, routeChoice: UInt32? = nil, source: EndpointPath? = nil) {
        self.trip = trip
        self.routeChoice = routeChoice
        self.source = source
    }
}

/// The settings of an endpoint's display. nil leaves a setting as it was.
package struct VehicleSettings: Defaultable {
    package var compass: ClusterSetting?
    package var speedLimit: ClusterSetting?
    package var contentStyle: ContentStyle?
    /// Bits of `CPLimitableUserInterface`: 1 keyboard, 2 lists.
    package var limitedUserInterfaces: UInt32?
    package var isReadyToShow: Bool?
    package var source: EndpointPath?

    package init() {}
}

/// Zoom the cluster's map.
package struct ZoomCluster: Sendable, Hashable {
    package var direction: ZoomDirection
    package var source: EndpointPath?

    package init(direction: ZoomDirection, source: EndpointPath? = nil) {
        self.direction = direction
        self.source = source
    }
}

/// Simulate a drive, or stop to.
package struct SimulateDrive: Sendable, Hashable {
    package var action: SimulationAction
    /// 0: the real speed.
    package var speedPercent: UInt32
    /// The client that an observer asks; nil from endpoints.
    package var client: ClientID?
    /// The vehicle that it is about; nil: all that the client guides.
    package var vehicle: VehicleID?
    /// The endpoint that asked; nil for an observer.
    package var endpoint: EndpointName?

    package init(_ action: SimulationAction, speedPercent: UInt32 = 0) {
        self.action = action
        self.speedPercent = speedPercent
    }
}

/// The vehicle dismissed an alert, or its user chose an action.
package struct AlertResponse: Sendable, Hashable {
    package enum Response: Sendable, Hashable {
        case dismissed(AlertDismissal)
        /// The action's id, not 0.
        case action(UInt32)
    }

    package var alert: UInt32
    package var response: Response
    package var source: EndpointPath?

    package init(alert: UInt32, response: Response, source: EndpointPath? = nil) {
        self.alert = alert
        self.response = response
        self.source = source
    }
}

/// Vehicle to gateway: accepts or declines a shared destination.
package struct DestinationShareAnswer: Sendable, Hashable {
    package var shareID: Identifier
    /// ``Outcome/accepted``, or why not.
    package var outcome: Outcome

    package init(shareID: Identifier, outcome: Outcome) {
        self.shareID = shareID
        self.outcome = outcome
    }
}

/// Gateway to client: the stage of a destination share with one vehicle.
package struct DestinationShareStatus: Sendable, Hashable {
    package enum Stage: Sendable, Hashable {
        case willShare
        case didShare
        case didFailToShare(Outcome)
    }

    package var shareID: Identifier
    package var vehicle: VehicleID
    package var stage: Stage

    package init(shareID: Identifier, vehicle: VehicleID, stage: Stage) {
        self.shareID = shareID
        self.vehicle = vehicle
        self.stage = stage
    }
}
