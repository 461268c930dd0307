internal import Logging
package import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkTelemetry
internal import WaymarkTransport

// Other settings while the daemon runs.
extension Daemon {
    /// Takes over other settings. Connections that these allow stay, the others get a Goodbye.
    ///
    /// Listeners are told apart by their addresses in the settings. One that is new is opened before anything changes, so an
    /// address cannot move in one step between listeners that collide.
    ///
    /// - Throws: If the settings are wrong, or a listener cannot be opened: then nothing has changed.
    package mutating func reload(_ settings: Settings) async throws(DaemonError) {
        let plans = try Self.plans(for: settings, self.inherited)
        let known = Set(self.entrances.all.map(\.plan.address))
        let added = try await self.open(plans.filter { !known.contains($0.address) }.map { Opening($0) })
        let unchangeable = self.settings.needingRestart(for: settings) + self.filesNeedingRestart(for: plans)
        if !unchangeable.isEmpty {
            self.logger.warning(
                "\(LoggedEvent.restartNeeded)",
                metadata: [LogKey.settings: "\(unchangeable.joined(separator: ", "))"])
        }
        await self.change(to: plans, added)
        await self.driver.reconfigure(settings.policy, Self.limits(of: settings, self.logger))
        self.settings = settings
        self.setIdleExit()
        self.logger.notice("\(LoggedEvent.reloaded)")
    }

    /// Opens what was added, closes what is gone, and lets the rest have its new rules.
    private func change(to plans: [ListenerPlan], _ added: [Entry]) async {
        var gone = self.entrances.all
        var entrances: [Entry] = []
        for plan in plans {
            if let index = gone.firstIndex(where: { $0.plan.address == plan.address }) {
                let entry = gone.remove(at: index)
                entry.listener.rules.set(plan.policy)
                entrances.append(Entry(plan: plan, listener: entry.listener))
            } else if let entry = added.first(where: { $0.plan == plan }) {
                self.announce(entry)
                entrances.append(entry)
            }
        }
        for entry in gone {
            entry.listener.rules.set(nil)
            await entry.listener.close()
            self.logger.notice(
                "\(LoggedEvent.listenerClosed)", metadata: [LogKey.address: "\(entry.listener.address)"])
        }
        self.entrances.all = entrances
    }

    /// What was said of the files of Unix sockets that are open already, and differs.
    private func filesNeedingRestart(for plans: [ListenerPlan]) -> [String] {
        plans.filter { plan in
            self.entrances.all.contains {
                $0.plan.address == plan.address && $0.plan.permissions != plan.permissions
            }
        }.map { "mode or group of \($0.address)" }
    }
}

extension Settings {
    /// The keys in which `other` differs and that are read at the start only.
    fileprivate func needingRestart(for other: Settings) -> [String] {
        var keys: [String] = []
        if self.threads != other.threads { keys.append("threads") }
        if self.fault != other.fault { keys.append("debug.fault") }
        return keys
    }
}
