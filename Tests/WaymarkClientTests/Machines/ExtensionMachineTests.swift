import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// Extensions between a client and an endpoint, with a gateway between them that is cut, restarted and withholds.
@Suite struct ExtensionMachineTests {
    private static let seats = MachineWorld.extensions[0]
    private static let tyres = MachineWorld.extensions[1]

    private static func state(
        _ content: String, _ key: UInt16?, _ name: ExtensionName = tyres, isRetained: Bool = true
    ) -> Publication {
        .publishExtension(
            PublishedExtension(
                name: name, content: Array(content.utf8), key: key, isRetained: key != nil && isRetained))
    }

    private static func held(
        _ content: String, _ key: UInt16, _ name: ExtensionName = tyres
    ) -> VehicleState.ExtensionState {
        VehicleState.ExtensionState(name: name.rawValue, key: key, content: Array(content.utf8))
    }

    @Test(arguments: [false, true])
    func `an endpoint holds the retained states, also of a gateway that was restarted`(_ isRestarted: Bool)
        throws
    {
        var world = MachineWorld()
        try world.start()
        for publication in [
            Self.state("5", 2), Self.state("70", 1), Self.state("warm", 3, Self.seats),
            Self.state("event", nil),
            Self.state("71", 1), Self.state("6", 2, isRetained: false),
        ] { try world.publish { _ in publication } }
        try world.settle()
        #expect(world.refusals == [])
        let expected = [Self.held("warm", 3, Self.seats), Self.held("71", 1)]
        #expect(world.held.state.extensions == expected)
        if isRestarted { world.restart() } else { world.cutCluster() }
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.extensions == expected)
    }

    @Test func `states are held before guidance, and no longer once it starts`() throws {
        var world = MachineWorld()
        try world.publish { _ in Self.state("70", 1) }
        try world.settle()
        #expect(world.held.state.phase == .preview)
        #expect(world.held.state.extensions == [Self.held("70", 1)])
        world.restart()
        try world.settle()
        #expect(world.held.state.extensions == [Self.held("70", 1)])
        try world.start()
        try world.settle()
        #expect(world.held.state.extensions.isEmpty)
    }

    @Test func `of a state that waits only the newest content is sent`() throws {
        var world = MachineWorld()
        try world.start()
        try world.settle()
        for content in ["70", "71", "72"] { try world.publish { _ in Self.state(content, 1) } }
        try world.publish { _ in Self.state("5", 2) }
        #expect(try world.published.peek(SessionID(7)).map(\.header.key) == [1, 2])
        let flags = try world.published.peek(SessionID(7)).map(\.header.flags)
        #expect(flags == [[.state, .retained], [.state, .retained]])
    }

    @Test func `an extension that is withheld is not sent, and said once it is granted`() throws {
        var world = MachineWorld()
        try world.start()
        try world.settle()
        world.withholdExtensions([Self.tyres])
        world.cutApp()
        try world.publish { _ in Self.state("70", 1) }
        try world.publish { _ in Self.state("event", nil) }
        try world.publish { _ in .currentRoadName(["A"]) }
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.extensions.isEmpty)
        #expect(world.held.state.currentRoadName == ["A"])
        world.withholdExtensions([])
        world.cutApp()
        try world.settle()
        #expect(world.refusals == [])
        #expect(world.held.state.extensions == [Self.held("70", 1)])
    }

    @Test func `a state that the gateway refuses is no longer a part of the content`() throws {
        var world = MachineWorld()
        try world.start()
        try world.publish { _ in Self.state("70", 1) }
        try world.settle()
        try world.publish { _ in Self.state("warm", 1, Self.seats) }
        try world.settle()
        #expect(world.refusals.count == 1)
        world.restart()
        try world.settle()
        #expect(world.refusals.count == 1)
        #expect(world.held.state.extensions == [Self.held("70", 1)])
    }

    @Test func `an endpoint holds a bounded number of states`() {
        var held = HeldState()
        held.apply(
            Envelope(
                .snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))),
                session: SessionID(7)))
        held.apply(Envelope(.snapshotEnd, session: SessionID(7)))
        for key in UInt16(0)..<100 {
            let envelope = Envelope(
                .publication(Self.state("x", key)), session: SessionID(7), sequence: UInt64(key) + 1)
            held.apply(envelope)
        }
        #expect(held.state.extensions.count == 64)
        #expect(held.state.sequence == 100)
    }

    @Test func `names that are none and contents that are too long are the caller's error`() throws {
        var state = PublishedState()
        let long = PublishedExtension(name: Self.tyres, content: [UInt8](repeating: 7, count: 65_537))
        #expect(throws: ClientError.self) { try state.publish(.publishExtension(long)) }
        #expect(state.isAllSent)
        var app = NavigationClient.Configuration(id: "app")
        app.extensions = ["tyres"]
        #expect(throws: ClientError.self) { try NavigationHello(app) }
        var cluster = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "cluster")
        cluster.extensions = ["org.example.tyres", "org.Example"]
        #expect(throws: ClientError.self) { try VehicleHello(cluster) }
        cluster.extensions = ["org.example.tyres", "com.example.seats"]
        #expect(try VehicleHello(cluster).extensions == MachineWorld.extensions)
    }
}
