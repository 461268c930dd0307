internal import Foundation
internal import Glibc
internal import Synchronization

/// A process that this one has started, in a process group of its own.
package final class ChildProcess: Sendable {
    /// The reason why a process cannot be started, with the program's name.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// The end of a process.
    package enum Exit: Sendable, Hashable, CustomStringConvertible {
        case status(CInt)
        case signal(CInt)

        /// Whether a shell says so of a program that is not there, or is none.
        package var isFailedStart: Bool { self == .status(126) || self == .status(127) }

        package var description: String {
            switch self {
            case .status(let status): "ended with status \(status)"
            case .signal(let signal): "was ended by signal \(signal)"
            }
        }
    }

    package let id: CInt
    private let leavesProcesses: Bool
    private let exit = Mutex<Exit?>(nil)

    /// The program, and what it begins with.
    package struct Start {
        /// The program and its arguments. A name without a slash is looked for in PATH.
        package var words: [String]
        /// The variables of its environment; nil: those of this process.
        package var environment: [String: String]?
        /// Its standard input; nil: nothing can be read.
        package var input: CInt?
        /// Its standard output; nil: what it writes is lost.
        package var output: CInt?
        /// Its standard error; nil: the same as its output.
        package var errors: CInt?
        /// Its descriptor 3.
        package var inherited: CInt?
        /// The processes that it has started outlive it, as a browser does the program that opens it.
        package var leavesProcesses: Bool

        package init(
            words: [String], environment: [String: String]? = nil, input: CInt? = nil, output: CInt? = nil,
            errors: CInt? = nil, inherited: CInt? = nil, leavesProcesses: Bool = false
        ) {
            self.words = words
            self.environment = environment
            self.input = input
            self.output = output
            self.errors = errors
            self.inherited = inherited
            self.leavesProcesses = leavesProcesses
        }
    }

    /// Starts it. `onExit` is called once, on another thread, after its end.
    ///
    /// - Throws: ``Failure``, which names the program.
    package init(_ start: Start, onExit: @escaping @Sendable (Exit) -> Void) throws(Failure) {
        let (id, code) = Self.starting.withLock { _ in Self.spawn(start) }
        guard code == 0 else {
            throw Failure(
                description: "\(start.words.first ?? "") cannot be started: \(SystemError.reason(code))")
        }
        (self.id, self.leavesProcesses) = (id, start.leavesProcesses)
        Thread.detachNewThread { onExit(self.wait()) }
    }

    private static func spawn(_ start: Start) -> (id: pid_t, code: CInt) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input = start.input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        if let output = start.output {
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, start.errors ?? 1, 2)
        if let inherited = start.inherited {
            unsafe posix_spawn_file_actions_adddup2(&actions, inherited, 3)
        }
        // Why: a descriptor of another run that stays open in this process would not end there.
        for descriptor in Self.openDescriptors where descriptor > (start.inherited == nil ? 2 : 3) {
            unsafe posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        var (defaults, mask) = (sigset_t(), sigset_t())
        unsafe sigfillset(&defaults)
        unsafe sigemptyset(&mask)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        unsafe posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let environment = start.environment ?? ProcessInfo.processInfo.environment
        var words = unsafe start.words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var id: pid_t = 0
        let code = unsafe posix_spawnp(
            &id, start.words.first ?? "", &actions, &attributes, &words, &variables)
        return (id, code)
    }

    private static var openDescriptors: [CInt] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                CInt($0)
            }
        } catch {
            // Without /proc those that are marked are closed all the same.
            return []
        }
    }

    /// Pipes are made and processes started one at a time: no process inherits an end that is not marked yet.
    private static let starting = Mutex(())

    /// A pipe whose ends no process inherits.
    package static func newPipe() throws(Failure) -> (read: CInt, write: CInt) {
        var ends: [CInt] = [-1, -1]
        let code = Self.starting.withLock { _ in
            guard unsafe pipe(&ends) == 0 else { return errno }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return 0
        }
        guard code == 0 else {
            throw Failure(description: "no pipe can be made: \(SystemError.reason(code))")
        }
        return (ends[0], ends[1])
    }

    /// Waits for its end.
    private func wait() -> Exit {
        // Why in two steps: until it is reaped, its id belongs to no other process, so a signal cannot reach another.
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(self.id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return self.exit.withLock { exit in
            // What it has started and left behind ends with it.
            if !self.leavesProcesses { _ = kill(-self.id, SIGKILL) }
            var status: CInt = 0
            while unsafe waitpid(self.id, &status, 0) < 0, errno == EINTR {}
            let ended: Exit = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : .signal(status & 0x7F)
            exit = ended
            return ended
        }
    }

    /// Sends a signal to it and to the processes that it has started, unless it has ended.
    package func signal(_ number: CInt) {
        self.exit.withLock { exit in
            if exit == nil { _ = kill(-self.id, number) }
        }
    }

    package var hasEnded: Bool { self.exit.withLock { $0 != nil } }
}
