extension MessageType {
    /// Type numbers of what clients publish, known to this build or not.
    package static let published: ClosedRange<UInt16> = 0x0100...0x01FF

    /// Which peer may send a message to the gateway.
    enum Sender: Sendable, Hashable {
        /// A peer that has just connected.
        case newcomer
        /// Every role.
        case peer
        case client
        /// A client; the message is a publication.
        case publisher
        case endpoint
        case observer
        /// Both ask a client to simulate a drive.
        case endpointOrObserver
        /// Only the gateway sends it.
        case gateway
    }
}
