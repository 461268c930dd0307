import WaymarkModel
import WaymarkProtocol

/// Collects notices about what was lost, and shortens values that exceed a limit.
struct NoticeBook: Sendable {
    /// A hostile answer must not cause millions of notices.
    static let noticesMax = 1_000

    /// Gaps in a line above this length, in metres, are reported: rounding to five digits may move a point by a few metres.
    private static let gapMetersMax = 10.0

    private(set) var notices: [RouteNotice] = []
    private var left = 0

    mutating func add(_ path: JSONPath, _ reason: String) {
        self.add(RouteNotice(path: path.description, reason: reason))
    }

    /// Reports that the engine moved the point at `path`, unless it is near enough.
    mutating func addMovedPoint(_ path: JSONPath, meters: Double) {
        RouteNotice(movedPoint: path.description, meters: meters).map { self.add($0) }
    }

    private mutating func add(_ notice: RouteNotice) {
        guard self.notices.count < Self.noticesMax else { return self.left += 1 }
        self.notices.append(notice)
    }

    /// Reports a gap in the line before `path`, unless rounding explains it.
    mutating func addGap(_ meters: Double, at path: JSONPath) {
        guard meters > Self.gapMetersMax else { return }
        self.add(
            path, "the line before this has a gap of \(Self.length(meters)), which a straight line fills")
    }

    /// Reports that the route does not lead to the point at `path`. Programs show such a notice in full.
    mutating func addMoved(_ path: JSONPath, _ reason: String) {
        self.add(RouteNotice(path: path.description, reason: reason, isMovedPoint: true))
    }

    /// A length for people, e.g. "840 m" or "53 km".
    static func length(_ meters: Double) -> String {
        let meters = min(max(0, meters), 1e12)
        return meters < 10_000 ? "\(Int(meters.rounded())) m" : "\(Int((meters / 1_000).rounded())) km"
    }

    /// All notices and, if there were too many, the number of omitted ones.
    var complete: [RouteNotice] {
        guard self.left > 0 else { return self.notices }
        return self.notices + [RouteNotice(path: "$", reason: "\(self.left) further notices are left out")]
    }

    // MARK: Parts

    /// The routes of an answer that can be read; the others are reported.
    ///
    /// - Throws: The first error, if none can be read.
    mutating func readable(
        _ nodes: [JSONNode], _ read: (JSONNode) throws(RouteReadingError) -> EngineRoute
    ) throws(RouteReadingError) -> [EngineRoute] {
        var routes: [EngineRoute] = []
        var failed: [(path: JSONPath, error: RouteReadingError)] = []
        for node in nodes {
            do throws(RouteReadingError) { routes.append(try read(node)) } catch {
                failed.append((node.path, error))
            }
        }
        if routes.isEmpty, let first = failed.first { throw first.error }
        for (path, error) in failed { self.add(path, "this route is left out: \(error)") }
        return routes
    }

    /// The index of a maneuver's point among `points`, of which the first is that of the maneuver before; not empty.
    mutating func place(_ node: JSONNode?, in points: Range<Int>) -> Int {
        guard let node else { return points.lowerBound }
        let stated = node.integer ?? -1
        if points.contains(stated) { return stated }
        self.add(
            node.path,
            "\(stated) is not in order or not among the \(points.upperBound) points; the nearest one is taken"
        )
        return min(max(stated, points.lowerBound), points.upperBound - 1)
    }

    /// Reports routes that cannot be offered, if there are more than the driver can choose from.
    mutating func addChoices(_ routes: Int, at member: String) {
        guard routes > ProtocolConstants.routeChoicesMax else { return }
        self.add(
            .member(.root, member),
            "of \(routes) routes only \(ProtocolConstants.routeChoicesMax) can be offered as choices")
    }

    // MARK: Limits

    /// `text` without control characters and of at most `bytesMax` bytes, cut between characters.
    mutating func fit(_ text: String, bytesMax: Int = ProtocolConstants.textBytesMax, at path: JSONPath)
        -> String
    {
        var text = text
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
            self.add(path, "control characters became spaces")
            text = String(
                String.UnicodeScalarView(
                    text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
        }
        guard text.utf8.count > bytesMax else { return DirectionControls.closed(text, bytesMax: bytesMax) }
        self.add(path, "\(text.utf8.count) bytes of text were cut to at most \(bytesMax)")
        var bytes = 0
        let cut = text.prefix { character in
            bytes += character.utf8.count
            return bytes <= bytesMax
        }
        return DirectionControls.closed(String(cut), bytesMax: bytesMax)
    }

    /// The non-empty and different ones of `variants`, each fitted, longest first.
    mutating func fit(variants: [String], at path: JSONPath) -> [String] {
        var fitted: [String] = []
        // Why: a hostile answer may name a road a million times.
        for variant in self.fit(
            variants, countMax: 4 * ProtocolConstants.textVariantsMax, "text variants", at: path)
        {
            let text = self.fit(variant, at: path)
            if !text.allSatisfy(\.isWhitespace), !fitted.contains(text) { fitted.append(text) }
        }
        // Why: a stable order for variants of the same length, which `sort` does not promise.
        let ordered = fitted.enumerated().sorted {
            ($1.element.count, $0.offset) < ($0.element.count, $1.offset)
        }.map(\.element)
        return self.fit(ordered, countMax: ProtocolConstants.textVariantsMax, "text variants", at: path)
    }

    /// The first `countMax` of `items`.
    mutating func fit<Item>(_ items: [Item], countMax: Int, _ what: String, at path: JSONPath) -> [Item] {
        guard items.count > countMax else { return items }
        self.add(path, "\(items.count) \(what) were cut to \(countMax)")
        return Array(items.prefix(countMax))
    }

    /// A length in metres, limited to the protocol's range.
    mutating func distance(_ meters: Double, at path: JSONPath) -> Distance {
        guard meters >= 0, meters <= Double(ProtocolConstants.distanceMetersMax) else {
            self.add(path, "a distance of \(meters) m was brought into range")
            return meters > 0 ? .meters(ProtocolConstants.distanceMetersMax) : .meters(0)
        }
        return .meters(rounding: meters)
    }

    /// A time in seconds, limited to the protocol's range.
    mutating func duration(_ seconds: Double, at path: JSONPath) -> Duration {
        guard seconds >= 0, seconds <= Double(ProtocolConstants.timeSecondsMax) else {
            self.add(path, "a time of \(seconds) s was brought into range")
            return seconds > 0 ? .seconds(ProtocolConstants.timeSecondsMax) : .zero
        }
        return .seconds(Int64(seconds.rounded()))
    }
}
