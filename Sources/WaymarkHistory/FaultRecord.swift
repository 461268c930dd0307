/// A fault that happened to a connection or to the gateway.
package struct FaultRecord: Sendable, Hashable {
    /// The connection's peer; nil for the gateway.
    package let peer: PeerID?
    /// As scenarios name it: `drop`, `stall`, `kill`.
    package let kind: String
    /// A sentence: what was done, and to what.
    package let text: String

    package init(_ kind: String, of peer: PeerID?, _ text: String) {
        (self.peer, self.kind, self.text) = (peer, kind, text)
    }
}
