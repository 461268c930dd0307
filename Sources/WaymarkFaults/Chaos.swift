internal import WaymarkHistory
internal import WaymarkProtocol

// Faults at random.
extension LinkFaults {
    /// How long chaos keeps up what it begins, in milliseconds.
    private static let chaosMilliseconds = 100...2_000

    mutating func runChaos(_ actions: inout [Action]) {
        for index in self.faults.indices {
            guard case .chaos(let every, let kinds) = self.faults[index].fault.kind,
                let next = self.faults[index].nextAt, next <= self.now, self.faults[index].isActing
            else { continue }
            self.faults[index].nextAt = self.now + every * self.exponential()
            guard let name = self.random.pick(kinds), self.faults.count < Self.faultsMax else { continue }
            self.nextFault += 1
            let fault = self.fault(name)
            self.faults.append(
                Active(
                    number: self.nextFault, fault: fault, timesLeft: fault.times ?? fault.kind.timesByDefault)
            )
            self.start(self.faults.count - 1, &actions)
        }
    }

    /// A fault of a kind whose place and measure are random.
    private mutating func fault(_ name: LinkFault.Name) -> LinkFault {
        let kind: LinkFault.Kind =
            switch name {
            case .delay: .delay(.milliseconds(self.random.number(1...500)))
            case .jitter: .jitter(.milliseconds(self.random.number(1...500)))
            case .throttle: .throttle(bytesPerSecond: self.random.number(100...20_000))
            case .slice: .slice(bytes: self.random.number(1...64))
            case .stall: .stall
            case .cut: .cut(self.random.once(in: 2) ? .reset : .finished)
            case .drop, .chaos: .drop
            case .duplicate: .duplicate
            case .reorder: .reorder
            case .corrupt: .corrupt
            case .halfClose: .halfClose
            case .refuse: .refuse
            case .blackhole: .blackhole
            }
        let ways: Set<Way> =
            switch self.random.number(0...2) {
            case 0: [.toGateway]
            case 1: [.toPeer]
            default: Set(Way.allCases)
            }
        let times: Int? =
            switch name {
            case .drop, .duplicate, .reorder, .corrupt, .cut, .halfClose, .chaos: 1
            case .delay, .jitter, .throttle, .slice, .stall, .refuse, .blackhole: nil
            }
        return LinkFault(
            kind, ways: ways, times: times,
            for: .milliseconds(self.random.number(Self.chaosMilliseconds)))
    }

    /// A random number with an exponential distribution and the mean 1, by comparisons alone (von Neumann), so that it is the same on every
    /// machine.
    mutating func exponential() -> Double {
        var whole = 0.0
        while true {
            let first = Double.random(in: 0..<1, using: &self.random)
            var (last, length) = (first, 1)
            while case let next = Double.random(in: 0..<1, using: &self.random), next <= last {
                last = next
                length += 1
            }
            if length % 2 == 1 { return whole + first }
            whole += 1
        }
    }
}
