import Glibc

/// A number within bytes that differs from message to message.
enum Patch: Sendable {
    /// Eight decimal digits at an offset.
    case decimal(Int)
    /// 10 000 000 and up as a varint of four bytes.
    case varint(Int)
    /// The message's number, counted from `first`, as eight bytes, most significant first.
    case sequence(Int, first: UInt64)

    static let varintBase: UInt32 = 10_000_000
    /// How far a varint goes before it begins again, so that it stays in the range of a distance.
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

    /// These bytes between others.
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

/// What one publisher sends, and what each of its readers must receive: the same messages, each of the same length.
///
/// The bytes that are under way are kept, so that what a reader received is compared with them as a whole, however many
/// messages it is: that is order, content and completeness in one look, without splitting or allocating anything.
struct Stream {
    /// As it is sent, and as it is received.
    let sent: Template
    let received: Template
    /// Bytes of a received message.
    let messageBytes: Int
    /// How many messages may be under way.
    let capacity: Int

    private let isPassedOnAsSent: Bool
    private let mask: Int
    private let ringBytes: Int
    private let ring: UnsafeMutableRawPointer
    private let instants: UnsafeMutablePointer<UInt64>
    /// How many readers have received the messages before this one and not this one, by number.
    private let standing: UnsafeMutablePointer<Int32>

    /// How many messages were published.
    private(set) var published = 0
    /// All readers have the messages before this one.
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

    /// Whether `count` bytes are those of this stream from `position` on, and were published.
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
