#if Inspector
    import FakeGateway
    import Foundation
    import Testing
    import WaymarkClient
    import WaymarkConfiguration
    import WaymarkGateway
    import WaymarkCodec
    import WaymarkInspector
    import WaymarkInspectorServer
    import WaymarkModel
    import WaymarkProtocol

    /// The vehicle's user is asked on the page.
    @Suite(.timeLimit(.minutes(2))) struct PromptTests {
        /// The other endpoint of the vehicle asks for a stop.
        private static func ask(_ drive: Drive, id: String = "q") -> Task<RequestResult, Never> {
            Task { await drive.cluster.requestWaypoint(Drive.place, requestID: id) }
        }

        @Test(arguments: [true, false])
        func `a prompt is shown with its deadline, and answered`(_ isAccepted: Bool) async throws {
            let drive = try await Drive.start()
            let asking = Self.ask(drive)
            try await until { try await drive.desk.seen().prompt != nil }
            let seen = try await drive.desk.seen()
            let prompt = try #require(seen.prompt)
            #expect(prompt.requestID == "q" && prompt.waypoint.nameVariants == ["Here"])
            #expect(prompt.deadline > seen.at && prompt.deadline <= seen.at + 60)
            try await drive.desk.act(
                #"{"vehicle": "car", "action": "answerPrompt", "requestID": "q", "accepted": \#(isAccepted)}"#
            )
            #expect(await asking.value == (isAccepted ? .accepted : .declinedByUser))
            #expect(try await drive.desk.seen().prompt == nil)
            await drive.stop()
        }

        @Test func `a prompt that is not answered until its deadline leaves the page, and nothing is sent`()
            async throws
        {
            let drive = try await Drive.start { $0.policy.limits.promptTimeout = .milliseconds(300) }
            #expect(await Self.ask(drive).value == .timedOut)
            try await until { try await drive.desk.seen().prompt == nil }
            #expect(try await drive.answers().isEmpty)
            await drive.stop()
        }

        @Test func `a prompt that is over leaves the page, and nothing is sent`() async throws {
            let drive = try await Drive.start()
            let asking = Self.ask(drive)
            try await until { try await drive.desk.seen().prompt != nil }
            await drive.cluster.withdrawRequest("q")
            #expect(await asking.value == .withdrawn)
            try await until { try await drive.desk.seen().prompt == nil }
            #expect(try await drive.answers().isEmpty)
            await #expect(throws: InspectorError.self) {
                try await drive.desk.act(
                    #"{"vehicle": "car", "action": "answerPrompt", "requestID": "q", "accepted": true}"#)
            }
            await drive.stop()
        }

        @Test func `an endpoint that leaves does not answer its prompt`() async throws {
            let drive = try await Drive.start()
            let asking = Self.ask(drive)
            try await until { try await drive.desk.seen().prompt != nil }
            try await drive.desk.act(#"{"vehicle": "car", "action": "disconnect"}"#)
            #expect(try await drive.desk.seen().prompt == nil)
            await drive.cluster.withdrawRequest("q")
            _ = await asking.value
            #expect(try await drive.answers().isEmpty)
            await drive.stop()
        }

        // MARK: From a gateway that says what a test wants

        private static func prompt(_ id: String) -> Message {
            .prompt(
                Prompt(
                    requestID: Identifier(id), waypoint: Drive.place,
                    travelEstimates: TravelEstimates(distanceRemaining: .meters(5)),
                    deadlineMilliseconds: 60_000))
        }

        private static func over(_ id: String) -> Message {
            .promptOver(PromptOver(requestID: Identifier(id), outcome: .withdrawn))
        }

        /// Shows what `body` has the gateway say.
        private static func withFake(
            _ body: (FakeGateway, FakeGateway.Peer, ActionDesk) async throws -> Void
        ) async throws {
            let fake = try await FakeGateway.start(closesAfterGoodbye: true)
            var settings = ActionDesk.Settings()
            settings.address = fake.address
            let desk = ActionDesk(settings)
            async let connected = desk.act(#"{"vehicle": "car", "action": "connect"}"#)
            let peer = try #require(await fake.next())
            try await peer.welcome()
            _ = try await connected
            try await body(fake, peer, desk)
            await desk.close()
            await fake.close()
        }

        private static func answer(in envelope: Envelope) -> PromptAnswer? {
            if case .promptAnswer(let answer) = envelope.message { answer } else { nil }
        }

        private static func answer(_ desk: ActionDesk, _ id: String) async throws {
            try await desk.act(
                #"{"vehicle": "car", "action": "answerPrompt", "requestID": "\#(id)", "accepted": true}"#)
        }

        /// The user presses the button again and again, also before the prompt is shown. Returns the answer that is sent.
        private static func press(
            _ id: String, _ desk: ActionDesk, _ peer: FakeGateway.Peer
        ) async -> PromptAnswer? {
            let pressing = Task {
                while !Task.isCancelled {
                    do { try await Self.answer(desk, id) } catch { await Task.yield() }
                }
            }
            let answer = await peer.next { Self.answer(in: $0) }
            pressing.cancel()
            await pressing.value
            return answer
        }

        @Test(arguments: [true, false])
        func `the answer to a prompt is sent also if the connection was lost meanwhile`(
            _ isResumed: Bool
        ) async throws {
            try await Self.withFake { fake, peer, desk in
                try await peer.send(Self.prompt("q"))
                try await until { try await desk.seen().prompt != nil }
                await peer.close()
                let next = try #require(await fake.next())
                try await next.welcome(isResumed: isResumed)
                try await next.send(Self.prompt("q"))
                let answer = await Self.press("q", desk, next)
                #expect(answer == PromptAnswer(requestID: "q", isAccepted: true))
            }
        }

        @Test func `the end of a prompt does not end a newer one with the same id`() async throws {
            try await Self.withFake { _, peer, desk in
                for number in 1...30 {
                    let id = "q\(number)"
                    // In one write, so that the first ends before it is shown.
                    try await peer.send([Self.prompt(id), Self.over(id), Self.prompt(id)])
                    let answer = await Self.press(id, desk, peer)
                    #expect(answer == PromptAnswer(requestID: Identifier(id), isAccepted: true))
                }
            }
        }

        @Test func `few prompts wait for the page, and others for another endpoint`() async throws {
            try await Self.withFake { _, peer, desk in
                let before = await desk.version
                try await peer.send((1...60).map { Self.prompt("q\($0)") })
                try await until { await desk.version == before + 16 }
                var answered: [String] = []
                while let id = try await desk.seen().prompt?.requestID {
                    answered.append(id)
                    try await Self.answer(desk, id)
                }
                // One that came late may have found a place.
                #expect(answered.count >= 16 && answered.count < 40)
                var sent: Set<String> = []
                while sent.count < answered.count {
                    let answer = try #require(await peer.next { Self.answer(in: $0) })
                    sent.insert(answer.requestID.rawValue)
                }
                #expect(sent == Set(answered))
                #expect(try await Self.answers(peer, desk).isEmpty)
            }
        }

        /// The prompts that were answered until now.
        private static func answers(_ peer: FakeGateway.Peer, _ desk: ActionDesk) async throws -> [String] {
            try await desk.act(#"{"vehicle": "car", "action": "allow"}"#)
            var sent: [String] = []
            _ = await peer.next { envelope -> Bool? in
                if let answer = Self.answer(in: envelope) { sent.append(answer.requestID.rawValue) }
                return envelope.message == .allowNavigation ? true : nil
            }
            return sent
        }
    }
#endif
