internal import WaymarkGateway
internal import WaymarkProtocol

/// An outbox on the heap while anything waits in it: most connections never have anything that waits.
struct BoxedOutbox: Sendable {
    @BoxedIfCustom private(set) var limits: Outbox.Limits
    /// The outbox, or none.
    private var box: [Outbox] = []
    /// States that newer ones replaced while they waited, in the outboxes before this one.
    private var pastConflatedCount: UInt64 = 0

    init(limits: Outbox.Limits) { self._limits = BoxedIfCustom(wrappedValue: limits) }

    var isEmpty: Bool { self.box.first?.isEmpty ?? true }
    /// Bytes that wait, as ``Outbox`` counts them.
    var byteCount: Int { self.box.first?.byteCount ?? 0 }
    /// The waiting frames, in order; a state with its key.
    var waiting: [Outbox.Waiting] { self.box.first?.waiting ?? [] }
    /// States that newer ones replaced while they waited.
    var conflatedCount: UInt64 { self.pastConflatedCount + (self.box.first?.conflatedCount ?? 0) }

    /// Changes the outbox, and gives its memory back once nothing waits.
    mutating func change<Result>(_ body: (inout Outbox) -> Result) -> Result {
        if self.box.isEmpty { self.box.append(Outbox(limits: self.limits)) }
        let result = body(&self.box[0])
        if self.box[0].isEmpty {
            self.pastConflatedCount += self.box[0].conflatedCount
            self.box = []
        }
        return result
    }
}
