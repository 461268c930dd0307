internal import WaymarkProtocol

extension GatewaySession {
    /// What every frame is validated against, and what fits it.
    ///
    /// Why a class: the compiler copies a whole structure of limits to read one of them.
    final class PublishingRules: Sendable {
        let limits: GatewayLimits
        let coder: BodyCoder
        /// The work of fitting that is done at once; the rest is done by steps.
        let fittingUnitsMax: Int

        init(limits: GatewayLimits, coder: BodyCoder, fittingUnitsMax: Int) {
            self.limits = limits
            self.coder = coder
            self.fittingUnitsMax = fittingUnitsMax
        }
    }
}

// Two gateways with the same policy have equal ones.
extension GatewaySession.PublishingRules: Hashable {
    static func == (
        lhs: GatewaySession.PublishingRules, rhs: GatewaySession.PublishingRules
    ) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
