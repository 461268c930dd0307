internal import Synchronization
internal import WaymarkProtocol

/// The policy of a listener now: a reload may change it while accepted connections are open.
package final class CurrentPolicy: Sendable {
    private let current: Mutex<ListenerPolicy?>

    package init(_ policy: ListenerPolicy?) { self.current = Mutex(policy) }

    /// nil once the listener is closed: then no peer may connect or stay.
    package var policy: ListenerPolicy? { self.current.withLock { $0 } }

    /// Replaces the policy; nil if no peer may connect or stay. It applies to open connections when the driver reviews them.
    package func set(_ policy: ListenerPolicy?) { self.current.withLock { $0 = policy } }

    /// The Goodbye for a peer that may no longer stay; nil if it may. `role` is nil before the Hello. `earlier` is the policy under
    /// which the peer was accepted; it is nil if another process accepted the peer, and then a change of the key is ignored.
    func refusal(
        of role: Hello.Role?, user: UInt32?, since earlier: ListenerPolicy?
    ) -> Goodbye? {
        guard let policy = self.policy else {
            return Goodbye(.shuttingDown, reason: "the operator has closed this listener")
        }
        guard let role, policy != earlier else { return nil }
        if let refusal = policy.refusal(of: role, user: user) { return refusal }
        guard let earlier, policy.key != earlier.key else { return nil }
        return Goodbye(.notAuthorized, reason: "the operator has changed the key of this listener")
    }
}
