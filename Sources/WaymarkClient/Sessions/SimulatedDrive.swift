public import WaymarkModel
internal import WaymarkProtocol

/// The drive that a vehicle or an observer asks of a client that simulates drives.
public struct SimulatedDrive: Sendable, Hashable {
    /// Start from where the client is, or stop there.
    public let action: SimulationAction
    /// The speed of the drive, as a multiple of the real one.
    public let speedFactor: Double
    /// The vehicle that it is about; nil: all that the client guides.
    public let vehicle: String?
    /// The endpoint that asked; nil if an observer did.
    public let endpoint: String?

    init(_ asked: SimulateDrive) {
        self.action = asked.action
        self.speedFactor = asked.speedPercent == 0 ? 1 : Double(asked.speedPercent) / 100
        self.vehicle = asked.vehicle?.rawValue
        self.endpoint = asked.endpoint?.rawValue
    }

    /// A factor in per cent, as messages have it.
    static func percent(_ factor: Double) -> UInt32 {
        factor.isFinite ? UInt32(min(max(factor * 100, 1), 100_000).rounded()) : 100
    }
}
