import Foundation
import Testing
import WaymarkAccess
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// A request that the gateway ends: what it is, how it ends, and why.
struct Reason: Hashable, CustomStringConvertible {
    enum Kind: String, Hashable, CaseIterable { case stop, drive, start }

    let kind: Kind
    let outcome: Outcome
    let cause: OutcomeCause

    init(_ kind: Kind, _ outcome: Outcome, _ cause: OutcomeCause) {
        (self.kind, self.outcome, self.cause) = (kind, outcome, cause)
    }

    var description: String { "\(self.kind): \(self.outcome), \(self.cause)" }
}

/// The table "Causes" of Docs/protocol.md.
struct CausesPage {
    var reasons: Set<Reason> = []
    /// Causes that come with an endpoint.
    var namingEndpoints: Set<OutcomeCause> = []
    var causes: [OutcomeCause] = []

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/protocol.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n### Causes\n").last)
        let lines = section.components(separatedBy: "\n")
        let head = try #require(lines.firstIndex { $0.hasPrefix("| cause |") })
        for line in lines[(head + 2)...].prefix(while: { $0.hasPrefix("|") }) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let cause = try #require(OutcomeCause.allCases.first { Self.name("\($0)") == cells[1] })
            self.causes.append(cause)
            if !cells[4].isEmpty { self.namingEndpoints.insert(cause) }
            for outcome in cells[2].components(separatedBy: ", ") {
                let outcome = try #require(Outcome.allCases.first { Self.name("\($0)") == outcome })
                for kind in cells[3].components(separatedBy: ", ") {
                    self.reasons.insert(Reason(try #require(Reason.Kind(rawValue: kind)), outcome, cause))
                }
            }
        }
    }

    /// `notSupported` as the protos write it.
    static func name(_ word: String) -> String {
        word.reduce(into: "") { $0 += $1.isUppercase ? "_\($1)" : $1.uppercased() }
    }
}

/// A vehicle with two endpoints, a client, and a request that ends.
private struct Scene {
    static let car = VehicleID(unchecked: "car")

    var world: World
    let cluster: ConnectionID
    let hud: ConnectionID
    var client = ConnectionID(3)
    var session = SessionID.none

    init(_ change: (inout Gateway.Policy) -> Void = { _ in }, prompts: Bool = true) {
        self.world = World(change)
        func endpoint(_ name: String) -> Hello.Role {
            World.endpoint("car", name) { if !prompts { $0.features.remove(.prompts) } }
        }
        self.cluster = self.world.arrive(1, endpoint("cluster"))
        self.hud = self.world.arrive(2, endpoint("hud"))
    }

    /// With a client that has what the kind of request needs.
    init(
        _ kind: Reason.Kind, without: Set<Feature> = [], prompts: Bool = true,
        _ change: (inout Gateway.Policy) -> Void = { _ in }
    ) throws {
        self.init(change, prompts: prompts)
        self.client = self.world.arrive(3, World.client("app", without: without))
        switch kind {
        case .stop: self.session = try self.world.guided(self.client, ["car"])
        case .drive: break
        case .start:
            let opening = OpenSession(requestID: "o", vehicles: .vehicles([Self.car]))
            self.world.receive(.openSession(opening), from: self.client)
            self.session = try #require(self.world.opened(self.client, "o"))
            self.world.publish(self.client, self.session, .tripPreviews([World.trip], selected: "t"))
        }
    }

    static func request(
        _ kind: Reason.Kind, _ id: Identifier = "r", at place: Waypoint = World.place
    ) -> Message {
        switch kind {
        case .stop: .waypointRequest(WaypointRequest(requestID: id, waypoint: place))
        case .drive: .destinationRequest(DestinationRequest(requestID: id, destination: place))
        case .start: .startTripRequest(StartTripRequest(requestID: id, trip: "t"))
        }
    }

    mutating func ask(_ kind: Reason.Kind, _ id: Identifier = "r") {
        self.world.receive(Self.request(kind, id), from: self.cluster, self.session)
    }

    mutating func answer(_ answer: RequestAnswer.Answer) {
        let answer = RequestAnswer(requestID: "r", vehicle: Self.car, answer: answer)
        self.world.receive(.requestAnswer(answer), from: self.client)
    }

    mutating func prompt() {
        self.answer(.estimates(TravelEstimates(distanceRemaining: .meters(5))))
    }

    func outcomes(_ peer: ConnectionID) -> [RequestOutcome] {
        self.world.messages(peer).compactMap {
            if case .requestOutcome(let outcome) = $0 { outcome } else { nil }
        }
    }
}

/// All outcomes that the gateway can produce, with all their causes.
@Suite struct OutcomeCauseTests {
    /// Brings about the outcome for the reason.
    ///
    /// - Returns: The outcome of the request `r`, as an endpoint of the vehicle or, if that has none, its client is told it.
    private static func produce(_ reason: Reason) throws -> RequestOutcome? {
        switch reason.cause {
        case .clientAnswered, .promptAnswered, .withdrawn, .ownNavigation, .clientSilent,
            .clientUserSilent, .promptUnanswered, .clientGone, .noPrompts, .sessionEnded, .vehicleGone,
            .notAllowed:
            try Self.produceAsked(reason)
        case .clientNotConnected, .clientNotCapable, .noClient, .notGuided, .guided, .unknownSegment,
            .noPreviews, .unknownTrip, .otherStart, .tooManyOpen, .noMemory, .rulesChanging,
            .sessionOver:
            try Self.produceUnasked(reason)
        }
    }

    /// Of a request that a client was asked.
    private static func produceAsked(_ reason: Reason) throws -> RequestOutcome? {
        let kind = reason.kind
        var scene = try Scene(kind, prompts: reason.cause != .noPrompts)
        scene.ask(kind)
        switch reason.cause {
        case .clientAnswered:
            if kind == .stop, reason.outcome == .accepted { scene.answer(.ownPrompt) }
            scene.answer(reason.outcome == .accepted ? .accept : .decline(reason.outcome))
        case .promptAnswered:
            scene.prompt()
            let answer = PromptAnswer(requestID: "r", isAccepted: reason.outcome == .accepted)
            scene.world.receive(.promptAnswer(answer), from: scene.hud)
        case .withdrawn:
            scene.world.receive(.withdrawRequest(WithdrawRequest(requestID: "r")), from: scene.hud)
        case .ownNavigation: scene.world.receive(.cancelNavigation(.ownNavigationStarted), from: scene.hud)
        case .clientSilent: scene.world.wait(.seconds(11))
        case .clientUserSilent:
            scene.answer(.ownPrompt)
            scene.world.wait(.seconds(61))
        case .promptUnanswered:
            scene.prompt()
            scene.world.wait(.seconds(61))
        case .clientGone: scene.world.handle(.departed(scene.client, clean: false))
        case .noPrompts: scene.prompt()
        case .sessionEnded: scene.world.publish(scene.client, scene.session, .cancelGuidance)
        case .notAllowed:
            let rules = [Self.rule(false, .navigation, "car"), Self.rule(true, .navigation)]
            Self.change(&scene.world, rules)
        case .vehicleGone:
            scene.world.handle(.departed(scene.cluster, clean: true))
            scene.world.handle(.departed(scene.hud, clean: true))
            return scene.outcomes(scene.client).last
        default: return nil
        }
        return scene.outcomes(scene.cluster).last
    }

    /// Of a request that no client was asked.
    private static func produceUnasked(_ reason: Reason) throws -> RequestOutcome? {
        let kind = reason.kind
        var scene: Scene
        switch reason.cause {
        case .clientNotConnected:
            scene = try Scene(kind)
            scene.world.handle(.departed(scene.client, clean: false))
            scene.ask(kind)
        case .clientNotCapable:
            scene = try Scene(kind, without: [.waypointRequests, .tripRequests])
            scene.ask(kind)
        case .noClient, .notGuided, .noPreviews:
            scene = Scene()
            scene.ask(kind)
        case .guided:
            scene = try Scene(.stop)
            scene.ask(kind)
        case .unknownSegment:
            scene = try Scene(kind)
            let request = WaypointRequest(requestID: "r", waypoint: World.place, segment: "none")
            scene.world.receive(.waypointRequest(request), from: scene.cluster, scene.session)
        case .unknownTrip:
            scene = try Scene(kind)
            let request = StartTripRequest(requestID: "r", trip: "none")
            scene.world.receive(.startTripRequest(request), from: scene.cluster, scene.session)
        case .otherStart:
            scene = try Scene(kind)
            scene.world.receive(Scene.request(kind, "first"), from: scene.hud, scene.session)
            scene.ask(kind)
        case .tooManyOpen:
            scene = try Scene(kind) { $0.limits.requestsOpenMax = 1 }
            scene.ask(kind, "first")
            scene.ask(kind)
        case .noMemory:
            scene = try Scene(kind) { $0.limits.requestBytesInAllMax = 600 }
            var place = World.place
            place.nameVariants = Array(repeating: String(repeating: "n", count: 400), count: 2)
            scene.world.receive(Scene.request(kind, at: place), from: scene.cluster, scene.session)
        case .rulesChanging:
            scene = Scene()
            // So many that the change does not reach all at once. None of them takes drives.
            for index in 0..<200 {
                scene.world.arrive(
                    UInt64(10 + index), World.client("app-\(index)", without: [.destinationRequests]))
            }
            Self.change(&scene.world, [Self.rule(true, .navigation)], isFinished: false)
            scene.ask(kind)
        case .sessionOver:
            scene = try Scene(kind)
            scene.world.receive(Scene.request(kind), from: scene.cluster, SessionID(99))
        default: return nil
        }
        return scene.outcomes(scene.cluster).last { $0.requestID == "r" }
    }

    private static func rule(_ isAllowed: Bool, _ role: AccessRole, _ vehicle: String? = nil) -> AccessRule {
        var rule = AccessRule(allow: isAllowed, [role], origin: AccessOrigin(file: "f", line: 1))
        rule.vehicles = vehicle.map { GlobList([$0].compactMap { Glob($0) }) }
        return rule
    }

    /// Changes the rules for clients; every vehicle stays allowed.
    private static func change(_ world: inout World, _ rules: [AccessRule], isFinished: Bool = true) {
        var policy = world.gateway.policy
        policy.access = AccessPolicy(rules: rules + [Self.rule(true, .vehicle)])
        if isFinished { world.handle(.policyChanged(policy)) } else { world.begin(.policyChanged(policy)) }
    }

    @Test func `the page lists every cause once, in the order of the protos`() throws {
        #expect(try CausesPage().causes == OutcomeCause.allCases)
    }

    @Test func `the gateway ends requests for every reason of the page, and says which`() throws {
        let page = try CausesPage()
        for reason in page.reasons.sorted(by: { $0.description < $1.description }) {
            let told = try Self.produce(reason)
            #expect(told?.requestID == "r", "\(reason)")
            #expect(told?.outcome == reason.outcome, "\(reason)")
            #expect(told?.cause == reason.cause, "\(reason)")
            // The same endpoint decides in all scenes.
            let hasEndpoint = page.namingEndpoints.contains(reason.cause)
            #expect(told?.endpoint?.rawValue == (hasEndpoint ? "hud" : nil), "\(reason)")
        }
    }

    @Test func `a client that is passed over is told the cause of its part`() throws {
        var scene = try Scene(.drive)
        scene.world.arrive(4, World.client("nav"))
        scene.ask(.drive)
        scene.answer(.decline(.busy))
        let part = try #require(scene.outcomes(scene.client).last)
        #expect(part.outcome == .busy && part.cause == .clientAnswered)
        #expect(scene.outcomes(scene.cluster).isEmpty)
        scene.world.wait(.seconds(11))
        let whole = try #require(scene.outcomes(scene.cluster).last)
        #expect(whole.outcome == .timedOut && whole.cause == .clientSilent)
        #expect(whole.client?.rawValue == "nav")
    }

    @Test func `a request that comes again gets its outcome with the cause`() throws {
        var scene = try Scene(.stop)
        scene.ask(.stop)
        scene.world.receive(.withdrawRequest(WithdrawRequest(requestID: "r")), from: scene.hud)
        scene.ask(.stop)
        let outcomes = scene.outcomes(scene.cluster)
        #expect(outcomes.count == 2 && outcomes.first == outcomes.last)
        #expect(outcomes.last?.cause == .withdrawn && outcomes.last?.endpoint?.rawValue == "hud")
    }

    @Test func `an endpoint that asks in a loop does not make another's request a new one`() throws {
        var scene = Scene()
        scene.world.receive(Scene.request(.stop, "once"), from: scene.hud)
        for index in 0..<200 { scene.world.receive(Scene.request(.stop, "r\(index)"), from: scene.cluster) }
        // A client guides now, and would be asked.
        let client = scene.world.arrive(3, World.client("app"))
        _ = try scene.world.guided(client, ["car"])
        scene.world.receive(Scene.request(.stop, "once"), from: scene.hud)
        #expect(scene.outcomes(scene.hud).last?.requestID == "once")
        #expect(scene.outcomes(scene.hud).last?.cause == .notGuided)
        #expect(!scene.world.messages(client).contains { $0.type == .waypointRequest })
    }
}
