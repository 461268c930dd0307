#if Inspector
    import Testing
    import WaymarkConfiguration
    import WaymarkExporter
    import WaymarkGateway
    import WaymarkModel
    import WaymarkProtocol

    @Suite(.timeLimit(.minutes(10))) struct PublicationCounterTests {
        @Test func `unchanged and rejected publications and acknowledgements are counted`() async throws {
            let gateway = try await Gateway.start()
            let reader = reader(of: gateway.address("o"))
            let client = try RawPeer(gateway.path("n"))
            _ = try await client.welcome(.client("app"))
            let session = try await client.openSession(["car"])
            try client.publish(.start, session, 1)
            for number in UInt64(2)...4 { try client.publish(.currentRoadName(["A"]), session, number) }
            // Its number leaves a gap.
            try client.publish(.currentRoadName(["B"]), session, 9)
            let messages = try await client.receive {
                if case .acknowledgement(4) = $0 { true } else { false }
            }
            var metrics = try await reader.scrape()
            for (series, value) in [
                "waymark_publications_total{type=\"startGuidance\"}": 1.0,
                "waymark_publications_total{type=\"currentRoadName\"}": 3,
                "waymark_publications_unchanged_total": 2, "waymark_publications_rejected_total": 1,
                "waymark_acknowledgements_total": Double(Self.acknowledgements(messages)),
                "waymark_deliveries_total{type=\"currentRoadName\"}": 0,
            ] { #expect(metrics[series] == value, "\(series)") }

            // The last one is one too many.
            for number in UInt64(5)...37 { try client.sendBadPublication(session, number) }
            let rest = try await client.receiveAll()
            let errors = rest.count { if case .error = $0 { true } else { false } }
            guard case .goodbye(let goodbye)? = rest.last else {
                Issue.record("\(rest)")
                return
            }
            #expect(goodbye.code == .tooManyErrors && errors == 33)
            metrics = try await reader.scrape { $0["waymark_peers_connected{role=\"navigation\"}"] == 0 }
            #expect(metrics["waymark_publications_rejected_total"] == Double(1 + errors))
            #expect(metrics["waymark_peers_closed_total{code=\"tooManyErrors\"}"] == 1)
            await reader.close()
            await gateway.stop()
        }

        private static func acknowledgements(_ messages: [Message]) -> Int {
            messages.count { if case .acknowledgement = $0 { true } else { false } }
        }

        @Test func `withheld features are those that endpoints were told, by reason`() async throws {
            let gateway = try await Gateway.start {
                $0.policy.withheldFeatures = [.laneGuidance]
            }
            let reader = reader(of: gateway.address("o"))
            let client = try RawPeer(gateway.path("n"))
            _ = try await client.welcome(.client("app"))
            let session = try await client.openSession(["car"])
            try client.publish(.start, session, 1)
            var told: [String: Double] = [:]
            for (name, features) in [
                ("all", Set(Feature.allCases)), ("some", [.routeSegments, .navigationAlerts]), ("none", []),
            ] {
                let endpoint = try RawPeer(gateway.path("v"))
                _ = try await endpoint.welcome(.endpoint("car", name, features: features))
                let messages = try await endpoint.receive { $0 == .snapshotEnd }
                for case .snapshotBegin(let begin) in messages {
                    for reason in begin.withheld.compactMap(\.withheld) { told["\(reason)", default: 0] += 1 }
                }
                _ = try await endpoint.leave()
            }
            let metrics = try await reader.scrape()
            #expect(told["policy"] == 3 && told["notRequested", default: 0] > 0)
            for reason in WithheldReason.allCases {
                #expect(
                    metrics["waymark_features_withheld_total{reason=\"\(reason)\"}"]
                        == told["\(reason)", default: 0], "\(reason)")
            }
            await reader.close()
            await gateway.stop()
        }
    }
#endif
