internal import WaymarkProtocol

/// Frames that are fitted to a profile one after the other, as far as the budget of a step goes.
struct FittingQueue: Sendable, Hashable {
    var view: FittedView
    /// Frames that are fitted later; of each state the newest value.
    private var frames = Outbox(limits: .none)
    /// What the last frame was fitted to, as far as it is not encoded.
    private var parts = FittedParts()

    init(view: FittedView) { self.view = view }

    var isEmpty: Bool { self.parts.isEmpty && self.frames.isEmpty }

    /// The number of the first frame that waits; nil for none.
    var nextSequence: UInt64? { self.parts.sequence ?? self.frames.waiting.first?.frame.header.sequence }

    mutating func append(_ frame: Frame, _ key: ConflationKey?) { _ = self.frames.append(frame, key: key) }

    mutating func append(_ frames: PublishedFrames) {
        for (frame, key) in frames.frames { self.append(frame, key) }
    }

    /// Fits frames that wait, until the work reaches `unitsMax`.
    ///
    /// - Returns: The work.
    mutating func fit(
        unitsMax: Int, _ route: StoredRoute, _ rules: GatewaySession.PublishingRules,
        into fitted: inout PublishedFrames
    ) -> Int {
        var units = self.encode(unitsMax: unitsMax, rules, into: &fitted)
        while units < unitsMax, self.parts.isEmpty, let frame = self.frames.takeFirst() {
            var publication = rules.coder.decode(frame)
            let outline = publication?.content.outline ?? PublicationOutline(unrecognized: frame.header)
            units += WorkMeter.units(ofFitted: frame.bytes.count)
            units += self.begin(frame, &publication, outline, route, rules.coder, into: &fitted)
            units += self.encode(unitsMax: unitsMax - units, rules, into: &fitted)
        }
        return units
    }

    /// Fits the frame at an index, unless others wait. `publication` is its content; nil until a view needs it.
    ///
    /// - Returns: The work.
    mutating func fit(
        _ frames: PublishedFrames, _ index: Int, _ publication: inout DecodedPublication?, unitsMax: Int,
        _ route: StoredRoute, _ rules: GatewaySession.PublishingRules, into fitted: inout PublishedFrames
    ) -> Int {
        let (frame, outline) = (frames.frame(at: index), frames.outlines[index])
        guard self.isEmpty, unitsMax > 0 else {
            self.append(frame.compacted(), outline.conflationKey)
            return 0
        }
        let units = self.begin(frame, &publication, outline, route, rules.coder, into: &fitted)
        guard !self.parts.isEmpty else { return units }
        return units + self.encode(unitsMax: max(1, unitsMax - units), rules, into: &fitted)
    }

    private mutating func begin(
        _ frame: Frame, _ publication: inout DecodedPublication?, _ outline: PublicationOutline,
        _ route: StoredRoute, _ coder: BodyCoder, into fitted: inout PublishedFrames
    ) -> Int {
        let units = self.view.windowUnits(for: outline.rule)
        switch self.view.fit(frame, &publication, outline, route, coder) {
        case .asReceived: fitted.append(copyOf: frame, outline)
        case .fitted(let publications):
            let unknown = UnknownFields.joining(
                publication?.unknown, frame.header.rawType, route: route.unknown(of: outline.generation))
            return units
                + self.parts.set(
                    publications, of: frame.header, self.view.profile.frameBytesMax, unknown, coder)
        }
        return units
    }

    private mutating func encode(
        unitsMax: Int, _ rules: GatewaySession.PublishingRules, into fitted: inout PublishedFrames
    ) -> Int {
        var units = 0
        let bytesMax = min(Int(rules.limits.frameBytesMax), self.view.profile.frameBytesMax)
        while !self.parts.isEmpty, units < unitsMax {
            units += self.parts.encodeNext(bytesMax, rules.coder, into: &fitted)
        }
        return units
    }
}
