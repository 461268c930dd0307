internal import Glibc
internal import Synchronization

/// Why something was not written.
package enum WriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reader closed its end of the pipe.
    case readerGone
    /// The system refused, with this `errno`.
    case failed(CInt)

    package var description: String {
        switch self {
        case .readerGone: SystemError.reason(EPIPE)
        case .failed(EBADF): "it is closed"
        case .failed(let code): SystemError.reason(code)
        }
    }
}

/// Standard output or standard error. Each text is written as a whole: texts of several tasks never mix.
package final class StandardStream: Sendable {
    package static let output = StandardStream(STDOUT_FILENO)
    package static let error = StandardStream(STDERR_FILENO)

    private let descriptor: CInt
    private let isWriting = Mutex(())

    package init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Prepares the standard streams of this process. Called once, before anything is opened or written.
    ///
    /// A standard descriptor that is closed is replaced by `/dev/null`, so that no file or socket is opened in its place and
    /// gets what is printed. It is opened in the wrong direction: reading or writing fails as before.
    package static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // The lowest free number is this one: those below are open by now.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes `text` as it is, with one write(2) where the system takes it at once.
    package func write(_ text: String) throws(WriteError) {
        var text = text
        let result = text.withUTF8 { bytes in
            self.isWriting.withLock { _ in
                unsafe Self.write(UnsafeRawBufferPointer(bytes), to: self.descriptor)
            }
        }
        switch result {
        case 0: return
        case EPIPE: throw .readerGone
        default: throw .failed(result)
        }
    }

    /// Ends the process: runs `steps`, writes `last`, which may fail, and calls `exit`, while every other writer of this stream waits.
    ///
    /// What other tasks would say meanwhile is only a consequence of the end.
    package func end(_ last: String, after steps: () -> Void, by exit: () -> Never) -> Never {
        self.isWriting.withLock { _ in
            steps()
            var last = last
            last.withUTF8 { _ = unsafe Self.write(UnsafeRawBufferPointer($0), to: self.descriptor) }
            exit()
        }
    }

    /// - Returns: 0, or `errno`.
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> CInt {
        var rest = unsafe bytes[...]
        while unsafe !rest.isEmpty {
            let count = unsafe Glibc.write(
                descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count >= 0 {
                unsafe rest = unsafe rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another process that shares the terminal or pipe made it non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe Glibc.poll(&poll, 1, -1)
            default: return errno
            }
        }
        return 0
    }
}
