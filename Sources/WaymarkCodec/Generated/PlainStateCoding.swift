// Made by scripts/generate/wire.sh from Protos. Do not edit.

internal import CWaymarkWire
internal import WaymarkModel
internal import WaymarkProtocol

extension PlainState {
    /// Reads an unpacked state; nil for every other type.
    init?(_ type: MessageType, _ wire: AnyWire) {
        switch type {
        case .currentRoadName:
            let wire = unsafe wire.message(as: Waymark__V1__CurrentRoadName.self)
            unsafe self = .currentRoadName(texts(wire.pointee.n_name_variants, wire.pointee.name_variants))
        default: return nil
        }
    }

    /// The C structure of the type.
    func wire(in arena: Arena) -> AnyWire {
        switch self {
        case .currentRoadName(let currentRoadName):
            unsafe arena.body(waymark__v1__current_road_name__init) { wire in
                unsafe (wire.pointee.n_name_variants, wire.pointee.name_variants) =
                    unsafe arena.texts(currentRoadName)
            }
        }
    }
}
