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
