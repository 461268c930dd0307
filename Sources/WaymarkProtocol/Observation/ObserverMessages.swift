/// What an observer sees.
///
/// - Source: `waymark.v1.Visibility`.
package enum Visibility: UInt32, Sendable, Hashable, CaseIterable, Codable, Comparable {
    /// Everything but places and texts.
    case state = 1
    /// Everything, but for what a vehicle's owner or a trip does not share.
    case content = 2
    case all = 3

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// What an observer says of itself.
package struct ObserverHello: Sendable, Hashable, Codable {
    /// For humans; need not be unique.
    package var observer: ObserverName
    /// What its listener lets it see. Not on the wire: the driver sets it.
    package var visibility = Visibility.state
    /// The largest frame that it takes, header included; 0: any.
    package var receiveFrameBytesMax: UInt32 = 0
    /// It wants an Error with IGNORED for each of its messages that is ignored.
    package var reportsIgnored = false

    package init(observer: ObserverName) { self.observer = observer }
}

/// Observer to gateway: what it wants.
package struct Observe: Sendable, Hashable, Codable {
    /// Empty: all. In all three.
    package var vehicles: [VehicleID] = []
    package var clients: [ClientID] = []
    package var sessions: [SessionID] = []
    /// Of events, as on the wire. Empty: all.
    package var kinds: [UInt32] = []
    package var wantsState = false
    package var wantsEvents = false
    package var wantsFrames = false
    /// For an observer that resumed: the last number that it received.
    package var afterNumber: UInt64 = 0

    package init() {}

    /// Whether nothing but ``afterNumber`` differs.
    package func wantsTheSame(as other: Observe) -> Bool {
        var same = self
        same.afterNumber = other.afterNumber
        return same == other
    }
}

/// Gateway to observer: what follows.
package struct ObservationBegin: Sendable, Hashable {
    package var kind: SnapshotBegin.Kind
    /// The last number before what follows.
    package var number: UInt64
    /// The gateway's clock.
    package var instant: Instant

    package init(_ kind: SnapshotBegin.Kind, after number: UInt64, at instant: Instant) {
        self.kind = kind
        self.number = number
        self.instant = instant
    }
}

/// What happened.
///
/// - Source: `waymark.v1.ObservedKind`.
package enum ObservedKind: UInt32, Sendable, Hashable, CaseIterable {
    case admitted = 1
    case resumed = 2
    case closing = 3
    case departed = 4
    case rejected = 5
    case helloRefused = 6
    case sessionOpened = 10
    case vehiclesRefused = 11
    case joined = 12
    case left = 13
    case started = 14
    case paused = 15
    case continued = 16
    case rerouted = 17
    case suspended = 18
    case restored = 19
    case sessionEnded = 20
    case stopRequested = 40
    case driveRequested = 41
    case requestEnded = 42
    case startRequested = 43
}

/// Gateway to observer: something happened.
package struct ObservedEvent: Sendable, Hashable {
    package var number: UInt64 = 0
    package var instant = Instant(nanoseconds: 0)
    /// An ``ObservedKind``, or one that this build does not know.
    package var kind: UInt32
    package var code: UInt32 = 0
    package var reason = ""
    package var connection: ConnectionID?
    package var vehicles: [VehicleID] = []
    package var client: ClientID?
    package var session = SessionID.none
    package var request: Identifier = ""

    package init(_ kind: ObservedKind) { self.kind = kind.rawValue }
}

/// Gateway to observer: consecutive frames that crossed.
package struct ObservedFrames: Sendable, Hashable {
    /// Which way they went.
    package enum Direction: UInt32, Sendable, Hashable, CaseIterable {
        /// To the gateway.
        case `in` = 1
        /// From the gateway.
        case out = 2
    }

    package var number: UInt64 = 0
    package var instant = Instant(nanoseconds: 0)
    package var direction: Direction
    package var connection: ConnectionID?
    /// 0: they went to one connection.
    package var audience: UInt64 = 0
    package var session = SessionID.none
    package var isRedacted = false
    /// The gateway rejected them.
    package var isRejected = false
    /// Whole frames.
    package var frames: [UInt8]

    package init(_ direction: Direction, _ frames: [UInt8]) {
        self.direction = direction
        self.frames = frames
    }
}

/// Gateway to observer: the oldest entries were dropped, because the observer reads too slowly.
package struct ObservationGap: Sendable, Hashable {
    package var dropped: UInt64
    package var nextNumber: UInt64

    package init(dropped: UInt64, nextNumber: UInt64) {
        self.dropped = dropped
        self.nextNumber = nextNumber
    }
}

/// Observer to gateway: asks for counters.
package struct ReadCounters: Sendable, Hashable, Codable {
    package var wantsConnections = false
    package var wantsSessions = false

    package init() {}

    /// Asks for what either asks for.
    package mutating func formUnion(_ other: ReadCounters) {
        self.wantsConnections = self.wantsConnections || other.wantsConnections
        self.wantsSessions = self.wantsSessions || other.wantsSessions
    }
}

/// A role, as a label of counters.
///
/// - Source: `waymark.v1.Role`.
package enum RoleNumber: UInt32, Sendable, Hashable {
    case vehicle = 1
    case navigation = 2
    case observer = 3
}

/// What is counted.
///
/// - Source: `waymark.v1.CounterName`.
package enum CounterName: UInt32, Sendable, Hashable, CaseIterable {
    case publications = 1
    case publicationsUnchanged = 2
    case publicationsRejected = 3
    case sessionsOpened = 4
    case sessionsEnded = 5
    case requests = 6
    case requestsEnded = 7
    case snapshots = 8
    case resumptions = 9
    case peersAdmitted = 10
    case peersRefused = 11
    case peersClosed = 12
    case entriesDropped = 13
    case deliveries = 14
    case acknowledgements = 15
    case connectionsAccepted = 16
    case bytesReceived = 17
    case bytesSent = 18
    case conflated = 19
    case requestTimes = 20
    case requestMicroseconds = 21
    case featuresWithheld = 22
    case receivedDelays = 23
    case receivedDelayMicroseconds = 24
    case shownDelays = 25
    case shownDelayMicroseconds = 26
    case vehiclesConnected = 64
    case endpointsConnected = 65
    case clientsConnected = 66
    case observersConnected = 67
    case sessions = 68
    case requestsOpen = 69
    case retainedBytes = 70
    case replayBytes = 71
    case observationBytes = 72
    case connections = 73
    case waitingBytes = 74
    case inputBytes = 75
    case sessionsInPhase = 76
    case requestBytes = 77
    case loopMicroseconds = 78
}

/// By which times requests are counted.
package enum RequestTimeBound {
    /// The labels of ``CounterName/requestTimes``, in their order. What ends at a deadline ends shortly after it, and the usual ones
    /// are 10 s and 60 s: therefore there are bounds behind these.
    package static let milliseconds: [UInt32] = [
        10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 15_000, 30_000, 60_000, 90_000,
    ]
}

/// What waits for one connection.
package struct ConnectionMeasure: Sendable, Hashable {
    package var connection: ConnectionID
    /// What waits for the peer to read.
    package var waitingBytes: UInt64 = 0
    /// Of a frame that has not arrived completely.
    package var inputBytes: UInt64 = 0
    /// States that newer ones replaced while they waited.
    package var conflated: UInt64 = 0

    package init(_ connection: ConnectionID) { self.connection = connection }
}

/// What one session has.
package struct SessionMeasure: Sendable, Hashable {
    package var session: SessionID
    /// The number of its last publication.
    package var sequence: UInt64 = 0
    package var retainedBytes: UInt64 = 0
    package var replayBytes: UInt64 = 0
    /// How long ago the gateway accepted the last publication, rounded up to 100; nil if there was none.
    package var ageMilliseconds: UInt32?

    package init(_ session: SessionID) { self.session = session }
}

/// Gateway to observer: all counters, and what connections and sessions have; or a part of it.
package struct CounterReport: Sendable, Hashable {
    package struct Counter: Sendable, Hashable {
        /// A ``CounterName``, or one that this build does not know.
        package var name: UInt32
        /// 0: none.
        package var label: UInt32
        package var value: UInt64

        /// Names from here on are sizes; the others only grow.
        package static let firstSize: UInt32 = 64

        package init(_ name: CounterName, label: UInt32 = 0, _ value: UInt64) {
            self.init(name: name.rawValue, label: label, value)
        }

        package init(name: UInt32, label: UInt32, _ value: UInt64) {
            self.name = name
            self.label = label
            self.value = value
        }
    }

    /// The last number before.
    package var number: UInt64 = 0
    package var instant = Instant(nanoseconds: 0)
    package var counters: [Counter] = []
    package var connections: [ConnectionMeasure] = []
    package var sessions: [SessionMeasure] = []
    package var isLast = false

    package init() {}
}
