internal import Foundation
internal import Glibc
internal import ProcessIO
internal import Synchronization

/// The socket on which a daemon tells its service manager that it is ready, and stores what the next process continues with.
///
/// - Source: sd_notify(3), and Docs/decisions/0008-restart-without-disconnecting.md.
final class ServiceSocket: Sendable {
    let path: String
    private let descriptor: CInt
    /// What the last process has stored.
    private let stored = Mutex<CInt?>(nil)

    /// Makes the socket. `onReady` is called on another thread, whenever the daemon says that it is ready.
    init(at path: String, onReady: @escaping @Sendable () -> Void) throws(ChildProcess.Failure) {
        self.path = path
        self.descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: path.utf8.prefix(107))
        }
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            throw ChildProcess.Failure(description: "\(path) cannot be made: \(SystemError.reason(errno))")
        }
        Thread.detachNewThread {
            while let (text, descriptors) = self.receive() { self.handle(text, descriptors, onReady) }
            _ = close(self.descriptor)
            if let stored = self.takeStored() { _ = close(stored) }
        }
    }

    /// Ends receiving.
    func end() { _ = shutdown(self.descriptor, CInt(SHUT_RDWR)) }

    /// What a process has stored for the next one, which the caller owns.
    func takeStored() -> CInt? {
        self.stored.withLock { stored in
            defer { stored = nil }
            return stored
        }
    }

    private func handle(_ text: String, _ descriptors: [CInt], _ onReady: () -> Void) {
        let fields = text.split(separator: "\n")
        if fields.contains("READY=1") { onReady() }
        guard fields.contains("FDSTORE=1"), let first = descriptors.first else {
            // Closing them says that what came before is stored: a barrier.
            for descriptor in descriptors { _ = close(descriptor) }
            return
        }
        for descriptor in descriptors.dropFirst() { _ = close(descriptor) }
        let old = self.stored.withLock { stored in
            defer { stored = first }
            return stored
        }
        if let old { _ = close(old) }
    }

    /// The next message with its descriptors; nil after the end.
    private func receive() -> (String, [CInt])? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        // Words, for the alignment that the kernel requires: a cmsghdr of two, and up to 253 descriptors.
        var control = [UInt64](repeating: 0, count: 2 + 127)
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe control.withUnsafeMutableBytes { control in
                var part = unsafe iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
                return unsafe withUnsafeMutablePointer(to: &part) { part in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = part
                    unsafe message.msg_iovlen = 1
                    unsafe message.msg_control = control.baseAddress
                    unsafe message.msg_controllen = control.count
                    var count: Int
                    repeat {
                        count = unsafe recvmsg(self.descriptor, &message, CInt(MSG_CMSG_CLOEXEC))
                    } while count < 0 && errno == EINTR
                    return count
                }
            }
        }
        guard count > 0 else { return nil }
        let descriptors = unsafe control.withUnsafeBytes { control -> [CInt] in
            let header = unsafe control.load(as: cmsghdr.self)
            guard header.cmsg_level == SOL_SOCKET, header.cmsg_type == CInt(SCM_RIGHTS) else { return [] }
            let end = min(Int(header.cmsg_len), control.count)
            return stride(from: MemoryLayout<cmsghdr>.size, to: end, by: 4).map {
                unsafe control.load(fromByteOffset: $0, as: CInt.self)
            }
        }
        return (String(decoding: bytes.prefix(count), as: UTF8.self), descriptors)
    }
}
