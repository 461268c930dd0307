import Foundation
import ListeningSockets
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkConfiguration
import WaymarkDaemon
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct EndToEndTests {
    @Test func `a cluster that joins in mid-drive holds what the first one holds`() async throws {
        let service = try await Service.start()
        let (first, early) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        for name in ["A", "B"] { try await session.setCurrentRoadName([name]) }
        try await session.publish(.currentRoadName(["C"]))
        try await session.setManeuverState(.prepare)
        await early.wait { $0.currentRoadName == ["C"] && $0.maneuverState == .prepare }
        let (second, late) = try await Witness.endpoint("hud", at: service.vehicle)
        let held = await early.state
        await late.wait { $0 == held }
        try await session.finish()
        for witness in [early, late] { await witness.wait { $0.phase == .ended(.finished) } }
        await client.close()
        await first.close()
        await second.close()
        await service.stop()
    }

    @Test func `both sides recover from lost connections`() async throws {
        let service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        for round in 1...20 {
            if round % 3 == 0 { await cluster.cut() }
            if round % 4 == 0 { await client.cut() }
            try await session.setCurrentRoadName(["road \(round)"])
        }
        await witness.wait { $0.currentRoadName == ["road 20"] }
        #expect(await witness.state.maneuvers == route.maneuvers)
        await client.close()
        await witness.wait { if case .ended = $0.phase { true } else { false } }
        await cluster.close()
        await service.stop()
    }

    @Test func `a new daemon on the same sockets gets everything back`() async throws {
        var service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        try await session.setCurrentRoadName(["before"])
        await witness.wait { $0.currentRoadName == ["before"] }
        await service.daemon.shutdown(reconnectAfter: .milliseconds(1))
        try await session.setManeuverState(.execute)
        service.daemon = try await Service.daemon(service.folder)
        await witness.wait {
            $0.currentRoadName == ["before"] && $0.maneuverState == .execute && $0.phase == .active
        }
        #expect(await witness.state.trip == trip)
        await client.close()
        await cluster.close()
        await service.stop()
    }

    @Test func `an extension reaches the endpoints that have it, and is answered`() async throws {
        let service = try await Service.start()
        let tyres = "org.example.tyres"
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        configuration.extensions = [tyres]
        let cluster = try await VehicleEndpoint.connect(to: service.vehicle, configuration)
        let (other, witness) = try await Witness.endpoint("other", at: service.vehicle)
        var app = NavigationClient.Configuration(id: "app")
        app.extensions = [tyres]
        let client = try await NavigationClient.connect(to: service.navigation, app)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        let events = await session.events
        try await session.start(trip, route: route)
        await #expect(throws: ClientError.self) {
            try await session.publishExtension("com.example.seats", [])
        }
        await #expect(throws: ClientError.self) {
            try await session.publishExtension(tyres, [], isRetained: true)
        }
        try await session.publishExtension(tyres, [1], key: 1, isRetained: true)
        try await session.setCurrentRoadName(["A"])
        let held = VehicleState.ExtensionState(name: tyres, key: 1, content: [1])
        for await state in await cluster.states where state.extensions == [held] { break }
        await witness.wait { $0.currentRoadName == ["A"] }
        #expect(await witness.state.extensions.isEmpty)
        await cluster.sendExtension(tyres, [2])
        for await case .extensionReceived(let vehicle, let endpoint, let name, let content) in events {
            #expect((vehicle, endpoint, name) == ("car", "cluster", tyres))
            #expect(content == [2])
            break
        }
        await client.close()
        await cluster.close()
        await other.close()
        await service.stop()
    }

    @Test func `requests have outcomes`() async throws {
        let service = try await Service.start()
        let (cluster, _) = try await Witness.endpoint("cluster", at: service.vehicle, prompts: true)
        #expect(await cluster.requestWaypoint(place) == .invalid)
        let client = try await navigation("app", at: service.navigation)
        #expect(await cluster.requestDestination(place) == .accepted)
        let (accepted, accept) = AsyncStream.makeStream(of: Void.self)
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in
                .estimates(TravelEstimates(distanceRemaining: .meters(1))) { accept.finish() }
            })
        try await session.start(trip, route: route)
        // Guidance may be on its way: not guided yet is a legal answer.
        var result = await cluster.requestWaypoint(place)
        while result == .invalid { result = await cluster.requestWaypoint(place) }
        #expect(result == .accepted)
        for await _ in accepted {}
        #expect(await cluster.cancelNavigation(.ownNavigationStarted) == .ownNavigationStarted)
        await #expect(
            throws: ClientError.vehicleRefused(
                vehicle: "car", .navigatesItself, reason: "car navigates by itself")
        ) {
            _ = try await client.openSession(vehicles: .vehicles(["car"]))
        }
        await client.close()
        await cluster.close()
        await service.stop()
    }

    @Test func `a refused session names the vehicle and its reason`() async throws {
        let service = try await Service.start()
        let client = try await navigation("first", at: service.navigation)
        _ = try await client.openSession(vehicles: .vehicles(["car", "bus"]))
        let second = try await navigation("second", at: service.navigation)
        let busy = ClientError.vehicleRefused(
            vehicle: "car", .busy, reason: "car is guided by another client")
        await #expect(throws: busy) { _ = try await second.openSession(vehicles: .vehicles(["car"])) }
        #expect("\(busy)" == "no vehicle takes the session: car is guided by another client")
        await #expect(
            throws: ClientError.vehicleRefused(
                vehicle: "bus", .busy,
                reason: "bus is guided by another client; car is guided by another client")
        ) {
            _ = try await second.openSession(vehicles: .vehicles(["bus", "car"]))
        }
        await client.close()
        await second.close()
        await service.stop()
    }

    @Test func `a route that is larger than a frame arrives whole`()
        async throws
    {
        let service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        let maneuvers = (1...2_500).map {
            Maneuver(
                id: ManeuverID(rawValue: $0), type: .leftTurn,
                instructionVariants: [String(repeating: "Turn left ", count: 45)])
        }
        try await session.start(trip, route: RouteInformation(maneuvers: maneuvers))
        await witness.wait { $0.maneuvers.count == 2_500 }
        #expect(await witness.state.maneuvers == maneuvers)
        await client.close()
        await cluster.close()
        await service.stop()
    }

    @Test func `a vehicle connects over TCP, and leaves with its Goodbye`() async throws {
        let service = try await Service.start()
        guard case .tcp(let host, let port) = service.daemon.addresses[2] else {
            Issue.record("\(service.daemon.addresses)")
            return
        }
        let (cluster, witness) = try await Witness.endpoint("cluster", at: .tcp(host: host, port: port))
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        await witness.wait { $0.trip == trip }
        let events = await session.events
        // Said right before closing, and said all the same.
        await cluster.setRouteSource(.clientUnchanged)
        await cluster.close()
        var heard: [SessionEvent] = []
        for await event in events {
            heard.append(event)
            if case .vehicleChanged("car", .awaited, _) = event { break }
        }
        #expect(heard.contains(.routeSource(vehicle: "car", .clientUnchanged)))
        await client.close()
        await service.stop()
    }

    @Test func `a shared destination returns each vehicle's answer`() async throws {
        let service = try await Service.start()
        var taker = VehicleEndpoint.Configuration(vehicle: "taker", endpoint: "cluster")
        taker.onDestination = { $0 == place }
        let cluster = try await VehicleEndpoint.connect(to: service.vehicle, taker)
        var decliner = VehicleEndpoint.Configuration(vehicle: "decliner", endpoint: "cluster")
        decliner.onDestination = { _ in false }
        let other = try await VehicleEndpoint.connect(to: service.vehicle, decliner)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["taker", "decliner", "absent"]))
        try await session.start(trip, route: route)
        let results = try await session.share(place, shareID: "1")
        #expect(results == ["taker": .accepted, "decliner": .declinedByUser, "absent": .gone])
        var closed = trip
        closed.isDestinationShareable = false
        try await session.updateTrip(closed)
        await #expect(throws: ClientError.self) { try await session.share(place, shareID: "2") }
        await client.close()
        await cluster.close()
        await other.close()
        await service.stop()
    }

    @Test func `a vehicle wants the destination of a preview, and later says how far it gets`() async throws {
        let service = try await Service.start()
        let witness = Witness()
        var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        configuration.onDestination = { _ in true }
        configuration.onEveryUpdate = { await witness.record($0) }
        let cluster = try await VehicleEndpoint.connect(to: service.vehicle, configuration)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        let events = await session.events
        try await session.showPreviews([trip], selected: trip.id)
        await witness.wait { $0.previews == [trip] }
        await cluster.wantDestination(ofTrip: trip.id)
        let feedback = RouteFeedback(
            generation: 1, stops: [StopFeedback(arrivalBatteryPerMille: 420, reachability: .reachable)])
        var heard: [SessionEvent] = []
        loop: for await event in events {
            heard.append(event)
            switch event {
            case .destinationWanted:
                try await session.start(trip, route: route)
                await witness.wait { $0.trip == trip }
                await cluster.setRouteFeedback(feedback)
            case .routeFeedback: break loop
            default: break
            }
        }
        #expect(heard.contains(.destinationWanted(vehicle: "car", endpoint: "cluster", trip: trip.id)))
        #expect(heard.last == .routeFeedback(vehicle: "car", feedback))
        await client.close()
        await cluster.close()
        await service.stop()
    }

    @Test func `settings, standings and the end by the vehicle arrive as events`() async throws {
        let service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let settings = DisplaySettings(
            compass: .enabled, speedLimit: .userPreference, contentStyle: .dark,
            limitedUserInterfaces: [.keyboard], isReadyToShow: true)
        await cluster.update(settings)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        let events = await session.events
        try await session.start(trip, route: route)
        await witness.wait { $0.trip == trip }
        #expect(await cluster.cancelNavigation(.userStopped) == .userStopped)
        var seen: [SessionEvent] = []
        for await event in events { seen.append(event) }
        #expect(seen.contains(.settings(vehicle: "car", endpoint: "cluster", settings)))
        #expect(
            seen.contains {
                guard case .vehicleChanged("car", .joined, let endpoints) = $0 else { return false }
                return endpoints.first?.isReady == true
            })
        #expect(seen.last == .ended(reason: .userStopped))
        await client.close()
        await cluster.close()
        await service.stop()
    }

    @Test func `a waypoint request can be withdrawn while the client thinks`() async throws {
        let service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (answered, answer) = AsyncStream.makeStream(of: Void.self)
        let session = try await client.openSession(
            vehicles: .vehicles(["car"]),
            onWaypoint: { _, _ in
                ask.finish()
                for await _ in answered {}
                return .decline(.busy)
            })
        try await session.start(trip, route: route)
        await witness.wait { $0.trip == trip }
        async let result = cluster.requestWaypoint(place, requestID: "w")
        for await _ in asked {}
        await cluster.withdrawRequest("w")
        #expect(await result == .withdrawn)
        answer.finish()
        await client.close()
        await cluster.close()
        await service.stop()
    }

    @Test func `a publication right before closing still arrives`() async throws {
        let service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        try await session.finish()
        await client.close()
        await witness.wait { $0.phase == .ended(.finished) }
        await cluster.close()
        await service.stop()
    }

    @Test func `garbage on every listener does not disturb other connections`() async throws {
        let service = try await Service.start()
        let (cluster, witness) = try await Witness.endpoint("cluster", at: service.vehicle)
        let client = try await navigation("app", at: service.navigation)
        let session = try await client.openSession(vehicles: .vehicles(["car"]))
        try await session.start(trip, route: route)
        var generator = SystemRandomNumberGenerator()
        let hello = Codec.encode(
            Envelope(
                .hello(
                    Hello(
                        role: .vehicle(
                            VehicleHello(
                                vehicle: VehicleID(unchecked: "x"), endpoint: EndpointName(unchecked: "y"),
                                features: []))))))
        for round in 0..<300 {
            var bytes = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if round % 2 == 0 {
                bytes = Array(hello.bytes) + bytes
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                    in: 0...255, using: &generator)
            }
            let address = service.daemon.addresses[round % 3]
            let channel =
                switch address {
                case .unix(let path):
                    try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
                        unixDomainSocketPath: path
                    ).get()
                case .tcp(let host, let port):
                    try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
                        host: host, port: port
                    ).get()
                }
            do {
                try await channel.writeAndFlush(ByteBuffer(bytes: bytes))
                try await channel.close()
            } catch { /* The daemon was faster to close. */  }
        }
        try await session.setCurrentRoadName(["still here"])
        await witness.wait { $0.currentRoadName == ["still here"] }
        await client.close()
        await cluster.close()
        await service.stop()
    }

    @Test func `a second daemon on the same socket says so, and a stale file is replaced`() async throws {
        let service = try await Service.start()
        await #expect(throws: DaemonError.listener(.inUse(.unix(path: "\(service.folder)/v")))) {
            _ = try await Service.daemon(service.folder)
        }
        await service.daemon.shutdown()
        // What a killed daemon leaves behind: a bound socket without a listener.
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = "\(service.folder)/v"
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, UInt32(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        close(descriptor)
        var again = service
        again.daemon = try await Service.daemon(service.folder)
        await again.stop()
    }

    @Test func `listeners that are open to others need a key or a word`() async throws {
        for address in ["tcp:0.0.0.0:0", "tcp:[::]:0"] {
            await #expect(throws: DaemonError.self) {
                _ = try await Service.daemon("/nonexistent") {
                    $0.listeners = [.init(address: address, roles: [.vehicle])]
                }
            }
        }
    }
}
