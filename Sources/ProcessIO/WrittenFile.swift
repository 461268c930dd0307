internal import Glibc
internal import Synchronization

/// A file that this program writes from its beginning. Its errors have the system's reason, as "no space left on device".
package final class WrittenFile: Sendable {
    /// The open file; nil once it is closed.
    private let descriptor: Mutex<CInt?>

    /// Opens a file and empties it. `isNew`: there must be none.
    package convenience init(_ path: String, isNew: Bool = false) throws(WriteError) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC)
        let descriptor = unsafe open(path, flags, 0o666)
        guard descriptor >= 0 else { throw .failed(errno) }
        self.init(owning: descriptor)
    }

    /// Takes ownership of an open file.
    package init(owning descriptor: CInt) { self.descriptor = Mutex(descriptor) }

    deinit { do throws(WriteError) { try self.close() } catch { /* Its writer did not want to know. */  } }

    /// Appends all bytes. What several tasks append does not mix.
    package func append(_ bytes: [UInt8]) throws(WriteError) {
        let code = self.descriptor.withLock { descriptor -> CInt in
            guard let number = descriptor else { return EBADF }
            return unsafe bytes.withUnsafeBytes { unsafe StandardStream.write($0, to: number) }
        }
        guard code == 0 else { throw .failed(code) }
    }

    /// Waits until all that was appended is on its medium.
    package func sync() throws(WriteError) {
        let code = self.descriptor.withLock { descriptor -> CInt in
            guard let number = descriptor else { return EBADF }
            return fsync(number) == 0 ? 0 : errno
        }
        guard code == 0 else { throw .failed(code) }
    }

    /// Closes the file. Some file systems say only now that there is no space.
    package func close() throws(WriteError) {
        let code = self.descriptor.withLock { descriptor -> CInt in
            guard let number = descriptor else { return 0 }
            descriptor = nil
            guard Glibc.close(number) != 0 else { return 0 }
            // After EINTR, too, the descriptor is closed.
            return errno == EINTR ? 0 : errno
        }
        guard code == 0 else { throw .failed(code) }
    }

    /// Writes a file of these bytes. `isNew`: there must be none, and one that cannot be written to its end is removed.
    package static func write(
        _ bytes: [UInt8], to path: String, isNew: Bool = false
    ) throws(WriteError) {
        let file = try WrittenFile(path, isNew: isNew)
        do throws(WriteError) {
            try file.append(bytes)
            try file.close()
        } catch {
            if isNew { _ = unsafe unlink(path) }
            throw error
        }
    }
}
