#if Inspector
    import Testing
    import WaymarkConfiguration
    import WaymarkExporter
    import WaymarkProtocol

    /// Peers that come, resume and are closed, and how they are counted.
    @Suite(.timeLimit(.minutes(10))) struct PeerCounterTests {
        @Test func `peers that resume are counted, also observers, and what they missed is no snapshot`()
            async throws
        {
            let gateway = try await Gateway.start()
            let reader = reader(of: gateway.address("o"))
            let endpoint = try RawPeer(gateway.path("v"))
            let endpointWelcome = try await endpoint.welcome(.endpoint("car"))
            let client = try RawPeer(gateway.path("n"))
            let clientWelcome = try await client.welcome(.client("app"))
            let observer = try RawPeer(gateway.path("o"))
            let observerWelcome = try await observer.welcome(.observer("watcher"))
            let session = try await client.openSession(["car"])
            try client.publish(.start, session, 1)
            try await endpoint.receive { if case .publication = $0 { true } else { false } }
            let before = try await reader.scrape()
            #expect(before["waymark_snapshots_total"] == 1 && before["waymark_resumptions_total"] == 0)

            endpoint.cut()
            observer.cut()
            _ = try await reader.scrape {
                $0["waymark_vehicles_connected"] == 0 && $0["waymark_peers_connected{role=\"observer\"}"] == 1
            }
            let endpointAgain = try RawPeer(gateway.path("v"))
            var hello = Hello.endpoint("car").resuming(endpointWelcome.resumptionToken)
            (hello.resumeSession, hello.resumeSequence) = (session, 1)
            #expect(try await endpointAgain.welcome(hello).isResumed)
            let begin = try await endpointAgain.first {
                if case .snapshotBegin(let begin) = $0 { begin } else { nil }
            }
            #expect(begin.kind == .missed)
            let observerAgain = try RawPeer(gateway.path("o"))
            let observerHello = Hello.observer("watcher").resuming(observerWelcome.resumptionToken)
            #expect(try await observerAgain.welcome(observerHello).isResumed)
            // It takes over the connection that it still has.
            let clientAgain = try RawPeer(gateway.path("n"))
            #expect(
                try await clientAgain.welcome(.client("app").resuming(clientWelcome.resumptionToken))
                    .isResumed)
            #expect(try await client.goodbye() == .takenOver)

            let metrics = try await reader.scrape()
            for (series, value) in [
                "waymark_resumptions_total": 3.0, "waymark_snapshots_total": 1,
                "waymark_peers_admitted_total{role=\"vehicle\"}": 2,
                "waymark_peers_admitted_total{role=\"navigation\"}": 2,
                // The reader is one of them.
                "waymark_peers_admitted_total{role=\"observer\"}": 3,
                "waymark_peers_closed_total{code=\"takenOver\"}": 1,
                "waymark_peers_connected{role=\"vehicle\"}": 1,
                "waymark_peers_connected{role=\"navigation\"}": 1,
                "waymark_peers_connected{role=\"observer\"}": 2,
            ] { #expect(metrics[series] == value, "\(series)") }
            await reader.close()
            await gateway.stop()
        }

        @Test func `the bytes of both directions are those that all peers sent and received`() async throws {
            let gateway = try await Gateway.start {
                // So few that no limit of the process lowers them.
                ($0.connectionsMax, $0.connectionsPerUserMax) = (100, 4)
            }
            let meter = try RawPeer(gateway.path("o"))
            _ = try await meter.welcome(.observer("meter"))
            let client = try RawPeer(gateway.path("n"))
            _ = try await client.welcome(.client("app"))
            let endpoint = try RawPeer(gateway.path("v"))
            _ = try await endpoint.welcome(.endpoint("car"))
            let session = try await client.openSession(["car"])
            try client.publish(.start, session, 1)
            for number in UInt64(2)...5 {
                try client.publish(.currentRoadName(["Road \(number)"]), session, number)
            }
            try await endpoint.receive {
                if case .publication(.currentRoadName(["Road 5"])) = $0 { true } else { false }
            }
            let namesake = try await Self.place(gateway, "n", meter)
            try namesake.send(.hello(.client("app")))
            let idInUse = try await namesake.receiveAll()
            namesake.cut()
            let noise = try await Self.place(gateway, "v", meter)
            try noise.send(Array(repeating: 0, count: 100))
            let badMagic = try await noise.receiveAll()
            noise.cut()
            let last = try await Self.place(gateway, "v", meter)
            _ = try await last.welcome(.endpoint("bus"))
            // All places are taken: it is refused before anything is read.
            let refused = try RawPeer(gateway.path("v"))
            let tooMany = try await refused.receiveAll()
            _ = try await endpoint.leave()
            _ = try await client.leave()
            for (messages, code) in [
                (idInUse, CloseCode.idInUse), (badMagic, .badMagic), (tooMany, .tooManyConnections),
            ] {
                guard case .goodbye(let goodbye)? = messages.last else {
                    Issue.record("\(messages)")
                    continue
                }
                #expect(goodbye.code == code)
            }
            // What the answer itself adds is sent after it was counted.
            let peers = [client, endpoint, namesake, noise, last, refused]
            let received = meter.receivedByteCount + peers.reduce(0) { $0 + $1.receivedByteCount }
            let metrics = try await meter.scrape().metrics
            let sent = meter.sentByteCount + peers.reduce(0) { $0 + $1.sentByteCount }
            #expect(metrics["waymark_sent_bytes_total"] == Double(received))
            #expect(metrics["waymark_received_bytes_total"] == Double(sent))
            await gateway.stop()
        }

        /// Connects when the gateway has noticed that the peer before is gone.
        private static func place(
            _ gateway: Gateway, _ socket: String, _ meter: RawPeer
        ) async throws -> RawPeer {
            while try await meter.scrape().metrics["waymark_connections"] != 3 {}
            return try RawPeer(gateway.path(socket))
        }
    }
#endif
