internal import NIOCore
internal import WaymarkProtocol

/// The deadlines of the connections of one event loop, with one timer of the loop for all of them.
///
/// Why not a timer each: the loop looks through all of its timers to cancel one, and a timer is five allocations.
final class DeadlineTimer {
    /// How much later than its deadline a connection may be told, so that many are told at once.
    static let slack = Duration.milliseconds(10)

    private let loop: any EventLoop
    private let clock: @Sendable () -> Instant
    private var heap = DeadlineHeap<ConnectionHandler>()
    private var timer: (instant: Instant, scheduled: Scheduled<Void>)?
    private var isRinging = false

    init(_ loop: any EventLoop, clock: @escaping @Sendable () -> Instant) {
        self.loop = loop
        self.clock = clock
    }

    /// Has ``ConnectionHandler/meetDeadline(at:)`` called at an instant, in place of the one that was set before.
    func set(_ handler: ConnectionHandler, at instant: Instant) {
        self.heap.set(handler, at: instant)
        self.arm()
    }

    func remove(_ handler: ConnectionHandler) { self.heap.remove(handler) }

    /// Sees to it that the timer is not later than the earliest deadline. It may be earlier: one that was removed leaves it.
    private func arm() {
        guard !self.isRinging, let next = self.heap.next?.roundedUp(to: Self.slack) else { return }
        if let timer = self.timer {
            guard next < timer.instant else { return }
            timer.scheduled.cancel()
        }
        let delay = max(0, (next - self.clock()).nanoseconds)
        let scheduled = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay)) { self.ring() }
        self.timer = (next, scheduled)
    }

    private func ring() {
        self.timer = nil
        self.isRinging = true
        let now = self.clock()
        while let handler = self.heap.takeDue(at: now) { handler.meetDeadline(at: now) }
        self.isRinging = false
        self.arm()
    }
}

extension Instant {
    /// The first multiple of `unit` that is not earlier. Instants before the epoch stay as they are.
    fileprivate func roundedUp(to unit: Duration) -> Instant {
        let unit = unit.nanoseconds
        guard self.nanoseconds > 0, self.nanoseconds < .max - unit else { return self }
        return Instant(nanoseconds: (self.nanoseconds + unit - 1) / unit * unit)
    }
}
