import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

/// Messages that are allowed but have no effect: endpoints that ask for it are told.
@Suite struct IgnoredTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let message: Message
        var isInOtherSession = false
        var isGuided = true
        var requestID: Identifier = ""
    }

    static let alert = Message.alertResponse(AlertResponse(alert: 9, response: .dismissed(.timeout)))
    static let answer = Message.destinationShareAnswer(DestinationShareAnswer(shareID: "s", outcome: .busy))
    static let receipt = Message.receipt(Receipt(receivedSequence: 0, shownSequence: 0))
    static let zoom = Message.zoomCluster(ZoomCluster(direction: .in))
    static let source = Message.updateRouteSource(UpdateRouteSource(routeSource: .vehicle))

    static let wanted = Message.destinationShareWanted(DestinationShareWanted())
    static let feedback = Message.updateRouteFeedback(UpdateRouteFeedback(RouteFeedback(generation: 7)))

    static let cases = [
        Case(
            testDescription: "unknown prompt",
            message: .promptAnswer(PromptAnswer(requestID: "w", isAccepted: true)), requestID: "w"),
        Case(testDescription: "alert that is not shown", message: Self.alert),
        Case(testDescription: "share that is over", message: Self.answer, requestID: "s"),
        Case(testDescription: "zoom in another session", message: Self.zoom, isInOtherSession: true),
        Case(testDescription: "source in another session", message: Self.source, isInOtherSession: true),
        Case(testDescription: "alert in another session", message: Self.alert, isInOtherSession: true),
        Case(
            testDescription: "share in another session", message: Self.answer, isInOtherSession: true,
            requestID: "s"),
        Case(testDescription: "receipt in another session", message: Self.receipt, isInOtherSession: true),
        Case(testDescription: "zoom without a session", message: Self.zoom, isGuided: false),
        Case(testDescription: "alert without a session", message: Self.alert, isGuided: false),
        Case(
            testDescription: "share without a session", message: Self.answer, isGuided: false, requestID: "s"),
        Case(testDescription: "receipt without a session", message: Self.receipt, isGuided: false),
        Case(testDescription: "wanted in another session", message: Self.wanted, isInOtherSession: true),
        Case(testDescription: "wanted without a session", message: Self.wanted, isGuided: false),
        Case(testDescription: "feedback on another route", message: Self.feedback),
        Case(testDescription: "feedback in another session", message: Self.feedback, isInOtherSession: true),
        Case(testDescription: "feedback without a session", message: Self.feedback, isGuided: false),
    ]

    /// What an endpoint is sent after a message.
    private static func answers(to ignored: Case, reportsIgnored: Bool) throws -> [Message] {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.reportsIgnored = reportsIgnored })
        let client = world.arrive(2, World.client("app"))
        if ignored.isGuided { try _ = world.guided(client, ["car"]) }
        world.mail[car] = []
        world.mail[client] = []
        world.receive(ignored.message, from: car, ignored.isInOtherSession ? SessionID(5) : .none)
        #expect(world.messages(client).isEmpty)
        return world.messages(car)
    }

    @Test(arguments: Self.cases)
    func `an endpoint that asks is told that a message is ignored`(_ ignored: Case) throws {
        let answers = try Self.answers(to: ignored, reportsIgnored: true)
        guard case .error(let rejection)? = answers.first, answers.count == 1 else {
            Issue.record("\(answers)")
            return
        }
        #expect(rejection.code == .ignored && !rejection.reason.isEmpty)
        #expect(rejection.messageType == ignored.message.type.rawValue)
        #expect(rejection.session == (ignored.isInOtherSession ? SessionID(5) : .none))
        #expect(rejection.requestID == ignored.requestID)
    }

    @Test(arguments: Self.cases)
    func `an endpoint that does not ask is told nothing`(_ ignored: Case) throws {
        #expect(try Self.answers(to: ignored, reportsIgnored: false).isEmpty)
    }

    @Test func `only the later of two answers to a prompt is ignored`() throws {
        var world = World()
        let endpoints = ["cluster", "hud"].enumerated().map { index, name in
            world.arrive(UInt64(index + 1), World.endpoint("car", name) { $0.reportsIgnored = true })
        }
        let client = world.arrive(3, World.client("app"))
        _ = try world.guided(client, ["car"])
        world.receive(World.waypoint("w"), from: endpoints[0])
        let estimates = RequestAnswer.Answer.estimates(TravelEstimates(distanceRemaining: .meters(5)))
        let answer = RequestAnswer(
            requestID: "w", vehicle: VehicleID(unchecked: "car"), answer: estimates)
        world.receive(.requestAnswer(answer), from: client)
        for endpoint in endpoints {
            world.receive(.promptAnswer(PromptAnswer(requestID: "w", isAccepted: true)), from: endpoint)
        }
        #expect(endpoints.map { world.errors($0) } == [[], [.ignored]])
    }

    @Test func `what repeats a setting is not ignored`() throws {
        var world = World()
        let car = world.arrive(1, World.endpoint("car") { $0.reportsIgnored = true })
        let client = world.arrive(2, World.client("app"))
        _ = try world.guided(client, ["car"])
        world.receive(World.waypoint("w"), from: car)
        for _ in 1...2 {
            world.receive(Self.source, from: car)
            world.receive(.vehicleSettings(VehicleSettings()), from: car)
            world.receive(Self.receipt, from: car)
            world.receive(World.waypoint("w"), from: car)
        }
        #expect(world.errors(car).isEmpty)
    }
}
