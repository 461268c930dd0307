internal import Glibc

/// Overwrites secrets in memory that is about to be freed. The compiler keeps these writes, although nothing reads them.
package enum Wiping {
    /// Overwrites memory with zeros.
    @unsafe package static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { return }
        unsafe explicit_bzero(start, memory.count)
    }

    /// Overwrites bytes with zeros where they are: also in all arrays that share their memory, which must not be read afterwards.
    package static func wipeShared(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe Self.wipe(UnsafeMutableRawBufferPointer(mutating: $0)) }
    }
}
