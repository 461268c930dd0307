internal import DequeModule
package import WaymarkProtocol

/// A part of an operation that is too long to be done at once.
///
/// An operation does what must be done at once, so that every message sees a valid state, and queues the rest. The steps are done
/// in order, each by one ``Gateway/Event/stepDue(of:)``, and other connections are served in between. So a step must still be right
/// when vehicles, sessions and clients have changed or gone meanwhile.
enum Step: Sendable, Hashable {
    /// Fits what a session published to some profiles of its endpoints, and sends snapshots to those that wait for one.
    case fit(SessionID)
    /// Ends a session, once everything it published is fitted.
    case end(SessionID, SessionEndReason)
    /// Deadlines that have passed.
    case deadlines
    /// A tour of the vehicles of a session goes on after a place.
    case tour(SessionID, number: UInt64, after: VehicleList.Place)
    /// Vehicles that wait for guidance join a session for any vehicle that asked, or an older one.
    case offers(to: SessionID, after: VehicleID?)
    /// The access rules changed: they reach the next clients and vehicles.
    case rules
    /// Requests that a client may no longer be asked are taken from it.
    case forbidden(ArraySlice<RequestNumber>)
    /// Endpoints of a user get the room that others left in a session.
    case room(SessionID, Principal, after: EndpointPath?)
    /// Requests are taken from a client that has gone.
    case abandonments(ArraySlice<RequestNumber>)
    /// The settings changed: they reach the sessions after this one.
    case settings(after: SessionPlace?)
    /// What follows in a batch of published frames.
    case publication(PublishedFrames, ConnectionID)
}

/// The steps that wait, by the connection whose message led to them; nil for deadlines and changes of the settings.
struct StepQueue: Sendable, Hashable {
    private var steps: [ConnectionID?: Deque<Step>] = [:]

    var isEmpty: Bool { self.steps.isEmpty }

    func isEmpty(of cause: ConnectionID?) -> Bool { self.steps.isEmpty || self.steps[cause] == nil }

    /// Puts a step behind the others, unless it is the last one already.
    mutating func append(_ step: Step, of cause: ConnectionID?) {
        if self.steps[cause]?.last != step { self.steps[cause, default: []].append(step) }
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

    /// Does what the event left to be done, as far as the budget of an event goes.
    mutating func takeSteps(of cause: ConnectionID?, at now: Instant, into actions: inout [Action]) {
        repeat {
            if !self.sessionsWithRoom.isEmpty { self.fillRoom() }
            guard self.hasBudget, let step = self.steps.takeFirst(of: cause) else { return }
            let actionCount = actions.count
            self.take(step, at: now, into: &actions)
            self.counters.work.perform(actions.count - actionCount)
        } while true
    }

    /// Whether the present event may do more steps.
    var hasBudget: Bool { Int64(bitPattern: self.workLimit &- self.counters.work.units) > 0 }

    private mutating func take(_ step: Step, at now: Instant, into actions: inout [Action]) {
        self.counters.work.visit()
        switch step {
        case .fit(let session): self.fitMore(of: session, at: now, into: &actions)
        case .end(let session, let reason): self.endFitted(session, reason, into: &actions)
        case .deadlines: self.reachDeadlines(at: now, into: &actions)
        case .tour(let session, let number, let place):
            self.visitNext(in: number, of: session, after: place, at: now, into: &actions)
        case .offers(let session, let place):
            self.offerNext(to: session, after: place, at: now, into: &actions)
        case .rules: self.applyRules(at: now, into: &actions)
        case .forbidden(let requests): self.reassignForbidden(requests, at: now, into: &actions)
        case .room(let session, let user, let path):
            self.giveRoom(in: session, of: user, after: path, at: now, into: &actions)
        case .abandonments(let requests): self.abandon(requests, at: now, into: &actions)
        case .settings(let place): self.applySettings(after: place)
        case .publication(let frames, let connection):
            self.publish(frames, from: connection, at: now, into: &actions)
        }
    }

    /// Queues a step in front of the others of the present event's cause.
    mutating func putBack(_ step: Step) { self.steps.prepend(step, of: self.cause) }
}

extension Gateway.Event {
    /// The connection that pays for the work; nil for deadlines and changes of the settings.
    package var cause: ConnectionID? {
        switch self {
        case .arrived(let connection, _, _, _, _), .requested(let connection, _, _),
            .received(let connection, _, _), .published(let connection, _),
            .publicationRejected(let connection, _), .departed(let connection, _), .seen(let connection, _),
            .confirmed(let connection), .eventRejected(let connection, _, _, _),
            .simulationRequested(let connection, _, _):
            connection
        case .stepDue(let cause): cause
        case .deadlineReached, .policyChanged: nil
        }
    }
}

extension Gateway {
    /// Handles the events of a batch, up to the first that begins an operation of several steps, that publishes more than `framesMax` frames,
    /// or that comes when `budget` units of work were done.
    ///
    /// Why here: several calls of another module for each event would take as long as many events do.
    ///
    /// - Returns: How many events were handled, and ``hasSteps``.
    package mutating func handle(
        _ events: [Event], budget: UInt64, framesMax: Int, seenBy tap: (any GatewayTap)?, at now: Instant,
        into actions: inout [Action]
    ) -> (count: Int, hasSteps: Bool) {
        let start = self.counters.work.units
        var count = 0
        for event in events {
            guard self.counters.work.units &- start < budget, !event.isLonger(than: framesMax) else { break }
            self.handle(event, seenBy: tap, at: now, into: &actions)
            count += 1
            if !self.steps.isEmpty { break }
        }
        return (count, !self.steps.isEmpty)
    }
}

extension Gateway.Event {
    /// Whether it publishes more than `count` frames.
    fileprivate func isLonger(than count: Int) -> Bool {
        if case .published(_, let frames) = self { frames.count > count } else { false }
    }

    /// Divides an event that publishes more than `count` frames into the first of them and the rest; nil for other events.
    package func split(after count: Int) -> (first: Gateway.Event, rest: Gateway.Event)? {
        guard self.isLonger(than: count), case .published(let connection, let frames) = self else {
            return nil
        }
        let (first, rest) = frames.split(after: count)
        return (.published(connection, first), .published(connection, rest))
    }
}
