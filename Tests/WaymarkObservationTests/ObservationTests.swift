import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkObservation
import WaymarkProtocol

@Suite struct ObservationTests {
    /// A vehicle that is guided.
    private static func drive(_ world: inout ObservedWorld) throws -> (client: ConnectionID, SessionID) {
        world.vehicle(1, "car")
        let client = world.client(2, "app")
        let session = try world.open(client, ["car"])
        world.publish(client, session, .startGuidance(trip(), generation: 1, .init()))
        return (client, session)
    }

    @Test func `an observer is told the present state, and then what changes`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        let observer = world.watch(50)
        #expect(world.states[observer]?.isComplete == true)
        #expect(world.states[observer]?.vehicles.keys.map(\.rawValue) == ["car"])
        #expect(world.states[observer]?.sessions[session]?.phase == .active)
        #expect(world.states[observer]?.retained[session]?.frames.count == 1)
        world.publish(client, session, .currentRoadName(["A 13"]))
        world.publish(client, session, .pauseGuidance(.rerouting, description: []))
        world.vehicle(3, "bus")
        let (vehicles, clients, sessions, requests, retained) = view(of: &world.gateway)
        let state = try #require(world.states[observer])
        let isSame = state.vehicles == vehicles
        #expect(isSame)
        #expect(state.clients == clients)
        #expect(state.sessions == sessions)
        #expect(state.requests == requests)
        #expect(state.retained.mapValues(\.frames) == retained)
        #expect(world.numbers(observer) == Array(1...UInt64(world.numbers(observer).count)))
        #expect(world.kinds(observer) == [.paused, .admitted])
    }

    @Test func `what a session retains comes in parts, as it was, and then what happened meanwhile`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        let text = String(repeating: "x", count: 400)
        func maneuvers(_ numbers: ClosedRange<UInt32>) -> Publication {
            let maneuvers = numbers.map { number in
                var maneuver = Maneuver(id: ManeuverID(rawValue: number), type: .leftTurn)
                maneuver.instructionVariants = [text]
                return maneuver
            }
            return .addManeuvers(maneuvers, generation: 1)
        }
        for part in 0..<UInt32(8) {
            world.publish(client, session, maneuvers(part * 50 + 1...part * 50 + 50))
        }
        let observer = ConnectionID(50)
        world.stalled = [observer]
        world.watch(50)
        let first = world.told[observer]?.count ?? 0
        #expect(world.states[observer]?.isComplete == false)
        world.publish(client, session, .startGuidance(trip(), generation: 2, .init()))
        #expect(world.told[observer]?.count == first)
        while world.hub.isDue || world.states[observer]?.isComplete == false {
            let count = world.told[observer]?.count ?? 0
            world.hub.noteRoom(for: observer)
            world.tell()
            let bytes = (world.told[observer] ?? []).dropFirst(count).map(Self.retainedByteCount)
            #expect(bytes.reduce(0, +) < 100_000)
            guard world.told[observer]?.count != count else { break }
        }
        #expect(world.states[observer]?.isComplete == true)
        let frames = world.states[observer]?.retained.mapValues(\.frames)
        #expect(frames == view(of: &world.gateway).4)
    }

    private static func retainedByteCount(of message: Message) -> Int {
        guard case .observedRecords(let records) = message else { return 0 }
        return records.retained.reduce(0) { $0 + $1.frames.count }
    }

    @Test func `counters come first, then what waits for connections, then what sessions have`() throws {
        var world = ObservedWorld()
        let (_, session) = try Self.drive(&world)
        let observer = world.watch(50)
        var waiting = ConnectionMeasure(ConnectionID(1))
        waiting.waitingBytes = 300
        let counter = CounterReport.Counter(.snapshots, 1)
        world.measures = Measures(counters: [counter], connections: [waiting])
        var read = ReadCounters()
        #expect(world.read(read, observer).map(\.isLast) == [true])
        (read.wantsConnections, read.wantsSessions) = (true, true)
        let reports = world.read(read, observer)
        let active = CounterReport.Counter(.sessionsInPhase, label: SessionPhase.active.rawValue, 1)
        #expect(reports.flatMap(\.counters) == [counter, active])
        #expect(reports.flatMap(\.connections) == [waiting])
        #expect(reports.flatMap(\.sessions).map(\.session) == [session])
        #expect(reports.flatMap(\.sessions).map(\.sequence) == [1])
        #expect(reports.flatMap(\.sessions).allSatisfy { $0.retainedBytes > 0 && $0.ageMilliseconds == 0 })
        #expect(reports.map(\.isLast) == reports.indices.map { $0 == reports.count - 1 })
    }

    @Test func `what crosses with the end of its session concerns the vehicles that it had`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        let observer = world.watch(50) { $0.vehicles = [VehicleID(unchecked: "car")] }
        let other = world.watch(51) { $0.vehicles = [VehicleID(unchecked: "bus")] }
        world.publish(client, session, together: [.currentRoadName(["A 13"]), .finishGuidance])
        let crossed = Self.types(in: world.told[observer] ?? [])
        let name = MessageType.currentRoadName.rawValue
        let finish = MessageType.finishGuidance.rawValue
        #expect(crossed.filter { $0 == name }.count == 2)
        #expect(crossed.filter { $0 == finish }.count == 2)
        #expect(Self.types(in: world.told[other] ?? []).isEmpty)
    }

    /// The types of the publications that an observer was told.
    private static func types(in told: [Message]) -> [UInt16] {
        told.flatMap { message -> [UInt16] in
            guard case .observedFrames(let frames) = message else { return [] }
            return Frame.all(in: frames.frames).map(\.header.rawType)
                .filter { MessageType.published.contains($0) }
        }
    }

    @Test func `a filter holds for measures too`() throws {
        var world = ObservedWorld()
        let (_, session) = try Self.drive(&world)
        world.vehicle(5, "bus")
        let other = world.client(6, "other")
        _ = try world.open(other, ["bus"])
        let observer = world.watch(50) { observe in
            observe.vehicles = [VehicleID(unchecked: "car")]
            observe.clients = [ClientID(unchecked: "app")]
        }
        world.measures = Measures(
            counters: [],
            connections: [1, 2, 5, 6, 50].map { (number: UInt64) in
                var measure = ConnectionMeasure(ConnectionID(number))
                measure.conflated = 1
                return measure
            })
        var read = ReadCounters()
        (read.wantsConnections, read.wantsSessions) = (true, true)
        let reports = world.read(read, observer)
        #expect(reports.flatMap(\.connections).map(\.connection.rawValue) == [1, 2])
        #expect(reports.flatMap(\.sessions).map(\.session) == [session])
    }

    @Test func `many measures come in parts`() throws {
        var world = ObservedWorld()
        let observer = world.watch(50)
        let connections = (1...1_000).map { number in
            var measure = ConnectionMeasure(ConnectionID(UInt64(number)))
            measure.inputBytes = 5_000
            return measure
        }
        world.measures = Measures(counters: [], connections: connections)
        var read = ReadCounters()
        read.wantsConnections = true
        let reports = world.read(read, observer)
        #expect(reports.count > 3)
        #expect(reports.flatMap(\.connections) == connections)
        #expect(reports.last?.isLast == true)
    }

    @Test func `the present state comes in parts, with what happens between them`() throws {
        var world = ObservedWorld()
        for number in 1...600 { world.vehicle(UInt64(number), "v\(number)") }
        let observer = ConnectionID(9_000)
        world.stalled = [observer]
        world.watch(9_000)
        #expect(world.states[observer]?.isComplete == false)
        world.handle(.departed(ConnectionID(3), clean: true))
        world.handle(.departed(ConnectionID(599), clean: true))
        world.vehicle(700, "a-late-one")
        world.stalled = []
        world.hub.noteRoom(for: observer)
        world.tell()
        #expect(world.records(observer).count > 3)
        #expect(world.states[observer]?.isComplete == true)
        let isSame = world.states[observer]?.vehicles == view(of: &world.gateway).vehicles
        #expect(isSame)
    }

    @Test func `a publication is told once as it came and once for each audience`() throws {
        var world = ObservedWorld()
        world.vehicle(5, "car", endpoint: "hud")
        let (client, session) = try Self.drive(&world)
        let observer = world.watch(50)
        world.publish(client, session, .currentRoadName(["A 13"]))
        let frames = world.frames(observer)
        #expect(frames.map(\.direction) == [.in, .out])
        #expect(frames[0].connection == client)
        #expect(frames[0].frames == frames[1].frames)
        let members = try #require(world.states[observer]?.vehicles[VehicleID(unchecked: "car")]).endpoints
        #expect(members.map(\.audience) == [frames[1].audience, frames[1].audience])
    }

    @Test func `what crossed together is told together, unless it is long`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        let observer = world.watch(50)
        world.publish(client, session, together: (1...3).map { .currentRoadName(["road \($0)"]) })
        #expect(world.frames(observer).map { Frame.all(in: $0.frames).count } == [3, 3])
        let long = [String](repeating: String(repeating: "x", count: 500), count: 7)
        world.publish(client, session, together: (1...20).map { .currentRoadName(long + ["\($0)"]) })
        #expect(world.frames(observer).dropFirst(2).allSatisfy { Frame.all(in: $0.frames).count == 1 })
        #expect(
            world.states[observer]?.retained[session]?.frames == world.gateway.retainedFrames(of: session))
    }

    @Test func `a rejected publication is told apart, and retained by nothing`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        let observer = world.watch(50)
        world.publish(client, session, .dismissAlert(9, .userDismissed))
        #expect(world.frames(observer).map(\.isRejected) == [true, false])
        #expect(world.types(observer, .out) == [.error])
        #expect(
            world.states[observer]?.retained[session]?.frames == world.gateway.retainedFrames(of: session))
    }

    @Test func `a client's record has every feature that its Welcome grants`() {
        var world = ObservedWorld { $0.withheldFeatures = [.charge] }
        let observer = world.watch(50)
        let app = ClientID(unchecked: "app")
        world.arrive(1, .navigation(NavigationHello(client: app, features: [.maneuvers, .charge])))
        #expect(
            world.states[observer]?.clients[app]?.granted == [.maneuvers, .receipts, .resumption])
    }

    @Test func `credentials and tokens are never told`() throws {
        var world = ObservedWorld()
        let observer = world.watch(50)
        let car = world.vehicle(1, "car")
        var welcome = Welcome(resumptionToken: ResumptionToken(high: 0x5345_4352, low: 0x4554_5345_4352))
        welcome.software = "test"
        world.handle(.seen(car, .sent(.welcome(welcome))))
        #expect(world.types(observer, .in) == [.hello])
        #expect(world.types(observer, .out).contains(.welcome))
        #expect(world.kinds(observer) == [.admitted])
        for frames in world.frames(observer) {
            #expect(frames.frames.firstRange(of: Array("secret".utf8)) == nil)
            #expect(frames.frames.firstRange(of: Array("SECR".utf8)) == nil)
        }
    }

    @Test func `one who may see the state only sees no places`() throws {
        var world = ObservedWorld()
        let observer = world.watch(50, .state)
        let all = world.watch(51, .all)
        _ = try Self.drive(&world)
        let told = world.frames(observer)
        #expect(!told.isEmpty)
        #expect(told.allSatisfy { $0.isRedacted })
        for frames in told {
            #expect(frames.frames.firstRange(of: Array("Vaduz".utf8)) == nil)
            for frame in Frame.all(in: frames.frames) { _ = try Codec.decode(frame) }
        }
        #expect(world.frames(all).contains { $0.frames.firstRange(of: Array("Vaduz".utf8)) != nil })
        #expect(world.frames(all).allSatisfy { !$0.isRedacted })
        let late = world.watch(52, .state)
        let retained = world.records(late).flatMap(\.retained)
        #expect(!retained.isEmpty && retained.allSatisfy { $0.isRedacted })
    }

    @Test func `what a trip or an owner does not share is redacted for those without the right`() throws {
        var world = ObservedWorld { $0.routeSharingVehicles = [] }
        let content = world.watch(50, .content)
        let all = world.watch(51, .all)
        let (client, session) = try Self.drive(&world)
        func told(_ id: ConnectionID) -> [ObservedFrames] {
            world.frames(id).filter { $0.direction == .in && $0.session == session }
        }
        #expect(told(content).map(\.isRedacted) == [true])
        #expect(told(all).map(\.isRedacted) == [false])
        world.publish(client, session, .currentRoadName(["A 13"]))
        #expect(told(content).map(\.isRedacted) == [true, false])
    }

    @Test func `an opt-out reaches what an observer was not told yet`() throws {
        var world = ObservedWorld()
        let content = ConnectionID(50)
        world.stalled = [content]
        world.watch(50, .content)
        let (client, session) = try Self.drive(&world)
        world.publish(client, session, .updateTrip(trip(sharesSegments: false)))
        world.stalled = []
        world.hub.noteRoom(for: content)
        world.tell()
        let started = world.frames(content).filter {
            Frame.all(in: $0.frames).contains { $0.header.type == .startGuidance }
        }
        #expect(!started.isEmpty)
        #expect(started.allSatisfy { $0.isRedacted })
    }

    @Test func `a slow observer loses the oldest entries, is told how many, and gets the state again`() throws
    {
        var world = ObservedWorld { $0.limits.observationBytesMax = 65_536 }
        let slow = ConnectionID(50)
        let (client, session) = try Self.drive(&world)
        world.watch(50)
        let fast = world.watch(51)
        world.stalled = [slow]
        for number in 1...400 { world.publish(client, session, .currentRoadName(["road \(number)"])) }
        #expect(world.hub.byteCount <= 65_536)
        world.stalled = []
        world.hub.noteRoom(for: slow)
        world.tell()
        let gaps = (world.told[slow] ?? []).compactMap { message -> ObservationGap? in
            if case .observationGap(let gap) = message { gap } else { nil }
        }
        #expect(gaps.count == 1)
        let dropped = try #require(gaps.first).dropped
        #expect(UInt64(world.numbers(slow).count) + dropped == world.numbers(fast).last)
        #expect(world.numbers(slow).last == world.numbers(fast).last)
        #expect(world.hub.droppedCount == dropped)
        #expect(world.states[slow]?.retained == world.states[fast]?.retained)
        #expect(world.states[slow]?.isComplete == true)
        #expect(world.states[slow]?.dropped == dropped)
    }

    @Test func `an observer that resumes is told what it missed, and no state again`() throws {
        var world = ObservedWorld()
        let (client, session) = try Self.drive(&world)
        world.watch(50)
        let token = try #require(world.welcomes[ConnectionID(50)]).resumptionToken
        world.publish(client, session, .currentRoadName(["zero"]))
        world.publish(client, session, .currentRoadName(["one"]))
        let last = try #require(world.numbers(ConnectionID(50)).last)
        // The last two entries were lost with the connection.
        world.hub.depart(ConnectionID(50), clean: false, until: world.now + .seconds(30))
        world.publish(client, session, .currentRoadName(["two"]))
        guard case .admitted(let welcome, _) = world.observer(60, resuming: token) else {
            Issue.record("refused")
            return
        }
        #expect(welcome.isResumed)
        // Nothing is told before it has said from where.
        world.publish(client, session, .currentRoadName(["three"]))
        #expect(world.told[ConnectionID(60)] == nil)
        world.observe(60) { $0.afterNumber = last - 2 }
        guard case .observationBegin(let begin)? = world.told[ConnectionID(60)]?.first else {
            Issue.record("no beginning")
            return
        }
        #expect(begin.kind == .missed)
        #expect(world.numbers(ConnectionID(60)) == Array(last - 1...last + 4))
        #expect(!world.records(ConnectionID(60)).contains { $0.number == 0 })
    }

    @Test func `one that lost the end of the state with its connection gets the state again`() throws {
        var world = ObservedWorld()
        _ = try Self.drive(&world)
        world.watch(50)
        let token = try #require(world.welcomes[ConnectionID(50)]).resumptionToken
        world.hub.depart(ConnectionID(50), clean: false, until: world.now + .seconds(30))
        _ = world.observer(60, resuming: token)
        world.observe(60) { $0.afterNumber = 0 }
        #expect(world.states[ConnectionID(60)]?.isComplete == true)
        #expect(world.states[ConnectionID(60)]?.vehicles.count == 1)
    }

    @Test func `one that resumes too late, or as another user, begins again`() throws {
        var world = ObservedWorld()
        world.watch(50)
        let token = try #require(world.welcomes[ConnectionID(50)]).resumptionToken
        world.hub.depart(ConnectionID(50), clean: false, until: world.now + .seconds(30))
        _ = world.observer(60, resuming: token, principal: .user(2))
        #expect(world.welcomes[ConnectionID(60)]?.isResumed == false)
        world.now = world.now + .seconds(31)
        _ = world.observer(61, resuming: token)
        #expect(world.welcomes[ConnectionID(61)]?.isResumed == false)
    }

    @Test func `observers are as many as the limits allow`() {
        var world = ObservedWorld {
            $0.limits.observersMax = 3
            $0.limits.observersPerUserMax = 2
        }
        func isRefused(_ verdict: ObservationHub.Verdict) -> Bool {
            if case .refused(let goodbye) = verdict {
                goodbye.code == .resourceLimit && goodbye.limit?.name.hasPrefix("observers_") == true
            } else {
                false
            }
        }
        #expect(!isRefused(world.observer(50)))
        #expect(!isRefused(world.observer(51)))
        #expect(isRefused(world.observer(52)))
        #expect(!isRefused(world.observer(53, principal: .user(2))))
        #expect(isRefused(world.observer(54, principal: .user(3))))
        world.hub.depart(ConnectionID(50), clean: true, until: world.now)
        #expect(!isRefused(world.observer(55)))
    }

    @Test func `filters restrict records, events and frames`() throws {
        var world = ObservedWorld()
        let car = world.watch(50) { $0.vehicles = [VehicleID(unchecked: "car")] }
        let other = world.watch(51) { $0.clients = [ClientID(unchecked: "other")] }
        let kinds = world.watch(52) {
            $0.kinds = [ObservedKind.started.rawValue]
            $0.wantsFrames = false
        }
        let (client, session) = try Self.drive(&world)
        world.vehicle(8, "bus")
        let another = world.client(9, "other")
        let elsewhere = try world.open(another, ["bus"])
        world.publish(another, elsewhere, .startGuidance(trip(), generation: 1, .init()))
        world.publish(client, session, .currentRoadName(["A 13"]))
        #expect(world.states[car]?.vehicles.keys.map(\.rawValue) == ["car"])
        #expect(world.frames(car).allSatisfy { $0.session != elsewhere })
        #expect(world.frames(car).contains { $0.session == session })
        #expect(
            world.events(car).allSatisfy {
                $0.session == session || $0.kind == ObservedKind.admitted.rawValue
            })
        #expect(world.states[other]?.sessions.keys.map(\.self) == [elsewhere])
        #expect(world.frames(other).allSatisfy { $0.session != session })
        #expect(world.kinds(kinds) == [.started, .started])
        #expect(world.frames(kinds).isEmpty)
    }

    @Test func `an answer to a request concerns the vehicle that it names`() throws {
        var world = ObservedWorld()
        let car = world.watch(50) { $0.vehicles = [VehicleID(unchecked: "car")] }
        let bus = world.watch(51) { $0.vehicles = [VehicleID(unchecked: "bus")] }
        let (client, session) = try Self.drive(&world)
        let inSession = world.watch(52) { $0.sessions = [session] }
        let answer = RequestAnswer(
            requestID: "stop", vehicle: VehicleID(unchecked: "car"), answer: .decline(.busy))
        world.handle(.seen(client, .received(Codec.encode(Envelope(.requestAnswer(answer))))))
        #expect(world.types(car, .in).contains(.requestAnswer))
        #expect(world.types(inSession, .in).contains(.requestAnswer))
        #expect(!world.types(bus, .in).contains(.requestAnswer))
    }

    @Test func `access rules hide vehicles, and end observers when they change`() throws {
        func rules(_ vehicles: String) throws -> AccessPolicy {
            var rule = AccessRule(allow: true, [.observer], origin: AccessOrigin(file: "f", line: 1))
            rule.vehicles = GlobList([try #require(Glob(vehicles))])
            var everything = AccessRule(
                allow: true, [.vehicle, .navigation], origin: AccessOrigin(file: "f", line: 2))
            everything.vehicles = nil
            return AccessPolicy(rules: [rule, everything])
        }
        let first = try rules("bus-*")
        var world = ObservedWorld { $0.access = first }
        let observer = world.watch(50)
        let (client, session) = try Self.drive(&world)
        world.vehicle(8, "bus-7")
        let hidden = try world.open(client, ["bus-7"])
        world.publish(client, hidden, .startGuidance(trip(), generation: 1, .init()))
        #expect(world.states[observer]?.vehicles.keys.map(\.rawValue) == ["bus-7"])
        #expect(world.frames(observer).allSatisfy { $0.session != session })
        #expect(world.frames(observer).contains { $0.session == hidden })
        for frames in world.frames(observer) {
            #expect(frames.frames.firstRange(of: Array("car".utf8)) == nil)
        }
        // Rules of others change, and its own are divided: it may watch what it might before.
        var policy = world.gateway.policy
        var parts = try rules("bus-*").rules
        var boats = AccessRule(allow: false, [.vehicle], origin: AccessOrigin(file: "f", line: 3))
        boats.vehicles = GlobList([try #require(Glob("boat-*"))])
        parts.insert(boats, at: 0)
        parts.insert(parts[1], at: 0)
        policy.access = AccessPolicy(rules: parts)
        world.handle(.policyChanged(policy))
        #expect(world.hub.endForbidden(by: world.gateway).isEmpty)
        world.vehicle(9, "bus-9")
        #expect(world.states[observer]?.vehicles.keys.map(\.rawValue).sorted() == ["bus-7", "bus-9"])
        policy.access = try rules("tram-*")
        world.handle(.policyChanged(policy))
        #expect(world.hub.endForbidden(by: world.gateway) == [observer])
    }

    @Test func `an observer of every vehicle stays when rules come that limit others`() {
        var world = ObservedWorld()
        let observer = world.watch(50)
        var policy = world.gateway.policy
        let origin = AccessOrigin(file: "f", line: 1)
        policy.access = AccessPolicy(rules: [
            AccessRule(allow: true, [.observer, .vehicle], origin: origin)
        ])
        world.handle(.policyChanged(policy))
        #expect(world.hub.endForbidden(by: world.gateway).isEmpty)
        world.vehicle(9, "bus-9")
        #expect(world.states[observer]?.vehicles.keys.map(\.rawValue) == ["bus-9"])
        policy.access = AccessPolicy(rules: [AccessRule(allow: true, [.vehicle], origin: origin)])
        world.handle(.policyChanged(policy))
        #expect(world.hub.endForbidden(by: world.gateway) == [observer])
    }

    @Test func `requests are told with their stage until they end`() throws {
        var world = ObservedWorld()
        let observer = world.watch(50)
        let (client, _) = try Self.drive(&world)
        let request = WaypointRequest(requestID: "stop", waypoint: balzers)
        let frame = Codec.encode(Envelope(.waypointRequest(request)))
        world.handle(
            .requested(
                ConnectionID(1),
                ReceivedRequest(requestID: "stop", kind: .waypoint(segment: ""), frame: frame), .none))
        let key = RequestKey(vehicle: VehicleID(unchecked: "car"), requestID: "stop")
        #expect(world.states[observer]?.requests[key]?.stage == .asked)
        #expect(world.states[observer]?.requests == view(of: &world.gateway).requests)
        world.handle(
            .received(
                client,
                .requestAnswer(
                    RequestAnswer(
                        requestID: "stop", vehicle: VehicleID(unchecked: "car"), answer: .decline(.busy))),
                .none))
        #expect(world.states[observer]?.requests.isEmpty == true)
        #expect(world.kinds(observer).suffix(2) == [.stopRequested, .requestEnded])
        #expect(world.events(observer).last?.code == Outcome.busy.rawValue)
        #expect(world.events(observer).last?.reason == "\(OutcomeCause.clientAnswered)")
    }
}
