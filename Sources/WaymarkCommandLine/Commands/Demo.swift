package import ArgumentParser
internal import Foundation
internal import Logging
internal import WaymarkClient
internal import WaymarkConfiguration
internal import WaymarkDaemon
internal import WaymarkInspectorServer
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRoutes
internal import WaymarkTexts

package struct Demo: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "See all of it work: a daemon, a navigation client and a cluster in one process.",
        discussion: """
            A client drives a real route from Vaduz to Balzers. Half-way the vehicle asks for a charging stop, the \
            client estimates, the user accepts, the route changes, and the drive ends by arrival. With --route the \
            vehicle's request is declined, because there is no second route for another file.

            In a terminal the drive stands still for a moment after each of these steps, so that it can be read. The \
            exit status is 0 only if everything happened that should.
            """)

    private static let vehicle = "demo-car"
    /// How long the drive stops after each step of the story in a terminal.
    private static let readingTime = Duration.milliseconds(1_500)

    @Option(
        help: "Drive this engine's answer in place of the shipped route; - for standard input.",
        completion: .file(extensions: ["json"]))
    var route: String?
    @Option(help: "How many times faster than real time, above 0, at most 10000; 60 without it.")
    var speed: Double?
    @Flag(help: "Print what the cluster receives as JSON, one object per line, see Docs/cluster-json.md.")
    var json = false
    #if Inspector
        @Flag(
            help:
                "Open the inspector's page on the demo, at 4 times real time unless --speed is given; it stays until Ctrl-C."
        )
        var inspect = false
    #endif

    package init() {}

    package func validate() throws { try checkSpeed(self.drivenSpeed) }

    private var isInspected: Bool {
        #if Inspector
            self.inspect
        #else
            false
        #endif
    }

    private var drivenSpeed: Double { self.speed ?? (self.isInspected ? 4 : 60) }

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
        let isDrawing = !self.json && Terminal.isInteractive && !self.isInspected
        let pace = ReadingPace(pause: isDrawing ? Self.readingTime : .zero)
        let app = ClusterApp(self.appOptions(isDrawing, pace))
        do {
            if isDrawing { Terminal.beginDrawing() }
            defer { if isDrawing { Terminal.endDrawing() } }
            let limit = self.timeMax(first)
            do {
                try await interruptible {
                    let drive = Task {
                        try await Self.withDaemon(folder, isObserved: self.isInspected) {
                            try await self.withPage(folder) {
                                try await self.drive(first, detour, folder, app, report, pace)
                            }
                        }
                    }
                    let deadline = Task {
                        do { try await Task.sleep(for: limit) } catch { return }
                        await report.fail("it was not over within \(limit)")
                        drive.cancel()
                    }
                    defer { deadline.cancel() }
                    // Past the deadline the report says so.
                    try await withTaskCancellationHandler {
                        do { try await drive.value } catch is CancellationError {}
                    } onCancel: {
                        drive.cancel()
                    }
                }
            } catch let status as ExitCode {
                // The page is closed only so. A drive that was interrupted has not failed.
                guard self.isInspected, status == ExitCode(130), await report.hasEnded else { throw status }
            }
        }
        // The screen is gone: the story remains.
        if isDrawing {
            for line in await app.story.flatMap({ Terminal.wrapped($0, columns: Terminal.size.columns) }) {
                Terminal.line(Terminal.printable(line))
            }
        }
        try await report.conclude(expectsDetour: detour != nil, isJSON: self.json)
    }

    private func appOptions(_ isDrawing: Bool, _ pace: ReadingPace) -> ClusterApp.Options {
        var options = ClusterApp.Options()
        options.title = "waymark demo"
        options.output = self.json ? .json : isDrawing ? .screen : .lines
        options.prompts = .yes
        options.until = .ended
        options.keys = ["Ctrl-C ends the demo"]
        options.answerDelay = isDrawing ? Self.readingTime : .zero
        options.onStep = { pace.stand() }
        return options
    }

    /// Far more than the demo takes on a busy machine: a demo that takes longer hangs.
    private func timeMax(_ answer: RouteAnswer) -> Duration {
        self.isInspected
            ? .seconds(604_800) : .seconds(240) + answer.routes[0].duration / self.drivenSpeed * 3
    }

    /// Runs `body` beside a daemon on sockets of its own.
    static func withDaemon(
        _ folder: String, isObserved: Bool = false, _ body: () async throws -> Void
    ) async throws {
        var settings = Settings()
        settings.listeners = [
            .init(address: "unix:\(folder)/vehicle.sock", roles: [.vehicle]),
            .init(address: "unix:\(folder)/navigation.sock", roles: [.navigation]),
        ]
        if isObserved {
            var listener = Settings.Listener(address: "unix:\(folder)/observe.sock", roles: [.observer])
            listener.visibility = .content
            settings.listeners.append(listener)
        }
        // A busy machine should be slow, not fail.
        settings.waitForPeers(.seconds(60))
        let daemon = try await Daemon.start(
            settings, logger: Logger(label: "waymarkd") { _ in SwiftLogNoOpLogHandler() })
        do { try await body() } catch {
            await daemon.shutdown()
            throw error
        }
        await daemon.shutdown()
    }

    /// Beside the JSON, if that is printed.
    private func tell(_ text: String) { if self.json { Terminal.note(text) } else { Terminal.line(text) } }

    /// Runs `body` beside the inspector's page, if that is wanted. The page stays until the demo is interrupted.
    private func withPage(_ folder: String, _ body: () async throws -> Void) async throws {
        #if Inspector
            guard self.inspect else { return try await body() }
            let program = try await Inspect.open(
                observing: .unix(path: "\(folder)/observe.sock"),
                speakingTo: .unix(path: "\(folder)/vehicle.sock"))
            // On a line of its own, so that it can be selected whole. It leads to the car.
            let link = "\(program.link)&vehicle=\(Self.vehicle)"
            self.tell("watch it in a browser:")
            self.tell(link)
            let removeFile = Inspect.openBrowser(link)
            defer { removeFile() }
            let page = Task { await program.run { _ in } }
            defer { page.cancel() }
            try await body()
            self.tell("the drive is over; Ctrl-C closes the page")
            await withTaskCancellationHandler {
                await page.value
            } onCancel: {
                page.cancel()
            }
        #else
            try await body()
        #endif
    }

    private func drive(
        _ first: RouteAnswer, _ detour: EngineRoute?, _ folder: String, _ app: ClusterApp,
        _ report: DemoReport, _ pace: ReadingPace
    ) async throws {
        let cluster = try await self.cluster(folder, app, report)
        await app.attach(cluster)
        let client = try await NavigationClient.connect(
            to: .unix(path: "\(folder)/navigation.sock"), .init(id: "demo-navigation"))
        let desk = DemoDesk(detour: detour, report: report)
        let session = try await client.openSession(
            vehicles: .vehicles([Self.vehicle]), receipts: .milliseconds(500),
            onWaypoint: { inquiry, _ in await desk.answer(inquiry) })
        let events = await session.events
        Task { for await event in events { await desk.apply(event) } }
        var options = Guide.Options()
        options.drive.speedFactor = self.drivenSpeed
        options.pace = pace.pace
        options.pause = (
            at: 0.5,
            body: {
                await app.tell("the vehicle asks for a stop at \(Story.name(Self.chargingStop)), to charge")
                await desk.request { await cluster.request(.waypoint(Self.chargingStop)) }
            }
        )
        var trip = first.trip(id: "demo-trip")
        if self.route == nil { trip.destination.nameVariants = ["Balzers"] }
        let guide = Guide(session, first.routes[0], trip: trip, options: options)
        await desk.attach(guide)
        _ = try await guide.run()
        // Waits until the cluster has received the end.
        for await _ in app.ends { break }
        await desk.finish()
        if app.options.output == .screen { try await Task.sleep(for: Self.readingTime) }
        await client.close()
        await cluster.close()
    }

    /// The stop that the vehicle requests half-way.
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
            await report.count(update)
            await app.apply(update)
        }
        await app.apply(.connecting)
        let cluster = try await VehicleEndpoint.connect(
            to: .unix(path: "\(folder)/vehicle.sock"), configuration)
        await cluster.setReady(true)
        return cluster
    }
}
