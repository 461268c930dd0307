internal import Synchronization
internal import WaymarkProtocol

/// What a listener allows at present: it can change while connections that came through it are there.
package final class ListenerRules: Sendable {
    private let kept: Mutex<ListenerPolicy?>

    package init(_ policy: ListenerPolicy?) { self.kept = Mutex(policy) }

    /// nil once nobody may come or stay.
    package var policy: ListenerPolicy? { self.kept.withLock { $0 } }

    /// What holds from now on; nil: nobody may come or stay. Those who are there notice when the driver reviews them.
    package func set(_ policy: ListenerPolicy?) { self.kept.withLock { $0 = policy } }

    /// Why a peer that came while `earlier` held may not stay; nil if it may. `role` is nil before its Hello, `earlier` for a
    /// peer of another process: who knew the key then is not asked for it again.
    func objection(
        to role: Hello.Role?, user: UInt32?, since earlier: ListenerPolicy?
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
