internal import WaymarkGateway
package import WaymarkProtocol

// Time: everything that the core waits for has one deadline, so that a driver needs one timer.
extension GatewayCore {
    /// The instant at which ``deadlineReached(at:)`` is due: the gateway's deadline, or the end of the observers' rest. nil for none.
    package var deadline: Instant? {
        guard let restEnd = self.pace.deadline else { return self.gatewayDeadline }
        return min(restEnd, self.gatewayDeadline ?? restEnd)
    }

    /// Hands in what is due. Plan a run: it also tells the next deadline. A call before the deadline does no harm.
    package mutating func deadlineReached(at now: Instant) {
        // The driver's timer is over.
        self.toldDeadline = nil
        self.pace.advance(to: now)
        let isGatewayDue = self.gatewayDeadline.map { $0 <= now } ?? false
        if isGatewayDue { self.gatewayDeadline = nil }
        _ = self.submit(
            isGatewayDue ? [.deadlineReached] : [], from: nil, cost: 0, isReadOver: false, at: now)
    }

    /// The deadline, unless the driver knows it.
    mutating func takeDeadline() -> Instant? {
        let deadline = self.deadline
        guard deadline != self.toldDeadline else { return nil }
        self.toldDeadline = deadline
        return deadline
    }
}
