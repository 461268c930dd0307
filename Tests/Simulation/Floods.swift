internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

// An endpoint that sends without end while clients pause, in a part of the seeds.
extension SimulatedNetwork {
    /// A client that pauses for the whole run must get along with little room.
    static func limit(_ outbox: inout Outbox.Limits) {
        outbox.bytesMax = 65_536
        outbox.slowConsumerTimeout = .seconds(86_400)
    }

    /// The first endpoint says many things at once, and now and then all clients stop reading.
    mutating func flood() {
        if self.random.once(in: 8) {
            for app in self.apps {
                if let connection = app.connection { self.connections[connection]?.isStalled = true }
            }
        }
        guard let endpoint = self.endpoints.first, endpoint.isWelcome, let connection = endpoint.connection,
            self.host.inputCount(of: connection) < 8_192
        else { return }
        var messages: [Message] = []
        for _ in 0..<self.random.number(1...40) {
            switch self.random.number(0...(endpoint.mayRequest ? 5 : 1)) {
            case 0: messages.append(.zoomCluster(ZoomCluster(direction: .in)))
            case 1:
                var settings = VehicleSettings()
                settings.isReadyToShow = self.random.once(in: 2)
                settings.limitedUserInterfaces = UInt32(self.random.number(0...3))
                messages.append(.vehicleSettings(settings))
            case 2:
                let source: RouteSource = self.random.once(in: 2) ? .vehicle : .clientUnchanged
                messages.append(.updateRouteSource(UpdateRouteSource(routeSource: source)))
            case 3:
                let charge = UInt16(self.random.number(0...1_000))
                let feedback = RouteFeedback(
                    generation: UInt32(self.random.number(0...3)),
                    stops: [StopFeedback(arrivalBatteryPerMille: charge)])
                messages.append(.updateRouteFeedback(UpdateRouteFeedback(feedback)))
            default:
                self.floodCount += 1
                let id: Identifier = "flood-\(self.floodCount)"
                let place = RandomDrive.waypoint(&self.source.random)
                messages += [
                    self.random.once(in: 2)
                        ? .waypointRequest(WaypointRequest(requestID: id, waypoint: place))
                        : .destinationRequest(DestinationRequest(requestID: id, destination: place)),
                    .withdrawRequest(WithdrawRequest(requestID: id)),
                ]
            }
        }
        self.note { "\($0.name(connection)) floods with \(messages.count) messages" }
        self.connections[connection]?.peer?.noteSent()
        self.write(messages.flatMap { Array(Codec.encode(Envelope($0)).bytes) }, from: connection)
        if self.random.once(in: 2) { self.readAtGateway(connection, byteCount: .max) }
    }

    /// No client was closed because of what vehicles sent.
    mutating func checkSlowConsumers() {
        for id in self.inspector.takeSlowConsumers() where self.isFlooded {
            guard case .app = self.connections[id]?.owner else { continue }
            self.report(.floodsCostNothing, "\(self.name(id)) was closed because it paused")
        }
    }

    /// No more events of one endpoint wait for a client than its share.
    mutating func checkShare(of id: ConnectionID, _ core: LoopCore, _ slot: LoopCore.Slot) {
        guard case .app = self.connections[id]?.owner else { return }
        let count = core.waitingEventCount(of: slot)
        if count > self.outboxLimits.eventsPerEndpointMax {
            self.report(.floodsCostNothing, "\(count) events of an endpoint wait for \(self.name(id))")
        }
    }
}
