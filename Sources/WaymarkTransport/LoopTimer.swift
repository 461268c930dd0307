internal import NIOCore
internal import WaymarkProtocol

/// An event-loop timer for a deadline that is postponed more often than it is reached.
///
/// Postponing does not reschedule the timer: if it fires before the new deadline, it is set again. An earlier deadline gets a task before
/// the one that there is, which then waits for the next deadline.
final class LoopTimer {
    private let loop: any EventLoop
    private let clock: @Sendable () -> Instant
    private var plan: Plan?
    /// Plans that fire behind ``plan``, the earliest last. Of deadlines that are set equally far away only one can be there: there are no more
    /// than distances, of which the times that clients choose for receipts are most.
    private var later: [Plan] = []

    private struct Plan {
        /// nil: nothing is to be done when the task fires.
        var deadline: Instant?
        /// When the task fires: never later than the deadline.
        let due: Instant
        let task: Scheduled<Void>
    }

    init(_ loop: any EventLoop, clock: @escaping @Sendable () -> Instant) {
        self.loop = loop
        self.clock = clock
    }

    /// Replaces the deadline: calls `action` once at `deadline`. Call it on the loop.
    ///
    /// Pass an equivalent `action` each time: a timer that is only postponed keeps the one it has.
    func set(_ deadline: Instant, _ action: @escaping () -> Void) {
        if let due = self.plan?.due, deadline >= due {
            self.plan?.deadline = deadline
            return
        }
        if var plan {
            plan.deadline = nil
            self.later.append(plan)
        }
        let delay = max(0, (deadline - self.clock()).nanoseconds)
        let task = self.loop.assumeIsolated().scheduleTask(in: .nanoseconds(delay)) { self.fire(action) }
        self.plan = Plan(deadline: deadline, due: deadline, task: task)
    }

    func cancel() {
        self.plan?.task.cancel()
        for plan in self.later { plan.task.cancel() }
        (self.plan, self.later) = (nil, [])
    }

    private func fire(_ action: @escaping () -> Void) {
        let deadline = self.plan?.deadline
        self.plan = self.later.popLast()
        guard let deadline else { return }
        guard self.clock() >= deadline else { return self.set(deadline, action) }
        action()
    }
}
