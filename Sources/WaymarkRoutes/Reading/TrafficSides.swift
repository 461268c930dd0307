import WaymarkModel

/// Settles the traffic side of each maneuver of a route.
///
/// A roundabout has the side on which its own line is driven. Between roundabouts the side is what the engine says; if it says nothing,
/// or if all roundabouts of the stretch contradict it, that of the roundabout before or else behind. A ferry ends a stretch, because
/// there may be another country behind it. The maneuver that leaves a roundabout has the side of the one that enters it.
struct TrafficSides {
    /// A shorter arc is a bend, or a roundabout with too few points to decide, in degrees.
    private static let arcDegreesMin = 20.0
    /// An arc that contradicts the engine must be longer than this, in degrees.
    static let contradictingDegreesMin = 45.0

    /// One maneuver.
    private struct Entry {
        let leg: Int
        let step: Int
        /// The engine's word; nil if it says nothing.
        let stated: TrafficSide?
        /// The side of the roundabout; nil for another maneuver, and if neither its line nor the engine shows it.
        var ring: TrafficSide?
        let beginsStretch: Bool
        let leavesRoundabout: Bool
    }

    private var entries: [Entry] = []
    private let isStated: Bool

    private init(_ draft: RouteDraft) {
        let steps = draft.legs.flatMap(\.steps)
        var said = steps.lazy.compactMap(\.side).first
        self.isStated = said != nil
        for (leg, legDraft) in draft.legs.enumerated() {
            for (index, step) in legDraft.steps.enumerated() {
                said = step.side ?? said
                let degrees = self.isStated ? Self.contradictingDegreesMin : Self.arcDegreesMin
                let type = step.maneuver.type
                self.entries.append(
                    Entry(
                        leg: leg, step: index, stated: said,
                        ring: step.ring?.side(degrees: degrees) ?? step.ringSide,
                        beginsStretch: type == .enterFerry || type == .exitFerry || type == .changeFerry,
                        // A maneuver with a number is a whole roundabout.
                        leavesRoundabout: type == .exitRoundabout
                            && step.maneuver.roundaboutExitNumber == nil))
            }
        }
    }

    /// Sets the sides of `draft` and reports what was inferred or contradicts.
    static func settle(_ draft: inout RouteDraft) {
        var sides = Self(draft)
        sides.settle(&draft)
    }

    private mutating func settle(_ draft: inout RouteDraft) {
        var stretches: [Range<Int>] = []
        var start = 0
        for index in self.entries.indices.dropFirst() where self.entries[index].beginsStretch {
            stretches.append(start..<index)
            start = index
        }
        stretches.append(start..<self.entries.count)
        let all = stretches.map { range in self.entries[range].compactMap(\.ring) }
        for (number, range) in stretches.enumerated() {
            let rings = all[number]
            let common = Self.majority(rings)
            // A stretch without roundabouts is driven as the one before it or, at the beginning, behind it.
            let neighbour =
                all[..<number].last { !$0.isEmpty }?.last ?? all[number...].first { !$0.isEmpty }?.first
            var near = rings.first
            for index in range {
                let entry = self.entries[index]
                var side = entry.stated ?? near ?? neighbour ?? .right
                if let ring = entry.ring {
                    if ring == common || common == nil { near = ring }
                    self.report(entry, ring, common, &draft)
                    side = ring
                } else if entry.leavesRoundabout, index > range.lowerBound,
                    let ring = self.entries[index - 1].ring
                {
                    side = ring
                } else if let stated = entry.stated, let common, !rings.contains(stated) {
                    side = common
                }
                draft.legs[entry.leg].steps[entry.step].maneuver.trafficSide = side
            }
        }
        self.reportInference(all.flatMap(\.self), &draft)
    }

    /// The side of most; nil if both have as many.
    private static func majority(_ sides: [TrafficSide]) -> TrafficSide? {
        let left = sides.count { $0 == .left }
        return 2 * left == sides.count ? nil : 2 * left > sides.count ? .left : .right
    }

    private func report(
        _ entry: Entry, _ ring: TrafficSide, _ common: TrafficSide?, _ draft: inout RouteDraft
    ) {
        let path = draft.legs[entry.leg].steps[entry.step].path
        let driven = "this roundabout is driven in \(Self.word(ring))-hand traffic"
        if let stated = entry.stated {
            guard stated != ring else { return }
            draft.book.add(path, "\(driven), but the engine says \(Self.word(stated))")
        } else if let common, common != ring {
            draft.book.add(path, "\(driven), unlike most on this stretch of the route")
        } else if common == nil {
            draft.book.add(path, "\(driven), and another one on this stretch of the route is not")
        }
    }

    private func reportInference(_ rings: [TrafficSide], _ draft: inout RouteDraft) {
        guard !self.isStated else { return }
        let says = "the engine does not say on which side traffic drives"
        guard let first = rings.first else {
            return draft.book.add(draft.path, "\(says): right is assumed")
        }
        let isOne = rings.allSatisfy { $0 == first }
        draft.book.add(
            draft.path,
            isOne
                ? "\(says): \(Self.word(first)) is taken from the way roundabouts are driven"
                : "\(says): the side changes on the way, as roundabouts are driven")
    }

    private static func word(_ side: TrafficSide) -> String { side == .left ? "left" : "right" }
}
