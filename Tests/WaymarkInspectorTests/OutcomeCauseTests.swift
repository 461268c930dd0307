import Foundation
import Testing
import WaymarkClient
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkInspector

/// A cause that the gateway says, and what the page and the terminal make of it.
struct SaidCase: Sendable, CustomTestStringConvertible {
    let kinds: [RequestCause.Kind]
    let outcome: Outcome
    let cause: OutcomeCause
    /// The client that the outcome names.
    let client: String
    /// The endpoint that the outcome names.
    let endpoint: String
    let by: String
    let page: String
    let terminal: String

    init(
        _ kinds: [RequestCause.Kind], _ outcome: Outcome, _ cause: OutcomeCause, client: String = "app",
        endpoint: String = "", by: String = "", page: String, terminal: String
    ) {
        (self.kinds, self.outcome, self.cause, self.client) = (kinds, outcome, cause, client)
        (self.endpoint, self.by, self.page, self.terminal) = (endpoint, by, page, terminal)
    }

    var testDescription: String { "\(self.kinds), \(self.outcome): \(self.cause)" }

    // Why functions: the compiler checks a table as one expression.
    private static func accepted(
        _ kinds: [RequestCause.Kind], _ cause: OutcomeCause, at endpoint: String = ""
    )
        -> Self
    {
        Self(kinds, .accepted, cause, endpoint: endpoint, page: "", terminal: "accepted")
    }

    private static func unasked(
        _ kinds: [RequestCause.Kind], _ outcome: Outcome, _ cause: OutcomeCause, client: String = "",
        by: String = "", _ page: String, _ terminal: String
    ) -> Self {
        Self(kinds, outcome, cause, client: client, by: by, page: page, terminal: terminal)
    }

    private static let all = RequestCause.Kind.allCases
    private static let inSession: [RequestCause.Kind] = [.stop, .start]

    static let answered: [Self] = [
        Self.accepted(Self.all, .clientAnswered), Self.accepted([.stop], .promptAnswered, at: "cluster"),
        Self(
            [.stop], .notSupported, .clientAnswered, by: "app",
            page: "app declined: it does not handle requests for stops.",
            terminal: "app does not handle such requests"),
        Self(
            [.drive], .notSupported, .clientAnswered, by: "app",
            page: "app declined: it does not handle requests for drives.",
            terminal: "app does not handle such requests"),
        Self(
            [.start], .notSupported, .clientAnswered, by: "app",
            page: "app declined: it does not handle requests to start a trip.",
            terminal: "app does not handle such requests"),
        Self(
            Self.all, .declinedByUser, .clientAnswered, by: "app", page: "The user at app declined.",
            terminal: "the user at app said no"),
        Self(
            Self.all, .busy, .clientAnswered, by: "app", page: "app declined: it is busy.",
            terminal: "app is busy"),
        Self(
            Self.all, .invalid, .clientAnswered, by: "app",
            page: "app declined: it is not possible as it was asked for, e.g. no road leads there.",
            terminal: "app cannot do it as it was asked for"),
        Self(
            Self.all, .tooLarge, .clientAnswered, by: "app",
            page: "app declined: the request is larger than it can store.",
            terminal: "it is larger than app can store"),
        Self(
            [.stop], .declinedByUser, .promptAnswered, endpoint: "cluster", by: "car/cluster",
            page: "The user at car/cluster declined.", terminal: "the vehicle's user said no at cluster"),
    ]

    static let decided: [Self] = [
        Self(
            Self.all, .withdrawn, .withdrawn, endpoint: "hud", by: "car/hud", page: "car/hud withdrew it.",
            terminal: "withdrawn by hud"),
        Self(
            [.drive], .withdrawn, .ownNavigation, endpoint: "hud", by: "car/hud",
            page: "The vehicle started to navigate by itself.", terminal: "the vehicle navigates itself"),
        Self(
            Self.inSession, .timedOut, .clientSilent, by: "app", page: "app did not answer in time.",
            terminal: "app did not answer in time"),
        Self(
            [.drive], .timedOut, .clientSilent, by: "app",
            page: "app, which was asked last, did not answer in time.", terminal: "app did not answer in time"
        ),
        Self(
            [.stop], .timedOut, .clientUserSilent, by: "app", page: "The user at app did not answer in time.",
            terminal: "the user at app did not answer in time"),
        Self(
            [.stop], .timedOut, .promptUnanswered, by: "the vehicle's user",
            page: "The vehicle's user did not answer in time.",
            terminal: "the vehicle's user did not answer in time"),
        Self(
            Self.inSession, .gone, .clientGone, by: "app",
            page: "app disconnected before it had answered.",
            terminal: "app was disconnected before it was decided"),
        Self(
            [.drive], .gone, .clientGone, by: "app",
            page: "app, which was asked last, disconnected before it had answered.",
            terminal: "app was disconnected before it was decided"),
        Self(
            [.drive], .gone, .notAllowed,
            page: "The access rules did not let app guide the vehicle any more.",
            terminal: "the access rules no longer let app guide the vehicle"),
        Self(
            Self.all, .gone, .vehicleGone, endpoint: "hud", by: "car/hud",
            page: "car/hud, the vehicle's last endpoint, disconnected before there was an answer.",
            terminal: "the vehicle is disconnected"),
        Self(
            Self.inSession, .sessionEnded, .sessionEnded,
            page: "The session ended before app had answered.",
            terminal: "the session ended before it was decided"),
        Self(
            [.stop], .notSupported, .noPrompts,
            page: "No endpoint of the vehicle answers prompts, so its user was not asked.",
            terminal: "no endpoint of the vehicle asks its user"),
    ]

    static let unasked: [Self] = [
        Self.unasked(
            Self.inSession, .gone, .clientNotConnected, client: "app", by: "app",
            "app was not connected, so it was not asked.", "app is not connected"),
        Self.unasked(
            [.stop], .notSupported, .clientNotCapable, client: "app", by: "app",
            "app does not handle requests for stops, so it was not asked.",
            "app does not handle such requests"),
        Self.unasked(
            [.start], .notSupported, .clientNotCapable, client: "app", by: "app",
            "app does not handle requests to start a trip, so it was not asked.",
            "app does not handle such requests"),
        Self.unasked(
            [.drive], .notSupported, .noClient,
            "No connected client that may guide the vehicle handles requests for drives, so none was asked.",
            "no connected client that may guide the vehicle handles such requests"),
        Self.unasked(
            [.stop], .invalid, .notGuided, "No client guided the vehicle when it asked.",
            "no client guides the vehicle"),
        Self.unasked(
            [.drive], .invalid, .guided,
            "The vehicle was guided already when it asked, so no client was asked.",
            "a client guides the vehicle already"),
        Self.unasked(
            [.stop], .invalid, .unknownSegment, client: "app",
            "It names a part of the route that is not there, so app was not asked.",
            "the route has no such segment"),
        Self.unasked(
            [.start], .invalid, .noPreviews, "No client showed trips to choose from when the vehicle asked.",
            "no client shows trips to choose from"),
        Self.unasked(
            [.start], .invalid, .unknownTrip, client: "app",
            "The newest previews did not have the trip or its route choice.",
            "the newest previews do not have this trip or route choice"),
        Self(
            [.start], .busy, .otherStart, endpoint: "cluster", by: "car/cluster",
            page: "car/cluster had asked to start a trip before.",
            terminal: "cluster asked first to start a trip"),
        Self.unasked(
            Self.all, .busy, .tooManyOpen,
            "Too many requests of the vehicle were open, so no client was asked.",
            "too many requests of the vehicle are open"),
        Self.unasked(
            [.stop, .drive], .busy, .noMemory,
            "Open requests used up the gateway's memory for them, so no client was asked.",
            "open requests use up the gateway's memory for them"),
        Self.unasked(
            [.drive], .busy, .rulesChanging,
            "Changed access rules were being applied, so no client was asked.",
            "changed access rules are being applied"),
        Self.unasked(
            Self.inSession, .sessionEnded, .sessionOver,
            "The session for which it was asked was over, so no client was asked.", "the session was over"),
    ]

    static let table = Self.answered + Self.decided + Self.unasked
}

/// What is said of each outcome with each cause that the gateway can produce: the table "Causes" of Docs/protocol.md.
@Suite struct OutcomeCauseTests {
    /// `stop, notSupported, noPrompts`, for each of the page's table.
    private static func page() throws -> Set<String> {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/protocol.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n### Causes\n").last)
        let lines = section.components(separatedBy: "\n")
        let head = try #require(lines.firstIndex { $0.hasPrefix("| cause |") })
        var reasons: Set<String> = []
        for line in lines[(head + 2)...].prefix(while: { $0.hasPrefix("|") }) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            for outcome in cells[2].components(separatedBy: ", ") {
                for kind in cells[3].components(separatedBy: ", ") {
                    reasons.insert("\(kind), \(outcome), \(cells[1])")
                }
            }
        }
        return reasons
    }

    /// `notSupported` as the protos write it.
    private static func name(_ word: String) -> String {
        word.reduce(into: "") { $0 += $1.isUppercase ? "_\($1)" : $1.uppercased() }
    }

    @Test func `the table has each reason of the page, once`() throws {
        let rows = SaidCase.table.flatMap { row in
            row.kinds.map { "\($0), \(Self.name("\(row.outcome)")), \(Self.name("\(row.cause)"))" }
        }
        #expect(Set(rows) == (try Self.page()))
        #expect(Set(rows).count == rows.count)
    }

    @Test(arguments: SaidCase.table)
    func `the page says who decided, and why`(_ row: SaidCase) throws {
        for kind in row.kinds {
            var gateway = LiveGateway()
            let isVehicleTold = row.cause != .vehicleGone
            // Nothing but the outcome tells the cause.
            var request = RequestCase(
                kind, row.outcome, row.client, [], by: row.by, isVehicleTold: isVehicleTold, row.page)
            (request.cause, request.endpoint) = (row.cause, row.endpoint)
            try RequestCauseTests.tell(request, &gateway)
            let shown = try #require(try gateway.ask("requests", ["id": "car"]).objects("requests").first)
            #expect(shown.text("outcome") == "\(row.outcome)")
            #expect(shown.object("why").text("text") == row.page)
            #expect(shown.object("why").text("by") == row.by)
        }
    }

    @Test func `an event alone says why`() throws {
        var gateway = LiveGateway()
        var row = RequestCase(.stop, .withdrawn, "app", [.forwarded("app"), .withdrawal], "")
        row.isFrameSeen = false
        (row.cause, row.endpoint) = (.withdrawn, "hud")
        try RequestCauseTests.tell(row, &gateway)
        let shown = try #require(try gateway.ask("requests", ["id": "car"]).objects("requests").first)
        #expect(shown.object("why").text("text") == "car/hud withdrew it.")
    }

    @Test(arguments: SaidCase.table)
    func `the terminal says why`(_ row: SaidCase) throws {
        let ending = RequestEnding(
            try #require(RequestResult(rawValue: row.outcome.rawValue)),
            cause: ResultCause(rawValue: row.cause.rawValue),
            client: row.client.isEmpty ? nil : row.client,
            endpoint: row.endpoint.isEmpty ? nil : row.endpoint)
        #expect(ending.explanation == row.terminal)
    }

    @Test func `the library has the causes of the protocol`() {
        #expect(ResultCause.allCases.map(\.rawValue) == OutcomeCause.allCases.map(\.rawValue))
        #expect(ResultCause.allCases.map { "\($0)" } == OutcomeCause.allCases.map { "\($0)" })
    }

    @Test(arguments: RequestResult.allCases)
    func `without a cause the terminal guesses none`(_ result: RequestResult) {
        #expect(RequestEnding(result).explanation == result.explanation)
        #expect(!result.explanation.contains("e.g."))
    }
}
