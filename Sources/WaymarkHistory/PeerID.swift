package import WaymarkProtocol

/// A peer in a run: an endpoint of a vehicle, or a navigation client.
package enum PeerID: Sendable, Hashable, CustomStringConvertible {
    case endpoint(VehicleID, EndpointName)
    case client(ClientID)

    /// `dut/cluster`, or the client's name.
    package var description: String {
        switch self {
        case .endpoint(let vehicle, let endpoint): "\(vehicle)/\(endpoint)"
        case .client(let client): client.rawValue
        }
    }

    /// The vehicle of an endpoint.
    package var vehicle: VehicleID? {
        if case .endpoint(let vehicle, _) = self { vehicle } else { nil }
    }
}

extension PeerID {
    /// The peer that an observer names: `VEHICLE/ENDPOINT` or a client; nil for one that it cannot name.
    package init?(observed name: String) {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1:
            guard let client = ClientID(name) else { return nil }
            self = .client(client)
        case 2:
            guard let vehicle = VehicleID(parts[0]), let endpoint = EndpointName(parts[1]) else { return nil }
            self = .endpoint(vehicle, endpoint)
        default: return nil
        }
    }

    /// The peer that says `hello`; nil for an observer.
    package init?(_ hello: Hello) {
        switch hello.role {
        case .vehicle(let vehicle): self = .endpoint(vehicle.vehicle, vehicle.endpoint)
        case .navigation(let client): self = .client(client.client)
        case .observer: return nil
        }
    }
}
