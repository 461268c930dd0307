public import Foundation
public import WaymarkModel
package import WaymarkProtocol

/// The state of a gateway at one instant, as far as an observer is told it.
public struct GatewaySnapshot: Sendable, Hashable {
    /// A gateway: its name, its software, and what it shows to this observer.
    public struct Gateway: Sendable, Hashable {
        /// Its name, chosen by its operator or drawn.
        public let instance: String
        /// The time at which its state began. A restart that hands the state over does not change it.
        public let start: Date
        /// Its software and version.
        public let software: String
        /// Whether this observer sees places and texts, see `observe` in the settings of waymarkd.
        public let showsContent: Bool
    }

    /// Whether a peer is connected.
    public enum Presence: Sendable, Hashable {
        /// The peer has been connected since this time.
        case connected(since: Date)
        /// The peer is away, and may resume until this time.
        case away(until: Date)
    }

    /// The numbers of the last publications that an endpoint has received and shown.
    public struct Receipt: Sendable, Hashable {
        /// The last that it received.
        public let received: UInt64
        /// The last that it has shown.
        public let shown: UInt64
    }

    /// Delays of publications to an endpoint, from when the gateway accepted them.
    public struct Delays: Sendable, Hashable {
        /// The number of delays that were measured.
        public let count: UInt64
        /// The last one.
        public let last: Duration
        /// The mean of all.
        public let mean: Duration
        /// The numbers of delays by length, shortest first; lengths of which there were none are left out.
        public let counts: [Count]

        /// The number of delays that were at most as long as a bound, and longer than the bound before.
        public struct Count: Sendable, Hashable {
            /// nil: longer than all bounds.
            public let bound: Duration?
            /// The number of these delays.
            public let count: UInt64
        }

        /// An upper bound of the delay that a share of all, 0 ... 1, did not exceed; nil: it is above the last bound, or none was measured.
        public func bound(of share: Double) -> Duration? {
            var sum = 0.0
            for part in self.counts {
                sum += Double(part.count)
                if sum >= share * Double(self.count) { return part.bound }
            }
            return nil
        }
    }

    /// One endpoint of a vehicle.
    public struct Endpoint: Sendable, Hashable {
        /// The name, which is unique in the vehicle.
        public let name: String
        /// Whether it is connected.
        public let presence: Presence
        /// The features that it asked for.
        public let features: Set<GuidanceFeature>
        /// The features that are withheld from it in its session, and why, except those that the trip does not share.
        public let withheld: [GuidanceFeature: WithholdingReason]
        /// Its display is ready.
        public let isReady: Bool
        /// Its last receipt in the session; nil: none.
        public let receipt: Receipt?
        /// The times that publications take until it has received them; nil: not measured.
        public let receivedDelays: Delays?
        /// The times that they take until their content is on its display; nil: not measured.
        public let shownDelays: Delays?
        /// The round trip of the Ping by which its clock was compared last: the delays are wrong by at most half of it.
        public let roundTrip: Duration?
        /// 0 while it is away.
        package let connection: UInt64
    }

    /// One vehicle.
    public struct Vehicle: Sendable, Hashable {
        /// Its id.
        public let id: String
        /// The session that it is in, or that waits for it; 0: none.
        public let session: UInt32
        /// No client may guide it before it allows or asks.
        public let navigatesItself: Bool
        /// Its user ended guidance and has not asked for it again.
        public let hasStopped: Bool
        /// It accepts guidance from sessions for any vehicle that asked.
        public let isGuidanceWanted: Bool
        /// Its use of the route; nil if it has not told.
        public let routeSource: RouteSource?
        /// Its last feedback in the session, perhaps on an earlier route; nil if it has not told.
        public let routeFeedback: RouteFeedback?
        /// The owner, e.g. `user 1000`; empty while only a session waits for it.
        public let owner: String
        /// The endpoints, in the order of their names; empty while only a session waits for the vehicle.
        public let endpoints: [Endpoint]
    }

    /// One navigation client.
    public struct Client: Sendable, Hashable {
        /// Its id.
        public let id: String
        /// The name for humans; empty for none.
        public let displayName: String
        /// Whether it is connected.
        public let presence: Presence
        /// The features that it was granted.
        public let features: Set<GuidanceFeature>
        /// The priority; higher wins.
        public let priority: Int32
        /// The owner, e.g. `user 1000`.
        public let owner: String
        /// 0 while it is away.
        package let connection: UInt64
    }

    /// One session.
    public struct Session: Sendable, Hashable {
        /// The phase of a session.
        public enum Phase: String, Sendable, Hashable, CaseIterable { case preview, active, paused, ended }

        /// Its id on the wire.
        public let id: UInt32
        /// The client that opened it.
        public let client: String
        /// The phase of the session.
        public let phase: Phase
        /// Its client is away.
        public let isSuspended: Bool
        /// The generation of its route; 0 for none.
        public let generation: UInt32
        /// It is for every vehicle that asked.
        public let isForAnyThatAsked: Bool
        /// The alert that is shown; nil: none.
        public let alert: UInt32?
        /// The features that the trip does not share.
        public let optedOut: Set<GuidanceFeature>
    }

    /// One open request.
    public struct Request: Sendable, Hashable {
        /// The kind of a request: what the vehicle asks for.
        public enum Kind: String, Sendable, Hashable, CaseIterable { case stop, drive, start }
        /// The stage of a request: how far it has come.
        public enum Stage: String, Sendable, Hashable, CaseIterable {
            /// The client has it.
            case asked
            /// The vehicle's user is asked.
            case prompting
            /// The client asks the user by itself.
            case ownPrompt
        }

        /// Its id, unique in the vehicle.
        public let id: String
        /// The vehicle that asks.
        public let vehicle: String
        /// The kind of the request.
        public let kind: Kind
        /// The client that was asked last.
        public let client: String
        /// The session that it is about; 0 for none.
        public let session: UInt32
        /// The stage of the request.
        public let stage: Stage
        /// The time at which the gateway gives up.
        public let deadline: Date
    }

    /// The gateway whose state it is.
    public let gateway: Gateway
    package let observed: ObservedGateway
    private let clock: GatewayClock

    init(_ gateway: Gateway, _ observed: ObservedGateway, _ clock: GatewayClock) {
        self.gateway = gateway
        self.observed = observed
        self.clock = clock
    }

    /// The vehicles, in the order of their ids.
    public var vehicles: [Vehicle] {
        self.observed.vehicles.values.sorted { $0.vehicle < $1.vehicle }.map { Vehicle($0, self.clock) }
    }

    /// The navigation clients, in the order of their ids.
    public var clients: [Client] {
        self.observed.clients.values.sorted { $0.client < $1.client }.map { Client($0, self.clock) }
    }

    /// The sessions, in the order of their ids.
    public var sessions: [Session] {
        self.observed.sessions.values.sorted { $0.session < $1.session }.map(Session.init)
    }

    /// The open requests, in the order of their vehicles and ids.
    public var requests: [Request] {
        self.observed.requests.values.sorted { $0.key < $1.key }.map { Request($0, self.clock) }
    }

    /// Returns the vehicle with this id; nil if there is none.
    public func vehicle(_ id: String) -> Vehicle? {
        VehicleID(id).flatMap { self.observed.vehicles[$0] }.map { Vehicle($0, self.clock) }
    }

    /// Returns the publications that a session keeps for endpoints that join, in order. Needs
    /// ``Observer/Configuration/includesFrames``. Empty also for the sessions that keep most, if those of all would take more than 1 GiB.
    public func retainedFrames(of session: UInt32) -> [ObservedFrame] {
        let id = SessionID(session)
        guard let client = self.observed.sessions[id]?.client else { return [] }
        let isRedacted = !self.gateway.showsContent
        return (self.observed.retained[id]?.frames ?? []).map {
            ObservedFrame($0, .from(client.rawValue), to: [], isRedacted: isRedacted, isRejected: false)
        }
    }
}

extension GatewaySnapshot: FeedElement {
    static var queuedMax: Int { 1 }
    func replaces(_ older: GatewaySnapshot) -> Bool { true }
    static func missed(_ count: Int, before next: GatewaySnapshot) -> GatewaySnapshot? { nil }
}

// MARK: From records

extension GatewaySnapshot.Presence {
    fileprivate init(_ connection: ConnectionID?, _ instant: Instant, _ clock: GatewayClock) {
        let date = clock.date(of: instant)
        self = connection == nil ? .away(until: date) : .connected(since: date)
    }
}

extension GatewaySnapshot.Endpoint {
    fileprivate init(_ record: EndpointRecord, _ clock: GatewayClock) {
        self.name = record.endpoint.rawValue
        self.presence = .init(record.connection, record.instant, clock)
        self.features = Set(record.features.map(GuidanceFeature.init))
        self.withheld = [GuidanceFeature: WithholdingReason](record.withheld)
        self.isReady = record.settings.isReadyToShow == true
        self.receipt = record.receipt.map {
            GatewaySnapshot.Receipt(received: $0.receivedSequence, shown: $0.shownSequence)
        }
        self.receivedDelays = record.delays.flatMap { GatewaySnapshot.Delays($0.received) }
        self.shownDelays = record.delays.flatMap { GatewaySnapshot.Delays($0.shown) }
        self.roundTrip = record.delays.map { .microseconds($0.roundTripMicroseconds) }
        self.connection = record.connection?.rawValue ?? 0
    }
}

extension GatewaySnapshot.Delays {
    /// nil if there were none.
    fileprivate init?(_ counts: DelayCounts) {
        guard counts.count > 0 else { return nil }
        self.count = counts.count
        self.last = .microseconds(counts.lastMicroseconds)
        self.mean = .microseconds(counts.totalMicroseconds / counts.count)
        self.counts = counts.all.map {
            Count(bound: $0.bound == 0 ? nil : .milliseconds($0.bound), count: $0.count)
        }
    }
}

extension GatewaySnapshot.Vehicle {
    fileprivate init(_ record: VehicleRecord, _ clock: GatewayClock) {
        self.id = record.vehicle.rawValue
        self.session = record.session.rawValue
        self.navigatesItself = record.navigatesItself
        self.hasStopped = record.hasStopped
        self.isGuidanceWanted = record.isGuidanceWanted
        self.routeSource = record.routeSource
        self.routeFeedback = record.routeFeedback
        self.owner = record.owner
        self.endpoints = record.endpoints.map { GatewaySnapshot.Endpoint($0, clock) }
    }
}

extension GatewaySnapshot.Client {
    fileprivate init(_ record: ClientRecord, _ clock: GatewayClock) {
        self.id = record.client.rawValue
        self.displayName = record.displayName
        self.presence = .init(record.connection, record.instant, clock)
        self.features = Set(record.granted.map(GuidanceFeature.init))
        self.priority = record.priority
        self.owner = record.owner
        self.connection = record.connection?.rawValue ?? 0
    }
}

extension GatewaySnapshot.Session {
    fileprivate init(_ record: SessionRecord) {
        self.id = record.session.rawValue
        self.client = record.client.rawValue
        self.phase =
            switch record.phase {
            case .preview: .preview
            case .active: .active
            case .paused: .paused
            case .ended: .ended
            }
        self.isSuspended = record.isSuspended
        self.generation = record.generation
        self.isForAnyThatAsked = record.isForAnyThatAsked
        self.alert = record.alert
        self.optedOut = Set(record.optedOut.map(GuidanceFeature.init))
    }
}

extension GatewaySnapshot.Request {
    fileprivate init(_ record: RequestRecord, _ clock: GatewayClock) {
        self.id = record.key.requestID.rawValue
        self.vehicle = record.key.vehicle.rawValue
        self.kind =
            switch MessageType(rawValue: record.messageType) {
            case .destinationRequest: .drive
            case .startTripRequest: .start
            default: .stop
            }
        self.client = record.client.rawValue
        self.session = record.session.rawValue
        self.stage =
            switch record.stage {
            case .asked: .asked
            case .prompting: .prompting
            case .ownPrompt: .ownPrompt
            }
        self.deadline = clock.date(of: record.deadline)
    }
}
