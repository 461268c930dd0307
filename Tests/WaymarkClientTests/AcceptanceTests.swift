import FakeGateway
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// `whenAccepted()` returns when the gateway has acknowledged what was published before, whatever happens to the connection.
@Suite(.timeLimit(.minutes(10))) struct AcceptanceTests {
    private let id = SessionID(7)

    private func guided(
        _ gateway: FakeGateway
    ) async throws -> (NavigationClient, NavigationSession, FakeGateway.Peer) {
        let (client, peer) = try await gateway.client()
        async let opening = client.openSession(vehicles: .anyThatAsked)
        try await peer.open(self.id)
        let session = try await opening
        try await session.start(trip, route: route)
        return (client, session, peer)
    }

    /// Waits until a frame has arrived.
    private func hear(_ sequence: UInt64, _ peer: FakeGateway.Peer) async {
        _ = await peer.next { $0.sequence == sequence ? true : nil }
    }

    private func end(_ client: NavigationClient, _ peer: FakeGateway.Peer, _ gateway: FakeGateway) async {
        await peer.close()
        await client.close()
        await gateway.close()
    }

    @Test func `a call returns with the Acknowledgement of what was published before it`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.guided(gateway)
        try await session.setCurrentRoadName(["A"])
        let call = Task { try await session.whenAccepted() }
        await self.hear(2, peer)
        try await peer.send(.acknowledgement(sequence: 1), session: self.id)
        try await peer.send(.acknowledgement(sequence: 2), session: self.id)
        try await call.value
        // Nothing was published since.
        try await session.whenAccepted()
        await self.end(client, peer, gateway)
    }

    @Test func `after a cut a call waits for what is sent again`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.guided(gateway)
        try await session.setCurrentRoadName(["A"])
        await self.hear(2, peer)
        let call = Task { try await session.whenAccepted() }
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome(
            isResumed: true, sessions: [ResumedSession(session: self.id, sequence: 1, phase: .active)])
        await self.hear(2, back)
        try await back.send(.acknowledgement(sequence: 2), session: self.id)
        try await call.value
        await self.end(client, back, gateway)
    }

    @Test func `what the gateway had when the client resumed is accepted`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.guided(gateway)
        await self.hear(1, peer)
        let call = Task { try await session.whenAccepted() }
        await peer.close()
        let back = try #require(await gateway.next())
        try await back.welcome(
            isResumed: true, sessions: [ResumedSession(session: self.id, sequence: 1, phase: .active)])
        try await call.value
        await self.end(client, back, gateway)
    }

    @Test func `the end that the app wanted accepts everything, another end does not`() async throws {
        for (reason, isAccepted) in [(SessionEndReason.finished, true), (.userStopped, false)] {
            let gateway = try await FakeGateway.start()
            let (client, session, peer) = try await self.guided(gateway)
            try await session.finish()
            let call = Task { try await session.whenAccepted() }
            await self.hear(2, peer)
            try await peer.send(.sessionEnded(SessionEnded(session: self.id, reason: reason)))
            let expected: Result<Void, ClientError> =
                isAccepted ? .success(()) : .failure(.sessionEnded(.userStopped))
            for result in [await call.result, await Task { try await session.whenAccepted() }.result] {
                switch (result, expected) {
                case (.success, .success): break
                case (.failure(let error), .failure(let wanted)): #expect(error as? ClientError == wanted)
                default: Issue.record("\(reason): \(result)")
                }
            }
            await self.end(client, peer, gateway)
        }
    }

    @Test func `a cancelled call returns`() async throws {
        let gateway = try await FakeGateway.start()
        let (client, session, peer) = try await self.guided(gateway)
        let call = Task { try await session.whenAccepted() }
        call.cancel()
        await #expect(throws: ClientError.cancelled) { try await call.value }
        await self.end(client, peer, gateway)
    }
}
