internal import WaymarkModel

extension ObservedEvent {
    /// The code as the protocol names it, e.g. `finished`; empty where it is only a number.
    package var codeName: String {
        let name: String? =
            switch ObservedKind(rawValue: self.kind) {
            case .closing: CloseCode(rawValue: self.code).map { "\($0)" }
            case .rejected: ErrorCode(rawValue: self.code).map { "\($0)" }
            case .vehiclesRefused: self.code == 0 ? "" : ErrorCode(rawValue: self.code).map { "\($0)" }
            case .left, .sessionEnded: SessionEndReason(rawValue: self.code).map { "\($0)" }
            case .paused: PauseReason(rawValue: self.code).name
            case .requestEnded: Outcome(rawValue: self.code).map { "\($0)" }
            case .admitted, .resumed, .departed, .helloRefused, .sessionOpened, .joined, .started,
                .continued, .rerouted, .suspended, .restored, .stopRequested, .driveRequested,
                .startRequested, nil:
                ""
            }
        return name ?? "\(self.code)"
    }
}
