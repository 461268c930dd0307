internal import CSystemd
internal import Glibc

/// The system's journal.
package enum Journal {
    /// One field of an entry.
    package struct Field: Sendable, Hashable {
        /// Capital letters, digits and `_`, not beginning with `_`, at most 64 bytes. The journal drops fields with other names.
        package var name: String
        /// Any text; may contain line breaks.
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Whether standard error is connected to the journal, according to `$JOURNAL_STREAM` (systemd.exec(5)).
    package static var isErrorOutput: Bool {
        guard let stream = unsafe getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one entry. If no journal is running, sd_journal_sendv(3) drops it without an error.
    ///
    /// - Throws: ``SystemdError`` with the errno of sd_journal_sendv(3).
    package static func send(_ fields: [Field]) throws(SystemdError) {
        var bytes: [UInt8] = []
        var lengths: [Int] = []
        for field in fields {
            let before = bytes.count
            bytes += Array("\(field.name)=\(field.value)".utf8)
            lengths.append(bytes.count - before)
        }
        let result = unsafe bytes.withUnsafeMutableBytes { bytes in
            var start = 0
            let parts = unsafe lengths.map { length in
                defer { start += length }
                return unsafe iovec(iov_base: bytes.baseAddress.map { unsafe $0 + start }, iov_len: length)
            }
            return unsafe sd_journal_sendv(parts, CInt(lengths.count))
        }
        try SystemdError.check(result, of: "sd_journal_sendv")
    }
}
