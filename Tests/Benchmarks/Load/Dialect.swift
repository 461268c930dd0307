import Glibc

/// Why a run failed.
package enum LoadError: Error, Sendable, Hashable {
    /// A system call failed.
    case system(call: String, code: CInt)
    /// The server sent bytes that no peer sent, or refused something.
    case unexpected(String)
    /// The server closed a connection.
    case closed(String)
    /// The server did not do something in time.
    case late(String)
    /// The plan is invalid.
    case plan(String)
}

/// One of the generator's connections.
struct Peer: Sendable {
    enum Role: Sendable, Hashable { case publisher, endpoint }

    var role: Role
    /// The stream that it publishes or receives.
    var stream: Int
    /// Its number among all connections.
    var number: Int
}

/// The reaction to a frame that is not a delivery.
struct Reaction {
    /// Bytes to send back.
    var reply: [UInt8] = []
    /// The handshake is over.
    var isReady = false
    /// The number of the endpoint's request that was answered.
    var answered: Int?
}

/// A server's protocol. It is not used while messages are delivered: published and received bytes are templates.
protocol Dialect {
    /// The first bytes of a connection.
    mutating func greeting(of peer: Peer) -> [UInt8]

    /// The last bytes of a connection.
    var farewell: [UInt8] { get }

    /// The length of the frame at the start of `bytes`; nil while it is unknown.
    func frameLength(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> Int?

    /// Handles a complete frame that is not a delivery.
    mutating func take(_ frame: UnsafeRawBufferPointer, for peer: Peer) throws(LoadError) -> Reaction

    /// A payload as the publisher of `stream` sends it, and as its endpoints receive it. Called when the publishers are ready.
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

    /// The decimal number at `offset`, and its end; 0 without digits.
    func decimal(at offset: Int) -> (value: Int, end: Int) {
        var (value, end) = (0, offset)
        while end < self.count, case let digit = self[end] &- 48, digit < 10 {
            value = value * 10 + Int(digit)
            end += 1
        }
        return (value, end)
    }

    /// The index after the line break.
    func lineEnd(from start: Int = 0) -> Int? {
        self[start...].firstIndex(of: 10).map { $0 + 1 }
    }

    func text(_ range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// A short form for error messages.
    var excerpt: String { self.text(0..<Swift.min(self.count, 120)) }
}
