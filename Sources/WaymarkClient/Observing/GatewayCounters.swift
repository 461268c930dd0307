public import Foundation
internal import WaymarkModel
internal import WaymarkProtocol

/// What a gateway counts. The values up to ``entriesDropped`` only grow; the others are the present size of something.
public enum GatewayCounter: String, Sendable, Hashable, CaseIterable {
    case publications
    /// Publications that changed nothing.
    case publicationsUnchanged
    case publicationsRejected
    case sessionsOpened
    /// Label: the reason.
    case sessionsEnded
    case requests
    /// Label: the outcome.
    case requestsEnded
    case snapshots
    case resumptions
    case peersAdmitted
    /// Label: the close code.
    case peersRefused
    /// Label: the close code that the gateway sent.
    case peersClosed
    /// What observers were not told because they read too slowly.
    case entriesDropped
    case vehiclesConnected
    case endpointsConnected
    case clientsConnected
    case observersConnected
    case sessions
    case requestsOpen
    case retainedBytes
    case replayBytes
    case observationBytes
}

/// The counters of a gateway, all of the same instant, whatever was dropped on the way to the observer.
public struct GatewayCounters: Sendable, Hashable {
    /// One value.
    public struct Value: Sendable, Hashable {
        /// What is counted, as the protocol names it.
        public let name: String
        /// What kind of it, as the protocol names it, e.g. `finished`; empty: there are no kinds.
        public let label: String
        public let value: UInt64
    }

    /// When they were read, by this computer's clock.
    public let time: Date
    /// All values, also of counters that this build does not know.
    public let values: [Value]

    /// The sum over all labels.
    public subscript(_ counter: GatewayCounter) -> UInt64 {
        self.values.reduce(0) { $1.name == counter.rawValue ? $0 &+ $1.value : $0 }
    }
}

extension GatewayCounters {
    init(_ reports: [CounterReport], _ clock: GatewayClock) {
        self.time = clock.date(of: reports.last?.instant ?? Instant(nanoseconds: 0))
        self.values = reports.flatMap(\.counters).map(Value.init)
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
        guard label != 0 else { return "" }
        let word: String? =
            switch name {
            case .sessionsEnded: SessionEndReason(rawValue: label).map { "\($0)" }
            case .requestsEnded: Outcome(rawValue: label).map { "\($0)" }
            case .peersRefused, .peersClosed: CloseCode(rawValue: label).map { "\($0)" }
            default: nil
            }
        return word ?? self.number(label)
    }

    private static func number(_ label: UInt32) -> String { label == 0 ? "" : "\(label)" }
}

extension GatewayCounter {
    fileprivate init(_ name: CounterName) {
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
            case .vehiclesConnected: .vehiclesConnected
            case .endpointsConnected: .endpointsConnected
            case .clientsConnected: .clientsConnected
            case .observersConnected: .observersConnected
            case .sessions: .sessions
            case .requestsOpen: .requestsOpen
            case .retainedBytes: .retainedBytes
            case .replayBytes: .replayBytes
            case .observationBytes: .observationBytes
            }
    }
}
