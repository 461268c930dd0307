internal import WaymarkGateway
internal import WaymarkProtocol

// The trace lines of events, actions and messages.

extension Gateway.Event {
    /// One line.
    var line: String {
        switch self {
        case .arrived(let id, let hello, _, _, _):
            "#\(id.rawValue) arrives as \(hello.role.line), resuming \(hello.resumeSequence) of \(hello.resumeSession.rawValue)"
        case .confirmed(let id): "#\(id.rawValue) has read its Welcome"
        case .received(let id, let message, let session):
            "#\(id.rawValue) says \(Envelope(message, session: session).line)"
        case .requested(let id, let request, let session):
            "#\(id.rawValue) asks for \(request.requestID) of \(session.rawValue): \(request.frame.line)"
        case .published(let id, let frames): "#\(id.rawValue) publishes \(frames.line)"
        case .publicationRejected(let id, let header):
            "#\(id.rawValue) published \(header.sequence) of \(header.session.rawValue), which the codec refused"
        case .eventRejected(let id, let type, _, _):
            "#\(id.rawValue) sent a \(type) for which there is no room"
        case .departed(let id, let clean): "#\(id.rawValue) departs\(clean ? " with a Goodbye" : "")"
        case .deadlineReached: "a deadline"
        case .stepDue(let cause): "a step of \(cause.map { "\($0)" } ?? "the gateway")"
        case .policyChanged: "another policy"
        case .simulationRequested(let id, _, _): "#\(id.rawValue) asks for a simulated drive"
        case .seen(let id, _): "#\(id.rawValue) is observed"
        }
    }
}

extension Gateway.Action {
    /// One line.
    var line: String {
        switch self {
        case .observe(let id, let hello, _, _, _, _): "#\(id.rawValue) observes as \(hello.observer)"
        case .admit(let id, let welcome): "admit #\(id.rawValue), resumed: \(welcome.isResumed)"
        case .refuse(let id, let goodbye): "refuse #\(id.rawValue): \(goodbye.code)"
        case .send(let id, let envelope): "to #\(id.rawValue): \(envelope.line)"
        case .forward(let id, let request, let vehicle, let session):
            "to #\(id.rawValue): what \(vehicle) asks for, \(request.requestID) of \(session.rawValue)"
        case .sendFrames(let id, let frames):
            "to #\(id.rawValue): \(frames.map(\.line).joined(separator: ", "))"
        case .publish(let audience, let frames): "to audience \(audience.rawValue): \(frames.line)"
        case .join(let id, let audience): "#\(id.rawValue) joins audience \(audience.rawValue)"
        case .leave(let id, let audience): "#\(id.rawValue) leaves audience \(audience.rawValue)"
        case .purge(let id, let session): "purge #\(id.rawValue) of \(session.rawValue)"
        case .purgeShares(let id, let session):
            "purge #\(id.rawValue) of shares of \(session.rawValue)"
        case .close(let id, let goodbye): "close #\(id.rawValue): \(goodbye.code)"
        case .note(let note): "note of \(note.session.rawValue): \(terse(note.turn))"
        case .arm(let deadline): "arm \(deadline.nanoseconds / 1_000_000) ms"
        }
    }
}

extension Hello.Role {
    /// The peer's id, with its features and limits.
    fileprivate var line: String {
        switch self {
        case .vehicle(let hello):
            "\(hello.vehicle)/\(hello.endpoint) \(features(hello.features)), \(terse(hello.limits))"
        case .navigation(let hello): "\(hello.client) \(features(hello.features)), priority \(hello.priority)"
        case .observer(let hello): "observer \(hello.observer)"
        }
    }
}

/// The features' numbers, ascending.
private func features(_ features: FeatureSet) -> String {
    features.map(\.rawValue).map(String.init).joined(separator: " ")
}

extension Envelope {
    /// One line.
    var line: String {
        "\(self.sequence) of \(self.session.rawValue): \(terse(self.message.withoutAllocatedBytes))"
    }
}

extension PublishedFrames {
    /// Each frame, and whether it counts as an event or as state.
    var line: String {
        self.frames.map { "\($0.line) as \($1 == nil ? "event" : "state")" }.joined(separator: ", ")
    }
}

extension Frame {
    /// Sequence number, session and type.
    var line: String {
        let type = self.header.type.map { "\($0)" } ?? "type \(self.header.rawType)"
        return "\(self.header.sequence) of \(self.header.session.rawValue) (\(type))"
    }
}

/// A value's description without module names.
private func terse(_ value: some Any) -> String {
    var text = "\(value)"
    for module in ["WaymarkModel.", "WaymarkProtocol."] { text = text.split(separator: module).joined() }
    return text
}

extension Message {
    /// The message without counts of the bytes that an allocator gave, which may be more than were asked for: they differ between two
    /// runs of one seed.
    fileprivate var withoutAllocatedBytes: Message {
        guard case .counters(var report) = self else { return self }
        report.counters.removeAll { $0.name == CounterName.inputBytes.rawValue }
        for index in report.connections.indices { report.connections[index].inputBytes = 0 }
        return .counters(report)
    }
}
