package import WaymarkHistory
package import WaymarkProtocol

/// A fault of a link, on purpose: what happens, to which way, from when on, how often and how long.
package struct LinkFault: Sendable {
    /// How a connection ends.
    package enum Ending: Sendable, Hashable {
        /// What is under way is lost.
        case reset
        /// What was sent before still arrives.
        case finished
    }

    /// What happens.
    package enum Kind: Sendable, Hashable {
        /// Every frame arrives so much later.
        case delay(Duration)
        /// The same by a random time, up to this one. Frames keep their order.
        case jitter(Duration)
        case throttle(bytesPerSecond: Int)
        /// Frames arrive in pieces of so many bytes, each a read of its own.
        case slice(bytes: Int)
        /// Nothing is read, so that the sender's buffers fill.
        case stall
        case cut(Ending)
        case drop
        case duplicate
        /// Two frames change places. The first waits at most ``LinkQueue/reorderMax`` for the second.
        case reorder
        /// One bit of a frame is flipped.
        case corrupt
        /// One way ends as if its sender had closed it. Whatever it sends later is lost.
        case halfClose
        /// A connection is closed as soon as it is opened.
        case refuse
        /// Everything is read, and nothing arrives.
        case blackhole
        /// Faults of these kinds, at random times with this mean, at random places.
        case chaos(every: Duration, [Name])
    }

    /// The name of a kind, as scenarios use it.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case delay, jitter, throttle, slice, stall, cut, drop, duplicate, reorder, corrupt
        case halfClose = "half-close"
        case refuse, blackhole, chaos

        /// The kinds that chaos chooses from.
        package static let single = Self.allCases.filter { $0 != .chaos }
    }

    /// A frame with which a fault begins.
    package struct Trigger: Sendable {
        /// nil: both ways.
        package var way: Way?
        /// The n-th frame that matches.
        package var count: Int
        package var matches: @Sendable (Frame) -> Bool

        package init(_ way: Way? = nil, count: Int = 1, _ matches: @escaping @Sendable (Frame) -> Bool) {
            (self.way, self.count, self.matches) = (way, count, matches)
        }

        /// The n-th frame of a type.
        package init(_ type: MessageType, count: Int = 1) {
            self.init(count: count) { $0.header.rawType == type.rawValue }
        }
    }

    package var kind: Kind
    package var ways: Set<Way>
    /// nil: it begins at once. Faults of frames affect the frame of the event and those behind it; the others come behind that frame.
    package var trigger: Trigger?
    /// Of the frame of the event, or of the next one: for `stall`, `cut`, `corrupt` and `halfClose`. 0 is before its first byte.
    package var atByte: Int?
    /// So many times, then never. Default: once for `cut` and `halfClose`, else without limit.
    package var times: Int?
    /// Default: to the end of the run.
    package var duration: Duration?

    package init(
        _ kind: Kind, ways: Set<Way> = Set(Way.allCases), after trigger: Trigger? = nil, atByte: Int? = nil,
        times: Int? = nil, for duration: Duration? = nil
    ) {
        (self.kind, self.ways, self.trigger, self.atByte) = (kind, ways, trigger, atByte)
        (self.times, self.duration) = (times, duration)
    }
}

extension LinkFault.Kind {
    package var name: LinkFault.Name {
        switch self {
        case .delay: .delay
        case .jitter: .jitter
        case .throttle: .throttle
        case .slice: .slice
        case .stall: .stall
        case .cut: .cut
        case .drop: .drop
        case .duplicate: .duplicate
        case .reorder: .reorder
        case .corrupt: .corrupt
        case .halfClose: .halfClose
        case .refuse: .refuse
        case .blackhole: .blackhole
        case .chaos: .chaos
        }
    }

    /// It happens at one place of a lane, and not to frames or for a time.
    var isAct: Bool {
        switch self {
        case .cut, .halfClose, .stall: true
        default: false
        }
    }

    /// The number of times that it happens unless its fault says otherwise.
    var timesByDefault: Int? {
        switch self {
        case .cut, .halfClose: 1
        default: nil
        }
    }
}
