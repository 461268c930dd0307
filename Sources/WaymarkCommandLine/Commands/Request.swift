package import ArgumentParser
internal import WaymarkClient
internal import WaymarkModel

package struct Request: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Do one thing that a vehicle does, and wait for its outcome.",
        discussion: """
            The exit status is 0 for accepted or done, 2 for every other outcome, 1 if there was none within --timeout.
            """,
        subcommands: [
            WaypointCommand.self, Destination.self, Cancel.self, Allow.self, ShareAccept.self, Source.self,
        ])

    package init() {}

    struct WaypointCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "waypoint", abstract: "Ask the client that guides for a stop on the way.")
        @OptionGroup var place: PlaceArguments
        @Option(help: "The segment to insert it into; without it the client chooses.") var segment = ""
        @OptionGroup var vehicle: VehicleOptions

        func validate() throws { _ = try self.place.waypoint() }

        func run() async throws {
            let waypoint = try self.place.waypoint()
            let result = try await self.vehicle.act {
                await $0.requestWaypoint(waypoint, segment: self.segment)
            }
            try report(result)
        }
    }

    struct Destination: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask the registered clients, one after another, for a drive to a place.")
        @OptionGroup var place: PlaceArguments
        @OptionGroup var vehicle: VehicleOptions

        func validate() throws { _ = try self.place.waypoint() }

        func run() async throws {
            let waypoint = try self.place.waypoint()
            try report(try await self.vehicle.act { await $0.requestDestination(waypoint) })
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End guidance at once; prints why the session ended.")
        @Flag(help: "The vehicle navigates by itself now: nobody may guide it before it allows or asks.")
        var ownNavigation = false
        @OptionGroup var vehicle: VehicleOptions

        func run() async throws {
            let reason: CancellationReason = self.ownNavigation ? .ownNavigationStarted : .userStopped
            try Self.report(try await self.vehicle.act { await $0.cancelNavigation(reason) })
        }

        /// Prints why guidance is over; a failing exit status if it is not, or if nobody knows.
        static func report(_ reason: EndReason) throws {
            if case .connectionClosed(let error) = reason { throw CommandFailure("\(error)") }
            Terminal.line(reason.word)
            if reason == .notAllowed { throw ExitCode(2) }
        }
    }

    struct Allow: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let clients guide again after the vehicle navigated by itself.")
        @OptionGroup var vehicle: VehicleOptions

        func run() async throws { try await self.vehicle.act { await $0.allowNavigation() } }
    }

    struct ShareAccept: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "share-accept",
            abstract: "Wait for the next destination that the client shares, and take it over; prints it.",
            discussion: "Another endpoint of the vehicle may have answered first.")
        @OptionGroup var vehicle: VehicleOptions

        func run() async throws {
            let (shares, share) = AsyncStream.makeStream(
                of: Waypoint.self, bufferingPolicy: .bufferingOldest(1))
            let configuration: (inout VehicleEndpoint.Configuration) -> Void = { configuration in
                configuration.onDestination = { destination in
                    share.yield(destination)
                    return true
                }
            }
            let destination = try await self.vehicle.act(configuration) { _ -> Waypoint? in
                for await destination in shares { return destination }
                return nil
            }
            guard let destination else { throw ExitCode.failure }
            let name = destination.nameVariants.first.map { " \(Terminal.printable($0))" } ?? ""
            Terminal.line("\(destination.center.latitude),\(destination.center.longitude)\(name)")
        }
    }

    struct Source: AsyncParsableCommand {
        private static let names = RouteSource.allKnown.map(\.name)

        static let configuration = CommandConfiguration(
            commandName: "route-source", abstract: "Say what the vehicle does with the route.")
        @Argument(
            help: "\(Source.names.joined(separator: ", ")).", completion: .list(Source.names))
        var source: String
        @OptionGroup var vehicle: VehicleOptions

        func validate() throws { _ = try self.routeSource() }

        func run() async throws {
            let source = try self.routeSource()
            try await self.vehicle.act { await $0.setRouteSource(source) }
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

    func validate() throws {
        guard self.timeout > 0, self.timeout <= 1_000_000 else {
            throw ValidationError("--timeout must be above 0, at most 1000000 seconds")
        }
    }

    /// Runs `body` as an endpoint of its own, which shows nothing.
    func act<Result: Sendable>(
        _ configure: (inout VehicleEndpoint.Configuration) -> Void = { _ in },
        _ body: @escaping @Sendable (VehicleEndpoint) async -> Result
    ) async throws -> Result {
        let name = "request-\(UInt32.random(in: 0 ... .max))"
        var configuration = VehicleEndpoint.Configuration(vehicle: self.id, endpoint: name)
        configuration.isGuidanceWanted = false
        configuration.credential = try self.connection.key()
        configure(&configuration)
        let address = try self.connection.address(default: .defaultVehicle)
        let endpoint: VehicleEndpoint
        do throws(ClientError) {
            endpoint = try await VehicleEndpoint.connect(to: address, configuration)
        } catch {
            throw failure(error)
        }
        let result = await first(within: .seconds(self.timeout)) { await body(endpoint) }
        await endpoint.close()
        guard let result else {
            throw CommandFailure(
                "there was no outcome within \(self.timeout) seconds; nothing is under way any more")
        }
        return result
    }
}

/// Prints an outcome; the exit status is 0 only for `accepted`.
private func report(_ result: RequestResult) throws {
    Terminal.line("\(result)")
    if result != .accepted { throw ExitCode(2) }
}
