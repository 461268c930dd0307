import Foundation
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkInspector

/// A request's course and outcome as an observer is told them, and the cause that the page names.
struct RequestCase: Sendable, CustomTestStringConvertible {
    enum Move: Sendable {
        /// The gateway asks a client.
        case forwarded(String)
        case answer(String, RequestAnswer.Answer)
        /// The gateway asks the vehicle's user, who answers unless this is nil.
        case prompt(Bool?)
        case withdrawal
    }

    let kind: RequestCause.Kind
    let outcome: Outcome
    /// The client that the outcome names.
    let client: String
    let moves: [Move]
    /// Whether the vehicle has an endpoint that is told the outcome.
    let isVehicleTold: Bool
    let by: String
    /// Empty: the page names no cause.
    let text: String
    /// What the gateway says; nil: nothing, as one that does not know causes.
    var cause: OutcomeCause?
    /// The vehicle's endpoint that the gateway names; empty: none.
    var endpoint = ""
    /// Whether the observer sees the frames with the outcome; otherwise it has only the event.
    var isFrameSeen = true

    init(
        _ kind: RequestCause.Kind, _ outcome: Outcome, _ client: String, _ moves: [Move], by: String = "",
        isVehicleTold: Bool = true, _ text: String
    ) {
        (self.kind, self.outcome, self.client, self.moves) = (kind, outcome, client, moves)
        (self.isVehicleTold, self.by, self.text) = (isVehicleTold, by, text)
    }

    var testDescription: String { "\(self.kind), \(self.outcome): \(self.text)" }

    private static let asked: [Move] = [.forwarded("app")]
    private static let ownPrompt: [Move] = Self.asked + [.answer("app", .ownPrompt)]
    private static let estimates: [Move] =
        Self.asked + [.answer("app", .estimates(TravelEstimates(distanceRemaining: .meters(1_000))))]
    private static let prompted: [Move] = Self.estimates + [.prompt(nil)]

    // Why no operators in the tables: the compiler checks a table as one expression.
    private static func after(_ moves: [Move], _ more: Move...) -> [Move] { moves + more }

    private static func declined(_ reason: Outcome) -> [Move] {
        Self.after(Self.asked, .answer("app", .decline(reason)))
    }

    private static let manyOpen = "Too many requests, or too many bytes of them, were open"
    private static let manyOpenOrRules =
        "\(Self.manyOpen), or changed access rules were being applied, so no client was asked."
    private static let goneOrForbidden =
        "app, which was asked last, disconnected before it had answered, or may no longer guide the vehicle."
    private static let acceptedTooLate =
        """
        app, which was asked last, accepted, but the access rules did not let it guide the vehicle any more.
        """

    private static let unreachable =
        "app declined: it is not possible as it was asked for, e.g. no road leads there."

    static let stops: [Self] = [
        Self(.stop, .accepted, "app", Self.after(Self.estimates, .prompt(true)), ""),
        Self(.stop, .accepted, "app", Self.after(Self.ownPrompt, .answer("app", .accept)), ""),
        Self(
            .stop, .notSupported, "app", [], by: "app",
            "app does not handle requests for stops, so it was not asked."),
        Self(
            .stop, .notSupported, "app", Self.declined(.notSupported), by: "app",
            "app declined: it does not handle requests for stops."),
        Self(
            .stop, .notSupported, "app", Self.estimates,
            "No endpoint of the vehicle answers prompts, so its user was not asked."),
        Self(
            .stop, .declinedByUser, "app", Self.after(Self.estimates, .prompt(false)), by: "car/cluster",
            "The user at car/cluster declined, 59.0 s before the deadline."),
        Self(
            .stop, .declinedByUser, "app",
            Self.after(Self.ownPrompt, .answer("app", .decline(.declinedByUser))),
            by: "app", "The user at app declined."),
        Self(
            .stop, .declinedByUser, "app", Self.declined(.declinedByUser), by: "app",
            "The user at app declined."),
        Self(
            .stop, .busy, "", [],
            "\(Self.manyOpen), so no client was asked."),
        Self(.stop, .busy, "app", Self.declined(.busy), by: "app", "app declined: it is busy."),
        Self(.stop, .invalid, "", [], "No client guided the vehicle when it asked."),
        Self(
            .stop, .invalid, "app", [],
            "It names a part of the route that is not there, so app was not asked."),
        Self(.stop, .invalid, "app", Self.declined(.invalid), by: "app", Self.unreachable),
        Self(
            .stop, .invalid, "app", Self.after(Self.ownPrompt, .answer("app", .decline(.invalid))), by: "app",
            Self.unreachable),
        Self(.stop, .timedOut, "app", Self.asked, by: "app", "app did not answer in time."),
        Self(
            .stop, .timedOut, "app", Self.ownPrompt, by: "app", "The user at app did not answer in time."),
        Self(
            .stop, .timedOut, "app", Self.prompted, by: "the vehicle's user",
            "The vehicle's user did not answer in time."),
        Self(
            .stop, .tooLarge, "app", Self.declined(.tooLarge), by: "app",
            "app declined: the request is larger than it can store."),
        Self(.stop, .gone, "app", [], by: "app", "app was not connected, so it was not asked."),
        Self(.stop, .gone, "app", Self.asked, by: "app", "app disconnected before it had answered."),
        Self(.stop, .gone, "app", Self.ownPrompt, by: "app", "app disconnected before it had answered."),
        Self(
            .stop, .gone, "app", Self.prompted, by: "app",
            "app disconnected before the vehicle's user had answered."),
        Self(
            .stop, .gone, "app", Self.asked, isVehicleTold: false,
            "The vehicle or app disconnected before there was an answer."),
        Self(
            .stop, .withdrawn, "app", Self.after(Self.asked, .withdrawal), by: "car/hud",
            "car/hud withdrew it."),
        Self(
            .stop, .withdrawn, "app", Self.after(Self.prompted, .withdrawal), by: "car/hud",
            "car/hud withdrew it."),
        Self(.stop, .withdrawn, "app", Self.asked, "The vehicle withdrew it."),
        Self(
            .stop, .sessionEnded, "", [],
            "The session for which it was asked was over, so no client was asked."),
        Self(.stop, .sessionEnded, "app", Self.asked, "The session ended before app had answered."),
        Self(
            .stop, .sessionEnded, "app", Self.prompted,
            "The session ended before the vehicle's user had answered."),
    ]

    static let drives: [Self] = [
        Self(.drive, .accepted, "app", Self.after(Self.asked, .answer("app", .accept)), ""),
        Self(
            .drive, .notSupported, "", [],
            "No connected client that may guide the vehicle handles requests for drives, so none was asked."),
        Self(
            .drive, .notSupported, "app", Self.declined(.notSupported), by: "app",
            "app declined: it does not handle requests for drives."),
        Self(
            .drive, .declinedByUser, "app", Self.declined(.declinedByUser), by: "app",
            "The user at app declined."),
        Self(
            .drive, .busy, "", [],
            Self.manyOpenOrRules),
        Self(.drive, .busy, "app", Self.declined(.busy), by: "app", "app declined: it is busy."),
        Self(
            .drive, .busy, "nav",
            Self.after(Self.declined(.invalid), .forwarded("nav"), .answer("nav", .decline(.busy))),
            by: "nav",
            "nav declined: it is busy."),
        Self(
            .drive, .invalid, "", [],
            "The vehicle was guided already when it asked, so no client was asked."),
        Self(.drive, .invalid, "app", Self.declined(.invalid), by: "app", Self.unreachable),
        Self(
            .drive, .timedOut, "app", Self.asked, by: "app",
            "app, which was asked last, did not answer in time."),
        // An answer that comes after the next client was asked is rejected (REQ-ASK-19).
        Self(
            .drive, .timedOut, "nav",
            Self.after(Self.asked, .forwarded("nav"), .answer("app", .decline(.declinedByUser))), by: "nav",
            "nav, which was asked last, did not answer in time."),
        Self(
            .drive, .tooLarge, "app", Self.declined(.tooLarge), by: "app",
            "app declined: the request is larger than it can store."),
        Self(
            .drive, .gone, "app", Self.asked, by: "app",
            Self.goneOrForbidden),
        Self(
            .drive, .gone, "app", Self.after(Self.asked, .answer("app", .accept)), by: "app",
            Self.acceptedTooLate),
        Self(
            .drive, .gone, "app", Self.asked, isVehicleTold: false,
            "The vehicle or app disconnected before there was an answer."),
        Self(
            .drive, .withdrawn, "app", Self.after(Self.asked, .withdrawal), by: "car/hud",
            "car/hud withdrew it."),
        Self(.drive, .withdrawn, "app", Self.asked, "The vehicle started to navigate by itself."),
    ]
}

extension RequestCase {
    static let starts: [Self] = [
        Self(.start, .accepted, "app", Self.after(Self.asked, .answer("app", .accept)), ""),
        Self(
            .start, .notSupported, "app", [], by: "app",
            "app does not handle requests to start a trip, so it was not asked."),
        Self(
            .start, .busy, "app", [],
            "Another request of the vehicle to start a trip was open, so app was not asked."),
        Self(.start, .busy, "", [], "\(Self.manyOpen), so no client was asked."),
        Self(
            .start, .invalid, "app", [],
            "The newest previews did not have the trip, or guidance had started."),
        Self(
            .start, .declinedByUser, "app", Self.declined(.declinedByUser), by: "app",
            "The user at app declined."),
        Self(.start, .timedOut, "app", Self.asked, by: "app", "app did not answer in time."),
        Self(.start, .gone, "app", [], by: "app", "app was not connected, so it was not asked."),
        Self(.start, .gone, "app", Self.asked, by: "app", "app disconnected before it had answered."),
        Self(
            .start, .tooLarge, "app", Self.declined(.tooLarge), by: "app",
            "app declined: the request is larger than it can store."),
        Self(.start, .sessionEnded, "app", Self.asked, "The session ended before app had answered."),
        Self(
            .start, .sessionEnded, "", [],
            "The session for which it was asked was over, so no client was asked."),
        Self(
            .start, .withdrawn, "app", Self.after(Self.asked, .withdrawal), by: "car/hud",
            "car/hud withdrew it."),
    ]
}

@Suite struct RequestCauseTests {
    private static let vehicle = VehicleID(unchecked: "car")
    private static let request = Identifier("r1")
    private static let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))

    /// The request as the vehicle sends it, and with the vehicle's name as the gateway forwards it.
    private static func asked(_ kind: RequestCause.Kind, _ vehicle: VehicleID? = nil) -> Envelope {
        switch kind {
        case .stop:
            let request = WaypointRequest(requestID: Self.request, waypoint: Self.place, vehicle: vehicle)
            return Envelope(.waypointRequest(request), session: LiveGateway.session)
        case .drive:
            let request = DestinationRequest(
                requestID: Self.request, destination: Self.place, vehicle: vehicle)
            return Envelope(.destinationRequest(request))
        case .start:
            let request = StartTripRequest(requestID: Self.request, trip: "trip-1", vehicle: vehicle)
            return Envelope(.startTripRequest(request), session: LiveGateway.session)
        }
    }

    /// Tells an observer the request, its moves and its end.
    static func tell(_ row: RequestCase, _ gateway: inout LiveGateway) throws {
        let clients = ["app": LiveGateway.app, "nav": ConnectionID(5)]
        var nav = ClientRecord(ClientID(unchecked: "nav"))
        nav.connection = clients["nav"]
        gateway.records.clients.append(nav)
        gateway.tellState()
        let hud = try #require(LiveGateway.connections["car/hud"])
        let cluster = try #require(LiveGateway.connections["car/cluster"])
        gateway.frame(.in, hud, Self.asked(row.kind))
        for move in row.moves {
            gateway.wait(.seconds(1))
            switch move {
            case .forwarded(let client):
                gateway.frame(.out, try #require(clients[client]), Self.asked(row.kind, Self.vehicle))
            case .answer(let client, let answer):
                let answer = RequestAnswer(requestID: Self.request, vehicle: Self.vehicle, answer: answer)
                gateway.frame(.in, try #require(clients[client]), Envelope(.requestAnswer(answer)))
            case .prompt(let answer):
                let prompt = Prompt(
                    requestID: Self.request, waypoint: Self.place,
                    travelEstimates: TravelEstimates(distanceRemaining: .meters(1_000)),
                    deadlineMilliseconds: 60_000)
                gateway.frame(.out, cluster, Envelope(.prompt(prompt)))
                guard let answer else { break }
                gateway.wait(.seconds(1))
                let told = PromptAnswer(requestID: Self.request, isAccepted: answer)
                gateway.frame(.in, cluster, Envelope(.promptAnswer(told)))
            case .withdrawal:
                let withdrawal = WithdrawRequest(requestID: Self.request)
                gateway.frame(.in, hud, Envelope(.withdrawRequest(withdrawal)))
            }
        }
        gateway.wait(.seconds(1))
        var ended = ObservedEvent(.requestEnded)
        (ended.code, ended.vehicles, ended.request) = (row.outcome.rawValue, [Self.vehicle], Self.request)
        // That of a recorded run names the session's client, whatever the outcome does.
        ended.client = ClientID(row.isVehicleTold ? "app" : row.client)
        if let cause = row.cause { ended.reason = "\(cause)" }
        gateway.event(ended)
        guard row.isFrameSeen else { return }
        let outcome = RequestOutcome(
            requestID: Self.request, vehicle: Self.vehicle, outcome: row.outcome,
            client: ClientID(row.client), cause: row.cause, endpoint: EndpointName(row.endpoint))
        if row.isVehicleTold { gateway.frame(.out, hud, Envelope(.requestOutcome(outcome))) }
        if row.cause != nil, let client = clients[row.client] {
            gateway.frame(.out, client, Envelope(.requestOutcome(outcome)))
        }
    }

    @Test(arguments: RequestCase.stops + RequestCase.drives + RequestCase.starts)
    func `the page names the cause of each outcome`(_ row: RequestCase) throws {
        var gateway = LiveGateway()
        try Self.tell(row, &gateway)
        let requests = try gateway.ask("requests", ["id": "car"]).objects("requests")
        let request = try #require(requests.first)
        #expect(requests.count == 1)
        #expect(request.text("request") == row.kind.rawValue)
        #expect(request.text("outcome") == "\(row.outcome)")
        #expect(request.object("why").text("text") == row.text)
        #expect(request.object("why").text("by") == row.by)
    }

    @Test(arguments: RequestCause.Kind.allCases)
    func `every outcome has a row for each kind of request that it can end`(_ kind: RequestCause.Kind) {
        let rows = RequestCase.stops + RequestCase.drives + RequestCase.starts
        let outcomes = Set(rows.filter { $0.kind == kind }.map(\.outcome))
        // A drive is asked for without a session.
        let possible = Set(Outcome.allCases).subtracting(kind == .drive ? [.sessionEnded] : [])
        #expect(outcomes == possible)
    }
}
