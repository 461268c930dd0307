internal import WaymarkModel
package import WaymarkProtocol

extension RandomValues {
    /// A valid message of an observer, or for one.
    package mutating func observerMessage(_ type: MessageType) -> Message {
        switch type {
        case .observe: .observe(self.observe())
        case .observationBegin:
            .observationBegin(
                ObservationBegin(self.one(), after: self.number(0...UInt64.max), at: self.instant()))
        case .observedRecords: .observedRecords(self.records())
        case .observedEvent: .observedEvent(self.event())
        case .observedFrames: .observedFrames(self.observedFrames())
        case .observationGap:
            .observationGap(
                ObservationGap(
                    dropped: self.number(1...UInt64.max), nextNumber: self.number(0...UInt64.max)))
        case .readCounters: .readCounters(self.readCounters())
        default: .counters(self.counters())
        }
    }

    private mutating func instant() -> Instant {
        Instant(nanoseconds: self.number(0...Int64.max / 1_000) * 1_000)
    }
    private mutating func client() -> ClientID { ClientID(unchecked: self.name()) }
    private mutating func session() -> SessionID { SessionID(self.number(0...UInt32.max)) }
    private mutating func connection() -> ConnectionID? {
        self.maybe { ConnectionID($0.number(1...UInt64.max)) }
    }
    private mutating func bytes() -> [UInt8] { self.list(0...300) { $0.number(0...UInt8.max) } }
    private mutating func featureSet() -> FeatureSet { FeatureSet(self.features()) }

    private mutating func observe() -> Observe {
        var observe = Observe()
        observe.vehicles = self.list(0...64) { $0.vehicleID() }
        observe.clients = self.list(0...4) { $0.client() }
        observe.sessions = self.list(0...4) { SessionID($0.id()) }
        observe.kinds = self.list(0...4) { $0.number(1...UInt32(Int32.max)) }
        observe.wantsState = self.flag()
        observe.wantsEvents = self.flag()
        observe.wantsFrames = self.flag()
        observe.afterNumber = self.number(0...UInt64.max)
        return observe
    }

    private mutating func endpointRecord() -> EndpointRecord {
        var record = EndpointRecord(self.endpoint())
        record.connection = self.connection()
        record.instant = self.instant()
        record.features = self.featureSet()
        record.limits.maneuversStoredMax = self.number(0...UInt32.max)
        record.preferences.distanceUnits = self.enumeration()
        record.preferences.locale = self.text(0...35)
        record.session = self.session()
        record.audience = self.number(0...UInt64.max)
        record.withheld = self.flag() ? self.grants() : []
        record.settings = self.settings()
        record.receipt = self.maybe { $0.receipt() }
        record.delays = self.maybe { $0.delays() }
        return record
    }

    private mutating func delays() -> EndpointDelays {
        var delays = EndpointDelays()
        (delays.received, delays.shown) = (self.delayCounts(), self.delayCounts())
        delays.roundTripMicroseconds = self.number(0...UInt64.max)
        return delays
    }

    private mutating func delayCounts() -> DelayCounts {
        DelayCounts(
            counts: self.list(0...13) { $0.number(0...UInt32.max) },
            totalMicroseconds: self.number(0...UInt64.max), lastMicroseconds: self.number(0...UInt64.max))
    }

    private mutating func vehicleRecord() -> VehicleRecord {
        var record = VehicleRecord(self.vehicleID())
        record.session = self.session()
        record.navigatesItself = self.flag()
        record.hasStopped = self.flag()
        record.isGuidanceWanted = self.flag()
        record.routeSource = self.maybe { $0.enumeration() }
        record.routeFeedback = self.maybe { $0.routeFeedback() }
        record.endpoints = self.list(0...3) { $0.endpointRecord() }
        record.owner = self.text(0...256)
        return record
    }

    private mutating func clientRecord() -> ClientRecord {
        var record = ClientRecord(self.client())
        record.connection = self.connection()
        record.instant = self.instant()
        record.granted = self.featureSet()
        record.priority = self.number(-1_000...1_000)
        record.displayName = self.text(0...128)
        record.owner = self.text(0...256)
        return record
    }

    private mutating func sessionRecord() -> SessionRecord {
        var record = SessionRecord(SessionID(self.id()), of: self.client())
        record.requestID = Identifier(self.text(0...64))
        record.isForAnyThatAsked = self.flag()
        record.phase = self.one()
        record.generation = self.number(0...UInt32.max)
        record.isSuspended = self.flag()
        record.alert = self.maybe { $0.id() }
        record.optedOut = self.featureSet()
        record.sharesOpen = self.number(0...UInt32.max)
        return record
    }

    private mutating func requestKey() -> RequestKey {
        RequestKey(vehicle: self.vehicleID(), requestID: self.requestID())
    }

    private mutating func requestRecord() -> RequestRecord {
        var record = RequestRecord(self.requestKey(), to: self.client())
        record.messageType = self.number(0...UInt16.max)
        record.session = self.session()
        record.stage = self.one()
        record.deadline = self.instant()
        return record
    }

    private mutating func records() -> ObservedRecords {
        var records = ObservedRecords()
        records.number = self.number(0...UInt64.max)
        records.instant = self.instant()
        records.vehicles = self.list(0...3) { $0.vehicleRecord() }
        records.clients = self.list(0...3) { $0.clientRecord() }
        records.sessions = self.list(0...3) { $0.sessionRecord() }
        records.requests = self.list(0...3) { $0.requestRecord() }
        records.retained = self.list(0...2) {
            var part = RetainedFrames(SessionID($0.id()), $0.bytes())
            (part.isRedacted, part.isFirst) = ($0.flag(), $0.flag())
            return part
        }
        records.vehiclesGone = self.list(0...3) { $0.vehicleID() }
        records.clientsGone = self.list(0...3) { $0.client() }
        records.sessionsGone = self.list(0...3) { SessionID($0.id()) }
        records.requestsGone = self.list(0...3) { $0.requestKey() }
        records.isLast = self.flag()
        return records
    }

    private mutating func event() -> ObservedEvent {
        var event = ObservedEvent(self.one())
        event.number = self.number(1...UInt64.max)
        event.instant = self.instant()
        if self.next() % 8 == 0 { event.kind = self.number(100...UInt32(Int32.max)) }
        event.code = self.number(0...UInt32.max)
        event.reason = self.text(0...512)
        event.connection = self.connection()
        event.vehicles = self.list(0...5) { $0.vehicleID() }
        event.client = self.maybe { $0.client() }
        event.session = self.session()
        event.request = Identifier(self.text(0...64))
        return event
    }

    private mutating func observedFrames() -> ObservedFrames {
        var frames = ObservedFrames(self.one(), self.bytes())
        frames.number = self.number(1...UInt64.max)
        frames.instant = self.instant()
        frames.connection = self.connection()
        frames.audience = self.number(0...UInt64.max)
        frames.session = self.session()
        frames.isRedacted = self.flag()
        frames.isRejected = self.flag()
        return frames
    }

    private mutating func counters() -> CounterReport {
        var report = CounterReport()
        report.number = self.number(0...UInt64.max)
        report.instant = self.instant()
        report.counters = self.list(0...20) {
            CounterReport.Counter(
                name: $0.number(1...UInt32(Int32.max)), label: $0.number(0...UInt32.max),
                $0.number(0...UInt64.max))
        }
        report.connections = self.list(0...5) { $0.connectionMeasure() }
        report.sessions = self.list(0...5) { $0.sessionMeasure() }
        report.isLast = self.flag()
        return report
    }

    private mutating func readCounters() -> ReadCounters {
        var read = ReadCounters()
        (read.wantsConnections, read.wantsSessions) = (self.flag(), self.flag())
        return read
    }

    private mutating func connectionMeasure() -> ConnectionMeasure {
        var measure = ConnectionMeasure(ConnectionID(self.number(1...UInt64.max)))
        measure.waitingBytes = self.number(0...UInt64.max)
        measure.inputBytes = self.number(0...UInt64.max)
        measure.conflated = self.number(0...UInt64.max)
        return measure
    }

    private mutating func sessionMeasure() -> SessionMeasure {
        var measure = SessionMeasure(SessionID(self.number(1...UInt32.max)))
        measure.sequence = self.number(0...UInt64.max)
        measure.retainedBytes = self.number(0...UInt64.max)
        measure.replayBytes = self.number(0...UInt64.max)
        measure.ageMilliseconds = self.maybe { $0.number(0...UInt32.max) }
        return measure
    }
}
