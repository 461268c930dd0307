package import WaymarkProtocol

/// A frame that a peer sent to the gateway, after all checks that depend neither on the gateway nor on earlier frames.
package enum ReceivedFrame: Sendable, Hashable {
    /// For ``AcceptingSession/Event/received(_:)``.
    case forConnection(Message)
    case forGateway(Message, SessionID)
    case request(ReceivedRequest, SessionID)
    case publication(PublicationOutline)
    /// Its body is refused.
    case rejected(Rejection)
    /// Skipped.
    case skipped
    /// The connection must be closed.
    indirect case closing(Goodbye)
}

extension BodyDecoder {
    /// Checks a received frame: first its header against the state and the role, then its body.
    package func read(_ frame: Frame, on session: inout AcceptingSession) -> ReceivedFrame {
        do throws(DecodingError) {
            switch session.receive(frame.header) {
            case .readForConnection:
                // Anything else may be new in a Hello of a later version.
                if frame.header.type == .hello, let versions = Self.versions(ofHello: frame),
                    let refusal = AcceptingSession.refusal(of: versions)
                {
                    return .closing(refusal)
                }
                return .forConnection(try self.decode(frame).message)
            case .readForGateway(let type) where type.isVehicleRequest:
                return .request(try self.request(of: frame), frame.header.session)
            case .readForGateway: return .forGateway(try self.decode(frame).message, frame.header.session)
            case .readPublication: return .publication(try self.outline(of: frame))
            case .skip: return .skipped
            case .close(let goodbye): return .closing(goodbye)
            }
        } catch {
            switch error {
            case .rejected(let rejection):
                if frame.header.type == .hello, rejection.code == .outOfRange, rejection.field == "role" {
                    return .closing(Goodbye(.roleNotAllowed, reason: "this gateway does not know the role"))
                }
                return .rejected(rejection)
            case .unknownType: return .skipped  // The session lets none through that is not skippable.
            }
        }
    }

    private static func versions(ofHello frame: Frame) -> ClosedRange<UInt32>? {
        unsafe frame.body.span.bytes.withUnsafeBytes { unsafe WireCheck.versions(ofHello: $0) }
    }
}
