internal import WaymarkCodec
package import WaymarkProtocol

/// A frame that crossed between a gateway and its peers.
public struct ObservedFrame: Sendable, Hashable {
    /// The direction of a frame, with its peers.
    public enum Way: Sendable, Hashable {
        /// The frame went to the gateway, from this peer: `VEHICLE/ENDPOINT` or a client.
        case from(String)
        /// The frame went from the gateway, to these peers.
        case to([String])
    }

    /// The direction of the frame, with its peers.
    public let way: Way
    /// The message's name in the protocol, e.g. `updateTripEstimates`; of one that this build does not know, its type, e.g.
    /// `0x0142`.
    public let name: String
    /// The session's id on the wire; 0 for none.
    public let session: UInt32
    /// The publication's number; 0 if it is no publication.
    public let sequence: UInt64
    /// The gateway cut the content to the limits of its receivers.
    public let isFitted: Bool
    /// It is a part of what the client published, and more parts with the same number follow.
    public let hasMore: Bool
    /// The gateway added it to the session.
    public let isFromGateway: Bool
    /// Places, texts and unknown fields were removed, because of the listener's settings, or because a vehicle's owner or a trip
    /// does not share them.
    public let isRedacted: Bool
    /// The gateway rejected it; the next frame to the peer says why.
    public let isRejected: Bool
    /// Header and body, as they crossed, or as redacted.
    public let bytes: [UInt8]
    /// The content of a publication, or of another message to an endpoint; ``VehicleUpdate/Content/other`` for other messages.
    public let content: VehicleUpdate.Content
    /// The message; nil for one that this build cannot read.
    package let message: Message?
    /// nil for one that this build does not know.
    package let type: MessageType?
    /// The vehicles of its session.
    package let vehicles: Set<VehicleID>

    init(_ frame: Frame, _ way: Way, to vehicles: Set<VehicleID>, isRedacted: Bool, isRejected: Bool) {
        self.vehicles = vehicles
        self.way = way
        let header = frame.header
        self.type = header.type
        self.name = header.type.map { "\($0)" } ?? Self.unknownName(header.rawType)
        self.session = header.session.rawValue
        self.sequence = header.sequence
        self.isFitted = header.flags.contains(.fitted)
        self.hasMore = header.flags.contains(.more)
        self.isFromGateway = header.flags.contains(.gateway)
        self.isRedacted = isRedacted
        self.isRejected = isRejected
        self.bytes = Array(frame.bytes)
        do throws(DecodingError) {
            let message = try Codec.decode(frame).message
            self.message = message
            self.content = VehicleUpdate.Content(message)
        } catch {
            (self.message, self.content) = (nil, .other)
        }
    }

    private static func unknownName(_ type: UInt16) -> String {
        let digits = String(type, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
