internal import NIOCore
internal import WaymarkProtocol

/// Counts connections, and tells when there has been none for a time. Lives on the gateway's loop.
final class IdleWatch {
    /// Why a wait is over without the time.
    struct Ended: Error {}

    private struct Wait {
        /// nil: it is never over by itself.
        let time: TimeAmount?
        let promise: EventLoopPromise<Void>
        /// Set while nobody is connected.
        var timer: Scheduled<Void>?
    }

    private let loop: any EventLoop
    private var connections = 0
    private var wait: Wait?
    private var isEnded = false

    init(_ loop: any EventLoop) { self.loop = loop }

    var isIdle: Bool { self.connections == 0 }

    /// Somebody connected.
    func came() {
        self.connections += 1
        self.wait?.timer?.cancel()
        self.wait?.timer = nil
    }

    /// Somebody who came has gone.
    func left() {
        self.connections -= 1
        if self.isIdle { self.startTimer() }
    }

    /// Succeeds when nobody has been connected for `time`, from now on (nil: never); fails at the ``end()``. One wait at a
    /// time.
    func wait(for time: Duration?) -> EventLoopFuture<Void> {
        precondition(self.wait == nil, "there is one wait at a time")
        guard !self.isEnded else { return self.loop.makeFailedFuture(Ended()) }
        let promise = self.loop.makePromise(of: Void.self)
        self.wait = Wait(time: time.map { .nanoseconds($0.nanoseconds) }, promise: promise)
        if self.isIdle { self.startTimer() }
        return promise.futureResult
    }

    /// There is no more waiting, neither now nor later.
    func end() {
        self.isEnded = true
        self.wait?.timer?.cancel()
        self.wait?.promise.fail(Ended())
        self.wait = nil
    }

    private func startTimer() {
        guard let promise = self.wait?.promise, let time = self.wait?.time else { return }
        self.wait?.timer = self.loop.assumeIsolated().scheduleTask(in: time) {
            self.wait = nil
            promise.succeed()
        }
    }
}
