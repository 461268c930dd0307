package import WaymarkHistory
package import WaymarkProtocol

/// The connections of one peer under faults: between two pipes in virtual time, between two sockets in a proxy.
///
/// A value without clock and I/O. Bytes go in, in pieces of any size; frames are found among them, and what of them arrives comes out,
/// in order. Without faults everything arrives at once. Its driver numbers the connections, reads only what ``mayRead(_:_:)``
/// allows, and calls ``handle(_:at:into:)`` with `deadlineReached` at ``deadline``.
package struct LinkFaults: Sendable {
    package enum Event: Sendable {
        /// The peer opens a connection; answered by `accept` or `refuse`.
        case opened(Int)
        case bytes(Int, Way, [UInt8])
        /// The sender of this way has closed it.
        case ended(Int, Way, LinkFault.Ending)
        case deadlineReached
    }

    package enum Action: Sendable {
        case accept(Int)
        case refuse(Int)
        /// The bytes are a read of their own.
        case deliver(Int, Way, [UInt8])
        /// What became of a frame. Comes before its last byte is delivered.
        case frame(Int, CrossedFrame)
        /// Bytes that are no frame come next.
        case broken(Int, Way, [UInt8])
        /// The receiver of this way reads its end; with `reset` nothing more crosses the connection.
        case end(Int, Way, LinkFault.Ending)
        case note(FaultRecord)
    }

    /// A connection is not read while so many bytes of it are under way.
    package static let bytesMax = 16_777_216
    private static let throttledBytesMax = 65_536
    /// At most so many faults at a time: one more replaces the oldest.
    package static let faultsMax = 256

    package let peer: PeerID
    /// The time between two pieces of a sliced frame. Sockets join pieces that follow each other at once.
    let pieceGap: Duration
    /// Whether there is a `frame` action for every frame. Without it frames are not decoded.
    package var tellsFrames = true
    var random: SeededRandom
    var faults: [Active] = []
    var nextFault = 0
    /// In the order of opening.
    var connections: [Connection] = []
    var now = Instant(nanoseconds: 0)

    /// A link without faults. `seed` decides what is random.
    package init(_ peer: PeerID, seed: UInt64, pieceGap: Duration = .zero) {
        (self.peer, self.pieceGap) = (peer, pieceGap)
        self.random = SeededRandom(seed: seed)
    }

    struct Connection: Sendable {
        let number: Int
        var toGateway = LinkQueue()
        var toPeer = LinkQueue()

        /// Nothing is under way, and it is not over.
        var isIdle: Bool {
            self.toGateway.isIdle && self.toPeer.isIdle
                && (self.toGateway.state != .ended || self.toPeer.state != .ended)
        }

        subscript(_ way: Way) -> LinkQueue {
            get { way == .toGateway ? self.toGateway : self.toPeer }
            // Why not `set`: it would copy what waits in the lane with each change.
            _modify {
                if way == .toGateway { yield &self.toGateway } else { yield &self.toPeer }
            }
        }
    }

    /// A fault that was set.
    struct Active: Sendable {
        let number: Int
        let fault: LinkFault
        /// nil: without limit.
        var timesLeft: Int?
        var matches = 0
        /// nil: it waits for its frame, or for its place in a queue.
        var begun: Instant?
        var endsAt: Instant?
        /// Its place in a queue is decided.
        var isPlaced = false
        /// Of chaos: when the next fault begins.
        var nextAt: Instant?

        var isActing: Bool { self.begun != nil && self.timesLeft != 0 }
        /// What it does to frames, or to everything, on this way.
        func acts(on way: Way) -> Bool { self.isActing && self.fault.ways.contains(way) }
    }

    // MARK: Faults

    /// What a fault does that was begun and is not over.
    package enum Stage: Sendable, Hashable { case waiting, acting }

    /// Where the fault of a number is; nil once it is over.
    package func stage(of number: Int) -> Stage? {
        self.faults.first { $0.number == number && $0.timesLeft != 0 }.map {
            $0.isActing ? .acting : .waiting
        }
    }

    /// Whether a fault acts or waits for its frame.
    package var hasFaults: Bool { !self.faults.isEmpty }

    /// Begins a fault, or waits for its trigger.
    ///
    /// - Returns: Its number, for ``clear(_:at:into:)``.
    @discardableResult
    package mutating func begin(_ fault: LinkFault, at now: Instant, into actions: inout [Action]) -> Int {
        self.now = now
        self.nextFault += 1
        if self.faults.count == Self.faultsMax { self.faults.removeFirst() }
        self.faults.append(
            Active(
                number: self.nextFault, fault: fault, timesLeft: fault.times ?? fault.kind.timesByDefault))
        let index = self.faults.count - 1
        if fault.trigger == nil, fault.atByte == nil || !fault.kind.isAct { self.start(index, &actions) }
        self.flush(&actions)
        return self.nextFault
    }

    /// Ends a fault: what it held back arrives.
    package mutating func clear(_ number: Int, at now: Instant, into actions: inout [Action]) {
        self.now = now
        self.faults.removeAll { $0.number == number }
        self.flush(&actions)
    }

    /// Ends all faults.
    package mutating func clearAll(at now: Instant, into actions: inout [Action]) {
        self.now = now
        self.faults = []
        self.flush(&actions)
    }

    mutating func start(_ index: Int, _ actions: inout [Action]) {
        let fault = self.faults[index].fault
        self.faults[index].begun = self.now
        self.faults[index].endsAt = fault.duration.map { self.now + $0 }
        switch fault.kind {
        case .delay(let time): self.note(fault, "every frame is \(Self.text(time)) late", &actions)
        case .jitter(let time): self.note(fault, "frames are up to \(Self.text(time)) late", &actions)
        case .throttle(let rate): self.note(fault, "\(rate) bytes a second", &actions)
        case .slice(let count): self.note(fault, "pieces of \(count) bytes", &actions)
        case .stall: self.note(fault, "nothing is read", &actions)
        case .blackhole: self.note(fault, "everything is lost", &actions)
        case .chaos(let every, _):
            self.faults[index].nextAt = self.now + every * self.exponential()
            self.note(fault, "a fault every \(Self.text(every)) on average", &actions)
        case .cut, .halfClose:
            if fault.trigger == nil, fault.atByte == nil {
                for connection in self.connections { self.act(index, connection.number, &actions) }
            }
        case .drop, .duplicate, .reorder, .corrupt, .refuse: break
        }
    }

    func note(_ fault: LinkFault, _ text: String, _ actions: inout [Action]) {
        let direction =
            fault.ways.count == 1
            ? fault.ways.contains(.toPeer) ? ", towards the peer" : ", towards the gateway" : ""
        actions.append(.note(FaultRecord(fault.kind.name.rawValue, of: self.peer, text + direction)))
    }

    private static func text(_ duration: Duration) -> String { "\(duration.milliseconds) ms" }

    /// The fault acted once more.
    mutating func count(_ index: Int) {
        guard let left = self.faults[index].timesLeft else { return }
        self.faults[index].timesLeft = max(0, left - 1)
    }

    private mutating func forgetEnded() {
        self.faults.removeAll { fault in
            fault.timesLeft == 0 || fault.endsAt.map { $0 <= self.now } ?? false
        }
    }

    // MARK: Events

    /// Whether a way of a connection may be read on.
    package func mayRead(_ number: Int, _ way: Way) -> Bool {
        guard let connection = self.connections.first(where: { $0.number == number }) else { return true }
        let bytesMax = self.isSlow(way) ? Self.throttledBytesMax : Self.bytesMax
        return connection[way].byteCount < bytesMax && !self.isStalled(way)
    }

    /// How many bytes complete the frame that is being read, or its header; nil if the bytes are no frames.
    package func bytesWanted(_ number: Int, _ way: Way) -> Int? {
        guard let index = self.index(of: number), !self.connections[index][way].isBroken else { return nil }
        let rest = self.connections[index][way].splitter.rest
        guard rest.count >= FrameHeader.byteCount else { return FrameHeader.byteCount - rest.count }
        return FrameHeader(at: 0, of: rest).frameByteCount - rest.count
    }

    /// A part of a frame was read.
    package func isMidFrame(_ number: Int, _ way: Way) -> Bool {
        self.index(of: number).map { !self.connections[$0][way].splitter.isEmpty } ?? false
    }

    func isStalled(_ way: Way) -> Bool {
        self.faults.contains { if case .stall = $0.fault.kind { $0.acts(on: way) } else { false } }
    }

    func isLosing(_ way: Way) -> Bool {
        self.faults.contains { if case .blackhole = $0.fault.kind { $0.acts(on: way) } else { false } }
    }

    /// Processes an event, and appends what arrives.
    package mutating func handle(_ event: Event, at now: Instant, into actions: inout [Action]) {
        self.now = now
        switch event {
        case .opened(let number): self.open(number, &actions)
        case .bytes(let number, let way, let bytes):
            guard let index = self.index(of: number) else { return }
            self.read(bytes, index, way, &actions)
        case .ended(let number, let way, let ending):
            guard let index = self.index(of: number) else { return }
            if ending == .reset { return self.reset(index, &actions) }
            self.end(index, way, &actions)
        case .deadlineReached: self.runChaos(&actions)
        }
        self.forgetEnded()
        self.flush(&actions)
    }

    func index(of number: Int) -> Int? { self.connections.firstIndex { $0.number == number } }

    private mutating func open(_ number: Int, _ actions: inout [Action]) {
        for index in self.faults.indices {
            guard case .refuse = self.faults[index].fault.kind, self.faults[index].isActing else { continue }
            self.count(index)
            self.note(self.faults[index].fault, "the connection is refused", &actions)
            actions.append(.refuse(number))
            return
        }
        self.connections.append(Connection(number: number))
        actions.append(.accept(number))
        for index in self.faults.indices {
            switch self.faults[index].fault.kind {
            case .cut, .halfClose:
                if self.faults[index].isActing, self.faults[index].fault.trigger == nil,
                    self.faults[index].fault.atByte == nil
                {
                    self.act(index, number, &actions)
                }
            default: break
            }
        }
    }

    mutating func end(_ index: Int, _ way: Way, _ actions: inout [Action]) {
        guard self.connections[index][way].state == .open else { return }
        self.connections[index][way].state = .ending
        self.releaseHeld(index, way)
        let rest = self.connections[index][way].splitter.rest
        if !rest.isEmpty, !self.connections[index][way].isBroken {
            self.connections[index][way].append(.broken(rest[...]), due: self.now)
        }
        self.connections[index][way].append(.end, due: self.now)
    }

    // MARK: Frames

    private mutating func read(_ bytes: [UInt8], _ index: Int, _ way: Way, _ actions: inout [Action]) {
        guard self.connections[index][way].state == .open else { return }
        guard !self.connections[index][way].isBroken else { return self.passBroken(bytes, index, way) }
        self.connections[index][way].splitter.append(bytes)
        while true {
            let before = self.connections[index][way].splitter
            do throws(FramingError) {
                guard let frame = try self.connections[index][way].splitter.next() else { return }
                self.pass(frame.compacted(), index, way, &actions)
            } catch {
                // The receiver says what is wrong with them.
                self.connections[index][way].isBroken = true
                self.releaseHeld(index, way)
                return self.passBroken(before.rest, index, way)
            }
        }
    }

    private mutating func passBroken(_ bytes: [UInt8], _ index: Int, _ way: Way) {
        guard !self.isLosing(way) else { return }
        self.connections[index][way].append(.broken(bytes[...]), due: self.now)
    }

    /// Decides what becomes of a frame.
    private mutating func pass(_ frame: Frame, _ index: Int, _ way: Way, _ actions: inout [Action]) {
        guard !self.faults.isEmpty else {
            let crossing = LinkQueue.Crossing(frame: frame, sent: self.now)
            return self.connections[index][way].append(
                .bytes(frame.bytes, completes: crossing), due: self.now)
        }
        let places = self.startTriggered(by: frame, way, &actions)
        var crossing = LinkQueue.Crossing(frame: frame, sent: self.now)
        guard !self.isLosing(way) else {
            crossing.delivery = .dropped
            return self.tell(crossing, self.connections[index].number, way, &actions)
        }
        var delay = Duration.zero
        var (copies, isHeld) = (1, false)
        for fault in self.faults.indices where self.faults[fault].acts(on: way) {
            switch self.faults[fault].fault.kind {
            case .delay(let time): delay += time
            case .jitter(let time): delay += time * Double(self.random.number(0...1_000_000)) / 1_000_000
            case .drop:
                self.note(self.faults[fault].fault, "\(Self.name(frame)) is lost", &actions)
                crossing.delivery = .dropped
            case .duplicate:
                self.note(self.faults[fault].fault, "\(Self.name(frame)) arrives twice", &actions)
                copies = 2
            case .corrupt:
                self.note(self.faults[fault].fault, "a bit of \(Self.name(frame)) is flipped", &actions)
                crossing.delivery = .corrupted
                crossing.corruptedByte = self.faults[fault].fault.atByte
            case .reorder:
                if self.connections[index][way].held == nil { isHeld = true } else { continue }
            case .throttle, .slice, .stall, .cut, .halfClose, .refuse, .blackhole, .chaos: continue
            }
            self.count(fault)
            if crossing.delivery == .dropped {
                return self.tell(crossing, self.connections[index].number, way, &actions)
            }
        }
        if isHeld, self.connections[index][way].held == nil {
            self.connections[index][way].held = (crossing, self.now + LinkQueue.reorderMax)
            self.note(
                LinkFault(.reorder, ways: [way]), "\(Self.name(frame)) waits for the next frame", &actions)
            return
        }
        for _ in 0..<copies { self.append(crossing, places, index, way, due: self.now + delay) }
        self.releaseHeld(index, way)
    }

    /// Starts the faults whose frame this is.
    ///
    /// - Returns: The faults that have their place in this frame or behind it, with the number of bytes before it.
    private mutating func startTriggered(
        by frame: Frame, _ way: Way, _ actions: inout [Action]
    ) -> [(fault: Int, byte: Int)] {
        var places: [(fault: Int, byte: Int)] = []
        for index in self.faults.indices where !self.faults[index].isPlaced && !self.faults[index].isActing {
            let fault = self.faults[index].fault
            if let trigger = fault.trigger {
                guard trigger.way ?? way == way, trigger.matches(frame) else { continue }
                self.faults[index].matches += 1
                guard self.faults[index].matches >= trigger.count else { continue }
            } else {
                guard fault.ways.contains(way), fault.atByte != nil else { continue }
            }
            guard fault.kind.isAct else {
                self.start(index, &actions)
                continue
            }
            self.faults[index].isPlaced = true
            places.append((self.faults[index].number, min(fault.atByte ?? .max, frame.bytes.count)))
        }
        return places.sorted { $0.byte < $1.byte }
    }

    private mutating func append(
        _ crossing: LinkQueue.Crossing, _ places: [(fault: Int, byte: Int)], _ index: Int, _ way: Way,
        due: Instant
    ) {
        var bytes = Array(crossing.frame.bytes)
        if crossing.delivery == .corrupted { self.corrupt(&bytes, at: crossing.corruptedByte) }
        var offset = 0
        for (fault, byte) in places {
            if byte > offset {
                let isWhole = byte == bytes.count
                self.connections[index][way].append(
                    .bytes(bytes[offset..<byte], completes: isWhole ? crossing : nil), due: due)
                offset = byte
            }
            self.connections[index][way].append(.act(fault), due: due)
        }
        guard offset < bytes.count else { return }
        self.connections[index][way].append(.bytes(bytes[offset...], completes: crossing), due: due)
    }

    private mutating func corrupt(_ bytes: inout [UInt8], at byte: Int?) {
        let place = min(byte ?? self.random.number(0...bytes.count - 1), bytes.count - 1)
        bytes[place] ^= 1 << UInt8(self.random.number(0...7))
    }

    /// The frame that waited for the next one follows.
    mutating func releaseHeld(_ index: Int, _ way: Way) {
        guard let held = self.connections[index][way].held else { return }
        self.connections[index][way].held = nil
        self.append(held.crossing, [], index, way, due: self.now)
    }

    func tell(_ crossing: LinkQueue.Crossing, _ number: Int, _ way: Way, _ actions: inout [Action]) {
        guard self.tellsFrames else { return }
        actions.append(
            .frame(
                number,
                CrossedFrame(
                    crossing.frame, of: self.peer, way, sent: crossing.sent, delivery: crossing.delivery)))
    }

    private static func name(_ frame: Frame) -> String {
        frame.header.type?.title ?? "a frame of type \(frame.header.rawType)"
    }
}
