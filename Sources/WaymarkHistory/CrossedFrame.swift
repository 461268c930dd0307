package import WaymarkClient
internal import WaymarkCodec
package import WaymarkProtocol

/// The way of a frame between a peer and the gateway.
package enum Way: Sendable, Hashable, CaseIterable {
    case toGateway, toPeer
}

/// A frame that crossed a connection, or that a fault kept from it.
package struct CrossedFrame: Sendable, Hashable {
    /// What became of a frame on its way.
    package enum Delivery: Sendable, Hashable {
        /// It reached its receiver as it was sent.
        case whole
        /// It reached its receiver, and was not as it was sent.
        case corrupted
        /// A fault kept it back.
        case dropped
    }

    package let peer: PeerID
    package let way: Way
    package let frame: Frame
    package let delivery: Delivery
    /// When it was sent; the entry has the instant at which it reached its receiver.
    package let sent: Instant
    /// What it says; nil if this build does not know the type, or refuses the body.
    package let message: Message?
    /// Why its body was refused.
    package let rejection: Rejection?

    /// Decodes the frame.
    package init(
        _ frame: Frame, of peer: PeerID, _ way: Way, sent: Instant, delivery: Delivery = .whole
    ) {
        (self.peer, self.way, self.frame) = (peer, way, frame)
        (self.delivery, self.sent) = (delivery, sent)
        do throws(DecodingError) {
            self.message = try Codec.decode(frame).message
            self.rejection = nil
        } catch {
            self.message = nil
            if case .rejected(let rejection) = error {
                self.rejection = rejection
            } else {
                self.rejection = nil
            }
        }
    }

    /// A frame of which nothing is known but its header.
    init(unread frame: Frame, of peer: PeerID, _ way: Way, sent: Instant, delivery: Delivery) {
        (self.peer, self.way, self.frame) = (peer, way, frame)
        (self.delivery, self.sent) = (delivery, sent)
        (self.message, self.rejection) = (nil, nil)
    }

    /// The message with what its header says.
    package var envelope: Envelope? {
        self.message.map { message in
            let header = self.frame.header
            return Envelope(
                message, session: header.session, sequence: header.sequence, flags: header.flags)
        }
    }
}

extension CrossedFrame {
    /// A frame that an observer was told. It has decoded it already.
    package init(_ observed: ObservedFrame, of peer: PeerID, _ way: Way, at instant: Instant) {
        (self.peer, self.way, self.sent, self.delivery) = (peer, way, instant, .whole)
        self.frame = Frame(header: FrameHeader(at: 0, of: observed.bytes), bytes: observed.bytes[...])
        (self.message, self.rejection) = (observed.message, nil)
    }
}
