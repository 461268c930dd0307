internal import Glibc
package import WaymarkProtocol

/// Nanoseconds since 1970, by the clock of the computer that records.
package struct RecordingTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The clock of this computer; 1970 if it is set before that.
    package static var now: Self {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Self(time)
    }

    /// The system's form of a time; 1970 and 2554 for times before and after.
    init(_ time: timespec) {
        let (nanoseconds, isTooLarge) = UInt64(max(0, time.tv_sec)).multipliedReportingOverflow(
            by: 1_000_000_000)
        let sum = nanoseconds.addingReportingOverflow(UInt64(max(0, time.tv_nsec)))
        self.init(nanoseconds: isTooLarge || sum.overflow ? .max : sum.partialValue)
    }

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.nanoseconds < rhs.nanoseconds }

    /// The time `duration` later; not before 1970.
    package static func + (lhs: Self, duration: Duration) -> Self {
        let nanoseconds = duration.nanoseconds
        return Self(
            nanoseconds: nanoseconds < 0
                ? lhs.nanoseconds.subtractingSaturating(nanoseconds.magnitude)
                : lhs.nanoseconds.addingSaturating(nanoseconds.magnitude))
    }

    package static func - (lhs: Self, rhs: Self) -> Duration {
        .nanoseconds(
            lhs < rhs
                ? -Int64(clamping: rhs.nanoseconds - lhs.nanoseconds)
                : Int64(clamping: lhs.nanoseconds - rhs.nanoseconds))
    }

    /// Year, month, day, hour, minute, second, UTC.
    private var parts: [Int] {
        let seconds = Int(self.nanoseconds / 1_000_000_000)
        // The days since 0000-03-01, in eras of 400 years: a year that begins in March has its leap day at its end.
        let days = seconds / 86_400 + 719_468
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = days / 146_097 * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        let second = seconds % 86_400
        return [
            year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, second / 3_600, second / 60 % 60,
            second % 60,
        ]
    }

    private static func digits(_ number: Int, _ count: Int = 2) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// RFC 3339 with milliseconds, UTC.
    package var description: String {
        let parts = self.parts.map { Self.digits($0) }
        let milliseconds = Self.digits(Int(self.nanoseconds / 1_000_000 % 1_000), 3)
        return
            "\(parts[0])-\(parts[1])-\(parts[2])T\(parts[3]):\(parts[4]):\(parts[5]).\(milliseconds)Z"
    }

    /// `20261123T091500Z`, for names of files.
    var compact: String {
        let parts = self.parts.map { Self.digits($0) }
        return "\(parts[0])\(parts[1])\(parts[2])T\(parts[3])\(parts[4])\(parts[5])Z"
    }
}

/// A moment at the computer that records, by both of its clocks.
package struct RecordingMoment: Sendable, Hashable {
    /// By the clock that shows the date. It may be set at any time.
    package var time: RecordingTime
    /// By a clock that only goes forward, also while the computer sleeps.
    package var elapsed: Instant

    package init(_ time: RecordingTime, elapsed: Instant) { (self.time, self.elapsed) = (time, elapsed) }

    /// A moment of a run, whose clock is never set.
    package init(_ time: RecordingTime) {
        self.init(time, elapsed: Instant(nanoseconds: Int64(clamping: time.nanoseconds)))
    }

    /// The clocks of this computer.
    package static var now: Self {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        let elapsed = Instant(nanoseconds: Int64(clamping: RecordingTime(time).nanoseconds))
        return Self(.now, elapsed: elapsed)
    }
}

/// Turns instants of a gateway's clock into times of the recorder's.
struct RecordingClock: Sendable, Hashable {
    private var instant = Instant(nanoseconds: 0)
    private var time = RecordingTime(nanoseconds: 0)

    /// A message that the gateway wrote at `instant` has arrived.
    mutating func set(_ instant: Instant, arrived time: RecordingTime) {
        self.instant = instant
        self.time = time
    }

    /// The recorder's clock has changed by this.
    mutating func shift(by change: Duration) { self.time = self.time + change }

    /// When something happened, or will.
    func time(of instant: Instant) -> RecordingTime { self.time + (instant - self.instant) }

    /// When something happened that has arrived at `now`: it is not in the future.
    mutating func time(of instant: Instant, arrived now: RecordingTime) -> RecordingTime {
        let time = self.time + (instant - self.instant)
        guard time > now else { return time }
        self.set(instant, arrived: now)
        return now
    }
}
