internal import WaymarkProtocol

/// The publications that a client keeps until the gateway has acknowledged them, and the checks of what it acknowledges.
struct AcknowledgedBuffer {
    /// Sent and not acknowledged, oldest first.
    private(set) var kept: [SimulatedApp.Published] = []
    /// The last number that was acknowledged.
    private(set) var last: UInt64 = 0
    /// The last number that was sent.
    private var sent: UInt64 = 0

    /// A publication was sent that uses up its number.
    mutating func keep(_ published: SimulatedApp.Published) {
        self.kept.append(published)
        self.sent = published.sequence
    }

    /// The gateway has acknowledged a number; errors that are awaited have not arrived.
    ///
    /// - Returns: The promise that this breaks, and why; nil if it is right.
    mutating func acknowledge(
        _ sequence: UInt64, awaiting awaited: [SimulatedApp.Refusal]
    ) -> (Promise, String)? {
        if sequence <= self.last {
            return (.acknowledgedStays, "\(sequence) is acknowledged after \(self.last)")
        }
        if sequence > self.sent {
            return (.acknowledgedStays, "\(sequence) is acknowledged, and \(self.sent) was sent last")
        }
        if let refusal = awaited.first(where: { $0.sequence <= sequence }) {
            return (.rejectionChangesNothing, "\(sequence) is acknowledged before the error \(refusal)")
        }
        self.last = sequence
        self.kept.removeAll { $0.sequence <= sequence }
        return nil
    }

    /// The client has resumed at a gateway that has the session up to `sequence`.
    ///
    /// - Returns: What the gateway has lost although it had acknowledged it; nil if nothing.
    mutating func resume(after sequence: UInt64) -> String? {
        defer {
            (self.last, self.sent) = (sequence, sequence)
            self.kept = []
        }
        return sequence < self.last ? "\(self.last) was acknowledged, and the gateway has \(sequence)" : nil
    }
}
