#if Inspector
    import NIOCore
    import NIOPosix
    import Testing
    import WaymarkClient
    import WaymarkCodec
    import WaymarkExporter
    import WaymarkModel
    import WaymarkProtocol

    /// A peer that reads when the test says so.
    private struct SlowPeer {
        let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

        init(_ path: String) async throws {
            self.channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(unixDomainSocketPath: path) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                    }
                }
        }

        /// Says Hello, waits for the Welcome, reads nothing while `body` runs, and then everything until `isEnough` holds.
        func run<Result: Sendable>(
            _ hello: Hello, while body: () async throws -> Result,
            until isEnough: (Result, [Message]) -> Bool
        ) async throws -> (result: Result, received: [Message]) {
            try await self.channel.executeThenClose { inbound, outbound in
                var reader = inbound.makeAsyncIterator()
                var splitter = FrameSplitter(frameBytesMax: ProtocolConstants.frameBytes.upperBound)
                var received: [Message] = []
                try await outbound.write(ByteBuffer(bytes: Codec.encode(Envelope(.hello(hello))).bytes))
                var result: Result?
                while result.map({ !isEnough($0, received) }) ?? true {
                    if result == nil, !received.isEmpty { result = try await body() }
                    let buffer = try #require(try await reader.next(), "the gateway closed the connection")
                    splitter.append(Array(buffer.readableBytesView))
                    while let frame = try splitter.next() { received.append(try Codec.decode(frame).message) }
                }
                return (try #require(result), received)
            }
        }
    }

    @Suite(.timeLimit(.minutes(10))) struct SlowPeersTests {
        /// Four KiB, so that a socket is soon full.
        private static let variants = [String](
            repeating: String(repeating: "long name ", count: 50), count: 7)

        private struct Told {
            /// The last name, and how many were published: the library leaves out those that wait when a newer one comes.
            var last = ""
            var published = 0
            var conflated = 0
        }

        /// Publishes road names until some were conflated.
        private func publish(to session: NavigationSession, _ reader: CounterReader) async throws -> Told {
            var (told, number) = (Told(), 0)
            while told.conflated < 10 {
                for _ in 1...100 {
                    number += 1
                    told.last = "Road \(number)"
                    try await session.setCurrentRoadName([told.last] + Self.variants)
                }
                try await session.whenAccepted()
                let metrics = try await reader.scrape()
                told.conflated = Int(try #require(metrics["waymark_states_conflated_total"]))
                told.published = Int(
                    try #require(metrics["waymark_publications_total{type=\"currentRoadName\"}"]))
            }
            return told
        }

        @Test func `each state that a newer one replaced is counted`() async throws {
            let gateway = try await Gateway.start()
            let reader = reader(of: gateway.address("o"))
            let client = try await NavigationClient.connect(to: gateway.address("n"), .init(id: "app"))
            let session = try await client.openSession(vehicles: .vehicles(["car"]))
            let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: ["Here"])
            try await session.start(Trip(id: "t", origin: place, destination: place), route: .init())
            try await session.whenAccepted()
            let hello = VehicleHello(
                vehicle: VehicleID(unchecked: "car"), endpoint: EndpointName(unchecked: "slow"),
                features: Set(Feature.allCases))
            let (told, received) = try await SlowPeer(gateway.path("v")).run(Hello(role: .vehicle(hello))) {
                try await self.publish(to: session, reader)
            } until: { told, received in
                Self.roads(received).last == told.last
            }
            #expect(told.conflated == told.published - Self.roads(received).count)
            await client.close()
            await reader.close()
            await gateway.stop()
        }

        private static func roads(_ messages: [Message]) -> [String] {
            messages.compactMap {
                if case .publication(.plain(.currentRoadName(let names))) = $0 { names.first } else { nil }
            }
        }
    }
#endif
