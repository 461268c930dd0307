#if Inspector
    import Foundation
    import Synchronization
    import Testing
    import WaymarkClient
    import WaymarkConfiguration
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkProtocol

    /// A gateway that comes and goes.
    @Suite(.timeLimit(.minutes(2))) struct ObservationTests {
        /// What the log says of the connection, oldest first.
        private static func lines(_ feed: LiveFeed) async throws -> [String] {
            let desk = InspectorDesk(Inspection.Options(), feed: feed, recordings: [])
            let answer = try await desk.answer("entries", InspectorQuery("kind=connection"), now: Date())
            guard case .json(let data) = answer else { return [] }
            struct Entries: Decodable {
                struct Entry: Decodable {
                    let kind: String
                    let text: String?
                }
                let entries: [Entry]
            }
            return try JSONDecoder().decode(Entries.self, from: data).entries
                .filter { $0.kind == "connection" }.compactMap(\.text)
        }

        private static func state(_ feed: LiveFeed) -> String {
            feed.snapshot.source.connection["state"] ?? ""
        }

        private static let lost = "the connection to the gateway was lost"
        private static let back = "connected to the gateway again"

        @Test(arguments: [[ConnectionState.connecting], [.closed(.closed)], [.connecting, .closed(.closed)]])
        func `a lost connection is in the log once, however it was lost`(_ states: [ConnectionState])
            async throws
        {
            let bench = Bench()
            #expect(try await Self.lines(bench.feed) == [])
            for state in states { bench.feed.handle(.state(state)) }
            #expect(try await Self.lines(bench.feed) == [Self.lost])
            bench.feed.handle(.state(.connected(resumed: false)))
            #expect(Set(try await Self.lines(bench.feed)) == [Self.lost, Self.back])
        }

        @Test func `a connection that is tried again was lost when it was lost first`() {
            let bench = Bench()
            bench.feed.handle(.state(.closed(.closed)))
            let lost = bench.feed.snapshot.source.connection["since"]
            bench.feed.handle(.state(.connecting))
            bench.feed.handle(.state(.closed(.closed)))
            #expect(lost != nil && bench.feed.snapshot.source.connection["since"] == lost)
        }

        @Test(arguments: [true, false])
        func `rules that wait do not judge what they cannot see`(_ isClosed: Bool) {
            let bench = Bench()
            if isClosed { bench.feed.handle(.state(.closed(.closed))) }
            // Guidance without estimates.
            bench.feed.advance(to: Date().addingTimeInterval(60))
            #expect(bench.feed.snapshot.findings.count == (isClosed ? 0 : 1))
        }

        private final class Told: Sendable {
            private let reasons = Mutex<[String]>([])
            func tell(_ reason: String) { self.reasons.withLock { $0.append(reason) } }
            var all: [String] { self.reasons.withLock { $0 } }
        }

        private static func observe(_ folder: String, _ feed: LiveFeed, _ told: Told) -> Task<Void, Never> {
            var configuration = Observer.Configuration(id: "inspector")
            configuration.reconnection = ReconnectionPolicy(
                firstDelay: .milliseconds(5), delayMax: .milliseconds(50))
            return Task {
                await InspectorProgram.observe(
                    .unix(path: "\(folder)/o"), configuration, feed, retryTime: .milliseconds(5)
                ) { told.tell($0) }
            }
        }

        @Test func `a gateway that is not there yet is found when it comes, and again when it returns`()
            async throws
        {
            let (feed, told) = (LiveFeed("", isRedacted: false), Told())
            let folder = Gateway.newFolder
            let observing = Self.observe(folder, feed, told)
            try await until { Self.state(feed) == "closed" }
            #expect(feed.snapshot.source.connection["reason"]?.contains(folder) == true)
            let first = try await Gateway.start(in: folder)
            try await until { Self.state(feed) == "connected" && feed.snapshot.source.welcome != nil }
            let instance = feed.snapshot.source.welcome?.gateway.instance
            await first.stop()
            try await until { Self.state(feed) != "connected" }
            let second = try await Gateway.start(in: folder)
            try await until {
                Self.state(feed) == "connected" && feed.snapshot.source.welcome?.gateway.instance != instance
            }
            let lines = try await Self.lines(feed)
            #expect(lines.contains(Self.lost) && lines.contains(Self.back))
            // It was never refused, nor given up.
            #expect(told.all.isEmpty)
            observing.cancel()
            await observing.value
            await second.stop()
        }

        @Test func `a gateway that refuses is not asked again, and the reason is told`() async throws {
            let (feed, told) = (LiveFeed("", isRedacted: false), Told())
            let gateway = try await Gateway.start { $0.listeners[2].key = "a key of more than 16 bytes" }
            // It ends by itself.
            await Self.observe(gateway.folder, feed, told).value
            #expect(told.all.count == 1)
            #expect(Self.state(feed) == "closed")
            #expect(feed.snapshot.source.connection["reason"] == told.all.first)
            await gateway.stop()
        }

        @Test func `a gateway that refuses after it has returned is given up, and the reason is told`()
            async throws
        {
            let (feed, told) = (LiveFeed("", isRedacted: false), Told())
            let first = try await Gateway.start()
            let observing = Self.observe(first.folder, feed, told)
            try await until { Self.state(feed) == "connected" }
            await first.stop()
            let second = try await Gateway.start(in: first.folder) {
                $0.listeners[2].key = "a key of more than 16 bytes"
            }
            await observing.value
            #expect(Set(told.all).count == 1)
            #expect(Self.state(feed) == "closed")
            await second.stop()
        }
    }
#endif
