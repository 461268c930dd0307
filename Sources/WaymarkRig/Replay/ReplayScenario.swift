internal import Foundation
internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkHistory
internal import WaymarkModel
internal import WaymarkProtocol
package import WaymarkRecording
internal import WaymarkScenario

/// A scenario in which the peers of a recording say again what they said: a problem in the field becomes a test.
package struct ReplayScenario: Sendable {
    private let conversation: RecordedConversation
    /// The name of the recording's copy, beside the scenario.
    private let recordingName: String
    /// What the scenario is made from, for people.
    private let source: String
    /// What came of a replay.
    private let result: ReplayResult

    /// Replays a recording, and writes what came of it as expectations: each request's outcome, and how guidance ends.
    ///
    /// - Parameters:
    ///   - conversation: What is in the recording.
    ///   - recordingName: How the scenario names the recording.
    ///   - source: What it is made from, for people.
    /// - Returns: A scenario that passes.
    /// - Throws: ``ReplayError``, also if the replay is not as recorded: then there is nothing to expect.
    package static func text(
        _ conversation: RecordedConversation, recordingName: String, source: String
    ) throws(ReplayError) -> String {
        let result = try ReplayRun.run(conversation)
        if let problem = result.peers.problems.first { throw .run(problem.text) }
        let scenario = ReplayScenario(
            conversation: conversation, recordingName: recordingName, source: source, result: result)
        let text = scenario.text(allowing: [])
        let first = try scenario.check(text)
        let rules = first.lints.filter { !$0.hasPassed }.map(\.rule)
        let allowing = scenario.text(allowing: rules)
        let last = rules.isEmpty ? first : try scenario.check(allowing)
        if let failed = last.expectations.first(where: { !$0.hasPassed }) {
            throw .run("it does not replay as recorded: \(failed.text)")
        }
        if let problem = last.problem { throw .run(problem) }
        return allowing
    }

    /// Runs a scenario that was written.
    private func check(_ text: String) throws(ReplayError) -> ScenarioResult {
        do throws(ScenarioErrors) {
            let scenario = try ScenarioReader.read(text, file: "scenario")
            var inputs = ScenarioInputs()
            inputs.recordings[self.recordingName] = self.conversation
            return ScenarioRun.run(scenario, inputs).result
        } catch {
            throw .run("no scenario can be written of it: \(error.description)")
        }
    }

    // MARK: Text

    private func text(allowing rules: [String]) -> String {
        var parts = [
            """
            # From \(Self.comment(self.source)), recorded on \(self.conversation.begin), by waymark replay --to-scenario.
            # To test a program in place of what it said then, give its peer a command or a route instead of the replay.
            about: What was recorded happens again.

            """
        ]
        parts.append(self.gateway)
        parts.append(self.vehicles + self.clients)
        if !rules.isEmpty {
            let lines = rules.map { "  - { lint: \($0), reason: It found this in the recording. }\n" }
            parts.append("allow:\n" + lines.joined())
        }
        let outcomes = self.outcomes
        if !outcomes.isEmpty { parts.append("expect:\n" + outcomes.joined()) }
        parts.append(self.end)
        let limit = self.conversation.end - Instant(nanoseconds: 0) + .seconds(15)
        parts.append("at-most: \(Self.time(limit))\n")
        return parts.joined()
    }

    /// What is known of the gateway's settings, and not usual.
    private var gateway: String {
        let (own, usual) = (self.conversation.settings, VirtualRun.Settings())
        var parts: [String] = []
        if own.policy.arbitration != usual.policy.arbitration {
            parts.append("arbitration: \(own.policy.arbitration)")
        }
        func add(_ key: String, _ time: (VirtualRun.Settings) -> Duration) {
            if time(own) != time(usual) { parts.append("\(key): \(Self.time(time(own)))") }
        }
        add("grace") { $0.policy.limits.grace }
        add("request") { $0.policy.limits.requestTimeout }
        add("prompt") { $0.policy.limits.promptTimeout }
        add("share") { $0.policy.limits.shareTimeout }
        add("slow-consumer") { $0.outbox.slowConsumerTimeout }
        add("keepalive") { $0.limits.keepalive }
        return parts.isEmpty ? "" : "gateway: { \(parts.joined(separator: ", ")) }\n"
    }

    private var replay: String { "{ recording: \(Self.quoted(self.recordingName)), compare: true }" }

    private var vehicles: String {
        let peers = self.conversation.peers
        let ids = peers.compactMap(\.vehicle).reduce(into: [VehicleID]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        guard !ids.isEmpty else { return "" }
        let lines = ids.map { id in
            let endpoints = peers.compactMap { peer -> String? in
                guard case .endpoint(id, let name) = peer else { return nil }
                return "\(Self.quoted(name.rawValue)): {}"
            }
            return "  \(Self.quoted(id.rawValue)):\n"
                + "    endpoints: { \(endpoints.joined(separator: ", ")) }\n    replay: \(self.replay)\n"
        }
        return "vehicles:\n" + lines.joined()
    }

    private var clients: String {
        let ids = self.clientIDs
        guard !ids.isEmpty else { return "client: { connects: false, drives: when-told }\n" }
        return "clients:\n"
            + ids.map {
                "  \(Self.quoted($0.rawValue)):\n"
                    + "    replay: { recording: \(Self.quoted(self.recordingName)), peer: \(Self.quoted($0.rawValue)), compare: true }\n"
            }.joined()
    }

    /// The client with the last session is the first one: `ended` is about it.
    private var clientIDs: [ClientID] {
        let ids = self.conversation.peers.compactMap { if case .client(let id) = $0 { id } else { nil } }
        guard let last = self.lastClient else { return ids }
        return [last] + ids.filter { $0 != last }
    }

    private var lastClient: ClientID? {
        for entry in self.result.history.entries.reversed() {
            guard case .frame(let crossed) = entry.kind, case .client(let id) = crossed.peer,
                case .sessionOpened? = crossed.message
            else { continue }
            return id
        }
        return nil
    }

    // MARK: Expectations

    /// The outcome of each request, where it was recorded.
    private var outcomes: [String] {
        self.conversation.connections.flatMap { connection -> [String] in
            connection.lines.compactMap { line in
                guard connection.peer.vehicle != nil, case .received(let crossed) = line.kind,
                    case .requestOutcome(let outcome)? = crossed.message,
                    self.hasAsked(connection.peer, outcome.requestID)
                else { return nil }
                let within = line.instant - Instant(nanoseconds: 0) + .seconds(5)
                let id = outcome.requestID.rawValue
                let name = Self.isPlain(id) ? "requestID: \(Self.quoted(id)), " : ""
                return "  - { message: requestOutcome, of: \(Self.quoted("\(connection.peer)")),\n"
                    + "      where: { \(name)outcome: \(outcome.outcome) }, within: \(Self.time(within)) }\n"
            }
        }
    }

    private func hasAsked(_ peer: PeerID, _ id: Identifier) -> Bool {
        self.conversation.connections.contains { connection in
            connection.peer == peer
                && connection.lines.contains { line in
                    guard case .sent(let frame) = line.kind else { return false }
                    let crossed = CrossedFrame(frame, of: peer, .toGateway, sent: line.instant)
                    return switch crossed.message {
                    case .waypointRequest(let request): request.requestID == id
                    case .destinationRequest(let request): request.requestID == id
                    case .startTripRequest(let request): request.requestID == id
                    default: false
                    }
                }
        }
    }

    /// How guidance ended; if it did not, what each vehicle showed at the end. Before it, what happened to the gateway.
    private var end: String {
        var steps: [String] = []
        var last = Instant(nanoseconds: 0)
        for fault in self.conversation.gatewayLines {
            // Not before what happened at the same instant, and back before its peers are.
            let begin = Self.milliseconds(fault.instant - Instant(nanoseconds: 0))
            let time =
                fault.until.map {
                    ", for: \(max(1, ($0 - Instant(nanoseconds: 0)).milliseconds - begin))ms"
                } ?? ""
            let kind = "{ gateway: \(fault.fault.rawValue)\(fault.fault == .restart ? "" : time) }"
            steps.append("  - { after: \(Self.time(fault.instant - last)), fault: \(kind) }\n")
            last = Instant(nanoseconds: 0) + .milliseconds(begin)
        }
        if let client = self.lastClient, let end = self.ending(of: client) {
            return (steps.isEmpty ? "" : "steps:\n" + steps.joined()) + "ended: \(end)\n"
        }
        let states = self.result.history.endpoints.compactMap(self.lastState)
        // Timers of the gateway may come a little later than they did.
        let rest = self.conversation.end - last + .milliseconds(200)
        steps.append("  - after: \(Self.time(rest))\n")
        if !states.isEmpty { steps.append("    expect:\n" + states.joined()) }
        return "steps:\n" + steps.joined()
    }

    private func ending(of client: ClientID) -> SessionEndReason? {
        var trail = EndingTrail(.client(client))
        for entry in self.result.history.entries { _ = trail.see(entry) }
        return trail.end?.reason
    }

    private func lastState(_ record: EndpointHistory) -> String? {
        guard let moment = record.moments.last(where: { $0.isComplete || !$0.isConnected }) else {
            return nil
        }
        var fields = ["connected: \(moment.isConnected)"]
        if moment.isConnected, let next = moment.state.nextManeuver {
            fields.append("next.id: \(next.id.rawValue)")
        }
        return
            "      - { eventually: { \(fields.joined(separator: ", ")) }, of: \(Self.quoted("\(record.id)")), within: 1s }\n"
    }

    // MARK: YAML

    private static func time(_ duration: Duration) -> String { "\(max(1, Self.milliseconds(duration)))ms" }

    /// Rounded up.
    private static func milliseconds(_ duration: Duration) -> Int64 {
        duration.nanoseconds.addingSaturating(999_999) / 1_000_000
    }

    /// No condition of another kind than a text.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && !text.contains("..")
            && text.utf8.allSatisfy { VehicleID.isAllowed($0) }
    }

    /// A text that YAML reads as this text.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            text.first.map { $0.isASCII && $0.isLetter } ?? false
            && text.utf8.allSatisfy {
                VehicleID.isAllowed($0) && $0 != UInt8(ascii: ":") || $0 == UInt8(ascii: "/")
            }
            && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(text.lowercased())
        guard !isPlain else { return text }
        return "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
    }

    /// Text of others in a comment: on one line.
    private static func comment(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

extension RecordedConversation {
    /// The recording without what does not concern these connections.
    package func cut(_ recording: Recording) -> RecordingCut {
        let peers = Set(self.peers.map { "\($0)" })
        let vehicles = Set(self.connections.flatMap(\.vehicles).map(\.rawValue))
        return RecordingCut(recording, keeping: Set(self.connections.map(\.number))) { text in
            struct Event: Decodable {
                var peer: String?
                var client: String?
                var vehicles: [String]?
            }
            do {
                let event = try JSONDecoder().decode(Event.self, from: Data(text.utf8))
                if let peer = event.peer, !peer.isEmpty { return peers.contains(peer) }
                if let named = event.vehicles, !named.isEmpty { return !vehicles.isDisjoint(with: named) }
                return event.client.map(peers.contains) ?? true
            } catch { return false }
        }
    }
}
