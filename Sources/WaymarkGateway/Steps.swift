internal import DequeModule
package import WaymarkProtocol

/// A part of an operation that is too long to be done at once.
///
/// An operation does what must be done at once, so that every message sees a valid state, and queues the rest. The steps are done
/// in order, each by one ``Gateway/Event/stepDue(of:)``, and other connections are served in between. So a step must still be right
/// when vehicles, sessions and clients have changed or gone meanwhile.
enum Step: Sendable, Hashable {
    /// Fits what a session published to some profiles of its endpoints.
    case fit(SessionID)
    /// Ends a session, once everything it published is fitted.
    case end(SessionID, SessionEndReason)
    /// Deadlines that have passed.
    case deadlines
}

/// The steps that wait, by the connection whose message led to them; nil for deadlines and changes of the settings.
struct StepQueue: Sendable, Hashable {
    private var steps: [ConnectionID?: Deque<Step>] = [:]

    var isEmpty: Bool { self.steps.isEmpty }

    func isEmpty(of cause: ConnectionID?) -> Bool { self.steps.isEmpty || self.steps[cause] == nil }

    mutating func append(_ step: Step, of cause: ConnectionID?) {
        self.steps[cause, default: []].append(step)
    }

    /// Puts a step in front of the others, to be done next.
    mutating func prepend(_ step: Step, of cause: ConnectionID?) {
        self.steps[cause, default: []].prepend(step)
    }

    mutating func takeFirst(of cause: ConnectionID?) -> Step? {
        guard let step = self.steps[cause]?.popFirst() else { return nil }
        if self.steps[cause]?.isEmpty == true { self.steps[cause] = nil }
        return step
    }
}

extension Gateway {
    /// Whether steps of any operation wait. While they do, the gateway cannot be handed over.
    package var hasSteps: Bool { !self.steps.isEmpty }

    /// Whether steps of operations of a connection wait; of nil, those of deadlines and of changes of the settings.
    ///
    /// Its driver hands in ``Event/stepDue(of:)`` until there are none, before it hands in another event of that connection. The
    /// connection may be closed by then.
    package func hasSteps(of cause: ConnectionID?) -> Bool { !self.steps.isEmpty(of: cause) }

    /// Queues a step of the operation that the present event began.
    mutating func queue(_ step: Step) { self.steps.append(step, of: self.cause) }

    mutating func takeStep(of cause: ConnectionID?, at now: Instant, into actions: inout [Action]) {
        guard let step = self.steps.takeFirst(of: cause) else { return }
        switch step {
        case .fit(let session): self.fitMore(of: session, into: &actions)
        case .end(let session, let reason): self.endFitted(session, reason, at: now, into: &actions)
        case .deadlines: self.reachDeadlines(at: now, into: &actions)
        }
    }
}

extension Gateway.Event {
    /// The connection that pays for the work; nil for deadlines and changes of the settings.
    package var cause: ConnectionID? {
        switch self {
        case .arrived(let connection, _, _, _), .requested(let connection, _, _),
            .received(let connection, _, _), .published(let connection, _),
            .publicationRejected(let connection, _), .departed(let connection, _):
            connection
        case .stepDue(let cause): cause
        case .deadlineReached, .policyChanged: nil
        }
    }
}

extension Gateway.Event {
    /// Whether it publishes more than `count` frames.
    package func isLonger(than count: Int) -> Bool {
        if case .published(_, let frames) = self { frames.count > count } else { false }
    }

    /// Divides an event that publishes more than `count` frames into the first of them and the rest; nil for other events.
    package func split(after count: Int) -> (first: Gateway.Event, rest: Gateway.Event)? {
        guard case .published(let connection, let frames) = self, frames.count > count else { return nil }
        let (first, rest) = frames.split(after: count)
        return (.published(connection, first), .published(connection, rest))
    }
}
