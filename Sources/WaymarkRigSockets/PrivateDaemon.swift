internal import Foundation
internal import Glibc
internal import ProcessIO
internal import Synchronization

/// A gateway of the rig's own: `waymarkd` as a process, with the rig as its service manager.
///
/// A restart keeps the connections, as under systemd: the daemon stores them with its service manager, from which the next process
/// gets them.
actor PrivateDaemon {
    typealias Failure = ChildProcess.Failure

    /// How long a start may take. A busy machine needs seconds.
    private static let startMax = Duration.seconds(60)
    /// How long an end may take before it is forced.
    static let endMax = Duration.seconds(2)
    /// A restart is not forced: the daemon gives up by itself.
    private static let restartMax = Duration.seconds(20)

    private let program: String
    private let folder: RunFolder
    private let guardian: Guardian
    private let onFailure: @Sendable (String) -> Void
    private let manager: ServiceSocket
    private let readySignal: AsyncStream<Void>.Continuation
    private var process: ChildProcess?
    /// Of the present process.
    private var number = 0
    /// Its end is wanted.
    private var isEnding = false
    private var lastExit: ChildProcess.Exit?
    /// Waits until it is ready; false: it has ended, or took too long.
    private var starting: CheckedContinuation<Bool, Never>?
    private var endings: [CheckedContinuation<Void, Never>] = []

    /// A daemon that was not started: a `waymarkd` at a path, or this program itself. Its settings are YAML; it listens at ``socket(in:)``.
    /// `onFailure` is called with a sentence if it ends by itself.
    init(
        _ program: String?, settings: String, _ folder: RunFolder, _ guardian: Guardian,
        onFailure: @escaping @Sendable (String) -> Void
    ) throws {
        (self.folder, self.guardian, self.onFailure) = (folder, guardian, onFailure)
        let file = folder.file("waymarkd.yaml")
        do throws(WriteError) { try WrittenFile.write(Array(settings.utf8), to: file) } catch {
            throw Failure(description: "\(file) cannot be written: \(error)")
        }
        // The name decides which program this is. Why by way of /proc: the file may have been replaced meanwhile.
        let link = folder.file("waymarkd")
        if program == nil, unsafe symlink("/proc/\(getpid())/exe", link) != 0 {
            throw Failure(description: "\(link) cannot be made: \(SystemError.reason(errno))")
        }
        self.program = program ?? link
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.manager = try ServiceSocket(at: folder.file("notify")) { signal.yield() }
        self.readySignal = signal
        Task { for await _ in signals { await self.becameReady() } }
    }

    static func socket(in folder: RunFolder) -> String { folder.file("gateway") }

    /// Says that a stop is part of a restart.
    private var restartMark: String { self.folder.file("restart") }

    /// Starts it, and returns when it is ready.
    ///
    /// - Throws: Why it did not start, with what it logged.
    func start() async throws(Failure) { try await self.start(inheriting: nil) }

    private func start(inheriting parcel: CInt?) async throws(Failure) {
        defer { if let parcel { _ = close(parcel) } }
        let log = unsafe open(
            self.folder.file("waymarkd.log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard log >= 0 else {
            throw Failure(description: "no log can be written: \(SystemError.reason(errno))")
        }
        defer { _ = close(log) }
        var environment = ProcessInfo.processInfo.environment
        for name in [
            "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_USEC", "JOURNAL_STREAM",
            "STATE_DIRECTORY",
        ] {
            environment[name] = nil
        }
        environment["NOTIFY_SOCKET"] = self.manager.path
        environment["WAYMARKD_RESTART_MARK"] = self.restartMark
        _ = unsafe unlink(self.restartMark)
        var words = [self.program, "--config", self.folder.file("waymarkd.yaml")]
        if parcel != nil {
            environment["LISTEN_FDS"] = "1"
            environment["LISTEN_FDNAMES"] = "handover"
            // Why a shell: only the new process knows its id.
            words = ["/bin/sh", "-c", "export LISTEN_PID=$$; exec \"$0\" \"$@\""] + words
        }
        self.number += 1
        let number = self.number
        (self.isEnding, self.lastExit) = (false, nil)
        let process = try ChildProcess(
            .init(words: words, environment: environment, output: log, inherited: parcel),
            onExit: { exit in Task { await self.ended(number, exit) } })
        self.process = process
        self.guardian.watch(process)
        let isReady = await withCheckedContinuation { continuation in
            self.starting = continuation
            self.after(Self.startMax) { $0.giveUpStarting(number) }
        }
        guard !isReady else { return }
        throw Failure(description: "waymarkd \(self.lastExit.map { "\($0)" } ?? "is not ready after 60 s")")
    }

    private func becameReady() {
        self.starting?.resume(returning: true)
        self.starting = nil
    }

    private func giveUpStarting(_ number: Int) {
        guard number == self.number else { return }
        self.starting?.resume(returning: false)
        self.starting = nil
    }

    private func ended(_ number: Int, _ exit: ChildProcess.Exit) {
        guard number == self.number, let process else { return }
        self.guardian.forget(process)
        (self.process, self.lastExit) = (nil, exit)
        if self.starting == nil, !self.isEnding { self.onFailure("waymarkd \(exit)") }
        self.giveUpStarting(number)
        for waiter in self.endings { waiter.resume() }
        self.endings = []
    }

    private func after(_ duration: Duration, _ body: @escaping @Sendable (isolated PrivateDaemon) -> Void) {
        Task { [weak self] in
            do { try await Task.sleep(for: duration) } catch { return }
            if let self { await self.perform(body) }
        }
    }

    private func perform(_ body: @Sendable (isolated PrivateDaemon) -> Void) { body(self) }

    // MARK: Faults

    /// Ends it at once, without a word.
    func kill() async { await self.end(by: SIGKILL, within: nil) }

    /// It stands still until ``resume()``.
    func stop() { self.process?.signal(SIGSTOP) }

    func resume() { self.process?.signal(SIGCONT) }

    /// The next process continues with all connections.
    func restart() async throws(Failure) {
        do throws(WriteError) { try WrittenFile.write([], to: self.restartMark) } catch {
            throw Failure(description: "waymarkd cannot be told to restart: \(error)")
        }
        await self.end(by: SIGTERM, within: Self.restartMax)
        guard let parcel = self.manager.takeStored() else {
            throw Failure(description: "waymarkd handed nothing over to the next process")
        }
        try await self.start(inheriting: parcel)
    }

    /// Ends it for good.
    func end() async {
        self.resume()
        await self.end(by: SIGTERM, within: Self.endMax)
        self.manager.end()
        self.readySignal.finish()
    }

    private func end(by signal: CInt, within duration: Duration?) async {
        self.isEnding = true
        guard let process else { return }
        process.signal(signal)
        if let duration { self.after(duration) { _ in process.signal(SIGKILL) } }
        await withCheckedContinuation { self.endings.append($0) }
    }

    // MARK: The log

    /// The last lines of its log.
    nonisolated func lastLines(_ countMax: Int) -> [String] {
        do throws(FileError) {
            let bytes = try FileContent(path: self.folder.file("waymarkd.log")).bytes
            return String(decoding: bytes.suffix(65_536), as: UTF8.self).split(separator: "\n").suffix(
                countMax
            )
            .map(String.init)
        } catch {
            // It has not logged anything.
            return []
        }
    }
}
