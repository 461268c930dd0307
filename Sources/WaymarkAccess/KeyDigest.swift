internal import Glibc

/// The SHA-256 digest of a key, by which keys are compared and remembered.
///
/// Keys of any length take equally long to compare, and no key has to be kept.
///
/// - Source: FIPS 180-4.
package struct KeyDigest: Sendable, Hashable, Codable {
    private let words: [UInt32]

    /// - Complexity: O(n) for n bytes, a few microseconds for the longest key.
    package init(of key: [UInt8]) { unsafe self.init(of: key.span.bytes) }

    /// The digest of a key in memory. No copy of the key remains.
    ///
    /// - Complexity: O(n) for n bytes, a few microseconds for the longest key.
    package init(of key: RawSpan) {
        // One byte 0x80 and the eight of the length come behind the key.
        let paddedByteCount = (key.byteCount + 9 + 63) / 64 * 64
        var hash: [UInt32] = [
            0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB,
            0x5BE0_CD19,
        ]
        var schedule = [UInt32](repeating: 0, count: 64)
        for start in stride(from: 0, to: paddedByteCount, by: 64) {
            for index in 0..<16 {
                schedule[index] = Self.word(at: start + index * 4, of: key, paddedTo: paddedByteCount)
            }
            Self.compress(&schedule, into: &hash)
        }
        // It begins with the key. The compiler would remove other ways to overwrite it.
        unsafe schedule.withUnsafeMutableBytes { memory in
            guard let start = memory.baseAddress else { return }
            unsafe explicit_bzero(start, memory.count)
        }
        self.words = hash
    }

    /// The word at `offset` of the padded key: the key, 0x80, zeros, and the number of the key's bits.
    private static func word(at offset: Int, of key: RawSpan, paddedTo byteCount: Int) -> UInt32 {
        let bitCount = UInt64(key.byteCount) * 8
        if offset == byteCount - 8 { return UInt32(truncatingIfNeeded: bitCount >> 32) }
        if offset == byteCount - 4 { return UInt32(truncatingIfNeeded: bitCount) }
        var word: UInt32 = 0
        for index in offset..<offset + 4 {
            var byte: UInt8 = index == key.byteCount ? 0x80 : 0
            if index < key.byteCount { byte = unsafe key.unsafeLoad(fromByteOffset: index, as: UInt8.self) }
            word = word << 8 | UInt32(byte)
        }
        return word
    }

    /// In hexadecimal.
    package var hexadecimal: String {
        self.words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// Compares in constant time: how long it takes does not depend on where the two differ.
    package func isEqual(to other: KeyDigest) -> Bool {
        var difference: UInt32 = 0
        for (word, otherWord) in zip(self.words, other.words) { difference |= word ^ otherWord }
        return difference == 0 && self.words.count == other.words.count
    }

    /// Compresses the block in the first 16 words of `schedule`, and overwrites the others.
    private static func compress(_ schedule: inout [UInt32], into hash: inout [UInt32]) {
        for index in 16..<64 {
            let (early, late) = (schedule[index - 15], schedule[index - 2])
            let first = Self.rotate(early, 7) ^ Self.rotate(early, 18) ^ (early >> 3)
            let second = Self.rotate(late, 17) ^ Self.rotate(late, 19) ^ (late >> 10)
            schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
        }
        var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
        var (e, f, g, h) = (hash[4], hash[5], hash[6], hash[7])
        for index in 0..<64 {
            let second = Self.rotate(e, 6) ^ Self.rotate(e, 11) ^ Self.rotate(e, 25)
            let choice = (e & f) ^ (~e & g)
            let change = h &+ second &+ choice &+ Self.constants[index] &+ schedule[index]
            let first = Self.rotate(a, 2) ^ Self.rotate(a, 13) ^ Self.rotate(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e) = (g, f, e, d &+ change)
            (d, c, b, a) = (c, b, a, change &+ first &+ majority)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { hash[index] &+= word }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }

    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4,
        0xAB1C_5ED5, 0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE,
        0x9BDC_06A7, 0xC19B_F174, 0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F,
        0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA, 0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7,
        0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967, 0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC,
        0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85, 0xA2BF_E8A1, 0xA81A_664B,
        0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070, 0x19A4_C116,
        0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7,
        0xC671_78F2,
    ]
}
