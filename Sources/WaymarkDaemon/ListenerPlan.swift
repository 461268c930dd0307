package import WaymarkConfiguration
package import WaymarkTransport

/// One listener as it will be opened: its settings, checked.
package struct ListenerPlan: Sendable, Hashable {
    package let address: ListenAddress
    package let permissions: SocketPermissions
    package let policy: ListenerPolicy

    /// The listeners of the settings; the daemon's own if there are none. Opens nothing.
    package static func all(of settings: Settings) throws(DaemonError) -> [ListenerPlan] {
        var plans: [ListenerPlan] = []
        for listener in settings.listeners.isEmpty ? DefaultAddresses.listeners : settings.listeners {
            do throws(Problem) {
                let plan = try ListenerPlan(listener, settings)
                if let other = plans.first(where: { $0.address.collides(with: plan.address) }) {
                    throw Problem(.duplicate(of: other.address))
                }
                plans.append(plan)
            } catch {
                throw .setting(listener, error.problem)
            }
        }
        return plans
    }

    private init(_ listener: Settings.Listener, _ settings: Settings) throws(Problem) {
        do throws(ListenAddressError) { self.address = try ListenAddress(listener.address) } catch {
            throw Problem(.address(error))
        }
        guard self.address.isLocal || listener.key != nil || listener.allowAnyone else {
            throw Problem(.openToAnyone)
        }
        self.permissions = try Self.permissions(of: listener, self.address)
        var policy = ListenerPolicy(roles: listener.roles)
        policy.key = listener.key.map { Array($0.utf8) }
        policy.keyName = listener.address
        policy.navigationUsers = settings.navigationUsers
        self.policy = policy
    }

    private static func permissions(
        of listener: Settings.Listener, _ address: ListenAddress
    ) throws(Problem) -> SocketPermissions {
        var permissions = SocketPermissions()
        if case .tcp = address {
            guard listener.mode == nil, listener.group == nil else { throw Problem(.permissionsOfTCP) }
            return permissions
        }
        if let mode = listener.mode { permissions.mode = mode }
        if let name = listener.group {
            guard let group = SocketPermissions.group(name) else { throw Problem(.unknownGroup(name)) }
            permissions.group = group
        }
        return permissions
    }

    private struct Problem: Error {
        let problem: ListenerProblem
        init(_ problem: ListenerProblem) { self.problem = problem }
    }
}
