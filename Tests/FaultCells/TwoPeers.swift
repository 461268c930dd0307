import RecordedRoutes
import WaymarkClient
package import WaymarkGuidance
package import WaymarkHistory
package import WaymarkProtocol
package import WaymarkRig
import WaymarkRoutes

// The runs of most tests have one vehicle, `dut/cluster`, and one client, `app`.

extension PeerID {
    package static let ofVehicle = PeerID.endpoint(
        VehicleID(unchecked: "dut"), EndpointName(unchecked: "cluster"))
    package static let ofClient = PeerID.client(ClientID(unchecked: "app"))
}

extension VirtualRun {
    package var vehicle: RigVehicle? { self.peer(.ofVehicle, as: RigVehicle.self) }
    package var client: RigClient? { self.peer(.ofClient, as: RigClient.self) }

    package mutating func asVehicle<Value>(
        _ body: (inout RigVehicle, Instant, inout [PeerAction]) throws -> Value
    ) rethrows -> Value? { try self.change(.ofVehicle, as: RigVehicle.self, body) }

    package mutating func asClient<Value>(
        _ body: (inout RigClient, Instant, inout [PeerAction]) throws -> Value
    ) rethrows -> Value? { try self.change(.ofClient, as: RigClient.self, body) }

    /// The client drives along a route that ships, with the vehicle.
    package mutating func drive(_ route: String, _ options: GuideMachine.Options = .init()) throws {
        let plan = RigClient.Plan(try RouteAnswer.shipped(route), .vehicles(["dut"]), options)
        try self.change(.ofClient, as: RigClient.self) { try $0.drive(plan, at: $1, into: &$2) }
    }
}

extension History {
    package var frames: [(instant: Instant, frame: CrossedFrame)] {
        self.entries.compactMap { entry in
            if case .frame(let frame) = entry.kind { (entry.instant, frame) } else { nil }
        }
    }
}
