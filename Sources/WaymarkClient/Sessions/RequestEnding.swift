package import WaymarkProtocol

/// The peer that decided how a request ended, and its reason.
public enum ResultCause: UInt32, Sendable, Hashable, CaseIterable {
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
    /// The vehicle had as many open requests as the gateway allows.
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

/// The end of a request: the outcome, who decided, and why.
public struct RequestEnding: Sendable, Hashable {
    /// The outcome.
    public let result: RequestResult
    /// The peer that decided, and its reason; nil: the gateway has not said, or this library ended the request.
    public let cause: ResultCause?
    /// The client that was asked last, or the one of the vehicle's session; nil: none.
    public let client: String?
    /// The vehicle's endpoint that decided, or that came first; nil: none.
    public let endpoint: String?
    /// Whether the client shows trips to choose from first.
    public let previewFollows: Bool

    /// An outcome with what is known of it.
    public init(
        _ result: RequestResult, cause: ResultCause? = nil, client: String? = nil, endpoint: String? = nil,
        previewFollows: Bool = false
    ) {
        self.result = result
        self.cause = cause
        self.client = client
        self.endpoint = endpoint
        self.previewFollows = previewFollows
    }

    package init(_ outcome: RequestOutcome) {
        self.init(
            RequestResult(outcome.outcome),
            cause: outcome.cause.flatMap { ResultCause(rawValue: $0.rawValue) },
            client: outcome.client?.rawValue, endpoint: outcome.endpoint?.rawValue,
            previewFollows: outcome.previewFollows)
    }

    /// Whether the request was accepted.
    public var isAccepted: Bool { self.result == .accepted }

    /// The outcome and its cause in words, for humans: `accepted`, `no client guides the vehicle`.
    public var explanation: String {
        guard !self.isAccepted, let cause = self.cause else { return self.result.explanation }
        return self.explanation(of: cause)
    }

    private func explanation(of cause: ResultCause) -> String {
        let client = self.client ?? "the client"
        switch cause {
        case .clientAnswered: return self.decline(by: client)
        case .promptAnswered: return "the vehicle's user said no" + self.place("at")
        case .withdrawn: return "withdrawn" + self.place("by")
        case .ownNavigation: return "the vehicle navigates itself"
        case .clientSilent: return "\(client) did not answer in time"
        case .clientUserSilent: return "the user at \(client) did not answer in time"
        case .promptUnanswered: return "the vehicle's user did not answer in time"
        case .clientGone: return "\(client) was disconnected before it was decided"
        case .clientNotConnected: return "\(client) is not connected"
        case .clientNotCapable: return "\(client) does not handle such requests"
        case .noClient: return "no connected client that may guide the vehicle handles such requests"
        case .noPrompts: return "no endpoint of the vehicle asks its user"
        case .notGuided: return "no client guides the vehicle"
        case .guided: return "a client guides the vehicle already"
        case .unknownSegment: return "the route has no such segment"
        case .noPreviews: return "no client shows trips to choose from"
        case .unknownTrip: return "the newest previews do not have this trip or route choice"
        case .otherStart: return "\(self.endpoint ?? "another endpoint") asked first to start a trip"
        case .tooManyOpen: return "too many requests of the vehicle are open"
        case .noMemory: return "open requests use up the gateway's memory for them"
        case .rulesChanging: return "changed access rules are being applied"
        case .notAllowed: return "the access rules no longer let \(client) guide the vehicle"
        case .sessionEnded: return "the session ended before it was decided"
        case .sessionOver: return "the session was over"
        case .vehicleGone: return "the vehicle is disconnected"
        }
    }

    private func place(_ preposition: String) -> String {
        self.endpoint.map { " \(preposition) \($0)" } ?? ""
    }

    /// The reason that the client gave.
    private func decline(by client: String) -> String {
        switch self.result {
        case .notSupported: "\(client) does not handle such requests"
        case .declinedByUser: "the user at \(client) said no"
        case .busy: "\(client) is busy"
        case .invalid: "\(client) cannot do it as it was asked for"
        case .tooLarge: "it is larger than \(client) can store"
        case .accepted, .timedOut, .gone, .withdrawn, .sessionEnded: self.result.explanation
        }
    }
}
