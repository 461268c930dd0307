public import WaymarkModel
internal import WaymarkProtocol

/// A vehicle wants to stop somewhere on the way.
public struct WaypointInquiry: Sendable, Hashable {
    /// The vehicle that asks.
    public let vehicle: String
    /// The place at which to stop.
    public let waypoint: Waypoint
    /// The segment to insert into; empty: the client chooses.
    public let segment: String
}

/// The answer of a client to a ``WaypointInquiry``.
public enum WaypointAnswer: Sendable {
    /// The vehicle's user is asked with these estimates of the trip with the stop. `whenAccepted` runs if the user agrees: it
    /// publishes the new route. An error that it throws is logged. Estimates outside of their range decline the request as
    /// ``DeclineReason/invalid``, and ``SessionEvent/rejected(field:reason:limit:)`` names the field.
    case estimates(TravelEstimates, whenAccepted: @Sendable () async throws -> Void)
    /// The client asks its own user; `true` accepts. The task of the closure is cancelled when the request ends.
    case ownPrompt(@Sendable () async -> Bool)
    /// The stop is not made.
    case decline(DeclineReason)
}

/// The reason why a client declines a stop or a drive.
public enum DeclineReason: Sendable, Hashable, CaseIterable {
    /// The client does not handle such requests.
    case notSupported
    /// The client's user said no.
    case declinedByUser
    /// The client does something else now.
    case busy
    /// It is not possible, e.g. no road leads to the place.
    case invalid
    /// The request is larger than the client can store.
    case tooLarge

    /// As it goes over the wire.
    var outcome: Outcome {
        switch self {
        case .notSupported: .notSupported
        case .declinedByUser: .declinedByUser
        case .busy: .busy
        case .invalid: .invalid
        case .tooLarge: .tooLarge
        }
    }
}

/// A vehicle wants to be guided to a place.
public struct DestinationInquiry: Sendable, Hashable {
    /// The vehicle that asks.
    public let vehicle: String
    /// The place to drive to.
    public let destination: Waypoint
}

/// The answer of a client to a ``DestinationInquiry``.
public enum DestinationAnswer: Sendable, Hashable {
    /// The client will open a session and guide the vehicle there.
    case accept
    /// The client will open a session and show previews there. The vehicle's user chooses a trip and starts it.
    case acceptWithPreview
    /// The client does not drive there.
    case decline(DeclineReason)
}

/// A vehicle wants to start a trip of the previews.
public struct StartTripInquiry: Sendable, Hashable {
    /// The vehicle that asks.
    public let vehicle: String
    /// The id of the trip, one of the newest previews.
    public let trip: String
    /// The id of the route choice; nil: the trip's selected one, or its first.
    public let routeChoice: UInt32?
}

/// The answer of a client to a ``StartTripInquiry``.
public enum StartTripAnswer: Sendable {
    /// The client starts guidance on this trip. `whenAccepted` runs once the request has ended as accepted: it starts guidance. An error
    /// that it throws is logged.
    case accept(whenAccepted: @Sendable () async throws -> Void)
    /// The trip is not started.
    case decline(DeclineReason)
}

/// The outcome of a request, or of a shared destination.
public enum RequestResult: UInt32, Sendable, Hashable, CaseIterable {
    /// It was accepted.
    case accepted = 1
    /// The other side does not support such requests, or no connected peer does.
    case notSupported
    /// The user said no.
    case declinedByUser
    /// The other side cannot do it now, e.g. because too many requests are open.
    case busy
    /// It cannot be done as it was asked for, e.g. no road leads to the place, a stop without guidance, a drive while guided, or a trip
    /// that the previews do not have.
    case invalid
    /// No answer came in time.
    case timedOut
    /// It is larger than the receiver can store.
    case tooLarge
    /// The other side has disconnected, or the gateway was restarted and does not know the request any more.
    case gone
    /// The sender has withdrawn it.
    case withdrawn
    /// The session that it was about has ended.
    case sessionEnded

    /// The outcome in words, for humans.
    public var explanation: String {
        switch self {
        case .accepted: "accepted"
        case .notSupported: "this is not supported"
        case .declinedByUser: "declined by the user"
        case .busy: "not now"
        case .invalid: "it cannot be done as it was asked for"
        case .timedOut: "nobody answered in time"
        case .tooLarge: "larger than the receiver can store"
        case .gone: "the other side has gone"
        case .withdrawn: "withdrawn"
        case .sessionEnded: "the session has ended"
        }
    }
}

extension RequestResult {
    init(_ outcome: Outcome) { self = RequestResult(rawValue: outcome.rawValue) ?? .invalid }
}
