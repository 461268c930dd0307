import Glibc

/// Why a run cannot go on.
package enum LoadError: Error, Sendable, Hashable {
    /// A system call failed.
    case system(call: String, code: CInt)
    /// The server sent what nobody can have sent it, or said that it refuses something.
    case unexpected(String)
    /// The server closed a connection.
    case closed(String)
    /// The server did not do in time what a run waits for.
    case late(String)
    /// The plan makes no sense.
    case plan(String)
}

/// One of the generator's connections.
struct Peer: Sendable {
    enum Role: Sendable, Hashable { case publisher, endpoint }

    var role: Role
    /// Which publisher's messages it sends or gets.
    var stream: Int
    /// Its number among all connections.
    var number: Int
}

/// What a frame that is no delivery means.
struct Reaction {
    /// To be sent back.
    var reply: [UInt8] = []
    /// The handshake is over.
    var isReady = false
    /// This request of the endpoint's was answered.
    var answered: Int?
}

/// A protocol that servers are spoken to in. Nothing here is on the way of a delivery: published and received bytes are
/// templates.
protocol Dialect {
    /// What a connection sends first.
    mutating func greeting(of peer: Peer) -> [UInt8]

    /// What a connection sends last.
    var farewell: [UInt8] { get }

    /// The length of the frame that `bytes` begin with; nil while that cannot be said.
    func frameLength(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> Int?

    /// Takes a whole frame that is no delivery.
    mutating func take(_ frame: UnsafeRawBufferPointer, for peer: Peer) throws(LoadError) -> Reaction

    /// A payload as the publisher of `stream` sends it, and as its endpoints receive it. Publishers are ready by then.
    func templates(of payload: Template, stream: Int) -> (sent: Template, received: Template)

    /// A request that an endpoint sends to the publisher of its stream.
    func request(_ number: Int, from peer: Peer) -> [UInt8]
}

extension Dialect {
    var farewell: [UInt8] { [] }
}

extension UnsafeRawBufferPointer {
    /// An unsigned number, most significant byte first.
    func bigEndian<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type = Number.self) -> Number {
        Number(bigEndian: self.loadUnaligned(fromByteOffset: offset, as: type))
    }

    func hasPrefix(_ text: StaticString, at offset: Int = 0) -> Bool {
        guard let start = self.baseAddress, self.count >= offset + text.utf8CodeUnitCount else {
            return false
        }
        return memcmp(start + offset, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// The decimal number whose first digit is at `offset`, and where it ends; without digits, 0.
    func decimal(at offset: Int) -> (value: Int, end: Int) {
        var (value, end) = (0, offset)
        while end < self.count, case let digit = self[end] &- 48, digit < 10 {
            value = value * 10 + Int(digit)
            end += 1
        }
        return (value, end)
    }

    /// Where the line ends, behind its line break.
    func lineEnd(from start: Int = 0) -> Int? {
        self[start...].firstIndex(of: 10).map { $0 + 1 }
    }

    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// For a message about it.
    var excerpt: String { self.text(0..<Swift.min(self.count, 120)) }
}
