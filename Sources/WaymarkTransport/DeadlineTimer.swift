internal import NIOCore
internal import WaymarkProtocol

/// The deadlines of the connections of one event loop, with one timer of the loop for all of them.
///
/// Why not a timer each: the loop looks through all of its timers to cancel one, and a timer is five allocations.
final class DeadlineTimer {
    /// How much later than its deadline a connection may be told, so that many are told at once.
    static let slack = Duration.milliseconds(10)

    private let clock: @Sendable () -> Instant
    private let timer: LoopTimer
    private var book = DeadlineBook<ConnectionHandler>(unit: DeadlineTimer.slack)
    private var isRinging = false

    init(_ loop: any EventLoop, clock: @escaping @Sendable () -> Instant) {
        self.clock = clock
        self.timer = LoopTimer(loop, clock: clock)
    }

    /// Has ``ConnectionHandler/meetDeadline(at:)`` called at an instant, in place of the one that was set before.
    func set(_ handler: ConnectionHandler, at instant: Instant) {
        self.book.set(handler, at: instant)
        self.arm()
    }

    func remove(_ handler: ConnectionHandler) { self.book.remove(handler) }

    /// Sees to it that the timer is not later than the earliest deadline. It may be earlier: one that was removed leaves it.
    private func arm() {
        guard !self.isRinging, let next = self.book.next else { return }
        self.timer.set(next) { self.ring() }
    }

    private func ring() {
        self.isRinging = true
        let now = self.clock()
        while let handler = self.book.takeDue(at: now) { handler.meetDeadline(at: now) }
        self.isRinging = false
        self.arm()
    }
}
