internal import ArgumentParser
internal import UnixSignals

/// Runs `body`; at the first SIGINT or SIGTERM `interrupt` is called, which must make `body` return soon.
///
/// - Throws: What `body` throws, or, after a signal, an `ExitCode` of 128 and the signal's number, as shells expect.
func interruptible(
    _ interrupt: @escaping @Sendable () async -> Void, _ body: () async throws -> Void
) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let watcher = Task { () -> ExitCode? in
        for await signal in signals {
            await interrupt()
            return ExitCode(signal == .sigint ? 130 : 143)
        }
        return nil
    }
    do { try await body() } catch {
        watcher.cancel()
        throw await watcher.value ?? error
    }
    watcher.cancel()
    if let status = await watcher.value { throw status }
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
