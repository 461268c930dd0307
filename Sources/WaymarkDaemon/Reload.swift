internal import Logging
package import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkTelemetry
internal import WaymarkTransport

extension Daemon {
    /// Applies new settings. Connections that they no longer allow get a Goodbye; the others stay open.
    ///
    /// Listeners are identified by their addresses in the settings. New ones are opened before anything changes, so an address
    /// cannot move in one reload between listeners that conflict.
    ///
    /// - Throws: If the settings are invalid or a listener cannot be opened. Then nothing has changed.
    package mutating func reload(_ settings: Settings) async throws(DaemonError) {
        let plans = try Self.plans(for: settings, self.inherited)
        let known = Set(self.listeners.all.map(\.plan.address))
        // A daemon that exits as idle during this would close the listeners that it opens, and no other process has them.
        self.suspendIdleExit()
        let added: [Entry]
        do throws(DaemonError) {
            added = try await self.open(
                plans.filter { !known.contains($0.address) }.map { PendingListener($0) })
        } catch {
            self.resumeIdleExit()
            throw error
        }
        let needingRestart =
            self.settings.needingRestart(for: settings) + self.filesNeedingRestart(for: plans)
        if !needingRestart.isEmpty {
            self.logger.warning(
                "\(LoggedEvent.restartNeeded)",
                metadata: [LogKey.settings: "\(needingRestart.joined(separator: ", "))"])
        }
        await self.change(to: plans, added)
        await self.driver.reconfigure(settings.policy, Self.limits(of: settings, self.logger))
        self.settings = settings
        self.setIdleExit()
        self.logger.notice("\(LoggedEvent.reloaded)")
    }

    /// Adds the new listeners, closes the removed ones, and gives the others their new policy.
    private func change(to plans: [ListenerPlan], _ added: [Entry]) async {
        var removed = self.listeners.all
        var kept: [Entry] = []
        for plan in plans {
            if let index = removed.firstIndex(where: { $0.plan.address == plan.address }) {
                let entry = removed.remove(at: index)
                entry.listener.currentPolicy.set(plan.policy)
                kept.append(Entry(plan: plan, listener: entry.listener))
            } else if let entry = added.first(where: { $0.plan == plan }) {
                self.announce(entry)
                kept.append(entry)
            }
        }
        for entry in removed {
            entry.listener.currentPolicy.set(nil)
            await entry.listener.close()
            self.logger.notice(
                "\(LoggedEvent.listenerClosed)", metadata: [LogKey.address: "\(entry.listener.address)"])
        }
        self.listeners.all = kept
    }

    /// Changed permissions of Unix sockets that are already open.
    private func filesNeedingRestart(for plans: [ListenerPlan]) -> [String] {
        plans.filter { plan in
            self.listeners.all.contains {
                $0.plan.address == plan.address && $0.plan.permissions != plan.permissions
            }
        }.map { "mode or group of \($0.address)" }
    }
}

extension Settings {
    /// The keys that differ in `other` and take effect only at the start.
    fileprivate func needingRestart(for other: Settings) -> [String] {
        var keys: [String] = []
        if self.threads != other.threads { keys.append("threads") }
        if self.fault != other.fault { keys.append("debug.fault") }
        if self.instance != other.instance { keys.append("instance") }
        return keys
    }
}
