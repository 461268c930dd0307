import Testing
import WaymarkModel

@Suite struct DisplayDistanceTests {
    @Test(
        arguments: [
            (0, 0, .meters), (4, 0, .meters), (5, 100, .meters), (94, 900, .meters), (97, 1_000, .meters),
            (124, 1_000, .meters), (125, 1_500, .meters), (974, 9_500, .meters), (975, 10, .kilometers),
            (1_049, 10, .kilometers), (1_050, 11, .kilometers), (4_540, 45, .kilometers),
            (9_949, 99, .kilometers),
            (9_950, 100, .kilometers), (10_499, 100, .kilometers), (10_500, 110, .kilometers),
            (50_000_000, 500_000, .kilometers),
        ] as [(UInt32, UInt32, DistanceUnit)])
    func `metres turn into kilometres`(_ meters: UInt32, _ tenths: UInt32, _ unit: DistanceUnit) {
        let expected = DisplayDistance(valueTenths: tenths, unit: unit)
        #expect(DisplayDistance.rounded(.meters(meters), units: .metric) == expected)
        #expect(DisplayDistance.rounded(.meters(meters), units: .asPublished) == expected)
        #expect(DisplayDistance.rounded(.meters(meters), units: .unrecognized(77)) == expected)
    }

    @Test(
        arguments: [
            (0, 0, .feet), (10, 300, .feet), (30, 1_000, .feet), (40, 1_500, .feet), (144, 4_500, .feet),
            (145, 1, .miles), (160, 1, .miles), (1_609, 10, .miles), (2_414, 15, .miles),
            (16_012, 99, .miles),
            (16_093, 100, .miles), (17_703, 110, .miles), (50_000_000, 310_690, .miles),
        ] as [(UInt32, UInt32, DistanceUnit)])
    func `feet turn into miles`(_ meters: UInt32, _ tenths: UInt32, _ unit: DistanceUnit) {
        #expect(
            DisplayDistance.rounded(.meters(meters), units: .imperialFeet)
                == DisplayDistance(valueTenths: tenths, unit: unit))
    }

    @Test(
        arguments: [
            (0, 0, .yards), (10, 100, .yards), (91, 1_000, .yards), (120, 1_500, .yards),
            (434, 4_500, .yards),
            (435, 3, .miles), (1_609, 10, .miles), (160_934, 1_000, .miles),
        ] as [(UInt32, UInt32, DistanceUnit)])
    func `yards turn into miles`(_ meters: UInt32, _ tenths: UInt32, _ unit: DistanceUnit) {
        #expect(
            DisplayDistance.rounded(.meters(meters), units: .imperialYards)
                == DisplayDistance(valueTenths: tenths, unit: unit))
    }

    @Test(arguments: DistanceUnits.allKnown)
    func `a shorter distance never shows as a longer one, and none is far off`(_ units: DistanceUnits) throws
    {
        var shownBefore = 0.0
        for meters in UInt32(0)...30_000 {
            let display = DisplayDistance.rounded(.meters(meters), units: units)
            let shown = Double(display.valueTenths) / 10 * (try #require(Self.meters[display.unit]))
            #expect(shown >= shownBefore - 1e-6, "\(meters) m in \(units)")
            #expect(abs(shown - Double(meters)) <= max(5, Double(meters) * 0.34), "\(meters) m in \(units)")
            shownBefore = shown
        }
    }

    @Test(arguments: DistanceUnits.allKnown)
    func `the longest distance keeps within the range of the wire`(_ units: DistanceUnits) {
        #expect(DisplayDistance.rounded(.meters(.max), units: units).valueTenths <= 99_999_999)
    }

    private static let meters: [DistanceUnit: Double] = [
        .meters: 1, .kilometers: 1_000, .feet: 0.3048, .yards: 0.9144, .miles: 1_609.344,
    ]
}
