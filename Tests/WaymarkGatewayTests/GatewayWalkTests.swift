import Foundation
import StateCoding
import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkGateway

extension WalkWorld.Plan: CustomTestStringConvertible {
    var testDescription: String { self.name }
}

@Suite struct GatewayWalkTests {
    private static func vehicle(_ name: String) -> VehicleID { VehicleID(unchecked: name) }

    private static func endpoint(_ vehicle: String, _ name: String) -> EndpointPath {
        EndpointPath(vehicle: Self.vehicle(vehicle), endpoint: EndpointName(unchecked: name))
    }

    private static let app = ClientID(unchecked: "app")
    private static let rival = ClientID(unchecked: "rival")

    /// Rules that allow these, and vehicles to be.
    private static func rules(
        _ rules: [(isAllowed: Bool, client: String, vehicle: String)], vehicle: String = "*"
    ) -> AccessPolicy {
        let origin = AccessOrigin(file: "f", line: 1)
        var vehicles = AccessRule(allow: true, [.vehicle], origin: origin)
        vehicles.vehicles = GlobList([Glob(vehicle)].compactMap { $0 })
        return AccessPolicy(
            rules: [vehicles]
                + rules.map { isAllowed, client, vehicle in
                    var rule = AccessRule(allow: isAllowed, [.navigation], origin: origin)
                    rule.clients = GlobList([Glob(client)].compactMap { $0 })
                    rule.vehicles = GlobList([Glob(vehicle)].compactMap { $0 })
                    return rule
                })
    }

    private static let presence: Set<WalkWorld.Step.Kind> = [.coming, .resuming, .dropping, .waiting]

    static let plans: [WalkWorld.Plan] = [
        WalkWorld.Plan(
            name: "requests of one vehicle to one client", endpoints: [Self.endpoint("car", "cluster")],
            clients: [Self.app], selections: [.vehicles([Self.vehicle("car")])],
            kinds: Set(WalkWorld.Step.Kind.allCases).subtracting([.sharing]),
            contents: [.start, .road, .pause, .wrong, .finish]),
        WalkWorld.Plan(
            name: "two clients want one vehicle", endpoints: [Self.endpoint("car", "cluster")],
            clients: [Self.app, Self.rival], selections: [.vehicles([Self.vehicle("car")])],
            kinds: Self.presence.union([.leaving, .opening, .cancelling])),
        WalkWorld.Plan(
            name: "two clients want one vehicle, and the first one keeps it",
            endpoints: [Self.endpoint("car", "cluster")], clients: [Self.app, Self.rival],
            selections: [.vehicles([Self.vehicle("car")])], arbitration: .refuse,
            kinds: Self.presence.union([.opening, .cancelling])),
        WalkWorld.Plan(
            name: "a destination goes from client to client", endpoints: [Self.endpoint("car", "cluster")],
            clients: [Self.app, Self.rival], selections: [],
            kinds: Self.presence.union([.leaving, .requesting, .answering, .cancelling])),
        WalkWorld.Plan(
            name: "one session of two vehicles",
            endpoints: [Self.endpoint("bus", "cluster"), Self.endpoint("car", "cluster")],
            clients: [Self.app],
            selections: [
                .vehicles([Self.vehicle("bus"), Self.vehicle("car")]), .vehicles([Self.vehicle("car")]),
            ], kinds: Self.presence.union([.opening, .publishing])),
        WalkWorld.Plan(
            name: "a vehicle that asked, and two that guide any",
            endpoints: [Self.endpoint("car", "cluster")],
            clients: [Self.app, Self.rival], selections: [.anyThatAsked],
            kinds: [.coming, .dropping, .opening, .cancelling, .waiting], isGuidanceWanted: true),
        WalkWorld.Plan(
            name: "two endpoints ask one user",
            endpoints: [Self.endpoint("car", "cluster"), Self.endpoint("car", "hud")], clients: [Self.app],
            selections: [.vehicles([Self.vehicle("car")])],
            kinds: [
                .coming, .dropping, .opening, .publishing, .requesting, .answering, .prompting, .waiting,
            ]),
        WalkWorld.Plan(
            name: "a destination is shared with two vehicles",
            endpoints: [Self.endpoint("bus", "cluster"), Self.endpoint("car", "cluster")],
            clients: [Self.app], selections: [.vehicles([Self.vehicle("bus"), Self.vehicle("car")])],
            kinds: [.coming, .dropping, .opening, .publishing, .sharing, .waiting],
            contents: [.start, .share, .finish]),
        WalkWorld.Plan(
            name: "rules change who may guide which vehicle",
            endpoints: [Self.endpoint("bus", "cluster"), Self.endpoint("car", "cluster")],
            clients: [Self.app, Self.rival],
            selections: [.vehicles([Self.vehicle("bus"), Self.vehicle("car")]), .anyThatAsked],
            kinds: [.coming, .dropping, .opening, .ruling], isGuidanceWanted: true,
            access: [
                AccessPolicy(),
                Self.rules([(true, "app", "bus"), (false, "rival", "bus"), (true, "rival", "*")]),
                Self.rules([(true, "*", "*")], vehicle: "car"),
            ], statesMax: Self.statesMax),
        WalkWorld.Plan(
            name: "rules change who is asked for a destination",
            endpoints: [Self.endpoint("car", "cluster")], clients: [Self.app, Self.rival], selections: [],
            kinds: [.coming, .resuming, .dropping, .requesting, .answering, .ruling, .waiting],
            access: [AccessPolicy(), Self.rules([(true, "app", "car")]), Self.rules([(true, "rival", "*")])]),
        WalkWorld.Plan(
            name: "everything at once",
            endpoints: [
                Self.endpoint("bus", "cluster"), Self.endpoint("car", "cluster"), Self.endpoint("car", "hud"),
            ], clients: [Self.app, Self.rival],
            selections: [
                .vehicles([Self.vehicle("bus"), Self.vehicle("car")]), .vehicles([Self.vehicle("car")]),
            ], kinds: Set(WalkWorld.Step.Kind.allCases),
            contents: WalkWorld.Step.Content.allCases, statesMax: Self.statesMax),
    ]

    /// How far the walk through the largest world goes. The others are walked whole.
    private static let statesMax =
        ProcessInfo.processInfo.environment["WAYMARK_WALK_STATES"].flatMap { Int($0) } ?? 300

    @Test(arguments: plans)
    func `whatever happens next in whatever state, the promises hold`(_ plan: WalkWorld.Plan) {
        let start = WalkWorld(plan)
        var seen: Set<Int> = [start.key]
        var states: [(world: WalkWorld, path: [WalkWorld.Step])] = [(start, [])]
        var place = 0
        while place < min(states.count, plan.statesMax) {
            let (world, path) = states[place]
            place += 1
            guard world.isSameHandedOver else {
                Issue.record("handed over, the gateway is another, after \(path)")
                return
            }
            for step in world.steps {
                var next = world
                next.take(step)
                if let violation = next.violations.first {
                    Issue.record("\(violation), after \(path + [step])")
                    return
                }
                if seen.insert(next.key).inserted { states.append((next, path + [step])) }
            }
        }
        // A plan in which little can happen proves little.
        #expect(states.count > 50)
    }
}

extension WalkWorld {
    /// Whether another process that reads what this one writes has the same gateway.
    fileprivate var isSameHandedOver: Bool {
        do {
            let bytes = try StateCoder.encode(GatewayState(self.gateway), format: GatewayState.format)
            let state = try StateCoder.decode(GatewayState.self, from: bytes, format: GatewayState.format)
            return state.gateway(policy: self.gateway.policy, coder: Codec.coder) == self.gateway
        } catch {
            return false
        }
    }
}
