internal import GatewayInMemory
internal import WaymarkCodec
internal import WaymarkConnections
internal import WaymarkGateway
internal import WaymarkProtocol

/// An observer on the network: it is slow, is cut and resumes, and holds what it was told.
struct SimulatedObserver {
    var connection: ConnectionID?
    private(set) var state = ObservedGateway()
    /// What it was told wrongly.
    var problems: [String] = []
    private let name: ObserverName
    /// The largest frame that it takes; 0: any.
    private let receiveFrameBytesMax: UInt32
    private var token: ResumptionToken?
    /// It was told how the observation begins.
    private var isBegun = false
    /// What it did before the connection was cut may have been told after what it has read.
    private var mayHaveMissed = false
    private(set) var hasResumed = false
    /// It asked for counters, and was not told all.
    private(set) var awaitsCounters = false
    /// What only grows, as it was told last.
    private var counters: [CounterKey: UInt64] = [:]

    private struct CounterKey: Hashable {
        let name: UInt32
        let label: UInt32
    }

    init(index: Int) {
        self.name = ObserverName(unchecked: "o\(index)")
        // Every other one has little memory.
        self.receiveFrameBytesMax = index % 2 == 1 ? 4_096 : 0
    }

    var hello: Hello {
        var observer = ObserverHello(observer: self.name)
        observer.receiveFrameBytesMax = self.receiveFrameBytesMax
        var hello = Hello(role: .observer(observer))
        hello.resumptionToken = self.token
        return hello
    }

    /// - Returns: What it sends first.
    mutating func welcome(_ welcome: Welcome) -> [Message] {
        self.token = welcome.resumptionToken
        if !welcome.isResumed { (self.state, self.counters) = (ObservedGateway(), [:]) }
        self.mayHaveMissed = welcome.isResumed
        self.isBegun = false
        var observe = Observe()
        (observe.wantsState, observe.wantsEvents, observe.wantsFrames) = (true, true, true)
        observe.afterNumber = self.state.number
        var read = ReadCounters()
        (read.wantsConnections, read.wantsSessions) = (true, true)
        self.awaitsCounters = true
        return [.observe(observe), .readCounters(read)]
    }

    private mutating func receive(_ report: CounterReport) {
        for counter in report.counters where counter.name < CounterReport.Counter.firstSize {
            let key = CounterKey(name: counter.name, label: counter.label)
            let last = self.counters.updateValue(counter.value, forKey: key) ?? 0
            if counter.value < last { self.problems.append("is told \(counter) after \(last)") }
        }
        if report.isLast { self.awaitsCounters = false }
    }

    mutating func receive(_ message: Message, _ outline: (Frame) -> PublicationOutline?) {
        let last = self.state.number
        switch message {
        case .observationBegin(let begin):
            // Entries that were lost with the connection are not told again before a whole state.
            let isRight =
                begin.number == last || (self.mayHaveMissed && begin.kind == .full && begin.number > last)
            if !isRight { self.problems.append("begins after \(begin.number), not \(last)") }
            if begin.kind == .missed { self.hasResumed = true }
            (self.isBegun, self.mayHaveMissed) = (true, false)
        case .observationGap(let gap):
            if gap.dropped == 0 || gap.nextNumber != last + gap.dropped + 1 {
                self.problems.append("is told \(gap) after \(last)")
            }
        case .observedRecords(let records) where records.number == 0: break
        case .observedRecords, .observedEvent, .observedFrames: break
        case .counters(let report): return self.receive(report)
        default: return
        }
        if !self.isBegun { self.problems.append("is told \(message.type) before the beginning") }
        self.state.apply(message, outline: outline)
        switch message {
        case .observedRecords(let records) where records.number == 0: break
        case .observedRecords, .observedEvent, .observedFrames:
            if self.state.number != last + 1 {
                self.problems.append("is told \(self.state.number) after \(last)")
            }
        default: break
        }
    }

    mutating func loseConnection() { self.connection = nil }
}

// The observers of a network.
extension SimulatedNetwork {
    mutating func populateObservers(seed: UInt64) {
        guard !seed.isMultiple(of: 2), self.attackers.isEmpty else { return }
        self.observers = (0..<Int(seed / 2 % 3)).map { SimulatedObserver(index: $0) }
    }

    mutating func connectObserver(_ index: Int) {
        self.observers[index].connection = self.connect(.observer(index), self.observers[index].hello)
    }

    /// What an observer was told.
    mutating func receive(_ message: Message, atObserver index: Int) {
        let decoder = self.decoder
        self.observers[index].receive(message) { frame in
            do { return try decoder.outline(of: frame) } catch { return nil }
        }
        if self.observers[index].state.dropped > 0 { self.happenings.insert(.observerMissed) }
        if self.observers[index].hasResumed { self.happenings.insert(.observerResumed) }
        for problem in self.observers[index].problems {
            self.report(.observerSeesWhatIs, "observer \(index) \(problem)")
        }
        self.observers[index].problems = []
    }

    /// At rest every observer holds what the gateway holds.
    mutating func compareObservers() {
        var gateway = self.host.gateway.gateway
        for index in self.observers.indices {
            let state = self.observers[index].state
            if !state.isComplete {
                self.report(.observerSeesWhatIs, "observer \(index) was not told everything")
            }
            if self.observers[index].awaitsCounters {
                self.report(.observerSeesWhatIs, "observer \(index) was not told the counters")
            }
            if let difference = state.difference(from: &gateway) {
                self.report(.observerSeesWhatIs, "observer \(index) \(difference)")
            }
        }
    }
}
