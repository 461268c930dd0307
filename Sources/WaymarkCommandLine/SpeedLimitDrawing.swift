internal import WaymarkModel
internal import WaymarkTexts

/// Draws speed limits as the signs beside the road, in lines of text.
enum SpeedLimitDrawing {
    /// The sign of the limit here, and below it the next limit; no lines if there is nothing to show.
    ///
    /// All lines have the same width. A limit whose sign has an unknown shape is a text without a frame.
    static func lines(_ limit: SpeedLimit?, next: SpeedLimitAhead?) -> [String] {
        let sign = limit.map(self.sign) ?? []
        let ahead = next.map { ["\(self.words($0.limit)) in \(GuidanceText.distance($0))"] } ?? []
        let lines = sign + ahead
        let width = lines.map(\.count).max() ?? 0
        return lines.map { $0 + String(repeating: " ", count: width - $0.count) }
    }

    /// The limit here and the next one in one line, which changes with them and not with every metre; nil if there is nothing to show.
    static func words(_ limit: SpeedLimit?, next: SpeedLimit?) -> String? {
        let here = limit.flatMap { $0.status == .unknown ? nil : self.words($0) }
        return switch (here, next.map(self.words)) {
        case (let here?, let ahead?): "speed limit \(here), then \(ahead)"
        case (let here?, nil): "speed limit \(here)"
        case (nil, let ahead?): "speed limit ahead: \(ahead)"
        case (nil, nil): nil
        }
    }

    private static func words(_ limit: SpeedLimit) -> String { GuidanceText.speedLimit(limit) }

    private static func sign(_ limit: SpeedLimit) -> [String] {
        switch (limit.status, limit.sign) {
        case (.unknown, _): []
        case (.limited, .vienna?): self.round("\(limit.value ?? 0)") + self.remark(limit)
        // It is the sign that ends all limits.
        case (.none, .vienna?): self.round("╱╱")
        case (.limited, .mutcd?): self.rectangular("\(limit.value ?? 0)") + self.remark(limit)
        case (.limited, _), (.none, _), (.unrecognized, _): [self.words(limit)]
        }
    }

    private static func round(_ text: String) -> [String] {
        let bar = String(repeating: "─", count: text.count + 2)
        return ["╭\(bar)╮", "│ \(text) │", "╰\(bar)╯"]
    }

    private static func rectangular(_ text: String) -> [String] {
        let (left, right) = ((5 - text.count) / 2, 5 - text.count - (5 - text.count) / 2)
        let value = String(repeating: " ", count: left) + text + String(repeating: " ", count: right)
        return ["┌─────┐", "│SPEED│", "│LIMIT│", "│\(value)│", "└─────┘"]
    }

    /// The kind of a limit that is not simply posted: signs have a plate for it.
    private static func remark(_ limit: SpeedLimit) -> [String] {
        switch limit.kind {
        case nil, .posted?: []
        case .advisory?: ["advisory"]
        case .variable?: ["variable"]
        case .conditional?: ["conditional"]
        case .schoolZone?: ["school zone"]
        case .unrecognized(let kind)?: ["kind \(kind)"]
        }
    }
}
