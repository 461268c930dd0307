internal import Glibc
internal import NIOCore
internal import ProcessIO

/// Who may connect to a Unix socket.
package struct SocketPermissions: Sendable, Hashable {
    /// The mode bits of chmod(2); connecting needs the write bit.
    package var mode: UInt32 = 0o600
    /// The group of the file; nil for the process's own.
    package var group: UInt32?

    package init() {}
}

/// The file of a listening Unix socket. It has its permissions before a peer can connect, and is removed only if no other file
/// has replaced it.
package struct SocketFile: Sendable, Hashable {
    /// Connections that the system keeps until they are accepted.
    package static let backlog: CInt = 1_024

    let path: String
    private let device: UInt
    private let inode: UInt

    /// Listens on `path`. A socket file without a listening process is replaced; any other file is kept, and an error thrown.
    ///
    /// - Returns: The listening descriptor, which the caller owns, and its file.
    package static func listen(
        at path: String, _ permissions: SocketPermissions
    ) async throws(ListenerError) -> (descriptor: CInt, file: SocketFile) {
        let lock = try await FolderLock.lock(folderOf: path)
        defer { lock.unlock() }
        try Self.removeStale(path)
        let descriptor = try Self.socket(path)
        do throws(ListenerError) {
            try Self.bind(descriptor, path, permissions)
            guard let status = try Self.status(path) else {
                throw .failed(
                    .unix(path: path), reason: "the socket file was removed while the listener was opened")
            }
            return (descriptor, SocketFile(path: path, device: status.device, inode: status.inode))
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    /// The file of a listening socket that another process opened; nil if it has been removed.
    package static func find(at path: String) throws(ListenerError) -> SocketFile? {
        guard let status = try Self.status(path), status.mode & S_IFMT == S_IFSOCK else { return nil }
        return SocketFile(path: path, device: status.device, inode: status.inode)
    }

    /// Removes the file, unless another file has replaced it. Call it while the socket is open, so that the inode number cannot
    /// be reused.
    package func remove() async {
        do throws(ListenerError) {
            let lock = try await FolderLock.lock(folderOf: self.path)
            defer { lock.unlock() }
            try self.unlinkIfOwn()
        } catch
        { /* The folder was removed or is locked by another process, so the file is not ours any more. */  }
    }

    /// Removes the file without waiting for other processes, because this one ends at once.
    package func removeNow() {
        do throws(ListenerError) { try self.unlinkIfOwn() } catch { /* The folder was removed. */  }
    }

    private func unlinkIfOwn() throws(ListenerError) {
        guard let status = try Self.status(self.path), status.device == self.device,
            status.inode == self.inode
        else { return }
        _ = unsafe unlink(self.path)
    }

    private static func bind(
        _ descriptor: CInt, _ path: String, _ permissions: SocketPermissions
    ) throws(ListenerError) {
        guard try unsafe Self.withAddress(path, { unsafe Glibc.bind(descriptor, $0, $1) }) == 0 else {
            throw errno == EADDRINUSE ? .inUse(.unix(path: path)) : Self.failure(path, "bind")
        }
        // No peer can connect before listen(2).
        if let group = permissions.group {
            guard unsafe lchown(path, uid_t.max, group) == 0 else { throw Self.failure(path, "chown") }
        }
        guard unsafe fchmodat(AT_FDCWD, path, permissions.mode, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw Self.failure(path, "chmod")
        }
        guard Glibc.listen(descriptor, Self.backlog) == 0 else { throw Self.failure(path, "listen") }
    }

    /// Unlinks a socket file that an ended process left behind.
    private static func removeStale(_ path: String) throws(ListenerError) {
        guard let status = try Self.status(path) else { return }
        guard status.mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        let probe = try Self.socket(path)
        defer { _ = Glibc.close(probe) }
        if try unsafe Self.withAddress(path, { unsafe connect(probe, $0, $1) }) == 0 || errno == EAGAIN {
            throw .inUse(.unix(path: path))
        }
        guard errno == ECONNREFUSED else { throw Self.failure(path, "connect") }
        guard unsafe unlink(path) == 0 else { throw Self.failure(path, "unlink") }
    }

    /// The status of the file at `path`; nil if there is none.
    private static func status(
        _ path: String
    ) throws(ListenerError) -> (mode: UInt32, device: UInt, inode: UInt)? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw Self.failure(path, "stat")
        }
        return (status.st_mode, status.st_dev, status.st_ino)
    }

    private static func socket(_ path: String) throws(ListenerError) -> CInt {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw Self.failure(path, "socket") }
        return descriptor
    }

    private static func withAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) throws(ListenerError) -> CInt {
        let address: SocketAddress
        do { address = try SocketAddress(unixDomainSocketPath: path) } catch {
            throw .failed(.unix(path: path), reason: "the path is too long")
        }
        return unsafe address.withSockAddr { unsafe body($0, socklen_t($1)) }
    }

    /// The error of a failed system call, from errno.
    private static func failure(_ path: String, _ call: String) -> ListenerError {
        .failed(.unix(path: path), reason: "\(call): \(SystemError.reason(errno))")
    }
}

/// A lock on a folder, so that only one daemon at a time checks, removes and creates sockets in it: between bind(2) and listen(2)
/// a new socket cannot be told from a stale one.
private struct FolderLock {
    private let descriptor: CInt

    /// How often to try for a lock that another process holds, and the time between two attempts.
    private static let attempts = 50
    private static let pause = Duration.milliseconds(20)

    static func lock(folderOf path: String) async throws(ListenerError) -> FolderLock {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .failed(.unix(path: path), reason: "\(folder): \(SystemError.reason(errno))")
        }
        for _ in 0..<Self.attempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return FolderLock(descriptor: descriptor) }
            do { try await Task.sleep(for: Self.pause) } catch { break }  // Cancelled.
        }
        _ = Glibc.close(descriptor)
        throw .failed(.unix(path: path), reason: "another process holds a lock on \(folder)")
    }

    func unlock() { _ = Glibc.close(self.descriptor) }
}
