/// A request of a vehicle as it was read: what the gateway must know of it, and its frame,
/// which is forwarded to a client.
package struct ReceivedRequest: Sendable, Hashable, Codable {
    package enum Kind: Sendable, Hashable, Codable {
        /// To be inserted into this segment; empty: the client chooses.
        case waypoint(segment: Identifier)
        case destination
        /// A trip of the previews. No choice: the trip's selected one, or its first.
        case trip(Identifier, routeChoice: UInt32?)
    }

    package let requestID: Identifier
    package let kind: Kind
    /// The codec has checked it. It names no vehicle, and has no field that this build does not know.
    package let frame: Frame

    package init(requestID: Identifier, kind: Kind, frame: Frame) {
        self.requestID = requestID
        self.kind = kind
        self.frame = frame
    }

    /// The type of its message.
    package var type: MessageType {
        switch self.kind {
        case .waypoint: .waypointRequest
        case .destination: .destinationRequest
        case .trip: .startTripRequest
        }
    }
}
