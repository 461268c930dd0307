package import ArgumentParser
internal import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkRoutes

package struct Navigate: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Be a navigation client: drive along a route and guide vehicles.",
        discussion: """
            The route comes from a file, or from a live engine. With an engine a vehicle's waypoint request leads to a
            newly computed route; without one it is declined.
            """)

    @Option(help: "An engine's answer.") var route: String?
    @Option(help: "valhalla=URL or osrm=URL.") var engine: String?
    @Option(help: "LAT,LON.") var from: String?
    @Option(help: "LAT,LON.") var to: String?
    @Option(help: "LAT,LON; may be given several times.") var via: [String] = []
    @Option(help: "Where the gateway takes navigation clients.") var connect: String?
    @Option(help: "The vehicle to guide; may be given several times. Without it: any that asked.")
    var vehicle: [String] = []
    @Option(help: "How many times faster than real time.") var speed = 1.0
    @Option(help: "This client's id.") var id = "waymark-navigate"
    @Option(help: "Answer to waypoint requests: accept, decline or own-ui.") var onWaypoint = "accept"
    @Option(help: "Answer to destination requests: accept or decline.") var onDestination = "decline"

    package init() {}

    package func validate() throws {
        guard self.speed > 0, self.speed <= 10_000 else {
            throw ValidationError("--speed must be above 0, at most 10000")
        }
        guard ["accept", "decline", "own-ui"].contains(self.onWaypoint) else {
            throw ValidationError("--on-waypoint must be accept, decline or own-ui")
        }
        guard ["accept", "decline"].contains(self.onDestination) else {
            throw ValidationError("--on-destination must be accept or decline")
        }
        guard (self.route != nil) != (self.engine != nil) else {
            throw ValidationError("give either --route FILE or --engine KIND=URL")
        }
    }

    package func run() async throws {
        let engine = try self.routingEngine()
        let address = try address(self.connect, default: .defaultNavigation)
        let route = try await self.firstRoute(engine)
        for notice in route.notices { Terminal.note("note: \(notice.path): \(notice.reason)") }
        var configuration = NavigationClient.Configuration(id: self.id)
        configuration.onConnection = { Terminal.note("connection: \($0)") }
        if self.onDestination == "accept" { configuration.onDestination = { _ in true } }
        let client: NavigationClient
        do throws(ClientError) {
            client = try await NavigationClient.connect(to: address, configuration)
        } catch {
            throw CommandFailure("\(error)")
        }
        let box = GuideBox()
        let vehicles: SessionVehicles = self.vehicle.isEmpty ? .anyThatAsked : .vehicles(self.vehicle)
        let answer = self.onWaypoint
        let session: NavigationSession
        do throws(ClientError) {
            session = try await client.openSession(
                vehicles: vehicles,
                onEvent: { event in
                    Terminal.line("\(event)")
                    if case .ended = event { await box.guide?.stop() }
                },
                onWaypoint: { inquiry in await box.answer(inquiry, policy: answer, engine) })
        } catch {
            throw CommandFailure("\(error)")
        }
        let guide = Guide(session, route, tripID: "trip", speed: self.speed)
        await box.set(guide)
        do { try await guide.run() } catch let error as ClientError {
            if case .sessionEnded = error {} else { throw CommandFailure("\(error)") }
        }
        // What was published last is on its way before the goodbye.
        await client.close()
    }

    private func routingEngine() throws -> RoutingEngine? {
        guard let text = self.engine else { return nil }
        guard let engine = RoutingEngine(text) else {
            throw ValidationError("--engine \(text) is not valhalla=URL or osrm=URL")
        }
        return engine
    }

    private func firstRoute(_ engine: RoutingEngine?) async throws -> EngineRoute {
        guard let engine else { return try readAnswer(self.route ?? "", trafficSide: nil).chosen }
        guard let from = self.from, let to = self.to else {
            throw ValidationError("--engine needs --from and --to")
        }
        let points = try ([from] + self.via + [to]).map { Waypoint(center: try coordinate($0)) }
        do throws(RoutingError) { return try await engine.route(through: points).chosen } catch {
            throw CommandFailure("\(error)")
        }
    }
}

/// Holds the guide for handlers that are made before it.
private actor GuideBox {
    private(set) var guide: Guide?

    func set(_ guide: Guide) { self.guide = guide }

    /// Answers a vehicle's wish for a stop with a route that an engine computes.
    func answer(_ inquiry: WaypointInquiry, policy: String, _ engine: RoutingEngine?) async -> WaypointAnswer
    {
        guard policy != "decline" else { return .decline(.declinedByUser) }
        guard let engine, let guide = self.guide else { return .decline(.notSupported) }
        let places =
            [Waypoint(center: await guide.position), inquiry.waypoint]
            + (await guide.waypointsAhead.suffix(1))
        let route: EngineRoute
        do throws(RoutingError) { route = try await engine.route(through: places).chosen } catch {
            Terminal.note("\(error)")
            return .decline(.invalid)
        }
        let reroute: @Sendable () async -> Void = {
            do { try await guide.reroute(route, .waypointModified) } catch { Terminal.note("\(error)") }
        }
        if policy == "own-ui" {
            return .ownPrompt {
                await reroute()
                return true
            }
        }
        let estimates = TravelEstimates(distanceRemaining: route.distance, timeRemaining: route.duration)
        return .estimates(estimates, whenAccepted: reroute)
    }
}
