internal import WaymarkGateway
internal import WaymarkModel
internal import WaymarkProtocol

extension Gateway.Note {
    /// The event that observers are told.
    var observed: ObservedEvent {
        var event: ObservedEvent
        switch self.turn {
        case .opened: event = ObservedEvent(.sessionOpened)
        case .refused(let code):
            event = ObservedEvent(.vehiclesRefused)
            event.code = code.rawValue
        case .guidanceRefused(let decider):
            event = ObservedEvent(.vehiclesRefused)
            event.code = ErrorCode.notAuthorized.rawValue
            event.reason = decider
        case .helloRefused(let decider):
            event = ObservedEvent(.helloRefused)
            event.reason = decider
        case .joined: event = ObservedEvent(.joined)
        case .started(let generation):
            event = ObservedEvent(.started)
            event.code = generation
        case .paused(let reason):
            event = ObservedEvent(.paused)
            event.code = reason.rawValue
        case .resumed: event = ObservedEvent(.continued)
        case .rerouted(let generation):
            event = ObservedEvent(.rerouted)
            event.code = generation
        case .suspended: event = ObservedEvent(.suspended)
        case .restored: event = ObservedEvent(.restored)
        case .left(let reason):
            event = ObservedEvent(.left)
            event.code = reason.rawValue
        case .ended(let reason):
            event = ObservedEvent(.sessionEnded)
            event.code = reason.rawValue
        case .waypointRequested(let request):
            event = ObservedEvent(.stopRequested)
            event.request = request
        case .destinationRequested(let request):
            event = ObservedEvent(.driveRequested)
            event.request = request
        case .tripRequested(let request):
            event = ObservedEvent(.startRequested)
            event.request = request
        case .requestEnded(let request, let outcome, let cause):
            event = ObservedEvent(.requestEnded)
            (event.request, event.code, event.reason) = (request, outcome.rawValue, "\(cause)")
        }
        event.reason = String(event.reason.prefix(Self.reasonLengthMax))
        return event
    }

    /// At most 512 bytes.
    private static let reasonLengthMax = 128

    var scope: Scope { Scope(vehicles: self.vehicles, client: self.client, session: self.session) }
}
