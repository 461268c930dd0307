/// Overwrites bytes that must not stay in memory that is freed or used again: a listener's key, and what a Hello that brings one was read
/// into.
package enum Wiping {
    /// Overwrites bytes with zeros, also for other values that share them: no value may be read any more that does.
    ///
    /// Never inlined, so that the compiler cannot leave it out because nothing reads the zeros.
    @inline(never)
    package static func wipe(_ bytes: UnsafeRawBufferPointer) {
        _ = unsafe UnsafeMutableRawBufferPointer(mutating: bytes).initializeMemory(
            as: UInt8.self, repeating: 0)
    }

    /// The same of a part of an array.
    package static func wipe(_ bytes: ArraySlice<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe Self.wipe($0) }
    }
}
