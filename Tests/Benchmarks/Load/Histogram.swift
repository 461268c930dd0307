/// Durations in nanoseconds, counted in buckets whose width is at most 1/64 of their values.
struct Histogram {
    /// The number of buckets per power of two.
    private static let divisions = 64
    private static let divisionBits = 6

    private let buckets: UnsafeMutableBufferPointer<UInt64>
    private(set) var count: UInt64 = 0
    private(set) var largest: UInt64 = 0

    init() {
        self.buckets = .allocate(capacity: (65 - Self.divisionBits) * Self.divisions)
        self.buckets.initialize(repeating: 0)
    }

    func release() { self.buckets.deallocate() }

    mutating func reset() {
        self.buckets.update(repeating: 0)
        (self.count, self.largest) = (0, 0)
    }

    @inline(__always)
    mutating func add(_ value: UInt64) {
        self.buckets[Self.bucket(of: value)] += 1
        self.count += 1
        if value > self.largest { self.largest = value }
    }

    /// The quantile for `share` (0 ... 1); 0 without values.
    func percentile(_ share: Double) -> UInt64 {
        let wanted = UInt64((share * Double(self.count)).rounded(.up))
        var below: UInt64 = 0
        for bucket in self.buckets.indices {
            below += self.buckets[bucket]
            if below >= wanted, below > 0 { return min(Self.upperBound(of: bucket), self.largest) }
        }
        return self.largest
    }

    private static func bucket(of value: UInt64) -> Int {
        let shift = 63 - Self.divisionBits - (value | UInt64(Self.divisions)).leadingZeroBitCount
        return shift * Self.divisions + Int(value >> UInt64(shift))
    }

    private static func upperBound(of bucket: Int) -> UInt64 {
        let shift = max(0, bucket / Self.divisions - 1)
        let mantissa = UInt64(bucket - shift * Self.divisions)
        return (mantissa + 1) << UInt64(shift) - 1
    }
}
