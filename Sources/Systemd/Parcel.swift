internal import CSystemd
internal import Glibc

/// Packs many descriptors into one: a socket with the descriptors in its receive queue.
///
/// The owner of the packed descriptor owns all of them. They can be unpacked once. If the last copy of the packed descriptor is
/// closed before that, the kernel closes the descriptors in its queue.
package enum Parcel {
    /// The most descriptors in one message: SCM_MAX_FD of the kernel.
    static let descriptorsMax = 253

    /// Packs copies of the descriptors; the caller still owns the originals.
    ///
    /// - Returns: The packed descriptor, which the caller owns.
    /// - Throws: ``SystemdError`` with the errno of socketpair(2) or sendmsg(2). ETOOMANYREFS: more descriptors are in flight than
    ///   the process may have open. EAGAIN: the socket's queue is full, at about 40 000 descriptors.
    package static func pack(_ descriptors: [CInt]) throws(SystemdError) -> CInt {
        var pair: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw SystemdError(function: "socketpair", errno: errno)
        }
        defer { _ = close(pair[1]) }
        do throws(SystemdError) {
            var rest = descriptors[...]
            while !rest.isEmpty {
                try Self.send(Array(rest.prefix(Self.descriptorsMax)), on: pair[1])
                rest = rest.dropFirst(Self.descriptorsMax)
            }
        } catch {
            _ = close(pair[0])
            throw error
        }
        return pair[0]
    }

    /// Unpacks all descriptors, in order. The caller owns them, and still owns the packed descriptor.
    ///
    /// - Throws: ``SystemdError`` with the errno of recvmsg(2), or EBADMSG if a message was truncated because the process has too
    ///   many open descriptors. Then all unpacked descriptors are closed.
    package static func unpack(_ parcel: CInt) throws(SystemdError) -> [CInt] {
        var descriptors: [CInt] = []
        do throws(SystemdError) {
            while let received = try Self.receive(on: parcel) { descriptors += received }
        } catch {
            for descriptor in descriptors { _ = close(descriptor) }
            throw error
        }
        return descriptors
    }

    /// The size of the largest control message: a cmsghdr of 16 bytes and the descriptors.
    private static let controlByteCount =
        MemoryLayout<cmsghdr>.size + descriptorsMax * MemoryLayout<CInt>.size

    private static func send(_ descriptors: [CInt], on socket: CInt) throws(SystemdError) {
        let length = MemoryLayout<cmsghdr>.size + descriptors.count * MemoryLayout<CInt>.size
        // An array of words, for the alignment that the kernel requires.
        var control = [UInt64](repeating: 0, count: (length + 7) / 8)
        unsafe control.withUnsafeMutableBytes { bytes in
            var header = cmsghdr()
            header.cmsg_len = length
            header.cmsg_level = SOL_SOCKET
            header.cmsg_type = CInt(SCM_RIGHTS)
            unsafe bytes.storeBytes(of: header, as: cmsghdr.self)
            for (index, descriptor) in descriptors.enumerated() {
                let offset = MemoryLayout<cmsghdr>.size + index * MemoryLayout<CInt>.size
                unsafe bytes.storeBytes(of: descriptor, toByteOffset: offset, as: CInt.self)
            }
        }
        let result = unsafe Self.withMessage(&control, length) {
            unsafe sendmsg(socket, $0, CInt(MSG_NOSIGNAL))
        }
        guard result == 1 else { throw SystemdError(function: "sendmsg", errno: errno) }
    }

    /// The descriptors of the next message; nil if the queue is empty.
    private static func receive(on socket: CInt) throws(SystemdError) -> [CInt]? {
        var control = [UInt64](repeating: 0, count: (Self.controlByteCount + 7) / 8)
        var flags: CInt = 0
        let result = unsafe Self.withMessage(&control, Self.controlByteCount) { message in
            let flag = CInt(MSG_CMSG_CLOEXEC | MSG_DONTWAIT)
            let count = unsafe recvmsg(socket, message, flag)
            flags = unsafe message.pointee.msg_flags
            return count
        }
        guard result >= 0 else {
            if errno == EAGAIN { return nil }
            throw SystemdError(function: "recvmsg", errno: errno)
        }
        guard result > 0 else { return nil }
        let descriptors = unsafe control.withUnsafeBytes { bytes in
            let length = unsafe min(bytes.load(as: cmsghdr.self).cmsg_len, Self.controlByteCount)
            return stride(from: MemoryLayout<cmsghdr>.size, to: length, by: MemoryLayout<CInt>.size).map {
                unsafe bytes.load(fromByteOffset: $0, as: CInt.self)
            }
        }
        guard flags & CInt(MSG_CTRUNC) == 0 else {
            for descriptor in descriptors { _ = close(descriptor) }
            throw SystemdError(function: "recvmsg", errno: EBADMSG)
        }
        return descriptors
    }

    /// Calls `body` with a message of one byte and the control data.
    private static func withMessage(
        _ control: inout [UInt64], _ controlByteCount: Int, _ body: (UnsafeMutablePointer<msghdr>) -> Int
    ) -> Int {
        var byte: UInt8 = 0
        return unsafe control.withUnsafeMutableBytes { control in
            unsafe withUnsafeMutablePointer(to: &byte) { byte in
                var part = unsafe iovec(iov_base: byte, iov_len: 1)
                return unsafe withUnsafeMutablePointer(to: &part) { part in
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = part
                    unsafe message.msg_iovlen = 1
                    unsafe message.msg_control = control.baseAddress
                    unsafe message.msg_controllen = controlByteCount
                    return unsafe body(&message)
                }
            }
        }
    }
}
