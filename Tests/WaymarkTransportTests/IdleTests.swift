import NIOCore
import NIOEmbedded
import Testing
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct IdleTests {
    /// The result of a wait.
    private final class Outcome {
        var result: Result<Void, any Error>?
        var isIdle: Bool { if case .success? = self.result { true } else { false } }

        init(_ future: EventLoopFuture<Void>) {
            future.assumeIsolated().whenComplete { self.result = $0 }
        }
    }

    @Test func `the idle time counts from the call or from the end of the last connection`() throws {
        let bench = Bench()
        bench.driver.setIdleTime(.seconds(10))
        var outcome = Outcome(bench.driver.waitUntilIdle())
        bench.loop.advanceTime(by: .seconds(9))
        #expect(outcome.result == nil)
        let peers = [try bench.connect(), try bench.connect()]
        bench.loop.advanceTime(by: .seconds(4))
        try peers[0].close()
        bench.loop.advanceTime(by: .seconds(1))
        #expect(outcome.result == nil)
        // The gateway has already closed the other connection, which sent nothing.
        try peers[1].close()
        bench.loop.advanceTime(by: .seconds(9))
        #expect(outcome.result == nil)
        bench.loop.advanceTime(by: .seconds(1))
        #expect(outcome.isIdle)
        outcome = Outcome(bench.driver.waitUntilIdle())
        bench.loop.advanceTime(by: .seconds(9))
        bench.driver.setIdleTime(.seconds(1))
        bench.loop.run()
        #expect(outcome.result == nil)
        bench.loop.advanceTime(by: .seconds(1))
        #expect(outcome.isIdle)
    }

    @Test func `a refused connection counts until it is closed`() throws {
        let bench = Bench { $0.connections.connectionsMax = 0 }
        bench.driver.setIdleTime(.seconds(10))
        let outcome = Outcome(bench.driver.waitUntilIdle())
        let peer = try bench.connect()
        #expect(try peer.goodbye()?.code == .tooManyConnections)
        bench.loop.advanceTime(by: .seconds(60))
        #expect(!peer.isOpen)
        #expect(outcome.isIdle)
    }

    @Test func `a wait without an idle time never succeeds and one after the end fails`() throws {
        let bench = Bench()
        bench.driver.setIdleTime(.seconds(1))
        bench.driver.setIdleTime(nil)
        let outcome = Outcome(bench.driver.waitUntilIdle())
        bench.loop.advanceTime(by: .hours(10_000))
        #expect(outcome.result == nil)
        bench.driver.endIdleWait()
        bench.loop.run()
        #expect(outcome.result != nil && !outcome.isIdle)
        bench.driver.setIdleTime(.seconds(1))
        let late = Outcome(bench.driver.waitUntilIdle())
        bench.loop.advanceTime(by: .seconds(2))
        #expect(late.result != nil && !late.isIdle)
    }
}
