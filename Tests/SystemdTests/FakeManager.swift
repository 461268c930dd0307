import Glibc
import Systemd

/// Acts as the service manager of the current process: owns the notification socket and sets the environment variables.
final class FakeManager {
    private let descriptor: CInt
    private let path: String

    struct Failure: Error { var call: String, code = errno }

    init() throws {
        self.path = "/tmp/wm-notify-\(UInt64.random(in: 0 ... .max))"
        self.descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: self.path.utf8) }
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failure(call: "bind") }
        setenv("NOTIFY_SOCKET", self.path, 1)
    }

    deinit {
        close(self.descriptor)
        unlink(self.path)
    }

    /// The next message and its descriptors. A datagram can be received as soon as it was sent.
    func receive() throws -> (text: String, descriptors: [CInt]) {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var control = [UInt64](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { bytes in
            control.withUnsafeMutableBytes { control in
                var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var header = msghdr()
                    header.msg_iov = part
                    header.msg_iovlen = 1
                    header.msg_control = control.baseAddress
                    header.msg_controllen = control.count
                    return recvmsg(self.descriptor, &header, CInt(MSG_DONTWAIT))
                }
            }
        }
        guard count >= 0 else { throw Failure(call: "recvmsg") }
        let descriptors = control.withUnsafeBytes { control -> [CInt] in
            // struct cmsghdr: length, level and type, then the data.
            let length = control.load(as: Int.self)
            guard length > MemoryLayout<cmsghdr>.size else { return [] }
            return stride(from: MemoryLayout<cmsghdr>.size, to: length, by: 4).map {
                control.load(fromByteOffset: $0, as: CInt.self)
            }
        }
        return (String(decoding: bytes.prefix(count), as: UTF8.self), descriptors)
    }
}

/// Moves a descriptor to a high number that no other open(2) reuses, because the system assigns the lowest free one.
func secluded(_ descriptor: CInt) -> CInt {
    defer { close(descriptor) }
    return fcntl(descriptor, F_DUPFD_CLOEXEC, 300)
}

/// A Unix socket, bound to a unique abstract name.
func unixSocket(_ type: __socket_type, isListening: Bool) -> CInt {
    let descriptor = socket(AF_UNIX, CInt(type.rawValue), 0)
    // Without a name the system chooses an abstract one.
    var name = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    bind(descriptor, &name, socklen_t(MemoryLayout<sa_family_t>.size))
    if isListening { listen(descriptor, 1) }
    return secluded(descriptor)
}

func tcpSocket(isListening: Bool) -> CInt {
    let descriptor = socket(AF_INET6, CInt(SOCK_STREAM.rawValue), 0)
    if isListening { listen(descriptor, 1) }
    return secluded(descriptor)
}

/// Whether two descriptors refer to the same file.
func isSame(_ first: CInt, _ second: CInt) -> Bool {
    var (one, other) = (stat(), stat())
    return fstat(first, &one) == 0 && fstat(second, &other) == 0 && one.st_dev == other.st_dev
        && one.st_ino == other.st_ino
}

func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

/// From here on the calling thread has descriptors of its own: another one may wait for events on one of the fixed numbers.
private func unshareDescriptors() {
    // Why not by its name: the module Glibc does not have it, nor the flag CLONE_FILES.
    typealias Unshare = @convention(c) (CInt) -> CInt
    let unshare = unsafeBitCast(dlsym(nil, "unshare"), to: Unshare?.self)
    if unshare?(0x400) != 0 { preconditionFailure("the descriptors cannot be unshared") }
}

/// Puts copies of `descriptors` at the numbers that the service manager uses, from 3 on, and restores the previous ones after
/// `body`.
func withInherited(_ descriptors: [CInt], names: String, _ body: () throws -> Void) rethrows {
    unshareDescriptors()
    let places = descriptors.indices.map { CInt(3 + $0) }
    let before = places.map { fcntl($0, F_DUPFD_CLOEXEC, 200) }
    // Copied first, because the ranges may overlap.
    let copies = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, 200) }
    for (copy, place) in zip(copies, places) { dup2(copy, place) }
    defer {
        for (old, place) in zip(before, places) { if old >= 0 { dup2(old, place) } else { close(place) } }
    }
    setenv("LISTEN_PID", "\(getpid())", 1)
    setenv("LISTEN_FDS", "\(descriptors.count)", 1)
    setenv("LISTEN_FDNAMES", names, 1)
    try body()
}
