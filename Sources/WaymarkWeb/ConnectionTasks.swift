#if Inspector
    internal import Synchronization

    /// The tasks of a server's connections, each of which runs to its end.
    ///
    /// SwiftNIO's own sequence of accepted connections drops those that were not taken when it ends, and each of these ends the
    /// program: https://github.com/apple/swift-nio/issues/2637. Here a connection has its task before anything else can happen.
    final class ConnectionTasks: Sendable {
        private struct State {
            var tasks: [UInt64: Task<Void, Never>] = [:]
            var next: UInt64 = 0
            var isCancelled = false
        }

        private let state = Mutex(State())

        /// Runs `body` in a task of its own, which is cancelled by ``cancel()``.
        func add(_ body: @escaping @Sendable () async -> Void) {
            self.state.withLock { state in
                let id = state.next
                state.next += 1
                let task = Task {
                    await body()
                    self.state.withLock { $0.tasks[id] = nil }
                }
                state.tasks[id] = task
                if state.isCancelled { task.cancel() }
            }
        }

        /// Cancels all tasks, also those that are still added, and waits for those that there are.
        func cancel() async {
            let tasks = self.state.withLock { state in
                state.isCancelled = true
                return Array(state.tasks.values)
            }
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
        }
    }
#endif
