/// A run of packed differences of one and two bytes each, added up without taking them apart.
///
/// Why: a route segment is little else, and reading its differences one by one costs three to eight times as much.
/// Sixteen bytes at a time are treated alike, whichever lengths are mixed in them. A difference `d` is on the wire as
/// `2 d`, or `-2 d - 1` if it is negative: its sign is the first byte's lowest bit, and what is left of that byte are
/// the six lower bits, of the second byte the seven higher ones. Of a negative one all are inverted. So the sum is that
/// of all lower bits and 64 times that of all higher ones, less what inverting added: 64 for each negative difference of
/// one byte, 8 192 for each of two.
@safe struct DeltaRun {
    /// How many bytes it takes at most.
    static let byteCountMax = 64
    /// How far its differences may lead from where they begin, in either direction.
    static let sumMax: Int32 = Int32(Self.byteCountMax) / 2 * 8_192

    private typealias Bytes = SIMD2<UInt64>

    let sum: Int32
    let count: Int32
    /// One less than ``byteCountMax`` if the last byte begins another difference.
    let byteCount: Int

    /// Adds up the run that begins at `start`, with a difference. It looks at ``byteCountMax`` bytes from there, and at the
    /// one before.
    ///
    /// nil if a difference has more than two bytes.
    init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        let ones = Self.each(1)
        var (low, high, continuing, long) = (Bytes.zero, Bytes.zero, Bytes.zero, Bytes.zero)
        var (negativeOnes, negativeTwos) = (Bytes.zero, Bytes.zero)
        let isCut = unsafe bytes[start + Self.byteCountMax - 1] >= 0x80
        for offset in stride(from: 0, to: Self.byteCountMax, by: 16) {
            var here = unsafe Self.load(bytes, start + offset)
            let before = unsafe Self.load(bytes, start + offset - 1)
            long |= here & before
            if isCut, offset == Self.byteCountMax - 16 { here[1] &= UInt64.max >> 8 }
            let begins = here &>> 7 & ones
            let follows = before &>> 7 & ones
            let second = (follows &<< 8) &- follows
            let negative = (here & ~second | before & second) & ones
            let bits = (here ^ ((negative &<< 7) &- negative)) & Self.each(0x7F)
            low &+= Self.widened(bits &>> 1 & Self.each(0x3F) & ~second)
            high &+= Self.widened(bits & second)
            continuing &+= begins
            negativeOnes &+= negative & ~(begins | follows)
            negativeTwos &+= negative & follows
        }
        guard long & Self.each(0x80) == .zero else { return nil }
        self.byteCount = isCut ? Self.byteCountMax - 1 : Self.byteCountMax
        self.count = Int32(self.byteCount) &- Self.sum(ofBytes: continuing)
        let inverted = 64 &* Self.sum(ofBytes: negativeOnes) &+ 8_192 &* Self.sum(ofBytes: negativeTwos)
        self.sum = Self.sum(ofPairs: low) &+ 64 &* Self.sum(ofPairs: high) &- inverted
    }

    @inline(__always)
    private static func load(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Bytes {
        let bytes = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Bytes.self)
        return Bytes(UInt64(littleEndian: bytes[0]), UInt64(littleEndian: bytes[1]))
    }

    /// The same value in each byte.
    @inline(__always)
    private static func each(_ byte: UInt64) -> Bytes { Bytes(repeating: 0x0101_0101_0101_0101 &* byte) }

    /// The sums of neighbouring bytes, each in the place of both.
    @inline(__always)
    private static func widened(_ bytes: Bytes) -> Bytes {
        let lower = Bytes(repeating: 0x00FF_00FF_00FF_00FF)
        return (bytes & lower) &+ (bytes &>> 8 & lower)
    }

    /// At most 255.
    @inline(__always)
    private static func sum(ofBytes bytes: Bytes) -> Int32 {
        Int32(truncatingIfNeeded: ((bytes[0] &+ bytes[1]) &* 0x0101_0101_0101_0101) >> 56)
    }

    /// At most 65 535.
    @inline(__always)
    private static func sum(ofPairs pairs: Bytes) -> Int32 {
        Int32(truncatingIfNeeded: ((pairs[0] &+ pairs[1]) &* 0x0001_0001_0001_0001) >> 48)
    }
}
