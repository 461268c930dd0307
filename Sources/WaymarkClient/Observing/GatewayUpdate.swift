public import Foundation
internal import WaymarkProtocol

/// Something that an observer was told, in the order in which it happened.
///
/// At most 1 024 updates, with frames of 16 MiB, are queued for a reader; beyond that the oldest are dropped and
/// ``Content/missed(_:)`` tells how many.
public struct GatewayUpdate: Sendable, Hashable {
    /// The content of an update.
    public enum Content: Sendable, Hashable {
        /// Something happened.
        case event(GatewayEvent)
        /// A frame crossed.
        case frame(ObservedFrame)
        /// The gateway dropped so many entries, because this program reads too slowly. ``synchronized(_:)`` follows.
        case dropped(UInt64)
        /// The whole state. Each reader begins with it; it comes again after entries were dropped or if the gateway no longer knew this
        /// observer. What happened in between is not known.
        case synchronized(GatewaySnapshot)
        /// The number of updates that were dropped here because the reader was too slow.
        case missed(Int)
    }

    /// The number of the entry, in the order of the gateway; the frames of one entry have the same number.
    public let number: UInt64
    /// The time at which it happened, by this computer's clock.
    public let time: Date
    /// The content of the update.
    public let content: Content
}

extension GatewayUpdate: FeedElement {
    static var queuedMax: Int { 1_024 }
    static var queuedBytesMax: Int { 16 * 1_048_576 }

    var byteCount: Int { if case .frame(let frame) = self.content { frame.bytes.count } else { 0 } }

    func replaces(_ older: GatewayUpdate) -> Bool { false }

    static func missed(_ count: Int, before next: GatewayUpdate) -> GatewayUpdate? {
        GatewayUpdate(number: next.number, time: next.time, content: .missed(count))
    }
}

/// Turns instants of a gateway's clock into dates of this computer's.
struct GatewayClock: Sendable, Hashable {
    private var instant = Instant(nanoseconds: 0)
    private var date = Date(timeIntervalSince1970: 0)

    /// A message that the gateway wrote at `instant` has arrived.
    mutating func set(_ instant: Instant, arrived date: Date) {
        self.instant = instant
        self.date = date
    }

    /// Something that had happened at `instant` has arrived: it is not in the future.
    mutating func correct(_ instant: Instant, arrived date: Date) {
        if self.date(of: instant) > date { self.set(instant, arrived: date) }
    }

    func date(of instant: Instant) -> Date {
        self.date.addingTimeInterval(Double((instant - self.instant).nanoseconds) / 1e9)
    }
}
