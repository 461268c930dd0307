import Glibc

/// A number within the bytes of a message, different in each message.
enum Patch: Sendable {
    /// Eight decimal digits at an offset.
    case decimal(Int)
    /// 10 000 000 and up as a varint of four bytes.
    case varint(Int)
    /// The message's number, counted from `first`, as eight bytes, most significant first.
    case sequence(Int, first: UInt64)

    static let varintBase: UInt32 = 10_000_000
    /// The number of varint values before they repeat, so that they stay in the range of a distance.
    private static let varintSpan: UInt32 = 32_000_000

    func shifted(by count: Int) -> Patch {
        switch self {
        case .decimal(let offset): .decimal(offset + count)
        case .varint(let offset): .varint(offset + count)
        case .sequence(let offset, let first): .sequence(offset + count, first: first)
        }
    }

    func apply(_ number: Int, to bytes: UnsafeMutableRawPointer) {
        switch self {
        case .decimal(let offset):
            var rest = number
            for place in stride(from: offset + 7, through: offset, by: -1) {
                bytes.storeBytes(of: UInt8(48 + rest % 10), toByteOffset: place, as: UInt8.self)
                rest /= 10
            }
        case .varint(let offset):
            var rest = Self.varintBase + UInt32(truncatingIfNeeded: number) % Self.varintSpan
            for place in 0..<4 {
                let more: UInt8 = place < 3 ? 0x80 : 0
                bytes.storeBytes(of: UInt8(rest & 0x7F) | more, toByteOffset: offset + place, as: UInt8.self)
                rest >>= 7
            }
        case .sequence(let offset, let first):
            bytes.storeBytes(of: (first + UInt64(number)).bigEndian, toByteOffset: offset, as: UInt64.self)
        }
    }
}

/// Bytes with numbers in them.
struct Template: Sendable {
    var bytes: [UInt8]
    var patches: [Patch] = []

    /// The template with bytes before and after it.
    func framed(by prefix: [UInt8], _ suffix: [UInt8] = []) -> Template {
        Template(
            bytes: prefix + self.bytes + suffix, patches: self.patches.map { $0.shifted(by: prefix.count) })
    }

    func write(_ number: Int, to target: UnsafeMutableRawPointer) {
        self.bytes.withUnsafeBytes {
            UnsafeMutableRawBufferPointer(start: target, count: $0.count).copyMemory(from: $0)
        }
        for patch in self.patches { patch.apply(number, to: target) }
    }
}

/// The messages that one publisher sends and each of its readers must receive. All have the same length.
///
/// The bytes in transit are kept, so that received bytes are compared with them at once, for any number of messages. One comparison
/// checks order, content and completeness, without splitting or allocating.
struct Stream {
    /// The message as it is sent, and as it is received.
    let sent: Template
    let received: Template
    /// Bytes of a received message.
    let messageBytes: Int
    /// The maximum number of messages in transit.
    let capacity: Int

    private let isPassedOnAsSent: Bool
    private let mask: Int
    private let ringBytes: Int
    private let ring: UnsafeMutableRawPointer
    private let instants: UnsafeMutablePointer<UInt64>
    /// By message number: the number of readers whose next message it is.
    private let standing: UnsafeMutablePointer<Int32>

    /// The number of published messages.
    private(set) var published = 0
    /// The first message that some reader has not received.
    private(set) var low = 0
    private(set) var readers = 0

    init(sent: Template, received: Template, capacity wanted: Int) {
        var capacity = 2
        while capacity < wanted + 1 { capacity *= 2 }
        self.sent = sent
        self.received = received
        self.messageBytes = received.bytes.count
        self.isPassedOnAsSent = sent.bytes == received.bytes
        self.capacity = capacity - 1
        self.mask = capacity - 1
        self.ringBytes = capacity * received.bytes.count
        self.ring = .allocate(byteCount: self.ringBytes, alignment: 64)
        self.instants = .allocate(capacity: capacity)
        self.standing = .allocate(capacity: capacity)
        self.standing.initialize(repeating: 0, count: capacity)
    }

    func release() {
        self.ring.deallocate()
        self.instants.deallocate()
        self.standing.deallocate()
    }

    var underWay: Int { self.published - self.low }

    /// Appends the next message to `out`; it counts as sent at `instant`.
    mutating func publish(at instant: UInt64, into out: inout ByteQueue) {
        let slot = self.published & self.mask
        self.instants[slot] = instant
        let kept = self.ring + slot * self.messageBytes
        self.received.write(self.published, to: kept)
        if self.isPassedOnAsSent {
            out.append(UnsafeRawBufferPointer(start: kept, count: self.messageBytes))
        } else {
            out.append(self.sent.bytes.count) { self.sent.write(self.published, to: $0) }
        }
        self.published += 1
    }

    /// Whether `count` bytes equal the published bytes of this stream from `position` on.
    @inline(__always)
    func matches(_ bytes: UnsafeRawPointer, _ count: Int, at position: Int) -> Bool {
        guard position + count <= self.published * self.messageBytes else { return false }
        let offset = position % self.ringBytes
        let first = min(count, self.ringBytes - offset)
        return memcmp(bytes, self.ring + offset, first) == 0
            && memcmp(bytes + first, self.ring, count - first) == 0
    }

    func matches(_ bytes: UnsafeRawBufferPointer, at position: Int) -> Bool {
        bytes.baseAddress.map { self.matches($0, bytes.count, at: position) } ?? true
    }

    func sentAt(_ message: Int) -> UInt64 { self.instants[message & self.mask] }

    /// A reader that has everything published so far.
    mutating func addReader() -> Int {
        self.readers += 1
        self.standing[self.published & self.mask] += 1
        return self.published
    }

    mutating func removeReader(at message: Int) {
        self.readers -= 1
        self.standing[message & self.mask] -= 1
        self.advance()
    }

    @inline(__always)
    mutating func moveReader(from old: Int, to new: Int) {
        self.standing[old & self.mask] -= 1
        self.standing[new & self.mask] += 1
        self.advance()
    }

    private mutating func advance() {
        while self.low < self.published, self.standing[self.low & self.mask] == 0 { self.low += 1 }
    }
}
