import Testing
import WaymarkProtocol

@testable import WaymarkCodec
@testable import WaymarkGateway

/// Protos/vectors/frames.jsonl: what the gateway does with bytes, before it looks at any session.
@Suite struct FrameVectorTests {
    struct FrameVector: Decodable {
        let name: String
        let state: String
        let frame_bytes_max: UInt32
        let hex: String
        let outcome: String
        let code: String?
        let field: String?
        let header: JSON?
        let message: String?
        let json: JSON?
    }

    private static let now = Instant(nanoseconds: 0)

    /// The gateway's end of a connection in a state.
    private static func session(_ state: String) throws -> AcceptingSession {
        var actions: [AcceptingSession.Action] = []
        var session = AcceptingSession(
            limits: .init(), allowedRoles: [.vehicle, .navigation, .observer], at: Self.now, into: &actions)
        let role: Hello.Role
        switch state {
        case "client": role = .navigation(NavigationHello(client: ClientID(unchecked: "c"), features: []))
        case "endpoint":
            role = .vehicle(
                VehicleHello(
                    vehicle: VehicleID(unchecked: "v"), endpoint: EndpointName(unchecked: "e"), features: []))
        case "observer": role = .observer(ObserverHello(observer: ObserverName(unchecked: "o")))
        default: return session
        }
        session.handle(.received(.hello(Hello(role: role))), at: Self.now, into: &actions)
        let welcome = Welcome(resumptionToken: ResumptionToken(high: 1, low: 2))
        session.handle(.admitted(welcome), at: Self.now, into: &actions)
        try #require(session.state == .active)
        return session
    }

    /// What is done with the bytes: the outcome, and the code and the field if there are any.
    private static func outcome(_ vector: FrameVector) throws -> (outcome: [String], frame: Frame?) {
        var session = try Self.session(vector.state)
        #expect(session.receiveFrameBytesMax == vector.frame_bytes_max, "\(vector.name)")
        var splitter = FrameSplitter(frameBytesMax: session.receiveFrameBytesMax)
        splitter.append(try Vector.bytes(vector.hex))
        do throws(FramingError) {
            guard let frame = try splitter.next() else { return (["incomplete"], nil) }
            return (Self.outcome(BodyDecoder().read(frame, on: &session), &session, frame), frame)
        } catch {
            return (Self.closed(by: .violated(error), &session), nil)
        }
    }

    private static func outcome(
        _ received: ReceivedFrame, _ session: inout AcceptingSession, _ frame: Frame
    ) -> [String] {
        switch received {
        case .forConnection, .forGateway, .request: return ["message"]
        case .skipped: return ["ignored"]
        case .closing(let goodbye): return ["closed", CodeName.of(goodbye.code)]
        case .rejected(let rejection):
            guard session.state == .active else { return Self.closed(by: .rejected(rejection), &session) }
            return Self.rejected(rejection)
        case .publication(let outline):
            do throws(Rejection) {
                let permission = GatewaySession.Permission(
                    features: FeatureSet(Feature.allCases),
                    extensions: [
                        ExtensionName(unchecked: "a.b"), ExtensionName(unchecked: "org.example.tyres"),
                    ])
                try GatewaySession.checkPermission(for: frame.header, outline, by: permission)
            } catch { return Self.rejected(error) }
            return [outline.type == nil ? "extension" : "message"]
        }
    }

    private static func rejected(_ rejection: Rejection) -> [String] {
        ["rejected", CodeName.of(rejection.code), rejection.field]
    }

    private static func closed(
        by event: AcceptingSession.Event, _ session: inout AcceptingSession
    ) -> [String] {
        var actions: [AcceptingSession.Action] = []
        session.handle(event, at: Self.now, into: &actions)
        for case .send(.goodbye(let goodbye)) in actions { return ["closed", CodeName.of(goodbye.code)] }
        return ["nothing"]
    }

    private static func json(_ header: FrameHeader) -> JSON {
        .object([
            "flags": .number(Double(header.flags.rawValue)), "type": .number(Double(header.rawType)),
            "key": .number(Double(header.key)), "length": .number(Double(header.bodyLength)),
            "session_id": .number(Double(header.session.rawValue)), "sequence": .text("\(header.sequence)"),
        ])
    }

    @Test func `the gateway does with each frame what the vectors say`() throws {
        let vectors = try Vector.read("frames.jsonl", as: FrameVector.self)
        #expect(vectors.count > 400)
        var wrong: [String] = []
        for vector in vectors {
            let (outcome, frame) = try Self.outcome(vector)
            let expected = [vector.outcome] + [vector.code, vector.field].compactMap { $0 }
            if outcome != expected { wrong.append("\(vector.name): \(outcome), not \(expected)") }
            guard let frame, let header = vector.header else { continue }
            if Self.json(frame.header) != header { wrong.append("\(vector.name): \(frame.header)") }
            guard let json = vector.json, let type = frame.header.type else { continue }
            let read = try WireJSON.read(Array(frame.body), type.descriptor).json
            if read != json { wrong.append("\(vector.name): \(read), not \(json)") }
        }
        #expect(wrong.isEmpty, "\(wrong.count):\n\(wrong.prefix(40).joined(separator: "\n"))")
    }
}
