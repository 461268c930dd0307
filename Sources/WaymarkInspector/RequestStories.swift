internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Requests of a vehicle as time lines, from the frames and events that are about them. A value without I/O.
struct RequestStories {
    private struct Tale {
        /// The request, without what the gateway's state says.
        var request: Answer.Request
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
        /// The cause that the gateway has said.
        var said: RequestCause.Said?

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
        case .startTripRequest(let request): request.vehicle
        case .requestAnswer(let answer): answer.vehicle
        case .requestOutcome(let outcome): outcome.vehicle
        default: nil
        }
    }

    /// Whether a frame may be about a request. Most are not, and decoding takes time.
    static func isOfRequest(_ header: FrameHeader) -> Bool {
        switch header.type {
        case .waypointRequest, .destinationRequest, .startTripRequest, .withdrawRequest, .requestAnswer,
            .prompt,
            .promptAnswer, .promptOver, .requestOutcome, .error:
            true
        default: false
        }
    }

    private mutating func sent(_ message: Message, _ peer: String, _ placed: PlacedEntry) {
        switch message {
        case .waypointRequest(let request):
            self.begin(
                request.requestID, "stop", peer, placed,
                "\(peer) asks for a stop at \(self.name(request.waypoint))"
            ) {
                $0.waypoint = JSONPart(ModelJSON.waypoint(request.waypoint))
                $0.segment = request.segment.rawValue.isEmpty ? nil : request.segment.rawValue
            }
        case .destinationRequest(let request):
            self.begin(
                request.requestID, "drive", peer, placed,
                "\(peer) asks for a drive to \(self.name(request.destination))"
            ) { $0.destination = JSONPart(ModelJSON.waypoint(request.destination)) }
        case .startTripRequest(let request):
            self.begin(
                request.requestID, "start", peer, placed, "\(peer) asks to start the trip \(request.trip)"
            ) { _ in /* It has no place. */ }
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
                with: { $0.accepted = answer.isAccepted }
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
                with: { $0.travelEstimates = JSONPart(ModelJSON.estimates(estimates)) }
            ) { $0.change(by: peer) { $0.hasEstimates = true } }
        case .ownPrompt:
            self.add(answer.requestID, "ownPrompt", peer, placed, "\(peer) asks its own user") {
                $0.request.stage = "ownPrompt"
                $0.change(by: peer) { $0.asksOwnUser = true }
            }
        case .accept:
            self.add(answer.requestID, "accept", peer, placed, "\(peer) accepts") {
                $0.change(by: peer) { $0.isAccepted = true }
            }
        case .acceptWithPreview:
            self.add(answer.requestID, "accept", peer, placed, "\(peer) accepts, and shows previews first") {
                $0.change(by: peer) { $0.isAccepted = true }
            }
        case .decline(let outcome):
            self.add(
                answer.requestID, "decline", peer, placed, "\(peer) declines: \(Self.words(outcome))",
                with: { $0.outcome = "\(outcome)" }
            ) { $0.change(by: peer) { $0.declinedBy = peer } }
        }
    }

    private mutating func told(_ message: Message, _ peers: [String], _ placed: PlacedEntry) {
        let names = peers.joined(separator: ", ")
        let at = self.source.seconds(placed.place.time)
        switch message {
        case .waypointRequest(let request): self.forwarded(request.requestID, names, placed)
        case .destinationRequest(let request): self.forwarded(request.requestID, names, placed)
        case .startTripRequest(let request): self.forwarded(request.requestID, names, placed)
        case .prompt(let prompt):
            let deadline = at + Double(prompt.deadlineMilliseconds) / 1_000
            self.add(
                prompt.requestID, "prompted", names, placed,
                "the gateway asks the vehicle's user at \(names)",
                with: { $0.deadline = deadline }
            ) {
                $0.request.stage = "prompting"
                $0.course.promptDeadline = deadline
            }
        case .requestOutcome(let outcome):
            let said = outcome.cause.map { cause in
                RequestCause.Said(
                    cause: cause, endpoint: outcome.endpoint.map { "\(self.vehicle)/\($0.rawValue)" } ?? "")
            }
            // That to a client is its part only: the next one is asked (REQ-ASK-15). After the end it is that of a vehicle without endpoints.
            guard peers.contains(where: { PlacedEntry.vehicle(of: $0) == self.vehicle }) else {
                self.change(outcome.requestID) { story in
                    guard story.isOver, !story.isVehicleTold else { return }
                    story.said = said ?? story.said
                }
                break
            }
            self.end(outcome.requestID, outcome.outcome, outcome.client?.rawValue ?? "", placed)
            self.change(outcome.requestID) { story in
                // An event of a recorded run names the session's client, which need not be the outcome's.
                guard story.isOver, !story.isVehicleTold else { return }
                (story.client, story.isVehicleTold) = (outcome.client?.rawValue ?? "", true)
                story.said = said ?? story.said
            }
        case .error(let rejection) where !rejection.requestID.isEmpty:
            let text = "\(rejection.field.isEmpty ? "" : "\(rejection.field) ")\(rejection.reason)"
            self.add(
                rejection.requestID, "rejected", names, placed, "the gateway rejects the request: \(text)",
                with: { ($0.field, $0.reason) = (rejection.field, rejection.reason) }
            ) { story in
                // Of what was forwarded, something else is rejected: an answer, or a second request of this id.
                guard story.course.asked.isEmpty, !story.isAskedAgain,
                    peers.contains(story.request.by ?? "")
                else { return }
                (story.isOver, story.rejection) = (true, text)
                story.decisive = story.request.steps.count - 1
                (story.request.end, story.request.stage) = (at, "ended")
                story.request.outcome = "rejected"
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
        case .stopRequested, .driveRequested, .startRequested:
            self.change(id) { story in
                if !event.client.isEmpty { story.request.client = event.client }
                if event.session != 0 { story.request.session = Int(event.session) }
            }
        case .requestEnded:
            guard let outcome = Outcome(rawValue: event.code) else { break }
            self.end(id, outcome, event.client, placed)
            // The event says it also to an observer that sees no frames.
            let cause = OutcomeCause.allCases.first { "\($0)" == event.reason }
            self.change(id) { story in
                guard story.isOver, story.outcome == outcome, story.said == nil else { return }
                story.said = cause.map { RequestCause.Said(cause: $0, endpoint: "") }
            }
        default: break  // Has no id of a request.
        }
    }

    // MARK: Stories

    private mutating func begin(
        _ id: Identifier, _ kind: String, _ peer: String, _ placed: PlacedEntry, _ text: String,
        with place: (inout Answer.Request) -> Void
    ) {
        // An endpoint asks until it is told the outcome. The gateway tells it that again if the request is over.
        if self.stories.contains(where: { $0.request.requestID == id.rawValue }) {
            return self.add(id, "asked", peer, placed, "\(peer) asks again") { $0.isAskedAgain = true }
        }
        var request = Answer.Request(
            requestID: id.rawValue, vehicle: self.vehicle, request: kind, stage: "asked", by: peer,
            begin: self.source.seconds(placed.place.time), steps: [])
        place(&request)
        self.append(Tale(request: request))
        self.add(id, "asked", peer, placed, text) { _ in }
    }

    /// A request that is forwarded after its end is a new one with an old id: it began when it was asked again.
    private mutating func restart(_ id: Identifier) {
        guard let index = self.index(of: id), self.stories[index].isOver,
            self.stories[index].request.steps.last?.what == "asked",
            let asked = self.stories[index].request.steps.popLast()
        else { return }
        let old = self.stories[index].request
        let request = Answer.Request(
            requestID: old.requestID, vehicle: old.vehicle, request: old.request, stage: "asked", by: old.by,
            begin: asked.at, waypoint: old.waypoint, segment: old.segment, destination: old.destination,
            steps: [asked])
        self.append(Tale(request: request))
    }

    private mutating func append(_ story: Tale) {
        self.stories.append(story)
        if self.stories.count > Self.countMax { self.stories.removeFirst() }
    }

    private func index(of id: Identifier) -> Int? {
        self.stories.lastIndex { $0.request.requestID == id.rawValue }
    }

    private mutating func change(_ id: Identifier, _ change: (inout Tale) -> Void) {
        guard let index = self.index(of: id) else { return }
        change(&self.stories[index])
    }

    private static let stepsMax = 64

    private mutating func add(
        _ id: Identifier, _ what: String, _ peer: String, _ placed: PlacedEntry, _ text: String,
        with more: (inout Answer.RequestStep) -> Void = { _ in }, _ change: (inout Tale) -> Void
    ) {
        var step = Answer.RequestStep(
            at: self.source.seconds(placed.place.time), what: what, text: text, entry: "\(placed.place)",
            peer: peer.isEmpty ? nil : peer)
        more(&step)
        self.change(id) { story in
            if story.request.steps.count < Self.stepsMax || what == "ended" {
                story.request.steps.append(step)
            }
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
            story.decisive = max(0, story.request.steps.count - 1)
            (story.request.end, story.request.stage) = (at, "ended")
            story.request.outcome = "\(outcome)"
        }
        guard isNew else { return }
        self.add(
            id, "ended", "", placed, "the request has ended: \(Self.words(outcome))",
            with: { $0.outcome = "\(outcome)" }
        ) { _ in }
    }

    /// What an outcome means, and its name.
    private static func words(_ outcome: Outcome) -> String {
        let meaning = RequestResult(rawValue: outcome.rawValue)?.explanation ?? ""
        return meaning.isEmpty || meaning == "\(outcome)" ? "\(outcome)" : "\(meaning) (\(outcome))"
    }

    // MARK: Answers

    /// Newest first. `state`: what the gateway says of open requests.
    func requests(_ state: RecordedState) -> [Answer.Request] {
        var requests = self.stories.reversed().map { story in
            var request = story.request
            request.why = self.why(story)
            return request
        }
        let open = state.gateway.requests.values.filter { $0.key.vehicle.rawValue == self.vehicle }
        for record in open.sorted(by: { $0.key < $1.key }) {
            let deadline = state.time(of: record.deadline).map(self.source.seconds)
            let stage = "\(record.stage)"
            if let index = requests.firstIndex(where: { $0.requestID == record.key.requestID.rawValue }) {
                guard requests[index].end == nil else { continue }
                requests[index].deadline = deadline ?? requests[index].deadline
                requests[index].stage = stage
                requests[index].client = record.client.rawValue
            } else {
                let kind =
                    switch MessageType(rawValue: record.messageType) {
                    case .destinationRequest: "drive"
                    case .startTripRequest: "start"
                    default: "stop"
                    }
                let request = Answer.Request(
                    requestID: record.key.requestID.rawValue, vehicle: self.vehicle, request: kind,
                    stage: stage, client: record.client.rawValue, session: Int(record.session.rawValue),
                    deadline: deadline, steps: [])
                requests.insert(request, at: 0)
            }
        }
        return requests
    }

    /// Why a request ended as it did.
    private func why(_ story: Tale) -> Answer.RequestWhy? {
        if let rejection = story.rejection {
            return .init(text: "The gateway rejected it: \(rejection).", step: story.decisive)
        }
        guard let outcome = story.outcome, outcome != .accepted,
            let kind = RequestCause.Kind(rawValue: story.request.request)
        else { return nil }
        let cause = RequestCause(
            kind, outcome, client: story.client, story.course, withdrawnBy: story.withdrawnBy,
            isVehicleTold: story.isVehicleTold, said: story.said)
        return .init(
            text: cause.text + ".", by: cause.by.isEmpty ? nil : cause.by, step: story.decisive)
    }
}
