internal import WaymarkCodec
package import WaymarkHistory
package import WaymarkProtocol
package import WaymarkRecording
internal import WaymarkTexts

/// What peers and a gateway said to each other in a recording, connection by connection.
package struct RecordedConversation: Sendable {
    /// A connection whose beginning is in the recording.
    package struct Connection: Sendable {
        package let number: ConnectionID
        package let peer: PeerID
        package let hello: Hello
        package internal(set) var lines: [Line] = []
        /// The gateway found this connection silent: pings of its peer would have kept it.
        var isSilent = false
        /// A connection of the same peer began before this one had ended.
        var isSuperseded = false
        /// Vehicles that it is about.
        var vehicles: Set<VehicleID> = []
    }

    /// One thing that happened to a connection.
    package struct Line: Sendable {
        package enum Kind: Sendable {
            /// The peer sent it, and it reached the gateway.
            case sent(Frame)
            /// The gateway sent it.
            case received(CrossedFrame)
            /// In the recording there is only an Error for this frame: it had no content that can be read.
            case lostFrame(FrameHeader)
            /// The peer's end of the connection was gone.
            case left
        }

        /// Its place among everything that happened.
        let order: Int
        package let instant: Instant
        package internal(set) var kind: Kind
        /// Texts and places were removed from it.
        var isRedacted = false
    }

    /// What happened to the gateway's process.
    struct GatewayLine: Sendable {
        let order: Int
        let instant: Instant
        let fault: VirtualRun.GatewayFault
        /// When it was back; nil if nothing shows that it was.
        var until: Instant?
    }

    /// Why something of a recording is neither sent nor compared, and how often.
    package struct Omission: Sendable, Hashable {
        package let text: String
        package var count = 1
    }

    /// In the order in which they began.
    package internal(set) var connections: [Connection] = []
    private(set) var gatewayLines: [GatewayLine] = []
    package private(set) var omissions: [Omission] = []
    /// Of the last entry.
    package private(set) var end = Instant(nanoseconds: 0)
    /// Of the gateway, if it is a recording of a run.
    var runSettings: VirtualRun.Settings?
    /// It is of a run in virtual time: the timers of its gateway repeat exactly.
    private(set) var isVirtual = true
    /// How the replay's times differ from those of the recording, in sentences.
    package private(set) var timeNotes: [String] = []
    /// When instant 0 was.
    package let begin: RecordingTime

    /// What happened to the recorded gateway's process, in words.
    package var gatewayNotes: [String] {
        self.gatewayLines.map { line in
            let what =
                switch line.fault {
                case .kill: "was killed"
                case .stop: "stood still"
                case .restart: "was restarted"
                }
            return "at \(ClockText.seconds(line.instant)) s the gateway \(what)"
        }
    }

    /// The peers, in the order in which they connected first.
    package var peers: [PeerID] {
        var seen: Set<PeerID> = []
        return self.connections.map(\.peer).filter { seen.insert($0).inserted }
    }

    /// Frames of at most so many bytes are kept.
    private static let bytesMax = 1 << 30

    /// Reads a recording, of one vehicle and all that is connected with it if `vehicle` names one.
    ///
    /// - Throws: ``ReplayError``.
    package init(_ recording: Recording, vehicle: VehicleID? = nil) throws(ReplayError) {
        guard let times = recording.times else { throw .empty }
        let isVirtual = recording.origin?.run?.clock == RunClock.virtual.rawValue
        // Timers of the gateway are rounded: they need the same instants.
        let begin = isVirtual ? RunRecording.virtualBegin : times.lowerBound
        var reading = Reading()
        var timeline = ReplayTimeline(begin: begin)
        do throws(RecordingError) {
            var walk = RecordingWalk(recording, holdsContent: false)
            while let entry = try walk.next() {
                reading.see(entry, at: timeline.instant(of: entry.time))
                if let grace = reading.grace { timeline.see(grace: grace) }
                guard reading.byteCount <= Self.bytesMax else { break }
            }
        } catch { throw .unreadable(error) }
        guard reading.byteCount <= Self.bytesMax else { throw .tooLarge }
        try self.init(reading, begin: begin, vehicle: vehicle)
        self.runSettings = recording.runSettings
        self.isVirtual = isVirtual
        self.timeNotes = timeline.notes
    }

    /// What was read.
    init(_ reading: Reading, begin: RecordingTime, vehicle: VehicleID? = nil) throws(ReplayError) {
        var reading = reading
        reading.finish()
        self.begin = begin
        self.connections = reading.connections
        self.gatewayLines = reading.gatewayLines
        self.omissions = reading.omissions
        self.end = reading.end
        if let vehicle { try self.keep(vehicle) }
        guard !self.connections.isEmpty else { throw .noBeginning }
    }

    /// Keeps the connections of a vehicle, of the clients that it was guided by, and of all that these have in common with others.
    private mutating func keep(_ vehicle: VehicleID) throws(ReplayError) {
        guard self.connections.contains(where: { $0.vehicles.contains(vehicle) }) else {
            throw .noSuchVehicle(vehicle)
        }
        var vehicles: Set<VehicleID> = [vehicle]
        var peers: Set<PeerID> = []
        var count = -1
        while count != vehicles.count + peers.count {
            count = vehicles.count + peers.count
            for connection in self.connections
            where peers.contains(connection.peer) || !vehicles.isDisjoint(with: connection.vehicles) {
                peers.insert(connection.peer)
                vehicles.formUnion(connection.vehicles)
            }
        }
        self.connections.removeAll { !peers.contains($0.peer) }
    }

    /// All that peers do, in order: the connection's index, and the line's.
    func lines(of peers: Set<PeerID>) -> [(connection: Int, line: Int)] {
        var all: [(order: Int, connection: Int, line: Int)] = []
        for (index, connection) in self.connections.enumerated() where peers.contains(connection.peer) {
            for (place, line) in connection.lines.enumerated() {
                if case .received = line.kind { continue }
                all.append((line.order, index, place))
            }
        }
        return all.sorted { ($0.order, $0.line) < ($1.order, $1.line) }.map { ($0.connection, $0.line) }
    }
}

/// Why a recording cannot be replayed.
package enum ReplayError: Error, Sendable, CustomStringConvertible {
    case unreadable(RecordingError)
    case empty
    /// All connections were open before it began.
    case noBeginning
    case noSuchVehicle(VehicleID)
    case noSuchPeer(String, [String])
    /// A peer of a scenario has another name than in the recording.
    case renamed(String, String)
    case tooLarge
    /// Frames that a peer must send have no texts and places.
    case redacted(PeerID, String)
    case run(String)

    package var description: String {
        switch self {
        case .unreadable(let error): "\(error)"
        case .empty: "nothing is recorded in it"
        case .noBeginning:
            "no connection begins in it: a replay needs a peer's Hello, so the recorder must run before the peer connects"
        case .noSuchVehicle(let vehicle): "no connection of vehicle \(vehicle) begins in it"
        case .noSuchPeer(let name, let names):
            "no connection of \(name) begins in it; it has \(names.joined(separator: ", "))"
        case .renamed(let name, let other):
            "a replayed peer keeps its name, which others use: \(other) cannot say what \(name) said"
        case .tooLarge: "it has more than 1 GiB of frames; name a vehicle, or record for a shorter time"
        case .redacted(let peer, let message):
            "texts and places of \(peer)'s \(message) are hidden in it; a replay needs a recording from a listener with observe: content, without --redact"
        case .run(let reason): reason
        }
    }
}
