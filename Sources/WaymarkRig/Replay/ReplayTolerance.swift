internal import WaymarkProtocol

/// By how much a replay may differ from its recording because of time.
package struct ReplayTolerance: Sendable, Hashable {
    /// Ages and deadlines by a tenth of a second.
    package static let virtual = ReplayTolerance(milliseconds: 100, acknowledgement: .zero)
    /// The same for a recording of a gateway with a clock of its own, whose timers had another phase.
    private static let observed = ReplayTolerance(milliseconds: 100, acknowledgement: acknowledgementMax)
    /// A gateway acknowledges after half a second; a busy one later.
    private static let acknowledgementMax = Duration.milliseconds(1_500)

    /// Of ages and deadlines; nil: they are not compared.
    let milliseconds: Int64?
    /// Acknowledgements that came less than this before the end of their session need not come, by the recording's time.
    let acknowledgement: Duration

    private init(milliseconds: Int64?, acknowledgement: Duration) {
        (self.milliseconds, self.acknowledgement) = (milliseconds, acknowledgement)
    }

    /// Of a replay in virtual time.
    init(of conversation: RecordedConversation) {
        self = conversation.isVirtual ? Self.virtual : Self.observed
    }

    /// By the real clock: as much as the replay was late. A gateway's own times do not become shorter with those of its peers.
    package init(of peers: [ReplayPeer]) {
        let lateness = peers.map(\.latenessMax).max() ?? .zero
        let speed = peers.first?.speed ?? 1
        self.init(
            milliseconds: speed == 1
                ? Self.virtual.milliseconds.map { $0 + lateness.milliseconds } : nil,
            acknowledgement: (Self.acknowledgementMax + lateness).divided(by: 1 / speed))
    }

    /// The other value if the first is near enough to it.
    func near(_ value: UInt32?, _ other: UInt32?) -> UInt32? {
        guard let value, let other else { return value }
        guard let milliseconds else { return other }
        return abs(Int64(value) - Int64(other)) <= milliseconds ? other : value
    }
}
