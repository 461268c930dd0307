import WaymarkClient
import WaymarkModel

/// Is a cluster: prints what it should show, accepts destinations, asks for one stop, and ends with the drive.
///
/// `VehicleEndpointExample [ADDRESS]`: where the gateway listens for vehicles, by default this user's `waymarkd`.
@main struct VehicleEndpointExample {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first.flatMap(ServiceAddress.init) ?? .defaultVehicle
        var configuration = VehicleEndpoint.Configuration(vehicle: "example-car", endpoint: "cluster")
        configuration.withoutFeatures = [.laneGuidance, .routeSegments]
        configuration.limits.maneuverInstructionLengthMax = 40
        configuration.onPrompt = { prompt in
            print("stop at", prompt.waypoint.nameVariants.first ?? "a place", "within", prompt.timeout)
            return true
        }
        configuration.onDestination = { _ in true }
        try await withVehicleEndpoint(to: address, configuration) { cluster in
            let updates = await cluster.updates
            await cluster.update(DisplaySettings(contentStyle: .dark, isReadyToShow: true))
            for await update in updates {
                switch update.content {
                case .guidanceStarted(let trip, _):
                    print("to", trip.destination.nameVariants.first ?? "the destination")
                    Task { print("a stop for coffee:", await cluster.requestWaypoint(Self.cafe).explanation) }
                case .upcomingManeuvers, .maneuverState, .maneuverEstimates: self.show(update.state)
                case .currentRoadName(let variants): print("on", variants.first ?? "an unnamed road")
                case .finished, .cancelled, .ended: return print("the drive is over")
                default: break  // A real cluster shows more.
                }
                await cluster.markShown(update.sequence)
            }
        }
    }

    static func show(_ state: VehicleState) {
        guard let next = state.nextManeuver else { return }
        let distance = state.maneuverEstimates[next.id].map { "in \($0.distanceRemaining.meters) m: " } ?? ""
        print("\(distance)\(next.instructionVariants.first ?? "\(next.type)") (\(state.maneuverState))")
    }

    static let cafe = Waypoint(
        center: Coordinate(latitude: 47.107, longitude: 9.528), nameVariants: ["Café in Triesen"],
        stopKind: .food)
}
