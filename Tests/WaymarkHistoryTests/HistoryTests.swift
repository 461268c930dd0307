import Testing
import WaymarkClient
import WaymarkCodec
import WaymarkHistory
import WaymarkModel
import WaymarkProtocol

@Suite struct HistoryTests {
    private static let cluster = PeerID.endpoint(
        VehicleID(unchecked: "dut"), EndpointName(unchecked: "cluster"))

    private static func frame(_ message: Message, sequence: UInt64 = 0) -> CrossedFrame {
        CrossedFrame(
            Codec.encode(Envelope(message, session: SessionID(1), sequence: sequence)), of: self.cluster,
            .toPeer, sent: Instant(nanoseconds: 0))
    }

    @Test func `an endpoint's record has what it held after each entry`() throws {
        var history = History()
        history.add(Self.cluster, storage: VehicleLimits())
        let instant = Instant(nanoseconds: 1_000_000)
        history.append(.connection(Self.cluster, .admitted(resumed: false)), at: instant)
        let begin = SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))
        history.append(.frame(Self.frame(.snapshotBegin(begin))), at: instant)
        let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9))
        let trip = Trip(id: "t", origin: place, destination: place)
        let start = Message.publication(.startGuidance(trip, generation: 1, RouteInformation()))
        history.append(.frame(Self.frame(start, sequence: 1)), at: instant)
        history.append(.frame(Self.frame(.snapshotEnd)), at: instant)
        history.append(.step(3, "drives"), at: instant)
        let road = Message.publication(.currentRoadName(["Hauptstrasse"]))
        history.append(.frame(Self.frame(road, sequence: 2)), at: instant + .seconds(1))

        let record = try #require(history.endpoint(Self.cluster))
        #expect(record.moment(at: 0)?.state.phase == .idle)
        #expect(record.moment(at: 1)?.state.isComplete == false)
        #expect(record.moment(at: 2)?.state.isComplete == false)
        #expect(record.moment(at: 4)?.state.isComplete == true)
        #expect(record.moment(at: 4)?.state.currentRoadName == [])
        #expect(record.moment(at: 5)?.state.currentRoadName == ["Hauptstrasse"])
        #expect(record.moments.map(\.index) == [0, 1, 2, 3, 5])
    }

    @Test func `an endpoint does not hold what a fault kept back`() throws {
        var history = History()
        history.add(Self.cluster, storage: VehicleLimits())
        let frame = Codec.encode(
            Envelope(
                .snapshotBegin(SnapshotBegin(kind: .full, client: ClientID(unchecked: "app"))),
                session: SessionID(1)))
        let instant = Instant(nanoseconds: 0)
        let dropped = CrossedFrame(frame, of: Self.cluster, .toPeer, sent: instant, delivery: .dropped)
        history.append(.frame(dropped), at: instant)
        #expect(history.endpoint(Self.cluster)?.moments.isEmpty == true)
    }

    @Test func `a refused body is kept with the reason`() {
        let frame = Frame(header: FrameHeader(type: MessageType.startGuidance.rawValue), body: [0xFF])
        let crossed = CrossedFrame(frame, of: Self.cluster, .toPeer, sent: Instant(nanoseconds: 0))
        #expect(crossed.message == nil)
        #expect(crossed.rejection?.code == .malformed)
    }

    @Test func `a history that is full keeps what it has and says so`() {
        var limits = History.Limits()
        limits.entriesMax = 2
        var history = History(limits: limits)
        for number in 0..<3 { history.append(.step(number, "step"), at: Instant(nanoseconds: 0)) }
        #expect(history.isFull)
        #expect(history.entries.count == 2)

        limits = History.Limits()
        limits.bytesMax = 100
        history = History(limits: limits)
        history.append(
            .broken(Self.cluster, .toPeer, [UInt8](repeating: 0, count: 60)), at: Instant(nanoseconds: 0))
        #expect(!history.isFull)
        history.append(
            .broken(Self.cluster, .toPeer, [UInt8](repeating: 0, count: 60)), at: Instant(nanoseconds: 0))
        #expect(history.isFull)
        #expect(history.entries.count == 1)
    }
}
