/// Names a gateway. Chosen by its operator, or drawn.
package struct GatewayName: WireName {
    package let rawValue: String
    package init(unchecked rawValue: String) { self.rawValue = rawValue }
}

/// Which gateway this is, and which of its states. As long as both are the same, session ids and tokens keep their meaning.
///
/// - Source: Docs/protocol.md, REQ-GATE-01.
package struct GatewayIdentity: Sendable, Hashable, Codable {
    package var instance: GatewayName
    /// When the state began, in milliseconds since 1970.
    package var epoch: UInt64

    package init(instance: GatewayName, epoch: UInt64) {
        self.instance = instance
        self.epoch = epoch
    }

    /// Of a gateway whose driver gave it no other.
    package static let unnamed = GatewayIdentity(instance: GatewayName(unchecked: "unnamed"), epoch: 1)
}
