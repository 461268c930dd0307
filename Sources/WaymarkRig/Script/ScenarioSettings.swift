package import WaymarkConfiguration
internal import WaymarkGateway
internal import WaymarkProtocol
internal import WaymarkScenario

extension VirtualRun.Settings {
    /// The gateway that a scenario wants. What it says itself counts before its file of settings.
    init(_ scenario: Scenario, _ inputs: ScenarioInputs, seed: UInt64, _ clock: RunClock) {
        self.init()
        self.seed = seed
        self.isOverSockets = clock == .real
        if let settings = inputs.settings { self.use(settings) }
        let gateway = scenario.gateway
        if let arbitration = gateway.arbitration { self.policy.arbitration = arbitration }
        if let grace = gateway.grace { self.policy.limits.grace = grace }
        if let request = gateway.request { self.policy.limits.requestTimeout = request }
        if let prompt = gateway.prompt { self.policy.limits.promptTimeout = prompt }
        if let share = gateway.share { self.policy.limits.shareTimeout = share }
        if let slow = gateway.slowConsumer { self.outbox.slowConsumerTimeout = slow }
        if let keepalive = gateway.keepalive { self.limits.keepalive = keepalive }
    }
}

extension VirtualRun.Settings {
    /// Takes over what a file of `waymarkd`'s settings says about the gateway itself, not about its listeners.
    package mutating func use(_ settings: Settings) {
        (self.policy, self.limits, self.outbox) = (settings.policy, settings.connection, settings.outbox)
    }
}
