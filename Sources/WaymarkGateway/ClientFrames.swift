internal import WaymarkModel
internal import WaymarkProtocol

// Messages to clients, also to those that take small frames.
extension Gateway {
    /// Sends a client a message, in as many frames as it needs.
    func send(
        _ envelope: Envelope, to client: ClientID, on connection: ConnectionID, into actions: inout [Action]
    ) {
        guard envelope.message.isDivisible, let size = self.frameBytesMax(of: client) else {
            return actions.append(.send(connection, envelope))
        }
        for part in envelope.divided(frameBytesMax: size, encode: self.coder.encode) {
            actions.append(.send(connection, part))
        }
    }

    /// Forwards a vehicle's request to a client: without texts and details if its frame would be too long.
    func forward(
        _ request: ReceivedRequest, of vehicle: VehicleID, in session: SessionID, to client: ClientID,
        on connection: ConnectionID, into actions: inout [Action]
    ) {
        // Why the length first: nearly all requests are short, and need no look at the client.
        let byteCount = request.frame.bytes.count + Self.vehicleFieldByteCountMax
        guard byteCount > Int(ProtocolConstants.frameBytes.lowerBound),
            let size = self.frameBytesMax(of: client), byteCount > size,
            let waypoint = self.coder.waypoint(request)
        else { return actions.append(.forward(connection, request, vehicle, session)) }
        let envelope = SizeLadder.fit(waypoint, size, self.coder, session: session) { waypoint in
            if case .waypoint(let segment) = request.kind {
                return .waypointRequest(
                    WaypointRequest(
                        requestID: request.requestID, waypoint: waypoint, segment: segment, vehicle: vehicle))
            }
            return .destinationRequest(
                DestinationRequest(requestID: request.requestID, destination: waypoint, vehicle: vehicle))
        }
        actions.append(.send(connection, envelope))
    }

    /// The id of a vehicle in front of which its tag and length are: what the gateway adds to a request.
    private static let vehicleFieldByteCountMax = ProtocolConstants.nameBytesMax + 2

    /// The largest frame that a client takes; nil: any.
    private func frameBytesMax(of client: ClientID) -> Int? {
        guard let size = self.clients[client]?.hello.receiveFrameBytesMax, size > 0 else { return nil }
        return Int(size)
    }
}
