/// A distance as it is shown: rounded, with its unit.
public struct DisplayDistance: Sendable, Hashable {
    /// The value in tenths of `unit`, 0 ... 99 999 999: 4.5 km is 45 tenths of a kilometre.
    public var valueTenths: UInt32
    /// The unit that is shown.
    public var unit: DistanceUnit

    /// A shown distance of `valueTenths` tenths of `unit`.
    public init(valueTenths: UInt32, unit: DistanceUnit) {
        self.valueTenths = valueTenths
        self.unit = unit
    }
}

/// The remaining distance and time.
///
/// - Source: `CPTravelEstimates`; `TravelEstimate` in Android for Cars.
public struct TravelEstimates: Sendable, Hashable {
    /// The true distance, 0 ... 50 000 000 metres.
    public var distanceRemaining: Distance
    /// The remaining time in whole seconds, 0 ... 31 536 000 s; nil when not known.
    public var timeRemaining: Duration?
    /// The distance to show in place of the true one; nil leaves the rounding to the receiver.
    public var distanceRemainingToDisplay: DisplayDistance?

    /// Creates estimates.
    public init(
        distanceRemaining: Distance, timeRemaining: Duration? = nil,
        distanceRemainingToDisplay: DisplayDistance? = nil
    ) {
        self.distanceRemaining = distanceRemaining
        self.timeRemaining = timeRemaining
        self.distanceRemainingToDisplay = distanceRemainingToDisplay
    }
}
