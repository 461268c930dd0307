#if Inspector
    import Testing
    import WaymarkCodec
    import WaymarkExporter
    import WaymarkModel
    import WaymarkProtocol

    /// What sessions do, what their requests take, and what is kept of them.
    @Suite(.timeLimit(.minutes(10))) struct SessionCounterTests {
        private let gateway: Gateway
        private let reader: CounterReader
        private let client: RawPeer
        private let endpoint: RawPeer

        init() async throws {
            self.gateway = try await Gateway.start()
            self.reader = WaymarkExporterTests.reader(of: self.gateway.address("o"))
            self.client = try RawPeer(self.gateway.path("n"))
            _ = try await self.client.welcome(.client("app"))
            self.endpoint = try RawPeer(self.gateway.path("v"))
            _ = try await self.endpoint.welcome(.endpoint("car"))
        }

        private func stop() async {
            await self.reader.close()
            await self.gateway.stop()
        }

        /// Publishes, and waits until the endpoint has received it.
        private func publish(_ publication: Publication, _ session: SessionID, _ sequence: UInt64)
            async throws
        {
            try self.client.publish(publication, session, sequence)
            try await self.endpoint.receive {
                if case .publication(let received) = $0 { received.type == publication.type } else { false }
            }
        }

        @Test func `sessions are counted by phase, and by the reason of their end`() async throws {
            func phases() async throws -> [Double?] {
                let metrics = try await self.reader.scrape()
                return ["preview", "active", "paused"].map { metrics["waymark_sessions{phase=\"\($0)\"}"] }
            }
            let session = try await self.client.openSession(["car"])
            #expect(try await phases() == [1, 0, 0])
            try await self.publish(.start, session, 1)
            #expect(try await phases() == [0, 1, 0])
            try await self.publish(.pauseGuidance(.loading, description: []), session, 2)
            #expect(try await phases() == [0, 0, 1])
            try await self.publish(.cancelGuidance, session, 3)
            #expect(try await phases() == [0, 0, 0])
            // It comes back without its token, and has lost its session.
            _ = try await self.client.openSession(["car"])
            self.client.cut()
            _ = try await self.reader.scrape { $0["waymark_peers_connected{role=\"navigation\"}"] == 0 }
            let again = try RawPeer(self.gateway.path("n"))
            #expect(try await again.welcome(.client("app")).isResumed == false)
            let metrics = try await self.reader.scrape()
            for (series, value) in [
                "waymark_sessions_opened_total": 2.0,
                "waymark_sessions_ended_total{reason=\"cancelledByClient\"}": 1,
                "waymark_sessions_ended_total{reason=\"clientGone\"}": 1,
                "waymark_sessions_ended_total{reason=\"finished\"}": 0,
            ] { #expect(metrics[series] == value, "\(series)") }
            await self.stop()
        }

        @Test func `a request is open until its outcome, and its time is counted once`() async throws {
            let session = try await self.client.openSession(["car"])
            try await self.publish(.start, session, 1)
            let place = Waypoint(
                center: Coordinate(latitude: 47, longitude: 9),
                nameVariants: [String(repeating: "N", count: 500)])
            let message = Message.waypointRequest(WaypointRequest(requestID: "w", waypoint: place))
            let frame = Codec.encode(Envelope(message, session: session))
            let began = ContinuousClock.now
            try self.endpoint.send(frame.bytes)
            try await self.client.receive { if case .waypointRequest = $0 { true } else { false } }
            let open = try await self.reader.scrape()
            #expect(open["waymark_requests_open"] == 1 && open["waymark_requests_total"] == 1)
            #expect(open["waymark_memory_bytes{ledger=\"requests\"}"] == Double(frame.bytes.count))
            #expect(open["waymark_request_duration_seconds_count"] == 0)
            let car = VehicleID(unchecked: "car")
            try self.client.send(
                .requestAnswer(RequestAnswer(requestID: "w", vehicle: car, answer: .decline(.busy))))
            try await self.endpoint.receive { if case .requestOutcome = $0 { true } else { false } }
            let longest = Double((ContinuousClock.now - began) / .seconds(1))
            let metrics = try await self.reader.scrape()
            for (series, value) in [
                "waymark_requests_open": 0.0, "waymark_requests_total": 1,
                "waymark_requests_ended_total{outcome=\"busy\"}": 1,
                "waymark_request_duration_seconds_count": 1,
                "waymark_request_duration_seconds_bucket{le=\"+Inf\"}": 1,
                "waymark_memory_bytes{ledger=\"requests\"}": 0,
            ] { #expect(metrics[series] == value, "\(series)") }
            let sum = try #require(metrics["waymark_request_duration_seconds_sum"])
            #expect(sum > 0 && sum <= longest)
            for bound in ["0.01", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0", "15.0"] {
                let count = metrics["waymark_request_duration_seconds_bucket{le=\"\(bound)\"}"]
                #expect(count == (sum <= Double(bound) ?? 0 ? 1 : 0), "\(bound)")
            }
            await self.stop()
        }

        @Test func `what sessions and unfinished frames keep is in its ledger, and given back`() async throws
        {
            func ledgers() async throws -> [Double?] {
                let metrics = try await self.reader.scrape()
                return ["retained", "replay", "waiting", "input", "observation"].map {
                    metrics["waymark_memory_bytes{ledger=\"\($0)\"}"]
                }
            }
            #expect(try await ledgers() == [0, 0, 0, 0, 0])
            let session = try await self.client.openSession(["car"])
            try await self.publish(.start, session, 1)
            let before = try await ledgers()
            // One more retained frame, and one more for those who resume. Each frame counts as 128 bytes more.
            let name = Message.publication(.currentRoadName(["Road"]))
            let byteCount = Codec.encode(Envelope(name, session: session, sequence: 2)).bytes.count
            try await self.publish(.currentRoadName(["Road"]), session, 2)
            let after = try await ledgers()
            #expect(try #require(after[0]) - #require(before[0]) == Double(byteCount + 128))
            #expect(try #require(after[1]) - #require(before[1]) == Double(byteCount + 128))
            #expect(after[2...].allSatisfy { $0 == 0 })
            try await self.publish(.finishGuidance, session, 3)
            #expect(try await ledgers() == [0, 0, 0, 0, 0])
            let long = Codec.encode(
                Envelope(
                    .publication(
                        .currentRoadName([String](repeating: String(repeating: "n", count: 500), count: 100))),
                    session: session, sequence: 4)
            ).bytes
            try self.client.send(long.dropLast())
            let metrics = try await self.reader.scrape {
                $0["waymark_memory_bytes{ledger=\"input\"}"].map { $0 > 0 } == true
                    && $0["waymark_received_bytes_total"].map { $0 > Double(long.count) } == true
            }
            #expect(metrics["waymark_memory_bytes{ledger=\"input\"}"].map { $0 > 0 } == true)
            self.client.cut()
            _ = try await self.reader.scrape { $0["waymark_memory_bytes{ledger=\"input\"}"] == 0 }
            await self.stop()
        }

        @Test func `the gateway is named, with its age and the time that its event loops took`() async throws
        {
            let started = ContinuousClock.now
            let metrics = try await self.reader.scrape()
            let took = Double((ContinuousClock.now - started) / .seconds(1))
            let observer = try RawPeer(self.gateway.path("o"))
            let welcome = try await observer.welcome(.observer("watcher"))
            let instance = welcome.gateway.instance.rawValue
            #expect(
                metrics["waymark_build_info{gateway=\"\(instance)\",version=\"\(welcome.software)\"}"] == 1)
            #expect(
                metrics["waymark_start_time_seconds"] == Double(welcome.gateway.epoch) / 1_000)
            #expect(metrics["waymark_up"] == 1 && metrics["waymark_counters_age_seconds"] == 0)
            let latency = try #require(metrics["waymark_loop_latency_seconds"])
            #expect(latency > 0 && latency <= took)
            await self.stop()
        }
    }
#endif
