/// The difference from its recording that a replay may have because of time.
package struct ReplayTolerance: Sendable, Hashable {
    /// Ages and deadlines by a tenth of a second.
    package static let virtual = ReplayTolerance(milliseconds: 100, acknowledgement: .zero)
    /// The same for a recording of a gateway with a clock of its own, whose timers had another phase.
    package static let observed = ReplayTolerance(milliseconds: 100, acknowledgement: acknowledgementMax)
    /// A gateway acknowledges after half a second; a busy one later.
    package static let acknowledgementMax = Duration.milliseconds(1_500)

    /// The tolerance of ages and deadlines; nil: they are not compared.
    package let milliseconds: Int64?
    /// Acknowledgements that came less than this before the end of their session need not come, by the recording's time.
    package let acknowledgement: Duration

    package init(milliseconds: Int64?, acknowledgement: Duration) {
        (self.milliseconds, self.acknowledgement) = (milliseconds, acknowledgement)
    }

    /// The other value if the first is near enough to it.
    func near(_ value: UInt32?, _ other: UInt32?) -> UInt32? {
        guard let value, let other else { return value }
        guard let milliseconds else { return other }
        return abs(Int64(value) - Int64(other)) <= milliseconds ? other : value
    }
}
