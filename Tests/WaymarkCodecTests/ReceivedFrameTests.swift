import Testing
import WaymarkCodec
import WaymarkProtocol

/// What the transport and the simulation do with a frame, before any gateway sees it.
@Suite struct ReceivedFrameTests {
    private static func session() -> AcceptingSession {
        var actions: [AcceptingSession.Action] = []
        return AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle, .navigation], at: Instant(nanoseconds: 0),
            into: &actions)
    }

    @Test(arguments: [UInt16(0x00EE), 0x01FE, 0x0EEE])
    func `before the Hello an unknown type closes the connection, skippable or not`(_ type: UInt16) {
        let codes = [FrameHeader.Flags.skippable, []].map { flags -> CloseCode? in
            var session = Self.session()
            let frame = Frame(header: FrameHeader(type: type, flags: flags), body: [])
            guard case .closing(let goodbye) = BodyDecoder().read(frame, on: &session) else { return nil }
            return goodbye.code
        }
        #expect(codes == [.unexpectedMessage, .unknownMessageType])
    }

    @Test func `a body is not looked at if its type may not come`() {
        var session = Self.session()
        let frame = Frame(header: FrameHeader(type: MessageType.openSession.rawValue), body: [0xFF])
        guard case .closing(let goodbye) = BodyDecoder().read(frame, on: &session) else {
            Issue.record("read")
            return
        }
        #expect(goodbye.code == .unexpectedMessage)
    }
}
