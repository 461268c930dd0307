internal import WaymarkGateway
internal import WaymarkProtocol

/// An outbox on the heap while anything waits in it: most connections never have anything that waits.
struct BoxedOutbox: Sendable {
    // Why unchecked: it is changed only while nothing else refers to it.
    private final class Box: @unchecked Sendable {
        var outbox: Outbox
        init(_ outbox: Outbox) { self.outbox = outbox }
    }

    @BoxedIfCustom private(set) var limits: Outbox.Limits
    private var box: Box?
    /// States that newer ones replaced while they waited, in the outboxes before this one.
    private var pastConflatedCount: UInt64 = 0

    init(limits: Outbox.Limits) { self._limits = BoxedIfCustom(wrappedValue: limits) }

    var isEmpty: Bool { self.box?.outbox.isEmpty ?? true }
    /// Bytes that wait, as ``Outbox`` counts them.
    var byteCount: Int { self.box?.outbox.byteCount ?? 0 }
    /// The waiting frames, in order; a state with its key.
    var waiting: [Outbox.Waiting] { self.box?.outbox.waiting ?? [] }
    /// States that newer ones replaced while they waited.
    var conflatedCount: UInt64 { self.pastConflatedCount + (self.box?.outbox.conflatedCount ?? 0) }

    /// Changes the outbox, and gives its memory back once nothing waits.
    mutating func change<Result>(_ body: (inout Outbox) -> Result) -> Result {
        var box = self.box ?? Box(Outbox(limits: self.limits))
        self.box = nil
        if !isKnownUniquelyReferenced(&box) { box = Box(box.outbox) }
        let result = body(&box.outbox)
        if box.outbox.isEmpty {
            self.pastConflatedCount += box.outbox.conflatedCount
        } else {
            self.box = box
        }
        return result
    }
}
