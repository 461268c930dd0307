#if Inspector
    import NIOCore
    import NIOEmbedded
    import Testing

    @testable import WaymarkWeb

    @Suite struct OpenConnectionsTests {
        /// A table of at most `max` connections, and connections to add to it.
        private struct Bench {
            let table: OpenConnections
            let channels = (0..<6).map { _ in EmbeddedChannel() }

            init(max: Int) { self.table = OpenConnections(max: max) }

            /// Adds a connection, and says which one must be closed for it.
            func add(_ number: Int) -> Int? {
                let closing = self.table.add(self.channels[number])
                return closing.flatMap { closing in self.channels.firstIndex { $0 === closing } }
            }

            func use(_ number: Int, for uses: ConnectionUse...) {
                for use in uses { self.table.change(self.channels[number], to: use) }
            }

            func remove(_ number: Int) { self.table.remove(self.channels[number]) }

            func finish() throws {
                for channel in self.channels { _ = try channel.finish() }
            }
        }

        @Test func `the connection that has been idle longest makes room`() throws {
            let bench = Bench(max: 3)
            for number in 0..<3 { #expect(bench.add(number) == nil) }
            bench.use(0, for: .asking, .answering, .idle)
            #expect(bench.add(3) == 1)
            #expect(bench.add(4) == 2)
            #expect(bench.add(5) == 0)
            try bench.finish()
        }

        @Test func `a connection with a request makes room only if none is idle`() throws {
            let bench = Bench(max: 3)
            for number in 0..<3 { #expect(bench.add(number) == nil) }
            bench.use(0, for: .asking, .answering)
            bench.use(1, for: .asking)
            #expect(bench.add(3) == 2)
            bench.use(3, for: .asking, .answering)
            // The rest of its request has not come.
            #expect(bench.add(4) == 1)
            bench.use(4, for: .asking, .answering)
            // Both others are answered; this one for longer.
            #expect(bench.add(5) == 0)
            try bench.finish()
        }

        @Test func `one request behind another does not make a connection younger`() throws {
            let bench = Bench(max: 2)
            for number in 0..<2 {
                #expect(bench.add(number) == nil)
                bench.use(number, for: .asking)
            }
            bench.use(0, for: .answering, .asking)
            #expect(bench.add(2) == 0)
            try bench.finish()
        }

        @Test func `a stream of events keeps its place, and the new connection is closed if all are streams`()
            throws
        {
            let bench = Bench(max: 2)
            for number in 0..<2 { #expect(bench.add(number) == nil) }
            bench.use(0, for: .asking, .answering, .streaming)
            #expect(bench.add(2) == 1)
            bench.use(2, for: .asking, .answering, .streaming)
            #expect(bench.add(3) == 3)
            bench.use(0, for: .answering)
            #expect(bench.add(4) == 0)
            try bench.finish()
        }

        @Test func `no connection is accepted while one above the limit is still closing`() throws {
            let bench = Bench(max: 1)
            #expect(bench.table.hasRoom)
            #expect(bench.add(0) == nil)
            #expect(bench.table.hasRoom)
            #expect(bench.add(1) == 0)
            #expect(!bench.table.hasRoom)
            // Whatever it says now changes nothing.
            bench.use(0, for: .asking, .idle)
            bench.remove(0)
            bench.use(0, for: .asking)
            #expect(bench.table.hasRoom)
            #expect(bench.add(2) == 1)
            try bench.finish()
        }
    }
#endif
