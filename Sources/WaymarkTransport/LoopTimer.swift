internal import NIOCore
internal import WaymarkProtocol

/// A timer of an event loop, for deadlines that are mostly put off: it stays where it is then, and looks again.
final class LoopTimer {
    private let loop: any EventLoop
    private let clock: @Sendable () -> Instant
    /// What is waited for.
    private var deadline: Instant?
    /// Runs, and until when: not behind ``deadline``.
    private var timer: (due: Instant, task: Scheduled<Void>)?

    init(_ loop: any EventLoop, clock: @escaping @Sendable () -> Instant) {
        self.loop = loop
        self.clock = clock
    }

    /// Has `ring` called at `deadline`, once, and not at the one that was set before. On the loop.
    ///
    /// `ring` means the same each time: a timer that stays where it is calls the one that it has.
    func set(_ deadline: Instant, _ ring: @escaping () -> Void) {
        self.deadline = deadline
        if let (due, task) = self.timer {
            guard deadline < due else { return }
            task.cancel()
        }
        let delay = max(0, (deadline - self.clock()).nanoseconds)
        let task = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay)) { self.look(ring) }
        self.timer = (deadline, task)
    }

    /// Nothing is waited for any more.
    func cancel() {
        self.timer?.task.cancel()
        self.timer = nil
        self.deadline = nil
    }

    private func look(_ ring: @escaping () -> Void) {
        self.timer = nil
        guard let deadline = self.deadline else { return }
        guard self.clock() >= deadline else { return self.set(deadline, ring) }
        self.deadline = nil
        ring()
    }
}
