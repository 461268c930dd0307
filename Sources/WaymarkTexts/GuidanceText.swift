package import WaymarkModel

/// Words for values of guidance, for people.
package enum GuidanceText {
    /// E.g. `1 route`, `2 routes`.
    package static func counted(_ count: Int, _ what: String) -> String {
        "\(count) \(what)\(count == 1 ? "" : "s")"
    }

    /// The first of some names, and how many others there are.
    package static func some(_ names: [String]) -> String {
        guard let first = names.first else { return "no one" }
        return names.count == 1 ? first : "\(first) +\(names.count - 1)"
    }

    /// The distance that an instrument shows, e.g. `4.4 km`.
    package static func distance(_ estimates: TravelEstimates?) -> String {
        guard let estimates else { return "–" }
        return self.text(
            estimates.distanceRemainingToDisplay ?? .rounded(estimates.distanceRemaining, units: .metric))
    }

    /// The distance to a speed limit that an instrument shows.
    package static func distance(_ ahead: SpeedLimitAhead) -> String {
        self.text(ahead.distanceToDisplay ?? .rounded(ahead.distance, units: .metric))
    }

    /// A speed limit, e.g. `80 km/h`, `35 mph (school zone)`.
    package static func speedLimit(_ limit: SpeedLimit) -> String {
        switch limit.status {
        case .unknown: return "unknown"
        case .none: return "no limit"
        case .unrecognized(let raw): return "status \(raw)"
        case .limited: break
        }
        let unit =
            switch limit.unit {
            case .kilometersPerHour: "km/h"
            case .milesPerHour: "mph"
            case .unrecognized(let raw): "unit \(raw)"
            case nil: ""
            }
        let kind: String? =
            switch limit.kind {
            case .advisory: "advisory"
            case .variable: "variable"
            case .conditional: "conditional"
            case .schoolZone: "school zone"
            case .unrecognized(let raw): "kind \(raw)"
            case .posted, nil: nil
            }
        return "\(limit.value ?? 0) \(unit)" + (kind.map { " (\($0))" } ?? "")
    }

    private static func text(_ shown: DisplayDistance) -> String {
        let number =
            shown.valueTenths % 10 == 0
            ? "\(shown.valueTenths / 10)" : "\(shown.valueTenths / 10).\(shown.valueTenths % 10)"
        let unit =
            switch shown.unit {
            case .meters: "m"
            case .kilometers: "km"
            case .feet: "ft"
            case .yards: "yd"
            case .miles: "mi"
            case .unrecognized(let raw): "unit \(raw)"
            }
        return "\(number) \(unit)"
    }

    /// The lanes from left to right; those that lead on are in brackets.
    package static func lanes(_ guidance: LaneGuidance) -> String {
        guidance.lanes.map(self.lane).joined(separator: " │ ")
    }

    private static func lane(_ lane: Lane) -> String {
        let arrows = lane.angles.map { angle in
            switch angle.degrees {
            case -180 ... -160, 160...: "↶"
            case -159 ... -113: "↙"
            case -112 ... -68: "←"
            case -67 ... -23: "↖"
            case -22...22: "↑"
            case 23...67: "↗"
            case 68...112: "→"
            default: "↘"
            }
        }
        let text = arrows.isEmpty ? "·" : arrows.joined()
        return lane.status == .notGood ? text : "[\(text)]"
    }
}
