internal import WaymarkHistory
package import WaymarkProtocol

// What arrives, and when: the lanes of the connections, and their ends.
extension LinkFaults {
    // MARK: Arriving

    /// Delivers everything that is due.
    mutating func flush(_ actions: inout [Action]) {
        var index = 0
        while index < self.connections.count {
            guard !self.connections[index].isIdle else {
                index += 1
                continue
            }
            let number = self.connections[index].number
            for way in Way.allCases {
                guard let index = self.index(of: number) else { break }
                if let held = self.connections[index][way].held, held.until <= self.now {
                    self.releaseHeld(index, way)
                }
                self.flush(number, way, &actions)
            }
            if let present = self.index(of: number) {
                let connection = self.connections[present]
                if connection.toGateway.state == .ended, connection.toPeer.state == .ended {
                    self.connections.remove(at: present)
                } else {
                    index = present + 1
                }
            }
        }
    }

    private mutating func flush(_ number: Int, _ way: Way, _ actions: inout [Action]) {
        while let index = self.index(of: number), let (due, item) = self.connections[index][way].first,
            due <= self.now, !self.isStalled(way)
        {
            switch item {
            case .bytes(let bytes, let crossing):
                guard self.deliver(bytes, crossing, number, index, way, due, &actions) else { return }
            case .broken(let bytes):
                guard self.deliver(bytes, nil, number, index, way, due, &actions, isBroken: true) else {
                    return
                }
            case .act(let fault):
                self.connections[index][way].removeFirst()
                guard let fault = self.faults.firstIndex(where: { $0.number == fault }) else { continue }
                self.act(fault, number, in: way, &actions)
            case .end:
                // It is lost like everything else, until both have closed.
                guard !self.isLosing(way) || self.connections[index][way.opposite].state != .open else {
                    return
                }
                self.connections[index][way].removeFirst()
                self.connections[index][way].state = .ended
                actions.append(.end(number, way, .finished))
            }
        }
    }

    /// Delivers as much of the first item as may arrive now.
    ///
    /// - Returns: Whether that is all.
    private mutating func deliver(
        _ bytes: ArraySlice<UInt8>, _ crossing: LinkQueue.Crossing?, _ number: Int, _ index: Int, _ way: Way,
        _ due: Instant, _ actions: inout [Action], isBroken: Bool = false
    ) -> Bool {
        let size = self.sliceBytes(way, of: crossing?.frame.bytes.count ?? bytes.count)
        let isPaced = self.pieceGap > .zero && size != nil
        if isPaced, self.now < self.connections[index][way].nextPieceAt { return false }
        var count = min(bytes.count, self.allowance(index, way, due))
        guard count > 0 else { return false }
        if isPaced, let size {
            count = min(count, size)
            self.connections[index][way].nextPieceAt = self.now + self.pieceGap
        }
        if isBroken { actions.append(.broken(number, way, Array(bytes.prefix(count)))) }
        let isWhole = count == bytes.count
        if isWhole, let crossing { self.tell(crossing, number, way, &actions) }
        var rest = bytes.prefix(count)
        while !rest.isEmpty {
            actions.append(.deliver(number, way, Array(rest.prefix(size ?? count))))
            rest = rest.dropFirst(size ?? count)
        }
        if isWhole {
            self.connections[index][way].removeFirst()
        } else {
            self.connections[index][way].shortenFirst(by: count)
        }
        return isWhole
    }

    /// Not more pieces of a frame than this, however small they are to be.
    private static let piecesMax = 4_096

    /// The size of the pieces in which so many bytes arrive; nil if they arrive whole.
    private func sliceBytes(_ way: Way, of byteCount: Int) -> Int? {
        var size = Int.max
        for fault in self.faults where fault.acts(on: way) {
            if case .slice(let bytes) = fault.fault.kind { size = min(size, max(1, bytes)) }
        }
        return size == .max ? nil : max(size, byteCount / Self.piecesMax)
    }

    /// Whether bytes of this way arrive slowly, so that their sender has to wait.
    func isSlow(_ way: Way) -> Bool {
        self.rate(way) != nil || self.pieceGap > .zero && self.sliceBytes(way, of: 0) != nil
    }

    func rate(_ way: Way) -> (bytes: Int, since: Instant)? {
        var rate: (bytes: Int, since: Instant)?
        for fault in self.faults where fault.acts(on: way) {
            guard case .throttle(let bytes) = fault.fault.kind, let begun = fault.begun else { continue }
            if rate.map({ bytes < $0.bytes }) ?? true { rate = (min(max(1, bytes), 1_000_000_000), begun) }
        }
        return rate
    }

    /// How many bytes of a lane may arrive now. Counts them as arrived.
    private mutating func allowance(_ index: Int, _ way: Way, _ due: Instant) -> Int {
        guard let rate = self.rate(way), case .bytes(let bytes, _)? = self.connections[index][way].first?.item
        else { return .max }
        let credit = max(self.connections[index][way].credit, due, rate.since)
        let passed = min((self.now - credit).nanoseconds, 1_000_000_000)
        let count = min(bytes.count, Int(passed) * rate.bytes / 1_000_000_000)
        self.connections[index][way].credit =
            credit + .nanoseconds((count * 1_000_000_000 + rate.bytes - 1) / rate.bytes)
        return count
    }

    /// When the next bytes of a throttled lane may arrive: some at a time.
    private func nextAllowance(_ connection: Connection, _ way: Way, _ due: Instant) -> Instant {
        let due = max(due, self.isSlow(way) ? connection[way].nextPieceAt : due)
        guard let rate = self.rate(way), case .bytes(let bytes, _)? = connection[way].first?.item else {
            return due
        }
        let count = min(bytes.count, max(1, rate.bytes / 20))
        return max(connection[way].credit, due, rate.since)
            + .nanoseconds((count * 1_000_000_000 + rate.bytes - 1) / rate.bytes)
    }

    // MARK: Cutting

    /// A fault happens to a connection: at once, or at this place of a lane, where everything before it has arrived.
    mutating func act(_ fault: Int, _ number: Int, in lane: Way? = nil, _ actions: inout [Action]) {
        let active = self.faults[fault]
        if active.begun == nil {
            self.faults[fault].begun = self.now
            self.faults[fault].endsAt = active.fault.duration.map { self.now + $0 }
        }
        switch active.fault.kind {
        case .stall: return self.note(active.fault, "nothing is read", &actions)
        case .cut(.reset):
            self.note(active.fault, "the connection is reset", &actions)
            if let index = self.index(of: number) { self.reset(index, &actions) }
        case .cut(.finished):
            self.note(active.fault, "the connection is closed", &actions)
            for way in Way.allCases { self.close(number, way, isHere: way == lane, &actions) }
        case .halfClose:
            self.note(active.fault, "no more follows", &actions)
            for way in Way.allCases where active.fault.ways.contains(way) {
                self.close(number, way, isHere: way == lane, &actions)
            }
        default: break
        }
        self.count(fault)
        // For the next time.
        self.faults[fault].isPlaced = false
        self.faults[fault].matches = 0
        if active.fault.trigger != nil || active.fault.atByte != nil { self.faults[fault].begun = nil }
    }

    /// Ends a way: at this place, so that what is behind it does not arrive, or behind everything that was sent.
    private mutating func close(_ number: Int, _ way: Way, isHere: Bool, _ actions: inout [Action]) {
        guard let index = self.index(of: number) else { return }
        guard isHere else { return self.end(index, way, &actions) }
        self.lose(index, way, &actions)
        self.connections[index][way].state = .ended
        actions.append(.end(number, way, .finished))
    }

    mutating func reset(_ index: Int, _ actions: inout [Action]) {
        let number = self.connections[index].number
        for way in Way.allCases {
            self.lose(index, way, &actions)
            if self.connections[index][way].state != .ended { actions.append(.end(number, way, .reset)) }
        }
        self.connections.remove(at: index)
    }

    private mutating func lose(_ index: Int, _ way: Way, _ actions: inout [Action]) {
        let lost = self.connections[index][way].clear()
        for var crossing in lost.crossings {
            crossing.delivery = .dropped
            self.tell(crossing, self.connections[index].number, way, &actions)
        }
        for fault in self.faults.indices where lost.acts.contains(self.faults[fault].number) {
            (self.faults[fault].isPlaced, self.faults[fault].matches) = (false, 0)
        }
    }

    // MARK: Time

    /// When to hand in `deadlineReached`.
    package var deadline: Instant? {
        var deadline: Instant?
        func consider(_ instant: Instant?) {
            guard let instant else { return }
            deadline = min(deadline ?? instant, instant)
        }
        for fault in self.faults {
            consider(fault.endsAt)
            consider(fault.nextAt)
        }
        for connection in self.connections {
            for way in Way.allCases where !self.isStalled(way) {
                consider(connection[way].held?.until)
                guard let (due, item) = connection[way].first else { continue }
                if case .end = item, self.isLosing(way), connection[way.opposite].state == .open { continue }
                consider(self.nextAllowance(connection, way, due))
            }
        }
        return deadline
    }
}

extension Way {
    fileprivate var opposite: Way { self == .toGateway ? .toPeer : .toGateway }
}
