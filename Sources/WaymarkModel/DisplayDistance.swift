extension DisplayDistance {
    /// A distance as clusters show it: the longer, the coarser.
    ///
    /// | units | short distances | then | from 10 of these |
    /// |---|---|---|---|
    /// | metric | 10 m steps below 100 m, 50 m steps below 1 km | kilometres, one decimal | whole kilometres |
    /// | feet | 10 ft steps below 100 ft, 50 ft steps below 500 ft | miles, one decimal | whole miles |
    /// | yards | 10 yd steps below 100 yd, 50 yd steps below 500 yd | miles, one decimal | whole miles |
    ///
    /// What would round up to the end of a unit's range is shown in the next unit: 980 m are 1.0 km, never 1 000 m. A
    /// shorter distance never shows as a longer one. Half a step rounds up; the nearest few metres are 0.
    ///
    /// - Parameters:
    ///   - distance: The true distance, any.
    ///   - units: `asPublished`, and units that this build does not know, show as metric.
    /// - Returns: The value to show with its unit, within the range of the wire for every distance.
    public static func rounded(_ distance: Distance, units: DistanceUnits) -> DisplayDistance {
        switch units {
        case .metric, .asPublished, .unrecognized: Scale.metric.shown(distance)
        case .imperialFeet: Scale.feet.shown(distance)
        case .imperialYards: Scale.yards.shown(distance)
        }
    }

    /// A short unit with its steps, and the long unit that follows it.
    private struct Scale {
        var shortUnit: DistanceUnit
        var shortUnitMeters: Double
        /// Where the long unit begins, in the short unit.
        var shortEnd: Double
        var longUnit: DistanceUnit
        var longUnitMeters: Double

        static let metric = Scale(
            shortUnit: .meters, shortUnitMeters: 1, shortEnd: 1_000, longUnit: .kilometers,
            longUnitMeters: 1_000)
        static let feet = Scale(
            shortUnit: .feet, shortUnitMeters: 0.3048, shortEnd: 500, longUnit: .miles,
            longUnitMeters: 1_609.344)
        static let yards = Scale(
            shortUnit: .yards, shortUnitMeters: 0.9144, shortEnd: 500, longUnit: .miles,
            longUnitMeters: 1_609.344)

        func shown(_ distance: Distance) -> DisplayDistance {
            let meters = Double(distance.meters)
            let short = meters / self.shortUnitMeters
            let step: Double = short < 100 ? 10 : 50
            let rounded = (short / step).rounded() * step
            if rounded < self.shortEnd {
                return DisplayDistance(valueTenths: UInt32(rounded) * 10, unit: self.shortUnit)
            }
            let long = meters / self.longUnitMeters
            let tenths = (long * 10).rounded()
            return DisplayDistance(
                valueTenths: UInt32(tenths < 100 ? tenths : long.rounded() * 10), unit: self.longUnit)
        }
    }
}
