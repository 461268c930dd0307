package import WaymarkClient
internal import WaymarkProtocol

/// What an endpoint held after each entry that changed it.
package struct EndpointHistory: Sendable {
    /// What the endpoint held, and what it knew of its connection.
    package struct Moment: Sendable {
        /// The entry after which it held this.
        package fileprivate(set) var index: Int
        package let state: VehicleState
        package let isConnected: Bool
        /// The last Welcome continued what the endpoint held.
        package let isResumed: Bool
        /// All of the last snapshot, full or of what was missed, and all parts of the last publication have arrived.
        package let isComplete: Bool
        /// The number of events of its session that never reached the endpoint, as frames or in a full snapshot.
        package let missed: Int
    }

    package let id: PeerID
    package private(set) var moments: [Moment] = []
    private var held: HeldState
    private var isConnected = false
    private var isResumed = false
    private var isInSnapshot = false
    private var events = OwedEvents()
    private var storage: VehicleLimits
    private let isForeign: Bool

    init(_ id: PeerID, storage: VehicleLimits, isForeign: Bool = false) {
        (self.id, self.storage, self.isForeign) = (id, storage, isForeign)
        self.held = HeldState(storage: storage)
    }

    /// What it held after the entry at `index`; nil before anything was known.
    package func moment(at index: Int) -> Moment? {
        let count = self.count(upTo: index)
        return count > 0 ? self.moments[count - 1] : nil
    }

    /// How many moments are not after the entry at `index`.
    package func count(upTo index: Int) -> Int { self.moments.binarySearch { $0.index <= index } }

    /// An entry that changed nothing was inserted at `index`.
    mutating func moveMoments(from index: Int) {
        for position in self.moments.indices[self.count(upTo: index - 1)...] {
            self.moments[position].index += 1
        }
    }

    mutating func apply(_ entry: History.Entry) {
        switch entry.kind {
        case .frame(let crossed):
            guard crossed.delivery != .dropped else { return }
            let changed = crossed.peer == self.id ? self.receive(crossed) : self.events.see(crossed)
            guard changed else { return }
        case .connection(self.id, .admitted(let resumed)):
            (self.isConnected, self.isResumed) = (true, resumed)
        case .connection(self.id, .ended):
            (self.isConnected, self.isResumed, self.isInSnapshot) = (false, false, false)
        default: return
        }
        self.moments.append(
            Moment(
                index: entry.index, state: self.held.state, isConnected: self.isConnected,
                isResumed: self.isResumed, isComplete: !self.isInSnapshot && self.held.state.isComplete,
                missed: self.events.count))
    }

    private mutating func begin(_ hello: Hello) {
        self.events.begin(hello)
        guard self.isForeign, let limits = hello.vehicle?.limits, limits != self.storage else { return }
        self.storage = limits
        self.held = HeldState(storage: limits)
    }

    /// Whether something of the endpoint's record changed.
    private mutating func receive(_ crossed: CrossedFrame) -> Bool {
        let (before, owed, wasInSnapshot) = (self.held, self.events.count, self.isInSnapshot)
        guard crossed.way == .toPeer else {
            if case .hello(let hello)? = crossed.message { self.begin(hello) }
            return false
        }
        if let envelope = crossed.envelope {
            switch envelope.message {
            case .welcome(let welcome): _ = self.held.welcome(isResumed: welcome.isResumed)
            case .snapshotBegin: self.isInSnapshot = true
            case .snapshotEnd: self.isInSnapshot = false
            default: break
            }
            self.held.apply(envelope)
            // The session may end within a snapshot.
            if self.held.state.session == 0 { self.isInSnapshot = false }
            self.events.receive(envelope, session: self.held.state.session)
        } else {
            self.held.skip(crossed.frame.header)
        }
        return self.held != before || self.events.count != owed || self.isInSnapshot != wasInSnapshot
    }
}

extension Array {
    /// How many elements at the front fulfil a condition that all elements before one that fulfils it fulfil too.
    func binarySearch(_ condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
