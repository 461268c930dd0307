import Testing
import WaymarkAccess
import WaymarkCodec
import WaymarkGateway
import WaymarkModel
import WaymarkObservation
import WaymarkProtocol

/// A gateway with a hub, and observers that keep what they are told.
struct ObservedWorld {
    var gateway: Gateway
    var hub: ObservationHub
    var now = Instant(nanoseconds: 1_000_000_000)
    /// Everything that each observer was told.
    var told: [ConnectionID: [Message]] = [:]
    var states: [ConnectionID: ObservedGateway] = [:]
    /// Observers that do not read.
    var stalled: Set<ConnectionID> = []
    var welcomes: [ConnectionID: Welcome] = [:]
    /// The longest frame that each observer was sent, in bytes.
    var longest: [ConnectionID: Int] = [:]
    private var partial: [ConnectionID: PartialMessage] = [:]
    var mail: [ConnectionID: [Envelope]] = [:]
    /// What event loops measured last.
    var measures = Measures(counters: [], connections: [])
    private var token: UInt64 = 0
    private var sequences: [SessionID: UInt64] = [:]

    init(_ change: (inout Gateway.Policy) -> Void = { _ in }) {
        var policy = Gateway.Policy()
        change(&policy)
        self.gateway = Gateway(policy: policy, coder: Codec.coder, firstSession: SessionID(100))
        self.hub = ObservationHub(of: self.gateway)
        self.gateway.trackChanges(true)
    }

    // MARK: Observers

    mutating func observer(
        _ id: UInt64, _ visibility: Visibility = .all, resuming token: ResumptionToken? = nil,
        principal: Principal = .user(1), subject: AccessSubject = AccessSubject(), frameBytesMax: UInt32 = 0
    ) -> ObservationHub.Verdict {
        self.token += 1
        var hello = ObserverHello(observer: ObserverName(unchecked: "watcher"))
        (hello.visibility, hello.receiveFrameBytesMax) = (visibility, frameBytesMax)
        let verdict = self.hub.admit(
            ConnectionID(id), hello, resuming: token, principal, subject,
            ResumptionToken(high: 9, low: self.token), in: self.gateway, at: self.now)
        if case .admitted(let welcome, _) = verdict { self.welcomes[ConnectionID(id)] = welcome }
        return verdict
    }

    /// An observer of everything.
    @discardableResult
    mutating func watch(
        _ id: UInt64, _ visibility: Visibility = .all, _ change: (inout Observe) -> Void = { _ in }
    ) -> ConnectionID {
        _ = self.observer(id, visibility)
        self.observe(id, change)
        return ConnectionID(id)
    }

    mutating func observe(_ id: UInt64, _ change: (inout Observe) -> Void = { _ in }) {
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        change(&observe)
        self.hub.receive(observe, from: ConnectionID(id), at: self.now)
        self.tell()
    }

    /// Sends what observers have room for, until nothing is left.
    mutating func tell() {
        while self.hub.isDue {
            let measures = self.measures
            let portions = self.hub.takePortions(of: &self.gateway, measures: { measures }, at: self.now)
            if portions.isEmpty { break }
            for portion in portions {
                for frame in portion.frames { self.receive(frame, portion.connection) }
                if !self.stalled.contains(portion.connection) { self.hub.noteRoom(for: portion.connection) }
            }
        }
    }

    private mutating func receive(_ frame: Frame, _ id: ConnectionID) {
        self.longest[id] = max(self.longest[id] ?? 0, frame.bytes.count)
        do {
            let part = try Codec.decode(frame)
            let whole = try self.partial[id, default: PartialMessage()].add(
                part, byteCount: frame.bytes.count)
            guard let message = whole?.message else { return }
            self.told[id, default: []].append(message)
            self.states[id, default: ObservedGateway()].apply(message) { frame in
                do { return try Codec.outline(of: frame) } catch { return nil }
            }
        } catch {
            Issue.record("\(error)")
        }
    }

    /// What an observer is told when it asks for counters.
    mutating func read(_ counters: ReadCounters, _ id: ConnectionID) -> [CounterReport] {
        let count = self.told[id]?.count ?? 0
        self.hub.read(counters, from: id)
        _ = self.hub.beginMeasuring()
        self.hub.endMeasuring()
        self.tell()
        return (self.told[id] ?? []).dropFirst(count).compactMap {
            if case .counters(let report) = $0 { report } else { nil }
        }
    }

    // MARK: Peers

    mutating func handle(_ event: Gateway.Event) {
        self.begin(event)
        while self.gateway.hasSteps(of: event.cause) { self.begin(.stepDue(of: event.cause)) }
        self.tell()
    }

    private mutating func begin(_ event: Gateway.Event) {
        var actions: [Gateway.Action] = []
        self.gateway.handle(event, at: self.now, into: &actions)
        for case .send(let id, let envelope) in actions { self.mail[id, default: []].append(envelope) }
        self.hub.see(event, actions[...], of: &self.gateway, at: self.now)
    }

    @discardableResult
    mutating func arrive(_ id: UInt64, _ role: Hello.Role) -> ConnectionID {
        self.token += 1
        var hello = Hello(role: role)
        hello.credential = Credential(Array("secret".utf8))
        self.handle(
            .arrived(
                ConnectionID(id), hello, .user(7), subject: AccessSubject(),
                token: ResumptionToken(high: 0, low: self.token)))
        return ConnectionID(id)
    }

    @discardableResult
    mutating func vehicle(_ id: UInt64, _ name: String, endpoint: String = "cluster") -> ConnectionID {
        self.arrive(
            id,
            .vehicle(
                VehicleHello(
                    vehicle: VehicleID(unchecked: name), endpoint: EndpointName(unchecked: endpoint),
                    features: Set(Feature.allCases))))
    }

    @discardableResult
    mutating func client(_ id: UInt64, _ name: String) -> ConnectionID {
        self.arrive(
            id,
            .navigation(
                NavigationHello(client: ClientID(unchecked: name), features: Set(Feature.allCases))))
    }

    mutating func open(_ client: ConnectionID, _ vehicles: [String]) throws -> SessionID {
        let ids = vehicles.map { VehicleID(unchecked: $0) }
        let request: Identifier = "open-\(vehicles.joined())"
        self.handle(
            .received(client, .openSession(OpenSession(requestID: request, vehicles: .vehicles(ids))), .none))
        for case .sessionOpened(let opened) in (self.mail[client] ?? []).map(\.message)
        where opened.requestID == request { return opened.session }
        throw NoSession()
    }

    struct NoSession: Error {}

    mutating func publish(_ client: ConnectionID, _ session: SessionID, _ publication: Publication) {
        self.sequences[session, default: 0] += 1
        let frame = Codec.encode(
            Envelope(.publication(publication), session: session, sequence: self.sequences[session] ?? 0))
        self.handle(.published(client, PublishedFrames(frame, publication.outline)))
    }

    /// Publishes all of them in one batch.
    mutating func publish(_ client: ConnectionID, _ session: SessionID, together publications: [Publication])
    {
        let frames = publications.map { publication in
            self.sequences[session, default: 0] += 1
            return Codec.encode(
                Envelope(.publication(publication), session: session, sequence: self.sequences[session] ?? 0))
        }
        var batch = PublishedFrames(readInto: frames.flatMap { Array($0.bytes) })
        var start = 0
        for (frame, publication) in zip(frames, publications) {
            batch.append(read: frame.header, at: start, publication.outline)
            start += frame.bytes.count
        }
        self.handle(.published(client, batch))
    }

    // MARK: What was told

    func records(_ id: ConnectionID) -> [ObservedRecords] {
        (self.told[id] ?? []).compactMap {
            if case .observedRecords(let records) = $0 { records } else { nil }
        }
    }

    func events(_ id: ConnectionID) -> [ObservedEvent] {
        (self.told[id] ?? []).compactMap { if case .observedEvent(let event) = $0 { event } else { nil } }
    }

    func kinds(_ id: ConnectionID) -> [ObservedKind?] {
        self.events(id).map { ObservedKind(rawValue: $0.kind) }
    }

    func frames(_ id: ConnectionID) -> [ObservedFrames] {
        (self.told[id] ?? []).compactMap { if case .observedFrames(let frames) = $0 { frames } else { nil } }
    }

    /// The numbers of all entries, in order.
    func numbers(_ id: ConnectionID) -> [UInt64] {
        (self.told[id] ?? []).compactMap {
            switch $0 {
            case .observedRecords(let records): records.number == 0 ? nil : records.number
            case .observedEvent(let event): event.number
            case .observedFrames(let frames): frames.number
            default: nil
            }
        }
    }

    /// The types of told frames of a direction.
    func types(_ id: ConnectionID, _ direction: ObservedFrames.Direction) -> [MessageType?] {
        self.frames(id).filter { $0.direction == direction }
            .flatMap { Frame.all(in: $0.frames).map(\.header.type) }
    }
}

/// The state of a gateway as its records are now.
func view(of gateway: inout Gateway) -> (
    vehicles: [VehicleID: VehicleRecord], clients: [ClientID: ClientRecord],
    sessions: [SessionID: SessionRecord], requests: [RequestKey: RequestRecord],
    retained: [SessionID: [Frame]]
) {
    var vehicles: [VehicleID: VehicleRecord] = [:]
    var requests: [RequestKey: RequestRecord] = [:]
    var vehicle = gateway.vehicle(after: nil)
    while let id = vehicle {
        vehicles[id] = gateway.record(of: id)
        for ticket in gateway.requests(of: id) {
            if let record = gateway.record(of: ticket) { requests[record.key] = record }
        }
        vehicle = gateway.vehicle(after: id)
    }
    var clients: [ClientID: ClientRecord] = [:]
    var client = gateway.client(after: nil)
    while let id = client {
        clients[id] = gateway.record(of: id)
        client = gateway.client(after: id)
    }
    var sessions: [SessionID: SessionRecord] = [:]
    var retained: [SessionID: [Frame]] = [:]
    var session = gateway.session(after: nil)
    while let place = session {
        sessions[place.id] = gateway.record(of: place.id)
        let frames = gateway.retainedFrames(of: place.id)
        if !frames.isEmpty { retained[place.id] = frames }
        session = gateway.session(after: place)
    }
    return (vehicles, clients, sessions, requests, retained)
}

let vaduz = Waypoint(
    center: Coordinate(latitude: 47.141, longitude: 9.521), nameVariants: ["Vaduz"],
    addressVariants: ["Hauptstrasse 5"])
let balzers = Waypoint(center: Coordinate(latitude: 47.066, longitude: 9.503), nameVariants: ["Balzers"])

func trip(sharesSegments: Bool = true) -> Trip {
    var trip = Trip(id: "trip", origin: vaduz, destination: balzers)
    trip.routeSegmentsAvailable = sharesSegments
    return trip
}
