internal import Foundation
internal import WaymarkClient
internal import WaymarkCodec
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// Answers about what happened.
struct HistoryAnswers {
    let source: InspectedSource

    private var reader: HistoryReader { HistoryReader(source: self.source) }

    /// Where to begin: the cursor `before`, or behind what happened at `at`, or at the end.
    private func beginning(_ query: InspectorQuery) throws(InspectorError) -> EntryPlace {
        if let before = try query.text("before") { return try EntryPlace(before, field: "before") }
        let (to, at) = (try self.source.time(query, "to"), try self.source.time(query))
        return EntryPlace(time: (to ?? at ?? self.source.end).next, number: 0, index: 0)
    }

    private func end(_ next: EntryPlace?, _ scanned: Int) -> Answer.PartEnd {
        Answer.PartEnd(
            truncated: next != nil, next: next.map { "\($0)" }, scanned: scanned,
            from: self.source.seconds(self.source.from))
    }

    // MARK: Entries

    func entries(
        _ query: InspectorQuery
    ) throws(InspectorError) -> Joined<Answer.Entries, Answer.PartEnd> {
        let filter = try EntryFilter(query)
        let limit = try query.limit
        let hasText = try query.word("text", of: ["0", "1"]) != "0"
        let objects = EntryObjects(self.source)
        if let after = try query.text("after") {
            let place = try EntryPlace(after, field: "after")
            return try self.entries(after: place, filter, limit, hasText: hasText)
        }
        let earliest = try self.source.time(query, "from") ?? self.source.from
        let start = try self.beginning(query)
        let page: HistoryReader.Page<EntryObjects.Object> = try self.reader.before(
            start, limit: limit, from: earliest
        ) { range throws(InspectorError) in
            var places: [EntryPlace] = []
            var scanned = 0
            try self.reader.forEach(from: range.lowerBound, to: range.upperBound) {
                placed, state throws(InspectorError) in
                scanned += 1
                if placed.place < start, filter.matches(placed, self.source, state) {
                    places.append(placed.place)
                }
                return true
            }
            // Why a second time: only the newest of them are shown, and showing one takes longer than reading it. One more tells whether
            // there are older ones.
            let shown = Set(places.suffix(limit + 1))
            var items: [(EntryPlace, EntryObjects.Object)] = []
            guard let first = places.suffix(limit + 1).first else { return (items, scanned) }
            try self.reader.forEach(from: first.time, to: range.upperBound) {
                placed, state throws(InspectorError) in
                if shown.contains(placed.place) {
                    items.append((placed.place, objects.object(placed, state, hasText: hasText)))
                }
                return items.count < shown.count
            }
            return (items, scanned)
        }
        return Joined(Answer.Entries(entries: page.items), self.end(page.next, page.scanned))
    }

    /// Newer ones, oldest first.
    func entries(
        after place: EntryPlace, _ filter: EntryFilter, _ limit: Int, hasText: Bool
    ) throws(InspectorError) -> Joined<Answer.Entries, Answer.PartEnd> {
        let objects = EntryObjects(self.source)
        var items: [EntryObjects.Object] = []
        var (scanned, last) = (0, place)
        var next: EntryPlace?
        try self.reader.forEach(from: place.time, to: nil) { placed, state throws(InspectorError) in
            guard placed.place > place else { return true }
            if items.count == limit || scanned == HistoryReader.scannedMax {
                next = last
                return false
            }
            scanned += 1
            last = placed.place
            if filter.matches(placed, self.source, state) {
                items.append(objects.object(placed, state, hasText: hasText))
            }
            return true
        }
        return Joined(Answer.Entries(entries: items, last: "\(last)"), self.end(next, scanned))
    }

    // MARK: One frame

    private static let hexBytesMax = 65_536

    func frame(_ query: InspectorQuery) throws(InspectorError) -> Answer.Frame {
        let place = try EntryPlace(try query.required("entry"), field: "entry")
        let (placed, state) = try self.reader.entry(at: place)
        guard let frame = placed.frame else {
            throw InspectorError(.notFound, field: "entry", "the entry is no frame")
        }
        let shown = self.source.shown(frame.frame)
        return Answer.Frame(
            entry: "\(place)", at: self.source.seconds(place.time),
            line: EntryObjects(self.source).object(placed, state, hasText: true),
            hex: Hex.text(shown.bytes.prefix(Self.hexBytesMax)),
            tree: Codec.tree(of: shown, byteCountMax: Self.hexBytesMax).map(Answer.FrameNode.init),
            redacted: self.source.isRedacted || frame.isRedacted,
            hexTruncated: shown.bytes.count > Self.hexBytesMax ? true : nil,
            others: try self.others(of: placed))
    }

    /// The same publication on its other hops, within a second.
    private func others(of placed: PlacedEntry) throws(InspectorError) -> [Answer.FrameHop] {
        guard let header = placed.frame?.frame.header, header.sequence > 0 else { return [] }
        let begin = max(self.source.from, placed.place.time + .seconds(-1))
        var others: [Answer.FrameHop] = []
        var scanned = 0
        try self.reader.forEach(
            from: begin, to: placed.place.time + .seconds(1),
            frames: { $0.session == header.session && $0.sequence == header.sequence }
        ) { other, _ throws(InspectorError) in
            scanned += 1
            guard let frame = other.frame, other.place != placed.place,
                frame.frame.header.session == header.session,
                frame.frame.header.sequence == header.sequence, others.count < 32
            else { return scanned < HistoryReader.scannedMax }
            others.append(
                Answer.FrameHop(
                    entry: "\(other.place)", at: self.source.seconds(other.place.time),
                    message: EntryFilter.name(frame.frame.header), bytes: frame.frame.bytes.count,
                    fitted: frame.frame.header.flags.contains(.fitted),
                    from: frame.direction == .in ? frame.peers.first ?? "" : nil,
                    to: frame.direction == .in ? nil : frame.peers))
            return scanned < HistoryReader.scannedMax
        }
        return others
    }

    // MARK: Route guidance updates

    func updates(
        _ query: InspectorQuery
    ) throws(InspectorError) -> Joined<Answer.Updates, Answer.PartEnd> {
        let vehicle = try query.required("id")
        let messages = try query.list("message")
        let search = (try query.text("search", max: 100) ?? "").lowercased()
        let limit = try query.limit
        let page: HistoryReader.Page<UpdateRows.Row> = try self.reader.before(
            try self.beginning(query), limit: limit, from: self.source.from
        ) { range throws(InspectorError) in
            let before = try self.source.state(at: range.lowerBound.previous)
            var rows = UpdateRows(vehicle, self.source, after: before)
            var scanned = 0
            try self.reader.forEach(from: range.lowerBound, to: range.upperBound) {
                placed, state throws(InspectorError) in
                scanned += 1
                rows.see(placed, state)
                return true
            }
            let wanted = rows.rows.filter { _, row in
                if !messages.isEmpty, !messages.contains(row.second.message) { return false }
                return search.isEmpty || JSON.line(JSON.members(of: row)).lowercased().contains(search)
            }
            return (wanted, scanned)
        }
        return Joined(Answer.Updates(rows: page.items), self.end(page.next, page.scanned))
    }

    // MARK: Destinations

    private static let destinationsMax = 100

    /// The time before another one in which requests, receipts and destinations are looked for.
    static let lookback = Duration.seconds(3_600)

    /// Destinations that clients shared with a vehicle, and what came of it, newest first.
    func destinations(_ query: InspectorQuery) throws(InspectorError) -> Answer.Destinations {
        let vehicle = try query.required("id")
        let end = try self.source.time(query) ?? self.source.end
        let begin = self.reader.beginning(max(self.source.from, end + (.zero - Self.lookback)), to: end)
        var shares: [Answer.SharedDestination] = []
        let types: [MessageType] = [.shareDestination, .destinationShareAnswer, .destinationShareStatus]
        try self.reader.forEach(
            from: begin, to: end.next, frames: { header in header.type.map(types.contains) ?? false }
        ) { placed, _ in
            guard let frame = placed.frame, placed.vehicles.contains(vehicle), !frame.isRejected,
                frame.delivery == .whole, !placed.isOfOthers(vehicle),
                let message = Self.message(self.source.shown(frame.frame))
            else { return true }
            func change(_ id: String, _ change: (inout Answer.SharedDestination) -> Void) {
                guard let index = shares.lastIndex(where: { $0.shareID == id }) else { return }
                change(&shares[index])
            }
            switch message {
            case .publication(.shareDestination(let id, let place, _)) where frame.direction == .in:
                shares.append(
                    Answer.SharedDestination(
                        shareID: id, destination: JSONPart(ModelJSON.waypoint(place)), stage: "offered",
                        client: frame.peers.first ?? "", at: self.source.seconds(placed.place.time),
                        time: JSON.time(placed.place.time.date), entry: "\(placed.place)"))
            case .destinationShareAnswer(let answer) where frame.direction == .in:
                change(answer.shareID.rawValue) { $0.by = $0.by ?? frame.peers.first }
            case .destinationShareStatus(let status) where status.vehicle.rawValue == vehicle:
                change(status.shareID.rawValue) { share in
                    switch status.stage {
                    case .willShare: share.stage = "willShare"
                    case .didShare: share.stage = "didShare"
                    case .didFailToShare(let outcome):
                        (share.stage, share.outcome) = ("didFailToShare", "\(outcome)")
                    }
                }
            default: break  // About no share.
            }
            return true
        }
        return Answer.Destinations(
            destinations: shares.suffix(Self.destinationsMax).reversed(),
            truncated: begin > self.source.from || shares.count > Self.destinationsMax)
    }

    static func message(_ frame: Frame) -> Message? {
        do throws(DecodingError) { return try Codec.decode(frame).message } catch { return nil }
    }
}

extension Answer.FrameNode {
    init(_ node: FrameNode) {
        self.init(name: node.name, range: [node.range.lowerBound, node.range.upperBound])
        if node.valueRange != node.range {
            self.valueRange = [node.valueRange.lowerBound, node.valueRange.upperBound]
        }
        if node.number > 0 { self.number = node.number }
        if !node.type.isEmpty { self.type = node.type }
        if !node.text.isEmpty { self.text = node.text }
        if !node.problem.isEmpty { self.problem = node.problem }
        if node.name == "unknown" { self.unknown = true }
        self.value = node.value.map { JSONPart(Self.plain($0)) }
        if !node.children.isEmpty { self.children = node.children.map { Self($0) } }
    }

    private static func plain(_ value: FrameNode.Value) -> Any {
        switch value {
        case .number(let number):
            number < 1 << 53 ? Int(number) as Any : "0x" + String(number, radix: 16, uppercase: true)
        case .signed(let number): Int(number)
        case .decimal(let number): number.isFinite ? number as Any : "\(number)"
        case .flag(let flag): flag
        case .text(let text): text
        }
    }
}
