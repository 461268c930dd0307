import GatewayInMemory
import Testing
import WaymarkCodec
import WaymarkConnections
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// An endpoint that sends without end, beside a client that pauses and guides another owner's vehicle, too.
@Suite struct FloodTests {
    enum Flood: CaseIterable {
        case zooms, settings, readiness, routeSources, requests
    }

    private static let start = Instant(nanoseconds: 0)
    private static let messageCount = 4_000

    /// The client that both vehicles share, and the vehicles.
    private struct World {
        var host: GatewayHost
        var flooder: HostPeer
        var other: HostPeer
        var client: HostPeer
        let session: SessionID
        var observer: HostPeer?

        /// `loop`: of the client. The gateway, and both vehicles, are on the first one.
        init(
            loop: Int = 0, portionBytes: Int = 32_768, budgets: GatewayHost.Budgets = .init(),
            isObserved: Bool = false
        ) throws {
            let start = FloodTests.start
            // Less than a flood has, so that a client for which all of it waited would be closed.
            var outbox = Outbox.Limits()
            outbox.bytesMax = 262_144
            var host = GatewayHost(
                outbox: outbox, tokenSeed: 1, loopCount: 2, portionBytes: portionBytes, budgets: budgets)
            if isObserved {
                let hello = Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "o"))))
                let observer = try HostPeer(&host, hello, at: start)
                var observe = Observe()
                observe.wantsEvents = true
                observer.send(.observe(observe), to: &host)
                host.settle(at: start)
                self.observer = observer
            }
            self.flooder = try HostPeer(&host, HostPeer.vehicle("flooder"), at: start)
            self.other = try HostPeer(&host, HostPeer.vehicle("other"), at: start)
            var client = try HostPeer(&host, to: loop, HostPeer.client("app"), at: start)
            let vehicles = ["flooder", "other"].map { VehicleID(unchecked: $0) }
            client.send(
                .openSession(OpenSession(requestID: "open", vehicles: .vehicles(vehicles))), to: &host)
            host.settle(at: start)
            try client.read(&host, at: start)
            self.session =
                client.messages.compactMap {
                    if case .sessionOpened(let opened) = $0 { opened.session } else { nil }
                }.first ?? .none
            client.publish(
                .startGuidance(HostDrive.trip, generation: 1, .init()), in: self.session, to: &host)
            host.settle(at: start)
            try client.read(&host, at: start)
            // The frames that the client does not read wait in its outbox.
            host.setSocketBytes(1_024, of: client.id)
            (self.host, self.client) = (host, client)
        }

        /// The endpoint sends much, and reads what it is told.
        mutating func flood(_ flood: Flood, count: Int = FloodTests.messageCount) throws {
            for number in 0..<count {
                let isEven = number.isMultiple(of: 2)
                switch flood {
                case .zooms: self.flooder.send(.zoomCluster(ZoomCluster(direction: .in)), to: &self.host)
                case .settings:
                    var settings = VehicleSettings()
                    if isEven { settings.contentStyle = .dark } else { settings.compass = .enabled }
                    if number % 4 > 1 { settings.limitedUserInterfaces = UInt32(number) }
                    self.flooder.send(.vehicleSettings(settings), to: &self.host)
                case .readiness:
                    var settings = VehicleSettings()
                    settings.isReadyToShow = isEven
                    self.flooder.send(.vehicleSettings(settings), to: &self.host)
                case .routeSources:
                    let source = UpdateRouteSource(routeSource: isEven ? .vehicle : .clientUnchanged)
                    self.flooder.send(.updateRouteSource(source), to: &self.host)
                case .requests:
                    let id: Identifier = "r\(number)"
                    let request = WaypointRequest(requestID: id, waypoint: HostDrive.trip.destination)
                    self.flooder.send(.waypointRequest(request), to: &self.host)
                    self.flooder.send(.withdrawRequest(WithdrawRequest(requestID: id)), to: &self.host)
                }
                if number % 256 == 255 {
                    self.host.settle(at: FloodTests.start)
                    try self.flooder.read(&self.host, at: FloodTests.start)
                }
            }
            self.host.settle(at: FloodTests.start)
            try self.flooder.read(&self.host, at: FloodTests.start)
        }

        /// The bytes that wait for the client, as an outbox counts them.
        var waitingByteCount: Int {
            self.host.place(of: self.client.id).map {
                self.host.loops[$0.loop].core.waitingByteCount(of: $0.slot)
            } ?? 0
        }

        /// Publishes a road name, and reads it in the other vehicle.
        mutating func guide(_ name: String) throws {
            self.client.publish(.currentRoadName([name]), in: self.session, to: &self.host)
            self.host.settle(at: FloodTests.start)
            try self.other.read(&self.host, at: FloodTests.start)
            #expect(self.other.publications.last == .currentRoadName([name]))
        }

        /// What the client gets, once it reads on, that it had not got before.
        mutating func rest() throws -> [Message] {
            let count = self.client.received.count
            try self.client.read(&self.host, at: FloodTests.start)
            return Array(self.client.messages.dropFirst(count))
        }
    }

    private static func rejections(_ peer: HostPeer) -> [Rejection] {
        peer.messages.compactMap { if case .error(let rejection) = $0 { rejection } else { nil } }
    }

    @Test(arguments: Flood.allCases, [0, 1])
    func `an endpoint that floods costs its client's other vehicles nothing`(
        _ flood: Flood, _ loop: Int
    ) throws {
        var world = try World(loop: loop)
        try world.flood(flood)
        // At most a share, the requests that may be open with their outcomes, and a few states.
        #expect(world.waitingByteCount < 16_384)
        #expect(world.host.connections.contains(world.client.id))
        try world.guide("Main street")
        try world.flood(flood)
        try world.guide("High street")
        let rest = try world.rest()
        #expect(world.client.goodbye == nil && world.flooder.goodbye == nil)
        // What was written before the socket was full, and what waited.
        #expect(rest.count < 1_500)
        let settings = rest.compactMap {
            if case .vehicleSettings(let settings) = $0 { settings } else { nil }
        }
        switch flood {
        case .zooms:
            let rejections = Self.rejections(world.flooder)
            let arrived = rest.count { $0.type == .zoomCluster }
            #expect(arrived >= 16 && arrived < 1_500)
            #expect(arrived + rejections.count == 2 * Self.messageCount)
            #expect(
                rejections.allSatisfy {
                    $0.code == .limitReached && $0.messageType == MessageType.zoomCluster.rawValue
                        && $0.session == world.session
                })
        case .settings:
            // Nothing of what changed last is lost, though each message has only some of the fields.
            let last = try #require(settings.last)
            #expect(last.contentStyle == .dark && last.compass == .enabled)
            #expect(last.limitedUserInterfaces == UInt32(Self.messageCount - 1))
        case .readiness:
            #expect(settings.last?.isReadyToShow == false)
            let last = rest.compactMap { if case .vehicleChanged(let status) = $0 { status } else { nil } }
                .last
            #expect(last?.endpoints.first?.isReady == false)
        case .routeSources:
            let last = rest.compactMap { if case .updateRouteSource(let update) = $0 { update } else { nil } }
                .last
            #expect(last?.routeSource == .clientUnchanged)
        case .requests:
            // The client is told the end of what it was asked, and is asked nothing that is over.
            let asked = rest.compactMap { message -> Identifier? in
                if case .waypointRequest(let request) = message { request.requestID } else { nil }
            }
            let ended = rest.compactMap { message -> Identifier? in
                if case .requestOutcome(let outcome) = message { outcome.requestID } else { nil }
            }
            #expect(asked == ended && !asked.isEmpty)
        }
        // There is room again.
        let rejectedCount = Self.rejections(world.flooder).count
        world.flooder.send(.zoomCluster(ZoomCluster(direction: .out)), to: &world.host)
        world.host.settle(at: Self.start)
        #expect(try world.rest().map(\.type) == [.zoomCluster])
        try world.flooder.read(&world.host, at: Self.start)
        #expect(Self.rejections(world.flooder).count == rejectedCount)
    }

    @Test func `every rejected event is told with the smallest budgets, too`() throws {
        var budgets = GatewayHost.Budgets()
        (budgets.gateway.turn, budgets.gateway.run, budgets.gateway.frames) = (1, 1, 1)
        (budgets.loop.turn, budgets.loop.round, budgets.loop.deadlines) = (1, 1, 1)
        budgets.loop.submitted = 10
        budgets.stepUnitsMax = 1
        var world = try World(loop: 1, budgets: budgets)
        try world.flood(.zooms, count: 500)
        try world.guide("Main street")
        let arrived = try world.rest().count { $0.type == .zoomCluster }
        #expect(arrived + Self.rejections(world.flooder).count == 500)
        #expect(!Self.rejections(world.flooder).isEmpty)
    }

    @Test func `after a handover the shares are what they were, and states still replace each other`() throws
    {
        // So that hardly anything leaves the outbox while the client does not read.
        var world = try World(portionBytes: 64)
        try world.flood(.settings, count: 100)
        try world.flood(.zooms, count: 200)
        let waiting = world.waitingByteCount
        let before = Self.rejections(world.flooder).count
        #expect(before > 100)
        for id in world.host.connections {
            world.host.suspend(id, at: Self.start)
            world.host.pump(id, ignoringRoom: true, at: Self.start)
        }
        try world.host.handOver(at: Self.start)
        world.host.settle(at: Self.start)
        // The settings have left it.
        #expect(world.waitingByteCount > waiting - 512)
        try world.flood(.zooms, count: 10)
        #expect(Self.rejections(world.flooder).count == before + 10)
        try world.flood(.settings, count: 1_000)
        #expect(world.waitingByteCount < waiting + 512)
        try world.guide("Main street")
        #expect(try world.rest().count { $0.type == .zoomCluster } == 200 - before)
    }

    @Test func `observers are told of each rejected event`() throws {
        var world = try World(isObserved: true)
        try world.flood(.zooms, count: 500)
        var observer = try #require(world.observer)
        // Observers are told at intervals.
        var now = Self.start
        while let deadline = world.host.deadline, deadline <= Self.start + .seconds(2) {
            now = max(now, deadline)
            world.host.deadlineReached(at: now)
            world.host.settle(at: now)
            try observer.read(&world.host, at: now)
        }
        let told = observer.messages.compactMap { message -> ObservedEvent? in
            if case .observedEvent(let event) = message, event.kind == ObservedEvent(.rejected).kind {
                event
            } else {
                nil
            }
        }
        let rejections = Self.rejections(world.flooder)
        #expect(told.count == rejections.count && !told.isEmpty)
        #expect(told.allSatisfy { $0.code == ErrorCode.limitReached.rawValue })
        #expect(told.allSatisfy { $0.vehicles == [VehicleID(unchecked: "flooder")] })
    }
}
