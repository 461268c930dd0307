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
        switch error {
        case .readerGone: StandardStream.error.end("", after: self.runSteps, by: self.bySIGPIPE)
        case .failed:
            let sentence = "\(Program.name): cannot write to standard output: \(error)\n"
            StandardStream.error.end(sentence, after: self.runSteps) { _exit(EXIT_FAILURE) }
        }
    }

    /// Ends the program with a status, although its tasks have not ended: one of them may be blocked, even in a step.
    static func now(_ status: Int32) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) { _exit(status) }
        self.runSteps()
        _exit(status)
    }

    private static func runSteps() { for step in self.steps.withLock({ $0.values }) { step() } }

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
