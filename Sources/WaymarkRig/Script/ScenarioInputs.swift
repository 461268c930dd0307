internal import ProcessIO
package import WaymarkConfiguration
internal import WaymarkHistory
internal import WaymarkLint
package import WaymarkRecording
package import WaymarkRoutes
package import WaymarkScenario
package import WaymarkTexts

/// The files that a scenario names, read.
package struct ScenarioInputs: Sendable {
    /// By what the scenario calls them.
    package var routes: [String: RouteAnswer] = [:]
    package var profiles: [String: ClusterProfile] = [:]
    package var settings: Settings?
    /// The same, as it was read.
    package var settingsText: String?
    /// The folder of the scenario, in which its programs run.
    package var folder = "."
    /// What is in the recordings, likewise.
    package var recordings: [String: RecordedConversation] = [:]
    /// How many times faster than recorded replayed peers speak.
    package var replaySpeed = 1.0
    /// The pre-shared key that replayed peers say; empty without one.
    package var credential: [UInt8] = []
    /// The scenario and all that it names, as they were read: for the recording.
    package var sources: [MCAP.Attachment] = []

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

    /// The clock that it is run by, if a user wants none or this one.
    package func clock(wanted: RunClock? = nil) -> RunClock {
        if let wanted { return wanted }
        return self.needsRealClock ? .real : .virtual
    }

    /// Why it cannot be run by a clock.
    package func obstacles(_ clock: RunClock = .virtual) -> [ConfigurationError] {
        var errors: [ConfigurationError] = []
        func fail(_ location: SourceLocation, _ reason: String) {
            errors.append(ConfigurationError(location: location, reason: reason))
        }
        for allowance in self.allowances where LintID(rawValue: allowance.rule) == nil {
            let hint = Spelling.hint(allowance.rule, of: LintID.allCases.map(\.rawValue))
            fail(allowance.location, "\(allowance.rule) is no lint rule\(hint)")
        }
        if self.clock == .virtual, clock == .real {
            fail(self.start, "the scenario wants the virtual clock, and cannot be run by the real one")
        }
        if self.clock == .real, clock == .virtual {
            fail(self.start, "the scenario wants the real clock, and cannot be run by the virtual one")
        }
        for program in self.programs {
            if clock == .virtual {
                fail(
                    program.command.location,
                    "a program cannot take part in virtual time: it needs clock: real")
            }
            if !program.connects {
                fail(
                    program.command.location,
                    "a program is started when the scenario begins: \(program.peer) cannot have connects: false"
                )
            }
            for reason in program.unknownPlaceholders { fail(program.command.location, reason) }
        }
        self.findStepsThatCannotBe(fail)
        return errors
    }

    private var start: SourceLocation { SourceLocation(file: self.file, line: 1, column: 1) }

    /// Steps that need a drive, or a peer that the rig simulates.
    private func findStepsThatCannotBe(_ fail: (SourceLocation, String) -> Void) {
        let programs = self.programs.map(\.peer)
        for step in self.steps {
            if let first = self.clients.first, programs.contains(first.peer) {
                switch step.waiting {
                case .position(.meters), .position(.percent):
                    fail(step.location, "how far a program has driven is not known: at must be a time here")
                default: break
                }
            }
            guard let action = step.action else { continue }
            if let program = programs.first(where: action.actor.contains) {
                if case .read = action.kind { continue }
                fail(
                    action.location,
                    "\(program) is a program, which decides itself what it does")
            }
            if let name = self.replayedName(of: action.actor) {
                fail(action.location, "\(name) does what was recorded, and nothing else")
            }
            guard case .drive(nil, _, _) = action.kind, case .client(let id) = action.actor,
                let client = self.clients.first(where: { $0.id == id }),
                client.route ?? self.route == nil
            else { continue }
            fail(action.location, "client \(id) has no route to drive")
        }
    }

    /// Why it cannot be run against a gateway that is not the rig's own.
    package func obstaclesAgainstOthers() -> [ConfigurationError] {
        var errors: [ConfigurationError] = []
        for fault in self.faults + self.steps.flatMap(\.faults) {
            guard case .gateway(let kind) = fault.target else { continue }
            errors.append(
                ConfigurationError(
                    location: fault.location,
                    reason: "--against: the gateway is not the rig's, which cannot \(kind.rawValue) it"))
        }
        if self.gateway != PrivateGateway() {
            let location = self.gateway.settings?.location ?? self.start
            errors.append(
                ConfigurationError(
                    location: location,
                    reason: "--against: the gateway has its own settings, so gateway: must go"))
        }
        return errors
    }
}
