package import ArgumentParser
internal import Foundation
internal import WaymarkClient
internal import WaymarkInspector
internal import WaymarkInspectorServer
internal import WaymarkTexts

package struct Top: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Show all vehicles of a gateway in the terminal, as they are now.",
        usage: "waymark top [<options>]",
        discussion: """
            A row for each vehicle: what is not as it should be, who guides it, where it is, its next maneuver, and what \
            waits. In a terminal the rows are drawn again every second, until q or Ctrl-C; elsewhere they are printed once. \
            `waymark inspect` shows the same with everything behind it, in a browser.
            """)

    @OptionGroup var connection: ConnectionOptions
    @Option(help: "Only vehicles with this text: in their ids, clients, roads or destinations.") var search:
        String?
    @Option(
        help: "Only vehicles that are one of these, between commas: \(Self.words.joined(separator: ", ")).")
    var only: String?
    @Option(help: "The order: \(Self.orders.joined(separator: ", ")).", completion: .list(Self.orders))
    var sort = "id"
    @Flag(help: "Print the rows once.") var once = false

    private static let words = ["waiting", "slow", "away", "guided", "requests", "findings"]
    private static let orders = ["id", "waitingBytes", "age", "findings"]
    private static let interval = Duration.seconds(1)

    package init() {}

    package func validate() throws { _ = try self.query() }

    private func query() throws -> InspectorQuery {
        var values = ["sort": self.sort, "limit": "500"]
        values["search"] = self.search
        values["only"] = self.only
        let query = InspectorQuery(values)
        do throws(InspectorError) { try Inspection.checkOverview(query) } catch {
            throw ValidationError("--\(error.field) \(error.reason)")
        }
        return query
    }

    package func run() async throws {
        let address = try self.connection.address(default: .defaultObserver)
        var configuration = Observer.Configuration(id: "waymark-top")
        configuration.credential = try self.connection.key()
        configuration.reconnection.refusalDelay = nil
        configuration.includesFrames = true
        let feed = LiveFeed("\(address)", isRedacted: false, bytesMax: 1_048_576)
        let desk = InspectorDesk(Inspection.Options(), feed: feed, recordings: [])
        let isDrawing = !self.once && Terminal.isInteractive
        let query = try self.query()
        try await interruptible(harmless: [130]) { [configuration] in
            let tap: ObservationTap
            do throws(ClientError) {
                tap = try await self.connection.waitingForGateway { () throws(ClientError) in
                    try await ObservationTap.connect(to: address, configuration) { feed.handle($0) }
                }
            } catch {
                throw failure(error)
            }
            await tap.readMeasures()
            await tap.catchUp()
            try await self.show(desk, feed, tap, query, isDrawing: isDrawing)
            await tap.close()
        }
    }

    private func show(
        _ desk: InspectorDesk, _ feed: LiveFeed, _ tap: ObservationTap, _ query: InspectorQuery,
        isDrawing: Bool
    ) async throws {
        guard isDrawing else {
            for line in try await Self.lines(desk, query, columns: Terminal.size.columns) {
                Terminal.line(line)
            }
            return
        }
        let keyboard = Keyboard()
        Terminal.beginDrawing()
        defer {
            Terminal.endDrawing()
            keyboard?.restore()
        }
        let quit = Task { [keys = keyboard?.keys] in
            // Without a keyboard only a signal ends it.
            guard let keys else { return await self.waitForCancellation() }
            for await key in keys where key == .character("q") { return }
        }
        let drawing = Task {
            while !Task.isCancelled {
                await tap.readMeasures()
                feed.advance()
                let columns = Terminal.size.columns
                let trouble = Self.trouble(feed).map { [Terminal.fitted($0, columns: columns)] } ?? []
                Terminal.draw(trouble + (try await Self.lines(desk, query, columns: columns)))
                try await Task.sleep(for: Self.interval)
            }
        }
        await withTaskCancellationHandler {
            await quit.value
        } onCancel: {
            quit.cancel()
        }
        drawing.cancel()
    }

    private func waitForCancellation() async {
        while true { do { try await Task.sleep(for: .seconds(3_600)) } catch { return } }
    }

    /// Why the rows may be old; nil while the gateway is observed.
    private static func trouble(_ feed: LiveFeed) -> String? {
        let connection = feed.snapshot.source.connection
        guard connection["state"] != "connected" else { return nil }
        let reason = connection["reason"] ?? "waiting for it"
        return Terminal.printable("no connection to the gateway: \(reason); the rows are as last told")
    }

    private static func lines(
        _ desk: InspectorDesk, _ query: InspectorQuery, columns: Int
    ) async throws -> [String] {
        do throws(InspectorError) {
            guard case .json(let data) = try await desk.answer("overview", query, now: Date()) else {
                return []
            }
            return TopTable.lines(data, columns: columns)
        } catch {
            throw CommandFailure(error.reason)
        }
    }
}

/// The overview of the inspector as lines.
enum TopTable {
    static func lines(_ data: Data, columns: Int) -> [String] {
        let object: [String: Any]
        do { object = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:] } catch {
            return []
        }
        let vehicles = object["vehicles"] as? [[String: Any]] ?? []
        let rows = vehicles.map(self.row)
        let totals = object["totals"] as? [String: Any] ?? [:]
        var lines = [self.head(totals)]
        if let count = totals["sessionsWithoutContent"] as? Int {
            let sessions = GuidanceText.counted(count, "session")
            lines.append("the content of \(sessions) is not kept: all of it would take too much memory")
        }
        guard !rows.isEmpty else { return lines + ["no vehicle matches"] }
        lines += TextTable.lines(
            ["VEHICLE", "", "CLIENT", "PHASE", "ROAD", "NEXT", "IN", "LEFT", "WAITS", "ENDPOINTS"], rows,
            columns: columns)
        if object["truncated"] as? Bool == true { lines.append("… and more; see --search and --only") }
        return lines.map(Terminal.printable)
    }

    private static func head(_ totals: [String: Any]) -> String {
        func number(_ key: String) -> String { totals[key].map { "\($0)" } ?? "–" }
        return
            "\(number("vehicles")) vehicles, \(number("clients")) clients, \(number("sessions")) sessions, "
            + "\(number("requests")) open requests; \(number("framesPerSecond")) publications/s, "
            + "\(StatusTable.bytes(UInt64(totals["waitingBytes"] as? Int ?? 0))) wait"
    }

    private static func row(_ vehicle: [String: Any]) -> [String] {
        func text(_ key: String) -> String { vehicle[key].map { "\($0)" } ?? "" }
        func distance(_ key: String) -> String {
            guard let meters = vehicle[key] as? Int else { return "" }
            return meters < 10_000 ? "\(meters) m" : "\(meters / 1_000) km"
        }
        let standing = (vehicle["standing"] as? [String] ?? []).joined(separator: " ")
        let waiting = UInt64(vehicle["waitingBytes"] as? Int ?? 0)
        let endpoints = vehicle["endpoints"] as? [[String: Any]] ?? []
        let names = endpoints.map { endpoint in
            let mark = endpoint["connected"] as? Bool == true ? "" : " (away)"
            return "\(endpoint["endpoint"] ?? "")\(mark)"
        }
        return [
            text("vehicle"), standing, text("client"), text("phase"), text("currentRoadName"),
            text("nextManeuverType"),
            distance("distanceToManeuverMeters"), distance("distanceLeftMeters"),
            waiting == 0 ? "" : StatusTable.bytes(waiting), names.joined(separator: " "),
        ]
    }
}
