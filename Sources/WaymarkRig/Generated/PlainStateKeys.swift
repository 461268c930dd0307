// Made by scripts/generate/wire.sh from Protos. Do not edit.

extension Rig.StateKeys {
    /// The road the vehicle is on. Longest first; empty: not known.
    public var currentRoadName: Rig.Field<[String]> { Rig.Field("currentRoadName") }
}
