internal import NIOCore
internal import WaymarkProtocol

/// Counts connections, and notifies a waiter when none has been open for the idle time. Used only on the gateway's loop.
final class IdleWatch {
    /// Fails a wait that ``end()`` ended.
    struct Ended: Error {}

    private struct Wait {
        let promise: EventLoopPromise<Void>
        /// Set while no connection is open.
        var timer: Scheduled<Void>?
    }

    /// The idle time; nil if a wait only ends with ``end()``.
    private var time: TimeAmount?
    private let loop: any EventLoop
    private var connections = 0
    private var current: Wait?
    private var isEnded = false

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Whether no connection is open, and a wait may succeed for that reason.
    var isIdle: Bool { self.connections == 0 && self.time != nil }

    func connectionOpened() {
        self.connections += 1
        self.current?.timer?.cancel()
        self.current?.timer = nil
    }

    func connectionClosed() {
        self.connections -= 1
        self.startTimer()
    }

    /// Sets the idle time. For a wait that has begun, it counts from now on.
    func setTime(_ time: Duration?) {
        self.time = time.map { .nanoseconds($0.nanoseconds) }
        self.startTimer()
    }

    /// Succeeds when no connection has been open for the idle time, counted from now; fails at ``end()``. One wait at a time.
    func wait() -> EventLoopFuture<Void> {
        precondition(self.current == nil, "there is one wait at a time")
        guard !self.isEnded else { return self.loop.makeFailedFuture(Ended()) }
        let promise = self.loop.makePromise(of: Void.self)
        self.current = Wait(promise: promise)
        self.startTimer()
        return promise.futureResult
    }

    /// Fails the current wait and all later ones.
    func end() {
        self.isEnded = true
        self.current?.timer?.cancel()
        self.current?.promise.fail(Ended())
        self.current = nil
    }

    /// Starts the timer anew, if no connection is open.
    private func startTimer() {
        self.current?.timer?.cancel()
        self.current?.timer = nil
        guard self.connections == 0, let promise = self.current?.promise, let time else { return }
        self.current?.timer = self.loop.assumeIsolated().scheduleTask(in: time) {
            self.current = nil
            promise.succeed()
        }
    }
}
