import Foundation
import Synchronization
import Testing
import WaymarkProtocol
import WaymarkRecording

@testable import WaymarkInspectorServer

@Suite struct FeedClockTests {
    /// A computer's clocks.
    private final class Clocks: Sendable {
        private let moment = Mutex(
            RecordingMoment(
                RecordingTime(nanoseconds: 1_795_425_300_000_000_000), elapsed: Instant(nanoseconds: 0)))

        var now: RecordingMoment { self.moment.withLock { $0 } }

        func pass(_ duration: Duration, set change: Duration = .zero) {
            self.moment.withLock {
                $0 = RecordingMoment($0.time + duration + change, elapsed: $0.elapsed + duration)
            }
        }
    }

    @Test func `times go on while the clock is set back, and follow a clock that is set forward`() {
        let clocks = Clocks()
        let clock = FeedClock { clocks.now }
        let begin = clocks.now.time
        clocks.pass(.seconds(10))
        #expect(clock.time(nil) == begin + .seconds(10))
        clocks.pass(.seconds(1), set: .seconds(-600_000_000))
        #expect(clock.time(nil) == begin + .seconds(11))
        clocks.pass(.seconds(1))
        #expect(clock.time(nil) == begin + .seconds(12))
        clocks.pass(.seconds(1), set: .seconds(600_003_600))
        #expect(clock.time(nil) == begin + .seconds(3_613))
        #expect(clock.time(nil) == clocks.now.time)
        // Small corrections are not followed: they would disorder what is told.
        clocks.pass(.seconds(1), set: .seconds(1))
        #expect(clock.time(nil) == begin + .seconds(3_614))
    }

    @Test func `a date beyond the range of the recordings' time is its first or last nanosecond`() {
        let clock = FeedClock()
        #expect(clock.time(Date(timeIntervalSince1970: 1.5)) == RecordingTime(nanoseconds: 1_500_000_000))
        for (seconds, nanoseconds) in [
            (-1, 0), (-.infinity, 0), (.nan, 0), (1e11, .max), (.infinity, .max),
        ] as [(Double, UInt64)] {
            let time = clock.time(Date(timeIntervalSince1970: seconds))
            #expect(time == RecordingTime(nanoseconds: nanoseconds), "\(seconds)")
        }
    }
}
