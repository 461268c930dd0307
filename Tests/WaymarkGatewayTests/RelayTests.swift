import StateCoding
import Testing
import WaymarkGateway
import WaymarkModel
import WaymarkProtocol

/// What waits for a client that does not read.
@Suite struct RelayTests {
    private static let session = SessionID(1)
    private static let car = VehicleID(unchecked: "car")
    private static let van = VehicleID(unchecked: "van")
    private static let sender = ConnectionID(9)

    private static func path(_ vehicle: VehicleID, _ endpoint: String = "e") -> EndpointPath {
        EndpointPath(vehicle: vehicle, endpoint: EndpointName(unchecked: endpoint))
    }

    /// A frame that its body tells apart.
    private static func frame(
        _ type: MessageType, _ number: Int, size: Int = 1, in session: SessionID = Self.session
    ) -> Frame {
        Frame(
            header: FrameHeader(type: type.rawValue, session: session),
            body: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size))
    }

    private static func zoom(
        _ number: Int, of path: EndpointPath, to outbox: inout Outbox, size: Int = 1
    ) -> Outbox.Verdict {
        outbox.append(Self.frame(.zoomCluster, number, size: size), as: .event(path, Self.sender))
    }

    /// The types that wait, each with its number.
    private static func waiting(_ outbox: inout Outbox) -> [String] {
        outbox.take(byteCount: .max).map { "\($0.header.type.map { "\($0)" } ?? "?") \($0.body.first ?? 0)" }
    }

    @Test func `the newest settings of each endpoint and session wait, at the end`() {
        var outbox = Outbox(limits: .init())
        let states: [(SessionID, EndpointPath)] = [
            (Self.session, Self.path(Self.car)), (Self.session, Self.path(Self.car, "f")),
            (Self.session, Self.path(Self.van)), (SessionID(2), Self.path(Self.car)),
            (Self.session, Self.path(Self.car)),
        ]
        for (number, (session, path)) in states.enumerated() {
            let frame = Self.frame(.vehicleSettings, number, in: session)
            #expect(outbox.append(frame, as: .state(path)) == .queued)
        }
        // The state of a vehicle is another one than that of its endpoints.
        let source = Self.frame(.updateRouteSource, 5)
        #expect(outbox.append(source, as: .state(Self.path(Self.car))) == .queued)
        #expect(outbox.conflatedCount == 1)
        #expect(
            Self.waiting(&outbox)
                == [1, 2, 3, 4].map { "vehicleSettings \($0)" } + ["updateRouteSource 5"])
        #expect(outbox.isEmpty && outbox.byteCount == 0)
    }

    @Test func `a newer standing takes the place of an older one, so that the vehicle is known first`() {
        var outbox = Outbox(limits: .init())
        #expect(outbox.append(Self.frame(.vehicleChanged, 1), as: .standing(Self.car)) == .queued)
        let settings = Self.frame(.vehicleSettings, 2)
        #expect(outbox.append(settings, as: .state(Self.path(Self.car))) == .queued)
        #expect(outbox.append(Self.frame(.vehicleChanged, 3), as: .standing(Self.van)) == .queued)
        #expect(outbox.append(Self.frame(.vehicleChanged, 4, size: 9), as: .standing(Self.car)) == .queued)
        #expect(outbox.conflatedCount == 1)
        #expect(outbox.byteCount == 3 * (24 + 1 + 128) + 8)
        #expect(
            Self.waiting(&outbox) == ["vehicleChanged 4", "vehicleSettings 2", "vehicleChanged 3"])
        #expect(outbox.isEmpty && outbox.byteCount == 0)
    }

    @Test func `of a standing in several parts all wait, behind older ones and before newer ones`() {
        var outbox = Outbox(limits: .init())
        func append(_ number: Int, isPart: Bool = false, of vehicle: VehicleID = Self.car) {
            let relay = isPart ? Relay.standingPart(vehicle) : .standing(vehicle)
            #expect(outbox.append(Self.frame(.vehicleChanged, number), as: relay) == .queued)
        }
        append(1)
        append(2, isPart: true)
        append(3, isPart: true)
        append(5)
        append(6, of: Self.van)
        append(7)
        #expect(Self.waiting(&outbox) == [1, 2, 3, 7, 6].map { "vehicleChanged \($0)" })
        // The first part waits no more.
        append(8, isPart: true)
        #expect(Self.waiting(&outbox) == ["vehicleChanged 8"])
        append(9, isPart: true)
        append(10)
        #expect(Self.waiting(&outbox) == ["vehicleChanged 9", "vehicleChanged 10"])
        #expect(outbox.isEmpty && outbox.byteCount == 0)
    }

    @Test func `no newer standing goes before the SessionOpened of its session`() {
        var outbox = Outbox(limits: .init())
        let other = SessionID(2)
        for session in [Self.session, other] {
            let frame = Self.frame(.vehicleChanged, 1, in: session)
            #expect(outbox.append(frame, as: .standing(Self.car)) == .queued)
        }
        let opened = Self.frame(.sessionOpened, 2, in: .none)
        #expect(outbox.append(opened, as: .opened(Self.session)) == .queued)
        for session in [Self.session, other] {
            let frame = Self.frame(.vehicleChanged, 3, in: session)
            #expect(outbox.append(frame, as: .standing(Self.car)) == .queued)
        }
        #expect(
            Self.waiting(&outbox)
                == ["vehicleChanged 1", "vehicleChanged 3", "sessionOpened 2", "vehicleChanged 3"])
    }

    @Test func `a standing with which a vehicle has left stays behind its outcomes`() {
        var outbox = Outbox(limits: .init())
        func stand(_ number: Int, _ vehicle: VehicleID = Self.car) {
            let frame = Self.frame(.vehicleChanged, number)
            #expect(outbox.append(frame, as: .standing(vehicle)) == .queued)
        }
        for (number, relay, type) in [
            (2, .share(Self.car), .destinationShareStatus), (5, .outcome(Self.car, "r"), .requestOutcome),
        ] as [(Int, Relay, MessageType)] {
            stand(number - 1)
            #expect(outbox.append(Self.frame(type, number), as: relay) == .queued)
            stand(number + 1)
            stand(number + 2, Self.van)
            stand(number + 3)
            #expect(
                Self.waiting(&outbox)
                    == [
                        "vehicleChanged \(number - 1)", "\(type) \(number)",
                        "vehicleChanged \(number + 3)", "vehicleChanged \(number + 2)",
                    ])
        }
        // A frame that was sent holds nothing back.
        stand(20)
        stand(21)
        #expect(Self.waiting(&outbox) == ["vehicleChanged 21"])
    }

    @Test func `a newer standing does not overtake events of the vehicle`() {
        var outbox = Outbox(limits: .init())
        for number in 0..<4 {
            #expect(
                outbox.append(Self.frame(.vehicleChanged, 10 * number), as: .standing(Self.car)) == .queued)
            if number.isMultiple(of: 2) {
                #expect(Self.zoom(number, of: Self.path(Self.car), to: &outbox) == .queued)
            }
            #expect(Self.zoom(number + 100, of: Self.path(Self.van), to: &outbox) == .queued)
        }
        #expect(
            Self.waiting(&outbox) == [
                "vehicleChanged 0", "zoomCluster 0", "zoomCluster 100", "vehicleChanged 20",
                "zoomCluster 101", "zoomCluster 2", "zoomCluster 102", "vehicleChanged 30",
                "zoomCluster 103",
            ])
    }

    @Test func `each endpoint has a share of what waits, and gets it back when the client reads`() {
        var outbox = Outbox(limits: .init())
        for number in 0..<40 {
            let verdict = Self.zoom(number, of: Self.path(Self.car), to: &outbox)
            #expect(verdict == (number < 16 ? .queued : .rejected(.count(16))))
        }
        #expect(Self.zoom(100, of: Self.path(Self.car, "f"), to: &outbox) == .queued)
        #expect(Self.zoom(101, of: Self.path(Self.van), to: &outbox) == .queued)
        // Of the first.
        #expect(outbox.take(byteCount: 1).count == 1)
        #expect(Self.zoom(40, of: Self.path(Self.car), to: &outbox) == .queued)
        #expect(Self.zoom(41, of: Self.path(Self.car), to: &outbox) == .rejected(.count(16)))
        #expect(
            Self.waiting(&outbox) == (Array(1..<16) + [100, 101, 40]).map { "zoomCluster \($0)" })
        for number in 0..<16 { #expect(Self.zoom(number, of: Self.path(Self.car), to: &outbox) == .queued) }
        outbox.purge(Self.session)
        #expect(outbox.isEmpty && outbox.byteCount == 0)
        for number in 0..<16 { #expect(Self.zoom(number, of: Self.path(Self.car), to: &outbox) == .queued) }
        outbox.removeAll()
        for number in 0..<16 { #expect(Self.zoom(number, of: Self.path(Self.car), to: &outbox) == .queued) }
    }

    @Test func `what endpoints send to a client by themselves counts for their share`() {
        let path = Self.path(Self.car)
        var (zoom, response) = (ZoomCluster(direction: .in), AlertResponse(alert: 1, response: .action(1)))
        var sent = VehicleExtension(name: ExtensionName(unchecked: "org.example.tyres"), content: [1])
        (zoom.source, response.source, sent.source) = (path, path, path)
        let wanted = DestinationShareWanted(source: path)
        for message in [
            Message.zoomCluster(zoom), .alertResponse(response), .vehicleExtension(sent),
            .destinationShareWanted(wanted),
        ] {
            #expect(
                Relay(of: Envelope(message), from: Self.sender) == .event(path, Self.sender),
                "\(message.type)")
        }
    }

    @Test func `of the selections of a vehicle that wait, a client gets the newest`() {
        let none = EndpointName(unchecked: "")
        for endpoint in ["cluster", "hud"] {
            let path = EndpointPath(vehicle: Self.car, endpoint: EndpointName(unchecked: endpoint))
            let selection = Envelope(.selectPreview(SelectPreview(trip: "t", source: path)))
            #expect(
                Relay(of: selection, from: Self.sender)
                    == .state(EndpointPath(vehicle: Self.car, endpoint: none)))
        }
    }

    @Test func `a share is bounded in bytes, and one event may be longer than it`() {
        var limits = Outbox.Limits()
        limits.eventBytesPerEndpointMax = 1_000
        var outbox = Outbox(limits: limits)
        #expect(Self.zoom(1, of: Self.path(Self.car), to: &outbox, size: 5_000) == .queued)
        #expect(Self.zoom(2, of: Self.path(Self.car), to: &outbox) == .rejected(.bytes(1_000)))
        // Each counts as 500 bytes.
        #expect(Self.zoom(3, of: Self.path(Self.van), to: &outbox, size: 500 - 24 - 128) == .queued)
        #expect(Self.zoom(4, of: Self.path(Self.van), to: &outbox, size: 500 - 24 - 128) == .queued)
        #expect(Self.zoom(5, of: Self.path(Self.van), to: &outbox, size: 0) == .rejected(.bytes(1_000)))
    }

    @Test func `the events of all endpoints fill half of the outbox at most`() {
        var limits = Outbox.Limits()
        limits.bytesMax = 3_060
        var outbox = Outbox(limits: limits)
        // Each counts as 153 bytes.
        for number in 0..<20 {
            let path = Self.path(VehicleID(unchecked: "v\(number)"))
            #expect(
                Self.zoom(number, of: path, to: &outbox)
                    == (number < 10 ? .queued : .rejected(.bytesInAll(1_530))))
        }
        for number in 0..<10 { #expect(outbox.append(Self.frame(.error, number), key: nil) == .queued) }
        #expect(outbox.append(Self.frame(.error, 10), key: nil) == .overflow)
    }

    @Test func `a request that ends while it waits is not sent, and neither is its outcome`() {
        var outbox = Outbox(limits: .init())
        func append(_ type: MessageType, _ number: Int, _ relay: Relay) {
            #expect(outbox.append(Self.frame(type, number), as: relay) == .queued)
        }
        for number in 0..<1_000 {
            let id: Identifier = "r\(number)"
            append(.destinationRequest, number, .request(Self.car, id))
            append(.requestOutcome, number, .outcome(Self.car, id))
        }
        #expect(outbox.isEmpty && outbox.byteCount == 0)
        append(.destinationRequest, 1, .request(Self.car, "r"))
        // The same id of another vehicle, and a request that was sent before.
        append(.requestOutcome, 2, .outcome(Self.van, "r"))
        append(.requestOutcome, 3, .outcome(Self.car, "sent"))
        #expect(
            Self.waiting(&outbox) == ["destinationRequest 1", "requestOutcome 2", "requestOutcome 3"])
        append(.requestOutcome, 4, .outcome(Self.car, "r"))
        #expect(Self.waiting(&outbox) == ["requestOutcome 4"])
    }

    @Test func `in the next process the same waits, with its keys and shares`() throws {
        var outbox = Outbox(limits: .init())
        for number in 0..<16 { #expect(Self.zoom(number, of: Self.path(Self.car), to: &outbox) == .queued) }
        let settings = Self.frame(.vehicleSettings, 20)
        #expect(outbox.append(settings, as: .state(Self.path(Self.van))) == .queued)
        #expect(outbox.append(Self.frame(.vehicleChanged, 21), as: .standing(Self.van)) == .queued)
        #expect(
            outbox.append(Self.frame(.waypointRequest, 22), as: .request(Self.van, "r")) == .queued)
        let bytes = try StateCoder.encode(outbox.waiting, format: 1)
        // Of a process with smaller shares: nothing that waits is dropped.
        var limits = Outbox.Limits()
        limits.eventsPerEndpointMax = 4
        var next = Outbox(limits: limits)
        for waiting in try StateCoder.decode([Outbox.Waiting].self, from: bytes, format: 1) {
            let relay = try #require(waiting.relay)
            #expect(next.append(waiting.frame, as: relay, mayExceedShare: true) == .queued)
        }
        #expect(next.waiting.map(\.frame) == outbox.waiting.map(\.frame))
        #expect(Self.zoom(30, of: Self.path(Self.car), to: &next) == .rejected(.count(4)))
        #expect(
            next.append(Self.frame(.vehicleSettings, 31), as: .state(Self.path(Self.van))) == .queued)
        #expect(next.append(Self.frame(.vehicleChanged, 32), as: .standing(Self.van)) == .queued)
        #expect(next.append(Self.frame(.requestOutcome, 33), as: .outcome(Self.van, "r")) == .queued)
        #expect(
            Self.waiting(&next)
                == (0..<16).map { "zoomCluster \($0)" } + ["vehicleChanged 32", "vehicleSettings 31"])
    }

    /// Endpoints of three vehicles do everything without end, and the client reads now and then.
    @Test(arguments: UInt64(0)..<50)
    func `whatever vehicles send, little waits, and the newest states and all events arrive in order`(
        _ seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var outbox = Outbox(limits: .init())
        var newest: [String: Int] = [:]
        var seen: [String: Int] = [:]
        var (events, seenEvents): ([String: [Int]], [String: [Int]]) = ([:], [:])
        var bodies: [Int: (key: String, isEvent: Bool)] = [:]
        func read(_ byteCount: Int) {
            for frame in outbox.take(byteCount: byteCount) {
                let number = frame.body.reduce(0) { $0 << 8 | Int($1) }
                guard let (key, isEvent) = bodies[number] else { continue }
                if isEvent { seenEvents[key, default: []].append(number) } else { seen[key] = number }
            }
        }
        for number in 0..<3_000 {
            let vehicle = VehicleID(unchecked: "v\(random.number(0...2))")
            let path = Self.path(vehicle, "e\(random.number(0...1))")
            let body = [UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
            let (type, relay): (MessageType, Relay) =
                switch random.number(0...3) {
                case 0: (.zoomCluster, .event(path, Self.sender))
                case 1: (.vehicleSettings, .state(path))
                case 2: (.updateRouteSource, .state(Self.path(vehicle, "")))
                default: (.vehicleChanged, .standing(vehicle))
                }
            let frame = Frame(header: FrameHeader(type: type.rawValue, session: Self.session), body: body)
            let verdict = outbox.append(frame, as: relay)
            let isEvent = type == .zoomCluster
            let key = isEvent ? "\(path)" : "\(type) \(relay)"
            bodies[number] = (key, isEvent)
            if isEvent {
                if verdict == .queued { events[key, default: []].append(number) }
            } else {
                #expect(verdict == .queued)
                newest[key] = number
            }
            // Six shares, six settings, three route sources, and a standing before each event and one more.
            #expect(outbox.byteCount <= (96 + 6 + 3 + 99) * (27 + 128))
            if random.number(0...63) == 0 { read(random.number(1...2_000)) }
        }
        read(.max)
        #expect(outbox.isEmpty && outbox.byteCount == 0)
        #expect(seen == newest && seenEvents == events)
    }
}
