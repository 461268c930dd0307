import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

@Suite struct BoundedBufferTests {
    @Test func `what the gateway has acknowledged is not kept`() throws {
        var world = MachineWorld()
        try world.start()
        try world.setUpcoming(2)
        try world.settle()
        #expect(world.published.unacknowledgedCount == 2)
        world.wait(.milliseconds(500))
        #expect(world.published.unacknowledgedCount == 0)
        #expect(world.published.acknowledged == 2)
        // It was not the last word: what is refused later is still undone.
        try world.setUpcoming(1)
        try world.publish { _ in .dismissAlert(9, .timeout) }
        try world.settle()
        #expect(world.refusals.count == 1)
        #expect(world.published.content.route.upcomingManeuvers == world.held.state.upcomingManeuvers)
    }

    @Test
    func `a client that publishes for an hour keeps a bounded buffer, and any cut resumes without loss`()
        throws
    {
        var random = SeededRandom(seed: 15)
        var world = MachineWorld()
        try world.start()
        try world.settle()
        var kept = 0
        var alerts: [UInt32] = []
        for tick in 1...36_000 {
            let meters = UInt32(40_000 - tick)
            try world.publish { _ in
                .tripEstimates(TravelEstimates(distanceRemaining: .meters(meters)), .green)
            }
            if tick % 50 == 0 {
                alerts.append(UInt32(tick))
                try world.publish { _ in .showAlert(NavigationAlert(id: UInt32(tick), titleVariants: ["x"])) }
            }
            if tick % 1_000 == 0 {
                // More events, of which some arrive.
                for id in 1...UInt32(random.number(1...9)) {
                    alerts.append(UInt32(tick) + id)
                    try world.publish { _ in
                        .showAlert(NavigationAlert(id: UInt32(tick) + id, titleVariants: ["y"]))
                    }
                }
                try world.send(arriving: random.number(0...10))
                world.cutApp()
            }
            try world.settle()
            world.wait(.milliseconds(100))
            kept = max(kept, world.published.unacknowledgedCount)
            #expect(world.held.state.tripEstimates?.distanceRemaining == .meters(meters))
        }
        #expect(kept <= 24)
        #expect(world.refusals == [])
        #expect(world.shownAlerts == alerts)
    }
}
