import WaymarkModel
import WaymarkProtocol

extension SpeedLimit {
    /// Values outside of it are no limits.
    private static let plausible = 1...Double(ProtocolConstants.speedLimitValueMax)
    private static let kilometersPerMile = 1.609344

    /// A limit of `value` kilometres or miles per hour; nil for a value that is not plausible.
    init?(_ value: Double, _ unit: SpeedUnit, sign: SpeedLimitSign? = nil) {
        guard Self.plausible.contains(value) else { return nil }
        self.init(UInt32(value.rounded()), unit, sign: sign)
    }

    /// A limit that the engine gives in kilometres per hour and the country posts in miles per hour.
    ///
    /// A whole number of miles is found again after an engine has rounded it to whole kilometres, because these are finer.
    init?(kilometersPerHour value: Double, postedInMilesWith sign: SpeedLimitSign?) {
        self.init(value / Self.kilometersPerMile, .milesPerHour, sign: sign)
    }
}

/// The limits of the pieces of a line, as an engine gives them one after the other.
struct SpeedLimitList {
    /// The limit of each piece.
    private(set) var limits: [SpeedLimit] = []
    /// The number of values that are no limits.
    private(set) var unreadable = 0

    /// Adds the limit of the next `count` pieces; nil for a value that cannot be read, which is counted.
    mutating func append(_ limit: SpeedLimit?, count: Int = 1) {
        if limit == nil { self.unreadable += 1 }
        self.limits += Array(repeating: limit ?? .unknown, count: count)
    }

    /// Reports the values at `path` that are no limits.
    ///
    /// - Returns: The limits; empty if none is known, since a list of unknown ones says nothing.
    func reported(at path: JSONPath, _ book: inout NoticeBook) -> [SpeedLimit] {
        if self.unreadable > 0 {
            let values = self.unreadable == 1 ? "a value is" : "\(self.unreadable) values are"
            book.add(path, "\(values) no speed limit, 1 to 500; none is known there")
        }
        return self.limits.contains { $0.status != .unknown } ? self.limits : []
    }
}

// MARK: Mapbox, and Valhalla in OSRM's form

extension OSRMLegReader {
    /// Reads the limits of `annotation`, one for each piece of the line. The steps say the shape of the sign and the unit on it.
    mutating func takeSpeedLimits(
        _ annotation: JSONNode?, _ steps: [OSRMStep], starts: [Int], into leg: inout LegDraft
    ) {
        guard let node = annotation?["maxspeed"], let values = node.elements, !values.isEmpty else { return }
        let pieces = leg.points.count - 1
        guard values.count == pieces else {
            return self.book.add(
                node.path,
                "\(values.count) speed limits do not match \(pieces) pieces of the line; none is taken")
        }
        let signs = steps.map(\.speedLimitSign)
        let units = steps.map(\.speedLimitUnit)
        var list = SpeedLimitList()
        var step = 0
        for (piece, value) in values.enumerated() {
            while step + 1 < starts.count, starts[step + 1] <= piece { step += 1 }
            list.append(Self.limit(value, signs[step], postedIn: units[step]))
        }
        leg.speedLimits = list.reported(at: node.path, &self.book)
    }

    private static func limit(
        _ node: JSONNode, _ sign: SpeedLimitSign?, postedIn unit: SpeedUnit?
    ) -> SpeedLimit? {
        if node["unknown"]?.bool ?? false { return .unknown }
        if node["none"]?.bool ?? false { return SpeedLimit(status: .none, sign: sign) }
        guard let speed = node["speed"]?.number else { return nil }
        switch node["unit"]?.string {
        case "mph": return SpeedLimit(speed, .milesPerHour, sign: sign)
        case "km/h", nil:
            return unit == .milesPerHour
                ? SpeedLimit(kilometersPerHour: speed, postedInMilesWith: sign)
                : SpeedLimit(speed, .kilometersPerHour, sign: sign)
        case .some: return nil
        }
    }
}

extension OSRMStep {
    /// The shape of the signs of its country, as Mapbox says; nil for none.
    fileprivate var speedLimitSign: SpeedLimitSign? {
        switch self.node["speedLimitSign"]?.string {
        case "vienna": .vienna
        case "mutcd": .mutcd
        default: nil
        }
    }

    /// The unit on the signs of its country, as Mapbox says; nil for none.
    fileprivate var speedLimitUnit: SpeedUnit? {
        switch self.node["speedLimitUnit"]?.string {
        case "mph": .milesPerHour
        case "km/h": .kilometersPerHour
        default: nil
        }
    }
}

// MARK: GraphHopper

/// Reads GraphHopper's `details.max_speed`: intervals of points with a limit in kilometres per hour.
enum GraphHopperSpeedLimits {
    /// The value of a road without a limit, e.g. a German motorway.
    private static let unlimited = 150.0

    /// The limits of the pieces of the line of `path`, whose number is `pieces`; empty if none is known.
    static func read(_ path: JSONNode, pieces: Int, _ book: inout NoticeBook) -> [SpeedLimit] {
        guard let node = path["details"]?["max_speed"], let intervals = node.elements else { return [] }
        var list = SpeedLimitList()
        for interval in intervals {
            let parts = interval.elements ?? []
            guard parts.count == 3, let begin = parts[0].integer, let end = parts[1].integer,
                begin >= list.limits.count, end > begin, end <= pieces
            else {
                book.add(interval.path, "not an interval of the line in order; its speed limit is left out")
                continue
            }
            // A gap between two intervals has no known limit.
            list.append(.unknown, count: begin - list.limits.count)
            list.append(Self.limit(parts[2]), count: end - begin)
        }
        list.append(.unknown, count: pieces - list.limits.count)
        return list.reported(at: node.path, &book)
    }

    private static func limit(_ node: JSONNode) -> SpeedLimit? {
        // Newer versions write null for a limit that is not known, older ones 0.
        if node.value == .null { return .unknown }
        guard let speed = node.number else { return nil }
        if speed == 0 { return .unknown }
        return speed == Self.unlimited
            ? .unlimited : SpeedLimit(speed, .kilometersPerHour)
    }
}

// MARK: Valhalla

/// Reads the limits of Valhalla's `/trace_attributes`, an answer of its own: a route has none.
enum ValhallaSpeedLimits {
    /// Lines that differ by more than this in length are not the same.
    private static let lengthDeviationMax = 0.02
    /// Points of two lines that are farther apart, in metres, are not the same.
    private static let metersMax = 25.0
    /// The value of a road without a limit, where it is not a word.
    private static let unlimited = 255.0

    /// Reads the limits of the pieces of `line` from the trace of it.
    ///
    /// - Parameters:
    ///   - trace: The answer.
    ///   - line: The line of the leg that was traced.
    ///   - book: Gets the notices.
    /// - Returns: One limit for each piece; empty if none is known, and for the trace of another line.
    /// - Throws: The reason why it is no trace.
    static func read(_ trace: JSONNode, line: [Coordinate], _ book: inout NoticeBook)
        throws(RouteReadingError)
        -> [SpeedLimit]
    {
        guard let edges = trace["edges"]?.elements else {
            throw .missing(path: "edges", expected: "an array, as of /trace_attributes")
        }
        guard let shape = trace["shape"] else {
            throw .missing(path: "shape", expected: "the line of the trace")
        }
        guard line.count > 1, let points = try shape.line(units: [1e6], evidence: LineEvidence(), &book)
        else { return [] }
        guard let indices = Self.indices(of: points, on: line) else {
            book.add(shape.path, "the trace is of another line; its speed limits are left out")
            return []
        }
        let unit = Self.unit(of: trace)
        var list = SpeedLimitList()
        for edge in edges {
            let (begin, end) = (edge["begin_shape_index"]?.integer, edge["end_shape_index"]?.integer)
            guard let begin, let end, begin >= 0, begin <= end, end < indices.count else {
                book.add(edge.path, "not an interval of the line; its speed limit is left out")
                continue
            }
            let count = indices[end] - max(indices[begin], list.limits.count)
            guard count > 0 else { continue }
            list.append(.unknown, count: max(0, indices[begin] - list.limits.count))
            list.append(Self.limit(edge["speed_limit"], unit), count: count)
        }
        list.append(.unknown, count: line.count - 1 - list.limits.count)
        return list.reported(at: trace.path, &book)
    }

    /// Countries whose signs are in miles per hour, by their codes of ISO 3166-1.
    private static let milesCountries: Set<String> = [
        "US", "PR", "VI", "GU", "AS", "MP", "GB", "IM", "JE", "GG", "LR",
    ]

    /// The unit on the signs, and whether the answer has the limits in kilometres per hour all the same.
    private enum Unit { case kilometers, miles, milesInKilometers }

    private static func unit(of trace: JSONNode) -> Unit {
        if trace["units"]?.string == "miles" { return .miles }
        let countries = trace.elements("admins").compactMap { $0["country_code"]?.string }
        return !countries.isEmpty && countries.allSatisfy(Self.milesCountries.contains)
            ? .milesInKilometers : .kilometers
    }

    private static func limit(_ node: JSONNode?, _ unit: Unit) -> SpeedLimit? {
        guard let node else { return .unknown }
        if let word = node.string { return word == "unlimited" ? .unlimited : nil }
        guard let speed = node.number else { return nil }
        if speed == 0 { return .unknown }
        if speed == Self.unlimited { return .unlimited }
        return switch unit {
        case .kilometers: SpeedLimit(speed, .kilometersPerHour)
        case .miles: SpeedLimit(speed, .milesPerHour)
        case .milesInKilometers: SpeedLimit(kilometersPerHour: speed, postedInMilesWith: nil)
        }
    }

    /// The indices of the points of `line` that are as far from the start as `points`; nil if the lines differ.
    private static func indices(of points: [Coordinate], on line: [Coordinate]) -> [Int]? {
        let (traced, driven) = (Self.meters(of: points), Self.meters(of: line))
        let (from, to) = (traced[traced.count - 1], driven[driven.count - 1])
        guard from > 0, abs(from - to) <= max(Self.metersMax, to * Self.lengthDeviationMax),
            points[0].meters(to: line[0]) <= Self.metersMax,
            points[points.count - 1].meters(to: line[line.count - 1]) <= Self.metersMax
        else { return nil }
        guard points.count != line.count else { return Array(line.indices) }
        var index = 0
        return traced.map { meters in
            let place = meters * to / from
            while index + 1 < driven.count, abs(driven[index + 1] - place) <= abs(driven[index] - place) {
                index += 1
            }
            return index
        }
    }

    private static func meters(of line: [Coordinate]) -> [Double] {
        zip(line, line.dropFirst()).reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.0.meters(to: $1.1)) }
    }
}
