// Made by scripts/generate/wire.sh from Protos. Do not edit.

internal import WaymarkModel

extension VehicleState {
    /// The road the vehicle is on. Longest first; empty: not known.
    public var currentRoadName: [String] {
        get { self.plain.currentRoadName }
        set { self.plain.currentRoadName = newValue }
    }
}
