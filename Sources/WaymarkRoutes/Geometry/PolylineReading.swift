import Foundation
package import WaymarkModel

/// What an answer says about a line, by which a reading of its polyline is judged.
package struct LineEvidence: Sendable, Hashable {
    /// The length in metres; nil if the answer does not say.
    package var meters: Double?
    /// The number of points; nil if the answer does not say.
    package var pointCount: Int?
    /// Where the line begins; nil if the answer does not say.
    package var start: Coordinate?
    /// Where the line ends; nil if the answer does not say.
    package var end: Coordinate?

    package init(
        meters: Double? = nil, pointCount: Int? = nil, start: Coordinate? = nil, end: Coordinate? = nil
    ) {
        self.meters = meters.flatMap { $0 >= 0 ? $0 : nil }
        self.pointCount = pointCount
        self.start = start
        self.end = end
    }

    /// Lines that begin or end farther from the stated place, in metres, were read wrongly.
    private static let endMetersMax = 100.0

    /// Whether a length agrees with a stated one: engines measure along finer lines than they send.
    package static func agrees(_ meters: Double, with stated: Double) -> Bool {
        abs(meters - stated) <= 30 + stated * 0.05
    }

    /// Whether anything is known.
    var isEmpty: Bool {
        self.meters == nil && self.pointCount == nil && self.start == nil && self.end == nil
    }

    /// Whether `points` agree with everything that is known.
    func fits(_ points: [Coordinate]) -> Bool {
        if let pointCount, points.count != pointCount { return false }
        if let start, let first = points.first, first.meters(to: start) > Self.endMetersMax { return false }
        if let end, let last = points.last, last.meters(to: end) > Self.endMetersMax { return false }
        return self.meters.map { Self.agrees(Self.length(of: points), with: $0) } ?? true
    }

    /// How far `points` are from the evidence: metres between the beginnings, then the ratio of the lengths. Smaller is better.
    func error(of points: [Coordinate]) -> (start: Double, length: Double) {
        let start = self.start.flatMap { start in points.first.map { $0.meters(to: start) } } ?? 0
        let length = Self.length(of: points)
        // A metre is added, because a line may have no length.
        let ratio = self.meters.map { abs(log((length + 1) / ($0 + 1))) } ?? 0
        // Two readings that begin within a metre of the place are alike good: digits are rounded.
        return ((start / 2).rounded(.down), ratio)
    }

    private static func length(of points: [Coordinate]) -> Double {
        zip(points, points.dropFirst()).reduce(0) { $0 + $1.0.meters(to: $1.1) }
    }
}

/// Reads polylines of engines and of programs between them: the way of reading that agrees with the rest of the answer is chosen.
///
/// Digits are counted differently by engines; altitudes may be a third dimension; and programs that store an answer lose backslashes or
/// double them. Each of these still decodes, to a line elsewhere.
package struct PolylineReading: Sendable, Hashable {
    /// The backslashes of a text.
    private enum Backslashes: Int, CaseIterable { case single, doubled, quadrupled }

    /// One way of reading a text.
    private struct Form {
        var backslashes = Backslashes.single
        var unitsPerDegree: Double
        var dimensions = 2
    }

    /// Longer texts are read only in the expected ways, so that a hostile answer does not cost a reading for each way.
    private static let repairedBytesMax = 4 * 1_024 * 1_024

    /// The points.
    package private(set) var points: [Coordinate] = []
    /// Sentences about what had to be repaired or inferred; empty for a line that was read as expected.
    package private(set) var notices: [String] = []

    /// Reads `text`.
    ///
    /// - Parameters:
    ///   - text: A polyline, perhaps with control characters in place of lost backslashes.
    ///   - units: Units per degree that need no notice, the most likely first; not empty.
    ///   - evidence: What the answer says about the line.
    /// - Throws: The mistake of the first expected way of reading, if no way succeeds.
    package init(
        _ text: String, units: [Double], evidence: LineEvidence
    ) throws(PolylineFault) {
        let restored = Self.restored(text)
        if restored != text {
            self.notices.append("a backslash in the polyline was not escaped; it was put back")
        }
        var expected: (form: Form, points: [Coordinate])?
        var fault: PolylineFault?
        for unit in units {
            let form = Form(unitsPerDegree: unit)
            do throws(Polyline.Mistake) {
                let points = try Self.points(restored, form)
                if expected.map({ evidence.error(of: points) < evidence.error(of: $0.points) }) ?? true {
                    expected = (form, points)
                }
            } catch {
                fault = fault ?? PolylineFault(mistake: error, unitsPerDegree: unit)
            }
        }
        if let expected, evidence.fits(expected.points) {
            self.points = expected.points
            return
        }
        if let other = Self.other(restored, units, evidence) {
            self.points = other.points
            self.notices += Self.notices(of: other.form, units)
            return
        }
        // A coarse line agrees with nothing, but five and six digits differ by a factor of ten: the nearer one is right.
        var nearest = expected
        for unit in [1e5, 1e6] where !units.contains(unit) {
            let form = Form(unitsPerDegree: unit)
            guard let points = Self.pointsIfReadable(restored, form) else { continue }
            let isNearer =
                nearest.map {
                    evidence.meters != nil && evidence.error(of: points) < evidence.error(of: $0.points)
                } ?? true
            if isNearer { nearest = (form, points) }
        }
        guard let nearest else {
            throw fault ?? PolylineFault(mistake: .truncated, unitsPerDegree: units.first ?? 1e5)
        }
        self.points = nearest.points
        self.notices += Self.notices(of: nearest.form, units)
    }

    /// The best of the ways of reading that are not expected but with which the evidence agrees.
    private static func other(
        _ text: String, _ units: [Double], _ evidence: LineEvidence
    ) -> (form: Form, points: [Coordinate])? {
        guard !evidence.isEmpty, text.utf8.count <= Self.repairedBytesMax else { return nil }
        var best: (form: Form, points: [Coordinate])?
        for backslashes in Backslashes.allCases {
            let repaired = Self.halved(text, times: backslashes.rawValue)
            if backslashes != .single, repaired == text { break }
            for dimensions in [2, 3] {
                for unit in units + [1e5, 1e6, 1e4, 1e7].filter({ !units.contains($0) }) {
                    let form = Form(backslashes: backslashes, unitsPerDegree: unit, dimensions: dimensions)
                    guard let points = Self.pointsIfReadable(repaired, form, isRepaired: true),
                        evidence.fits(points)
                    else { continue }
                    if best.map({ evidence.error(of: points) < evidence.error(of: $0.points) }) ?? true {
                        best = (form, points)
                    }
                }
            }
        }
        return best
    }

    private static func points(_ text: String, _ form: Form) throws(Polyline.Mistake) -> [Coordinate] {
        try Polyline.decode(text, unitsPerDegree: form.unitsPerDegree, dimensions: form.dimensions)
    }

    private static func pointsIfReadable(
        _ text: String, _ form: Form, isRepaired: Bool = false
    ) -> [Coordinate]? {
        do throws(Polyline.Mistake) {
            let text = isRepaired ? text : Self.halved(text, times: form.backslashes.rawValue)
            let points = try Self.points(text, form)
            return points.isEmpty ? nil : points
        } catch {
            return nil  // This way of reading is not the right one.
        }
    }

    private static func notices(of form: Form, _ units: [Double]) -> [String] {
        var notices: [String] = []
        if form.backslashes != .single {
            notices.append(
                "the backslashes of the polyline were escaped twice; it is read with single ones, because the length fits"
            )
        }
        if form.dimensions == 3 {
            notices.append(
                "the polyline has three dimensions: it is read with altitudes, because the length fits")
        }
        if !units.contains(form.unitsPerDegree) {
            let digits = ["four", "five", "six", "seven"][min(3, max(0, Int(log10(form.unitsPerDegree)) - 4))]
            notices.append("\(digits) digits are taken for the polyline, because the length fits")
        }
        return notices
    }

    /// Restores the backslashes of a polyline that was written without escaping them.
    ///
    /// There are such recorded answers: `\f` was read as a form feed, which no polyline contains.
    private static func restored(_ text: String) -> String {
        let letters: [Unicode.Scalar: String] = [
            "\u{8}": "\\b", "\u{C}": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
        ]
        guard text.unicodeScalars.contains(where: { letters[$0] != nil }) else { return text }
        return text.unicodeScalars.map { letters[$0] ?? String($0) }.joined()
    }

    private static func halved(_ text: String, times: Int) -> String {
        (0..<times).reduce(text) { text, _ in text.replacing("\\\\", with: "\\") }
    }
}

/// Why no way of reading a polyline succeeded.
package struct PolylineFault: Error, Sendable, Hashable, CustomStringConvertible {
    package let mistake: Polyline.Mistake
    /// The way of reading that was tried first.
    package let unitsPerDegree: Double

    package var description: String {
        switch self.mistake {
        case .character: "\(self.mistake)"
        case .truncated, .range:
            "\(self.mistake), read with two dimensions and \(Int(self.unitsPerDegree)) units per degree; "
                + "other digits, altitudes as a third dimension and doubled backslashes do not fit either"
        }
    }
}
