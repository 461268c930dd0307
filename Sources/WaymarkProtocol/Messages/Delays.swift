/// Delays of publications, from when the gateway accepted them.
///
/// - Source: `waymark.v1.DelayCounts`.
package struct DelayCounts: Sendable, Hashable, Codable {
    /// The numbers of delays, by the index of the least of ``DelayBound/milliseconds`` that is not below the delay; behind the last bound:
    /// longer.
    package private(set) var counts: [UInt32] = []
    package private(set) var totalMicroseconds: UInt64 = 0
    package private(set) var lastMicroseconds: UInt64 = 0

    package init() {}

    /// Creates what a gateway counted.
    package init(counts: [UInt32], totalMicroseconds: UInt64, lastMicroseconds: UInt64) {
        self.counts = counts
        self.totalMicroseconds = totalMicroseconds
        self.lastMicroseconds = lastMicroseconds
    }

    /// The number of delays that were counted.
    package var count: UInt64 { self.counts.reduce(0) { $0 + UInt64($1) } }

    /// Counts a delay. One below 0 counts as 0.
    package mutating func add(_ delay: Duration) {
        let nanoseconds = delay.nanoseconds
        let bounds = DelayBound.milliseconds
        let index = bounds.firstIndex { nanoseconds <= Int64($0) * 1_000_000 } ?? bounds.count
        while self.counts.count <= index { self.counts.append(0) }
        if self.counts[index] < .max { self.counts[index] += 1 }
        self.lastMicroseconds = UInt64(clamping: nanoseconds / 1_000)
        self.totalMicroseconds &+= self.lastMicroseconds
    }

    /// The counts that are not 0, by bound in milliseconds; 0: longer than all bounds.
    package var all: [(bound: UInt32, count: UInt64)] {
        let bounds = DelayBound.milliseconds
        let longer = self.counts.dropFirst(bounds.count).reduce(UInt64(0)) { $0 + UInt64($1) }
        var all: [(bound: UInt32, count: UInt64)] = zip(bounds, self.counts).map { ($0, UInt64($1)) }
        all.append((0, longer))
        return all.filter { $0.count > 0 }
    }
}

/// The bounds by which delays are counted.
package enum DelayBound {
    /// A display of 60 pictures a second needs up to 17 milliseconds for one; a driver notices half a second.
    package static let milliseconds: [UInt32] = [
        1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000,
    ]
}

/// The times that publications take to one endpoint, and to its display.
package struct EndpointDelays: Sendable, Hashable, Codable {
    /// Delays until the endpoint had received them.
    package var received = DelayCounts()
    /// Delays until their content was on the display.
    package var shown = DelayCounts()
    /// The round trip of the Ping by which the clocks were compared last. The delays are wrong by at most half of it.
    package var roundTripMicroseconds: UInt64 = 0

    package init() {}
}

/// The times at which a Ping was received, and its Pong sent, by the clock of the Pong's sender.
package struct PongTimes: Sendable, Hashable {
    package var receivedNanoseconds: UInt64
    package var sentNanoseconds: UInt64

    package init(receivedNanoseconds: UInt64, sentNanoseconds: UInt64) {
        self.receivedNanoseconds = receivedNanoseconds
        self.sentNanoseconds = sentNanoseconds
    }

    /// The times of a Pong that is sent at once.
    package init(at now: Instant) {
        self.init(receivedNanoseconds: now.stamp, sentNanoseconds: now.stamp)
    }
}

extension Instant {
    /// The number that messages have for what the clock showed.
    package var stamp: UInt64 { UInt64(bitPattern: self.nanoseconds) }
}
