package import WaymarkClient
internal import WaymarkProtocol

/// What an endpoint held after each entry that changed it.
package struct EndpointRecord: Sendable {
    /// What the endpoint held, and what it knew of its connection.
    package struct Moment: Sendable {
        /// The entry after which it held this.
        package let index: Int
        package let state: VehicleState
        package let isConnected: Bool
        /// The last Welcome continued what the endpoint held.
        package let isResumed: Bool
    }

    package let id: PeerID
    package private(set) var moments: [Moment] = []
    private var held: HeldState
    private var isConnected = false
    private var isResumed = false

    init(_ id: PeerID, storage: VehicleLimits) {
        self.id = id
        self.held = HeldState(storage: storage)
    }

    /// What it held after the entry at `index`; nil before anything was known.
    package func moment(at index: Int) -> Moment? {
        let position = self.moments.binarySearch { $0.index <= index }
        return position > 0 ? self.moments[position - 1] : nil
    }

    mutating func apply(_ entry: History.Entry) {
        switch entry.kind {
        case .frame(let crossed):
            guard crossed.peer == self.id, crossed.way == .toPeer, crossed.delivery != .dropped else {
                return
            }
            let before = self.held
            if let envelope = crossed.envelope {
                if case .welcome(let welcome) = envelope.message {
                    _ = self.held.welcome(isResumed: welcome.isResumed)
                } else {
                    self.held.apply(envelope)
                }
            } else if crossed.rejection == nil {
                self.held.skip(crossed.frame.header)
            }
            guard self.held != before else { return }
        case .connection(self.id, .admitted(let resumed)):
            (self.isConnected, self.isResumed) = (true, resumed)
        case .connection(self.id, .ended): (self.isConnected, self.isResumed) = (false, false)
        default: return
        }
        self.moments.append(
            Moment(
                index: entry.index, state: self.held.state, isConnected: self.isConnected,
                isResumed: self.isResumed))
    }
}

extension Array {
    /// How many elements at the front fulfil a condition that all elements before one that fulfils it fulfil too.
    fileprivate func binarySearch(_ condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
