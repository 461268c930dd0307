internal import Foundation
internal import ProcessIO
internal import Synchronization

/// Immediate exit, when output cannot be written.
enum Ending {
    private static let steps = Mutex<[Int: @Sendable () -> Void]>([:])
    private static let stepCount = Mutex(0)

    /// Has `step` run at an immediate exit, until ``leaveOut(_:)``.
    static func include(_ step: @escaping @Sendable () -> Void) -> Int {
        let number = self.stepCount.withLock { count in
            count += 1
            return count
        }
        self.steps.withLock { $0[number] = step }
        return number
    }

    static func leaveOut(_ number: Int) { self.steps.withLock { $0[number] = nil } }

    /// Ends the program after standard output was not written: as SIGPIPE does if the reader has closed it, else with a sentence and
    /// status 1.
    static func afterFailedOutput(_ error: WriteError) -> Never {
        // Within the lock: another task may fail at the same time, and must not end the program before this is done.
        self.steps.withLock { steps in
            for step in steps.values { step() }
            steps = [:]
        }
        switch error {
        case .readerGone: self.bySIGPIPE()
        case .failed:
            Terminal.note("\(Program.name): cannot write to standard output: \(error)")
            _exit(EXIT_FAILURE)
        }
    }

    /// Exits as if SIGPIPE had its default action: shells show status 141.
    private static func bySIGPIPE() -> Never {
        signal(SIGPIPE, SIG_DFL)
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGPIPE)
        _exit(128 + SIGPIPE)
    }
}
