internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Records of a gateway as the page gets them, with the keys of `waymark status --json`.
struct RecordObjects {
    let source: InspectedSource
    let state: RecordedState

    static func names(_ features: FeatureSet) -> [String] { features.map { "\($0)" }.sorted() }

    // MARK: Vehicles

    func object(_ vehicle: VehicleRecord) -> Answer.VehicleRecord {
        Answer.VehicleRecord(
            vehicle: vehicle.vehicle.rawValue, session: Int(vehicle.session.rawValue),
            navigatesItself: vehicle.navigatesItself, hasStopped: vehicle.hasStopped,
            guidanceWanted: vehicle.isGuidanceWanted, owner: vehicle.owner,
            standing: self.standing(vehicle).sorted(),
            endpoints: vehicle.endpoints.map { self.object($0, vehicle) },
            routeSource: vehicle.routeSource?.name,
            routeFeedback: vehicle.routeFeedback.map { JSONPart(ModelJSON.feedback($0)) })
    }

    private func object(
        _ endpoint: EndpointRecord, _ vehicle: VehicleRecord
    ) -> Joined<Answer.EndpointRecord, Answer.Connection> {
        let (limits, settings) = (
            Self.limits(endpoint.limits, endpoint.receiveFrameBytesMax), Self.settings(endpoint.settings)
        )
        let (locale, units) = (endpoint.preferences.locale, endpoint.preferences.distanceUnits)
        let object = Answer.EndpointRecord(
            endpoint: endpoint.endpoint.rawValue, ready: endpoint.settings.isReadyToShow == true,
            features: Self.names(endpoint.features), withheld: self.withheld(endpoint),
            standing: self.standing(endpoint, vehicle).sorted(),
            received: endpoint.receipt.map { Int(clamping: $0.receivedSequence) },
            shown: endpoint.receipt.map { Int(clamping: $0.shownSequence) },
            limits: limits.isEmpty ? nil : limits,
            settings: settings == Answer.Settings() ? nil : settings,
            locale: locale.isEmpty ? nil : locale,
            distanceUnits: units == .asPublished ? nil : units.name)
        return Joined(object, self.connection(endpoint.connection, endpoint.instant))
    }

    private func withheld(_ endpoint: EndpointRecord) -> [String: String] {
        var grants = endpoint.withheld.filter { $0.withheld != nil }
        for feature in self.state.gateway.sessions[endpoint.session]?.optedOut ?? []
        where !grants.contains(where: { $0.feature == feature }) {
            grants.append(FeatureGrant(feature, withheld: .tripOptedOut))
        }
        return Dictionary(grants.map { ("\($0.feature)", $0.withheld.map { "\($0)" } ?? "") }) { $1 }
    }

    /// As in profiles; only those that limit.
    private static func limits(_ limits: VehicleLimits, _ frameBytesMax: UInt32) -> [String: Int] {
        let all: [(String, UInt32)] = [
            ("currentRoadName", limits.currentRoadNameLengthMax),
            ("destinationName", limits.destinationNameLengthMax),
            ("roadFollowingManeuver", limits.roadFollowingManeuverLengthMax),
            ("maneuverInstruction", limits.maneuverInstructionLengthMax),
            ("laneInstruction", limits.laneInstructionLengthMax), ("alertText", limits.alertTextLengthMax),
            ("maneuversStored", limits.maneuversStoredMax),
            ("laneGuidancesStored", limits.laneGuidancesStoredMax),
            ("routeSegmentPoints", limits.routeSegmentPointsMax), ("frameBytes", frameBytesMax),
        ]
        return Dictionary(all.filter { $0.1 > 0 }.map { ($0.0, Int($0.1)) }) { $1 }
    }

    private static func settings(_ settings: VehicleSettings) -> Answer.Settings {
        Answer.Settings(
            compass: settings.compass?.name, speedLimit: settings.speedLimit?.name,
            contentStyle: settings.contentStyle?.name,
            limitedUserInterfaces: settings.limitedUserInterfaces.map { Int($0) })
    }

    // MARK: Clients and sessions

    func object(_ client: ClientRecord) -> Joined<Answer.ClientRecord, Answer.Connection> {
        let sessions = self.state.gateway.sessions.values.filter { $0.client == client.client }
        return self.object(client, sessions: sessions.map(\.session).sorted())
    }

    /// `sessions`: those of the client.
    func object(
        _ client: ClientRecord, sessions: [SessionID]
    ) -> Joined<Answer.ClientRecord, Answer.Connection> {
        let object = Answer.ClientRecord(
            client: client.client.rawValue, displayName: client.displayName, priority: Int(client.priority),
            owner: client.owner, features: Self.names(client.granted),
            sessions: sessions.map { Int($0.rawValue) })
        return Joined(object, self.connection(client.connection, client.instant))
    }

    func object(_ session: SessionRecord) -> Answer.SessionRecord {
        var object = Answer.SessionRecord(
            session: Int(session.session.rawValue), client: session.client.rawValue,
            phase: "\(session.phase)", suspended: session.isSuspended, generation: Int(session.generation),
            anyThatAsked: session.isForAnyThatAsked, optedOut: Self.names(session.optedOut),
            vehicles: self.state.peers.vehicles(of: session.session).map(\.rawValue).sorted(),
            alertID: session.alert.map { Int($0) })
        if self.state.gateway.sessionsWithoutContent.contains(session.session) {
            object.withoutContent = true
        }
        if let measure = self.source.measures.sessions[session.session], self.source.hasMeasures {
            object.sequence = Int(clamping: measure.sequence)
            object.retainedBytes = Int(clamping: measure.retainedBytes)
            object.replayBytes = Int(clamping: measure.replayBytes)
            object.ageMilliseconds = measure.ageMilliseconds.map { Int(clamping: $0) }
            object.framesPerSecond = self.source.measures.framesPerSecond(of: session.session)
        }
        return object
    }

    private func connection(_ connection: ConnectionID?, _ instant: Instant) -> Answer.Connection {
        let time = self.state.time(of: instant).map { JSON.time($0.date) }
        guard let connection else { return Answer.Connection(connected: false, until: time) }
        var object = Answer.Connection(connected: true, since: time)
        guard self.source.hasMeasures else { return object }
        let measure = self.source.measures.connections[connection]
        object.waitingBytes = Int(clamping: measure?.waitingBytes ?? 0)
        object.conflated = Int(clamping: measure?.conflated ?? 0)
        return object
    }

    // MARK: Standing

    func waitingBytes(_ vehicle: VehicleRecord) -> UInt64 {
        vehicle.endpoints.reduce(0) { sum, endpoint in
            sum &+ (endpoint.connection.flatMap { self.source.measures.connections[$0]?.waitingBytes } ?? 0)
        }
    }

    /// What is not as it should be, derived.
    func standing(_ vehicle: VehicleRecord) -> Set<String> {
        var standing = Set<String>()
        if vehicle.navigatesItself { standing.insert("navigatesItself") }
        if vehicle.hasStopped { standing.insert("stopped") }
        // This program's own endpoint shows nothing.
        let endpoints = vehicle.endpoints.filter { !$0.isInspector }
        let isGuided = self.state.gateway.sessions[vehicle.session] != nil && !endpoints.isEmpty
        if !isGuided, vehicle.isGuidanceWanted || vehicle.session != .none, !vehicle.navigatesItself {
            standing.insert("waiting")
        }
        for endpoint in vehicle.endpoints {
            if self.standing(endpoint, vehicle).contains("slow") { standing.insert("slow") }
        }
        if !endpoints.isEmpty, endpoints.allSatisfy({ $0.connection == nil }) {
            standing.insert("away")
        }
        return standing
    }

    private func standing(_ endpoint: EndpointRecord, _ vehicle: VehicleRecord) -> Set<String> {
        guard let connection = endpoint.connection else { return ["away"] }
        let measure = self.source.measures.connections[connection]
        let isSlow =
            measure?.waitingBytes ?? 0 > 0 || self.source.measures.hasConflated(connection)
        return isSlow ? ["slow"] : []
    }
}
