package import Foundation
internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkRecording
internal import WaymarkRoutes
internal import WaymarkTexts

/// An answer to the page.
package enum InspectorAnswer: Sendable {
    /// A JSON object.
    case json(Data)
    /// A file to be kept.
    case file(name: String, mediaType: String, Data)
}

/// Answers the questions of the page about one or more sources. A value without I/O, except that recordings are read.
package struct Inspection: Sendable {
    package struct Options: Sendable {
        /// Why actions are not possible; nil: they are.
        package var actRefusal: String?
        package var isRedacted = false
        package var hasBasemap = false
        /// The profiles that ship, by their names.
        package var profiles: [String: Data] = [:]

        package init() {}
    }

    /// By their order on the command line.
    package var sources: [InspectedSource] = []
    /// What the lint rules found, by source.
    package var findings: [String: FindingBook] = [:]
    package var options: Options
    private var cache = ContentCache()
    private(set) var receiptBooks = ReceiptBooks()
    /// The states that were asked for last: each view of the page asks for the same.
    private var states: [(source: String, time: RecordingTime, state: RecordedState)] = []

    package init(_ options: Options) { self.options = options }

    package subscript(source id: String) -> InspectedSource? {
        get { self.sources.first { $0.id == id } }
        set {
            guard let newValue, let index = self.sources.firstIndex(where: { $0.id == id }) else { return }
            self.sources[index] = newValue
        }
    }

    /// Where the seconds of the first source begin.
    package var begin: Date { self.sources.first?.begin.date ?? Date(timeIntervalSince1970: 0) }

    // MARK: Questions

    private typealias Handler =
        @Sendable (inout Inspection, InspectorQuery, Date) throws(InspectorError) -> any Encodable

    private static let handlers: [String: (parameters: [String], handler: Handler)] = [
        "sources": ([], { inspection, _, now throws(InspectorError) in inspection.describe(now) }),
        "overview": (
            ["source", "at", "after", "limit"] + Overview.Filter.parameters,
            { inspection, query, now throws(InspectorError) in try inspection.overview(query, now) }
        ),
        "vehicle": (
            ["source", "at", "id", "endpoint"],
            { inspection, query, now throws(InspectorError) in
                try inspection.vehicle(query, now) { $0.answer() }
            }
        ),
        "vehicle/tables": (
            ["source", "at", "id", "endpoint"],
            { inspection, query, now throws(InspectorError) in
                try inspection.vehicle(query, now) { $0.tables() }
            }
        ),
        "vehicle/destinations": (
            ["source", "at", "id", "endpoint"],
            { inspection, query, now throws(InspectorError) in
                try inspection.history(query, now) { history throws(InspectorError) in
                    try history.destinations(query)
                }
            }
        ),
        "route": (
            ["source", "at", "id", "endpoint"],
            { inspection, query, now throws(InspectorError) in
                try inspection.vehicle(query, now) { $0.route() }
            }
        ),
        "updates": (
            ["source", "at", "id", "before", "limit", "message", "search"],
            { inspection, query, now throws(InspectorError) in
                try inspection.history(query, now) { history throws(InspectorError) in
                    try history.updates(query)
                }
            }
        ),
        "entries": (
            ["source", "at", "before", "after", "from", "to", "limit", "text"] + EntryFilter.parameters,
            { inspection, query, now throws(InspectorError) in
                try inspection.history(query, now) { history throws(InspectorError) in
                    try history.entries(query)
                }
            }
        ),
        "frame": (
            ["source", "entry"],
            { inspection, query, now throws(InspectorError) in
                try inspection.history(query, now) { history throws(InspectorError) in
                    try history.frame(query)
                }
            }
        ),
        "receipts": (
            ["source", "at", "id"],
            { inspection, query, now throws(InspectorError) in try inspection.receipts(query, now) }
        ),
        "requests": (
            ["source", "at", "id"],
            { inspection, query, now throws(InspectorError) in try inspection.requests(query, now) }
        ),
        "findings": (
            ["source", "vehicle", "limit"],
            { inspection, query, now throws(InspectorError) in try inspection.findings(query, now) }
        ),
        "moments": (
            ["source", "vehicle", "from", "to", "marks"],
            { inspection, query, now throws(InspectorError) in
                let source = try inspection.source(query)
                return inspection.framed(try Moments(source: source).answer(query), source, nil, now)
            }
        ),
        "lanes": (
            ["source", "id", "from", "to", "columns", "after"],
            { inspection, query, now throws(InspectorError) in
                let source = try inspection.source(query)
                var lanes = try Lanes(query, source)
                return inspection.framed(try lanes.answer(query), source, nil, now)
            }
        ),
        "compare": (
            ["a", "b", "vehicle", "vehicleB", "at", "atB"],
            { inspection, query, now throws(InspectorError) in try inspection.compare(query) }
        ),
        "profiles": ([], { inspection, _, _ throws(InspectorError) in inspection.profiles() }),
        "names": ([], { _, _, _ throws(InspectorError) in ProtocolNames.answer }),
    ]

    /// The paths behind `/api/` that ``answer(_:_:now:)`` knows.
    package static var paths: [String] { Self.handlers.keys.sorted() + ["export"] }

    /// Answers a question at one of ``paths``; `now` is told to the page. Throws why not, with the field.
    package mutating func answer(
        _ path: String, _ query: InspectorQuery, now: Date
    ) throws(InspectorError) -> InspectorAnswer {
        if path == "export" { return try self.export(query) }
        return .json(JSON.data(of: try self.object(path, query, now: now)))
    }

    /// The same, as an object. Not of `export`, which has other forms.
    mutating func object(
        _ path: String, _ query: InspectorQuery, now: Date
    ) throws(InspectorError) -> any Encodable {
        guard let (parameters, handler) = Self.handlers[path] else {
            throw InspectorError(.notFound, "there is nothing at this path")
        }
        try query.allow(parameters)
        return try handler(&self, query, now)
    }

    /// Checks the parameters of `overview`.
    package static func checkOverview(_ query: InspectorQuery) throws(InspectorError) {
        _ = (try Overview.Filter(query), try query.limit)
    }

    // MARK: Sources

    func source(_ query: InspectorQuery, _ name: String = "source") throws(InspectorError) -> InspectedSource
    {
        guard let id = try query.text(name, max: 16) else {
            guard let first = self.sources.first else {
                throw InspectorError(.notFound, "there is no source")
            }
            return first
        }
        guard let source = self.sources.first(where: { $0.id == id }) else {
            throw InspectorError(
                .notFound, field: name,
                "there is no such source; there is \(self.sources.map(\.id).joined(separator: ", "))")
        }
        return source
    }

    private static let statesMax = 4

    mutating func state(
        _ source: InspectedSource, at time: RecordingTime?
    ) throws(InspectorError) -> RecordedState {
        guard let time = time ?? (source.isLive ? nil : source.end) else { return try source.state(at: nil) }
        if let known = self.states.first(where: { $0.source == source.id && $0.time == time }) {
            return known.state
        }
        let state = try source.state(at: time)
        // A time that has not come yet will have another state.
        if time < source.end || !source.isLive {
            if self.states.count == Self.statesMax { self.states.removeFirst() }
            self.states.append((source.id, time, state))
        }
        return state
    }

    /// An answer, with what every answer has.
    private func framed<Content: Encodable>(
        _ answer: Content, _ source: InspectedSource, _ time: RecordingTime?, _ now: Date
    ) -> Joined<Answer.Context, Content> {
        let time = time ?? source.end
        let context = Answer.Context(
            source: source.id, at: source.seconds(time), time: JSON.time(time.date), now: JSON.time(now))
        return Joined(context, answer)
    }

    private func describe(_ now: Date) -> Answer.Sources {
        Answer.Sources(
            version: 1, software: "\(Software.name)", now: JSON.time(now),
            act: .init(enabled: self.options.actRefusal == nil, reason: self.options.actRefusal),
            redact: self.options.isRedacted, basemap: self.options.hasBasemap,
            sources: self.sources.map(SourceObjects.object))
    }

    // MARK: Vehicles

    private mutating func overview(
        _ query: InspectorQuery, _ now: Date
    ) throws(InspectorError) -> any Encodable {
        let source = try self.source(query)
        let time = try source.time(query)
        let state = try self.state(source, at: time)
        let overview = Overview(
            source.at(time), state, try Overview.Filter(query),
            findings: self.findings[source.id]?.counts ?? [:])
        let matching = overview.matching(&self.cache)
        var first = 0
        if let after = try query.text("after", max: 64) {
            first = (matching.firstIndex { $0.vehicle.rawValue == after } ?? -1) + 1
        }
        let rows = matching.dropFirst(first).prefix(try query.limit)
        let isTruncated = first + rows.count < matching.count
        let answer = Answer.Overview(
            totals: overview.totals(matching: matching.count), truncated: isTruncated,
            vehicles: rows.map { overview.row($0, &self.cache) },
            next: isTruncated ? rows.last?.vehicle.rawValue : nil)
        return self.framed(Joined(overview.others, answer), source, time, now)
    }

    private mutating func vehicle(
        _ query: InspectorQuery, _ now: Date, _ answer: (VehicleAnswer) -> some Encodable
    ) throws(InspectorError) -> any Encodable {
        let source = try self.source(query)
        let time = try source.time(query)
        let id = try query.vehicleID()
        let state = try self.state(source, at: time)
        let picture = VehiclePicture(
            id, endpoint: try query.text("endpoint", max: 64), state, source, &self.cache)
        guard picture.record != nil else {
            throw InspectorError(.notFound, field: "id", "the gateway knew no such vehicle then")
        }
        let vehicle = VehicleAnswer(picture, source.at(time), state, at: time)
        return self.framed(answer(vehicle), source, time, now)
    }

    /// Rows of the vehicles of a source that match, and how many match.
    mutating func rows(
        _ source: InspectedSource, _ filter: Overview.Filter, limit: Int
    ) -> (Overview, rows: [Joined<Answer.VehicleRecord, Answer.OverviewRow>], matching: Int) {
        let state: RecordedState
        if case .recent(let recent) = source.history { state = recent.state } else { state = RecordedState() }
        let overview = Overview(source, state, filter, findings: self.findings[source.id]?.counts ?? [:])
        let matching = overview.matching(&self.cache)
        return (
            overview, matching.prefix(limit).map { overview.row($0, &self.cache) }, matching.count
        )
    }

    // MARK: History

    private func history(
        _ query: InspectorQuery, _ now: Date,
        _ answer: (HistoryAnswers) throws(InspectorError) -> some Encodable
    ) throws(InspectorError) -> any Encodable {
        let source = try self.source(query)
        return self.framed(try answer(HistoryAnswers(source: source)), source, try source.time(query), now)
    }

    private mutating func requests(
        _ query: InspectorQuery, _ now: Date
    ) throws(InspectorError) -> any Encodable {
        let source = try self.source(query)
        let time = try source.time(query)
        let end = time ?? source.end
        let vehicle = try query.vehicleID().rawValue
        var stories = RequestStories(vehicle, source)
        let reader = HistoryReader(source: source)
        let earliest = reader.beginning(max(source.from, end + (.zero - HistoryAnswers.lookback)), to: end)
        let passage = try reader.forEach(
            from: earliest, to: end.next, frames: RequestStories.isOfRequest
        ) { placed, _ in
            stories.see(placed)
            return true
        }
        let state = try self.state(source, at: time)
        let answer = Answer.Requests(
            requests: stories.requests(state), truncated: earliest > source.from || !passage.isWhole)
        return self.framed(answer, source, time, now)
    }

    private mutating func receipts(
        _ query: InspectorQuery, _ now: Date
    ) throws(InspectorError) -> any Encodable {
        let source = try self.source(query)
        let time = try source.time(query)
        let vehicle = try query.required("id")
        let book = try self.receiptBooks.book(of: vehicle, source, at: time ?? source.end)
        let state = try self.state(source, at: time)
        let answer = book.answer(state, source) { endpoint in
            VehicleID(vehicle).map {
                VehiclePicture($0, endpoint: endpoint, state, source, &self.cache).sentSequence
            } ?? 0
        }
        return self.framed(answer, source, time, now)
    }

    private func findings(_ query: InspectorQuery, _ now: Date) throws(InspectorError) -> any Encodable {
        let source = try self.source(query)
        let book = self.findings[source.id] ?? FindingBook()
        return self.framed(
            book.answer(try query.text("vehicle", max: 64), source, limit: try query.limit), source, nil, now)
    }

    // MARK: Two states, and another endpoint

    private mutating func compare(_ query: InspectorQuery) throws(InspectorError) -> Answer.Comparison {
        let sources = (try self.source(query, "a"), try self.source(query, "b"))
        let vehicle = try query.vehicleID("vehicle")
        let other = try query.text("vehicleB") == nil ? vehicle : try query.vehicleID("vehicleB")
        let time = try sources.0.time(query)
        let otherTime =
            try query.text("atB") == nil ? try sources.1.time(query) : try sources.1.time(query, "atB")
        var sides: [Answer.ComparedState] = []
        for (source, id, time) in [(sources.0, vehicle, time), (sources.1, other, otherTime)] {
            let state = try self.state(source, at: time)
            let picture = VehiclePicture(id, endpoint: nil, state, source, &self.cache)
            sides.append(
                Answer.ComparedState(
                    source: source.id, at: source.seconds(time ?? source.end), vehicle: id.rawValue,
                    state: picture.published.map { JSONPart(StateObjects.object($0)) }))
        }
        var differences = JSONDifferences()
        differences.find(sides[0].state?.value, sides[1].state?.value)
        return Answer.Comparison(
            a: sides[0], b: sides[1], differences: differences.found, truncated: differences.isTruncated)
    }

    /// What an endpoint with another profile would hold. `body`: a JSON object with `vehicle`, `profile`, and perhaps `source` and `at`.
    package mutating func preview(_ body: Data, now: Date) throws(InspectorError) -> InspectorAnswer {
        let fields = try JSONFields(body, allowed: ["source", "at", "vehicle", "profile"])
        var values = ["id": try fields.text("vehicle", max: 64)]
        if fields.has("source") { values["source"] = try fields.text("source", max: 16) }
        if fields.has("at") { values["at"] = try fields.number("at") }
        let query = InspectorQuery(values)
        let source = try self.source(query)
        let time = try source.time(query)
        let id: VehicleID
        do throws(InspectorError) { id = try query.vehicleID() } catch {
            throw InspectorError(error.code, field: "vehicle", error.reason)
        }
        let text = try fields.data("profile")
        let profile: ClusterProfile
        do { profile = try ClusterProfile.parse(text, "profile") } catch {
            throw InspectorError(.invalid, field: "profile", "\(error)")
        }
        let state = try self.state(source, at: time)
        let session = state.gateway.vehicles[id].flatMap { state.gateway.sessions[$0.session] }
        let endpoint: EndpointRecord
        do throws(ClientError) {
            endpoint = try .preview(
                of: profile, session, session.flatMap { state.gateway.clients[$0.client] },
                state.gateway.vehicles[id]?.endpoints ?? [])
        } catch {
            throw InspectorError(.invalid, field: "profile", "\(error)")
        }
        let picture = VehiclePicture(id, endpoint, state, source, &self.cache)
        guard picture.record != nil else {
            throw InspectorError(.notFound, field: "vehicle", "the gateway knew no such vehicle then")
        }
        let answer = VehicleAnswer(picture, source.at(time), state, at: time).answer(isPreview: true)
        return .json(JSON.data(of: self.framed(answer, source, time, now)))
    }

    private func profiles() -> Answer.Profiles {
        let profiles = self.options.profiles.sorted { $0.key < $1.key }.map { name, data in
            Answer.Profile(
                name: name,
                profile: JSONPart(RecordedJSON.object(String(decoding: data, as: UTF8.self)) ?? [:]))
        }
        return ProtocolNames.answer(profiles)
    }

    // MARK: Files

    private mutating func export(_ query: InspectorQuery) throws(InspectorError) -> InspectorAnswer {
        try query.allow(["source", "at", "id", "endpoint", "format", "side"])
        let formats = ["geojson", "gpx", "kml"]
        guard let format = try query.word("format", of: formats) else {
            throw InspectorError(
                .invalid, field: "format", "must be one of \(formats.joined(separator: ", "))")
        }
        let side = try query.word("side", of: ["published", "held"]) ?? "published"
        let source = try self.source(query)
        let id = try query.vehicleID()
        let state = try self.state(source, at: try source.time(query))
        let picture = VehiclePicture(
            id, endpoint: try query.text("endpoint", max: 64), state, source, &self.cache)
        guard let shown = side == "held" ? picture.held : picture.published else {
            throw InspectorError(
                .notFound, field: "id", "no client guides the vehicle, or it has no such endpoint")
        }
        guard let drawing = Self.drawing(shown) else {
            let reasons = ReasonFinder.reasons(picture, PictureStates(picture), source)
            let why = reasons.first { $0.path == "segments" && $0.side.rawValue == side }?.text
            throw InspectorError(.notFound, field: "side", why ?? "there is no line of the route")
        }
        let name = "\(id.rawValue.replacing(":", with: "_"))-\(shown.generation).\(format)"
        switch format {
        case "geojson":
            return .file(name: name, mediaType: "application/geo+json", Data(drawing.geoJSON.utf8))
        case "gpx": return .file(name: name, mediaType: "application/gpx+xml", Data(drawing.gpx.utf8))
        default:
            return .file(
                name: name, mediaType: "application/vnd.google-earth.kml+xml", Data(drawing.kml.utf8))
        }
    }

    private static func drawing(_ state: VehicleState) -> RouteDrawing? {
        let lines = RouteLines(state.segments)
        let drawn = state.segments.filter { !$0.coordinates.isEmpty }.map { segment in
            RouteDrawing.Line(
                segment: segment.id, points: segment.coordinates,
                meters: Int((lines.length(of: segment.id) ?? 0).rounded()),
                seconds: segment.tripTravelEstimates?.timeRemaining.map { Int($0.components.seconds) })
        }
        guard !drawn.isEmpty else { return nil }
        let places = lines.places(of: state.maneuvers)
        return RouteDrawing(
            name: state.trip?.destination.nameVariants.first, lines: drawn,
            places: state.maneuvers.compactMap { maneuver in
                places[maneuver.id].map { RouteDrawing.Place(maneuver, at: $0.coordinate) }
            })
    }
}
