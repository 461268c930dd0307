internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Requests of a vehicle as time lines, from the frames and events that are about them. A value without I/O.
struct RequestStories {
    private struct Tale {
        let id: String
        var object: [String: Any]
        var steps: [[String: Any]] = []
        var outcome: Outcome?
        /// The client that the outcome names.
        var client = ""
        var isOver = false
        /// What happened since a client was asked last.
        var course = RequestCause.Course()
        /// Of those that were not forwarded: why the gateway did not accept the request.
        var rejection: String?
        var isAskedAgain = false
        /// The step that decided.
        var decisive = 0
        var withdrawnBy = ""
        /// Whether an endpoint of the vehicle was told the outcome.
        var isVehicleTold = false

        /// Notes what a client says, unless another one was asked since.
        mutating func change(by client: String, _ change: (inout RequestCause.Course) -> Void) {
            if self.course.asked.isEmpty { self.course.asked = client }
            if self.course.asked == client { change(&self.course) }
        }
    }

    static let countMax = 50

    private let vehicle: String
    private let source: InspectedSource
    private var stories: [Tale] = []

    init(_ vehicle: String, _ source: InspectedSource) { (self.vehicle, self.source) = (vehicle, source) }

    // MARK: What happened

    mutating func see(_ placed: PlacedEntry) {
        if let event = placed.event {
            if placed.vehicles.contains(self.vehicle) { self.see(event, placed) }
            return
        }
        guard let frame = placed.frame, frame.delivery == .whole,
            Self.isOfRequest(frame.frame.header),
            let message = HistoryAnswers.message(self.source.shown(frame.frame)),
            Self.vehicle(of: message).map({ $0.rawValue == self.vehicle })
                ?? (placed.vehicles.contains(self.vehicle) && !placed.isOfOthers(self.vehicle))
        else { return }
        let peer = frame.peers.first ?? ""
        if frame.direction == .in {
            self.sent(message, peer, placed)
        } else {
            self.told(message, frame.peers, placed)
        }
    }

    /// The vehicle that a message between gateway and client names; nil for others, which concern the vehicle of their peer.
    private static func vehicle(of message: Message) -> VehicleID? {
        switch message {
        case .waypointRequest(let request): request.vehicle
        case .destinationRequest(let request): request.vehicle
        case .requestAnswer(let answer): answer.vehicle
        case .requestOutcome(let outcome): outcome.vehicle
        default: nil
        }
    }

    /// Whether a frame may be about a request. Most are not, and decoding takes time.
    static func isOfRequest(_ header: FrameHeader) -> Bool {
        switch header.type {
        case .waypointRequest, .destinationRequest, .withdrawRequest, .requestAnswer, .prompt, .promptAnswer,
            .promptOver, .requestOutcome, .error:
            true
        default: false
        }
    }

    private mutating func sent(_ message: Message, _ peer: String, _ placed: PlacedEntry) {
        switch message {
        case .waypointRequest(let request):
            self.begin(
                request.requestID, "stop", peer, placed,
                ["waypoint": ModelJSON.waypoint(request.waypoint), "segment": request.segment.rawValue],
                "\(peer) asks for a stop at \(self.name(request.waypoint))")
        case .destinationRequest(let request):
            self.begin(
                request.requestID, "drive", peer, placed,
                ["destination": ModelJSON.waypoint(request.destination)],
                "\(peer) asks for a drive to \(self.name(request.destination))")
        case .withdrawRequest(let request):
            self.add(request.requestID, "withdrawn", peer, placed, "\(peer) withdraws the request") {
                $0.withdrawnBy = peer
            }
        case .requestAnswer(let answer):
            self.answered(answer, peer, placed)
        case .promptAnswer(let answer):
            let at = self.source.seconds(placed.place.time)
            self.add(
                answer.requestID, "answered", peer, placed, "\(peer): \(answer.isAccepted ? "yes" : "no")",
                ["accepted": answer.isAccepted]
            ) {
                // The first answer counts, the others are ignored (REQ-ASK-10).
                guard $0.course.answeredAt == nil else { return }
                $0.course.answeredAt = at
                if !answer.isAccepted { $0.course.declinedBy = peer }
            }
        default: break  // Not about a request.
        }
    }

    private func name(_ place: Waypoint) -> String {
        self.source.showsContent ? Story.name(place) : "a place that is not shown"
    }

    private mutating func answered(_ answer: RequestAnswer, _ peer: String, _ placed: PlacedEntry) {
        switch answer.answer {
        case .estimates(let estimates):
            self.add(
                answer.requestID, "estimates", peer, placed,
                "\(peer) offers \(Story.estimates(estimates)) with the stop",
                ["travelEstimates": ModelJSON.estimates(estimates)]
            ) { $0.change(by: peer) { $0.hasEstimates = true } }
        case .ownPrompt:
            self.add(answer.requestID, "ownPrompt", peer, placed, "\(peer) asks its own user") {
                $0.object["stage"] = "ownPrompt"
                $0.change(by: peer) { $0.asksOwnUser = true }
            }
        case .accept:
            self.add(answer.requestID, "accept", peer, placed, "\(peer) accepts") {
                $0.change(by: peer) { $0.isAccepted = true }
            }
        case .decline(let outcome):
            self.add(
                answer.requestID, "decline", peer, placed, "\(peer) declines: \(Self.words(outcome))",
                ["outcome": "\(outcome)"]
            ) { $0.change(by: peer) { $0.declinedBy = peer } }
        }
    }

    private mutating func told(_ message: Message, _ peers: [String], _ placed: PlacedEntry) {
        let names = peers.joined(separator: ", ")
        let at = self.source.seconds(placed.place.time)
        switch message {
        case .waypointRequest(let request): self.forwarded(request.requestID, names, placed)
        case .destinationRequest(let request): self.forwarded(request.requestID, names, placed)
        case .prompt(let prompt):
            let deadline = at + Double(prompt.deadlineMilliseconds) / 1_000
            self.add(
                prompt.requestID, "prompted", names, placed,
                "the gateway asks the vehicle's user at \(names)",
                ["deadline": deadline]
            ) {
                $0.object["stage"] = "prompting"
                $0.course.promptDeadline = deadline
            }
        case .requestOutcome(let outcome):
            // That to a client is its part only: the next one is asked (REQ-ASK-15).
            guard peers.contains(where: { PlacedEntry.vehicle(of: $0) == self.vehicle }) else { break }
            self.end(outcome.requestID, outcome.outcome, outcome.client?.rawValue ?? "", placed)
            self.change(outcome.requestID) { story in
                // An event of a recorded run names the session's client, which need not be the outcome's.
                guard story.isOver, !story.isVehicleTold else { return }
                (story.client, story.isVehicleTold) = (outcome.client?.rawValue ?? "", true)
            }
        case .error(let rejection) where !rejection.requestID.isEmpty:
            let text = "\(rejection.field.isEmpty ? "" : "\(rejection.field) ")\(rejection.reason)"
            self.add(
                rejection.requestID, "rejected", names, placed, "the gateway rejects the request: \(text)",
                ["field": rejection.field, "reason": rejection.reason]
            ) { story in
                // Of what was forwarded, something else is rejected: an answer, or a second request of this id.
                guard story.course.asked.isEmpty, !story.isAskedAgain,
                    peers.contains(story.object["by"] as? String ?? "")
                else { return }
                (story.isOver, story.rejection) = (true, text)
                story.decisive = story.steps.count - 1
                story.object.merge(["end": at, "stage": "ended", "outcome": "rejected"]) { $1 }
            }
        default: break  // Not about a request.
        }
    }

    private mutating func forwarded(_ id: Identifier, _ names: String, _ placed: PlacedEntry) {
        self.restart(id)
        self.add(id, "forwarded", names, placed, "the gateway asks \(names)") {
            // What one before said counts no more.
            $0.course = RequestCause.Course()
            $0.course.asked = names
        }
    }

    private mutating func see(_ event: GatewayEvent, _ placed: PlacedEntry) {
        guard !event.requestID.isEmpty else { return }
        let id = Identifier(event.requestID)
        switch event.kind {
        case .stopRequested, .driveRequested:
            self.change(id) { story in
                if !event.client.isEmpty { story.object["client"] = event.client }
                if event.session != 0 { story.object["session"] = Int(event.session) }
            }
        case .requestEnded:
            if let outcome = Outcome(rawValue: event.code) { self.end(id, outcome, event.client, placed) }
        default: break  // Has no id of a request.
        }
    }

    // MARK: Stories

    private mutating func begin(
        _ id: Identifier, _ kind: String, _ peer: String, _ placed: PlacedEntry, _ content: [String: Any],
        _ text: String
    ) {
        // An endpoint asks until it is told the outcome. The gateway tells it that again if the request is over.
        if self.stories.contains(where: { $0.id == id.rawValue }) {
            return self.add(id, "asked", peer, placed, "\(peer) asks again") { $0.isAskedAgain = true }
        }
        var object: [String: Any] = [
            "requestID": id.rawValue, "vehicle": self.vehicle, "request": kind, "by": peer,
            "begin": self.source.seconds(placed.place.time), "stage": "asked",
        ]
        object.merge(content.filter { ($0.value as? String)?.isEmpty != true }) { $1 }
        self.append(Tale(id: id.rawValue, object: object))
        self.add(id, "asked", peer, placed, text)
    }

    /// A request that is forwarded after its end is a new one with an old id: it began when it was asked again.
    private mutating func restart(_ id: Identifier) {
        guard let index = self.stories.lastIndex(where: { $0.id == id.rawValue }),
            self.stories[index].isOver, self.stories[index].steps.last?["what"] as? String == "asked",
            let asked = self.stories[index].steps.popLast()
        else { return }
        let old = self.stories[index].object
        var object = old.filter {
            ["requestID", "vehicle", "request", "by", "waypoint", "segment", "destination"].contains($0.key)
        }
        (object["begin"], object["stage"]) = (asked["at"], "asked")
        self.append(Tale(id: id.rawValue, object: object, steps: [asked]))
    }

    private mutating func append(_ story: Tale) {
        self.stories.append(story)
        if self.stories.count > Self.countMax { self.stories.removeFirst() }
    }

    private mutating func change(_ id: Identifier, _ change: (inout Tale) -> Void) {
        guard let index = self.stories.lastIndex(where: { $0.id == id.rawValue }) else { return }
        change(&self.stories[index])
    }

    private static let stepsMax = 64

    private mutating func add(
        _ id: Identifier, _ what: String, _ peer: String, _ placed: PlacedEntry, _ text: String,
        _ more: [String: Any] = [:], _ change: (inout Tale) -> Void = { _ in }
    ) {
        var step: [String: Any] = [
            "at": self.source.seconds(placed.place.time), "what": what, "text": text,
            "entry": "\(placed.place)",
        ]
        step.set(nonEmpty: "peer", peer)
        step.merge(more) { $1 }
        self.change(id) { story in
            if story.steps.count < Self.stepsMax || what == "ended" { story.steps.append(step) }
            // What comes too late changes nothing.
            if !story.isOver { change(&story) }
        }
    }

    private mutating func end(
        _ id: Identifier, _ outcome: Outcome, _ client: String, _ placed: PlacedEntry
    ) {
        let at = self.source.seconds(placed.place.time)
        var isNew = false
        self.change(id) { story in
            guard !story.isOver else { return }
            isNew = true
            (story.isOver, story.outcome, story.client) = (true, outcome, client)
            story.decisive = max(0, story.steps.count - 1)
            story.object["end"] = at
            story.object["stage"] = "ended"
            story.object["outcome"] = "\(outcome)"
        }
        guard isNew else { return }
        self.add(
            id, "ended", "", placed, "the request has ended: \(Self.words(outcome))",
            ["outcome": "\(outcome)"])
    }

    /// What an outcome means, and its name.
    private static func words(_ outcome: Outcome) -> String {
        let meaning = RequestResult(rawValue: outcome.rawValue)?.explanation ?? ""
        return meaning.isEmpty || meaning == "\(outcome)" ? "\(outcome)" : "\(meaning) (\(outcome))"
    }

    // MARK: Answers

    /// Newest first. `state`: what the gateway says of open requests.
    func objects(_ state: RecordedState) -> [[String: Any]] {
        var objects = self.stories.reversed().map { story -> [String: Any] in
            var object = story.object
            object["steps"] = story.steps
            object.set("why", self.why(story))
            return object
        }
        let open = state.gateway.requests.values.filter { $0.key.vehicle.rawValue == self.vehicle }
        for record in open.sorted(by: { $0.key < $1.key }) {
            let deadline = state.time(of: record.deadline).map(self.source.seconds)
            let stage = "\(record.stage)"
            if let index = objects.firstIndex(where: {
                $0["requestID"] as? String == record.key.requestID.rawValue
            }) {
                guard objects[index]["end"] == nil else { continue }
                objects[index].set("deadline", deadline)
                objects[index]["stage"] = stage
                objects[index]["client"] = record.client.rawValue
            } else {
                var object: [String: Any] = [
                    "requestID": record.key.requestID.rawValue, "vehicle": self.vehicle, "stage": stage,
                    "request": record.messageType == MessageType.destinationRequest.rawValue
                        ? "drive" : "stop",
                    "client": record.client.rawValue, "session": Int(record.session.rawValue),
                    "steps": [Any](),
                ]
                object.set("deadline", deadline)
                objects.insert(object, at: 0)
            }
        }
        return objects
    }

    /// Why a request ended as it did.
    private func why(_ story: Tale) -> [String: Any]? {
        if let rejection = story.rejection {
            return ["text": "The gateway rejected it: \(rejection).", "step": story.decisive]
        }
        guard let outcome = story.outcome, outcome != .accepted,
            let kind = RequestCause.Kind(rawValue: story.object["request"] as? String ?? "")
        else { return nil }
        let cause = RequestCause(
            kind, outcome, client: story.client, story.course, withdrawnBy: story.withdrawnBy,
            isVehicleTold: story.isVehicleTold)
        var object: [String: Any] = ["text": cause.text + "."]
        object.set(nonEmpty: "by", cause.by)
        object["step"] = story.decisive
        return object
    }
}
