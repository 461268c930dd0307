internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// All vehicles, clients and sessions of a gateway, in rows.
struct Overview {
    /// Which rows are wanted.
    struct Filter: Sendable, Hashable {
        static let words = ["waiting", "slow", "away", "guided", "requests", "findings"]
        static let orders = ["id", "waitingBytes", "age", "findings"]
        static let parameters = ["search", "only", "sort"]

        let search: String
        let only: Set<String>
        let sort: String

        init(_ query: InspectorQuery) throws(InspectorError) {
            self.search = (try query.text("search", max: 100) ?? "").lowercased()
            self.only = try query.list("only", of: Self.words)
            self.sort = try query.word("sort", of: Self.orders) ?? "id"
        }
    }

    private let source: InspectedSource
    private let state: RecordedState
    private let filter: Filter
    private let records: RecordObjects
    /// Findings by vehicle.
    private let findings: [String: Int]
    /// Open requests by vehicle.
    private let requests: [VehicleID: Int]

    /// Clients, and sessions, that are told.
    static let othersMax = 500

    init(_ source: InspectedSource, _ state: RecordedState, _ filter: Filter, findings: [String: Int]) {
        (self.source, self.state, self.filter) = (source, state, filter)
        self.records = RecordObjects(source: source, state: state)
        self.findings = findings
        self.requests = state.gateway.requests.keys.reduce(into: [:]) { $0[$1.vehicle, default: 0] += 1 }
    }

    /// The vehicles that match, in order.
    func matching(_ cache: inout ContentCache) -> [VehicleRecord] {
        var matching = self.state.gateway.vehicles.values.filter { vehicle in
            self.isWanted(vehicle) && self.matches(vehicle, &cache)
        }
        matching.sort { $0.vehicle < $1.vehicle }
        switch self.filter.sort {
        case "waitingBytes": matching.sort { self.records.waitingBytes($0) > self.records.waitingBytes($1) }
        case "age": matching.sort { self.age($0) > self.age($1) }
        case "findings": matching.sort { self.findingCount($0) > self.findingCount($1) }
        default: break  // By their ids.
        }
        return matching
    }

    private func age(_ vehicle: VehicleRecord) -> UInt64 {
        UInt64(self.source.measures.sessions[vehicle.session]?.ageMilliseconds ?? 0)
    }

    private func findingCount(_ vehicle: VehicleRecord) -> Int {
        self.findings[vehicle.vehicle.rawValue] ?? 0
    }

    private func openRequests(_ vehicle: VehicleRecord) -> Int { self.requests[vehicle.vehicle] ?? 0 }

    private func isWanted(_ vehicle: VehicleRecord) -> Bool {
        guard !self.filter.only.isEmpty else { return true }
        var words = self.records.standing(vehicle)
        if self.state.gateway.sessions[vehicle.session] != nil { words.insert("guided") }
        if self.openRequests(vehicle) > 0 { words.insert("requests") }
        if self.findingCount(vehicle) > 0 { words.insert("findings") }
        return !words.isDisjoint(with: self.filter.only)
    }

    private func matches(_ vehicle: VehicleRecord, _ cache: inout ContentCache) -> Bool {
        guard !self.filter.search.isEmpty else { return true }
        var texts = [vehicle.vehicle.rawValue, vehicle.owner] + vehicle.endpoints.map(\.endpoint.rawValue)
        if let session = self.state.gateway.sessions[vehicle.session] {
            let state = cache.content(of: session, self.state, self.source).state
            texts += [session.client.rawValue] + state.currentRoadName
            texts +=
                (state.trip?.destination.nameVariants ?? []) + (state.trip?.destination.addressVariants ?? [])
        }
        return texts.contains { $0.lowercased().contains(self.filter.search) }
    }

    // MARK: Rows

    func row(
        _ vehicle: VehicleRecord, _ cache: inout ContentCache
    ) -> Joined<Answer.VehicleRecord, Answer.OverviewRow> {
        var row = Answer.OverviewRow(
            openRequests: self.openRequests(vehicle), findings: self.findingCount(vehicle),
            derived: ["standing"])
        if self.source.hasMeasures { row.waitingBytes = Int(clamping: self.records.waitingBytes(vehicle)) }
        if let session = self.state.gateway.sessions[vehicle.session] {
            let state = cache.content(of: session, self.state, self.source).state
            row.client = session.client.rawValue
            row.phase = "\(session.phase)"
            row.suspended = session.isSuspended
            row.generation = Int(session.generation)
            row.sequence = Int(clamping: state.sequence)
            row.currentRoadName = state.currentRoadName.first
            row.destination = state.trip.flatMap { self.name(of: $0.destination) }
            if let next = state.nextManeuver {
                row.nextManeuverType = next.type.name
                row.nextManeuver = next.instructionVariants.first ?? ManeuverGlyph(next).text
                row.trafficSide = next.trafficSide.name
                row.junctionExitAngle = next.junctionExitAngle.map { Int($0.degrees) }
                row.distanceToManeuverMeters =
                    state.maneuverEstimates[next.id].map { Int($0.distanceRemaining.meters) }
            }
            row.distanceLeftMeters = state.tripEstimates.map { Int($0.distanceRemaining.meters) }
            row.timeLeftSeconds = state.tripEstimates?.timeRemaining.map { Int($0.components.seconds) }
            row.ageSeconds = self.age(session)
        }
        return Joined(self.records.object(vehicle), row)
    }

    /// Its first name, else its place; nil if both are hidden.
    private func name(of place: Waypoint) -> String? {
        place.nameVariants.first ?? (self.source.showsContent ? Story.name(place) : nil)
    }

    private func age(_ session: SessionRecord) -> Double? {
        self.source.measures.sessions[session.session]?.ageMilliseconds.map { Double($0) / 1_000 }
    }

    /// Clients and sessions, in order; the first ones, if there are very many.
    var others: Answer.Others {
        let gateway = self.state.gateway
        let sessionIDs = Dictionary(grouping: gateway.sessions.values, by: \.client).mapValues {
            $0.map(\.session).sorted()
        }
        return Answer.Others(
            clients: gateway.clients.values.sorted { $0.client < $1.client }.prefix(Self.othersMax).map {
                self.records.object($0, sessions: sessionIDs[$0.client] ?? [])
            },
            sessions: gateway.sessions.values.sorted { $0.session < $1.session }.prefix(Self.othersMax)
                .map(self.records.object),
            othersTruncated: max(gateway.clients.count, gateway.sessions.count) > Self.othersMax)
    }

    func totals(matching: Int) -> Answer.Totals {
        let gateway = self.state.gateway
        let withoutContent = gateway.sessionsWithoutContent.count
        var totals = Answer.Totals(
            vehicles: gateway.vehicles.count, clients: gateway.clients.count,
            sessions: gateway.sessions.count, requests: gateway.requests.count, matching: matching,
            sessionsWithoutContent: withoutContent == 0 ? nil : withoutContent)
        guard self.source.hasMeasures else { return totals }
        let waiting = self.source.measures.connections.values.reduce(UInt64(0)) { $0 &+ $1.waitingBytes }
        totals.waitingBytes = Int(clamping: waiting)
        totals.framesPerSecond = self.source.measures.framesPerSecond
        totals.deliveriesPerSecond = self.source.measures.deliveriesPerSecond
        return totals
    }
}
