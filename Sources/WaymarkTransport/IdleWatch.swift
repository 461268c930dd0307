internal import NIOCore
internal import WaymarkProtocol

/// Counts connections, and tells when there has been none for a time. Lives on the gateway's loop.
final class IdleWatch {
    /// Why a wait is over without the time.
    struct Ended: Error {}

    private struct Wait {
        let promise: EventLoopPromise<Void>
        /// Set while nobody is connected.
        var timer: Scheduled<Void>?
    }

    /// nil: a wait is never over by itself.
    private var time: TimeAmount?
    private let loop: any EventLoop
    private var connections = 0
    private var current: Wait?
    private var isEnded = false

    init(_ loop: any EventLoop) { self.loop = loop }

    var isIdle: Bool { self.connections == 0 }

    /// Somebody connected.
    func came() {
        self.connections += 1
        self.current?.timer?.cancel()
        self.current?.timer = nil
    }

    /// Somebody who came has gone.
    func left() {
        self.connections -= 1
        if self.isIdle { self.startTimer() }
    }

    /// After which time a wait is over; for one that has begun, from now on.
    func setTime(_ time: Duration?) {
        self.time = time.map { .nanoseconds($0.nanoseconds) }
        if self.isIdle { self.startTimer() }
    }

    /// Succeeds when nobody has been connected for the time, from now on; fails at the ``end()``. One wait at a time.
    func wait() -> EventLoopFuture<Void> {
        precondition(self.current == nil, "there is one wait at a time")
        guard !self.isEnded else { return self.loop.makeFailedFuture(Ended()) }
        let promise = self.loop.makePromise(of: Void.self)
        self.current = Wait(promise: promise)
        if self.isIdle { self.startTimer() }
        return promise.futureResult
    }

    /// There is no more waiting, neither now nor later.
    func end() {
        self.isEnded = true
        self.current?.timer?.cancel()
        self.current?.promise.fail(Ended())
        self.current = nil
    }

    private func startTimer() {
        self.current?.timer?.cancel()
        guard let promise = self.current?.promise, let time else { return }
        self.current?.timer = self.loop.assumeIsolated().scheduleTask(in: time) {
            self.current = nil
            promise.succeed()
        }
    }
}
