package import WaymarkHistory
package import WaymarkProtocol

/// From which entry something counts.
package struct Anchor: Sendable, Hashable {
    /// -1: from the beginning of the run.
    package let index: Int
    package let instant: Instant

    package init(_ entry: History.Entry) { (self.index, self.instant) = (entry.index, entry.instant) }

    private init(index: Int, instant: Instant) { (self.index, self.instant) = (index, instant) }

    /// Before the first entry.
    package static let beginning = Anchor(index: -1, instant: Instant(nanoseconds: 0))
}

/// Where a moment is in a history.
struct MomentPlace: Sendable {
    let record: Int
    let position: Int
}

extension History {
    subscript(place: MomentPlace) -> EndpointHistory.Moment {
        self.endpoints[place.record].moments[place.position]
    }
}

/// Follows the record of one endpoint, entry by entry. Works on a history that grows, and on one that is finished.
struct MomentCursor: Sendable {
    private let endpoint: PeerID
    private var record: Int?
    private var position = 0

    /// Begins after the entry at `index`.
    init(_ endpoint: PeerID, after index: Int, in history: History) {
        self.endpoint = endpoint
        self.record = history.endpoints.firstIndex { $0.id == endpoint }
        if let record { self.position = history.endpoints[record].count(upTo: index) }
    }

    /// Where the moment after an entry is, if that entry changed what the endpoint holds. Why not the moment: a copy takes longer than most
    /// conditions.
    mutating func change(at index: Int, in history: History) -> MomentPlace? {
        if self.record == nil { self.record = history.endpoints.firstIndex { $0.id == self.endpoint } }
        guard let record else { return nil }
        while self.position < history.endpoints[record].moments.count {
            let found = history.endpoints[record].moments[self.position].index
            if found > index { return nil }
            self.position += 1
            if found == index { return MomentPlace(record: record, position: self.position - 1) }
        }
        return nil
    }
}

/// Watches for an event: a message that crosses, a state that begins to hold, or a line that is printed.
package struct EventWatch: Sendable {
    private let pattern: EventPattern
    private let count: Int?
    private var seen = 0
    private var holds = false
    private var cursor: MomentCursor?

    package init(_ event: Scenario.Event) { (self.pattern, self.count) = (event.pattern, event.count) }

    /// Begins after an entry. Whether the event is there already: a state that holds.
    package mutating func begin(after index: Int, in history: History) -> Bool {
        guard case .state(let state) = self.pattern else { return false }
        self.cursor = MomentCursor(state.of, after: index, in: history)
        guard let moment = history.endpoint(state.of)?.moment(at: index), state.holds(moment) == true else {
            return false
        }
        self.holds = true
        return self.occurs()
    }

    /// Whether the event occurs with this entry: each time, or the n-th time if the event says so.
    package mutating func see(_ entry: History.Entry, in history: History) -> Bool {
        switch self.pattern {
        case .message(let message): return message.matches(entry) && self.occurs()
        case .line(let line): return line.matches(entry) && self.occurs()
        case .state(let state):
            guard let place = self.cursor?.change(at: entry.index, in: history),
                let holds = state.holds(history.endpoints[place.record].moments[place.position])
            else { return false }
            defer { self.holds = holds }
            return holds && !self.holds && self.occurs()
        }
    }

    private mutating func occurs() -> Bool {
        self.seen += 1
        return self.count.map { self.seen == $0 } ?? true
    }
}
