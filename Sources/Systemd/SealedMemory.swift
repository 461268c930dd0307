internal import CSystemd
internal import Glibc

/// An in-memory file whose content can no longer be changed.
package enum SealedMemory {
    /// - Returns: The descriptor, which the caller owns.
    /// - Throws: ``SystemdError`` with the errno of memfd_create(2), write(2) or fcntl(2).
    package static func make(_ bytes: [UInt8], name: String) throws(SystemdError) -> CInt {
        let descriptor = try SystemdError.checkErrno(unsafe waymark_memfd_create(name), of: "memfd_create")
        do throws(SystemdError) {
            var written = 0
            while written < bytes.count {
                let count = unsafe bytes[written...].withUnsafeBytes {
                    unsafe write(descriptor, $0.baseAddress, $0.count)
                }
                guard count > 0 else { throw SystemdError(function: "write", errno: errno) }
                written += count
            }
            try SystemdError.checkErrno(waymark_seal(descriptor), of: "fcntl")
        } catch {
            _ = close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Reads the content.
    ///
    /// - Returns: nil if the descriptor is not sealed, because its content could still change.
    /// - Throws: ``SystemdError`` with the errno of pread(2).
    package static func read(_ descriptor: CInt) throws(SystemdError) -> [UInt8]? {
        guard waymark_is_sealed(descriptor) != 0 else { return nil }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw SystemdError(function: "fstat", errno: errno)
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes[offset...].withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, $0.count, offset)
            }
            guard count > 0 else { throw SystemdError(function: "pread", errno: errno) }
            offset += count
        }
        return bytes
    }
}
