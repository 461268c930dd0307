import Testing
import WaymarkConfiguration
import WaymarkFaults
import WaymarkHistory
import WaymarkProtocol
import WaymarkRig
import WaymarkScenario

/// The links of a proxy, without sockets.
@Suite struct ProxyLinksTests {
    /// A proxy's links, and what they did.
    private struct Bench {
        var links = ProxyLinks(seed: 1)
        var now = Instant(nanoseconds: 0)
        var actions: [ProxyLinks.Action] = []

        mutating func begin(_ fault: String) throws {
            try self.links.begin(ProxyBench.fault(fault), at: self.now, into: &self.actions)
        }

        mutating func connect(_ number: Int, _ hello: [UInt8]) {
            self.links.opened(number, at: self.now, into: &self.actions)
            self.send(hello, on: number)
        }

        mutating func send(_ bytes: [UInt8], on number: Int) {
            self.links.received(bytes, of: number, .toGateway, at: self.now, into: &self.actions)
        }

        mutating func pass(_ duration: Duration) {
            self.now = self.now + duration
            self.links.deadlineReached(at: self.now, into: &self.actions)
        }

        /// What arrived at the gateway of a connection.
        func arrived(_ number: Int) -> [UInt8] {
            self.actions.flatMap { action -> [UInt8] in
                if case .deliver(number, .toGateway, let bytes) = action { bytes } else { [] }
            }
        }

        func isCut(_ number: Int) -> Bool {
            self.actions.contains { if case .end(number, _, .reset) = $0 { true } else { false } }
        }

        var stages: [ProxyLinks.Listed.Stage] { self.links.list.map(\.stage) }
    }

    private static let hello = Frames.client()

    @Test func `a Hello is found in pieces of any size`() {
        for size in [1, 7, 1_000] {
            var bench = Bench()
            bench.links.opened(1, at: bench.now, into: &bench.actions)
            var rest = Self.hello[...]
            while !rest.isEmpty {
                #expect(bench.links.mayRead(1, .toGateway))
                #expect(!bench.actions.contains(.named(1, .client(ClientID(unchecked: "app")))))
                bench.send(Array(rest.prefix(size)), on: 1)
                rest = rest.dropFirst(size)
            }
            #expect(bench.actions.contains(.named(1, .client(ClientID(unchecked: "app")))))
            #expect(bench.arrived(1) == Self.hello)
        }
    }

    @Test func `a peer that is told the end before its Hello is carried as it is`() {
        var bench = Bench()
        bench.links.opened(1, at: bench.now, into: &bench.actions)
        bench.send(Array(Self.hello.prefix(9)), on: 1)
        bench.links.ended(1, .toPeer, .finished, at: bench.now, into: &bench.actions)
        #expect(bench.actions.contains(.named(1, nil)))
        #expect(bench.actions.contains(.end(1, .toPeer, .finished)))
    }

    @Test func `a fault that lasts is shorter for a peer that comes later, and over for one after that`()
        throws
    {
        var bench = Bench()
        try bench.begin("{ link: '*', kind: drop, for: 10s }")
        bench.pass(.seconds(9))
        bench.connect(1, Self.hello)
        #expect(bench.arrived(1) == [])
        #expect(bench.stages == [.acting])
        bench.pass(.seconds(1))
        bench.send(Frames.ping(1), on: 1)
        #expect(bench.arrived(1) == Frames.ping(1))
        bench.connect(2, Frames.client("other"))
        #expect(bench.arrived(2) == Frames.client("other"))
        #expect(bench.stages == [.over])
    }

    @Test func `a cut without a place is of the connections that are open`() throws {
        var bench = Bench()
        bench.connect(1, Self.hello)
        bench.connect(2, Frames.endpoint())
        try bench.begin("{ link: '*', kind: cut }")
        #expect(bench.isCut(1) && bench.isCut(2))
        #expect(bench.stages == [])
        bench.connect(3, Frames.client("later"))
        #expect(!bench.isCut(3))
    }

    @Test func `a cut without a place waits for a peer that is not there`() throws {
        var bench = Bench()
        try bench.begin("{ link: app, kind: cut }")
        #expect(bench.stages == [.waiting])
        bench.connect(1, Frames.client("other"))
        bench.connect(2, Self.hello)
        #expect(!bench.isCut(1) && bench.isCut(2))
        #expect(bench.stages == [.over])
    }

    @Test func `what is random does not depend on the order of the peers`() throws {
        func corrupted(_ order: [Int]) throws -> [UInt8] {
            var bench = Bench()
            try bench.begin("{ link: app, kind: corrupt }")
            for number in order { bench.connect(number, number == 1 ? Self.hello : Frames.endpoint()) }
            return bench.arrived(1)
        }
        #expect(try corrupted([1, 2]) == corrupted([2, 1]))
        #expect(try corrupted([1, 2]) != Self.hello)
    }

    @Test func `names are unique, and faults without one get one`() throws {
        var bench = Bench()
        try bench.begin("{ name: fault-1, link: app, kind: drop }")
        try bench.begin("{ link: app, kind: drop }")
        #expect(bench.links.list.map(\.name) == ["fault-1", "fault-2"])
        #expect(throws: ProxyLinks.Failure.nameTaken("fault-1")) {
            try bench.begin("{ name: fault-1, link: app, kind: drop }")
        }
        #expect(throws: ProxyLinks.Failure.noSuchFault("x")) {
            try bench.links.clear("x", at: bench.now, into: &bench.actions)
        }
    }

    @Test func `connections are bounded`() {
        var bench = Bench()
        for number in 1...ProxyLinks.connectionsMax {
            bench.links.opened(number, at: bench.now, into: &bench.actions)
        }
        #expect(!bench.actions.contains(.refuse(1)))
        bench.links.opened(5_000, at: bench.now, into: &bench.actions)
        #expect(bench.actions.last == .refuse(5_000))
        bench.links.closed(1, at: bench.now, into: &bench.actions)
        bench.links.opened(5_001, at: bench.now, into: &bench.actions)
        #expect(bench.actions.last == .connect(5_001))
    }

    @Test func `the links of peers that have gone are forgotten when there are too many`() throws {
        var bench = Bench()
        try bench.begin("{ link: '*', kind: drop, times: 1 }")
        for number in 1...ProxyLinks.linksMax + 1 {
            bench.connect(number, Frames.client("app-\(number)"))
            bench.links.closed(number, at: bench.now, into: &bench.actions)
        }
        bench.actions = []
        bench.connect(9_001, Frames.client("app-\(ProxyLinks.linksMax)"))
        bench.connect(9_002, Frames.client("app-1"))
        // One is remembered, and the oldest is a new peer again.
        #expect(bench.arrived(9_001) == Frames.client("app-\(ProxyLinks.linksMax)"))
        #expect(bench.arrived(9_002) == [])
    }

    // MARK: Files

    @Test func `all errors of a file are found, with line and column`() {
        let text = """
            faults:
              - { link: app, kind: delya, by: 1s }
              - { link: app/b/c, kind: drop }
              - { link: app, kind: cut, after: { state: { phase: active } } }
              - { name: a, link: app, kind: drop }
              - { name: a, link: app, kind: drop }
            sed: 1
            """
        var lines: [String] = []
        do throws(ScenarioErrors) { _ = try ScenarioReader.proxyFaults(text, file: "f.yaml") } catch {
            lines = error.errors.map(\.description)
        }
        #expect(
            lines == [
                "f.yaml:2:24: delya is no value of kind; did you mean delay?",
                "f.yaml:3:13: link must be VEHICLE/ENDPOINT or the name of a client or vehicle, or * for all",
                "f.yaml:4:38: a proxy follows messages, not states; after needs message",
                "f.yaml:6:5: two faults have the name a",
                "f.yaml:7:1: unknown key sed in the file; did you mean seed?",
            ])
    }

    @Test func `a list says what a fault is, and what it waits for`() throws {
        var bench = Bench()
        try bench.begin("{ link: dut/cluster, kind: delay, by: 300ms, for: 2s }")
        try bench.begin("{ link: '*', kind: cut, after: { message: startGuidance, count: 2 } }")
        try bench.begin("{ link: '*', kind: stall, after: { of: app, message: pauseGuidance } }")
        #expect(
            bench.links.list.map(\.text) == [
                "delay dut/cluster by 300 ms for 2 s", "cut * after startGuidance number 2",
                "stall * after pauseGuidance of app",
            ])
    }
}
