// Made by scripts/generate/wire.sh from Protos. Do not edit.

package import WaymarkModel

extension PlainState {
    /// The type in the frame's header.
    package var type: MessageType {
        switch self {
        case .currentRoadName: .currentRoadName
        }
    }
}

extension Publication {
    /// The road the vehicle is on.
    package static func currentRoadName(_ currentRoadName: [String]) -> Publication {
        .plain(.currentRoadName(currentRoadName))
    }
}
