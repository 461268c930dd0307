package import WaymarkConfiguration
package import WaymarkRoutes

/// The files that a scenario names, read.
package struct ScenarioInputs: Sendable {
    /// By what the scenario calls them.
    package var routes: [String: RouteAnswer] = [:]
    package var profiles: [String: ClusterProfile] = [:]
    package var settings: Settings?

    package init() {}

    func route(_ reference: Scenario.Reference?) -> RouteAnswer? {
        reference.flatMap { self.routes[$0.text] }
    }
}

extension Scenario {
    /// All routes that it names.
    package var routes: [Reference] {
        let ofActions = self.steps.flatMap { step -> [Reference] in
            switch step.action?.kind {
            case .drive(let route?, _, _), .reroute(let route, _): [route]
            case .preview(let routes): routes
            default: []
            }
        }
        return [self.route].compactMap(\.self)
            + self.clients.flatMap { [$0.route, $0.detour].compactMap(\.self) }
            + ofActions
    }

    /// All profiles that it names.
    package var profiles: [Reference] { self.vehicles.flatMap { $0.endpoints.compactMap(\.profile) } }

    /// What it expects, in words: the scenario, then its steps, then the end.
    package var listing: [(location: SourceLocation, text: String)] {
        let all =
            self.expectations + self.steps.flatMap(\.expectations) + [self.ending].compactMap(\.self)
        return all.map { ($0.location, $0.text) }
    }

    /// Why it cannot be run in virtual time.
    package func obstacles() -> [ConfigurationError] {
        var errors: [ConfigurationError] = []
        let start = SourceLocation(file: self.file, line: 1, column: 1)
        func fail(_ location: SourceLocation, _ reason: String) {
            errors.append(ConfigurationError(location: location, reason: reason))
        }
        for allowance in self.allowances where LintID(rawValue: allowance.rule) == nil {
            fail(allowance.location, "\(allowance.rule) is no lint rule")
        }
        if self.clock == .real { fail(start, "clock: real is not supported yet") }
        for command in self.commands { fail(command.location, "programs under test are not supported yet") }
        for replay in self.replays { fail(replay.recording.location, "replay is not supported yet") }
        for step in self.steps {
            guard let action = step.action, case .drive(nil, _, _) = action.kind else { continue }
            guard case .client(let id) = action.actor,
                let client = self.clients.first(where: { $0.id == id }),
                client.route ?? self.route == nil
            else { continue }
            fail(action.location, "client \(id) has no route to drive")
        }
        return errors
    }

    private var commands: [Command] {
        self.vehicles.flatMap { $0.endpoints.compactMap(\.command) } + self.clients.compactMap(\.command)
    }

    private var replays: [Replay] {
        self.vehicles.compactMap(\.replay) + self.clients.compactMap(\.replay)
    }
}
