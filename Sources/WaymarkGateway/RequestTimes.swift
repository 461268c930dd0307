internal import WaymarkProtocol

/// How long requests were open until their outcome.
package struct RequestTimes: Sendable, Hashable, Codable {
    /// By the index of the least bound that is not below the time; behind the last bound: longer.
    private var counts = CodeCounts()
    /// Of all requests.
    package private(set) var microseconds: UInt64 = 0

    package init() {}

    package mutating func add(_ time: Duration) {
        let bounds = RequestTimeBound.milliseconds
        let nanoseconds = time.nanoseconds
        let index = bounds.firstIndex { nanoseconds <= Int64($0) * 1_000_000 } ?? bounds.count
        self.counts.add(of: UInt32(index))
        self.microseconds &+= UInt64(clamping: nanoseconds / 1_000)
    }

    /// The counts that are not 0, by bound in milliseconds; 0: longer than all bounds.
    package var all: [(bound: UInt32, count: UInt64)] {
        let bounds = RequestTimeBound.milliseconds
        return self.counts.all.map { (Int($0.code) < bounds.count ? bounds[Int($0.code)] : 0, $0.count) }
    }
}
