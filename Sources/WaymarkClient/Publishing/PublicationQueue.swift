internal import WaymarkModel
internal import WaymarkProtocol

/// Publications of one session that are not sent yet, oldest first.
///
/// Events keep their position. Of a state only the newest value is queued, unless an event follows the older one, since an
/// event may depend on the states before it. Two states depend on each other: a maneuver state comes after the upcoming
/// maneuvers that it is about. Replacing states never breaks the protocol's cycle of maneuver states, and never leaves the
/// old maneuver's state to the new one.
struct PublicationQueue: Sendable, Hashable {
    private(set) var items: [OutgoingPublication] = []
    private(set) var byteCount = 0
    /// The cycle as it is once everything before `tail` has arrived.
    private var cycle: ManeuverCycle
    /// Where the states after the last event begin.
    private var tail = 0

    /// An empty queue for a gateway that is at `cycle`.
    init(after cycle: ManeuverCycle = .init()) { self.cycle = cycle }

    /// Queues a publication, and removes the states that it replaces.
    ///
    /// - Complexity: O(states behind the last event).
    mutating func append(_ item: OutgoingPublication) {
        guard let key = item.key else {
            self.add(item)
            return self.moveTail()
        }
        switch item.publication {
        case .upcomingManeuvers(let ids, _): self.append(item, upcoming: ids.first)
        case .maneuverState(let state, _): self.append(item, state: state)
        default:
            self.removeFromTail { $0.key == key }
            self.add(item)
        }
    }

    /// Removes and returns all publications.
    mutating func dequeueAll() -> [OutgoingPublication] {
        self.moveTail()
        let items = self.items
        self = PublicationQueue(after: self.cycle)
        return items
    }

    /// Removes every publication for which `isKept` is false.
    mutating func keep(where isKept: (OutgoingPublication) -> Bool) {
        let kept = self.items.filter(isKept)
        self = PublicationQueue(after: self.cycle)
        for item in kept { self.append(item) }
    }

    // MARK: The two states that depend on each other

    /// A change of the first maneuver lets any maneuver state follow: it is skipped only if another change does the same.
    ///
    /// The states queued before the first change stay there: `continue` ends the old maneuver, and without it a receiver would
    /// keep the old maneuver's state for the new one.
    private mutating func append(_ item: OutgoingPublication, upcoming first: ManeuverID?) {
        let waiting = Array(self.items[self.tail...])
        let lastUpcoming = waiting.lastIndex { $0.upcomingManeuvers != nil }
        let firstChange = waiting.firstIndex {
            $0.upcomingManeuvers.map { $0.first != self.cycle.first } ?? false
        }
        let last = lastUpcoming.flatMap { waiting[$0].upcomingManeuvers }.map(\.first) ?? self.cycle.first
        var kept: [OutgoingPublication] = []
        var states: [OutgoingPublication] = []
        for (index, older) in waiting.enumerated() {
            if older.maneuverState != nil {
                if last == first, index > lastUpcoming ?? -1 {
                    states.append(older)
                } else if index < firstChange ?? waiting.count {
                    kept.append(older)
                }
            } else if older.upcomingManeuvers == nil || (index == firstChange && first == self.cycle.first) {
                kept.append(older)
            }
        }
        self.replaceTail(with: kept)
        self.add(item)
        for state in states { self.add(state) }
    }

    private mutating func append(_ item: OutgoingPublication, state: ManeuverState) {
        let waiting = Array(self.items[self.tail...])
        let end = (waiting.lastIndex { $0.upcomingManeuvers != nil }).map { $0 + 1 } ?? 0
        var cycle = self.cycle
        for older in waiting[..<end] { cycle.advance(by: older.publication) }
        var states = waiting[end...].filter { $0.maneuverState != nil }
        self.replaceTail(with: waiting[..<end] + waiting[end...].filter { $0.maneuverState == nil })
        while !states.isEmpty {
            let before = states.count > 1 ? states[states.count - 2].maneuverState : cycle.state
            guard ManeuverCycle.allows(state, after: before) else { break }
            states.removeLast()
        }
        for state in states { self.add(state) }
        self.add(item)
    }

    // MARK: Bookkeeping

    private mutating func add(_ item: OutgoingPublication) {
        self.items.append(item)
        self.byteCount += item.byteCount
    }

    private mutating func removeFromTail(where isRemoved: (OutgoingPublication) -> Bool) {
        let kept = self.items[self.tail...].filter { !isRemoved($0) }
        guard kept.count < self.items.count - self.tail else { return }
        self.replaceTail(with: kept)
    }

    private mutating func replaceTail(with kept: [OutgoingPublication]) {
        self.byteCount -= self.items[self.tail...].reduce(0) { $0 + $1.byteCount }
        self.byteCount += kept.reduce(0) { $0 + $1.byteCount }
        self.items.replaceSubrange(self.tail..., with: kept)
    }

    private mutating func moveTail() {
        for item in self.items[self.tail...] { self.cycle.advance(by: item.publication) }
        self.tail = self.items.count
    }
}

extension OutgoingPublication {
    /// nil for everything else.
    fileprivate var upcomingManeuvers: [ManeuverID]? {
        if case .upcomingManeuvers(let ids, _) = self.publication { ids } else { nil }
    }

    /// nil for everything else.
    fileprivate var maneuverState: ManeuverState? {
        if case .maneuverState(let state, _) = self.publication { state } else { nil }
    }
}
