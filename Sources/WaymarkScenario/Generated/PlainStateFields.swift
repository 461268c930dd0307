// Made by scripts/generate/wire.sh from Protos. Do not edit.

internal import WaymarkModel
internal import WaymarkProtocol

extension PlainStates {
    /// The fields of a type; none if it is no plain state.
    static func fields(of type: MessageType) -> [FieldKey<PlainStates>] {
        switch type {
        case .currentRoadName:
            [.texts("currentRoadName") { $0.currentRoadName }]
        default: []
        }
    }
}
