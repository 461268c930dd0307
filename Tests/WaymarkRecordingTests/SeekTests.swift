import Testing
import WaymarkCodec
import WaymarkModel
import WaymarkProtocol

@testable import WaymarkRecording

/// Seeking against a full replay: what an observer held who was told everything from the beginning.
@Suite(.timeLimit(.minutes(10))) struct SeekTests {
    private static let sessions = (7...12).map { SessionID($0) }

    /// One random thing that a gateway tells; often at the instant of the one before.
    private static func step(_ drive: inout Drive, _ random: inout Seeded) {
        drive.instant =
            drive.instant
            + .nanoseconds(max(0, Int64.random(in: -500_000_000...1_000_000_000, using: &random)))
        let session = Self.sessions.randomElement(using: &random) ?? Drive.session
        switch Int.random(in: 0..<40, using: &random) {
        case 0:
            // Entries are missing, and the whole state follows.
            let dropped = UInt64.random(in: 1...50, using: &random)
            drive.tell(
                .observationGap(ObservationGap(dropped: dropped, nextNumber: drive.number + dropped + 1)))
            drive.number += dropped
            drive.tellState()
        case 1...3: drive.happen(.sessionEnded) { $0.session = session }
        case 4...14: Self.tellRecords(&drive, session, &random)
        default:
            guard drive.observed.sessions[session] != nil else {
                return Self.tellRecords(&drive, session, &random)
            }
            drive.number += 1
            drive.sequence += 1
            let name = String(
                repeating: "road \(drive.sequence) ", count: Int.random(in: 1...9, using: &random))
            let frame = Codec.encode(
                Envelope(
                    .publication(Self.publication(name, &random)), session: session, sequence: drive.sequence)
            )
            var told = ObservedFrames(Bool.random(using: &random) ? .in : .out, Array(frame.bytes))
            (told.number, told.instant, told.session) = (drive.number, drive.instant, session)
            if told.direction == .in { told.connection = Drive.client } else { told.audience = 5 }
            drive.tell(.observedFrames(told))
        }
    }

    /// What a session retains: one state, more and more maneuvers, or a new beginning.
    private static func publication(_ name: String, _ random: inout Seeded) -> Publication {
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
            let place = Waypoint(center: Coordinate(latitude: 47, longitude: 9), nameVariants: [name])
            return .startGuidance(Trip(id: "t", origin: place, destination: place), generation: 1, .init())
        case 1...9:
            let id = ManeuverID(rawValue: .random(in: 1...30, using: &random))
            return .addManeuvers(
                [Maneuver(id: id, type: .leftTurn, instructionVariants: [name])], generation: 1)
        default: return .currentRoadName([name])
        }
    }

    /// Records that come, change and go.
    private static func tellRecords(_ drive: inout Drive, _ session: SessionID, _ random: inout Seeded) {
        drive.number += 1
        var records = ObservedRecords()
        (records.number, records.instant) = (drive.number, drive.instant)
        let client = ClientID(unchecked: "client-\(Int.random(in: 0..<9, using: &random))")
        let vehicle = VehicleID(unchecked: "car-\(Int.random(in: 0..<9, using: &random))")
        if Int.random(in: 0..<3, using: &random) == 0 {
            records.clientsGone = [client]
            records.vehiclesGone = [vehicle]
            records.sessionsGone = [session]
        } else {
            var record = ClientRecord(client)
            record.connection = ConnectionID(UInt64.random(in: 100...120, using: &random))
            var other = VehicleRecord(vehicle)
            other.session = session
            records.clients = [record]
            records.vehicles = [other]
            records.sessions = [SessionRecord(session, of: client)]
        }
        drive.tell(.observedRecords(records))
    }

    @Test func `the state at ten thousand random instants is that of a full replay`() throws {
        var random = Seeded(state: 11)
        var options = Recorder.Options()
        (options.stateBytes, options.chunkBytesMax) = (20_000, 3_000)
        var drive = Drive(options)
        drive.begin()
        var replay = [(time: drive.now, state: drive.observed)]
        for _ in 0..<4_000 {
            Self.step(&drive, &random)
            if replay.last?.time == drive.now { replay.removeLast() }
            replay.append((drive.now, drive.observed))
        }
        let end = drive.now
        let recording = try drive.recording()
        #expect(recording.index.chunks.count > 100)
        for number in 0..<10_000 {
            // Every second one is next to an entry.
            let time =
                number.isMultiple(of: 2)
                ? RecordingTime(
                    nanoseconds: .random(
                        in: Drive.start.nanoseconds + 1...end.nanoseconds + 1, using: &random))
                : replay[Int.random(in: 0..<replay.count, using: &random)].time
                    + .nanoseconds(Int64.random(in: 0...1, using: &random))
            // A walk from `time` on begins after everything that is earlier.
            let place = replay.partitioningIndex { $0.time >= time }
            guard place > 0 else { continue }
            let (expected, sought) = (
                replay[place - 1].state, try RecordingWalk(recording, from: time).state.gateway
            )
            try #require(sought.retained == expected.retained, "\(time)")
            try #require(sought.sessions == expected.sessions, "\(time)")
            try #require(sought.clients == expected.clients, "\(time)")
            try #require(sought.vehicles == expected.vehicles, "\(time)")
        }
    }
}

extension [(time: RecordingTime, state: ObservedGateway)] {
    /// The first place at which `belongs` holds; it holds behind it, too.
    fileprivate func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
