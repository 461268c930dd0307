internal import Foundation
internal import Synchronization

/// The lines of standard input, as they arrive.
struct InputLines {
    /// Ends when standard input does.
    let lines: AsyncStream<String>

    /// The longest line, in bytes; a longer one is cut there.
    private static let lineBytesMax = 4_096

    /// Takes over standard input.
    init() {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let rest = Rest()
        FileHandle.standardInput.readabilityHandler = { input in
            let data = input.availableData
            guard !data.isEmpty else {
                input.readabilityHandler = nil
                if let last = rest.takeLast() { continuation.yield(last) }
                return continuation.finish()
            }
            for line in rest.add(data) { continuation.yield(line) }
        }
    }

    /// The bytes after the last end of a line.
    private final class Rest: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        func add(_ data: Data) -> [String] {
            self.bytes.withLock { bytes in
                var lines: [String] = []
                for byte in data {
                    if byte == UInt8(ascii: "\n") {
                        lines.append(String(decoding: bytes, as: UTF8.self))
                        bytes.removeAll(keepingCapacity: true)
                    } else if bytes.count < InputLines.lineBytesMax {
                        bytes.append(byte)
                    }
                }
                return lines
            }
        }

        func takeLast() -> String? {
            self.bytes.withLock { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
        }
    }
}
