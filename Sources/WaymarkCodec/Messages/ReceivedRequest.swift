package import WaymarkModel
package import WaymarkProtocol

// Requests of vehicles, which are forwarded to a client in the received bytes.

extension MessageType {
    /// Whether it is a ``ReceivedRequest`` to the gateway.
    package var isVehicleRequest: Bool { self.vehicleField != nil }

    /// The field of a vehicle's request in which its client is told whose it is; nil for other types.
    var vehicleField: Int? {
        switch self {
        case .waypointRequest: FieldNumber.WaypointRequest.vehicleId
        case .destinationRequest: FieldNumber.DestinationRequest.vehicleId
        case .startTripRequest: FieldNumber.StartTripRequest.vehicleId
        case _: nil
        }
    }
}

extension ReceivedRequest {
    /// What the gateway must know of a request's body, once ``WireCheck`` passed it.
    init(_ type: MessageType, _ body: WireMessage, _ frame: Frame) {
        let kind: Kind =
            switch type {
            case .waypointRequest: .waypoint(segment: body.identifier(FieldNumber.WaypointRequest.segmentId))
            case .startTripRequest:
                .trip(
                    body.identifier(FieldNumber.StartTripRequest.tripId),
                    routeChoice: body.number(FieldNumber.StartTripRequest.routeChoiceId).given)
            case _: .destination
            }
        self.init(requestID: body.identifier(FieldNumber.WaypointRequest.requestId), kind: kind, frame: frame)
    }

    /// A vehicle's request, written anew without the vehicle's name; nil for other messages.
    package init?(_ message: Message) {
        switch message {
        case .waypointRequest(var request):
            request.vehicle = nil
            self.init(
                requestID: request.requestID, kind: .waypoint(segment: request.segment),
                frame: Codec.encode(Envelope(.waypointRequest(request))))
        case .destinationRequest(var request):
            request.vehicle = nil
            self.init(
                requestID: request.requestID, kind: .destination,
                frame: Codec.encode(Envelope(.destinationRequest(request))))
        case .startTripRequest(var request):
            request.vehicle = nil
            self.init(
                requestID: request.requestID, kind: .trip(request.trip, routeChoice: request.routeChoice),
                frame: Codec.encode(Envelope(.startTripRequest(request))))
        case _: return nil
        }
    }
}

extension Codec {
    /// The frame of a request as a client gets it: as it came, and whose it is behind that.
    package static func frame(
        of request: ReceivedRequest, from vehicle: VehicleID, session: SessionID
    ) -> Frame {
        let body = request.frame.body
        let header = FrameHeader(type: request.type.rawValue, session: session)
        var writer = FrameWriter(header, bodyByteCount: body.count + vehicle.rawValue.utf8.count + 2)
        writer.fields(body)
        if let field = request.type.vehicleField { writer.text(field, vehicle.rawValue) }
        return writer.frame()
    }

    /// The place that a request asks for; nil if it asks for none, or if its frame was not checked before.
    package static func waypoint(of request: ReceivedRequest) -> Waypoint? {
        do throws(DecodingError) {
            switch try self.decode(request.frame).message {
            case .waypointRequest(let request): return request.waypoint
            case .destinationRequest(let request): return request.destination
            case _: return nil
            }
        } catch { return nil }  // The reader of the connection has told the sender.
    }
}
