#if Inspector
    import Testing
    import WaymarkConfiguration
    import WaymarkExporter
    import WaymarkGateway
    import WaymarkProtocol

    /// An observer that reads too slowly misses entries, which are counted, and nothing else is counted less for it.
    @Suite(.timeLimit(.minutes(10))) struct SlowObserverTests {
        private let gateway: Gateway
        private let reader: CounterReader
        private let client: RawPeer
        private let endpoint: RawPeer
        private let session: SessionID

        init() async throws {
            self.gateway = try await Gateway.start {
                $0.policy.limits.observationBytesMax = 32_768
                $0.listeners[2].visibility = .all
            }
            self.reader = WaymarkExporterTests.reader(of: self.gateway.address("o"))
            self.client = try RawPeer(self.gateway.path("n"))
            _ = try await self.client.welcome(.client("app"))
            self.endpoint = try RawPeer(self.gateway.path("v"))
            _ = try await self.endpoint.welcome(.endpoint("car"))
            self.session = try await self.client.openSession(["car"])
            try self.client.publish(.start, self.session, 1)
        }

        private func stop() async {
            await self.reader.close()
            await self.gateway.stop()
        }

        private static func observe(after number: UInt64 = 0) -> Message {
            var observe = Observe()
            (observe.wantsEvents, observe.wantsFrames) = (true, true)
            observe.afterNumber = number
            return .observe(observe)
        }

        /// An observer of everything that happens from now on.
        private func observer() async throws -> (peer: RawPeer, welcome: Welcome) {
            let observer = try RawPeer(self.gateway.path("o"))
            let welcome = try await observer.welcome(.observer("slow"))
            try observer.send(Self.observe())
            try await observer.receive { if case .observationBegin = $0 { true } else { false } }
            return (observer, welcome)
        }

        /// Publishes long road names, each once the endpoint has received the one before. Eight of them are more than the gateway keeps for
        /// observers.
        private func publish(_ numbers: ClosedRange<UInt64>) async throws {
            for number in numbers {
                let names =
                    ["Road \(number)"] + [String](repeating: String(repeating: "n", count: 500), count: 7)
                try self.client.publish(.currentRoadName(names), self.session, number)
                try await self.endpoint.receive { $0 == .publication(.currentRoadName(names)) }
            }
        }

        private static func gaps(_ messages: [Message]) -> Double {
            messages.reduce(0) {
                if case .observationGap(let gap) = $1 { $0 + Double(gap.dropped) } else { $0 }
            }
        }

        @Test func `counters are exact while an observer is too slow, and it is told what it missed`()
            async throws
        {
            let (observer, _) = try await self.observer()
            try await self.publish(2...200)
            let metrics = try await self.reader.scrape()
            for (series, value) in [
                "waymark_publications_total{type=\"currentRoadName\"}": 199.0,
                "waymark_deliveries_total{type=\"currentRoadName\"}": 199,
                "waymark_publications_total{type=\"startGuidance\"}": 1,
                "waymark_sessions{phase=\"active\"}": 1,
            ] { #expect(metrics[series] == value, "\(series)") }
            #expect(metrics["waymark_observer_entries_dropped_total"].map { $0 > 0 } == true)
            let (told, before) = try await observer.scrape()
            #expect(told["waymark_observer_entries_dropped_total"] == Self.gaps(before))
            #expect(
                try await self.reader.scrape()["waymark_observer_entries_dropped_total"] == Self.gaps(before))
            await self.stop()
        }

        /// What it was sent and did not read is lost with the connection; a gap among it is told again.
        @Test(arguments: [1, 2])
        func `an observer that is cut and resumes is told all that it missed`(_ burstCount: Int) async throws
        {
            let (observer, welcome) = try await self.observer()
            var last: UInt64 = 1
            for burst in 1...burstCount {
                try await self.publish(last + 1...last + 150)
                last += 150
                // It acts as if it had not received this.
                if burst < burstCount {
                    try await observer.receive { if case .observationGap = $0 { true } else { false } }
                }
            }
            observer.cut()
            _ = try await self.reader.scrape { $0["waymark_peers_connected{role=\"observer\"}"] == 1 }
            try await self.publish(last + 1...last + 20)
            let again = try RawPeer(self.gateway.path("o"))
            #expect(
                try await again.welcome(.observer("slow").resuming(welcome.resumptionToken)).isResumed)
            try again.send(Self.observe(after: 0))
            let (told, before) = try await again.scrape()
            #expect(Self.gaps(before) > 0)
            #expect(told["waymark_observer_entries_dropped_total"] == Self.gaps(before))
            await self.stop()
        }
    }
#endif
