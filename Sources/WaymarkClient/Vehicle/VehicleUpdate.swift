internal import WaymarkModel
package import WaymarkProtocol

/// Something an endpoint received, and the state after it.
///
/// For a slow reader only the newest of a value (estimates, road name, maneuver state and the like) is queued. Of all updates
/// at most 256 are queued; beyond that the oldest are dropped and ``Content/missed(_:)`` tells how many. ``state`` is always
/// complete.
public struct VehicleUpdate: Sendable {
    /// The message's name in the protocol, e.g. `updateTripEstimates`; without a message `current`, `forgotten`, `missed` or
    /// `refused`.
    public let name: String
    /// The content of the update.
    public let content: Content
    /// The session's id on the wire; 0 for none.
    public let session: UInt32
    /// The publication's number; of another message of the session, the number up to which it is held; 0 outside of one.
    public let sequence: UInt64
    /// The gateway cut the content to this endpoint's limits.
    public let isFitted: Bool
    /// It is a part of what the client published, and more parts with the same number follow.
    public let hasMore: Bool
    /// The gateway sent it, not the client.
    public let isFromGateway: Bool
    /// The state after it.
    public let state: VehicleState
    /// The message itself; nil if there is none.
    package let message: Message?
    /// A newer update replaces an older one with the same key.
    private let key: ConflationKey?
}

extension VehicleUpdate: FeedElement {
    static var queuedMax: Int { 256 }

    func replaces(_ older: VehicleUpdate) -> Bool { self.key != nil && self.key == older.key }

    static func missed(_ count: Int, before next: VehicleUpdate) -> VehicleUpdate? {
        VehicleUpdate("missed", .missed(count), next.state)
    }
}

extension VehicleUpdate {
    /// An update by an envelope. `session` is the endpoint's before it; nil: the one that the envelope is about.
    init(_ envelope: Envelope, _ state: VehicleState, before session: UInt32? = nil) {
        self.name = "\(envelope.message.type)"
        if case .sessionEnded(let ended) = envelope.message, ended.session != .none,
            let session, ended.session.rawValue != session
        {
            self.content = .other  // The end of an older session, of which this endpoint was told before.
        } else {
            self.content = Content(envelope.message)
        }
        self.session = envelope.session.rawValue
        let isOfSession = envelope.session != .none && envelope.session.rawValue == state.session
        self.sequence = envelope.sequence == 0 && isOfSession ? state.sequence : envelope.sequence
        self.isFitted = envelope.flags.contains(.fitted)
        self.hasMore = envelope.flags.contains(.more)
        self.isFromGateway = envelope.flags.contains(.gateway)
        self.state = state
        self.message = envelope.message
        if case .publication(let publication) = envelope.message {
            self.key = publication.outline.conflationKey
        } else {
            self.key = nil
        }
    }

    /// An update without a message.
    init(_ name: String, _ content: Content, _ state: VehicleState) {
        self.name = name
        self.content = content
        self.session = state.session
        self.sequence = 0
        self.isFitted = false
        self.hasMore = false
        self.isFromGateway = false
        self.state = state
        self.message = nil
        self.key = nil
    }
}
