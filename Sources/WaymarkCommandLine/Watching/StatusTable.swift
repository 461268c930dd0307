internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkTexts

/// `waymark status` in lines for people.
struct StatusTable {
    private let report: StatusReport
    private let columns: Int

    static func lines(_ report: StatusReport, columns: Int) -> [String] {
        let table = StatusTable(report: report, columns: columns)
        return (table.head + table.vehicles + table.clients + table.sessions + table.requests).map {
            Terminal.printable($0)
        }
    }

    private var snapshot: GatewaySnapshot { self.report.snapshot }
    private var counters: GatewayCounters { self.report.counters }

    // MARK: Parts

    private var head: [String] {
        let gateway = self.snapshot.gateway
        let vehicles = self.snapshot.vehicles
        let endpoints = vehicles.reduce(0) { $0 + $1.endpoints.count }
        let counts = [
            "\(GuidanceText.counted(vehicles.count, "vehicle")) (\(GuidanceText.counted(endpoints, "endpoint")))",
            GuidanceText.counted(self.snapshot.clients.count, "client"),
            GuidanceText.counted(self.snapshot.sessions.count, "session"),
            GuidanceText.counted(self.snapshot.requests.count, "request"),
            GuidanceText.counted(Int(clamping: self.counters[.observersConnected]), "observer"),
        ]
        var lines = [
            "\(gateway.software) at \(self.report.address)",
            "instance \(gateway.instance), up \(self.time(since: gateway.start))",
            counts.joined(separator: ", "),
        ]
        if let published = self.report.framesPerSecond, let delivered = self.report.deliveriesPerSecond {
            lines.append(
                "\(Self.rate(published)) frames/s published, \(Self.rate(delivered)) frames/s delivered")
        }
        lines.append(
            "retained \(Self.bytes(self.counters[.retainedBytes])), kept for resumption "
                + "\(Self.bytes(self.counters[.replayBytes])), waiting \(Self.bytes(self.counters[.waitingBytes]))"
        )
        return lines.flatMap { Terminal.wrapped($0, columns: self.columns) }
    }

    private var vehicles: [String] {
        var rows: [[String]] = []
        for vehicle in self.snapshot.vehicles {
            let session = vehicle.session == 0 ? "-" : "\(vehicle.session)"
            if vehicle.endpoints.isEmpty { rows.append([vehicle.id, "-", "awaited", session, "-", ""]) }
            for (index, endpoint) in vehicle.endpoints.enumerated() {
                let waiting = self.report.waitingBytes("\(vehicle.id)/\(endpoint.name)", endpoint.presence)
                rows.append([
                    index == 0 ? vehicle.id : "", endpoint.name, self.presence(endpoint.presence),
                    index == 0 ? session : "", waiting.map(Self.bytes) ?? "-",
                    self.notes(endpoint, index == 0 ? vehicle : nil),
                ])
            }
        }
        return self.table(["VEHICLE", "ENDPOINT", "SINCE", "SESSION", "WAITING", "NOTES"], rows)
    }

    private func notes(_ endpoint: GatewaySnapshot.Endpoint, _ vehicle: GatewaySnapshot.Vehicle?) -> String {
        var notes: [String] = []
        if vehicle?.navigatesItself == true { notes.append("navigates itself") }
        if vehicle?.hasStopped == true { notes.append("ended guidance") }
        notes.append(endpoint.isReady ? "ready" : "not ready")
        if let delays = endpoint.shownDelays { notes.append("shown in \(Self.delays(delays))") }
        if let delays = endpoint.receivedDelays { notes.append("received in \(Self.delays(delays))") }
        // What an endpoint did not ask for is no news.
        let withheld = endpoint.withheld.filter { $0.value != .notRequested }
        for (feature, reason) in withheld.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            notes.append("no \(feature.rawValue) (\(reason.rawValue))")
        }
        return notes.joined(separator: ", ")
    }

    private var clients: [String] {
        let rows = self.snapshot.clients.map { client in
            let sessions = self.snapshot.sessions.filter { $0.client == client.id }.map { "\($0.id)" }
            return [
                client.id, self.presence(client.presence), "\(client.priority)",
                sessions.isEmpty ? "-" : sessions.joined(separator: " "), client.displayName,
            ]
        }
        return self.table(["CLIENT", "SINCE", "PRIORITY", "SESSIONS", "NAME"], rows)
    }

    private var sessions: [String] {
        let vehicles = Dictionary(grouping: self.snapshot.vehicles) { $0.session }
        let rows = self.snapshot.sessions.map { session -> [String] in
            let measure = self.report.sessions[session.id]
            let names = vehicles[session.id, default: []].map(\.id)
            return [
                "\(session.id)", session.client,
                session.isSuspended ? "\(session.phase.rawValue), away" : session.phase.rawValue,
                names.isEmpty ? "-" : GuidanceText.some(names),
                self.report.framesPerSecond(of: session.id).map(Self.rate) ?? "-",
                measure?.age.map { "\(Self.seconds($0.seconds)) ago" } ?? "never",
                measure.map { Self.bytes($0.retainedBytes) } ?? "-",
            ]
        }
        return self.table(
            ["SESSION", "CLIENT", "PHASE", "VEHICLES", "FRAMES/S", "PUBLISHED", "RETAINED"], rows)
    }

    private var requests: [String] {
        let rows = self.snapshot.requests.map { request in
            let stage =
                switch request.stage {
                case .asked: "the client decides"
                case .prompting: "the vehicle's user is asked"
                case .ownPrompt: "the client's user is asked"
                }
            let left = max(0, request.deadline.timeIntervalSince(self.counters.time))
            return [
                request.id, request.vehicle, request.kind.rawValue, request.client, stage, Self.seconds(left),
            ]
        }
        return self.table(["REQUEST", "VEHICLE", "KIND", "CLIENT", "STAGE", "LEFT"], rows)
    }

    // MARK: Values

    private func presence(_ presence: GatewaySnapshot.Presence) -> String {
        switch presence {
        case .connected(let since): self.time(since: since)
        case .away(let until):
            "away, \(Self.seconds(max(0, until.timeIntervalSince(self.counters.time)))) left"
        }
    }

    private func time(since date: Date) -> String {
        Self.seconds(max(0, self.counters.time.timeIntervalSince(date)))
    }

    /// `0.4 s`, `41 s`, `12 min`, `3 h 5 min`, `3 d 4 h`.
    static func seconds(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 1e15))
        return switch whole {
        case ..<10: "\((seconds * 10).rounded(.down) / 10) s"
        case ..<120: "\(whole) s"
        case ..<7_200: "\(whole / 60) min"
        case ..<172_800: "\(whole / 3_600) h \(whole % 3_600 / 60) min"
        default: "\(whole / 86_400) d \(whole % 86_400 / 3_600) h"
        }
    }

    /// `14 ms (95 % within 25 ms)`: the mean, and a bound.
    static func delays(_ delays: GatewaySnapshot.Delays) -> String {
        let mean = "\(Self.rate(delays.mean / .milliseconds(1))) ms"
        guard let bound = delays.bound(of: 0.95) else { return mean }
        return "\(mean) (95 % within \(Int(bound / .milliseconds(1))) ms)"
    }

    static func bytes(_ bytes: UInt64) -> String {
        switch bytes {
        case ..<1_024: "\(bytes) B"
        case ..<1_048_576: "\((bytes + 1_023) / 1_024) KiB"
        default: "\(Self.rate(Double(bytes) / 1_048_576)) MiB"
        }
    }

    static func rate(_ rate: Double) -> String { "\((rate * 10).rounded() / 10)" }

    // MARK: Tables

    private func table(_ titles: [String], _ rows: [[String]]) -> [String] {
        TextTable.lines(titles, rows, columns: self.columns)
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}
