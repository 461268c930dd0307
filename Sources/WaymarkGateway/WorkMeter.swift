internal import WaymarkProtocol

/// Counts work. A unit is about what a small message to one endpoint costs: some microseconds.
///
/// It decides when the gateway works, and changes nothing that it does. So two are always equal.
package struct WorkMeter: Sendable, Hashable, Codable {
    /// Units since the process started; wraps around.
    package private(set) var units: UInt64 = 0
    /// Units of the event that cost most.
    package private(set) var unitsOfLongestEvent: UInt64 = 0

    /// Adds the cost of visiting one thing: a vehicle, an endpoint, a session, a client.
    mutating func visit(_ count: Int = 1) { self.units &+= UInt64(truncatingIfNeeded: count) }

    /// An event is handled that began at ``units`` `start`.
    mutating func endEvent(since start: UInt64) {
        self.unitsOfLongestEvent = max(self.unitsOfLongestEvent, self.units &- start)
    }

    /// Adds the cost of performing actions: two are about a unit.
    mutating func perform(_ actionCount: Int) { self.visit(actionCount / 2) }

    /// Adds the cost of sending frames to one endpoint.
    mutating func send(_ frames: [Frame]) {
        self.visit(frames.count / 8 + frames.reduce(0) { $0 + $1.bytes.count } / Self.sentBytesPerUnit)
    }

    /// As many bytes are sent to one endpoint in the time of one unit.
    private static let sentBytesPerUnit = 16_384

    /// The cost of finding which elements of a route are in so many slots.
    static func units(ofSlots slotCount: Int) -> Int { min(slotCount, 16_384) / Self.slotsPerUnit }

    private static let slotsPerUnit = 256

    /// The cost of decoding, fitting or encoding bytes.
    static func units(ofFitted byteCount: Int) -> Int { 1 + byteCount / Self.fittedBytesPerUnit }

    /// As many bytes are decoded, fitted or encoded in the time of one unit.
    private static let fittedBytesPerUnit = 256

    package static func == (lhs: WorkMeter, rhs: WorkMeter) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
