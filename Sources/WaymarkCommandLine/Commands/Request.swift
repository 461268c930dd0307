package import ArgumentParser
internal import WaymarkClient
internal import WaymarkModel

/// `LAT,LON` in degrees.
func coordinate(_ text: String) throws -> Coordinate {
    let numbers = text.split(separator: ",").map { Double($0) }
    guard numbers.count == 2, let latitude = numbers[0], let longitude = numbers[1],
        (-90.0...90).contains(latitude), (-180.0...180).contains(longitude)
    else { throw ValidationError("\(text) is not LAT,LON in degrees, e.g. 47.141,9.5215") }
    return Coordinate(latitude: latitude, longitude: longitude)
}

struct RequestOptions: ParsableArguments {
    @Option(help: "The vehicle's id.") var id: String
    @Option(help: "Where the gateway takes vehicles.") var connect: String?

    /// An endpoint of its own that sends one request.
    func open() async throws -> VehicleEndpoint {
        let name = "request-\(UInt32.random(in: 0 ... .max))"
        var configuration = VehicleEndpoint.Configuration(vehicle: self.id, endpoint: name)
        configuration.isGuidanceWanted = false
        let address = try address(self.connect, default: .defaultVehicle)
        do throws(ClientError) { return try await VehicleEndpoint.connect(to: address, configuration) } catch
        {
            throw CommandFailure("\(error)")
        }
    }
}

/// Prints an outcome; the exit status is 0 only for `accepted`.
private func report(_ result: RequestResult) throws {
    Terminal.line("\(result)")
    if result != .accepted { throw ExitCode(2) }
}

package struct Request: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Send one request of a vehicle and wait for its outcome.",
        discussion: "The exit status is 0 for accepted, 2 for every other outcome, 1 if there was none.",
        subcommands: [WaypointCommand.self, Destination.self, Cancel.self, Allow.self, Source.self])

    package init() {}

    struct WaypointCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "waypoint", abstract: "Ask for a stop on the way.")
        @OptionGroup var options: RequestOptions
        @Argument(help: "LAT,LON in degrees.") var place: String
        @Option(help: "The place's name.") var name = ""
        @Option(help: "The segment to insert into.") var segment = ""

        func run() async throws {
            let waypoint = Waypoint(
                center: try coordinate(self.place), nameVariants: self.name.isEmpty ? [] : [self.name])
            let endpoint = try await self.options.open()
            let result = await endpoint.requestWaypoint(waypoint, segment: self.segment)
            await endpoint.close()
            try report(result)
        }
    }

    struct Destination: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Ask for a drive to a place.")
        @OptionGroup var options: RequestOptions
        @Argument(help: "LAT,LON in degrees.") var place: String
        @Option(help: "The place's name.") var name = ""

        func run() async throws {
            let waypoint = Waypoint(
                center: try coordinate(self.place), nameVariants: self.name.isEmpty ? [] : [self.name])
            let endpoint = try await self.options.open()
            let result = await endpoint.requestDestination(waypoint)
            await endpoint.close()
            try report(result)
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End guidance at once.")
        @OptionGroup var options: RequestOptions
        @Flag(help: "The vehicle navigates by itself now: nobody may guide it before it allows or asks.")
        var ownNavigation = false

        func run() async throws {
            let endpoint = try await self.options.open()
            let reason = await endpoint.cancelNavigation(ownNavigation: self.ownNavigation)
            await endpoint.close()
            Terminal.line(reason)
        }
    }

    struct Allow: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let clients guide again.")
        @OptionGroup var options: RequestOptions

        func run() async throws {
            let endpoint = try await self.options.open()
            await endpoint.allowNavigation()
            await endpoint.close()
        }
    }

    struct Source: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "route-source", abstract: "Say what the vehicle does with the route.")
        @OptionGroup var options: RequestOptions
        @Argument(
            help:
                "inactive, clientUnchanged, clientRouteModified, clientDestinationsModified, clientDestinationsOnly or vehicle."
        )
        var source: String

        func run() async throws {
            guard let source = RouteSource.allKnown.first(where: { "\($0)" == self.source }) else {
                throw ValidationError("\(self.source) is not a route source")
            }
            let endpoint = try await self.options.open()
            await endpoint.setRouteSource(source)
            await endpoint.close()
        }
    }
}
