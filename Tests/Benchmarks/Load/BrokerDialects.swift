// Other brokers. A stream's messages have the subject "f" and the stream's number. A request has the subject "q" and the stream's
// number, its answer "r" and the endpoint's number.

/// NATS, without headers.
struct NATSDialect: Dialect {
    let asks: Bool

    func greeting(of peer: Peer) -> [UInt8] {
        var text = "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false,\"protocol\":1}\r\n"
        if peer.role == .endpoint { text += "SUB f\(peer.stream) 1\r\n" }
        if self.asks {
            text += peer.role == .endpoint ? "SUB r\(peer.number) 2\r\n" : "SUB q\(peer.stream) 3\r\n"
        }
        return Array((text + "PING\r\n").utf8)
    }

    func frameLength(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> Int? {
        guard let line = bytes.lineEnd() else { return nil }
        guard bytes.hasPrefix("MSG "), let word = bytes[..<line].lastIndex(of: 32) else { return line }
        let size = bytes.decimal(at: word + 1).value
        return bytes.count >= line + size + 2 ? line + size + 2 : nil
    }

    func take(_ frame: UnsafeRawBufferPointer, for peer: Peer) throws(LoadError) -> Reaction {
        if frame.hasPrefix("PONG") { return Reaction(isReady: true) }
        if frame.hasPrefix("PING") { return Reaction(reply: Array("PONG\r\n".utf8)) }
        if frame.hasPrefix("INFO ") || frame.hasPrefix("+OK") { return Reaction() }
        // MSG subject subscription [where to answer] size
        guard frame.hasPrefix("MSG "), let line = frame.lineEnd(),
            let subscription = frame[4...].firstIndex(of: 32).map({ $0 + 1 })
        else { throw .unexpected(frame.excerpt) }
        switch frame[subscription] {
        case UInt8(ascii: "3"): return Reaction(reply: Array("PUB ".utf8) + frame[(subscription + 2)...])
        case UInt8(ascii: "2"): return Reaction(answered: frame.decimal(at: line).value)
        case _: throw .unexpected(frame.excerpt)
        }
    }

    func templates(of payload: Template, stream: Int) -> (sent: Template, received: Template) {
        let end = Array("\r\n".utf8)
        return (
            payload.framed(by: Array("PUB f\(stream) \(payload.bytes.count)\r\n".utf8), end),
            payload.framed(by: Array("MSG f\(stream) 1 \(payload.bytes.count)\r\n".utf8), end)
        )
    }

    func request(_ number: Int, from peer: Peer) -> [UInt8] {
        Array("PUB q\(peer.stream) r\(peer.number) 42\r\n\(RequestText.of(number, 42))\r\n".utf8)
    }
}

/// Redis publish and subscribe, with version 3 of its protocol, in which a subscriber may also publish.
struct RedisDialect: Dialect {
    let asks: Bool

    func greeting(of peer: Peer) -> [UInt8] {
        var bytes = Self.command("HELLO", "3")
        if peer.role == .endpoint { bytes += Self.command("SUBSCRIBE", "f\(peer.stream)") }
        if self.asks {
            bytes += Self.command("SUBSCRIBE", peer.role == .endpoint ? "r\(peer.number)" : "q\(peer.stream)")
        }
        return bytes
    }

    func frameLength(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> Int? {
        try self.valueEnd(bytes, from: 0)
    }

    func take(_ frame: UnsafeRawBufferPointer, for peer: Peer) throws(LoadError) -> Reaction {
        switch frame[0] {
        case UInt8(ascii: "%"): return Reaction(isReady: peer.role == .publisher && !self.asks)
        case UInt8(ascii: ":"): return Reaction()  // The number of receivers of a publication.
        case UInt8(ascii: ">"): break
        case _: throw .unexpected(frame.excerpt)
        }
        // >3 $9 subscribe $n channel :n, or >3 $7 message $n channel $n payload
        if frame.hasPrefix(">3\r\n$9\r\nsubscribe\r\n"), let channel = frame.lineEnd(from: 19) {
            let last = !self.asks ? "f" : peer.role == .endpoint ? "r" : "q"
            return Reaction(isReady: frame.text(channel..<channel + 1) == last)
        }
        guard frame.hasPrefix(">3\r\n$7\r\nmessage\r\n"), let channel = frame.lineEnd(from: 17),
            let next = frame.lineEnd(from: channel), let payload = frame.lineEnd(from: next),
            let number = frame[payload...].firstIndex(of: 32).map({ $0 + 1 })
        else { throw .unexpected(frame.excerpt) }
        guard frame[channel] == UInt8(ascii: "q") else {
            return Reaction(answered: frame.decimal(at: number).value)
        }
        return Reaction(
            reply: Self.publishing(frame[payload..<number - 1], frame[payload..<frame.count - 2]))
    }

    func templates(of payload: Template, stream: Int) -> (sent: Template, received: Template) {
        let channel = "f\(stream)"
        let end = Array("\r\n".utf8)
        let tail = "$\(channel.utf8.count)\r\n\(channel)\r\n$\(payload.bytes.count)\r\n"
        return (
            payload.framed(by: Array("*3\r\n$7\r\nPUBLISH\r\n\(tail)".utf8), end),
            payload.framed(by: Array(">3\r\n$7\r\nmessage\r\n\(tail)".utf8), end)
        )
    }

    func request(_ number: Int, from peer: Peer) -> [UInt8] {
        Self.publishing("q\(peer.stream)".utf8, "r\(peer.number) \(RequestText.of(number, 42))".utf8)
    }

    private static func publishing(
        _ channel: some Collection<UInt8>, _ payload: some Collection<UInt8>
    ) -> [UInt8] {
        var bytes = Array("*3\r\n$7\r\nPUBLISH\r\n$\(channel.count)\r\n".utf8)
        bytes += channel
        bytes += Array("\r\n$\(payload.count)\r\n".utf8)
        bytes += payload
        return bytes + [13, 10]
    }

    private static func command(_ words: String...) -> [UInt8] {
        Array(words.reduce("*\(words.count)\r\n") { $0 + "$\($1.utf8.count)\r\n\($1)\r\n" }.utf8)
    }

    /// The end of the value at `start`; nil if it has not arrived yet.
    private func valueEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(LoadError) -> Int? {
        guard start < bytes.count, let line = bytes.lineEnd(from: start) else { return nil }
        let number = bytes.decimal(at: start + 1).value
        switch bytes[start] {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "_"): return line
        case UInt8(ascii: "$"): return line + number + 2 <= bytes.count ? line + number + 2 : nil
        case UInt8(ascii: "*"), UInt8(ascii: ">"), UInt8(ascii: "%"):
            var end = line
            for _ in 0..<(bytes[start] == UInt8(ascii: "%") ? 2 * number : number) {
                guard let next = try self.valueEnd(bytes, from: end) else { return nil }
                end = next
            }
            return end
        case _: throw .unexpected(bytes.excerpt)
        }
    }
}

/// MQTT 3.1.1 with quality of service 0.
struct MQTTDialect: Dialect {
    let asks: Bool

    func greeting(of peer: Peer) -> [UInt8] {
        let name = Self.string("bench\(peer.number)")
        // Version 4, a clean session, no keepalive.
        var bytes = Self.packet(0x10, Self.string("MQTT") + [4, 2, 0, 0] + name)
        if peer.role == .endpoint { bytes += Self.subscribe("f\(peer.stream)", isLast: !self.asks) }
        if self.asks {
            bytes += Self.subscribe(
                peer.role == .endpoint ? "r\(peer.number)" : "q\(peer.stream)", isLast: true)
        }
        return bytes
    }

    func frameLength(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> Int? {
        guard let (start, length) = Self.length(bytes) else { return nil }
        return bytes.count >= start + length ? start + length : nil
    }

    func take(_ frame: UnsafeRawBufferPointer, for peer: Peer) throws(LoadError) -> Reaction {
        guard let (start, _) = Self.length(frame) else { throw .unexpected(frame.excerpt) }
        switch frame[0] >> 4 {
        case 2:
            guard frame[start + 1] == 0 else { throw .unexpected("CONNACK \(frame[start + 1])") }
            return Reaction(isReady: peer.role == .publisher && !self.asks)
        case 9: return Reaction(isReady: frame[start + 1] == 2)
        case 3: break
        case _: throw .unexpected(frame.excerpt)
        }
        let payload = start + 2 + Int(frame.bigEndian(start, as: UInt16.self))
        guard let number = frame[payload...].firstIndex(of: 32).map({ $0 + 1 }) else {
            throw .unexpected(frame.excerpt)
        }
        guard frame[start + 2] == UInt8(ascii: "q") else {
            return Reaction(answered: frame.decimal(at: number).value)
        }
        let topic = [0, UInt8(number - 1 - payload)] + frame[payload..<number - 1]
        return Reaction(reply: Self.packet(0x30, topic + frame[payload...]))
    }

    func templates(of payload: Template, stream: Int) -> (sent: Template, received: Template) {
        let whole = Self.publish("f\(stream)", payload.bytes)
        let template = payload.framed(by: Array(whole.dropLast(payload.bytes.count)))
        return (template, template)
    }

    func request(_ number: Int, from peer: Peer) -> [UInt8] {
        Self.publish("q\(peer.stream)", Array("r\(peer.number) \(RequestText.of(number, 42))".utf8))
    }

    private static func publish(_ topic: String, _ payload: [UInt8]) -> [UInt8] {
        Self.packet(0x30, Self.string(topic) + payload)
    }

    /// A subscription; the last one has the packet number 2, by which its acknowledgement is recognised.
    private static func subscribe(_ topic: String, isLast: Bool) -> [UInt8] {
        Self.packet(0x82, [0, isLast ? 2 : 1] + Self.string(topic) + [0])
    }

    private static func string(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + text.utf8 }

    private static func packet(_ type: UInt8, _ rest: [UInt8]) -> [UInt8] {
        var bytes = [type]
        var length = rest.count
        repeat {
            bytes.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
            length >>= 7
        } while length > 0
        return bytes + rest
    }

    /// The start and the length of a packet's content.
    private static func length(_ bytes: UnsafeRawBufferPointer) -> (start: Int, length: Int)? {
        var length = 0
        for place in 1..<5 where place < bytes.count {
            length |= Int(bytes[place] & 0x7F) << (7 * (place - 1))
            if bytes[place] < 0x80 { return (place + 1, length) }
        }
        return nil
    }
}

enum RequestText {
    /// Eight digits, filled up to `count` characters.
    static func of(_ number: Int, _ count: Int) -> String {
        let digits = "\(number)"
        let head = String(repeating: "0", count: 8 - digits.utf8.count) + digits
        return head + String(repeating: ".", count: count - 8)
    }
}
