package import ArgumentParser
internal import Foundation
internal import Logging
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
            A client drives a real route from Vaduz to Balzers. Half-way the vehicle asks for a charging stop, the client
            estimates, the user accepts, the route changes, and the drive ends by arrival. With --route the vehicle's request
            is declined, because there is no second route for another file.
            The exit status is 0 only if everything happened that should.
            """)

    private static let vehicle = "demo-car"

    @Option(
        help: "Drive this engine's answer in place of the shipped route; - for standard input.",
        completion: .file(extensions: ["json"]))
    var route: String?
    @Option(help: "How many times faster than real time, above 0, at most 10000.") var speed = 60.0
    @Flag(help: "Print what the cluster receives as JSON, one object per line, see Docs/cluster-json.md.")
    var json = false

    package init() {}

    package func validate() throws { try checkSpeed(self.speed) }

    package func run() async throws {
        let first =
            try self.route.map { try readAnswer($0, nil) }
            ?? readAnswer(Resources.route("vaduz-balzers"), name: "route")
        let detour =
            self.route == nil
            ? try readAnswer(Resources.route("vaduz-balzers-charging"), name: "route").routes[0] : nil
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "waymark-demo-\(UInt32.random(in: 0 ... .max))"
        ).path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let cleaning: @Sendable () -> Void = {
            do { try FileManager.default.removeItem(atPath: folder) } catch { /* The system clears it. */  }
        }
        let ending = Ending.include(cleaning)
        defer {
            cleaning()
            Ending.leaveOut(ending)
        }
        let report = DemoReport()
        let isDrawing = !self.json && Terminal.isInteractive
        let app = ClusterApp(
            title: Self.vehicle, output: self.json ? .json : isDrawing ? .screen : .lines, prompts: .yes,
            until: .ended)
        do {
            if isDrawing { Terminal.beginDrawing() }
            defer { if isDrawing { Terminal.endDrawing() } }
            let drive = Task {
                try await Self.withDaemon(folder) { try await self.drive(first, detour, folder, app, report) }
            }
            let limit = self.timeMax(first)
            let deadline = Task {
                do { try await Task.sleep(for: limit) } catch { return }
                await report.fail("it was not over within \(limit)")
                drive.cancel()
            }
            defer { deadline.cancel() }
            try await interruptible({ drive.cancel() }) {
                // Past the deadline the report says so.
                do { try await drive.value } catch is CancellationError {}
            }
        }
        try await report.conclude(expectsDetour: detour != nil, isJSON: self.json)
    }

    /// Far more than the demo takes on a busy machine: whatever takes longer hangs.
    private func timeMax(_ answer: RouteAnswer) -> Duration {
        .seconds(180) + answer.routes[0].duration / self.speed * 3
    }

    /// Runs `body` beside a daemon on sockets of its own.
    static func withDaemon(_ folder: String, _ body: () async throws -> Void) async throws {
        var settings = Settings()
        settings.listeners = [
            .init(address: "unix:\(folder)/vehicle.sock", roles: [.vehicle]),
            .init(address: "unix:\(folder)/navigation.sock", roles: [.navigation]),
        ]
        // On a machine that is busy it is to be slow, not to fail.
        settings.connection.handshakeTimeout = .seconds(60)
        let daemon = try await Daemon.start(
            settings, logger: Logger(label: "waymarkd") { _ in SwiftLogNoOpLogHandler() })
        do { try await body() } catch {
            await daemon.shutdown()
            throw error
        }
        await daemon.shutdown()
    }

    private func drive(
        _ first: RouteAnswer, _ detour: EngineRoute?, _ folder: String, _ app: ClusterApp,
        _ report: DemoReport
    ) async throws {
        let cluster = try await self.cluster(folder, app, report)
        await app.attach(cluster)
        let client = try await NavigationClient.connect(
            to: .unix(path: "\(folder)/navigation.sock"), .init(id: "demo-navigation"))
        let desk = DemoDesk(detour: detour, report: report)
        let session = try await client.openSession(
            vehicles: .vehicles([Self.vehicle]), receipts: .milliseconds(500),
            onEvent: { await desk.take($0) }, onWaypoint: { await desk.answer($0) })
        var options = Guide.Options()
        options.drive.speedFactor = self.speed
        options.pause = (
            at: 0.5,
            body: { await desk.request { await cluster.requestWaypoint(Self.chargingStop) } }
        )
        let guide = Guide(session, first.routes[0], trip: first.trip(id: "demo-trip"), options: options)
        await desk.attach(guide)
        _ = try await guide.run()
        // What the drive said last is on its way to the cluster.
        for await _ in app.ends { break }
        await desk.finish()
        await client.close()
        await cluster.close()
    }

    /// What the vehicle asks for half-way.
    private static let chargingStop = Waypoint(
        center: Coordinate(latitude: 47.075571, longitude: 9.507593),
        nameVariants: ["Charging station Gewerbestrasse", "Charging"],
        stopKind: .charging,
        charge: ChargeStop(
            arrivalBatteryPerMille: 180, departureBatteryPerMille: 800, connector: .ccs2, powerWatts: 150_000)
    )

    private func cluster(
        _ folder: String, _ app: ClusterApp, _ report: DemoReport
    ) async throws -> VehicleEndpoint {
        var configuration = VehicleEndpoint.Configuration(vehicle: Self.vehicle, endpoint: "cluster")
        configuration.onPrompt = { await app.ask($0) }
        configuration.onEveryUpdate = { update in
            await report.take(update)
            await app.take(update)
        }
        let cluster = try await VehicleEndpoint.connect(
            to: .unix(path: "\(folder)/vehicle.sock"), configuration)
        await cluster.setReady(true)
        return cluster
    }
}

/// Stands between the vehicle's request and the drive.
private actor DemoDesk {
    private let detour: EngineRoute?
    private let report: DemoReport
    private var guide: Guide?
    private var request: Task<Void, Never>?
    /// The client has been asked, or the request has ended without that.
    private let (asked, ask) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))

    init(detour: EngineRoute?, report: DemoReport) {
        self.detour = detour
        self.report = report
    }

    func attach(_ guide: Guide) { self.guide = guide }

    /// Sends the vehicle's request; returns once it has come to the client, so that the drive cannot be over before.
    func request(_ send: @escaping @Sendable () async -> RequestResult) async {
        let (report, ask) = (self.report, self.ask)
        self.request = Task {
            await report.setOutcome(await send())
            ask.yield()
        }
        for await _ in self.asked { break }
    }

    /// Waits for the request's outcome at the vehicle.
    func finish() async {
        await self.request?.value
        if let guide = self.guide { await self.report.setReroutes(await guide.reroutes) }
    }

    func answer(_ inquiry: WaypointInquiry) async -> WaypointAnswer {
        defer { self.ask.yield() }
        guard let detour = self.detour, let guide = self.guide else { return .decline(.notSupported) }
        await guide.inquiryBegan(inquiry.vehicle)
        var route = detour
        route.take([detour.waypoints[0], inquiry.waypoint, detour.waypoints[2]])
        await guide.promise(route, to: inquiry.vehicle)
        let estimates = TravelEstimates(distanceRemaining: route.distance, timeRemaining: route.duration)
        return .estimates(estimates) { /* The guide goes on when it hears the result. */  }
    }

    func take(_ event: SessionEvent) async {
        switch event {
        case .waypointResult(let vehicle, let result):
            await self.guide?.inquiryEnded(vehicle, isAccepted: result == .accepted)
        case .rejected(let field, let reason):
            await self.report.fail("the gateway refused \(field): \(reason)")
        case .ended: await self.guide?.stop()
        default: break  // Nothing to do.
        }
    }
}
