package import WaymarkProtocol

/// A navigation client, vehicle endpoint or observer without its connection. A value: no clock, no I/O; `now` is an argument.
///
/// What it says depends on its events and its seed alone, and never on the order of a dictionary or a set.
package protocol PeerMachine: Sendable {
    /// What the app that uses the peer learns or does.
    associatedtype Output: Sendable

    /// When ``deadlineReached(at:into:)`` is due; nil while nothing is.
    var deadline: Instant? { get }
    /// The bytes that ``dequeueOutgoing(into:)`` would return because the gateway asked for them, without those that have a bound of their own.
    var owedByteCount: Int { get }
    /// The Hello of the next connection.
    func hello() -> Hello
    mutating func handle(_ event: PeerEvent, at now: Instant, into outputs: inout [Output])
    /// Does what is due at `now`, if anything is.
    mutating func deadlineReached(at now: Instant, into outputs: inout [Output])
    /// Removes and returns what to write now, oldest first. It is called after the Welcome only, and not while a write is under way, so
    /// that newer states replace older ones meanwhile.
    mutating func dequeueOutgoing(into outputs: inout [Output]) -> [Frame]
}

extension PeerMachine {
    package var owedByteCount: Int { 0 }
}

/// Bounds for what a gateway can make a peer hold. Docs/client.md has all of them.
package enum PeerBounds {
    /// Bytes that wait to be written because the gateway asked for them: Pongs, and a client's answers. Beyond it the connection is cut.
    ///
    /// A few reads cannot ask for more, so that a gateway that reads is not cut, however much it asks for in one go.
    package static let owedBytesMax = 262_144
    /// Prompts that wait for an endpoint's answer, and handlers of an endpoint that run. A gateway cannot be configured to ask more.
    package static let promptsMax = 1_024
    /// Requests of vehicles that wait for a client's answer or outcome, and handlers of a client that run. Further ones are declined as busy.
    package static let inquiriesMax = 4_096
}

/// What a peer's machine learns from its connection.
package enum PeerEvent: Sendable {
    case state(ConnectionState)
    /// The gateway has welcomed this peer and accepts frames up to `frameBytesMax` bytes. ``state(_:)`` follows.
    case welcomed(Welcome, frameBytesMax: Int)
    case received(Envelope)
    /// A frame of a type that this build does not know, or a publication whose body cannot be decoded.
    case skipped(FrameHeader)
}

/// What happens to a ``LinkMachine``.
package enum LinkEvent: Sendable {
    /// Connect, and keep the connection.
    case open
    /// The answer to ``LinkAction/connect``.
    case transportOpened
    /// The other answer to ``LinkAction/connect``, or the end of the transport; the reason if there is one.
    case transportClosed(ClientError?)
    /// Bytes have arrived.
    case received([UInt8])
    /// The transport has taken the bytes of the last ``LinkAction/write(_:)``.
    case wrote
    /// ``LinkMachine/deadline`` has passed; harmless if it has not.
    case deadlineReached
    /// Write what is queued, say Goodbye, and do not connect again.
    case close
}

/// What a driver does for a ``LinkMachine``.
package enum LinkAction<Output: Sendable>: Sendable {
    /// Open a transport. Answered by ``LinkEvent/transportOpened``, or by ``LinkEvent/transportClosed(_:)``.
    case connect
    /// Write these bytes. Answered by ``LinkEvent/wrote``; there is no other write before.
    case write([UInt8])
    /// Nothing is written after this: end the writing side.
    case halfClose
    /// Close the transport. Answered by ``LinkEvent/transportClosed(_:)``.
    case closeTransport
    /// The connection is in this state now. ``ConnectionState/closed(_:)`` is the last action.
    case state(ConnectionState)
    /// An output of the peer's machine.
    case output(Output)
    case log(PeerNote)
}

/// A line for the log.
package struct PeerNote: Sendable, Hashable, CustomStringConvertible {
    package enum Level: Sendable, Hashable { case debug, info, notice, warning, error }

    package let level: Level
    package let text: String
    package let values: [Value]

    package struct Value: Sendable, Hashable {
        package let key: String
        package let text: String
    }

    init(_ level: Level, _ text: String, _ values: [Value] = []) {
        self.level = level
        self.text = text
        self.values = values
    }

    init(_ level: Level, _ text: String, _ values: KeyValuePairs<String, String>) {
        self.init(level, text, values.map { Value(key: $0.key, text: $0.value) })
    }

    /// The line, with its values behind it.
    package var description: String {
        ([self.text] + self.values.map { "\($0.key)=\($0.text)" }).joined(separator: " ")
    }
}

extension Instant? {
    /// The earlier of two deadlines; nil is none.
    func earlier(_ other: Instant?) -> Instant? {
        guard let other else { return self }
        return self.map { min($0, other) } ?? other
    }
}
