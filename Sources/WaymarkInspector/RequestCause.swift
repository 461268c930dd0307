internal import WaymarkProtocol

/// The cause of a request's outcome: who decided, and why. A value without I/O.
///
/// One outcome has several causes, see "Requests" in Docs/protocol.md. What happened before tells them apart.
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

    let kind: Kind
    let outcome: Outcome
    /// The client that the outcome names: the one that was asked last, or the one of the vehicle's session; empty: none.
    let client: String
    let course: Course
    /// The endpoint that withdrew it; empty: none, as far as is known.
    let withdrawnBy: String
    /// Whether an endpoint of the vehicle was told the outcome.
    let isVehicleTold: Bool

    /// The peer that decided; empty for the gateway, and if it is not known.
    private(set) var by = ""
    /// A sentence without its full stop; empty if the request was accepted.
    private(set) var text = ""

    init(
        _ kind: Kind, _ outcome: Outcome, client: String, _ course: Course, withdrawnBy: String = "",
        isVehicleTold: Bool = true
    ) {
        (self.kind, self.outcome, self.client, self.course) = (kind, outcome, client, course)
        (self.withdrawnBy, self.isVehicleTold) = (withdrawnBy, isVehicleTold)
        (self.by, self.text) = self.cause
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

    private var notSupported: (String, String) {
        let what = self.kind == .start ? "requests to start a trip" : "requests for \(self.kind)s"
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
