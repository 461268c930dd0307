import Testing
import WaymarkProtocol

@Suite struct ResumptionTokensTests {
    private static func token(_ number: UInt64) -> ResumptionToken { ResumptionToken(high: 1, low: number) }

    @Test func `a peer that was not resumed has one token`() {
        let tokens = ResumptionTokens(Self.token(1), on: ConnectionID(5))
        #expect(tokens.verdict(on: Self.token(1), from: ConnectionID(6)) == .newest)
        #expect(tokens.verdict(on: Self.token(1), from: ConnectionID(4)) == .newest)
        #expect(tokens.verdict(on: Self.token(2), from: ConnectionID(6)) == .invalid)
        #expect(tokens.verdict(on: nil, from: ConnectionID(6)) == .invalid)
    }

    @Test func `the token of a Hello that was resumed is valid beside the new one, on later connections`() {
        var tokens = ResumptionTokens(Self.token(2), resuming: Self.token(1), on: ConnectionID(5))
        #expect(tokens.verdict(on: Self.token(2), from: ConnectionID(6)) == .newest)
        #expect(tokens.verdict(on: Self.token(1), from: ConnectionID(6)) == .spare)
        #expect(tokens.verdict(on: Self.token(1), from: ConnectionID(4)) == .late)
        #expect(tokens.verdict(on: nil, from: ConnectionID(6)) == .invalid)
        tokens.endSpare()
        #expect(tokens == ResumptionTokens(Self.token(2), on: ConnectionID(5)))
        #expect(tokens.verdict(on: Self.token(1), from: ConnectionID(6)) == .invalid)
        #expect(tokens.verdict(on: Self.token(1), from: ConnectionID(4)) == .invalid)
    }

    @Test(arguments: [true, false])
    func `a peer has left the connections before that of its last Welcome, whatever has ended`(
        _ isConfirmed: Bool
    ) {
        var tokens = ResumptionTokens(Self.token(2), resuming: Self.token(1), on: ConnectionID(5))
        if isConfirmed { tokens.endSpare() }
        #expect((4...6).map { tokens.hasLeft(ConnectionID($0)) } == [true, false, false])
    }

    @Test func `the older token takes one word while there is none`() {
        #expect(
            MemoryLayout<ResumptionTokens>.size
                == MemoryLayout<ResumptionToken>.size + MemoryLayout<ConnectionID>.size
                + MemoryLayout<Int>.size)
    }
}
