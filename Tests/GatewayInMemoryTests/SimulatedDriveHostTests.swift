import GatewayInMemory
import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

/// What an observer asks of a client, through the event loops.
@Suite struct SimulatedDriveHostTests {
    private static let app = ClientID(unchecked: "app")

    private static func observer(_ drive: inout HostDrive) throws -> HostPeer {
        let hello = Hello(role: .observer(ObserverHello(observer: ObserverName(unchecked: "rig"))))
        return try HostPeer(&drive.host, hello, at: drive.now)
    }

    private static func asked(_ peer: HostPeer) -> [SimulateDrive] {
        peer.messages.compactMap { if case .simulateDrive(let asked) = $0 { asked } else { nil } }
    }

    @Test func `an observer has a client drive that was connected before it, and is told of refusals`() throws
    {
        var drive = try HostDrive()
        var rig = try Self.observer(&drive)
        var start = SimulateDrive(.start, speedPercent: 2_000)
        start.client = Self.app
        rig.send(.simulateDrive(start), to: &drive.host)
        drive.host.settle(at: drive.now)
        try drive.client.read(&drive.host, at: drive.now)
        try rig.read(&drive.host, at: drive.now)
        #expect(Self.asked(drive.client) == [start])
        #expect(!rig.messages.contains { $0.type == .error })
        start.client = ClientID(unchecked: "none")
        rig.send(.simulateDrive(start), to: &drive.host)
        drive.host.settle(at: drive.now)
        try rig.read(&drive.host, at: drive.now)
        guard case .error(let rejection)? = rig.messages.last else {
            Issue.record("\(rig.messages)")
            return
        }
        #expect(rejection.code == .unknownReference && rejection.field == "client_id")
    }

    @Test func `an observer that asks in a loop fills no more than its share of a client's queue`() throws {
        var drive = try HostDrive()
        var rig = try Self.observer(&drive)
        drive.host.setSocketBytes(1_024, of: drive.client.id)
        var start = SimulateDrive(.start)
        start.client = Self.app
        for number in 1...2_000 {
            start.speedPercent = UInt32(number)
            rig.send(.simulateDrive(start), to: &drive.host)
            guard number.isMultiple(of: 100) else { continue }
            drive.host.settle(at: drive.now)
            try rig.read(&drive.host, at: drive.now)
        }
        drive.host.settle(at: drive.now)
        try rig.read(&drive.host, at: drive.now)
        let rejected = rig.messages.count { message in
            if case .error(let rejection) = message { rejection.code == .limitReached } else { false }
        }
        let before = Self.asked(drive.client).count
        try drive.client.read(&drive.host, at: drive.now)
        let arrived = Self.asked(drive.client).count
        #expect(drive.client.goodbye == nil && rig.goodbye == nil)
        // The first batch, which is being sent, and 16 that wait.
        #expect(arrived - before <= 100 + 16)
        #expect(arrived + rejected == 2_000)
    }
}
