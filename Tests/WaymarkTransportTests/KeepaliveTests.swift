import NIOCore
import NIOEmbedded
import Testing
import WaymarkModel
import WaymarkProtocol
import WaymarkTransport

@Suite(.timeLimit(.minutes(10))) struct KeepaliveTests {
    @Test func `a peer whose messages need no answer receives a frame in every keepalive interval`() throws {
        let bench = Bench()
        let vehicle = try bench.vehicle("car", keepaliveMilliseconds: 1_000)
        var silence = 0
        for step in 1...2_000 {
            bench.loop.advanceTime(by: .milliseconds(10))
            if step.isMultiple(of: 30) {
                var settings = VehicleSettings()
                settings.isReadyToShow = step.isMultiple(of: 20)
                try vehicle.send(.vehicleSettings(settings))
            }
            // Now and then an answer, so that intervals end at varying times after the last frame.
            if step.isMultiple(of: 170) { try vehicle.send(.ping(nonce: 1)) }
            silence = try vehicle.receive().isEmpty ? silence + 10 : 0
            // Deadlines are met up to 10 ms late.
            #expect(silence <= 1_010)
        }
        #expect(!vehicle.isOutputClosed)
    }

    @Test(arguments: [(UInt32(1_000), UInt32(5_000)), (10_000, 10_000), (600_000, 20_000)])
    func `a peer gets the interval that it asks for, within the operator's bounds`(
        _ asked: UInt32, _ given: UInt32
    ) throws {
        let bench = Bench {
            $0.connection.keepaliveMin = .seconds(5)
            $0.connection.keepaliveMax = .seconds(20)
        }
        let peer = try bench.connect()
        var hello = Bench.vehicleHello("car")
        hello.keepaliveMilliseconds = asked
        try peer.send(.hello(hello))
        guard case .welcome(let welcome) = try peer.receive().first?.message else {
            throw UnexpectedResult(got: "no Welcome")
        }
        #expect(welcome.keepaliveMilliseconds == given)
    }

    @Test func `an idle peer is pinged once per keepalive interval`() throws {
        let bench = Bench()
        let vehicle = try bench.vehicle("car", keepaliveMilliseconds: 1_000)
        var pings = 0
        for _ in 1...200 {
            bench.loop.advanceTime(by: .milliseconds(50))
            for case .ping(let nonce, _) in try vehicle.receive().map(\.message) {
                pings += 1
                try vehicle.send(.pong(nonce: nonce))
            }
        }
        #expect((9...10).contains(pings), "\(pings)")
    }
}
