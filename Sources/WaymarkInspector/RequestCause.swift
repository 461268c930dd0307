internal import WaymarkProtocol

/// The cause of a request's outcome: who decided, and why. A value without I/O.
///
/// One outcome has several causes, see "Causes" in Docs/protocol.md. The gateway says which; what happened before tells those apart that
/// a gateway without causes has not said.
struct RequestCause: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable, CaseIterable { case stop, drive, start }

    /// The course of a request since a client was asked last.
    struct Course: Sendable, Hashable {
        /// The client that was asked last; empty: none, as far as is known.
        var asked = ""
        var hasEstimates = false
        /// Whether the client asks its own user.
        var asksOwnUser = false
        /// Whether the client has accepted.
        var isAccepted = false
        /// The deadline of the prompt; nil: no endpoint was sent one.
        var promptDeadline: Double?
        /// The time of the first answer to the prompt.
        var answeredAt: Double?
        /// The client or the endpoint that declined.
        var declinedBy = ""
    }

    /// The cause as the gateway says it.
    struct Said: Sendable, Hashable {
        let cause: OutcomeCause
        /// The endpoint that decided, or that came first, with its vehicle; empty: none.
        let endpoint: String
    }

    let kind: Kind
    let outcome: Outcome
    /// The client that the outcome names: the one that was asked last, or the one of the vehicle's session; empty: none.
    let client: String
    let course: Course
    /// The endpoint that withdrew it; empty: none, as far as is known.
    let withdrawnBy: String
    /// Whether an endpoint of the vehicle was told the outcome.
    let isVehicleTold: Bool
    /// nil: the gateway has not said.
    let said: Said?

    /// The peer that decided; empty for the gateway, and if it is not known.
    private(set) var by = ""
    /// A sentence without its full stop; empty if the request was accepted.
    private(set) var text = ""

    init(
        _ kind: Kind, _ outcome: Outcome, client: String, _ course: Course, withdrawnBy: String = "",
        isVehicleTold: Bool = true, said: Said? = nil
    ) {
        (self.kind, self.outcome, self.client, self.course) = (kind, outcome, client, course)
        (self.withdrawnBy, self.isVehicleTold, self.said) = (withdrawnBy, isVehicleTold, said)
        (self.by, self.text) = said.map(self.explain) ?? self.cause
    }

    /// The client that was asked last; empty: none. The outcome of a drive names only clients that were asked.
    private var asked: String {
        self.course.asked.isEmpty && self.kind == .drive ? self.client : self.course.asked
    }

    /// The client's name, for a sentence. It has no space, so no client has the name for an unknown one.
    private var named: String {
        let name = self.asked.isEmpty ? self.client : self.asked
        return name.isEmpty ? Self.unknown : name
    }

    private static let unknown = "the client"

    /// The beginning of a sentence about the client. Others may have been asked for a drive before it.
    private var subject: String {
        let name = self.named == Self.unknown ? "The client" : self.named
        return self.kind == .drive ? "\(name), which was asked last," : name
    }

    private var isPrompted: Bool { self.course.promptDeadline != nil && self.course.answeredAt == nil }

    private var cause: (String, String) {
        switch self.outcome {
        case .accepted: ("", "")
        case .notSupported: self.notSupported
        case .declinedByUser: self.declinedByUser
        case .busy: self.busy
        case .invalid: self.invalid
        case .timedOut: self.timedOut
        case .tooLarge: self.declined("the request is larger than it can store")
        case .gone: self.gone
        case .withdrawn: self.withdrawn
        case .sessionEnded: self.sessionEnded
        }
    }

    /// The client declined, for a reason that the outcome has.
    private func declined(_ reason: String) -> (String, String) {
        let by = self.course.declinedBy.isEmpty ? self.named : self.course.declinedBy
        return (by, "\(by == Self.unknown ? "The client" : by) declined: \(reason)")
    }

    private var what: String {
        self.kind == .start ? "requests to start a trip" : "requests for \(self.kind)s"
    }

    private var notSupported: (String, String) {
        let what = self.what
        if self.course.hasEstimates {
            return ("", "No endpoint of the vehicle answers prompts, so its user was not asked")
        }
        guard self.asked.isEmpty else { return self.declined("it does not handle \(what)") }
        switch self.kind {
        case .drive:
            return ("", "No connected client that may guide the vehicle handles \(what), so none was asked")
        case .stop, .start:
            return (self.client, "\(self.subject) does not handle \(what), so it was not asked")
        }
    }

    private var declinedByUser: (String, String) {
        let by = self.course.declinedBy
        guard !by.isEmpty else {
            return self.course.promptDeadline == nil
                ? (self.named, "The user at \(self.named) declined") : ("", "The vehicle's user declined")
        }
        guard let deadline = self.course.promptDeadline, let answered = self.course.answeredAt,
            answered < deadline
        else { return (by, "The user at \(by) declined") }
        let left = ((deadline - answered) * 10).rounded() / 10
        return (by, "The user at \(by) declined, \(left) s before the deadline")
    }

    private var busy: (String, String) {
        guard self.asked.isEmpty else { return self.declined("it is busy") }
        if self.kind == .start, !self.client.isEmpty {
            return (
                "", "Another request of the vehicle to start a trip was open, so \(self.client) was not asked"
            )
        }
        let rules = self.kind == .drive ? ", or changed access rules were being applied" : ""
        return ("", "Too many requests, or too many bytes of them, were open\(rules), so no client was asked")
    }

    private var invalid: (String, String) {
        guard self.asked.isEmpty else {
            return self.declined("it is not possible as it was asked for, e.g. no road leads there")
        }
        switch self.kind {
        case .drive: return ("", "The vehicle was guided already when it asked, so no client was asked")
        case .start: return ("", "The newest previews did not have the trip, or guidance had started")
        case .stop where self.client.isEmpty: return ("", "No client guided the vehicle when it asked")
        case .stop:
            return ("", "It names a part of the route that is not there, so \(self.client) was not asked")
        }
    }

    private var timedOut: (String, String) {
        if self.isPrompted { return ("the vehicle's user", "The vehicle's user did not answer in time") }
        if self.course.asksOwnUser {
            return (self.named, "The user at \(self.named) did not answer in time")
        }
        return (self.named, "\(self.subject) did not answer in time")
    }

    private var gone: (String, String) {
        if self.kind != .drive, self.asked.isEmpty {
            return (self.client, "\(self.subject) was not connected, so it was not asked")
        }
        if self.course.isAccepted, self.kind == .drive {
            let rules = "the access rules did not let it guide the vehicle any more"
            return (self.named, "\(self.subject) accepted, but \(rules)")
        }
        // A vehicle without an endpoint is not told.
        guard self.isVehicleTold else {
            return ("", "The vehicle or \(self.named) disconnected before there was an answer")
        }
        let answer = self.isPrompted ? "the vehicle's user had answered" : "it had answered"
        let rules = self.kind == .drive ? ", or may no longer guide the vehicle" : ""
        return (self.named, "\(self.subject) disconnected before \(answer)\(rules)")
    }

    private var withdrawn: (String, String) {
        if !self.withdrawnBy.isEmpty { return (self.withdrawnBy, "\(self.withdrawnBy) withdrew it") }
        switch self.kind {
        case .drive: return ("", "The vehicle started to navigate by itself")
        case .stop, .start: return ("", "The vehicle withdrew it")
        }
    }

    private var sessionEnded: (String, String) {
        if self.isPrompted { return ("", "The session ended before the vehicle's user had answered") }
        guard self.asked.isEmpty, self.client.isEmpty else {
            return ("", "The session ended before \(self.named) had answered")
        }
        return ("", "The session for which it was asked was over, so no client was asked")
    }
}

// What the gateway says.
extension RequestCause {
    private func explain(_ said: Said) -> (String, String) {
        guard self.outcome != .accepted else { return ("", "") }
        switch said.cause {
        case .clientAnswered: return self.answer
        case .promptAnswered: return self.promptAnswer(at: said.endpoint)
        case .withdrawn:
            let by = said.endpoint.isEmpty ? self.withdrawnBy : said.endpoint
            return (by, "\(by.isEmpty ? "The vehicle" : by) withdrew it")
        case .ownNavigation: return (said.endpoint, "The vehicle started to navigate by itself")
        case .clientSilent: return (self.named, "\(self.subject) did not answer in time")
        case .clientUserSilent: return (self.named, "The user at \(self.named) did not answer in time")
        case .promptUnanswered:
            return ("the vehicle's user", "The vehicle's user did not answer in time")
        case .clientGone:
            let answer = self.isPrompted ? "the vehicle's user had answered" : "it had answered"
            return (self.named, "\(self.subject) disconnected before \(answer)")
        case .notAllowed:
            return ("", "The access rules did not let \(self.named) guide the vehicle any more")
        case .vehicleGone:
            return (said.endpoint, "\(self.last(said.endpoint)) disconnected before there was an answer")
        case .sessionEnded:
            let answer = self.isPrompted ? "the vehicle's user" : self.named
            return ("", "The session ended before \(answer) had answered")
        case .clientNotConnected, .clientNotCapable, .noClient, .noPrompts, .notGuided, .guided,
            .unknownSegment, .noPreviews, .unknownTrip, .otherStart, .tooManyOpen, .noMemory,
            .rulesChanging, .sessionOver:
            return self.refusal(said)
        }
    }

    private func last(_ endpoint: String) -> String {
        endpoint.isEmpty ? "The vehicle" : "\(endpoint), the vehicle's last endpoint,"
    }

    /// The causes for which no client, or no user, was asked.
    private func refusal(_ said: Said) -> (String, String) {
        switch said.cause {
        case .clientNotConnected:
            (self.client, "\(self.subject) was not connected, so it was not asked")
        case .clientNotCapable:
            (self.client, "\(self.subject) does not handle \(self.what), so it was not asked")
        case .noClient:
            (
                "", "No connected client that may guide the vehicle handles \(self.what), so none was asked"
            )
        case .noPrompts: ("", "No endpoint of the vehicle answers prompts, so its user was not asked")
        case .notGuided: ("", "No client guided the vehicle when it asked")
        case .guided: ("", "The vehicle was guided already when it asked, so no client was asked")
        case .unknownSegment:
            ("", "It names a part of the route that is not there, so \(self.named) was not asked")
        case .noPreviews: ("", "No client showed trips to choose from when the vehicle asked")
        case .unknownTrip: ("", "The newest previews did not have the trip or its route choice")
        case .otherStart:
            (
                said.endpoint,
                "\(said.endpoint.isEmpty ? "Another endpoint" : said.endpoint) had asked to start a trip before"
            )
        case .tooManyOpen: ("", "Too many requests of the vehicle were open, so no client was asked")
        case .noMemory:
            ("", "Open requests used up the gateway's memory for them, so no client was asked")
        case .rulesChanging: ("", "Changed access rules were being applied, so no client was asked")
        case .sessionOver: ("", "The session for which it was asked was over, so no client was asked")
        default: ("", "")  // A client was asked.
        }
    }

    /// The client's answer, which declines.
    private var answer: (String, String) {
        switch self.outcome {
        case .notSupported: self.declined("it does not handle \(self.what)")
        case .declinedByUser: (self.named, "The user at \(self.named) declined")
        case .busy: self.declined("it is busy")
        case .tooLarge: self.declined("the request is larger than it can store")
        default: self.declined("it is not possible as it was asked for, e.g. no road leads there")
        }
    }

    private func promptAnswer(at endpoint: String) -> (String, String) {
        guard !endpoint.isEmpty else { return self.declinedByUser }
        var course = self.course
        course.declinedBy = endpoint
        let seen = RequestCause(self.kind, .declinedByUser, client: self.client, course)
        return (seen.by, seen.text)
    }
}
