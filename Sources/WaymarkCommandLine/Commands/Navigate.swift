package import ArgumentParser
internal import Foundation
internal import ProcessIO
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

package struct Navigate: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Be a navigation client: drive along a route and guide vehicles.",
        discussion: """
            The route comes from a file, or from a live engine. With an engine, a vehicle's waypoint request leads to a \
            newly computed route; without one it is declined. With --on-destination accept, which needs an engine, the \
            client also drives where vehicles want to go, and stays until it is interrupted; then --to may be left out. \
            With --on-destination preview it shows them up to three routes first, and they choose and start one.

            With --preview the vehicles are shown the routes of the file, or up to three of the engine; they can choose \
            one and start at once.

            Guidance starts when the vehicle has a display that is ready, see --await-vehicle. With --commands it starts \
            when a line of standard input says start, or after preview, when a vehicle starts the trip that it is shown; \
            other lines are preview-first (--on-destination preview from now on), pause, resume, finish, cancel, gauge KEY \
            VALUE and quit. Its end is that of standard input.

            The exit status is 0 only if the vehicles arrived: 1 after a failure or a refusal, 2 if the vehicle ended \
            guidance, 3 if another client took over, 4 if a named vehicle never came or left, 5 if the route was lost.
            """)

    @Option(help: "An engine's answer, from a file; - for standard input.") var route: String?
    @Option(
        help: ArgumentHelp(
            "Valhalla's /trace_attributes of a leg of the route, from a file: its speed limits; once for each leg, in order.",
            valueName: "file"))
    var speedLimits: [String] = []
    @Option(help: "A live engine: valhalla=URL or osrm=URL.") var engine: String?
    @Option(help: "Where to start: LAT,LON in degrees.") var from: String?
    @Option(help: "Where to drive: LAT,LON in degrees.") var to: String?
    @Option(help: "A stop on the way: LAT,LON in degrees; may be given several times.") var via: [String] = []
    @OptionGroup var connection: ConnectionOptions
    @Option(help: "The vehicle to guide; may be given several times. Without it: any that asked.")
    var vehicle: [String] = []
    @OptionGroup var beginning: BeginningOptions
    @OptionGroup var content: DriveContentOptions
    @Option(help: "How many times faster than real time, above 0, at most 10000.") var speed = 1.0
    @Option(help: "This client's id.") var id = "waymark-navigate"
    @Option(help: "Answer to waypoint requests.") var onWaypoint = Navigator.Policy.OnWaypoint.accept
    @Option(help: "Answer to destination requests.") var onDestination = Navigator.Policy.OnDestination
        .decline
    @Flag(
        help: ArgumentHelp(
            "Stand at the start until a vehicle or an observer asks to simulate the drive, see waymark simulate; then drive as fast as it "
                + "says, and stand again when it says so."))
    var simulateWhenAsked = false
    @Option(help: "Leave the route after this many kilometres, as a driver does who misses a turn.")
    var leaveRouteAt: Double?
    @Option(
        help:
            "Ask displays, at most once in so many seconds, how far they are and how long it took: 0.1 to 60."
    )
    var receipts: Double?
    @Flag(help: "Do what the lines of standard input say, and end when it does.") var commands = false
    @Option(help: "The side on which traffic drives, whatever the engine says.") var trafficSide: Side?
    @Flag(help: "Print everything that was not carried over from the engine's answer, a line each.")
    var notices = false

    package init() {}

    package func validate() throws {
        try checkSpeed(self.speed)
        guard !self.commands || self.route != "-" else {
            throw ValidationError("--commands reads standard input, so it cannot have --route -")
        }
        guard (self.route != nil) != (self.engine != nil) else {
            throw ValidationError("give either --route FILE or --engine KIND=URL")
        }
        if self.route != nil {
            guard self.from == nil, self.to == nil, self.via.isEmpty else {
                throw ValidationError("--from, --to and --via need --engine; a route from a file is as it is")
            }
            guard self.onDestination == .decline else {
                throw ValidationError(
                    "--on-destination \(self.onDestination.rawValue) needs --engine, which computes the routes"
                )
            }
        } else {
            guard self.speedLimits.isEmpty else {
                throw ValidationError("--speed-limits needs --route; a live engine is asked for them")
            }
            guard self.from != nil else { throw ValidationError("--engine needs --from LAT,LON") }
            guard self.to != nil || self.onDestination != .decline && self.via.isEmpty else {
                throw ValidationError("--engine needs --to LAT,LON, or --on-destination accept or preview")
            }
        }
        if let leaveRouteAt {
            try checkKilometers(leaveRouteAt, "--leave-route-at")
            if let start = self.beginning.startAt, start > leaveRouteAt {
                throw ValidationError("--leave-route-at must not be before --start-at")
            }
        }
        for place in [self.from, self.to].compactMap({ $0 }) + self.via { _ = try coordinate(place) }
    }

    package func run() async throws {
        let engine = try self.engine.map { try routingEngine($0, self.trafficSide) }
        let address = try self.connection.address(default: .defaultNavigation)
        let key = try self.connection.key()
        let first = try await self.firstAnswer(engine)
        let plan = try self.plan(first?.routes[0])
        var policy = Navigator.Policy()
        policy.onWaypoint = self.onWaypoint
        policy.onDestination = self.onDestination
        policy.simulatesWhenAsked = self.simulateWhenAsked
        policy.receipts = self.receipts.map { .seconds($0) }
        let navigator = Navigator(engine: engine, policy: policy, start: try self.from.map(coordinate))
        // A gateway that does not answer the Hello is left when patience is over.
        try await interruptible({ await navigator.cancel() }) {
            do throws(ClientError) {
                try await self.connection.waitingForGateway { () throws(ClientError) in
                    try await navigator.connect(to: address, id: self.id, key: key)
                }
            } catch {
                throw failure(error)
            }
            try await self.drive(navigator, first, plan)
        }
    }

    /// Makes the drives; throws the exit status of the first one that did not arrive. Each failure is reported when it happens.
    private func drive(_ navigator: Navigator, _ first: RouteAnswer?, _ plan: Navigator.Plan) async throws {
        let vehicles: SessionVehicles = self.vehicle.isEmpty ? .anyThatAsked : .vehicles(self.vehicle)
        var later = Navigator.Plan()
        later.guide.drive.speedFactor = self.speed
        let (assigned, takesAssignments) = (later, self.onDestination != .decline || self.commands)
        let own = first.map { Navigator.Assignment(answer: $0, vehicles: vehicles, plan: plan) }
        let typist = self.commands ? Task { await Self.obeyLines(navigator, own) } : nil
        defer { typist?.cancel() }
        let beginsAtOnce = !self.commands
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            if beginsAtOnce, let first {
                group.addTask { try await Self.status(navigator, first, vehicles, plan) }
            }
            if takesAssignments {
                for await assignment in navigator.assignments {
                    group.addTask {
                        // The vehicle that requested the drive is connected.
                        var plan = assignment.plan ?? assigned
                        if assignment.isPreview { plan.preview = .untilStarted }
                        return try await Self.status(navigator, assignment.answer, assignment.vehicles, plan)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        await navigator.close()
        // It was reported when it happened.
        if await navigator.connectionError != nil { throw ExitCode(1) }
        if let failed = statuses.first(where: { $0 != 0 }) { throw ExitCode(failed) }
    }

    /// Does what the lines of standard input say; its end cancels all drives.
    private static func obeyLines(_ navigator: Navigator, _ own: Navigator.Assignment?) async {
        for await line in InputLines().lines {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            if words.count == 3, words[0] == "gauge", let key = UInt16(words[1]),
                let value = UInt8(words[2])
            {
                await navigator.publishGauge(key, value)
                continue
            }
            let word = words.joined(separator: " ")
            switch word {
            case "start", "preview":
                if var own {
                    own.isPreview = word == "preview"
                    await navigator.begin(own)
                } else {
                    Terminal.note("\(word) needs --to or --route")
                }
            case "preview-first": await navigator.previewDestinations()
            case "cancel": await navigator.cancelNewest()
            case "quit": return await navigator.cancel()
            case "": break
            default:
                guard let order = Guide.Order(rawValue: word) else {
                    Terminal.note(
                        "\(word) is no command; the commands are start, preview, preview-first, pause, "
                            + "resume, finish, cancel, gauge KEY VALUE and quit")
                    continue
                }
                await navigator.obey(order)
            }
        }
        await navigator.cancel()
    }

    /// Makes one drive and returns its exit status. A failure is reported at once, since other drives may continue for hours.
    private static func status(
        _ navigator: Navigator, _ answer: RouteAnswer, _ vehicles: SessionVehicles, _ plan: Navigator.Plan
    ) async throws -> Int32 {
        do {
            return try await navigator.drive(answer, vehicles, plan).status
        } catch let error as ClientError {
            // The end of the connection has been reported.
            if await navigator.connectionError == nil {
                Terminal.note("Error: \(Terminal.printable("\(error)"))")
            }
            return 1
        }
    }

    /// How the first drive is made.
    private func plan(_ route: EngineRoute?) throws -> Navigator.Plan {
        var plan = Navigator.Plan()
        plan.awaited = self.beginning.awaitVehicle
        plan.awaitMax = try self.beginning.awaitMax()
        plan.preview = try self.content.previewTime().map { .atMost($0) } ?? .no
        plan.sharesDestination = self.content.share
        plan.guide.drive.speedFactor = self.speed
        plan.guide.drive.leavesRouteAtMeters = self.leaveRouteAt.map { $0 * 1_000 }
        plan.guide.startMeters = (self.beginning.startAt ?? 0) * 1_000
        plan.guide.alerts = try self.content.alerts()
        if let route {
            let length = route.measure.length
            if plan.guide.startMeters > length {
                throw CommandFailure(
                    "--start-at \(self.beginning.startAt ?? 0) is beyond the end of the route, which has "
                        + "\(Int(length)) m")
            }
        }
        return plan
    }

    private func firstAnswer(_ engine: (any RoutingEngine)?) async throws -> RouteAnswer? {
        guard let engine else {
            var answer = try readAnswer(self.route ?? "", self.trafficSide)
            try self.readSpeedLimits(into: &answer)
            self.report(answer)
            return answer
        }
        guard let from = self.from, let to = self.to else { return nil }
        let points = try ([from] + self.via + [to]).map { Waypoint(center: try coordinate($0)) }
        Terminal.note("asking the engine for a route")
        do throws(RoutingError) {
            let mayPreview = self.content.preview != nil || self.commands
            let answer = try await engine.routes(
                through: points, choices: mayPreview ? RouteAnswer.choicesMax : 1)
            self.report(answer)
            return answer
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// Adds the speed limits of the legs that `--speed-limits` has.
    private func readSpeedLimits(into answer: inout RouteAnswer) throws {
        let traces = try self.speedLimits.map { name in
            do throws(FileError) { return try FileContent(path: name, allowsPipe: true).bytes } catch {
                throw CommandFailure("\(name) cannot be read: \(error)")
            }
        }
        do throws(RouteReadingError) {
            try answer.routes[0].addSpeedLimits(ofTraces: traces)
        } catch {
            throw CommandFailure("--speed-limits: \(error)")
        }
    }

    private func report(_ answer: RouteAnswer) {
        let notices = answer.notices + answer.routes[0].notices
        let lines =
            self.notices
            ? notices.map { "note: \($0.path): \($0.reason)" }
            : DriveReport.notices(notices)
        for line in lines { Terminal.note(line) }
    }
}

/// When and where the first drive begins.
struct BeginningOptions: ParsableArguments {
    @Option(help: "Start guidance when every named vehicle is ready to show, or only connected, or at once.")
    var awaitVehicle = VehicleRoster.Awaited.ready
    @Option(
        help: "Wait so many seconds at most; then guide the vehicles that are there, or end with status 4.")
    var awaitTimeout: Double?
    @Option(help: "Enter the route after this many kilometres.") var startAt: Double?

    func validate() throws {
        _ = try self.awaitMax()
        if let startAt { try checkKilometers(startAt, "--start-at") }
    }

    func awaitMax() throws -> Duration? {
        try self.awaitTimeout.map { try duration(seconds: $0, option: "--await-timeout", allowsZero: true) }
    }
}

/// What the first drive shows beside guidance.
struct DriveContentOptions: ParsableArguments {
    @Option(
        help: "Show the trip, for vehicles to choose a route, for so many seconds before guidance starts.")
    var preview: Double?
    @Flag(help: "Offer the destination to the vehicles when guidance has started.") var share = false
    @Option(
        help: ArgumentHelp(
            "Show an alert after so many kilometres, until it is answered; may be given several times.",
            valueName: "km:text[|action[|action]]"))
    var alert: [String] = []

    func validate() throws {
        _ = try self.previewTime()
        _ = try self.alerts()
    }

    func previewTime() throws -> Duration? {
        try self.preview.map { try duration(seconds: $0, option: "--preview", allowsZero: true) }
    }

    /// The alerts, with ids from 1 in their order.
    func alerts() throws -> [(meters: Double, alert: NavigationAlert)] {
        try self.alert.enumerated().map { index, text in
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2, let kilometers = Double(parts[0]) else {
                throw ValidationError("--alert \(text) is not KM:TEXT, e.g. \"3.5:Roadworks|Avoid|Ignore\"")
            }
            try checkKilometers(kilometers, "--alert")
            let words = parts[1].split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            guard words.count <= 3, words.allSatisfy({ (1...512).contains($0.utf8.count) }) else {
                throw ValidationError(
                    "--alert \(text): a text and up to two actions, each of 1 to 512 bytes, are separated by |"
                )
            }
            let actions = words.dropFirst().enumerated().map {
                AlertAction(id: UInt32($0 + 1), titleVariants: [$1])
            }
            return (
                kilometers * 1_000,
                NavigationAlert(
                    id: UInt32(index + 1), titleVariants: [words[0]], actions: actions, notification: .once,
                    priority: .medium)
            )
        }
    }
}

private func checkKilometers(_ kilometers: Double, _ option: String) throws {
    guard (0...100_000).contains(kilometers) else {
        throw ValidationError("\(option) must be 0 to 100000 kilometres")
    }
}

extension Navigator.Policy.OnWaypoint: ExpressibleByArgument {}
extension Navigator.Policy.OnDestination: ExpressibleByArgument {}
extension VehicleRoster.Awaited: ExpressibleByArgument {}
