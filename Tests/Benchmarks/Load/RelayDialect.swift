import WaymarkProtocol

/// The dialect of waymark-relay: Waymark's frames, of which the relay reads only length, type and session.
struct RelayDialect: Dialect {
    private let payload: Payload

    init(_ plan: Plan) { self.payload = plan.payload }

    func greeting(of peer: Peer) -> [UInt8] {
        self.frame(.hello, session: peer.stream, body: [peer.role == .publisher ? 2 : 1])
    }

    func frameLength(_ bytes: UnsafeRawBufferPointer) throws(LoadError) -> Int? {
        guard bytes.count >= FrameHeader.byteCount else { return nil }
        guard bytes.hasPrefix("WM\u{1}") else { throw .unexpected("not a frame: \(bytes.excerpt)") }
        return FrameHeader.byteCount + Int(bytes.bigEndian(8, as: UInt32.self))
    }

    func take(_ frame: UnsafeRawBufferPointer, for peer: Peer) throws(LoadError) -> Reaction {
        switch MessageType(rawValue: frame.bigEndian(4)) {
        case .welcome: return Reaction(isReady: true)
        case .waypointRequest:
            // The session id identifies the endpoint: it is sent back unchanged.
            var answer = Array(frame)
            answer[5] = UInt8(truncatingIfNeeded: MessageType.requestAnswer.rawValue)
            return Reaction(reply: answer)
        case .requestAnswer: return Reaction(answered: Int(frame.bigEndian(24, as: UInt64.self)))
        case _: throw .unexpected("a frame that differs from the published ones")
        }
    }

    func templates(of payload: Template, stream: Int) -> (sent: Template, received: Template) {
        var template = payload.framed(
            by: Array(
                self.frame(self.payload.type, session: stream, body: payload.bytes)
                    .prefix(FrameHeader.byteCount)))
        template.patches.append(.sequence(16, first: 1))
        return (template, template)
    }

    func request(_ number: Int, from peer: Peer) -> [UInt8] {
        let number = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
        return self.frame(.waypointRequest, session: 0, body: number + [UInt8](repeating: 0, count: 34))
    }

    private func frame(_ type: MessageType, session: Int, body: [UInt8]) -> [UInt8] {
        Array(
            Frame(header: FrameHeader(type: type.rawValue, session: SessionID(UInt32(session))), body: body)
                .bytes)
    }
}
