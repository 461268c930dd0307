import Foundation
import WaymarkCodec
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol
import WaymarkRecording
import WaymarkTexts

@testable import WaymarkInspector

/// What an observer is told by a gateway: a client guides two vehicles in one session, `car` with two endpoints and `bus` with one.
struct LiveGateway {
    static let session = SessionID(7)
    static let app = ConnectionID(1)
    static let start = RecordingTime(nanoseconds: 2_000_000_000_000)

    var inspection = Inspection(Inspection.Options())
    var book = FindingBook()
    private(set) var number: UInt64 = 0
    private(set) var sequence: UInt64 = 0
    private(set) var instant = Instant(nanoseconds: 0)
    var records = ObservedRecords()

    /// The connections of the endpoints, by their names.
    static let connections = [
        "car/cluster": ConnectionID(2), "car/hud": ConnectionID(3), "bus/cluster": ConnectionID(4),
    ]

    var now: RecordingTime { Self.start + .nanoseconds(self.instant.nanoseconds) }
    var date: Date { self.now.date }
    var history: RecentHistory {
        guard case .recent(let history)? = self.inspection.sources.first?.history else {
            return RecentHistory(at: self.now)
        }
        return history
    }

    init(
        bytesMax: Int = 67_108_864, blockBytesMax: Int = 1_048_576, contentBytesMax: Int = 67_108_864
    ) {
        let history = RecentHistory(
            at: Self.start, bytesMax: bytesMax, blockBytesMax: blockBytesMax, contentBytesMax: contentBytesMax
        )
        self.inspection.sources = [
            InspectedSource("live", name: "test", .recent(history), isRedacted: false)
        ]
        var client = ClientRecord(ClientID(unchecked: "app"))
        client.connection = Self.app
        self.records.clients = [client]
        self.records.sessions = [SessionRecord(Self.session, of: client.client)]
        for name in ["bus", "car"] {
            var vehicle = VehicleRecord(VehicleID(unchecked: name))
            vehicle.session = Self.session
            for (path, connection) in Self.connections.sorted(by: { $0.key < $1.key })
            where path.hasPrefix(name + "/") {
                var endpoint = EndpointRecord(EndpointName(unchecked: String(path.dropFirst(4))))
                (endpoint.connection, endpoint.session) = (connection, Self.session)
                endpoint.features = FeatureSet([.receipts])
                vehicle.endpoints.append(endpoint)
            }
            self.records.vehicles.append(vehicle)
        }
    }

    mutating func tell(_ message: Message) {
        guard case .recent(var history)? = self.inspection.sources.first?.history else { return }
        history.apply(message, at: self.now)
        self.inspection.sources[0].history = .recent(history)
        self.book.see(message, history.state, at: self.now)
        self.inspection.findings["live"] = self.book
    }

    mutating func wait(_ duration: Duration) { self.instant = self.instant + duration }

    // MARK: States

    mutating func beginState() {
        self.tell(.observationBegin(ObservationBegin(.full, after: self.number, at: self.instant)))
    }

    /// All records, of a state that goes on.
    mutating func tellRecords() {
        var records = self.records
        records.instant = self.instant
        self.tell(.observedRecords(records))
    }

    mutating func endState() {
        var records = ObservedRecords()
        (records.instant, records.isLast) = (self.instant, true)
        self.tell(.observedRecords(records))
    }

    mutating func tellState() {
        self.beginState()
        self.tellRecords()
        self.endState()
    }

    /// A change of a vehicle's record.
    mutating func change(_ vehicle: String, _ change: (inout VehicleRecord) -> Void) {
        guard let index = self.records.vehicles.firstIndex(where: { $0.vehicle.rawValue == vehicle }) else {
            return
        }
        change(&self.records.vehicles[index])
        self.number += 1
        var records = ObservedRecords()
        (records.number, records.instant) = (self.number, self.instant)
        records.vehicles = [self.records.vehicles[index]]
        self.tell(.observedRecords(records))
    }

    // MARK: Frames

    mutating func frame(
        _ direction: ObservedFrames.Direction, _ connection: ConnectionID, _ envelope: Envelope
    ) {
        self.number += 1
        var told = ObservedFrames(direction, Array(Codec.encode(envelope).bytes))
        (told.number, told.instant, told.session) = (self.number, self.instant, envelope.session)
        told.connection = connection
        self.tell(.observedFrames(told))
    }

    /// Tells an event now.
    mutating func event(_ event: ObservedEvent) {
        self.number += 1
        var told = event
        (told.number, told.instant) = (self.number, self.instant)
        self.tell(.observedEvent(told))
    }

    /// The client publishes; the endpoints get it.
    mutating func publish(_ publication: Publication, to endpoints: [String]) {
        self.wait(.milliseconds(10))
        self.sequence += 1
        let envelope = Envelope(.publication(publication), session: Self.session, sequence: self.sequence)
        self.frame(.in, Self.app, envelope)
        for endpoint in endpoints { self.frame(.out, Self.connections[endpoint] ?? Self.app, envelope) }
    }

    /// The gateway rejects what the client published.
    mutating func reject(_ type: MessageType, _ field: String) {
        var error = Rejection(.outOfRange, reason: "is not allowed")
        (error.messageType, error.session, error.field) = (type.rawValue, Self.session, field)
        self.frame(.out, Self.app, Envelope(.error(error)))
    }

    /// An endpoint has received, and shown, everything up to a number.
    mutating func confirm(_ endpoint: String, upTo sequence: UInt64) {
        self.wait(.milliseconds(1))
        let receipt = Receipt(receivedSequence: sequence, shownSequence: sequence)
        self.change(String(endpoint.prefix(3))) { vehicle in
            for index in vehicle.endpoints.indices
            where vehicle.endpoints[index].endpoint.rawValue == endpoint.dropFirst(4) {
                vehicle.endpoints[index].receipt = receipt
            }
        }
        self.frame(
            .in, Self.connections[endpoint] ?? Self.app, Envelope(.receipt(receipt), session: Self.session))
    }

    mutating func ask(_ path: String, _ values: [String: String] = [:]) throws -> [String: Any] {
        JSON.members(of: try self.inspection.object(path, InspectorQuery(values), now: self.date))
    }
}
