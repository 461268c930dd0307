package import WaymarkConnections
package import WaymarkGateway
package import WaymarkProtocol

/// Watches and disturbs a ``GatewayHost`` and its gateway, for the random simulation.
package protocol HostTap: GatewayTap {
    /// Something happens at the gateway's end of a connection.
    func see(_ event: HostEvent, of id: ConnectionID)
    /// Decides how many of the bytes that a loop sends a socket with `room` takes, and how many it says that it has taken.
    func accept(_ byteCount: Int, room: Int, on id: ConnectionID) -> (taken: Int, told: Int)
    /// Decides what becomes of a portion that the channel was given.
    func write(on id: ConnectionID, isPeerGone: Bool) -> HostWrite
    /// Bytes that follow the last ones of a connection that the gateway's end closes.
    var bytesBehindGoodbye: [UInt8] { get }
}

/// Something that a ``HostTap`` sees.
package enum HostEvent {
    /// A loop hands in a batch of events.
    case submitting
    /// A batch was processed, on the gateway's own loop.
    case processed
    /// A large audience is sent what the connection published.
    case held
    case noted(LoopCore.Note)
    /// The peer has closed, and all that it sent was read.
    case ended(isInMidFrame: Bool)
    /// The gateway's end is removed.
    case removed
}

/// The fate of a portion, which a ``HostTap`` decides.
package enum HostWrite {
    /// It waits for room.
    case waits
    /// The channel says at once that the socket has it.
    case done
    /// It fails. Like NIO: the channel reads the remaining input and closes before the write returns.
    case fails
}
