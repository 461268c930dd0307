internal import NIOCore
internal import WaymarkProtocol

/// An event-loop timer for a deadline that is postponed more often than it is reached.
///
/// Postponing does not reschedule the timer: if it fires before the new deadline, it is set again.
final class LoopTimer {
    private let loop: any EventLoop
    private let clock: @Sendable () -> Instant
    private var deadline: Instant?
    /// The scheduled task and when it fires: never later than ``deadline``.
    private var timer: (due: Instant, task: Scheduled<Void>)?

    init(_ loop: any EventLoop, clock: @escaping @Sendable () -> Instant) {
        self.loop = loop
        self.clock = clock
    }

    /// Replaces the deadline: calls `action` once at `deadline`. Call it on the loop.
    ///
    /// Pass an equivalent `action` each time: a timer that is only postponed keeps the one it has.
    func set(_ deadline: Instant, _ action: @escaping () -> Void) {
        self.deadline = deadline
        if let (due, task) = self.timer {
            guard deadline < due else { return }
            task.cancel()
        }
        let delay = max(0, (deadline - self.clock()).nanoseconds)
        let task = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay)) { self.fire(action) }
        self.timer = (deadline, task)
    }

    func cancel() {
        self.timer?.task.cancel()
        self.timer = nil
        self.deadline = nil
    }

    private func fire(_ action: @escaping () -> Void) {
        self.timer = nil
        guard let deadline = self.deadline else { return }
        guard self.clock() >= deadline else { return self.set(deadline, action) }
        self.deadline = nil
        action()
    }
}
