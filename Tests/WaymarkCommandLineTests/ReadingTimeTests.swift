import Testing

@testable import WaymarkCommandLine

struct ReadingTimeTests {
    @Test func `time stops after each step and continues from there`() {
        var time = ReadingTime()
        #expect(time.now(.seconds(5)) == .seconds(5))
        time.stand(for: .seconds(2), .seconds(10))
        #expect(time.now(.seconds(11)) == .seconds(10))
        time.stand(for: .seconds(2), .seconds(11))
        #expect(time.now(.seconds(13)) == .seconds(10))
        #expect(time.now(.seconds(14)) == .seconds(10))
        #expect(time.now(.seconds(17)) == .seconds(13))
        time.stand(for: .seconds(1), .seconds(20))
        #expect(time.now(.seconds(22)) == .seconds(17))
    }
}
