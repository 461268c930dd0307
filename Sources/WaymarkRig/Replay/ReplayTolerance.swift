internal import WaymarkProtocol
package import WaymarkScenario

extension ReplayTolerance {
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
}
