internal import ArgumentParser
internal import Foundation
internal import Synchronization

/// The end of a command by SIGINT or SIGTERM.
enum Interruption {
    /// A command that has not ended so long after a signal is ended: what it waits for may never come.
    private static let patience = DispatchTimeInterval.milliseconds(700)

    /// Calls `end` when patience is over, whatever the tasks of this program do meanwhile.
    static func endLater(_ end: @escaping @Sendable () -> Void) {
        self.queue.asyncAfter(deadline: .now() + self.patience, execute: end)
    }

    private static let queue = DispatchQueue(
        label: "waymark.interruption", qos: .userInteractive, attributes: .concurrent)

    /// Calls `handle` at each of these signals from now on, also while all tasks of this program are blocked.
    fileprivate static func trap(_ numbers: CInt..., handle: @escaping @Sendable (CInt) -> Void) async {
        for number in numbers {
            let source = DispatchSource.makeSignalSource(signal: number, queue: self.queue)
            // Its handler keeps it: it is never cancelled.
            source.setEventHandler { withExtendedLifetime(source) { handle(number) } }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.activate()
            }
        }
    }
}

/// Runs `body`; at the first SIGINT or SIGTERM `interrupt` is called, which must make `body` return soon. If the program still runs a
/// little later, or at a second signal, it exits without more.
///
/// - Parameters:
///   - interrupt: Makes `body` return.
///   - harmless: Statuses that are success for this command, which ends only so.
///   - lastStep: What must be done even if the program has to be ended, e.g. writing the end of a file.
///   - body: The command's work.
/// - Throws: What `body` throws, or, after a signal, an `ExitCode` of 128 and the signal's number, unless that is harmless.
func interruptible(
    _ interrupt: @escaping @Sendable () async -> Void, harmless: Set<Int32> = [],
    lastStep: @escaping @Sendable () -> Void = {}, _ body: () async throws -> Void
) async throws {
    let state = InterruptedState()
    await Interruption.trap(SIGINT, SIGTERM) { number in
        let status = 128 + number
        let exits: @Sendable () -> Void = {
            lastStep()
            Ending.now(harmless.contains(status) ? 0 : status)
        }
        guard state.isFirst(status) else { return exits() }
        Interruption.endLater(exits)
        Task { await interrupt() }
    }
    var failure: (any Error)?
    do { try await body() } catch { failure = error }
    if let status = state.status {
        guard harmless.contains(status) else { throw ExitCode(status) }
    } else if let failure {
        throw failure
    }
}

/// Runs `body` in a task, which is cancelled at the first SIGINT or SIGTERM. The task begins when the signals are trapped.
///
/// - Parameters:
///   - harmless: Statuses that are success for this command, which ends only so.
///   - lastStep: What must be done even if the program has to be ended.
///   - body: The command's work, which returns soon when it is cancelled.
/// - Throws: What ``interruptible(_:harmless:lastStep:_:)`` throws.
func interruptible(
    harmless: Set<Int32> = [], lastStep: @escaping @Sendable () -> Void = {},
    _ body: @escaping @Sendable () async throws -> Void
) async throws {
    let (stops, stop) = AsyncStream.makeStream(of: Void.self)
    try await interruptible({ stop.finish() }, harmless: harmless, lastStep: lastStep) {
        let work = Task { try await body() }
        let stopping = Task {
            for await _ in stops {}
            if !Task.isCancelled { work.cancel() }
        }
        defer { stopping.cancel() }
        try await work.value
    }
}

/// Which signal came first.
private final class InterruptedState: Sendable {
    private let first = Mutex<Int32?>(nil)

    /// 128 and the signal's number; nil before a signal.
    var status: Int32? { self.first.withLock { $0 } }

    /// Notes a signal.
    func isFirst(_ status: Int32) -> Bool {
        self.first.withLock { first in
            defer { first = first ?? status }
            return first == nil
        }
    }
}

/// Returns the result of `body`, or nil after `limit`.
func first<Result: Sendable>(
    within limit: Duration, _ body: @escaping @Sendable () async -> Result
) async -> Result? {
    let (results, result) = AsyncStream.makeStream(of: Result?.self, bufferingPolicy: .bufferingOldest(1))
    let work = Task { result.yield(await body()) }
    let timer = Task {
        do { try await Task.sleep(for: limit) } catch { return }
        result.yield(nil)
        // Cancelling withdraws a request.
        work.cancel()
    }
    defer { timer.cancel() }
    for await first in results { return first }
    return nil
}
