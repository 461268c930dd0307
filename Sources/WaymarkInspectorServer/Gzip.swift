internal import CZlib
internal import Foundation

/// Compresses bytes as `Content-Encoding: gzip` says them.
enum Gzip {
    /// The window of 32 KiB, which is the largest one, and 16 for the format of gzip.
    private static let windowBits: Int32 = 15 + 16
    /// The library's default.
    private static let memoryLevel: Int32 = 8

    /// Returns the compressed bytes, which are the same for the same `data`; nil if the library has no memory.
    static func compress(_ data: Data) -> Data? {
        var stream = unsafe z_stream()
        let opened = unsafe deflateInit2_(
            &stream, Z_BEST_COMPRESSION, Z_DEFLATED, self.windowBits, self.memoryLevel, Z_DEFAULT_STRATEGY,
            ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard opened == Z_OK else { return nil }
        defer { unsafe deflateEnd(&stream) }
        let bytesMax = unsafe Int(deflateBound(&stream, UInt(data.count)))
        var compressed = Data(count: bytesMax)
        let result = unsafe data.withUnsafeBytes { input in
            unsafe compressed.withUnsafeMutableBytes { output in
                unsafe stream.next_in = input.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_in = UInt32(input.count)
                unsafe stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.avail_out = UInt32(output.count)
                return unsafe deflate(&stream, Z_FINISH)
            }
        }
        guard result == Z_STREAM_END else { return nil }
        return unsafe compressed.prefix(bytesMax - Int(stream.avail_out))
    }
}
