internal import WaymarkModel
internal import WaymarkProtocol

/// The frames that make up the present state of a session: what a joining endpoint is sent.
struct RetainedState: Sendable, Hashable, Codable {
    /// Where the frame with the newest value of a state is kept.
    enum Location: Sendable, Hashable {
        case newest(Int)
        case estimates(Int)
    }

    /// At most one frame of each type: a newer one replaces it.
    private var newest: [Frame] = []
    /// The newest estimates of each maneuver, and their indices by maneuver.
    private var estimates: [Frame] = []
    private var estimateIndices: [UInt32: Int] = [:]
    /// Additions to the route; they accumulate until the route is replaced.
    private var additions: [Frame] = []
    /// The newest frame of each state of an extension, or of a type that this build does not know. Few, see ``SessionContent``.
    private var extensions: [Frame] = []
    /// The memory of the kept frames, see ``FrameHeader/keptByteCount``.
    private(set) var byteCount = 0

    /// All kept frames in the publisher's order.
    var frames: [Frame] {
        (self.newest + self.estimates + self.additions + self.extensions)
            .sorted { $0.header.sequence < $1.header.sequence }
    }

    /// All kept frames in the publisher's order; a state with its key.
    var entries: [(frame: Frame, key: ConflationKey?)] {
        var entries = (self.newest + self.additions).map { (frame: $0, key: $0.stateKey) }
        for (maneuver, index) in self.estimateIndices {
            entries.append(
                (self.estimates[index], ConflationKey(type: .updateManeuverEstimates, item: maneuver)))
        }
        entries += self.extensions.map { ($0, $0.extensionKey) }
        return entries.sorted { $0.frame.header.sequence < $1.frame.header.sequence }
    }

    /// How many frames are kept.
    var count: Int {
        self.newest.count + self.additions.count + self.estimates.count + self.extensions.count
    }

    // MARK: States

    /// Where the newest value of a state is kept; nil for none.
    func location(of key: ConflationKey) -> Location? {
        guard key.type != MessageType.updateManeuverEstimates.rawValue else {
            return self.estimateIndices[key.item].map { .estimates($0) }
        }
        return self.newest.firstIndex { $0.header.rawType == key.type }.map { .newest($0) }
    }

    // Why not the whole frame: returning it retains and releases it.
    /// The header of the frame at a location that no event has made invalid since.
    func header(at location: Location) -> FrameHeader {
        switch location {
        case .newest(let index): self.newest[index].header
        case .estimates(let index): self.estimates[index].header
        }
    }

    /// Whether the state at `location` says what one of `frames` says.
    func isUnchanged(by frames: PublishedFrames, _ index: Int, at location: Location) -> Bool {
        switch location {
        case .newest(let position): frames.hasBody(at: index, of: self.newest[position])
        case .estimates(let position): frames.hasBody(at: index, of: self.estimates[position])
        }
    }

    /// Applies a state, whose older value is at `location`.
    mutating func apply(_ frame: Frame, _ key: ConflationKey, at location: Location?) {
        self.byteCount = self.byteCount(after: frame.header, at: location)
        switch location {
        case .newest(let index): self.newest[index] = frame
        case .estimates(let index): self.estimates[index] = frame
        case nil where key.type == MessageType.updateManeuverEstimates.rawValue:
            self.estimateIndices[key.item] = self.estimates.count
            self.estimates.append(frame)
        case nil: self.newest.append(frame)
        }
    }

    /// What ``byteCount`` would be after a state whose older value is at `location`.
    func byteCount(after header: FrameHeader, at location: Location?) -> Int {
        self.byteCount + header.keptByteCount - (location.map { self.header(at: $0).keptByteCount } ?? 0)
    }

    // MARK: States of extensions, and of types that this build does not know

    /// The index of the kept value of such a state; nil for none.
    func indexOfExtension(_ key: ConflationKey) -> Int? {
        self.extensions.firstIndex { $0.extensionKey == key }
    }

    /// Whether such a state, whose kept value is at `kept`, says what one of `frames` says.
    func isUnchanged(by frames: PublishedFrames, _ index: Int, extensionAt kept: Int) -> Bool {
        frames.hasBody(at: index, of: self.extensions[kept])
    }

    /// How ``byteCount`` would change if `header`'s frame were kept in place of the one at an index; nil for no frame, or none.
    func growth(by header: FrameHeader?, inPlaceOfExtensionAt kept: Int?) -> Int {
        (header?.keptByteCount ?? 0) - (kept.map { self.extensions[$0].keptByteCount } ?? 0)
    }

    /// Keeps `frame` in place of the one at an index; nil for no frame, or none.
    mutating func keep(_ frame: Frame?, inPlaceOfExtensionAt kept: Int?) {
        self.byteCount += self.growth(by: frame?.header, inPlaceOfExtensionAt: kept)
        if let kept { self.extensions.remove(at: kept) }
        if let frame { self.extensions.append(frame) }
    }

    // MARK: Events

    /// What ``byteCount`` would be after an event.
    func byteCount(afterEvent frame: Frame, _ outline: PublicationOutline) -> Int {
        let (voids, retention) = Self.effect(of: outline)
        var count = self.byteCount + (retention == .nothing ? 0 : frame.keptByteCount)
        if voids.contains(.everything) { return count - self.byteCount }
        guard !voids.isEmpty else { return count }
        for old in self.newest where old.isVoided(by: voids) { count -= old.keptByteCount }
        if voids.contains(.route) {
            for old in self.estimates { count -= old.keptByteCount }
            for old in self.additions { count -= old.keptByteCount }
        }
        return count
    }

    /// Applies an event.
    mutating func apply(event frame: Frame, _ outline: PublicationOutline) {
        self.byteCount = self.byteCount(afterEvent: frame, outline)
        let (voids, retention) = Self.effect(of: outline)
        if !voids.isEmpty { self.newest.removeAll { $0.isVoided(by: voids) } }
        if voids.contains(.route) || voids.contains(.everything) {
            (self.estimates, self.estimateIndices, self.additions) = ([], [:], [])
        }
        if voids.contains(.everything) { self.extensions = [] }
        switch retention {
        case .nothing: break
        case .newest: self.newest.append(frame)
        case .all: self.additions.append(frame)
        }
    }

    /// What an event makes void, and how it is kept.
    private static func effect(
        of outline: PublicationOutline
    ) -> (PublicationRule.Voids, PublicationRule.Retention) {
        let rule = outline.rule
        // ResumeGuidance along the old route.
        if rule.adds == .wholeRoute, outline.route == nil { return (.pause, .nothing) }
        return (rule.voids, rule.retention)
    }
}

extension Frame {
    /// The memory that it takes while it is kept, see ``FrameHeader/keptByteCount``.
    var keptByteCount: Int { self.header.keptByteCount }

    /// The key of a state that there is one of.
    fileprivate var stateKey: ConflationKey? {
        guard PublicationRule.rule(for: self.header.rawType).kind == .state else { return nil }
        return self.header.type.map { ConflationKey(type: $0) }
    }

    /// The key of a state of an extension, or of a type that this build does not know.
    fileprivate var extensionKey: ConflationKey {
        ConflationKey(rawType: self.header.rawType, item: UInt32(self.header.key))
    }

    /// Whether an event makes it void.
    fileprivate func isVoided(by voids: PublicationRule.Voids) -> Bool {
        if voids.contains(.everything) { return true }
        if voids.contains(.route) { return PublicationRule.rule(for: self.header.rawType).isOfRoute }
        return switch self.header.type {
        case .pauseGuidance: voids.contains(.pause)
        case .updateManeuverState: voids.contains(.maneuverState)
        case .showAlert: voids.contains(.alert)
        default: false
        }
    }
}

extension FrameHeader {
    /// The memory that a kept frame takes beside its bytes.
    ///
    /// Why: without it, a megabyte of empty messages would count as a megabyte and take seven.
    static let keptOverheadByteCount = 128

    /// The memory that a kept frame takes: its bytes, and ``keptOverheadByteCount``.
    var keptByteCount: Int { self.frameByteCount + Self.keptOverheadByteCount }
}
