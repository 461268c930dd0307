internal import Foundation
internal import Synchronization
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// The time of what is told, which goes on also while the computer's clock is set back: times are the order in which the page shows it.
final class FeedClock: Sendable {
    /// A clock that was set forward by more than this is followed.
    private static let changeMin = Duration.seconds(2)

    private let anchor: Mutex<RecordingMoment>
    private let now: @Sendable () -> RecordingMoment

    init(now: @escaping @Sendable () -> RecordingMoment = { .now }) {
        self.now = now
        self.anchor = Mutex(now())
    }

    /// `date`, or the present time if it is nil.
    func time(_ date: Date?) -> RecordingTime {
        if let date { return RecordingTime(date) }
        let now = self.now()
        return self.anchor.withLock { anchor in
            let time = anchor.time + (now.elapsed - anchor.elapsed)
            guard now.time - time > Self.changeMin else { return time }
            anchor = now
            return now.time
        }
    }
}
