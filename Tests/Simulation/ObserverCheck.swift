internal import WaymarkAccess
internal import WaymarkCodec
internal import WaymarkGateway
internal import WaymarkObservation
internal import WaymarkProtocol

/// An observer in memory that is told everything: after each event of the gateway it holds what the gateway holds.
struct ObserverCheck {
    /// Set before the first event.
    var isOn = false
    /// Some changes are forgotten: a fault that it must notice.
    var losesRecords = false
    private var eventCount = 0
    private var hub: ObservationHub?
    private var state = ObservedGateway()
    private var number: UInt64 = 0
    private let decoder = BodyDecoder()
    private static let connection = ConnectionID(.max)

    /// The gateway is replaced by another one: the observer begins again.
    mutating func reset() { self.hub = nil }

    /// - Returns: What is wrong; nil if all is well.
    mutating func see(
        _ event: Gateway.Event, _ actions: [Gateway.Action], of gateway: inout Gateway, at now: Instant
    ) -> String? {
        guard self.isOn else { return nil }
        self.eventCount += 1
        if self.losesRecords, self.eventCount.isMultiple(of: 16) { _ = gateway.takeChanges() }
        if self.hub == nil {
            self.begin(&gateway, at: now)
        } else {
            self.hub?.see(event, actions[...], of: &gateway, at: now)
        }
        if let problem = self.read(&gateway, at: now) { return problem }
        return self.state.difference(from: &gateway)
    }

    private mutating func begin(_ gateway: inout Gateway, at now: Instant) {
        gateway.trackChanges(true)
        var hub = ObservationHub(of: gateway)
        var hello = ObserverHello(observer: ObserverName(unchecked: "memory"))
        hello.visibility = .all
        _ = hub.admit(
            Self.connection, hello, resuming: nil, .anyone, AccessSubject(), ResumptionToken(high: 0, low: 0),
            in: gateway, seesAllVehicles: true, at: now)
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        hub.receive(observe, from: Self.connection, at: now)
        self.hub = hub
        (self.state, self.number) = (ObservedGateway(), 0)
    }

    /// Reads everything that it was told.
    private mutating func read(_ gateway: inout Gateway, at now: Instant) -> String? {
        while self.hub?.isDue == true {
            let portions =
                self.hub?.takePortions(
                    of: &gateway, measures: { Measures(counters: [], connections: []) }, at: now) ?? []
            if portions.isEmpty { break }
            for frame in portions.flatMap(\.frames) {
                let message: Message
                do { message = try self.decoder.decode(frame).message } catch { return "is told \(error)" }
                let decoder = self.decoder
                self.state.apply(message) { frame in
                    do { return try decoder.outline(of: frame) } catch { return nil }
                }
                switch message {
                case .observationBegin, .counters: break
                case .observationGap: return "is told a gap"
                default:
                    if case .observedRecords(let records) = message, records.number == 0 { break }
                    self.number += 1
                    if self.state.number != self.number {
                        return "is told \(self.state.number), not \(self.number)"
                    }
                }
            }
            self.hub?.noteRoom(for: Self.connection)
        }
        return nil
    }
}

extension ObservedGateway {
    /// Compares it with the gateway's records.
    func difference(from gateway: inout Gateway) -> String? {
        let isSettled = gateway.isSettled
        var vehicles = 0
        var requests = 0
        var vehicle = gateway.vehicle(after: nil)
        while let id = vehicle {
            vehicles += 1
            let (told, real) = (self.vehicles[id], gateway.record(of: id))
            if told?.comparable(isSettled) != real?.comparable(isSettled) {
                return "holds \(String(describing: told)), the gateway \(String(describing: real))"
            }
            for ticket in gateway.requests(of: id) {
                guard let real = gateway.record(of: ticket) else { continue }
                requests += 1
                if self.requests[real.key] != real { return "does not hold \(real)" }
            }
            vehicle = gateway.vehicle(after: id)
        }
        if vehicles != self.vehicles.count {
            return "holds \(self.vehicles.count) vehicles, not \(vehicles)"
        }
        if requests != self.requests.count {
            return "holds \(self.requests.count) requests, not \(requests)"
        }
        return self.differenceOfClients(from: gateway) ?? self.differenceOfSessions(from: &gateway)
    }

    private func differenceOfClients(from gateway: Gateway) -> String? {
        var count = 0
        var client = gateway.client(after: nil)
        while let id = client {
            count += 1
            let (told, real) = (self.clients[id], gateway.record(of: id))
            if told != real {
                return "holds \(String(describing: told)), the gateway \(String(describing: real))"
            }
            client = gateway.client(after: id)
        }
        return count == self.clients.count
            ? nil : "holds \(self.clients.count) clients, not \(count)"
    }

    private func differenceOfSessions(from gateway: inout Gateway) -> String? {
        var count = 0
        var session = gateway.session(after: nil)
        while let place = session {
            count += 1
            let (told, real) = (self.sessions[place.id], gateway.record(of: place.id))
            if told != real {
                return "holds \(String(describing: told)), the gateway \(String(describing: real))"
            }
            let frames = self.retained[place.id]?.frames ?? []
            let retained = gateway.retainedFrames(of: place.id)
            if frames.map(\.bytes) != retained.map(\.bytes) {
                return
                    "holds the frames \(frames.map(\.header)) of \(place.id), the gateway \(retained.map(\.header))"
            }
            session = gateway.session(after: place)
        }
        return count == self.sessions.count
            ? nil : "holds \(self.sessions.count) sessions, not \(count)"
    }
}

extension VehicleRecord {
    /// Without what changes with the session's other vehicles and may be told later.
    fileprivate func comparable(_ isSettled: Bool) -> VehicleRecord {
        guard !isSettled else { return self }
        var record = self
        for index in record.endpoints.indices { record.endpoints[index].withheld = [] }
        return record
    }
}
