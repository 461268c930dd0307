internal import WaymarkClient
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Turns the times of a recording into instants of its replay.
///
/// The clock of a recorder may have been set, and a damaged file may say any time. So instants never go back, and a pause in which nothing
/// happened lasts at most as long as the gateway's timers.
struct ReplayTimeline: Sendable {
    /// Observers are told of some things a little later than of others.
    private static let disorderMax = Duration.seconds(2)
    /// The longest pause, if no peer was promised a longer grace time.
    private static let pauseMax = Duration.seconds(3_600)
    private static let graceMax = Duration.seconds(86_400)
    private static let graceMargin = Duration.seconds(60)
    /// Pauses of a longer replay last a second each: so the work is bounded by the number of entries.
    private static let durationMax = Duration.seconds(31 * 86_400)

    private var pauseMax = Self.pauseMax
    /// Which time instant 0 is, since 1970. Before 1970, if the clock was set to that.
    private var base: Duration
    private var last = Instant(nanoseconds: 0)
    private var shortened = Duration.zero
    private var shortenedCount = 0
    private var setBackCount = 0

    init(begin: RecordingTime) { self.base = Self.sinceEpoch(begin) }

    private static func sinceEpoch(_ time: RecordingTime) -> Duration {
        time - RecordingTime(nanoseconds: 0)
    }

    /// The instant of the next entry.
    mutating func instant(of time: RecordingTime) -> Instant {
        let zero = Instant(nanoseconds: 0)
        let sinceBase = Self.sinceEpoch(time) - self.base
        let pause = sinceBase - (self.last - zero)
        if pause < .zero - Self.disorderMax {
            // The clock was set back: the replay goes on.
            self.setBackCount += 1
            self.base += pause
            return self.last
        }
        let longest = self.last - zero > Self.durationMax ? .seconds(1) : self.pauseMax
        guard pause > longest else {
            let instant = zero + max(.zero, sinceBase)
            self.last = max(self.last, instant)
            return instant
        }
        self.shortenedCount += 1
        self.shortened += pause - longest
        self.last = self.last + longest
        self.base = Self.sinceEpoch(time) - (self.last - zero)
        return self.last
    }

    /// A peer was told how long its state is kept.
    mutating func see(grace: Duration) {
        self.pauseMax = max(self.pauseMax, min(grace, Self.graceMax) + Self.graceMargin)
    }

    /// What differs from the times of the recording, in sentences.
    var notes: [String] {
        var notes: [String] = []
        if self.shortenedCount > 0 {
            let pauses = GuidanceText.counted(self.shortenedCount, "pause")
            notes.append(
                "\(pauses) in which nothing was recorded shortened, by \(Self.text(self.shortened)) in all")
        }
        if self.setBackCount > 0 {
            let times = self.setBackCount == 1 ? "once" : "\(self.setBackCount) times"
            notes.append("the clock of the recorder was set back \(times); the replay goes on at each")
        }
        return notes
    }

    /// A long duration, in two of its units.
    private static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        if days > 0 { return "\(days) d \(hours) h" }
        if hours > 0 { return "\(hours) h \(minutes) min" }
        return "\(minutes) min \(seconds % 60) s"
    }
}
