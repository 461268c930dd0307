extension DisplayDistance {
    /// The way clusters show a distance: rounded the more, the longer it is.
    ///
    /// Metric: below 100 m in steps of 10 m, below 1 km in steps of 50 m, below 10 km with one decimal, then whole
    /// kilometres. Imperial: below 100 ft (yd) in steps of 10, up to a tenth of a mile in steps of 50 (25 yd), below
    /// 10 mi with one decimal, then whole miles. `asPublished` and units that this build does not know read as metric.
    public static func rounded(_ distance: Distance, units: DistanceUnits) -> DisplayDistance {
        let meters = Double(distance.meters)
        switch units {
        case .metric, .asPublished, .unrecognized:
            return self.rounded(
                small: meters, step: 50, smallMax: 975, unit: .meters, large: meters / 1_000, .kilometers)
        case .imperialFeet:
            return self.rounded(
                small: meters / 0.3048, step: 50, smallMax: 528, unit: .feet, large: meters / 1_609.344,
                .miles)
        case .imperialYards:
            return self.rounded(
                small: meters / 0.9144, step: 25, smallMax: 176, unit: .yards, large: meters / 1_609.344,
                .miles)
        }
    }

    private static func rounded(
        small: Double, step: Double, smallMax: Double, unit: DistanceUnit, large: Double,
        _ largeUnit: DistanceUnit
    ) -> DisplayDistance {
        if small < smallMax {
            let step = small < 100 ? 10 : step
            return DisplayDistance(valueTenths: UInt32((small / step).rounded() * step) * 10, unit: unit)
        }
        let tenths = UInt32((large * 10).rounded())
        return DisplayDistance(
            valueTenths: tenths < 100 ? tenths : UInt32(large.rounded()) * 10, unit: largeUnit)
    }
}
