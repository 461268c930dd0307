package import ArgumentParser
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol

package struct Request: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Do one thing that a vehicle does, and wait for its outcome.",
        discussion: """
            The exit status is 0 for accepted or done, 2 for every other outcome, 1 if there was none within --timeout. \
            Ctrl-C and the end of --timeout withdraw what was asked.
            """,
        subcommands: [
            WaypointCommand.self, Destination.self, Cancel.self, Allow.self, ShareAccept.self, Source.self,
        ])

    package init() {}

    struct WaypointCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "waypoint", abstract: "Ask the client that guides for a stop on the way.",
            usage: "waymark request waypoint <place> --id <id> [<options>]")
        @OptionGroup var place: PlaceArguments
        @Option(help: "The segment to insert it into; without it the client chooses.") var segment = ""
        @OptionGroup var vehicle: VehicleOptions

        func validate() throws { _ = try self.place.waypoint() }

        func run() async throws {
            let waypoint = try self.place.waypoint()
            try await self.vehicle.act {
                await $0.request(.waypoint(waypoint, segment: self.segment))
            } report: {
                try self.vehicle.report("the stop", $0)
            }
        }
    }

    struct Destination: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask the registered clients, one after another, for a drive to a place.",
            usage: "waymark request destination <place> --id <id> [<options>]")
        @OptionGroup var place: PlaceArguments
        @OptionGroup var vehicle: VehicleOptions

        func validate() throws { _ = try self.place.waypoint() }

        func run() async throws {
            let waypoint = try self.place.waypoint()
            try await self.vehicle.act {
                await $0.request(.destination(waypoint))
            } report: {
                try self.vehicle.report("the drive", $0)
            }
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End guidance at once; prints why it ended.",
            usage: "waymark request cancel --id <id> [<options>]",
            discussion: "The exit status is 2 if there was no guidance to end.")
        @Flag(
            help: "The vehicle navigates by itself now: no client may guide it before it allows or asks.")
        var ownNavigation = false
        @OptionGroup var vehicle: VehicleOptions

        func run() async throws {
            let reason: CancellationReason = self.ownNavigation ? .ownNavigationStarted : .userStopped
            try await self.vehicle.act {
                await $0.cancelNavigation(reason)
            } report: { end in
                try Self.report(end, noOutcome: self.vehicle.noOutcome)
            }
        }

        /// Prints why guidance is over; a failing exit status if it is not, or if there was none to end.
        static func report(_ end: EndReason, noOutcome: String) throws {
            switch end {
            case .connectionClosed(.cancelled), .connectionClosed(.closed): throw CommandFailure(noOutcome)
            case .connectionClosed(let error): throw CommandFailure("\(error)")
            default: Terminal.line("\(end)")
            }
            if end == .notAllowed || end == .noSession { throw ExitCode(2) }
        }
    }

    struct Allow: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let clients guide again after the vehicle navigated by itself.",
            usage: "waymark request allow --id <id> [<options>]")
        @OptionGroup var vehicle: VehicleOptions

        func run() async throws {
            try await self.vehicle.act {
                await $0.allowNavigation()
            } report: { _ in
                Terminal.line("clients may guide this vehicle")
            }
        }
    }

    struct ShareAccept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "share-accept",
            abstract: "Wait for the next destination that the client shares, and take it over; prints it.",
            usage: "waymark request share-accept --id <id> [<options>]",
            discussion: "Another endpoint of the vehicle may have answered first.")
        @Flag(help: "First ask the client that guides for the destination.") var ask = false
        @OptionGroup var vehicle: VehicleOptions

        func run() async throws {
            let (shares, share) = AsyncStream.makeStream(
                of: Waypoint.self, bufferingPolicy: .bufferingOldest(1))
            let asks = self.ask
            try await self.vehicle.act { endpoint -> Waypoint? in
                if asks { await endpoint.wantDestination() }
                for await destination in shares { return destination }
                return nil
            } report: { destination in
                guard let destination else { throw CommandFailure(self.vehicle.noOutcome) }
                let name = destination.nameVariants.first.map { " \(Terminal.printable($0))" } ?? ""
                Terminal.line("\(destination.center.latitude),\(destination.center.longitude)\(name)")
            } configure: { configuration in
                configuration.onDestination = { destination in
                    share.yield(destination)
                    return true
                }
            }
        }
    }

    struct Source: AsyncParsableCommand {
        private static let names = RouteSource.allKnown.map(\.name)

        static let configuration = CommandConfiguration(
            commandName: "route-source", abstract: "Say what the vehicle does with the route.",
            usage: "waymark request route-source <source> --id <id> [<options>]")
        @Argument(
            help: "\(Source.names.joined(separator: ", ")).", completion: .list(Source.names))
        var source: String
        @OptionGroup var vehicle: VehicleOptions

        func validate() throws { _ = try self.routeSource() }

        func run() async throws {
            let source = try self.routeSource()
            try await self.vehicle.act {
                await $0.setRouteSource(source)
            } report: { _ in
                Terminal.line("the vehicle's route source is \(source.name)")
            }
        }

        private func routeSource() throws -> RouteSource {
            guard let source = RouteSource.allKnown.first(where: { $0.name == self.source }) else {
                throw ValidationError(
                    "\(self.source) is not one of \(Source.names.joined(separator: ", "))")
            }
            return source
        }
    }
}

struct PlaceArguments: ParsableArguments {
    @Argument(help: "LAT,LON in degrees; put -- before a latitude below 0.") var place: String
    @Option(help: "The place's name.") var name = ""

    func waypoint() throws -> Waypoint {
        Waypoint(
            center: try coordinate(self.place), nameVariants: self.name.isEmpty ? [] : [self.name])
    }
}

struct VehicleOptions: ParsableArguments {
    @Option(help: "The vehicle's id.") var id: String
    @OptionGroup var connection: ConnectionOptions
    @Option(help: "How many seconds to wait for the outcome.") var timeout = 120.0

    /// The longest wait for the outcome of a withdrawn request, which takes one round trip.
    private static let withdrawalMax = Duration.seconds(5)
    /// The same for a user who has interrupted the program.
    private static let interruptionMax = Duration.milliseconds(500)

    func validate() throws { _ = try duration(seconds: self.timeout, option: "--timeout") }

    /// What happens while a request is under way.
    private enum Step<Outcome: Sendable>: Sendable {
        case connected
        case interrupted
        case ended(Outcome)
        case failed(any Error)
    }

    /// Runs `body` as an endpoint of its own, which shows nothing, and then `report`.
    ///
    /// After SIGINT, SIGTERM or `--timeout` the task of `body` is cancelled, which withdraws a request; this
    /// waits shortly for the outcome, so that no client acts on a withdrawn request.
    func act<Outcome: Sendable>(
        _ body: @escaping @Sendable (VehicleEndpoint) async -> Outcome, report: (Outcome) throws -> Void,
        configure: (inout VehicleEndpoint.Configuration) -> Void = { _ in }
    ) async throws {
        let name = "request-\(UInt32.random(in: 0 ... .max))"
        var configuration = VehicleEndpoint.Configuration(vehicle: self.id, endpoint: name)
        configuration.isGuidanceWanted = false
        configuration.credential = try self.connection.key()
        configuration.reconnection.refusalDelay = nil
        configure(&configuration)
        let address = try self.connection.address(default: .defaultVehicle)
        let (steps, step) = AsyncStream.makeStream(of: Step<Outcome>.self)
        // The signals are trapped first, so that every request can be withdrawn.
        try await interruptible({ step.yield(.interrupted) }) {
            let work = Task { [connection, noOutcome, configuration] in
                do throws(ClientError) {
                    let endpoint = try await connection.waitingForGateway { () throws(ClientError) in
                        try await VehicleEndpoint.connect(to: address, configuration)
                    }
                    step.yield(.connected)
                    let outcome = await body(endpoint)
                    // A request that ends with the connection has no outcome.
                    for await state in await endpoint.connectionStates {
                        if case .closed(let error) = state, error != .closed { throw error }
                        break
                    }
                    await endpoint.close()
                    step.yield(.ended(outcome))
                } catch {
                    step.yield(
                        .failed(
                            [.closed, .cancelled].contains(error) ? CommandFailure(noOutcome) : failure(error)
                        ))
                }
            }
            var timers: [Task<Void, Never>] = []
            defer { for timer in timers { timer.cancel() } }
            for await next in steps {
                switch next {
                case .connected:
                    timers.append(
                        self.giveUp(work, after: .seconds(self.timeout), within: Self.withdrawalMax, step))
                case .interrupted:
                    timers.append(self.giveUp(work, after: .zero, within: Self.interruptionMax, step))
                case .ended(let outcome): return try report(outcome)
                case .failed(let failure): throw failure
                }
            }
        }
    }

    /// Cancels `work` after a time; if it does not end soon, it has failed.
    private func giveUp<Outcome>(
        _ work: Task<Void, Never>, after delay: Duration, within limit: Duration,
        _ step: AsyncStream<Step<Outcome>>.Continuation
    ) -> Task<Void, Never> {
        Task { [noOutcome] in
            do {
                try await Task.sleep(for: delay)
                work.cancel()
                try await Task.sleep(for: limit)
            } catch { return }
            step.yield(.failed(CommandFailure(noOutcome)))
        }
    }

    /// There was no outcome.
    var noOutcome: String { "there was no outcome within \(secondsText(self.timeout))" }

    /// Prints an outcome; the exit status is 0 only for `accepted`, and 1 if it was withdrawn here.
    func report(_ what: String, _ ending: RequestEnding) throws {
        switch ending.result {
        case .accepted: Terminal.line("\(what) was accepted")
        case .withdrawn:
            Terminal.line("\(what) was withdrawn before there was an outcome")
            throw ExitCode.failure
        default:
            Terminal.line("\(what) was not accepted: \(ending.explanation)")
            throw ExitCode(2)
        }
    }
}
