internal import Foundation
internal import WaymarkClient
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// The place of an entry in a history: its time, its number, and which of those with both it is.
struct EntryPlace: Sendable, Hashable, Comparable, CustomStringConvertible {
    let time: RecordingTime
    let number: UInt32
    let index: Int

    init(time: RecordingTime, number: UInt32, index: Int) {
        (self.time, self.number, self.index) = (time, number, index)
    }

    /// - Throws: `invalid` for what is no id of an entry.
    init(_ text: String, field: String) throws(InspectorError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let time = UInt64(parts[0]), let number = UInt32(parts[1]),
            let index = Int(parts[2]), (0...1_000_000).contains(index), time < UInt64(Int64.max)
        else { throw InspectorError(.invalid, field: field, "is no id of an entry") }
        self.init(time: RecordingTime(nanoseconds: time), number: number, index: index)
    }

    var description: String { "\(self.time.nanoseconds)-\(self.number)-\(self.index)" }

    // Why without the number: it begins again after 2^32, and entries of one time are in the order of the walk.
    static func < (lhs: Self, rhs: Self) -> Bool {
        lhs.time == rhs.time ? lhs.index < rhs.index : lhs.time < rhs.time
    }
}

/// An entry, with what a filter asks for.
struct PlacedEntry: Sendable {
    let place: EntryPlace
    let entry: RecordedEntry
    /// Of its session, or that it names.
    let vehicles: Set<String>
    let client: String
    /// The members of the line, if it is an event.
    let event: GatewayEvent?
    /// Its kind in the lines of `waymark watch --json`.
    let kind: String
    /// Of a line that is no event of a gateway.
    let line: String?

    var frame: RecordedFrame? { if case .frame(let frame) = self.entry.content { frame } else { nil } }

    init(_ entry: RecordedEntry, _ place: EntryPlace, _ state: RecordedState) {
        (self.entry, self.place) = (entry, place)
        var vehicles = Set<String>()
        var client = ""
        var event: GatewayEvent?
        var line: String?
        switch entry.content {
        case .frame(let frame):
            self.kind = "frame"
            let session = frame.frame.header.session
            vehicles = Set(state.peers.vehicles(of: session).map(\.rawValue))
            client = state.gateway.sessions[session]?.client.rawValue ?? ""
            for peer in frame.peers {
                if let vehicle = Self.vehicle(of: peer) { vehicles.insert(vehicle) } else { client = peer }
            }
            vehicles.formUnion(Self.named(in: frame.frame))
        case .event(let text):
            let object = RecordedJSON.object(text) ?? [:]
            let kind = object["kind"] as? String ?? ""
            self.kind = kind
            if kind == "event" {
                let told = RecordedJSON.event(object)
                (event, client) = (told, told.client)
                vehicles = Set(told.vehicles)
                if told.vehicles.isEmpty, told.session != 0 {
                    vehicles = Set(state.peers.vehicles(of: SessionID(told.session)).map(\.rawValue))
                }
                if let vehicle = Self.vehicle(of: told.peer) { vehicles.insert(vehicle) }
            } else {
                line = text
                if let peer = object["peer"] as? String {
                    if let vehicle = Self.vehicle(of: peer) {
                        vehicles.insert(vehicle)
                    } else {
                        client = peer
                    }
                }
            }
        case .broken(_, _, let peer):
            self.kind = "broken"
            if let vehicle = Self.vehicle(of: peer) { vehicles.insert(vehicle) } else { client = peer }
        case .state: self.kind = "synchronized"
        }
        (self.vehicles, self.client, self.event, self.line) = (vehicles, client, event, line)
    }

    /// The vehicles that a message between gateway and client names; without a session, nothing else says whom it concerns.
    private static func named(in frame: Frame) -> [String] {
        switch frame.header.type {
        case .openSession, .vehicleChanged, .waypointRequest, .destinationRequest, .startTripRequest,
            .requestAnswer, .requestOutcome, .updateRouteSource, .selectPreview, .vehicleSettings,
            .zoomCluster,
            .vehicleExtension, .simulateDrive, .destinationShareStatus, .destinationShareWanted,
            .updateRouteFeedback:
            HistoryAnswers.message(frame)?.namedVehicles.map(\.rawValue) ?? []
        default: []
        }
    }

    /// `VEHICLE/ENDPOINT` names a vehicle.
    static func vehicle(of peer: String) -> String? {
        let parts = peer.split(separator: "/", maxSplits: 1)
        return parts.count == 2 ? String(parts[0]) : nil
    }

    /// The endpoint in `VEHICLE/ENDPOINT`.
    static func endpoint(of peer: String) -> String {
        String(peer.split(separator: "/", maxSplits: 1).last ?? "")
    }

    /// It is between the gateway and endpoints of other vehicles alone, though its session may guide this one as well.
    func isOfOthers(_ vehicle: String) -> Bool {
        let owners = (self.frame?.peers ?? []).compactMap(Self.vehicle)
        return !owners.isEmpty && !owners.contains(vehicle)
    }
}

/// Which entries are wanted.
struct EntryFilter: Sendable, Hashable {
    static let kinds = [
        "frame", "event", "dropped", "synchronized", "connection", "fault", "mark", "verdict", "finding",
        "log",
        "broken", "end",
    ]
    static let parameters = [
        "vehicle", "client", "session", "peer", "kind", "event", "message", "way", "search", "rejected",
    ]

    var vehicle = ""
    var client = ""
    var session: Int?
    var peer = ""
    var kinds: Set<String> = []
    var events: Set<String> = []
    var messages: Set<String> = []
    var way = ""
    var search = ""
    var isRejected = false

    init() {}

    init(_ query: InspectorQuery) throws(InspectorError) {
        self.vehicle = try query.text("vehicle", max: 64) ?? ""
        self.client = try query.text("client", max: 64) ?? ""
        if try query.text("session") != nil {
            self.session = try query.number("session", 0...Int(UInt32.max), default: 0)
        }
        self.peer = try query.text("peer", max: 130) ?? ""
        self.kinds = try query.list("kind", of: Self.kinds)
        self.events = try query.list("event")
        self.messages = try query.list("message")
        self.way = try query.word("way", of: ["from", "to"]) ?? ""
        self.search = (try query.text("search", max: 100) ?? "").lowercased()
        self.isRejected = try query.word("rejected", of: ["0", "1"]) == "1"
    }

    func matches(_ placed: PlacedEntry, _ source: InspectedSource, _ state: RecordedState) -> Bool {
        if !self.vehicle.isEmpty, !placed.vehicles.contains(self.vehicle), !self.isForAll(placed) {
            return false
        }
        if !self.client.isEmpty, placed.client != self.client { return false }
        if !self.kinds.isEmpty, !self.kinds.contains(placed.kind) { return false }
        if !self.events.isEmpty, !self.events.contains(placed.event?.kind.rawValue ?? "") { return false }
        let frame = placed.frame
        if let session {
            let own =
                frame.map { Int($0.frame.header.session.rawValue) } ?? placed.event.map { Int($0.session) }
            if own != session { return false }
        }
        if !self.peer.isEmpty, frame?.peers.contains(self.peer) != true, placed.event?.peer != self.peer {
            return false
        }
        if !self.messages.isEmpty {
            guard let frame else { return false }
            if !self.messages.contains(Self.name(frame.frame.header)) { return false }
        }
        if !self.way.isEmpty {
            guard let frame, frame.direction == (self.way == "from" ? .in : .out) else { return false }
        }
        if self.isRejected, frame?.isRejected != true { return false }
        guard !self.search.isEmpty else { return true }
        let object = EntryObjects(source).object(placed, state, hasText: true)
        return JSON.line(JSON.members(of: object)).lowercased().contains(self.search)
    }

    /// What was missed concerns every vehicle.
    private func isForAll(_ placed: PlacedEntry) -> Bool {
        ["dropped", "synchronized"].contains(placed.kind)
    }

    static func name(_ header: FrameHeader) -> String {
        if let type = header.type { return "\(type)" }
        let digits = String(header.rawType, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

/// Entries as lines of `waymark watch --json`, with where they are.
struct EntryObjects {
    typealias Object = Joined<JSONPart, Answer.Entry>

    private let source: InspectedSource

    init(_ source: InspectedSource) { self.source = source }

    /// As an observer was told it, without what must not be shown.
    private func entry(_ placed: PlacedEntry) -> RecordedEntry {
        guard self.source.isRedacted, let frame = placed.frame else { return placed.entry }
        return placed.entry.showing(self.source.shown(frame.frame))
    }

    func object(_ placed: PlacedEntry, _ state: RecordedState, hasText: Bool) -> Object {
        let entry = self.entry(placed)
        var answer = Answer.Entry(
            number: Int(entry.number), entry: "\(placed.place)", at: self.source.seconds(placed.place.time),
            time: JSON.time(placed.place.time.date))
        var line: [String: Any]
        switch entry.content {
        case .frame(let frame):
            let update = RecordedJSON.update(entry, frame, state)
            line = ObservedJSON.object(update)
            if frame.delivery != .whole { answer.delivery = frame.delivery.rawValue }
            if hasText, case .frame(let observed) = update.content {
                answer.text = "\(EventText.way(observed))  \(FrameText.text(observed))"
            }
            answer.vehicles = placed.vehicles.sorted()
        case .event(let text):
            line = RecordedJSON.object(text) ?? [:]
            if self.source.isRedacted, placed.event == nil { line = Self.withoutTexts(line) }
            if hasText, let event = placed.event {
                let subject = EventText.subject(event)
                answer.text =
                    subject.isEmpty ? EventText.text(event) : "\(subject)  \(EventText.text(event))"
            } else if hasText, line["text"] == nil {
                answer.text = Self.text(line)
            }
        case .broken(let bytes, let direction, let peer):
            line = [
                "kind": "broken", "peer": peer, "way": direction == .in ? "toGateway" : "toPeer",
                "bytes": bytes.count,
            ]
            // They may be anything, also places.
            if !self.source.isRedacted { line["hex"] = Hex.text(bytes.prefix(1_024)) }
            if hasText { answer.text = "\(peer)  \(bytes.count) bytes that are no frame" }
        case .state: line = ["kind": "synchronized"]
        }
        return Joined(JSONPart(line), answer)
    }

    /// What a run says of itself may name places.
    static func withoutTexts(_ object: [String: Any]) -> [String: Any] {
        object.filter { !["text", "expected", "hex", "problem"].contains($0.key) }
    }

    /// Of a line about the recording, or the connection, itself.
    static func text(_ object: [String: Any]) -> String {
        switch (object["kind"] as? String, object["state"] as? String) {
        case ("dropped", _): "\(object["count"] ?? "some") entries are missing: the observer read too slowly"
        case ("synchronized", _): "the whole state was told by gateway \(object["instance"] ?? "")"
        case ("connection", "connected"): "connected to the gateway again"
        case ("connection", "connecting"): "the connection to the gateway was lost"
        case ("verdict", _): "\(object["verdict"] ?? ""): \(object["text"] ?? "")"
        default: ""
        }
    }
}

/// Bytes as text.
enum Hex {
    static func text(_ bytes: some Collection<UInt8>) -> String {
        bytes.reduce(into: "") { text, byte in
            let digits = String(byte, radix: 16)
            text += digits.count == 1 ? "0" + digits : digits
        }
    }
}

/// Goes over the entries from a time on, with their places.
struct PlacedWalk {
    private let begin: RecordingTime
    private var walk: HistoryWalk
    private var last: (time: RecordingTime, index: Int)?
    /// Whether times never went back, as they do where a clock was set.
    private(set) var isOrdered = true

    init(_ source: InspectedSource, from begin: RecordingTime) throws(InspectorError) {
        self.begin = begin
        // Why earlier: in a recording, entries of one time can be on both sides of a state, from which a walk begins.
        self.walk = try source.walk(from: begin.previous)
    }

    /// The gateway's state after the entry that was returned last.
    var state: RecordedState { self.walk.state }

    /// nil at the end.
    mutating func next() throws(InspectorError) -> (RecordedEntry, EntryPlace)? {
        while let entry = try self.walk.next() {
            if let last = self.last, entry.time < last.time { self.isOrdered = false }
            guard entry.time >= self.begin else { continue }
            let index = self.last?.time == entry.time ? (self.last?.index ?? 0) + 1 : 0
            self.last = (entry.time, index)
            return (entry, EntryPlace(time: entry.time, number: entry.number, index: index))
        }
        return nil
    }
}

extension FrameHeader {
    /// Whether it is of a publication: of a published type, and with a number.
    var isPublication: Bool { self.sequence > 0 && MessageType.published.contains(self.rawType) }
}

/// Reads parts of a history.
struct HistoryReader {
    /// Entries that one question may look at.
    static let scannedMax = 20_000
    /// Entries that one question may go over, also those that it does not want.
    private static let walkedMax = 500_000

    let source: InspectedSource

    /// What a part of the history has.
    struct Page<Item> {
        var items: [Item] = []
        /// Entries that were looked at.
        var scanned = 0
        /// Where to go on; nil if there is nothing more.
        var next: EntryPlace?
    }

    /// The entries that were gone over.
    struct Passage {
        /// The last entry, wanted or not.
        var last: EntryPlace?
        var count = 0
        /// Whether there were no more entries than one question may go over.
        var isWhole = true
        /// Whether times never went back, as they do where a clock was set.
        var isOrdered = true
    }

    /// Goes forward over the entries from `begin` to before `end`, without those up to `place`; stops when `body` returns false. `frames`
    /// says which frames are wanted, by their headers: finding out whom a frame concerns takes longer than reading it.
    @discardableResult
    func forEach(
        from begin: RecordingTime, to end: RecordingTime?, after place: EntryPlace? = nil,
        frames: ((FrameHeader) -> Bool)? = nil,
        _ body: (PlacedEntry, RecordedState) throws(InspectorError) -> Bool
    ) throws(InspectorError) -> Passage {
        var passage = Passage()
        var walk = try PlacedWalk(self.source, from: begin)
        while let (entry, at) = try walk.next() {
            if let end, entry.time >= end { break }
            if let place, at <= place { continue }
            guard passage.count < Self.walkedMax else {
                passage.isWhole = false
                break
            }
            passage.count += 1
            passage.last = at
            if let frames, case .frame(let frame) = entry.content, !frames(frame.frame.header) { continue }
            guard try body(PlacedEntry(entry, at, walk.state), walk.state) else { break }
        }
        passage.isOrdered = walk.isOrdered
        return passage
    }

    /// Bytes of the history that one question about all of it reads.
    private static let bytesMax = 33_554_432.0

    /// From where on a question about everything up to `end` reads, so that it does not read too much: not before `earliest`. What is
    /// older is left out.
    func beginning(_ earliest: RecordingTime, to end: RecordingTime) -> RecordingTime {
        var (bytes, begin) = (0.0, end)
        for (first, last, amount) in self.source.amounts.reversed() where first <= end {
            bytes += amount
            // At least the part of the end.
            guard bytes <= Self.bytesMax || begin == end else { break }
            begin = min(begin, first)
            if last < earliest { break }
        }
        return max(earliest, min(begin, end))
    }

    /// The newest items before a place, newest first. `read` makes the items of a part of the history, oldest first, and says how many
    /// entries it looked at.
    func before<Item>(
        _ place: EntryPlace, limit: Int, from earliest: RecordingTime,
        _ read: (_ range: Range<RecordingTime>) throws(InspectorError) -> (
            items: [(EntryPlace, Item)], scanned: Int
        )
    ) throws(InspectorError) -> Page<Item> {
        var page = Page<Item>()
        let divisions = self.source.divisions
        var upper = place.time.next
        var index = divisions.partitioningIndex { $0 >= upper }
        var lastPlace: EntryPlace?
        while upper > earliest {
            index -= 1
            let division = index >= 0 ? divisions[index] : self.source.from
            let lower = max(earliest, min(division, upper))
            if lower < upper {
                let (items, scanned) = try read(lower..<upper)
                page.scanned += scanned
                for (itemPlace, item) in items.reversed() where itemPlace < place {
                    guard page.items.count < limit else {
                        page.next = lastPlace
                        return page
                    }
                    page.items.append(item)
                    lastPlace = itemPlace
                }
            }
            upper = lower
            guard index >= 0 else { return page }
            if page.scanned >= Self.scannedMax || page.items.count == limit {
                if upper > earliest {
                    page.next =
                        page.items.count == limit
                        ? lastPlace : EntryPlace(time: upper, number: 0, index: 0)
                }
                return page
            }
        }
        return page
    }

    /// The entry at a place.
    ///
    /// - Throws: `gone` if it is no longer kept, `notFound` if there is none.
    func entry(
        at place: EntryPlace
    ) throws(InspectorError) -> (entry: PlacedEntry, state: RecordedState) {
        guard place.time >= self.source.from else {
            throw InspectorError(.gone, field: "entry", "the entry is no longer kept")
        }
        var found: (PlacedEntry, RecordedState)?
        try self.forEach(from: place.time, to: place.time.next) { placed, state in
            guard placed.place == place else { return true }
            found = (placed, state)
            return false
        }
        guard let found else { throw InspectorError(.notFound, field: "entry", "there is no such entry") }
        return found
    }
}

extension Array {
    /// The index of the first element that satisfies `predicate`, which all behind it do as well.
    func partitioningIndex(_ predicate: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Message {
    /// The vehicles that its body names.
    fileprivate var namedVehicles: [VehicleID] {
        switch self {
        case .openSession(let open): if case .vehicles(let vehicles) = open.vehicles { vehicles } else { [] }
        case .vehicleChanged(let status): [status.vehicle]
        case .waypointRequest(let request): [request.vehicle].compactMap(\.self)
        case .destinationRequest(let request): [request.vehicle].compactMap(\.self)
        case .startTripRequest(let request): [request.vehicle].compactMap(\.self)
        case .selectPreview(let selection): [selection.source?.vehicle].compactMap(\.self)
        case .requestAnswer(let answer): [answer.vehicle]
        case .requestOutcome(let outcome): [outcome.vehicle]
        case .updateRouteSource(let update): [update.vehicle].compactMap(\.self)
        case .zoomCluster(let zoom): [zoom.source?.vehicle].compactMap(\.self)
        case .vehicleExtension(let sent): [sent.source?.vehicle].compactMap(\.self)
        case .simulateDrive(let asked): [asked.vehicle].compactMap(\.self)
        case .destinationShareWanted(let wanted): [wanted.source?.vehicle].compactMap(\.self)
        case .updateRouteFeedback(let update): [update.vehicle].compactMap(\.self)
        case .vehicleSettings(let settings): [settings.source?.vehicle].compactMap(\.self)
        case .destinationShareStatus(let status): [status.vehicle]
        default: []
        }
    }
}
