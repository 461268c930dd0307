package import ArgumentParser
internal import Foundation
internal import Logging
internal import Synchronization
internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkDaemon
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes

package struct Demo: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "See all of it work: a daemon, a navigation client and a cluster in one process.",
        discussion: """
            A client drives a real route from Vaduz to Balzers. Half-way the vehicle asks for a charging stop in Triesen,
            the client estimates, the user accepts, the route changes, and the drive ends by arrival. With --route the
            vehicle's request is declined, because there is no second route for another file.
            The exit status is 0 only if everything happened that should.
            """)

    @Option(help: "Drive this engine's answer in place of the shipped route.") var route: String?
    @Option(help: "How many times faster than real time.") var speed = 60.0
    @Flag(help: "Print what the cluster receives as JSON, one object per line.") var json = false

    package init() {}

    package func validate() throws {
        guard self.speed > 0, self.speed <= 10_000 else {
            throw ValidationError("--speed must be above 0, at most 10000")
        }
    }

    package func run() async throws {
        let route = try self.firstRoute()
        let detour =
            self.route == nil ? try RouteReader.read(Resources.route("vaduz-triesen-balzers")).chosen : nil
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "waymark-demo-\(UInt32.random(in: 0 ... .max))"
        ).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer {
            do { try FileManager.default.removeItem(atPath: folder) } catch
            { /* The system clears its folder. */  }
        }
        var settings = Settings()
        settings.listeners = [
            .init(address: "unix:\(folder)/vehicle.sock", roles: [.vehicle]),
            .init(address: "unix:\(folder)/navigation.sock", roles: [.navigation]),
        ]
        let daemon = try await Daemon.start(
            settings, logger: Logger(label: "waymarkd") { _ in SwiftLogNoOpLogHandler() })
        let report = try await self.drive(route, detour, folder)
        await daemon.shutdown()
        try await report.conclude(expectsDetour: detour != nil, isJSON: self.json)
    }

    private func firstRoute() throws -> EngineRoute {
        if let file = self.route { return try readAnswer(file, trafficSide: nil).chosen }
        return try RouteReader.read(Resources.route("vaduz-balzers")).chosen
    }

    private func drive(_ route: EngineRoute, _ detour: EngineRoute?, _ folder: String) async throws
        -> DemoReport
    {
        let report = DemoReport()
        let (ended, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let cluster = try await self.cluster(folder, report) { end.finish() }
        let client = try await NavigationClient.connect(
            to: .unix(path: "\(folder)/navigation.sock"), .init(id: "demo-navigation"))
        let (guides, hand) = AsyncStream.makeStream(of: Guide.self, bufferingPolicy: .bufferingNewest(1))
        let session = try await client.openSession(
            vehicles: .vehicles(["demo-car"]), receipts: .milliseconds(500),
            onEvent: { await report.take($0) },
            onWaypoint: { _ in
                guard let detour else { return .decline(.notSupported) }
                let estimates = TravelEstimates(
                    distanceRemaining: detour.distance, timeRemaining: detour.duration)
                return .estimates(estimates) {
                    for await guide in guides {
                        do { try await guide.reroute(detour, .waypointModified) } catch {
                            await report.fail("\(error)")
                        }
                        return
                    }
                }
            })
        let guide = Guide(session, route, tripID: "demo-trip", speed: self.speed)
        hand.yield(guide)
        let request = Task { await self.requestStop(cluster, guide, report) }
        try await guide.run()
        for await _ in ended {}
        _ = await request.value
        await report.setReroutes(await guide.reroutes)
        await client.close()
        await cluster.close()
        return report
    }

    /// Half-way the vehicle wants to charge.
    private func requestStop(_ cluster: VehicleEndpoint, _ guide: Guide, _ report: DemoReport) async {
        while await guide.progress < 0.3 {
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
        }
        let stop = Waypoint(
            center: Coordinate(latitude: 47.107, longitude: 9.528),
            nameVariants: ["Charging station Triesen"],
            stopKind: .charging,
            charge: ChargeStop(
                arrivalBatteryPerMille: 180, departureBatteryPerMille: 800, connector: .ccs2,
                powerWatts: 150_000))
        await report.setOutcome(await cluster.requestWaypoint(stop))
    }

    private func cluster(
        _ folder: String, _ report: DemoReport, whenEnded: @escaping @Sendable () -> Void
    ) async throws -> VehicleEndpoint {
        var configuration = VehicleEndpoint.Configuration(vehicle: "demo-car", endpoint: "cluster")
        configuration.onPrompt = { _ in true }
        let isJSON = self.json
        let isDrawing = !isJSON && Terminal.isInteractive
        if isDrawing { Terminal.clear() }
        let last = Mutex("")
        configuration.onUpdate = { update in
            await report.take(update)
            if isJSON {
                Terminal.line(ClusterJSON.update(update))
            } else if isDrawing {
                Terminal.draw(ClusterScreen.lines(update.state, title: "demo-car"))
            } else if let next = update.state.nextManeuver, update.name == "upcomingManeuvers" {
                let line =
                    "\(ClusterScreen.arrow(next.type))  \(next.instructionVariants.first ?? "\(next.type)")"
                let isNew = last.withLock { last in
                    defer { last = line }
                    return last != line
                }
                if isNew { Terminal.line(line) }
            }
            if case .ended = update.state.phase { whenEnded() }
        }
        let cluster = try await VehicleEndpoint.connect(
            to: .unix(path: "\(folder)/vehicle.sock"), configuration)
        await cluster.setReady(true)
        return cluster
    }
}

/// What was seen, and whether it was all that should be.
private actor DemoReport {
    private var maneuvers: Set<ManeuverID> = []
    private var generations: Set<UInt32> = []
    private var frames = 0
    private var endReason = ""
    private var holdsStop = false
    private var outcome: RequestResult?
    private var reroutes = 0
    private var failures: [String] = []

    func take(_ update: VehicleUpdate) {
        self.frames += 1
        if update.state.generation > 0 { self.generations.insert(update.state.generation) }
        if let next = update.state.upcomingManeuvers.first { self.maneuvers.insert(next) }
        if update.state.trip?.waypoints.isEmpty == false { self.holdsStop = true }
        if case .ended(let reason) = update.state.phase { self.endReason = reason }
    }

    func take(_ event: SessionEvent) {
        if case .rejected(let field, let reason) = event {
            self.fail("the gateway refused \(field): \(reason)")
        }
    }

    func setOutcome(_ outcome: RequestResult) { self.outcome = outcome }
    func setReroutes(_ count: Int) { self.reroutes = count }
    func fail(_ reason: String) { self.failures.append(reason) }

    /// Prints the summary.
    ///
    /// - Throws: A failing exit status if something expected did not happen.
    func conclude(expectsDetour: Bool, isJSON: Bool) throws {
        let wanted: RequestResult = expectsDetour ? .accepted : .notSupported
        if self.outcome != wanted {
            self.fail("the charging stop was \(self.outcome.map { "\($0)" } ?? "never answered")")
        }
        if self.reroutes != (expectsDetour ? 1 : 0) { self.fail("there were \(self.reroutes) reroutes") }
        if expectsDetour, !self.holdsStop { self.fail("the cluster never held the charging stop") }
        if self.endReason != "finished" { self.fail("the drive ended with \(self.endReason)") }
        if self.maneuvers.isEmpty { self.fail("the cluster saw no maneuver") }
        if isJSON {
            Terminal.line(
                ClusterJSON.line([
                    "kind": "summary", "messages": self.frames, "maneuvers": self.maneuvers.count,
                    "generations": self.generations.count, "end": self.endReason, "failures": self.failures,
                    "waypoint": self.outcome.map { "\($0)" } ?? "",
                ]))
        } else {
            Terminal.line("")
            Terminal.line(
                "demo: the cluster received \(self.frames) messages, showed \(self.maneuvers.count) maneuvers of "
                    + "\(self.generations.count) route(s); charging stop \(self.outcome.map { "\($0)" } ?? "unanswered"); "
                    + "the drive ended: \(self.endReason)")
            for failure in self.failures { Terminal.note("demo failed: \(failure)") }
        }
        if !self.failures.isEmpty { throw ExitCode.failure }
    }
}
