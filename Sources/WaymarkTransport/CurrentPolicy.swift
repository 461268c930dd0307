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

    /// The Goodbye for a peer that may no longer stay; nil if it may. `role` is nil before the Hello; `key` is the one that the Hello
    /// presented.
    func refusal(of role: Hello.Role?, key: ListenerKey?) -> Goodbye? {
        guard let policy = self.policy else {
            return Goodbye(.shuttingDown, reason: "the operator has closed this listener")
        }
        guard let role else { return nil }
        return policy.refusal(of: role) ?? policy.refusal(ofPresented: key)
    }
}
