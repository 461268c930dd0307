import Dispatch
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Systemd
import Testing
import WaymarkDaemon
import WaymarkGateway
import WaymarkProtocol
import WaymarkTelemetry
import WaymarkTransport

/// Records the notifications, one array per message.
final class ToldManager: Sendable {
    private let kept = Mutex<[[Systemd.Notification]]>([])
    let log = LogRecorder()
    /// The error that the next messages cause.
    let failure = Mutex<SystemdError?>(nil)

    var messages: [[Systemd.Notification]] { self.kept.withLock { $0 } }

    var notifier: ServiceNotifier {
        ServiceNotifier(logger: self.log.logger) { (message) throws(SystemdError) in
            if let failure = self.failure.withLock({ $0 }) { throw failure }
            self.kept.withLock { $0.append(message) }
            return true
        }
    }
}

@Suite struct StatusTests {
    private static func census(
        _ vehicles: Int, _ endpoints: Int, _ clients: Int, _ sessions: Int, _ requests: Int = 0
    ) -> Gateway.Census {
        var gateway = emptyCensus
        gateway.vehicles = vehicles
        gateway.endpoints = endpoints
        gateway.clients = clients
        gateway.sessions = sessions
        gateway.requests = requests
        return gateway
    }

    private static let emptyCensus = Gateway(
        policy: .init(),
        coder: .init(
            decode: { _ in nil }, encode: { _ in preconditionFailure("not asked for") },
            elementsFitting: { _, _, _ in preconditionFailure("not asked for") },
            restore: { frame, _, _ in frame },
            waypoint: { _ in nil }),
        firstSession: .init(1)
    ).census

    @Test func `the status line counts vehicles, endpoints, sessions, clients and requests`() {
        #expect(
            StatusReporter.sentence(for: Self.census(2, 5, 1, 1))
                == "2 vehicles with 5 endpoints, 1 session, 1 client")
        #expect(
            StatusReporter.sentence(for: Self.census(0, 0, 0, 0)) == "no vehicles, no sessions, no clients")
        #expect(
            StatusReporter.sentence(for: Self.census(1, 1, 2, 3, 1))
                == "1 vehicle with 1 endpoint, 3 sessions, 2 clients, 1 open request")
    }

    @Test func `only changed status lines are sent, and a problem stays in them until it is removed`() {
        let manager = ToldManager()
        let reporter = StatusReporter(notifier: manager.notifier)
        reporter.update(Self.census(1, 1, 0, 0))
        reporter.update(Self.census(1, 1, 0, 0))
        reporter.setTrouble("f:3:1: no")
        reporter.update(Self.census(1, 1, 0, 0))
        reporter.update(Self.census(1, 2, 0, 0))
        reporter.setTrouble(nil)
        #expect(
            manager.messages == [
                [.status("1 vehicle with 1 endpoint, no sessions, no clients")],
                [.status("1 vehicle with 1 endpoint, no sessions, no clients; f:3:1: no")],
                [.status("1 vehicle with 2 endpoints, no sessions, no clients; f:3:1: no")],
                [.status("1 vehicle with 2 endpoints, no sessions, no clients")],
            ])
    }

    @Test func `a shutdown gets more time only as long as connections close`() {
        let manager = ToldManager()
        let reporter = DrainReporter(notifier: manager.notifier)
        for count in [3, 3, 1, 2, 0] { reporter.update(count) }
        let more = Systemd.Notification.extendTimeout(DrainReporter.timeoutExtension)
        #expect(
            manager.messages == [
                [.status("shutting down, 3 connections left"), more],
                [.status("shutting down, 1 connection left"), more],
                [.status("shutting down, 2 connections left")],
                [.status("shutting down, no connections left"), more],
            ])
    }

    @Test func `an unreachable manager is logged once, and again only after a success`() {
        let manager = ToldManager()
        let notifier = manager.notifier
        #expect(throws: Never.self) { notifier.tell([]) }
        let failures: [Bool] = [true, true, false, true]
        for fails in failures {
            manager.failure.withLock { $0 = fails ? .gone : nil }
            notifier.tell(.ready)
        }
        #expect(manager.messages == [[.ready]])
        let sentence = "cannot reach the service manager, ignoring"
        #expect(manager.log.warnings == [sentence, sentence])
    }
}

extension SystemdError {
    /// An error of libsystemd.
    fileprivate static var gone: SystemdError? {
        do throws(SystemdError) { return try Self.provoked() } catch { return error }
    }

    private static func provoked() throws(SystemdError) -> SystemdError? {
        try Journal.send([Journal.Field("", "no name")])
        return nil
    }
}

@Suite(.timeLimit(.minutes(10))) struct WatchdogTests {
    @Test func `a notification follows each probe that returns in time`() async {
        let manager = ToldManager()
        let clock = HandClock()
        let watchdog = Watchdog(
            interval: .seconds(8), notifier: manager.notifier, logger: manager.log.logger, clock: clock
        ) {}
        let task = Task { await watchdog.run() }
        for _ in 0..<3 { await clock.advanceSleeper() }
        await clock.waitForSleeper()
        #expect(manager.messages == Array(repeating: [.watchdog], count: 4))
        // Four per interval.
        #expect(clock.now.offset == .seconds(6))
        task.cancel()
        await task.value
    }

    @Test(arguments: [(7, 1, 1), (8, 0, 1), (3, 1, 0)])
    func `a slow probe causes a warning, and a late one no notification`(
        _ seconds: Int, _ signs: Int, _ warnings: Int
    ) async {
        let manager = ToldManager()
        let clock = HandClock()
        let watchdog = Watchdog(
            interval: .seconds(8), notifier: manager.notifier, logger: manager.log.logger, clock: clock
        ) { clock.advance(by: .seconds(seconds)) }
        let task = Task { await watchdog.run() }
        await clock.waitForSleeper()
        #expect(manager.messages.count == signs)
        #expect(manager.log.warnings == Array(repeating: "event loops respond slowly", count: warnings))
        task.cancel()
        await task.value
    }

    @Test func `a probe that does not return causes no notification`() async {
        let manager = ToldManager()
        let (hangs, end) = AsyncStream.makeStream(of: Void.self)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let watchdog = Watchdog(
            interval: .seconds(8), notifier: manager.notifier, logger: manager.log.logger, clock: HandClock()
        ) {
            start.yield()
            for await _ in hangs {}
        }
        let task = Task { await watchdog.run() }
        for await _ in starts { break }
        #expect(manager.messages.isEmpty)
        task.cancel()
        end.finish()
        await task.value
    }
}

@Suite(.timeLimit(.minutes(10))) struct ProbeTests {
    @Test(arguments: [0, 1]) func `a probe waits for the queued tasks of every loop`(_ stuck: Int)
        async throws
    {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let loops = group.makeIterator().map { $0 as any EventLoop }
        let driver = GatewayDriver(
            loops: loops, policy: .init(), limits: .init(), logger: LogRecorder().logger,
            clock: { Instant(nanoseconds: 0) })
        let gate = DispatchSemaphore(value: 0)
        let isDone = Mutex(false)
        loops[stuck].execute {
            gate.wait()
            isDone.withLock { $0 = true }
        }
        async let probe: Void = driver.probe()
        gate.signal()
        try await probe
        #expect(isDone.withLock { $0 })
        try await group.shutdownGracefully()
    }
}

/// A clock that the test advances.
final class HandClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: self.offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - self.offset }
        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleeper: (until: Instant, continuation: AsyncStream<Void>.Continuation)?
    }

    private let state = Mutex(State())
    private let sleeps: AsyncStream<Void>
    private let sleep: AsyncStream<Void>.Continuation

    init() { (self.sleeps, self.sleep) = AsyncStream.makeStream(of: Void.self) }

    var now: Instant { self.state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func advance(by duration: Duration) { self.state.withLock { $0.now = $0.now.advanced(by: duration) } }

    /// Waits until a task sleeps.
    func waitForSleeper() async { for await _ in self.sleeps { return } }

    /// Waits until a task sleeps, and advances the clock to its deadline.
    func advanceSleeper() async {
        await self.waitForSleeper()
        let sleeper = self.state.withLock { state in
            defer { state.sleeper = nil }
            if let until = state.sleeper?.until { state.now = until }
            return state.sleeper
        }
        sleeper?.continuation.finish()
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
        self.state.withLock { $0.sleeper = (deadline, wake) }
        self.sleep.yield()
        for await _ in wakes {}
        try Task.checkCancellation()
    }
}
