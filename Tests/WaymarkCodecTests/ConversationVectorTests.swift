import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient
@testable import WaymarkCodec

/// Protos/vectors/conversations.jsonl: what an endpoint holds after the frames that it has received.
@Suite struct ConversationVectorTests {
    struct Conversation: Decodable {
        let name: String
        let steps: [Step]
    }

    struct Step: Decodable {
        let from: String?
        let hex: String?
        let cut: Bool?
        let state: JSON?
    }

    private static func frame(_ hex: String) throws -> Frame {
        var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
        splitter.append(try Vector.bytes(hex))
        let frame = try #require(try splitter.next())
        try #require(splitter.isEmpty)
        return frame
    }

    /// What is wrong with a conversation.
    private static func disagreements(_ conversation: Conversation) throws -> [String] {
        var held = HeldState()
        var hasStarted = false
        var wrong: [String] = []
        for (index, step) in conversation.steps.enumerated() {
            guard let hex = step.hex else { continue }
            let frame = try Self.frame(hex)
            if step.from == "endpoint" {
                guard case .hello(let hello) = try Codec.decode(frame).message,
                    case .vehicle(let vehicle) = hello.role
                else { throw Self.Unexpected.message }
                if !hasStarted { held = HeldState(storage: vehicle.limits) }
                hasStarted = true
                let expected = (hello.resumeSession, hello.resumeSequence)
                if held.resumption != expected {
                    wrong.append("step \(index): resumes \(held.resumption), not \(expected)")
                }
                continue
            }
            try Self.receive(frame, &held)
            guard let expected = step.state else { continue }
            let found = try StateJSON.of(held.state)
            if found != expected { wrong.append("step \(index): \(found), not \(expected)") }
        }
        return wrong
    }

    private enum Unexpected: Error { case message }

    private static func receive(_ frame: Frame, _ held: inout HeldState) throws {
        guard frame.header.type != nil else { return held.skip(frame.header) }
        let envelope = try Codec.decode(frame)
        if case .welcome(let welcome) = envelope.message {
            _ = held.welcome(isResumed: welcome.isResumed)
        } else {
            held.apply(envelope)
        }
    }

    @Test func `an endpoint holds what the vectors say after each frame`() throws {
        let conversations = try Vector.read("conversations.jsonl", as: Conversation.self)
        #expect(conversations.count > 150)
        var states = 0
        let wrong = try conversations.flatMap { conversation in
            states += conversation.steps.count { $0.state != nil }
            return try Self.disagreements(conversation).map { "\(conversation.name), \($0)" }
        }
        #expect(states > 800)
        for line in wrong.prefix(12) { Issue.record("\(line)") }
        #expect(wrong.isEmpty)
    }
}

/// The state of an endpoint in the form that Protos/vectors/README.md defines.
private enum StateJSON {
    static func of(_ state: VehicleState) throws -> JSON {
        guard state.session != 0 else { return .object(["phase": .text("none")]) }
        var json: [String: JSON] = [
            "session_id": .number(Double(state.session)), "cursor": .text("\(state.sequence)"),
            "complete": .flag(state.isComplete), "client_id": .text(state.client),
        ]
        try self.addPhase(state.phase, &json)
        try self.addRoute(state, &json)
        if state.isSuspended { json["suspended"] = .flag(true) }
        if !state.withheld.isEmpty { json["withheld"] = self.withheld(state.withheld) }
        let previews = Publication.tripPreviews(state.previews, selected: state.selectedPreview)
        json["trips"] = try self.field("trips", previews)
        json["selected_trip_id"] = try self.field("selected_trip_id", previews)
        if let trip = state.trip { json["trip"] = try self.field("trip", .updateTrip(trip)) }
        json["name_variants"] = try self.field("name_variants", .currentRoadName(state.currentRoadName))
        if let alert = state.alert { json["alert"] = try self.field("alert", .showAlert(alert)) }
        if !state.extensions.isEmpty { json["extensions"] = .list(state.extensions.map { self.json($0) }) }
        return .object(json)
    }

    private static func json(_ held: VehicleState.ExtensionState) -> JSON {
        let digits = held.content.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return .object([
            "name": .text(held.name), "key": .number(Double(held.key)),
            "content": .text(digits.joined()),
        ])
    }

    private static func addPhase(_ phase: VehicleState.Phase, _ json: inout [String: JSON]) throws {
        switch phase {
        case .preview: json["phase"] = .text("preview")
        case .active: json["phase"] = .text("active")
        case .paused(let reason, let description):
            json["phase"] = .text("paused")
            json["pause"] = try self.json(.pauseGuidance(reason, description: description))
        case .idle, .ended: json["phase"] = .text("none")
        }
    }

    private static func addRoute(_ state: VehicleState, _ json: inout [String: JSON]) throws {
        func number(_ key: String, _ value: UInt32) { if value != 0 { json[key] = .number(Double(value)) } }
        number("generation", state.generation)
        number("current_lane_guidance_id", state.currentLaneGuidance?.rawValue ?? 0)
        number("maneuver_state", state.maneuverState.rawValue)
        number("time_remaining_color", state.timeRemainingColor.rawValue)
        json["maneuvers"] = try self.field("maneuvers", .addManeuvers(state.maneuvers, generation: 1))
        json["lane_guidances"] = try self.field(
            "lane_guidances", .addLaneGuidances(state.laneGuidances, generation: 1))
        json["segments"] = try self.field("segments", .addRouteSegments(state.segments, generation: 1))
        json["upcoming_maneuver_ids"] = try self.field(
            "maneuver_ids", .upcomingManeuvers(state.upcomingManeuvers, generation: 1))
        if let segment = state.currentSegment { json["current_segment_id"] = .text(segment) }
        if let estimates = state.tripEstimates {
            json["trip_travel_estimates"] = try self.estimates(estimates)
        }
        if let limit = state.speedLimit {
            let update = Publication.speedLimit(limit, next: state.nextSpeedLimit)
            json["speed_limit"] = try self.field("limit", update)
            json["next_speed_limit"] = try self.field("next", update)
        }
        if !state.maneuverEstimates.isEmpty {
            json["maneuver_travel_estimates"] = .object(
                Dictionary(
                    uniqueKeysWithValues: try state.maneuverEstimates.map {
                        ("\($0.key.rawValue)", try self.estimates($0.value))
                    }))
        }
    }

    private static func estimates(_ estimates: TravelEstimates) throws -> JSON {
        try #require(try self.field("travel_estimates", .tripEstimates(estimates, .default)))
    }

    private static func withheld(_ withheld: [GuidanceFeature: WithholdingReason]) -> JSON {
        let grants = Feature.allCases.compactMap { feature -> JSON? in
            guard let found = withheld[GuidanceFeature(feature)],
                let reason = WithheldReason.allCases.first(where: { WithholdingReason($0) == found })
            else { return nil }
            return .object([
                "feature": .number(Double(feature.rawValue)), "reason": .number(Double(reason.rawValue)),
            ])
        }
        return .list(grants)
    }

    /// A field of a publication in the JSON form; nil if it is absent.
    private static func field(_ name: String, _ publication: Publication) throws -> JSON? {
        try self.json(publication)[name]
    }

    private static func json(_ publication: Publication) throws -> JSON {
        let frame = Codec.encode(Envelope(.publication(publication)))
        return try WireJSON.read(Array(frame.body), publication.type.descriptor).json
    }
}
