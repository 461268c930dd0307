internal import Glibc
internal import Synchronization

/// Why a write failed.
package enum WriteError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reader closed its end of the pipe.
    case readerGone
    /// A system call failed with this `errno`.
    case failed(CInt)

    package var description: String {
        switch self {
        case .readerGone: SystemError.reason(EPIPE)
        case .failed(EBADF): "it is closed"
        case .failed(let code): SystemError.reason(code)
        }
    }
}

/// Standard output or standard error. Each text is written without interleaving with the texts of other tasks.
package final class StandardStream: Sendable {
    package static let output = StandardStream(STDOUT_FILENO)
    package static let error = StandardStream(STDERR_FILENO)

    private let descriptor: CInt
    private let isWriting = Mutex(())

    package init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Prepares the standard streams of this process. Call it once, before any file is opened or written.
    ///
    /// A closed standard descriptor is replaced by `/dev/null`, so that no later file or socket gets its number and receives the
    /// output. `/dev/null` is opened in the wrong direction, so that reading or writing still fails.
    package static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // open(2) uses the lowest free number, which is this one.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes `text`, with a single write(2) if the system accepts it all.
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

    /// Ends the process: runs `steps`, tries to write `last`, and calls `exit`. Other writers of this stream are blocked meanwhile,
    /// because their errors would only be consequences of the exit.
    package func end(_ last: String, after steps: () -> Void, by exit: () -> Never) -> Never {
        self.isWriting.withLock { _ in
            steps()
            var last = last
            last.withUTF8 { _ = unsafe Self.write(UnsafeRawBufferPointer($0), to: self.descriptor) }
            exit()
        }
    }

    /// Writes all bytes.
    ///
    /// - Returns: 0, or `errno`.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> CInt {
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
