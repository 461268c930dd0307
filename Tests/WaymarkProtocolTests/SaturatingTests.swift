import Testing
import WaymarkProtocol

/// Numbers of peers, files and clocks at the ends of their ranges.
@Suite struct SaturatingTests {
    @Test func `a sum stays at the end of the range that it would leave`() {
        #expect(UInt64.max.addingSaturating(.max) == .max)
        #expect(Int64.min.addingSaturating(-1) == .min)
        #expect(Int64.max.addingSaturating(1) == .max)
        #expect(UInt64(3).subtractingSaturating(4) == 0)
        #expect(Int64.min.subtractingSaturating(1) == .min)
        #expect(Int64.max.subtractingSaturating(-1) == .max)
        #expect(Int64.max.multipliedSaturating(by: -2) == .min)
        #expect(Int64.min.multipliedSaturating(by: -2) == .max)
        #expect(UInt64(2).addingSaturating(3) == 5)
        #expect(Int64(2).subtractingSaturating(3) == -1)
    }

    @Test(arguments: [
        (1e300, Int64.max), (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0), (-2.9, -2),
    ])
    func `a number with a fraction becomes the nearest whole one that there is`(
        _ value: Double, _ whole: Int64
    ) {
        #expect(Int64(saturating: value) == whole)
    }

    @Test func `an instant is never later than the last one`() {
        let last = Instant(nanoseconds: .max)
        #expect(last + .seconds(1) == last)
        #expect(Instant(nanoseconds: .min) + .seconds(-1) == Instant(nanoseconds: .min))
        #expect((last - Instant(nanoseconds: .min)).nanoseconds == .max)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).milliseconds == .min)
    }

    @Test func `two gaps of the largest size are counted as the largest number`() {
        var observed = ObservedGateway()
        for _ in 0..<2 {
            observed.apply(.observationGap(ObservationGap(dropped: .max, nextNumber: .max))) { _ in nil }
        }
        #expect(observed.dropped == .max && observed.number == .max)
    }
}
