#if Inspector
    import Foundation
    import Testing
    import WaymarkClient
    import WaymarkConfiguration
    import WaymarkGateway
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkModel
    import WaymarkProtocol

    /// A client offers destinations to the vehicle.
    @Suite(.timeLimit(.minutes(2))) struct ShareTests {
        private static func share(_ drive: Drive, id: String = "s") -> Task<RequestResult?, any Error> {
            Task { try await drive.session.share(Drive.place, shareID: id)["car"] }
        }

        private static func answer(_ drive: Drive, _ share: String) async throws {
            try await drive.desk.act(
                #"{"vehicle": "car", "action": "answerShare", "shareID": "\#(share)", "accepted": true}"#)
        }

        /// Watches the drive for the desk, as the program does.
        private static func observe(_ drive: Drive, _ body: () async throws -> Void) async throws {
            let feed = LiveFeed("", isRedacted: false)
            let watching = Task {
                await InspectorProgram.observe(
                    drive.gateway.address("o"), .init(id: "inspector"), feed, retryTime: .milliseconds(5)
                ) { _ in }
            }
            let telling = Task { for await share in feed.endedShares { await drive.desk.shareEnded(share) } }
            try await until { feed.snapshot.source.connection["state"] == "connected" }
            try await body()
            watching.cancel()
            telling.cancel()
            await watching.value
            await telling.value
        }

        @Test func `a shared destination is shown with its deadline, and answered`() async throws {
            var settings = ActionDesk.Settings()
            settings.shareTime = .seconds(600)
            let drive = try await Drive.start(settings)
            let sharing = Self.share(drive)
            try await until { try await drive.desk.seen().share != nil }
            let seen = try await drive.desk.seen()
            let share = try #require(seen.share)
            #expect(share.destination.nameVariants == ["Here"])
            let deadline = try #require(share.deadline)
            #expect(deadline > seen.at && deadline <= seen.at + 600)
            try await Self.answer(drive, share.shareID)
            #expect(try await sharing.value == .accepted)
            #expect(try await drive.desk.seen().share == nil)
            await drive.stop()
        }

        @Test func `a shared destination leaves the page when its time is over, and nothing is sent`()
            async throws
        {
            var settings = ActionDesk.Settings()
            settings.shareTime = .milliseconds(300)
            let drive = try await Drive.start(settings)
            let before = await drive.desk.version
            let sharing = Self.share(drive)
            // It comes, and goes.
            try await until { await drive.desk.version == before + 2 }
            #expect(try await drive.desk.seen().share == nil)
            await #expect(throws: InspectorError.self) { try await Self.answer(drive, "share-1") }
            #expect(try await drive.answers().isEmpty)
            sharing.cancel()
            _ = await sharing.result
            await drive.stop()
        }

        @Test func `a newer shared destination takes the place of an older one, which is not answered`()
            async throws
        {
            let drive = try await Drive.start()
            let first = Self.share(drive, id: "first")
            try await until { try await drive.desk.seen().share?.shareID == "share-1" }
            let second = Self.share(drive, id: "second")
            try await until { try await drive.desk.seen().share?.shareID == "share-2" }
            await #expect(throws: InspectorError.self) { try await Self.answer(drive, "share-1") }
            try await Self.answer(drive, "share-2")
            #expect(try await second.value == .accepted)
            let answers = try await drive.answers()
            #expect(
                answers == [
                    .destinationShareAnswer(DestinationShareAnswer(shareID: "second", outcome: .accepted))
                ])
            first.cancel()
            _ = await first.result
            await drive.stop()
        }

        @Test func `a destination that another endpoint took leaves the page`() async throws {
            var settings = ActionDesk.Settings()
            settings.shareTime = .seconds(600)
            let drive = try await Drive.start(settings)
            var configuration = VehicleEndpoint.Configuration(vehicle: "car", endpoint: "display")
            let (asked, ask) = AsyncStream.makeStream(of: Void.self)
            configuration.onDestination = { _ in
                for await _ in asked { return true }
                return false
            }
            let display = try await VehicleEndpoint.connect(to: drive.gateway.address("v"), configuration)
            try await Self.observe(drive) {
                let sharing = Self.share(drive)
                try await until { try await drive.desk.seen().share != nil }
                ask.yield()
                #expect(try await sharing.value == .accepted)
                try await until { try await drive.desk.seen().share == nil }
                await #expect(throws: InspectorError.self) { try await Self.answer(drive, "share-1") }
            }
            ask.finish()
            await display.close()
            await drive.stop()
        }

        @Test func `a destination for which the gateway waits no longer leaves the page`() async throws {
            var settings = ActionDesk.Settings()
            settings.shareTime = .seconds(600)
            let drive = try await Drive.start(settings) { $0.policy.limits.shareTimeout = .milliseconds(300) }
            try await Self.observe(drive) { () async throws in
                let before = await drive.desk.version
                #expect(try await Self.share(drive).value == .timedOut)
                try await until { await drive.desk.version == before + 2 }
                #expect(try await drive.desk.seen().share == nil)
                #expect(try await drive.answers().isEmpty)
            }
            await drive.stop()
        }

        /// Two sessions may share under the same id, and a share of another vehicle is no business of this one.
        @Test func `only the share that has ended leaves the page`() async throws {
            let drive = try await Drive.start()
            let sharing = Self.share(drive)
            try await until { try await drive.desk.seen().share != nil }
            let session = await drive.cluster.state.session
            for (vehicle, other, id) in [
                ("bus", session, "s"), ("car", session + 1, "s"), ("car", session, "t"),
            ] {
                await drive.desk.shareEnded(LiveFeed.EndedShare(vehicle: vehicle, session: other, id: id))
                #expect(try await drive.desk.seen().share != nil)
            }
            await drive.desk.shareEnded(LiveFeed.EndedShare(vehicle: "car", session: session, id: "s"))
            #expect(try await drive.desk.seen().share == nil)
            sharing.cancel()
            _ = await sharing.result
            await drive.stop()
        }
    }
#endif
