internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording

/// The publications for a vehicle, and which endpoint confirmed them when.
///
/// The book remembers how far it has read the history: asked again, it reads only what has happened since. What the history no longer
/// has, or a question no longer looks back to, it forgets, so that its answer is that of a book that reads all of it.
struct ReceiptBook: Sendable {
    private struct Row: Sendable {
        let header: FrameHeader
        let place: EntryPlace
        /// The endpoints that something of it was sent to.
        var sent: Set<String> = []
        var received: [String: RecordingTime] = [:]
        var shown: [String: RecordingTime] = [:]
    }

    /// The newest receipt of an endpoint.
    private struct Newest: Sendable {
        let time: RecordingTime
        /// The time of the publication before it, without which it would not be known to be of the session.
        let published: RecordingTime
    }

    private let vehicle: String
    private var rows: [Row] = []
    private var session = SessionID.none
    /// The time of the last publication.
    private var published: RecordingTime?
    private var newest: [String: Newest] = [:]
    /// The time from which on it knows the history.
    private var begin = RecordingTime(nanoseconds: 0)
    /// The last entry that it went over.
    private var last: EntryPlace?
    /// Whether its answer can be continued: times of what it read never went back.
    private(set) var isOrdered = true

    private static let rowsMax = 1_000
    /// Rows that are kept until many are removed at once.
    private static let rowsKeptMax = 1_250
    private static let answeredRowsMax = 100

    init(_ vehicle: String) { self.vehicle = vehicle }

    // MARK: Reading

    /// Whether a frame may matter. Finding out whom it concerns takes longer.
    private static func isOfReceipts(_ header: FrameHeader) -> Bool {
        header.type == .receipt || header.isPublication
    }

    /// Reads the history from `begin` up to and including `end`, without what it has read already.
    ///
    /// - Returns: How many entries it went over.
    mutating func read(
        _ reader: HistoryReader, from begin: RecordingTime, to end: RecordingTime
    ) throws(InspectorError) -> Int {
        let isContinued = self.last.map { self.begin <= begin && $0.time <= end } ?? false
        if !isContinued { self = ReceiptBook(self.vehicle) }
        self.forget(before: begin)
        let passage = try reader.forEach(
            from: max(begin, self.last?.time ?? begin), to: end.next, after: self.last,
            frames: Self.isOfReceipts
        ) { placed, _ in
            self.see(placed)
            return true
        }
        self.last = passage.last ?? self.last
        self.isOrdered = passage.isOrdered
        guard isContinued, !passage.isOrdered else { return passage.count }
        self = ReceiptBook(self.vehicle)
        return passage.count + (try self.read(reader, from: begin, to: end))
    }

    /// Forgets everything that a book would not know that begins at `begin`.
    private mutating func forget(before begin: RecordingTime) {
        self.begin = begin
        self.rows.removeFirst(self.rows.partitioningIndex { $0.place.time >= begin })
        self.newest = self.newest.filter { $0.value.published >= begin }
        if let published, published < begin { (self.published, self.session) = (nil, .none) }
    }

    private mutating func see(_ placed: PlacedEntry) {
        guard let frame = placed.frame, placed.vehicles.contains(self.vehicle), frame.delivery == .whole,
            !frame.isRejected, !placed.isOfOthers(self.vehicle)
        else { return }
        let header = frame.frame.header
        if header.isPublication {
            if frame.direction == .in {
                self.published(header, placed.place)
            } else {
                self.sent(header, frame.peers)
            }
        } else if frame.direction == .in, header.type == .receipt, header.session == self.session,
            case .receipt(let receipt)? = HistoryAnswers.message(frame.frame), let peer = frame.peers.first
        {
            self.confirmed(receipt, PlacedEntry.endpoint(of: peer), placed.place.time)
        }
    }

    private mutating func published(_ header: FrameHeader, _ place: EntryPlace) {
        if header.session != self.session { (self.rows, self.session) = ([], header.session) }
        self.published = place.time
        self.rows.append(Row(header: header, place: place))
        if self.rows.count > Self.rowsKeptMax { self.rows.removeFirst(self.rows.count - Self.rowsMax) }
    }

    private mutating func sent(_ header: FrameHeader, _ peers: [String]) {
        guard header.session == self.session else { return }
        let index = self.rows.partitioningIndex { $0.header.sequence >= header.sequence }
        guard self.rows.indices.contains(index), self.rows[index].header.sequence == header.sequence else {
            return
        }
        for peer in peers where PlacedEntry.vehicle(of: peer) == self.vehicle {
            self.rows[index].sent.insert(PlacedEntry.endpoint(of: peer))
        }
    }

    private mutating func confirmed(_ receipt: Receipt, _ endpoint: String, _ time: RecordingTime) {
        guard let published else { return }
        self.newest[endpoint] = Newest(time: time, published: published)
        for index in self.rows.indices where self.rows[index].sent.contains(endpoint) {
            let sequence = self.rows[index].header.sequence
            if sequence <= receipt.receivedSequence, self.rows[index].received[endpoint] == nil {
                self.rows[index].received[endpoint] = time
            }
            if sequence <= receipt.shownSequence, self.rows[index].shown[endpoint] == nil {
                self.rows[index].shown[endpoint] = time
            }
        }
    }

    // MARK: Answering

    /// The number of publications that were sent to an endpoint and that it has not confirmed. What is withheld from it has numbers that it never gets.
    /// `newest`: the number of the newest one that is retained, which may have been sent before what was read of the history.
    private func behind(
        _ endpoint: String, _ receipt: Receipt, _ newest: UInt64
    ) -> (count: Int, isWhole: Bool) {
        let rows = self.rows.suffix(Self.rowsMax)
        let count = rows.count {
            $0.header.sequence > receipt.receivedSequence && $0.sent.contains(endpoint)
        }
        let isWhole =
            rows.first.map { $0.header.sequence <= receipt.receivedSequence.addingSaturating(1) } ?? false
        let isBehind = newest > receipt.receivedSequence
        return (isBehind ? max(1, count) : count, isWhole || !isBehind)
    }

    /// `sent`: the number of the newest retained publication of which an endpoint is sent anything.
    func answer(
        _ state: RecordedState, _ source: InspectedSource, sent: (String) -> UInt64
    ) -> Answer.Receipts {
        let record = VehicleID(self.vehicle).flatMap { state.gateway.vehicles[$0] }
        let published = self.rows.last?.header.sequence ?? 0
        var why: [Answer.Reason] = []
        let endpoints = (record?.endpoints ?? []).map { endpoint in
            let name = endpoint.endpoint.rawValue
            var object = Answer.EndpointReceipts(
                endpoint: name, receiptAt: self.newest[name].map { source.seconds($0.time) })
            object.receivedDelays = endpoint.delays.flatMap { Answer.Delays($0.received) }
            object.shownDelays = endpoint.delays.flatMap { Answer.Delays($0.shown) }
            if let receipt = endpoint.receipt {
                object.received = Int(clamping: receipt.receivedSequence)
                object.shown = Int(clamping: receipt.shownSequence)
                let (behind, isWhole) = self.behind(name, receipt, sent(name))
                object.behind = behind
                if !isWhole { object.behindAtLeast = true }
            } else {
                why.append(
                    Reason(
                        .held, "endpoints/\(name)",
                        endpoint.features.contains(.receipts) ? .underWay : .notPublished,
                        endpoint.features.contains(.receipts)
                            ? "the endpoint has sent no receipt yet" : "the endpoint sends no receipts"
                    ).answer)
            }
            return object
        }
        let rows = self.rows.suffix(Self.answeredRowsMax).reversed().map { row in
            let names = Set(row.received.keys).union(row.shown.keys)
            let confirmations = names.map { name in
                let (received, shown) = (row.received[name], row.shown[name])
                return (
                    name,
                    Answer.Confirmation(
                        receivedAt: received.map(source.seconds), shownAt: shown.map(source.seconds))
                )
            }
            return Answer.ReceiptRow(
                sequence: Int(clamping: row.header.sequence), message: EntryFilter.name(row.header),
                entry: "\(row.place)", sentAt: source.seconds(row.place.time),
                endpoints: Dictionary(confirmations) { $1 })
        }
        return Answer.Receipts(
            session: Int(self.session.rawValue), published: Int(clamping: published), endpoints: endpoints,
            rows: rows, truncated: self.rows.count > Self.answeredRowsMax, why: why)
    }
}

/// The books of the vehicles whose receipts were asked for last.
struct ReceiptBooks: Sendable {
    private struct Kept: Sendable {
        let source: String
        let vehicle: String
        let book: ReceiptBook
    }

    private static let countMax = 16

    /// The one that was asked for last is at the end.
    private var kept: [Kept] = []
    /// Entries that all questions together went over.
    private(set) var entriesRead = 0

    /// The book of a vehicle at `end`.
    mutating func book(
        of vehicle: String, _ source: InspectedSource, at end: RecordingTime
    ) throws(InspectorError) -> ReceiptBook {
        var book = ReceiptBook(vehicle)
        if let index = self.kept.firstIndex(where: { $0.source == source.id && $0.vehicle == vehicle }) {
            book = self.kept.remove(at: index).book
        }
        let reader = HistoryReader(source: source)
        let earliest = max(source.wholeFrom, end + (.zero - HistoryAnswers.lookback))
        self.entriesRead += try book.read(reader, from: reader.beginning(earliest, to: end), to: end)
        if self.kept.count == Self.countMax { self.kept.removeFirst() }
        if book.isOrdered { self.kept.append(Kept(source: source.id, vehicle: vehicle, book: book)) }
        return book
    }
}

extension Answer.Delays {
    /// nil if none was measured.
    init?(_ counts: DelayCounts) {
        guard counts.count > 0 else { return nil }
        self.init(
            count: Int(clamping: counts.count),
            lastMilliseconds: Double(counts.lastMicroseconds) / 1_000,
            meanMilliseconds: Double(counts.totalMicroseconds / counts.count) / 1_000)
    }
}
