import Foundation
package import WaymarkHistory
package import WaymarkProtocol

/// A message on its way between a peer and the gateway, as the protocol page's table has it.
package struct Hop: Sendable, Hashable, CustomStringConvertible {
    package let peer: PeerID
    package let way: Way
    package let type: MessageType

    package var description: String {
        self.way == .toGateway
            ? "\(self.type), \(self.peer) → gateway" : "\(self.type), gateway → \(self.peer)"
    }

    /// All hops between the gateway and an endpoint or a client, in the order of the page. Those of observers are not among them, since they
    /// change nothing (REQ-OBS-01), nor those of extensions, since the rig's clients have none.
    static func ofPage() throws -> [Hop] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Docs/protocol.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        return page.matches(of: /(?m)^\| 0x([0-9A-F]{4}) \| \w+ \| ([^|]+?) \|/).flatMap { row -> [Hop] in
            guard let type = UInt16(row.1, radix: 16).flatMap(MessageType.init),
                type != .publishExtension, type != .vehicleExtension
            else { return [] }
            return Self.ends(String(row.2)).map { Hop(peer: $0, way: $1, type: type) }
        }
    }

    private static func ends(_ who: String) -> [(PeerID, Way)] {
        let (client, endpoint) = (PeerID.ofClient, PeerID.ofVehicle)
        return switch who {
        case "peer → gateway": [(client, .toGateway), (endpoint, .toGateway)]
        case "gateway → peer": [(client, .toPeer), (endpoint, .toPeer)]
        case "both ways":
            [(client, .toGateway), (endpoint, .toGateway), (client, .toPeer), (endpoint, .toPeer)]
        case "client → gateway": [(client, .toGateway)]
        case "gateway → client": [(client, .toPeer)]
        case "gateway → endpoint", "gateway → endpoints": [(endpoint, .toPeer)]
        case "gateway → client, endpoints", "gateway → endpoints; client":
            [(client, .toPeer), (endpoint, .toPeer)]
        case "client → gateway → endpoints": [(client, .toGateway), (endpoint, .toPeer)]
        case "endpoint → gateway": [(endpoint, .toGateway)]
        case "endpoint → gateway → client": [(endpoint, .toGateway), (client, .toPeer)]
        default: []
        }
    }
}
