package import Foundation
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkTexts

/// One event for the page.
package struct PageEvent: Sendable, Hashable {
    /// The observer's number of the newest entry that it includes.
    package let id: UInt64
    package let name: String
    /// A JSON object.
    package let data: Data

    /// As server-sent events are written. JSON has no line breaks.
    package var text: String {
        "id: \(self.id)\nevent: \(self.name)\ndata: \(String(decoding: self.data, as: UTF8.self))\n\n"
    }
}

/// What one page shows: says which events it gets when something has changed. A value without clock or I/O.
package struct EventStream: Sendable {
    private enum View: Sendable, Hashable {
        case overview(Overview.Filter)
        case vehicle(String, endpoint: String?)
        case entries(EntryFilter)
        case requests(String)
        case receipts(String)
        case findings(String?)
        case actions(String)

        /// A view as its page names it. Rows may have parameters of their own behind `?`; `shared` are those of the whole stream.
        init(_ text: String, shared: InspectorQuery) throws(InspectorError) {
            if let query = try Self.parameters("overview", text) {
                try query.allow(Overview.Filter.parameters)
                self = .overview(try Overview.Filter(query))
                return
            }
            if let query = try Self.parameters("entries", text) {
                try query.allow(EntryFilter.parameters)
                self = .entries(try EntryFilter(query))
                return
            }
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
                String($0)
            }
            switch (parts.first, parts.dropFirst().first) {
            case ("overview", nil): self = .overview(try Overview.Filter(shared))
            case ("entries", nil): self = .entries(try EntryFilter(shared))
            case ("findings", nil): self = .findings(nil)
            case (_, ""): throw InspectorError(.invalid, field: "views", "names no vehicle behind the colon")
            case ("findings", let id?): self = .findings(id)
            case ("requests", let id?): self = .requests(id)
            case ("receipts", let id?): self = .receipts(id)
            case ("actions", let id?): self = .actions(id)
            case ("vehicle", let id?):
                let names = id.split(separator: "/", maxSplits: 1).map(String.init)
                self = .vehicle(names.first ?? "", endpoint: names.dropFirst().first)
            default:
                throw InspectorError(
                    .invalid, field: "views",
                    "must be of overview, entries, findings, findings:ID, vehicle:ID, vehicle:ID/ENDPOINT, requests:ID, receipts:ID, actions:ID"
                )
            }
        }

        /// The parameters of a view of rows; nil for other views, and without any.
        private static func parameters(
            _ view: String, _ text: String
        ) throws(InspectorError) -> InspectorQuery? {
            guard text.hasPrefix("\(view)?") else { return nil }
            return try InspectorQuery(String(text.dropFirst(view.count + 1)))
        }
    }

    /// Views of all windows of a browser.
    static let viewsMax = 64
    private static let entriesMax = 100
    private static let rowsMax = 100
    /// Between two signs of life.
    private static let beatSeconds = 5.0
    /// Between two readings of the history for one view.
    private static let historySeconds = 1.0

    private let source: String
    private let views: [(name: String, view: View)]
    /// The content that was sent last for each view, without its times.
    private var sent: [String: Data] = [:]
    /// The rows of vehicles that were sent last for each view.
    private var rows: [String: [String: Data]] = [:]
    /// The last entry that was sent or left out for each view; at first the last one of before the stream, if its page has that.
    private var places: [String: EntryPlace] = [:]
    private var firstPlace: EntryPlace?
    /// The number after which entries are wanted that were told before the stream began.
    private var resumedNumber: UInt64?
    private var lastBeat: Date?
    /// When the history was last read for a view, and up to which number.
    private var lastReading: [String: (time: Date, number: UInt64)] = [:]
    private var connection: [String: String] = [:]
    private var missed: UInt64?

    /// The parameters are `views`, `source`, and those of the filters; `lastID` is the id of the last event that the page has. Throws
    /// what is wrong with them.
    package init(_ query: InspectorQuery, lastID: String?, _ inspection: Inspection) throws(InspectorError) {
        try query.allow(["views", "source"] + EntryFilter.parameters + Overview.Filter.parameters)
        let source = try inspection.source(query)
        guard source.isLive else {
            throw InspectorError(
                .invalid, field: "source", "is a recording, in which nothing happens any more")
        }
        self.source = source.id
        var views: [(String, View)] = []
        for text in try query.required("views").split(separator: ",").map(String.init) {
            views.append((text, try View(text, shared: query)))
        }
        guard (1...Self.viewsMax).contains(views.count) else {
            throw InspectorError(.invalid, field: "views", "must be 1 to \(Self.viewsMax)")
        }
        self.views = views
        self.resumedNumber = lastID.flatMap { UInt64($0) }
        // What was told before is not told again, unless the page has lost its stream.
        if self.resumedNumber == nil {
            var place = EntryPlace(time: source.end, number: 0, index: -1)
            try HistoryReader(source: source).forEach(from: source.end, to: nil) {
                placed, _ throws(InspectorError) in
                place = placed.place
                return true
            }
            self.firstPlace = place
        }
    }

    /// The vehicles whose actions are shown.
    package var actionVehicles: [String] {
        self.views.compactMap { if case .actions(let id) = $0.view { id } else { nil } }
    }

    /// The events that say what has changed since the last call. `actions` has what is known of the actions of each vehicle, as JSON
    /// objects.
    package mutating func next(
        _ inspection: inout Inspection, actions: [String: Data], now: Date
    ) -> [PageEvent] {
        guard let source = inspection[source: self.source] else { return [] }
        let number = self.number(source)
        var events: [PageEvent] = []
        func add(_ name: String, _ answer: some Encodable) {
            events.append(PageEvent(id: number, name: name, data: JSON.data(of: answer)))
        }
        if source.connection != self.connection {
            self.connection = source.connection
            add("connection", source.connection)
        }
        if case .recent(let recent) = source.history {
            if let missed, recent.counts.missed > missed {
                let count = recent.counts.missed.subtractingSaturating(missed)
                add("gap", Answer.Gap(missed: Int(clamping: count)))
            }
            self.missed = recent.counts.missed
        }
        for (name, view) in self.views {
            do throws(InspectorError) {
                guard let event = try self.event(view, name, &inspection, source, actions, now) else {
                    continue
                }
                add(event.name, event.answer)
            } catch {
                // A vehicle that is not there yet, or any more.
                self.sendIfNew(name, error.answer).map { add("unavailable", $0) }
            }
        }
        if self.lastBeat.map({ now.timeIntervalSince($0) >= Self.beatSeconds }) ?? true {
            self.lastBeat = now
            add(
                "beat",
                Answer.Beat(
                    at: source.seconds(source.end), from: source.seconds(source.from), now: JSON.time(now)))
        }
        return events
    }

    private func number(_ source: InspectedSource) -> UInt64 {
        if case .recent(let recent) = source.history { recent.state.gateway.number } else { 0 }
    }

    /// The answer with its view, if it differs from what was sent last.
    private mutating func sendIfNew(
        _ name: String, _ answer: some Encodable
    ) -> Joined<JSONPart, Answer.View>? {
        let members = JSON.members(of: answer)
        var content = members
        for key in ["at", "time", "now", "number", "arrival"] { content[key] = nil }
        if var session = content["session"] as? [String: Any] {
            session["ageMilliseconds"] = nil
            content["session"] = session
        }
        let data = JSON.data(content)
        guard self.sent[name] != data else { return nil }
        self.sent[name] = data
        return Joined(JSONPart(members), Answer.View(view: name))
    }

    private mutating func event(
        _ view: View, _ name: String, _ inspection: inout Inspection, _ source: InspectedSource,
        _ actions: [String: Data], _ now: Date
    ) throws(InspectorError) -> (name: String, answer: any Encodable)? {
        var values = ["source": self.source]
        switch view {
        case .overview(let filter):
            // A search looks at everything that all sessions publish.
            guard filter.search.isEmpty || self.mayRead(name, source, now) else { return nil }
            return self.overviewEvent(name, filter, &inspection, source).map { ("overview", $0) }
        case .entries(let filter): return try self.entriesEvent(name, filter, source).map { ("entries", $0) }
        case .vehicle(let id, let endpoint):
            values["id"] = id
            values["endpoint"] = endpoint
            return try self.answer("vehicle", values, name, &inspection, now)
        case .requests(let id):
            guard self.mayRead(name, source, now) else { return nil }
            values["id"] = id
            return try self.answer("requests", values, name, &inspection, now)
        case .receipts(let id):
            guard self.mayRead(name, source, now) else { return nil }
            values["id"] = id
            return try self.answer("receipts", values, name, &inspection, now)
        case .findings(let vehicle):
            values["vehicle"] = vehicle
            return try self.answer("findings", values, name, &inspection, now)
        case .actions(let id):
            guard let data = actions[id],
                let object = RecordedJSON.object(String(decoding: data, as: UTF8.self))
            else { return nil }
            return self.sendIfNew(name, JSONPart(object)).map { ("actions", $0) }
        }
    }

    /// Whether it is time to read the history for a view again, because there is more of it.
    private mutating func mayRead(_ name: String, _ source: InspectedSource, _ now: Date) -> Bool {
        let number = self.number(source)
        if let last = self.lastReading[name] {
            guard last.number != number, now.timeIntervalSince(last.time) >= Self.historySeconds else {
                return false
            }
        }
        self.lastReading[name] = (now, number)
        return true
    }

    private mutating func answer(
        _ path: String, _ values: [String: String], _ name: String, _ inspection: inout Inspection,
        _ now: Date
    ) throws(InspectorError) -> (name: String, answer: any Encodable)? {
        let answer = try inspection.object(path, InspectorQuery(values), now: now)
        return self.sendIfNew(name, answer).map { (path, $0) }
    }

    // MARK: Rows

    private mutating func overviewEvent(
        _ name: String, _ filter: Overview.Filter, _ inspection: inout Inspection,
        _ source: InspectedSource
    ) -> Joined<Answer.Others, Answer.OverviewEvent>? {
        let (overview, rows, matching) = inspection.rows(source, filter, limit: Self.rowsMax)
        let known = self.rows[name] ?? [:]
        let isTruncated = matching > Self.rowsMax
        var event = Answer.OverviewEvent(
            view: name, totals: overview.totals(matching: matching), truncated: isTruncated,
            order: rows.map(\.first.vehicle), at: 0, changed: [], gone: [],
            next: isTruncated ? rows.last?.first.vehicle : nil)
        let others = overview.others
        var roughOthers = others
        for index in others.sessions.indices {
            roughOthers.sessions[index].ageMilliseconds = others.sessions[index].ageMilliseconds
                .map { Int(Self.roughly(Double($0) / 1_000)) }
        }
        let data = JSON.data(of: Joined(roughOthers, event))
        var kept: [String: Data] = [:]
        for row in rows {
            var content = row
            content.second.ageSeconds = row.second.ageSeconds.map(Self.roughly)
            let data = JSON.data(of: content)
            if known[row.first.vehicle] != data { event.changed.append(row) }
            kept[row.first.vehicle] = data
        }
        event.gone = known.keys.filter { kept[$0] == nil }.sorted()
        self.rows[name] = kept
        guard !event.changed.isEmpty || !event.gone.isEmpty || self.sent[name] != data else { return nil }
        self.sent[name] = data
        event.at = source.seconds(source.end)
        return Joined(others, event)
    }

    /// Whole fives of seconds, so that an age alone is told again only from time to time.
    private static func roughly(_ seconds: Double) -> Double { (seconds / 5).rounded(.towardZero) }

    private mutating func entriesEvent(
        _ name: String, _ filter: EntryFilter, _ source: InspectedSource
    ) throws(InspectorError) -> Answer.EntriesEvent? {
        let reader = HistoryReader(source: source)
        let objects = EntryObjects(source)
        let resumed = self.resumedNumber
        let begin = self.places[name] ?? self.firstPlace
        var last = begin
        var items: [EntryObjects.Object] = []
        var skipped = 0
        try reader.forEach(from: begin?.time ?? source.divisions.suffix(2).first ?? source.from, to: nil) {
            placed, state throws(InspectorError) in
            if let begin, placed.place <= begin { return true }
            last = placed.place
            if begin == nil, let resumed, UInt64(placed.entry.number) <= resumed & 0xFFFF_FFFF { return true }
            guard filter.matches(placed, source, state) else { return true }
            items.append(objects.object(placed, state, hasText: true))
            if items.count > Self.entriesMax {
                items.removeFirst()
                skipped += 1
            }
            return true
        }
        self.places[name] = last ?? EntryPlace(time: source.end, number: 0, index: .max)
        guard !items.isEmpty else { return nil }
        return Answer.EntriesEvent(view: name, entries: items, skipped: skipped)
    }
}
