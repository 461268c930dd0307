package import WaymarkProtocol

/// What waits to be written to one endpoint: newest states, all events, in the publisher's order, within a bound.
package struct Outbox: Sendable, Hashable {
    package struct Limits: Sendable, Hashable {
        /// Frames waiting, in bytes. Over it the endpoint is closed: events are never dropped.
        package var bytesMax = 4_194_304
        /// An endpoint that takes nothing for this long while something waits is closed.
        package var slowConsumerTimeout: Duration = .seconds(30)

        package init() {}
    }

    /// Whether a frame was taken.
    package enum Verdict: Sendable, Hashable {
        case queued
        /// Over ``Limits/bytesMax`` even after conflation.
        case overflow
    }

    package let limits: Limits
    package var isEmpty: Bool { true }
    /// Bytes waiting.
    package var byteCount: Int { 0 }

    package init(limits: Limits) { self.limits = limits }

    /// Puts a frame at the end; a state takes the place of an older waiting value of the same session and key.
    package mutating func append(_ frame: Frame, key: ConflationKey?) -> Verdict { .queued }

    /// Takes frames from the front to write them: at least one if there is one, then as many as fit `byteCount`.
    package mutating func take(byteCount: Int) -> [Frame] { [] }

    /// Drops what waits of a session.
    package mutating func purge(_ session: SessionID) {}
}
