#if Inspector
    import Foundation
    import HTTPTypes
    import Hummingbird
    import Logging
    import NIOCore
    import NIOPosix
    import Testing
    import WaymarkClient
    import WaymarkConfiguration
    import WaymarkDaemon
    import WaymarkExporter
    import WaymarkModel
    import WaymarkProtocol
    import ListeningSockets
    import WaymarkWeb
    import WebClient

    /// A daemon on sockets of its own.
    struct Gateway {
        let folder: String
        let daemon: Daemon

        static func start(
            in folder: String? = nil, _ change: (inout Settings) -> Void = { _ in }
        ) async throws -> Gateway {
            let folder =
                folder ?? FileManager.default.temporaryDirectory.path + "/x-\(UInt32.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            var settings = Settings()
            settings.listeners = [
                Settings.Listener(address: "unix:\(folder)/v", roles: [.vehicle]),
                Settings.Listener(address: "unix:\(folder)/n", roles: [.navigation]),
                Settings.Listener(address: "unix:\(folder)/o", roles: [.observer]),
            ]
            settings.connection.keepalive = .seconds(600)
            settings.connection.handshakeTimeout = .seconds(600)
            settings.drainTimeout = .seconds(2)
            change(&settings)
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            return Gateway(folder: folder, daemon: try await Daemon.start(settings, logger: logger))
        }

        func path(_ socket: String) -> String { "\(self.folder)/\(socket)" }

        func address(_ socket: String) -> ServiceAddress { .unix(path: self.path(socket)) }

        func stop() async { await self.daemon.shutdown(reconnectAfter: .milliseconds(1)) }
    }

    /// Asks each time: nothing is used again.
    func reader(
        of address: ServiceAddress, tell: @escaping @Sendable (String?) -> Void = { _ in }
    ) -> CounterReader {
        var times = CounterReader.Times()
        (times.reuse, times.answer) = (.zero, .seconds(300))
        var configuration = Observer.Configuration(id: "exporter")
        configuration.reconnection = ReconnectionPolicy(
            firstDelay: .milliseconds(5), delayMax: .milliseconds(50), firstAttemptsMax: 1)
        return CounterReader(of: address, configuration, times, tell: tell)
    }

    extension CounterReader {
        func scrape() async throws -> ParsedMetrics {
            let text = MetricFormat.openMetrics.text(GatewayMetrics.families(of: await self.read()))
            return try ParsedMetrics(text, .openMetrics)
        }

        /// Asks until the gateway has noticed what the test did, as a peer that was cut.
        func scrape(until isNoticed: (ParsedMetrics) -> Bool) async throws -> ParsedMetrics {
            var metrics = try await self.scrape()
            while !isNoticed(metrics) { metrics = try await self.scrape() }
            return metrics
        }
    }

    private func client(_ reading: GatewayReading?) throws -> RouteClient {
        // A Unix socket's Host is `localhost`, as the client sends it.
        let check = RequestCheck(try LoopbackAddress("unix:/run/x.sock"), names: [], needsOrigin: false)
        return RouteClient(CheckedResponder(MetricsResponder { reading }, check))
    }

    private func scrape(_ host: String) -> String {
        "GET /metrics HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
    }

    @Suite(.timeLimit(.minutes(10))) struct MetricsServerTests {
        @Test func `the format is the one that was asked for`() async throws {
            let client = try client(reading([]))
            for format in MetricFormat.allCases {
                let accept = format == .text ? "*/*" : "application/openmetrics-text;version=1.0.0"
                let response = try await client.execute(
                    uri: "/metrics", method: .get, headers: [.accept: accept])
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == format.contentType)
                #expect(response.headers[.vary] == "Accept")
                let metrics = try ParsedMetrics(String(buffer: response.body), format)
                #expect(metrics["waymark_up"] == 1)
            }
        }

        @Test func `only GET and HEAD of two paths are answered`() async throws {
            let client = try client(nil)
            for path in ["/metrics/", "/metric", "/api", "/../etc/passwd", "//metrics", "/METRICS"] {
                let response = try await client.execute(uri: path, method: .get)
                #expect(response.status == .notFound, "\(path)")
            }
            for method in [HTTPRequest.Method.post, .put, .delete, .options, .patch, .trace] {
                let response = try await client.execute(uri: "/metrics", method: method)
                #expect(response.status == .methodNotAllowed, "\(method)")
                #expect(response.headers[.allow] == "GET, HEAD")
            }
            let head = try await client.execute(uri: "/metrics?name=x", method: .head)
            #expect(head.status == .ok && head.body.readableBytes == 0)
            #expect(try await client.execute(uri: "/", method: .get).status == .ok)
        }

        @Test func `every value is right after a load whose numbers are known`() async throws {
            let gateway = try await Gateway.start()
            let reader = reader(of: gateway.address("o"))
            var endpoints: [VehicleEndpoint] = []
            for name in ["cluster", "hud"] {
                endpoints.append(
                    try await VehicleEndpoint.connect(
                        to: gateway.address("v"), .init(vehicle: "car", endpoint: name)))
            }
            let client = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "app"))
            let session = try await client.openSession(vehicles: .vehicles(["car"]))
            let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])
            try await session.start(Trip(id: "t", origin: place, destination: place), route: .init())
            // One after the other: the library publishes only the newest of several that wait.
            for number in 1...5 {
                try await session.setCurrentRoadName(["Road \(number)"])
                try await session.whenAccepted()
            }
            let metrics = try await reader.scrape()
            for (series, value) in [
                "waymark_publications_total{type=\"currentRoadName\"}": 5.0,
                "waymark_publications_total{type=\"startGuidance\"}": 1,
                "waymark_deliveries_total{type=\"currentRoadName\"}": 10,
                "waymark_deliveries_total{type=\"startGuidance\"}": 2,
                "waymark_sessions{phase=\"active\"}": 1,
                "waymark_sessions_opened_total": 1, "waymark_vehicles_connected": 1,
                "waymark_peers_connected{role=\"vehicle\"}": 2,
                "waymark_peers_connected{role=\"navigation\"}": 1,
                "waymark_peers_connected{role=\"observer\"}": 1,
                "waymark_peers_admitted_total{role=\"vehicle\"}": 2, "waymark_connections": 4,
                "waymark_connections_accepted_total": 4, "waymark_snapshots_total": 2, "waymark_up": 1,
            ] { #expect(metrics[series] == value, "\(series)") }
            try await session.finish()
            await client.close()
            for endpoint in endpoints { await endpoint.close() }
            let later = try await reader.scrape()
            #expect(later["waymark_sessions_ended_total{reason=\"finished\"}"] == 1)
            #expect(later["waymark_sessions{phase=\"active\"}"] == 0)
            await reader.close()
            await gateway.stop()
        }

        @Test func `requests are counted by outcome, with their times`() async throws {
            let gateway = try await Gateway.start()
            let reader = reader(of: gateway.address("o"))
            var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
            configuration.onPrompt = { prompt in prompt.waypoint.nameVariants == ["Yes"] }
            let cluster = try await VehicleEndpoint.connect(to: gateway.address("v"), configuration)
            func stop(_ name: String) async -> RequestResult {
                await cluster.requestWaypoint(
                    Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: [name]))
            }
            #expect(await stop("before guidance") == .invalid)
            let client = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "app"))
            let session = try await client.openSession(
                vehicles: .vehicles(["car"]),
                onWaypoint: { inquiry, _ in
                    inquiry.waypoint.nameVariants == ["Far"]
                        ? .decline(.tooLarge)
                        : .estimates(TravelEstimates(distanceRemaining: .meters(1))) {}
                })
            let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])
            try await session.start(Trip(id: "t", origin: place, destination: place), route: .init())
            try await session.whenAccepted()
            #expect(await stop("Yes") == .accepted)
            for _ in 1...2 { #expect(await stop("No") == .declinedByUser) }
            for _ in 1...3 { #expect(await stop("Far") == .tooLarge) }
            let metrics = try await reader.scrape()
            for (series, value) in [
                "waymark_requests_ended_total{outcome=\"invalid\"}": 1.0,
                "waymark_requests_ended_total{outcome=\"accepted\"}": 1,
                "waymark_requests_ended_total{outcome=\"declinedByUser\"}": 2,
                "waymark_requests_ended_total{outcome=\"tooLarge\"}": 3, "waymark_requests_total": 7,
                "waymark_requests_ended_total{outcome=\"timedOut\"}": 0, "waymark_requests_open": 0,
                "waymark_request_duration_seconds_count": 7,
                "waymark_request_duration_seconds_bucket{le=\"+Inf\"}": 7,
            ] { #expect(metrics[series] == value, "\(series)") }
            await client.close()
            await cluster.close()
            await reader.close()
            await gateway.stop()
        }

        @Test func `withheld features and refused peers are counted by reason`() async throws {
            let gateway = try await Gateway.start()
            let reader = reader(of: gateway.address("o"))
            let before = try await reader.scrape()
            let refused = "waymark_peers_refused_total{code=\"idInUse\"}"
            let withheld = "waymark_features_withheld_total{reason=\"notRequested\"}"
            #expect(before[refused] == 0 && before[withheld] == 0)
            let first = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "first"))
            for _ in 1...2 {
                await #expect(throws: ClientError.self) {
                    _ = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "first"))
                }
            }
            await first.close()
            // The gateway's end of a connection refuses these by itself.
            let misplaced = "waymark_peers_refused_total{code=\"roleNotAllowed\"}"
            #expect(before[misplaced] == 0)
            for _ in 1...3 {
                await #expect(throws: ClientError.self) {
                    _ = try await NavigationClient.connect(to: gateway.address("v"), .init(id: "first"))
                }
            }
            func withheldCount(without features: Set<GuidanceFeature>) async throws -> Double {
                let before = try #require(try await reader.scrape()[withheld])
                var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
                configuration.withoutFeatures = features
                let endpoint = try await VehicleEndpoint.connect(to: gateway.address("v"), configuration)
                let client = try await NavigationClient.connect(
                    to: gateway.address("n"), .init(id: "app"))
                let session = try await client.openSession(vehicles: .vehicles(["car"]))
                let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])
                try await session.start(Trip(id: "t", origin: place, destination: place), route: .init())
                try await session.whenAccepted()
                let after = try #require(try await reader.scrape()[withheld])
                await client.close()
                await endpoint.close()
                return after - before
            }
            let fewest = try await withheldCount(without: [])
            #expect(try await withheldCount(without: [.laneGuidance]) == fewest + 1)
            #expect(try await withheldCount(without: [.laneGuidance, .routeSegments]) == fewest + 2)
            let after = try await reader.scrape()
            #expect(after[refused] == 2 && after[misplaced] == 3)
            await reader.close()
            await gateway.stop()
        }

        @Test func `without a gateway a scrape says so, and a gateway that comes is found`() async throws {
            let (troubles, trouble) = AsyncStream.makeStream(of: String?.self)
            var changes = troubles.makeAsyncIterator()
            let folder = FileManager.default.temporaryDirectory.path + "/x-\(UInt32.random(in: 0 ... .max))"
            let reader = reader(of: .unix(path: "\(folder)/o")) { trouble.yield($0) }
            #expect(await reader.read() == nil)
            #expect(await reader.read() == nil)
            #expect(try #require(await changes.next())?.contains("\(folder)/o") == true)
            let gateway = try await Gateway.start(in: folder)
            #expect(await reader.read()?.counters[.observersConnected] == 1)
            #expect(try #require(await changes.next()) == nil)
            await gateway.stop()
            let next = try await Gateway.start(in: folder)
            // It is connected again by itself; its counters begin again.
            #expect(await reader.read()?.counters[.peersAdmitted] == 1)
            await reader.close()
            await next.stop()
        }

        @Test func `what was read a moment ago is used again, with its age`() async throws {
            let gateway = try await Gateway.start()
            var times = CounterReader.Times()
            (times.reuse, times.answer) = (.seconds(3_600), .seconds(300))
            let reader = CounterReader(of: gateway.address("o"), .init(id: "exporter"), times)
            let first = try #require(await reader.read())
            let second = try #require(await reader.read())
            #expect(first.age == .zero && second.age > .zero)
            #expect(first.counters == second.counters)
            await reader.close()
            await gateway.stop()
        }

        @Test func `a gateway that refuses the observer is not asked again for ten minutes`() async throws {
            let gateway = try await Gateway.start()
            let misplaced = reader(of: gateway.address("v"))
            for _ in 1...3 { #expect(await misplaced.read() == nil) }
            let other = reader(of: gateway.address("o"))
            let counters = try #require(await other.read()?.counters)
            #expect(counters[.peersRefused] == 1)
            await misplaced.close()
            await other.close()
            await gateway.stop()
        }

        @Test func `that a gateway did not answer is used again, too`() async throws {
            let folder = FileManager.default.temporaryDirectory.path + "/x-\(UInt32.random(in: 0 ... .max))"
            var times = CounterReader.Times()
            times.reuse = .seconds(3_600)
            var configuration = Observer.Configuration(id: "exporter")
            configuration.reconnection = ReconnectionPolicy(
                firstDelay: .milliseconds(5), delayMax: .milliseconds(50), firstAttemptsMax: 1)
            let patient = CounterReader(of: .unix(path: "\(folder)/o"), configuration, times)
            #expect(await patient.read() == nil)
            let gateway = try await Gateway.start(in: folder)
            #expect(await patient.read() == nil)
            let eager = reader(of: gateway.address("o"))
            // Only this one has connected.
            #expect(await eager.read()?.counters[.peersAdmitted] == 1)
            await patient.close()
            await eager.close()
            await gateway.stop()
        }

        @Test func `a gateway that does not answer counts as gone`() async throws {
            let path = FileManager.default.temporaryDirectory.path + "/x-\(UInt32.random(in: 0 ... .max))"
            let (descriptor, file) = try await SocketFile.listen(at: path, SocketPermissions())
            defer { close(descriptor) }
            var times = CounterReader.Times()
            times.answer = .milliseconds(50)
            let reader = CounterReader(of: .unix(path: path), .init(id: "exporter"), times)
            await withTaskGroup(of: GatewayReading?.self) { group in
                for _ in 0..<20 { group.addTask { await reader.read() } }
                for await reading in group { #expect(reading == nil) }
            }
            await reader.close()
            await file.remove()
        }

        @Test func `a server answers at its address and says where it is`() async throws {
            let reader = reader(of: .unix(path: "/nonexistent/socket"))
            let server = try await MetricsServer.open(LoopbackAddress("127.0.0.1:0"), reader)
            #expect(MetricsServer.location(of: server).hasSuffix("/metrics"))
            let running = Task { await server.run() }
            guard case .tcp(_, let port) = server.address.address else { return }
            let client = try WebClient(of: server)
            for name in ["127.0.0.1", "localhost"] {
                let answer = try await client.exchange(scrape("\(name):\(port)"))
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("waymark_up 0\n"))
            }
            let foreign = try await client.exchange(scrape("gateway.example:\(port)"))
            #expect(foreign.hasPrefix("HTTP/1.1 421 "))
            await server.close()
            await running.value
            await reader.close()
        }

        @Test func `a scrape is served although silent connections had all places`() async throws {
            let reader = reader(of: .unix(path: "/nonexistent/socket"))
            let server = try await MetricsServer.open(LoopbackAddress("127.0.0.1:0"), reader)
            let running = Task { await server.run() }
            guard case .tcp(let host, let port) = server.address.address else { return }
            let client = try WebClient(of: server)
            let silent = try await client.silentConnections(64)
            #expect(try await client.exchange(scrape("\(host):\(port)")).hasPrefix("HTTP/1.1 200 "))
            for channel in silent { channel.close(promise: nil) }
            await server.close()
            await running.value
            await reader.close()
        }
    }
#endif
