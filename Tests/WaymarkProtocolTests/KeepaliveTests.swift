import Testing
import WaymarkProtocol

@Suite struct KeepaliveTests {
    /// A hundred intervals of 1 000 ms, in which each side sends something by chance. `sends` and `hears` are how often, of a thousand
    /// milliseconds. Each tick is `late` milliseconds late.
    private struct Run {
        var silenceMax: Int64 = 0
        var pings = 0
        var end: Int64?

        init(seed: UInt64, sends: UInt64, hears: UInt64, deafFrom: Int64 = .max, late: Int64 = 0) {
            var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
            func isNow(_ times: UInt64) -> Bool {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return state % 1_000 < times
            }
            var keepalive = Keepalive(interval: .seconds(1), at: Instant(nanoseconds: 0))
            var last: Int64 = 0
            for millisecond in Int64(1)...100_000 {
                if isNow(sends) {
                    keepalive.noteSent()
                    self.silenceMax = max(self.silenceMax, millisecond - last)
                    last = millisecond
                }
                if millisecond < deafFrom, isNow(hears) { keepalive.noteReceived() }
                guard (millisecond - late) * 1_000_000 >= keepalive.nextTick.nanoseconds else { continue }
                switch keepalive.tick(at: Instant(nanoseconds: millisecond * 1_000_000)) {
                case .alive: break
                case .ping:
                    self.pings += 1
                    self.silenceMax = max(self.silenceMax, millisecond - last)
                    last = millisecond
                case .dead:
                    self.end = millisecond
                    return
                }
            }
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `something is sent in every interval, however often there is something to say`(_ seed: UInt64) {
        for sends in [UInt64(0), 1, 2, 5, 100] {
            let run = Run(seed: seed, sends: sends, hears: 100)
            #expect(run.end == nil)
            #expect(run.silenceMax <= 1_000, "\(sends) of a thousand")
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `ticks that are late do not add up`(_ seed: UInt64) {
        for sends in [UInt64(0), 1, 2, 5, 100] {
            let run = Run(seed: seed, sends: sends, hears: 100, late: 10)
            #expect(run.silenceMax <= 1_010, "\(sends) of a thousand")
        }
    }

    @Test func `a tick that is late by more than an interval is followed by one an interval later`() {
        var keepalive = Keepalive(interval: .seconds(1), at: Instant(nanoseconds: 0))
        let now = Instant(nanoseconds: 9_000_000_000)
        #expect(keepalive.tick(at: now) == .ping)
        #expect(keepalive.nextTick == now + .seconds(1))
    }

    @Test func `who says enough anyhow sends no Pings but the first`() {
        #expect(Run(seed: 1, sends: 100, hears: 100).pings == 1)
    }

    @Test(arguments: [UInt64(0), 1, 100])
    func `a peer is dead after three intervals of silence, and before four`(_ sends: UInt64) {
        for deafFrom in stride(from: Int64(1), to: 5_000, by: 137) {
            let run = Run(seed: UInt64(deafFrom), sends: sends, hears: 500, deafFrom: deafFrom)
            let end = run.end ?? 0
            #expect((2_990...4_000).contains(end - deafFrom), "\(end - deafFrom)")
        }
    }
}
