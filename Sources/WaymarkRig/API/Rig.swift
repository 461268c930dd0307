internal import WaymarkConfiguration
public import WaymarkLint
internal import WaymarkProtocol
internal import WaymarkScenario

/// Runs a drive as a test: a gateway, vehicles and clients in virtual time, in this process, without sockets.
///
/// `body` says who takes part, what happens, and what must be true. The first call that needs it begins the run; what `body` did not
/// say is as in a scenario file: one vehicle `dut` with the endpoint `cluster`, one client `client` that drives `route` at once. When
/// `body` returns, the run ends: what ``Rig/watch(_:of:fileID:line:column:)`` and the lint rules watched is judged.
///
/// The same calls with the same seed are the same run, to the byte.
///
/// - Parameters:
///   - route: What clients drive that name no other route.
///   - startAt: Where drives begin.
///   - speed: How many times faster than the engine's speeds the drives are, above 0, at most 10 000.
///   - gateway: What differs from the gateway's defaults.
///   - seed: For all that is random: tokens, the times of reconnecting, `jitter`, `chaos`.
///   - atMost: The longest that the run may take, by its own clock, at most 8 760 h.
///   - fileID: Of the call, for the report, as `line` and `column`.
///   - line: Of the call.
///   - column: Of the call.
///   - body: The test.
/// - Returns: What `body` returns.
/// - Throws: ``RigFailure`` if something was not as expected, ``RigError`` for a wrong argument or a run that cannot go on,
///   `CancellationError` if the task is cancelled, and what `body` throws.
public func withRig<Result>(
    route: Rig.Route? = nil, startAt: Rig.Position? = nil, speed: Double = 1,
    gateway: Rig.GatewaySettings = Rig.GatewaySettings(), seed: UInt64 = 1,
    atMost: Duration = .seconds(3_600), fileID: String = #fileID, line: Int = #line, column: Int = #column,
    _ body: (Rig) async throws -> Result
) async throws -> Result {
    let rig = Rig(at: SourceLocation(file: fileID, line: line, column: column), seed: seed)
    try rig.set(route: route, startAt: startAt, speed: speed, gateway: gateway, atMost: atMost)
    let result = try await body(rig)
    try rig.finish()
    return result
}

/// A drive as a test, see ``withRig(route:startAt:speed:gateway:seed:atMost:fileID:line:column:_:)``.
///
/// Time passes only in calls that wait: `run`, ``expect(_:of:fileID:line:column:)``. What a vehicle or a client does takes effect at once.
public final class Rig {
    private let location: SourceLocation
    var scenario: Scenario
    private var inputs = ScenarioInputs()
    /// What is watched from the beginning.
    private var watched: [Scenario.Expected] = []
    /// nil: nothing has happened yet.
    private(set) var begun: RigEngine?

    init(at location: SourceLocation, seed: UInt64) {
        self.location = location
        self.scenario = Scenario(file: "\(location)", vehicles: [], clients: [])
        self.scenario.seed = seed
    }

    func set(
        route: Route?, startAt: Position?, speed: Double, gateway: GatewaySettings, atMost: Duration
    ) throws(RigError) {
        try Check.speed(speed, "speed")
        try Check.duration(atMost, "atMost", isPositive: true)
        if let route { self.scenario.route = try self.reference(route) }
        self.scenario.startAt = try startAt?.checked("startAt")
        self.scenario.speed = speed
        self.scenario.atMost = atMost
        self.scenario.gateway = try gateway.scenario()
        self.inputs.settings = try gateway.settings()
    }

    // MARK: Beginning and end

    /// Begins the run, if it has not begun.
    func engine() throws(RigError) -> RigEngine {
        if let begun { return begun }
        if self.scenario.vehicles.isEmpty { try self.addVehicle() }
        if self.scenario.clients.isEmpty { try self.addClient() }
        for client in self.scenario.clients where client.drivesAtOnce && client.route == nil {
            guard self.scenario.route == nil else { break }
            throw RigError("route", "\(client.id) drives at once, and has no route")
        }
        let engine = try RigEngine(self.scenario, self.inputs, watching: self.watched, at: self.location)
        self.begun = engine
        return engine
    }

    func finish() throws {
        guard let begun else {
            throw RigError("", "the body of withRig waits for nothing and expects nothing, so nothing ran")
        }
        try begun.finish()
    }

    /// Says who takes part, before the run begins.
    func prepare(_ what: String) throws(RigError) {
        if self.begun != nil { throw RigError(what, "the run has begun; say this before it") }
    }

    /// The name of a route in the scenario.
    func reference(_ route: Route) throws(RigError) -> Scenario.Reference {
        let answer = try route.answer()
        var (name, count) = (route.name, 1)
        while let other = self.inputs.routes[name], other != answer {
            count += 1
            name = "\(route.name) \(count)"
        }
        self.inputs.routes[name] = answer
        self.begun?.add(answer, named: name)
        return Scenario.Reference(name, at: self.location)
    }

    /// The name of a profile in the scenario.
    func reference(_ profile: Profile) throws(RigError) -> Scenario.Reference {
        let name = "profile-\(self.inputs.profiles.count + 1)"
        self.inputs.profiles[name] = try profile.content()
        return Scenario.Reference(name, at: self.location)
    }

    // MARK: Waiting

    /// Lets time pass until the drive of the first client is somewhere.
    ///
    /// - Parameters:
    ///   - position: In metres over all routes of the drive, in percent of its first route, or a time since it began.
    ///   - fileID: Of the call, for the report, as `line` and `column`.
    ///   - line: Of the call.
    ///   - column: Of the call.
    /// - Throws: ``RigFailure`` if the drive is over before it is there, or if what is watched was violated meanwhile.
    public func run(
        to position: Position, fileID: String = #fileID, line: Int = #line, column: Int = #column
    ) async throws {
        try self.engine().wait(
            .position(try position.checked("position")),
            at: SourceLocation(file: fileID, line: line, column: column))
    }

    /// Lets a time pass.
    ///
    /// - Parameters:
    ///   - duration: At most 8 760 h.
    ///   - fileID: Of the call, for the report, as `line` and `column`.
    ///   - line: Of the call.
    ///   - column: Of the call.
    /// - Throws: ``RigFailure`` if what is watched was violated meanwhile.
    public func run(
        for duration: Duration, fileID: String = #fileID, line: Int = #line, column: Int = #column
    ) async throws {
        try Check.duration(duration, "duration")
        try self.engine().wait(
            .time(duration), at: SourceLocation(file: fileID, line: line, column: column))
    }

    /// Lets time pass until an event: a message that crosses, or a state that begins to hold or holds already.
    ///
    /// - Parameters:
    ///   - event: What ends the wait.
    ///   - within: At most 8 760 h.
    ///   - fileID: Of the call, for the report, as `line` and `column`.
    ///   - line: Of the call.
    ///   - column: Of the call.
    /// - Throws: ``RigFailure`` if the event does not happen within `within`, or if what is watched was violated meanwhile.
    public func run(
        until event: Event, within: Duration, fileID: String = #fileID, line: Int = #line,
        column: Int = #column
    ) async throws {
        try Check.duration(within, "within")
        let location = SourceLocation(file: fileID, line: line, column: column)
        let engine = try self.engine()
        try engine.wait(.event(try self.resolve(event, nil, at: location), within: within), at: location)
    }

    /// Lets time pass until the drive of the first client is over, and what is under way has arrived.
    ///
    /// - Parameters:
    ///   - fileID: Of the call, for the report, as `line` and `column`.
    ///   - line: Of the call.
    ///   - column: Of the call.
    /// - Throws: ``RigFailure`` if it is not over when the run has taken as long as it may, or if what is watched was violated meanwhile.
    public func runToEnd(fileID: String = #fileID, line: Int = #line, column: Int = #column) async throws {
        try self.engine().waitForEnd(at: SourceLocation(file: fileID, line: line, column: column))
    }

    /// The time that the run has taken, by its own clock.
    public var time: Duration { self.begun?.time ?? .zero }

    // MARK: Expecting

    /// Lets time pass until all of these are decided. All count from the action right before this call, or from now.
    ///
    /// - Parameters:
    ///   - expectations: Each needs an end: `within`, or `for`.
    ///   - peer: Whose connection or state is meant where an expectation does not say it; nil: of the only vehicle.
    ///   - fileID: Of the call, for the report, as `line` and `column`.
    ///   - line: Of the call.
    ///   - column: Of the call.
    /// - Throws: ``RigFailure`` as soon as one fails, or if what is watched was violated meanwhile; ``RigError`` before any time passes if
    ///   a key, a value or a peer is not known.
    public func expect(
        _ expectations: Expectation..., of peer: (any Peer)? = nil, fileID: String = #fileID,
        line: Int = #line, column: Int = #column
    ) async throws {
        let location = SourceLocation(file: fileID, line: line, column: column)
        let engine = try self.engine()
        var resolved: [Scenario.Expected] = []
        for expectation in expectations {
            let expected = try self.resolve(expectation, peer, at: location)
            guard expected.isTimed else {
                let reason = expected.when == nil ? "has no end" : "waits for its event again and again"
                throw RigError("expect", "\(expected.text) \(reason); use watch, or give it a time")
            }
            resolved.append(expected)
        }
        guard !resolved.isEmpty else { throw RigError("expect", "needs an expectation") }
        try engine.expect(resolved)
    }

    /// Watches from now on, while other calls let time pass: any of them throws when this is violated. What has no end lasts to the end of
    /// the run.
    ///
    /// - Parameters:
    ///   - expectations: Those with ``Expectation/when(_:)`` are judged each time that the event happens.
    ///   - peer: Whose connection or state is meant where an expectation does not say it; nil: of the only vehicle.
    ///   - fileID: Of the call, for the report, as `line` and `column`.
    ///   - line: Of the call.
    ///   - column: Of the call.
    /// - Throws: ``RigError`` if a key, a value or a peer is not known.
    public func watch(
        _ expectations: Expectation..., of peer: (any Peer)? = nil, fileID: String = #fileID,
        line: Int = #line, column: Int = #column
    ) throws(RigError) {
        let location = SourceLocation(file: fileID, line: line, column: column)
        if self.scenario.vehicles.isEmpty { try self.addVehicle() }
        guard !expectations.isEmpty else { throw RigError("watch", "needs an expectation") }
        for expectation in expectations {
            let expected = try self.resolve(expectation, peer, at: location)
            if let begun { begun.watch(expected) } else { self.watched.append(expected) }
        }
    }

    // MARK: Lint rules

    /// Expects that a lint rule finds something.
    ///
    /// - Parameters:
    ///   - rule: A rule, as in Docs/lint.md.
    ///   - peer: Whose mistakes are expected; nil: all peers'.
    ///   - reason: Why, in 8 to 512 letters.
    /// - Throws: ``RigError`` for a wrong reason or peer.
    public func allow(_ rule: LintID, of peer: (any Peer)? = nil, reason: String) throws(RigError) {
        try Check.text(reason, "reason", 8...512)
        var selector: PeerSelector?
        if let peer { selector = try self.selector(peer.name) }
        let allowance = Scenario.Allowance(
            rule: rule.rawValue, of: selector, reason: reason, location: self.location)
        self.scenario.allowances.append(allowance)
        self.begun?.add(allowance)
    }

    /// The findings of lint rules so far that are not allowed. At the end of the run, any of them is a ``RigFailure``.
    public var findings: [Finding] { self.begun?.findings ?? [] }
}
