import WaymarkModel
import WaymarkProtocol

extension Samples {
    static let instant = Instant(nanoseconds: 1_500_000_000_000)

    static func observerMessage(_ type: MessageType) -> Message {
        switch type {
        case .observe: return .observe(self.observe)
        case .observationBegin:
            return .observationBegin(ObservationBegin(.full, after: 17, at: self.instant))
        case .observedRecords: return .observedRecords(self.records)
        case .observedEvent: return .observedEvent(self.event)
        case .observedFrames: return .observedFrames(self.frames)
        case .observationGap: return .observationGap(ObservationGap(dropped: 214, nextNumber: 300))
        case .readCounters:
            var read = ReadCounters()
            (read.wantsConnections, read.wantsSessions) = (true, true)
            return .readCounters(read)
        case .counters:
            var report = CounterReport()
            (report.number, report.instant) = (300, self.instant)
            report.counters = [
                CounterReport.Counter(
                    .publications, label: UInt32(MessageType.startGuidance.rawValue), 4_100),
                CounterReport.Counter(.sessionsEnded, label: SessionEndReason.finished.rawValue, 2),
            ]
            var connection = ConnectionMeasure(ConnectionID(12))
            (connection.waitingBytes, connection.conflated) = (3_072, 7)
            var session = SessionMeasure(self.session)
            (session.sequence, session.retainedBytes, session.ageMilliseconds) = (300, 4_096, 100)
            (report.connections, report.sessions, report.isLast) = ([connection], [session], true)
            return .counters(report)
        default: preconditionFailure("\(type) is not an observer's")
        }
    }

    private static var observe: Observe {
        var observe = Observe()
        observe.vehicles = [self.vehicle]
        observe.clients = [self.client]
        observe.sessions = [self.session]
        observe.kinds = [ObservedKind.paused.rawValue, ObservedKind.rerouted.rawValue]
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        observe.afterNumber = 299
        return observe
    }

    private static var endpointRecord: EndpointRecord {
        var record = EndpointRecord(self.endpoint)
        record.connection = ConnectionID(12)
        record.instant = self.instant
        record.features = [.maneuvers, .prompts]
        record.limits.maneuversStoredMax = 10
        record.preferences.locale = "de-LI"
        record.session = self.session
        record.audience = 5
        record.withheld = [FeatureGrant(.routeSegments, withheld: .noConsent)]
        record.settings.contentStyle = .dark
        record.receipt = Receipt(receivedSequence: 300, shownSequence: 299)
        return record
    }

    private static var records: ObservedRecords {
        var vehicle = VehicleRecord(self.vehicle)
        (vehicle.session, vehicle.isGuidanceWanted, vehicle.routeSource) = (self.session, true, .vehicle)
        (vehicle.endpoints, vehicle.owner) = ([self.endpointRecord], "user 1000")
        vehicle.routeFeedback = self.feedback
        var client = ClientRecord(self.client)
        (client.instant, client.granted, client.priority) = (self.instant, [.maneuvers], -5)
        (client.displayName, client.owner) = ("Example Navigation", "key fleet")
        var session = SessionRecord(self.session, of: self.client)
        (session.requestID, session.phase, session.generation) = ("open-1", .active, 3)
        (session.alert, session.optedOut, session.sharesOpen) = (4, [.routeSegments], 1)
        let key = RequestKey(vehicle: self.vehicle, requestID: "stop-1")
        var request = RequestRecord(key, to: self.client)
        (request.messageType, request.session) = (MessageType.waypointRequest.rawValue, self.session)
        (request.stage, request.deadline) = (.prompting, self.instant)
        var retained = RetainedFrames(self.session, [0x57, 0x4D])
        (retained.isRedacted, retained.isFirst) = (true, true)
        var records = ObservedRecords()
        (records.number, records.instant, records.isLast) = (300, self.instant, true)
        (records.vehicles, records.clients, records.sessions) = ([vehicle], [client], [session])
        (records.requests, records.retained) = ([request], [retained])
        records.vehiclesGone = [VehicleID(unchecked: "ev-8")]
        records.clientsGone = [ClientID(unchecked: "nav.old")]
        records.sessionsGone = [SessionID(41)]
        records.requestsGone = [RequestKey(vehicle: self.vehicle, requestID: "stop-0")]
        return records
    }

    private static var event: ObservedEvent {
        var event = ObservedEvent(.sessionEnded)
        (event.number, event.instant) = (300, self.instant)
        event.code = SessionEndReason.finished.rawValue
        event.reason = "rule 3"
        event.connection = ConnectionID(12)
        event.vehicles = [self.vehicle]
        event.client = self.client
        event.session = self.session
        event.request = "stop-1"
        return event
    }

    private static var frames: ObservedFrames {
        var frames = ObservedFrames(.out, [0x57, 0x4D, 1, 0])
        (frames.number, frames.instant) = (300, self.instant)
        (frames.connection, frames.audience) = (ConnectionID(12), 5)
        (frames.session, frames.isRedacted, frames.isRejected) = (self.session, true, true)
        return frames
    }
}
