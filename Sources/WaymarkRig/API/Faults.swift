internal import WaymarkConfiguration
internal import WaymarkProtocol
internal import WaymarkScenario

extension Rig {
    /// A fault of a connection.
    public struct Fault: Sendable, Hashable {
        fileprivate let kind: Scenario.Fault.Kind
        fileprivate var by = Duration.zero
        fileprivate var bytesPerSecond = 0
        fileprivate var bytes = 0
        fileprivate var ending = Scenario.Fault.CutEnding.rst
        fileprivate var every = Duration.zero
        fileprivate var kinds: [Scenario.Fault.Kind] = []

        private init(_ kind: Scenario.Fault.Kind) { self.kind = kind }

        private init(_ kind: Scenario.Fault.Kind, _ change: (inout Fault) -> Void) {
            self.kind = kind
            change(&self)
        }

        /// A delay: everything arrives later by `duration`.
        public static func delay(by duration: Duration) -> Fault { Fault(.delay) { $0.by = duration } }
        /// A random delay: everything arrives later by up to `duration`, and in order.
        public static func jitter(upTo duration: Duration) -> Fault { Fault(.jitter) { $0.by = duration } }
        /// A limit of `bytesPerSecond` bytes a second, 1 to 2 147 483 647.
        public static func throttle(bytesPerSecond: Int) -> Fault {
            Fault(.throttle) { $0.bytesPerSecond = bytesPerSecond }
        }
        /// A slicing of the bytes into pieces of at most `bytes`, 1 to 65 536.
        public static func slice(bytes: Int) -> Fault { Fault(.slice) { $0.bytes = bytes } }
        /// A stall: nothing is read, so that the sender's buffers fill.
        public static let stall = Fault(.stall)
        /// A cut: the connection breaks.
        public static func cut(_ ending: CutEnding = .reset) -> Fault {
            Fault(.cut) { $0.ending = ending == .reset ? .rst : .fin }
        }
        /// A loss of frames.
        public static let drop = Fault(.drop)
        /// A duplication: frames arrive twice.
        public static let duplicate = Fault(.duplicate)
        /// A change of order: a frame arrives after the next one.
        public static let reorder = Fault(.reorder)
        /// A corruption: a bit is flipped.
        public static let corrupt = Fault(.corrupt)
        /// A half-close: one way ends, the other goes on.
        public static let halfClose = Fault(.halfClose)
        /// A refusal of new connections.
        public static let refuse = Fault(.refuse)
        /// A black hole: everything is read, and nothing arrives.
        public static let blackhole = Fault(.blackhole)
        /// Faults at random times. It needs a duration.
        ///
        /// - Parameters:
        ///   - interval: The mean time between two.
        ///   - faults: Which kinds; none: all. Their own values do not count.
        /// - Returns: The fault.
        public static func chaos(every interval: Duration, _ faults: [Fault] = []) -> Fault {
            Fault(.chaos) { ($0.every, $0.kinds) = (interval, faults.map(\.kind)) }
        }
    }

    /// The way in which a connection breaks.
    public enum CutEnding: Sendable, Hashable, CaseIterable {
        /// A reset, at once; what is under way is lost.
        case reset
        /// An end that comes after what was sent.
        case finished
    }

    /// The direction of what is disturbed.
    public enum Towards: Sendable, Hashable, CaseIterable {
        /// The traffic that the peer sends.
        case gateway
        /// The traffic that the peer gets.
        case peer
        /// The traffic of both directions.
        case both
    }

    /// Disturbs a connection from now on, or from an event on.
    ///
    /// - Parameters:
    ///   - fault: What happens to it.
    ///   - peer: Whose connection: of a vehicle those of all its endpoints; nil: those of all peers.
    ///   - towards: In which direction.
    ///   - event: When it begins; nil: now. A message of this peer: exactly with this frame.
    ///   - atByte: For `cut`, `stall`, `corrupt`, `halfClose`: the byte of the frame, 0 to 16 777 216; 0 is before its first one.
    ///   - times: So many times, then never, 1 to 65 536; nil: until it ends.
    ///   - duration: nil: to the end of the run.
    /// - Throws: ``RigError`` for a wrong argument.
    public func begin(
        _ fault: Fault, of peer: (any Peer)? = nil, towards: Towards = .both, after event: Event? = nil,
        atByte: Int? = nil, times: Int? = nil, for duration: Duration? = nil
    ) async throws {
        try Self.check(fault, atByte, times, duration)
        var selector: PeerSelector?
        if let peer { selector = try self.selector(peer.name) }
        let location = SourceLocation(file: "", line: 0, column: 0)
        var begun = Scenario.Fault(target: .link(selector, fault.kind), location: location)
        begun.towards =
            switch towards {
            case .gateway: .gateway
            case .peer: .peer
            case .both: .both
            }
        (begun.by, begun.bytesPerSecond, begun.bytes) = (fault.by, fault.bytesPerSecond, fault.bytes)
        (begun.ending, begun.every, begun.kinds) = (fault.ending, fault.every, fault.kinds)
        (begun.atByte, begun.times, begun.duration) = (atByte, times, duration)
        let engine = try self.engine()
        if let event {
            let subject = event.subject == nil ? selector : nil
            begun.after = try self.resolve(event, subject, at: location)
        }
        try engine.begin(begun)
    }

    private static func check(
        _ fault: Fault, _ atByte: Int?, _ times: Int?, _ duration: Duration?
    ) throws(RigError) {
        try Check.duration(fault.by, "by")
        try Check.duration(duration, "duration")
        try Check.number(atByte, "atByte", 0...16_777_216)
        try Check.number(times, "times", 1...65_536)
        switch fault.kind {
        case .throttle: try Check.number(fault.bytesPerSecond, "bytesPerSecond", 1...Int(Int32.max))
        case .slice: try Check.number(fault.bytes, "bytes", 1...65_536)
        case .chaos:
            try Check.duration(fault.every, "every", isPositive: true)
            if duration == nil { throw RigError("duration", "chaos needs one") }
            if fault.kinds.contains(.chaos) { throw RigError("faults", "chaos cannot contain chaos") }
        default: break
        }
        if atByte != nil, ![.cut, .stall, .corrupt, .halfClose].contains(fault.kind) {
            throw RigError("atByte", "\(fault.kind.rawValue) has none")
        }
    }

    /// Kills the gateway: it dies without a word, and starts again as another one.
    ///
    /// - Parameter duration: How long it is gone; nil: to the end of the run.
    /// - Throws: ``RigError`` for a wrong duration.
    public func killGateway(for duration: Duration? = nil) async throws { try self.begin(.kill, duration) }

    /// Stops the gateway: it stands still, and then continues.
    ///
    /// - Parameter duration: nil: to the end of the run.
    /// - Throws: ``RigError`` for a wrong duration.
    public func stopGateway(for duration: Duration? = nil) async throws { try self.begin(.stop, duration) }

    /// Restarts the gateway: it hands its connections over to a new process, as at an upgrade.
    public func restartGateway() async throws { try self.begin(.restart, nil) }

    private func begin(_ kind: Scenario.Fault.GatewayFault, _ duration: Duration?) throws(RigError) {
        try Check.duration(duration, "duration")
        let location = SourceLocation(file: "", line: 0, column: 0)
        var fault = Scenario.Fault(target: .gateway(kind), location: location)
        fault.duration = duration
        try self.engine().begin(fault)
    }
}
