import FakeGateway
import Testing
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkClient

/// What a client's handlers answer.
enum AnsweredRequest: String, CaseIterable, Sendable { case stop, ownPrompt, drive, start }

/// What ends a request at the client that was asked.
enum RequestEnd: String, CaseIterable, Sendable {
    case outcome, withdrawal, vehicleLeft, sessionEnded, connectionLost, closed

    /// A request for a drive is in no session.
    func concerns(_ request: AnsweredRequest) -> Bool {
        switch self {
        case .vehicleLeft, .sessionEnded: request != .drive
        case .outcome, .withdrawal, .connectionLost, .closed: true
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct HandlerCancellationTests {
    private static let car = VehicleID(unchecked: "car")
    private static let session = SessionID(7)

    /// Handlers that wait until their task is cancelled, unless they are asked by the vehicle `late`, which they decline at once.
    private struct Waiting: Sendable {
        let begun, cancelled: AsyncStream<Void>
        private let begin, cancel: AsyncStream<Void>.Continuation

        init() {
            (self.begun, self.begin) = AsyncStream.makeStream()
            (self.cancelled, self.cancel) = AsyncStream.makeStream()
        }

        func wait() async {
            self.begin.yield()
            do { try await Task.sleep(for: .seconds(3_600)) } catch { self.cancel.yield() }
        }

        func answer(_ inquiry: WaypointInquiry, _ request: AnsweredRequest) async -> WaypointAnswer {
            guard inquiry.vehicle != "late" else { return .decline(.invalid) }
            guard request != .ownPrompt else {
                return .ownPrompt {
                    await self.wait()
                    return true
                }
            }
            await self.wait()
            return .decline(.busy)
        }

        func answer(_ inquiry: StartTripInquiry) async -> StartTripAnswer {
            guard inquiry.vehicle != "late" else { return .decline(.invalid) }
            await self.wait()
            return .accept(whenAccepted: {})
        }

        func answer(_ inquiry: DestinationInquiry) async -> DestinationAnswer {
            guard inquiry.vehicle != "late" else { return .decline(.invalid) }
            await self.wait()
            return .accept
        }
    }

    /// A client with an open session.
    private struct Connected {
        let gateway: FakeGateway
        let client: NavigationClient
        let peer: FakeGateway.Peer

        static func start(_ waiting: Waiting, _ request: AnsweredRequest) async throws -> Connected {
            let gateway = try await FakeGateway.start(closesAfterGoodbye: true)
            var configuration = NavigationClient.Configuration(id: "app")
            configuration.reconnection = quick
            configuration.onDestination = { await waiting.answer($0) }
            let chosen = configuration
            async let connecting = NavigationClient.connect(to: gateway.address, chosen)
            let peer = try #require(await gateway.next())
            try await peer.welcome()
            let client = try await connecting
            async let opening = client.openSession(
                vehicles: .vehicles(["car", "late"]),
                onWaypoint: { inquiry, _ in await waiting.answer(inquiry, request) },
                onStartTrip: { inquiry, _ in await waiting.answer(inquiry) })
            let opened = await peer.next {
                if case .openSession(let opening) = $0.message { opening.requestID } else { nil }
            }
            try await peer.send(
                .sessionOpened(
                    SessionOpened(
                        requestID: try #require(opened), session: HandlerCancellationTests.session,
                        vehicles: [])))
            _ = try await opening
            return Connected(gateway: gateway, client: client, peer: peer)
        }

        func ask(_ request: AnsweredRequest, _ id: Identifier, _ vehicle: VehicleID) async throws {
            switch request {
            case .stop, .ownPrompt:
                let stop = WaypointRequest(requestID: id, waypoint: place, vehicle: vehicle)
                try await self.peer.send(.waypointRequest(stop), session: HandlerCancellationTests.session)
            case .start:
                let start = StartTripRequest(requestID: id, trip: "trip-1", vehicle: vehicle)
                try await self.peer.send(.startTripRequest(start), session: HandlerCancellationTests.session)
            case .drive:
                let drive = DestinationRequest(requestID: id, destination: place, vehicle: vehicle)
                try await self.peer.send(.destinationRequest(drive))
            }
        }

        func tell(
            _ outcome: Outcome, of request: AnsweredRequest, _ id: Identifier, _ vehicle: VehicleID
        ) async throws {
            let told = RequestOutcome(requestID: id, vehicle: vehicle, outcome: outcome)
            try await self.peer.send(
                .requestOutcome(told),
                session: request == .drive ? .none : HandlerCancellationTests.session)
        }

        func end(_ request: AnsweredRequest, by end: RequestEnd) async throws {
            let (car, session) = (HandlerCancellationTests.car, HandlerCancellationTests.session)
            switch end {
            case .outcome: try await self.tell(.timedOut, of: request, "a", car)
            case .withdrawal: try await self.tell(.withdrawn, of: request, "a", car)
            case .vehicleLeft:
                let left = VehicleStatus(vehicle: car, standing: .left(.vehicleGone))
                try await self.peer.send(.vehicleChanged(left), session: session)
            case .sessionEnded:
                try await self.peer.send(.sessionEnded(SessionEnded(session: session, reason: .userStopped)))
            case .connectionLost: await self.peer.close()
            case .closed: await self.client.close()
            }
        }
    }

    @Test(
        arguments: AnsweredRequest.allCases.flatMap { request in
            RequestEnd.allCases.filter { $0.concerns(request) }.map { (request, $0) }
        })
    func `the end of a request cancels its handler`(_ request: AnsweredRequest, _ end: RequestEnd)
        async throws
    {
        let waiting = Waiting()
        let connected = try await Connected.start(waiting, request)
        try await connected.ask(request, "a", Self.car)
        for await _ in waiting.begun { break }
        try await connected.end(request, by: end)
        for await _ in waiting.cancelled { break }
        await connected.client.close()
        await connected.gateway.close()
    }

    @Test(arguments: AnsweredRequest.allCases)
    func `a handler that was cancelled answers nothing`(_ request: AnsweredRequest) async throws {
        let waiting = Waiting()
        let connected = try await Connected.start(waiting, request)
        try await connected.ask(request, "a", Self.car)
        for await _ in waiting.begun { break }
        try await connected.end(request, by: .outcome)
        for await _ in waiting.cancelled { break }
        try await connected.ask(request, "b", VehicleID(unchecked: "late"))
        var answers: [RequestAnswer] = []
        _ = await connected.peer.next { envelope -> Bool? in
            guard case .requestAnswer(let answer) = envelope.message else { return nil }
            answers.append(answer)
            return answer.requestID == "b" ? true : nil
        }
        let late = RequestAnswer(
            requestID: "b", vehicle: VehicleID(unchecked: "late"), answer: .decline(.invalid))
        let before = RequestAnswer(requestID: "a", vehicle: Self.car, answer: .ownPrompt)
        #expect(answers == (request == .ownPrompt ? [before, late] : [late]))
        await connected.client.close()
        await connected.gateway.close()
    }

    @Test func `a request that comes again has one handler`() async throws {
        let waiting = Waiting()
        let connected = try await Connected.start(waiting, .stop)
        for _ in 0..<2 {
            try await connected.ask(.stop, "a", Self.car)
            for await _ in waiting.begun { break }
        }
        for await _ in waiting.cancelled { break }
        try await connected.end(.stop, by: .outcome)
        for await _ in waiting.cancelled { break }
        await connected.client.close()
        await connected.gateway.close()
    }

    @Test func `handlers that were cancelled make room for others once they have ended`() async throws {
        let waiting = Waiting()
        let connected = try await Connected.start(waiting, .drive)
        let late = VehicleID(unchecked: "late")
        let number = PeerBounds.inquiriesMax
        for index in 0..<number { try await connected.ask(.drive, Identifier("r\(index)"), Self.car) }
        func answer(to id: Identifier) async throws -> RequestAnswer.Answer? {
            try await connected.ask(.drive, id, late)
            return await connected.peer.next { envelope -> RequestAnswer.Answer? in
                guard case .requestAnswer(let answer) = envelope.message, answer.requestID == id else {
                    return nil
                }
                return answer.answer
            }
        }
        #expect(try await answer(to: "full") == .decline(.busy))
        try await connected.tell(.timedOut, of: .drive, "r0", Self.car)
        for await _ in waiting.cancelled { break }
        // The handler's task ends a moment after its sleep.
        for attempt in 0..<10_000 {
            guard try await answer(to: Identifier("late\(attempt)")) == .decline(.busy) else { break }
        }
        #expect(try await answer(to: "roomy") == .decline(.invalid))
        await connected.client.close()
        await connected.gateway.close()
    }
}
