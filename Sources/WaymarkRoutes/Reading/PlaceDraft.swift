import WaymarkModel

/// A waypoint as read, before it is compared with the line.
struct PlaceDraft {
    /// How far from the line a point may be that an engine was asked for, in metres; engines look for roads no farther away.
    static let requestedMetersMax = 50_000.0

    var path: JSONPath
    /// Nil if the answer has none that is on the Earth.
    var center: Coordinate?
    /// Its center is set later.
    var waypoint = Waypoint(center: Coordinate(latitude: 0, longitude: 0))
    /// Whether ``center`` is the point that the engine was asked for. Otherwise the answer says that it is on the line.
    var isRequested: Bool

    /// The waypoint of a route whose line begins, stops or ends at `end`, as `verb` says. Reports a difference; whatever contradicts
    /// the line is replaced by the line's.
    func waypoint(at end: Coordinate, _ verb: String, _ book: inout NoticeBook) -> Waypoint {
        var waypoint = self.waypoint
        waypoint.center = end
        guard let center else {
            book.add(self.path, "no location on the Earth; the line's end is taken")
            return waypoint
        }
        let meters = center.meters(to: end)
        if meters <= RoutingLimits.stopMetersMax {
            waypoint.center = center
            return waypoint
        }
        let away = "the line \(verb) \(NoticeBook.length(meters)) from this point"
        if self.isRequested, meters <= Self.requestedMetersMax {
            waypoint.center = center
            book.addMoved(self.path, away)
        } else if meters <= Self.requestedMetersMax {
            book.addMoved(self.path, "\(away); the line's end is taken")
        } else {
            book.addMoved(self.path, "\(away); the line's end is taken, without a name")
            // The name is that of a place elsewhere.
            (waypoint.nameVariants, waypoint.addressVariants) = ([], [])
            (waypoint.timeZone, waypoint.utcOffsetMinutes) = ("", nil)
        }
        return waypoint
    }
}

/// Compares the length of a line with the lengths that an answer states.
struct LengthCheck {
    /// Explains a difference by another unit: kilometres, miles, feet or centimetres.
    private static let units = [1_000, 1_609.344, 0.3048, 0.001, 0.000_621_371, 3.280_84, 0.01, 100]
    /// Lines that are longer by this factor and this number of metres are not those of the answer.
    private static let wrong = (factor: 10.0, meters: 10_000.0)

    /// Reports a leg or route at `path` whose line is not as long as `stated`.
    ///
    /// - Parameters:
    ///   - measured: The line's length in metres.
    ///   - stated: In metres; nil if the answer does not say.
    ///   - areEndsRight: Whether the line leads between the answer's waypoints; nil if the answer has none.
    ///   - path: The leg or route.
    ///   - book: Gets the notice.
    /// - Throws: `.invalid` if nothing explains the difference.
    static func check(
        _ measured: Double, stated: Double?, areEndsRight: Bool?, at path: JSONPath,
        _ book: inout NoticeBook
    ) throws(RouteReadingError) {
        guard let stated, stated > 0, stated.isFinite, !LineEvidence.agrees(measured, with: stated) else {
            return
        }
        let difference =
            "the line is \(NoticeBook.length(measured)) long, but the answer says \(NoticeBook.length(stated))"
        let isUnit = Self.units.contains { abs(measured / stated / $0 - 1) < 0.05 }
        let isWrong =
            measured > stated * Self.wrong.factor && measured - stated > Self.wrong.meters && !isUnit
            && areEndsRight != true
        guard !isWrong else {
            throw .invalid(
                path: path.description,
                reason: "\(difference): no number of digits, dimensions or backslashes of the line fits")
        }
        book.add(path, difference)
    }
}
