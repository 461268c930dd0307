package import ArgumentParser
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

package struct Navigate: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Be a navigation client: drive along a route and guide vehicles.",
        discussion: """
            The route comes from a file, or from a live engine. With an engine, a vehicle's waypoint request leads to a
            newly computed route; without one it is declined. With --on-destination accept the client also drives where
            vehicles want to go, and stays until it is interrupted; then --to may be left out.
            """)

    @Option(help: "An engine's answer, from a file; - for standard input.") var route: String?
    @Option(help: "A live engine: valhalla=URL or osrm=URL.") var engine: String?
    @Option(help: "Where to start: LAT,LON in degrees.") var from: String?
    @Option(help: "Where to drive: LAT,LON in degrees.") var to: String?
    @Option(help: "A stop on the way: LAT,LON in degrees; may be given several times.") var via: [String] = []
    @OptionGroup var connection: ConnectionOptions
    @Option(help: "The vehicle to guide; may be given several times. Without it: any that asked.")
    var vehicle: [String] = []
    @Option(help: "How many times faster than real time, above 0, at most 10000.") var speed = 1.0
    @Option(help: "This client's id.") var id = "waymark-navigate"
    @Option(help: "Answer to waypoint requests.") var onWaypoint = Navigator.Policy.OnWaypoint.accept
    @Option(help: "Answer to destination requests.") var onDestination = Navigator.Policy.OnDestination
        .decline
    @Option(help: "Leave the route after this many kilometres, as a driver does who misses a turn.")
    var leaveRouteAt: Double?
    @Option(help: "The side on which traffic drives, whatever the engine says.") var trafficSide: Side?

    package init() {}

    package func validate() throws {
        try checkSpeed(self.speed)
        guard (self.route != nil) != (self.engine != nil) else {
            throw ValidationError("give either --route FILE or --engine KIND=URL")
        }
        if self.route != nil {
            guard self.from == nil, self.to == nil, self.via.isEmpty else {
                throw ValidationError("--from, --to and --via need --engine; a route from a file is as it is")
            }
        } else {
            guard self.from != nil else { throw ValidationError("--engine needs --from LAT,LON") }
            guard self.to != nil || self.onDestination == .accept && self.via.isEmpty else {
                throw ValidationError("--engine needs --to LAT,LON, or --on-destination accept")
            }
        }
        if let leaveRouteAt, !(0...100_000).contains(leaveRouteAt) {
            throw ValidationError("--leave-route-at must be 0 to 100000 kilometres")
        }
        for place in [self.from, self.to].compactMap({ $0 }) + self.via { _ = try coordinate(place) }
    }

    package func run() async throws {
        let engine = try self.engine.map { try routingEngine($0, self.trafficSide) }
        let address = try self.connection.address(default: .defaultNavigation)
        let key = try self.connection.key()
        let first = try await self.firstAnswer(engine)
        var policy = Navigator.Policy()
        policy.onWaypoint = self.onWaypoint
        policy.onDestination = self.onDestination
        var options = DriveOptions()
        options.speedFactor = self.speed
        options.leavesRouteAtMeters = self.leaveRouteAt.map { $0 * 1_000 }
        let navigator = Navigator(
            engine: engine, policy: policy, options: options, start: try self.from.map(coordinate))
        let vehicles: SessionVehicles = self.vehicle.isEmpty ? .anyThatAsked : .vehicles(self.vehicle)
        do throws(ClientError) {
            try await self.connection.waitingForGateway { () throws(ClientError) in
                try await navigator.connect(to: address, id: self.id, key: key)
            }
        } catch {
            throw failure(error)
        }
        try await interruptible({ await navigator.cancel() }) {
            try await self.drive(navigator, first, vehicles)
        }
    }

    private func drive(_ navigator: Navigator, _ first: RouteAnswer?, _ vehicles: SessionVehicles)
        async throws
    {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                if let first { group.addTask { try await navigator.drive(first, vehicles) } }
                if self.onDestination == .accept {
                    for await assignment in navigator.assignments {
                        group.addTask {
                            try await navigator.drive(assignment.answer, assignment.vehicles)
                        }
                    }
                }
                try await group.waitForAll()
            }
            await navigator.close()
        } catch let error as ClientError {
            await navigator.close()
            if case .sessionEnded = error { return }
            throw CommandFailure("\(error)")
        }
    }

    private func firstAnswer(_ engine: (any RoutingEngine)?) async throws -> RouteAnswer? {
        guard let engine else {
            let answer = try readAnswer(self.route ?? "", self.trafficSide)
            for notice in answer.notices + answer.routes[0].notices {
                Terminal.note("note: \(notice.path): \(notice.reason)")
            }
            return answer
        }
        guard let from = self.from, let to = self.to else { return nil }
        let points = try ([from] + self.via + [to]).map { Waypoint(center: try coordinate($0)) }
        Terminal.note("asking the engine for a route")
        do throws(RoutingError) { return try await engine.route(through: points) } catch {
            throw CommandFailure("\(error)")
        }
    }
}

extension Navigator.Policy.OnWaypoint: ExpressibleByArgument {}
extension Navigator.Policy.OnDestination: ExpressibleByArgument {}
