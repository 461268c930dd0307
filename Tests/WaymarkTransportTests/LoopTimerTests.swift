import NIOCore
import NIOEmbedded
import Testing
import WaymarkProtocol

@testable import WaymarkTransport

@Suite struct LoopTimerTests {
    /// A timer on an embedded loop, and when it called its action.
    private final class Rig {
        let loop = EmbeddedEventLoop()
        private let timer: LoopTimer
        private(set) var fired: [Int64] = []

        init() {
            self.timer = LoopTimer(self.loop) { [loop] in
                Instant(nanoseconds: Int64(loop.now.uptimeNanoseconds))
            }
        }

        func set(_ milliseconds: Int64) {
            self.timer.set(Instant(nanoseconds: milliseconds * 1_000_000)) {
                self.fired.append(Int64(self.loop.now.uptimeNanoseconds) / 1_000_000)
            }
        }

        func cancel() { self.timer.cancel() }

        func advance(_ milliseconds: Int64) { self.loop.advanceTime(by: .milliseconds(milliseconds)) }
    }

    @Test func `a postponed deadline is reached once, at the later instant`() {
        let rig = Rig()
        rig.set(10)
        rig.set(30)
        rig.set(20)
        rig.advance(100)
        #expect(rig.fired == [20])
    }

    @Test func `an earlier deadline replaces a later one, whose task waits for the next`() {
        let rig = Rig()
        rig.set(100)
        rig.set(10)
        rig.advance(50)
        #expect(rig.fired == [10])
        rig.set(120)
        rig.set(60)
        rig.advance(15)
        #expect(rig.fired == [10, 60])
        rig.set(120)
        rig.advance(100)
        #expect(rig.fired == [10, 60, 120])
    }

    @Test func `a deadline that was replaced is not reached`() {
        let rig = Rig()
        rig.set(100)
        rig.set(10)
        rig.advance(200)
        #expect(rig.fired == [10])
    }

    @Test func `a cancelled timer calls nothing, and can be set again`() {
        let rig = Rig()
        rig.set(100)
        rig.set(10)
        rig.cancel()
        rig.advance(200)
        #expect(rig.fired.isEmpty)
        rig.set(210)
        rig.advance(100)
        #expect(rig.fired == [210])
    }
}
