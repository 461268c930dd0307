public import Foundation
internal import WaymarkModel
internal import WaymarkProtocol

/// A counter of a gateway. The values up to ``shownDelayMicroseconds`` only grow; the others are the present size of something.
public enum GatewayCounter: String, Sendable, Hashable, CaseIterable {
    /// Publications that were accepted. Label: the message's name; `unknown` for types that the gateway does not know.
    case publications
    /// Publications that changed nothing.
    case publicationsUnchanged
    case publicationsRejected
    case sessionsOpened
    /// Sessions that have ended. Label: the reason.
    case sessionsEnded
    case requests
    /// Requests that have ended. Label: the outcome.
    case requestsEnded
    case snapshots
    case resumptions
    /// Peers that were admitted, also those that resumed. Label: the role.
    case peersAdmitted
    /// Peers that the gateway did not admit. Label: the close code.
    case peersRefused
    /// Admitted peers that the gateway closed. Label: the close code.
    case peersClosed
    /// Entries that observers were not told because they read too slowly.
    case entriesDropped
    /// Publications that changed something, each counted for each endpoint of its session. Label: as for publications.
    case deliveries
    case acknowledgements
    case connectionsAccepted
    /// Bytes received, in frames of all types.
    case bytesReceived
    case bytesSent
    /// States that newer ones replaced while they waited for a peer that reads slowly.
    case conflated
    /// Requests that ended. Label: the least of 10, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 15000, 30000, 60000 and
    /// 90000 milliseconds that is not below the time from the request to its outcome; `longer`.
    case requestTimes
    /// The sum of the same times.
    case requestMicroseconds
    /// Features that endpoints were told are withheld from them in a session. Label: the reason.
    case featuresWithheld
    /// Delays until endpoints had received publications, from when the gateway accepted them. Label: the least of 1, 5, 10, 25, 50, 100, 250,
    /// 500, 1000, 2500, 5000 and 10000 milliseconds that is not below the delay; `longer`.
    case receivedDelays
    /// The sum of the same delays.
    case receivedDelayMicroseconds
    /// The same until their content was on a display.
    case shownDelays
    /// The sum of these delays.
    case shownDelayMicroseconds
    case vehiclesConnected
    case endpointsConnected
    case clientsConnected
    case observersConnected
    case sessions
    case requestsOpen
    case retainedBytes
    case replayBytes
    case observationBytes
    /// Open connections, also those that have not said who they are.
    case connections
    /// Bytes that wait for peers that read slowly.
    case waitingBytes
    /// Bytes of frames that have not arrived completely.
    case inputBytes
    /// Open sessions. Label: the phase.
    case sessionsInPhase
    /// Bytes of the open requests that have more than 512 bytes.
    case requestBytes
    /// Microseconds that the event loops took to answer when the counters were read.
    case loopMicroseconds
}

/// The counters of a gateway, all of the same instant, whatever was dropped on the way to the observer.
public struct GatewayCounters: Sendable, Hashable {
    /// One value.
    public struct Value: Sendable, Hashable {
        /// The name of the counter in the protocol.
        public let name: String
        /// The label of the value, as the protocol names it, e.g. `finished`; empty for none.
        public let label: String
        /// The count, or the present size.
        public let value: UInt64
    }

    /// The measures of one connection: what waits for it.
    public struct Connection: Sendable, Hashable {
        /// The peer: `VEHICLE/ENDPOINT` or a client.
        public let peer: String
        /// Bytes that wait for the peer to read.
        public let waitingBytes: UInt64
        /// Bytes of a frame that has not arrived completely.
        public let inputBytes: UInt64
        /// States that newer ones replaced while they waited.
        public let conflated: UInt64
    }

    /// The measures of one session.
    public struct Session: Sendable, Hashable {
        /// Its id on the wire.
        public let id: UInt32
        /// The number of its last publication.
        public let sequence: UInt64
        /// Bytes kept for endpoints that join.
        public let retainedBytes: UInt64
        /// Bytes kept for endpoints that resume.
        public let replayBytes: UInt64
        /// The time since the gateway accepted the last publication; nil if there was none so far.
        public let age: Duration?
    }

    /// The time at which the counters were read, by this computer's clock.
    public let time: Date
    /// All values, also of counters that this build does not know. A counter without a value is 0.
    public let values: [Value]
    /// The measures of connections; empty unless they were asked for.
    public let connections: [Connection]
    /// The measures of sessions, in the order of their ids; empty unless they were asked for.
    public let sessions: [Session]

    /// The sum over all labels.
    public subscript(_ counter: GatewayCounter) -> UInt64 {
        self.values.reduce(0) { $1.name == counter.rawValue ? $0 &+ $1.value : $0 }
    }
}

extension GatewayCounters {
    init(_ reports: [CounterReport], _ clock: GatewayClock, _ peers: ObservedPeers) {
        self.connections = reports.flatMap(\.connections).map { measure in
            Connection(
                peer: peers.name(of: measure.connection), waitingBytes: measure.waitingBytes,
                inputBytes: measure.inputBytes, conflated: measure.conflated)
        }
        self.sessions = reports.flatMap(\.sessions).map(Session.init).sorted { $0.id < $1.id }
        self.time = clock.date(of: reports.last?.instant ?? Instant(nanoseconds: 0))
        self.values = reports.flatMap(\.counters).map(Value.init)
    }
}

extension GatewayCounters.Session {
    fileprivate init(_ measure: SessionMeasure) {
        self.id = measure.session.rawValue
        self.sequence = measure.sequence
        self.retainedBytes = measure.retainedBytes
        self.replayBytes = measure.replayBytes
        self.age = measure.ageMilliseconds.map { .milliseconds($0) }
    }
}

extension GatewayCounters.Value {
    fileprivate init(_ counter: CounterReport.Counter) {
        let name = CounterName(rawValue: counter.name)
        self.name = name.map { "\(GatewayCounter($0))" } ?? "\(counter.name)"
        self.label = name.map { Self.label(counter.label, of: $0) } ?? Self.number(counter.label)
        self.value = counter.value
    }

    private static func label(_ label: UInt32, of name: CounterName) -> String {
        let word: String? =
            switch name {
            case .publications, .deliveries:
                label == 0
                    ? "unknown"
                    : UInt16(exactly: label).flatMap { MessageType(rawValue: $0) }.map { "\($0)" }
            case .sessionsEnded: SessionEndReason(rawValue: label).map { "\($0)" }
            case .requestsEnded: Outcome(rawValue: label).map { "\($0)" }
            case .requestTimes, .receivedDelays, .shownDelays: label == 0 ? "longer" : "\(label)"
            case .featuresWithheld: WithheldReason(rawValue: label).map { "\($0)" }
            case .sessionsInPhase: SessionPhase(rawValue: label).map { "\($0)" }
            case .peersAdmitted: RoleNumber(rawValue: label).map { "\($0)" }
            case .peersRefused, .peersClosed: CloseCode(rawValue: label).map { "\($0)" }
            default: nil
            }
        return word ?? self.number(label)
    }

    private static func number(_ label: UInt32) -> String { label == 0 ? "" : "\(label)" }
}

extension GatewayCounter {
    init(_ name: CounterName) {
        self =
            switch name {
            case .publications: .publications
            case .publicationsUnchanged: .publicationsUnchanged
            case .publicationsRejected: .publicationsRejected
            case .sessionsOpened: .sessionsOpened
            case .sessionsEnded: .sessionsEnded
            case .requests: .requests
            case .requestsEnded: .requestsEnded
            case .snapshots: .snapshots
            case .resumptions: .resumptions
            case .peersAdmitted: .peersAdmitted
            case .peersRefused: .peersRefused
            case .peersClosed: .peersClosed
            case .entriesDropped: .entriesDropped
            case .deliveries: .deliveries
            case .acknowledgements: .acknowledgements
            case .connectionsAccepted: .connectionsAccepted
            case .bytesReceived: .bytesReceived
            case .bytesSent: .bytesSent
            case .conflated: .conflated
            case .vehiclesConnected: .vehiclesConnected
            case .endpointsConnected: .endpointsConnected
            case .clientsConnected: .clientsConnected
            case .observersConnected: .observersConnected
            case .sessions: .sessions
            case .requestsOpen: .requestsOpen
            case .retainedBytes: .retainedBytes
            case .replayBytes: .replayBytes
            case .observationBytes: .observationBytes
            case .connections: .connections
            case .waitingBytes: .waitingBytes
            case .inputBytes: .inputBytes
            case .requestTimes: .requestTimes
            case .requestMicroseconds: .requestMicroseconds
            case .featuresWithheld: .featuresWithheld
            case .receivedDelays: .receivedDelays
            case .receivedDelayMicroseconds: .receivedDelayMicroseconds
            case .shownDelays: .shownDelays
            case .shownDelayMicroseconds: .shownDelayMicroseconds
            case .sessionsInPhase: .sessionsInPhase
            case .requestBytes: .requestBytes
            case .loopMicroseconds: .loopMicroseconds
            }
    }
}
