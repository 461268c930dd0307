internal import WaymarkClient
internal import WaymarkModel
internal import WaymarkTexts

extension SessionEvent {
    /// The event in a line, for people and for scripts that look for a word.
    var line: String {
        switch self {
        case .vehicleChanged(let vehicle, let standing, let endpoints):
            let names = endpoints.map { $0.isReady ? "\($0.name) (ready)" : $0.name }
            return (["\(vehicle): \(standing)"] + names).joined(separator: ", ")
        case .routeSource(let vehicle, let source): return "\(vehicle): route source \(source.name)"
        case .previewSelected(let vehicle, let endpoint, let trip, let routeChoice):
            let choice = routeChoice.map { ", route choice \($0)" } ?? ""
            return "\(vehicle)/\(endpoint): selected trip \(trip)\(choice)"
        case .startTripResult(let vehicle, let ending):
            return "\(vehicle): request to start a trip: \(ending.explanation)"
        case .settings(let vehicle, let endpoint, let settings): return "\(vehicle)/\(endpoint): \(settings)"
        case .routeFeedback(let vehicle, let feedback): return "\(vehicle): \(Story.feedback(feedback))"
        case .destinationWanted(let vehicle, _, let trip):
            return "\(vehicle) wants the destination" + (trip.isEmpty ? "" : " of trip \(trip)")
        case .zoom(let vehicle, let direction): return "\(vehicle): zoom \(direction.name)"
        case .alertResponse(let vehicle, let alert, .dismissed(let dismissal)):
            return "\(vehicle): alert \(alert) dismissed: \(dismissal.name)"
        case .alertResponse(let vehicle, let alert, .action(let action)):
            return "\(vehicle): alert \(alert) action \(action)"
        case .extensionReceived(let vehicle, let endpoint, let name, let content):
            return "\(vehicle)/\(endpoint): \(name): \(GuidanceText.counted(content.count, "byte"))"
        case .waypointResult(let vehicle, let ending):
            return "\(vehicle): waypoint request: \(ending.explanation)"
        case .shareResult(let vehicle, let id, let result):
            return "\(vehicle): destination \(id): \(result?.explanation ?? "offered")"
        case .received(let sequence, _): return "received up to \(sequence)"
        case .rejected(let field, let reason, let limit):
            return "refused: \(field): \(reason)" + (limit.map { " (\($0))" } ?? "")
        case .missed(let count): return "\(count) events were left out"
        case .ended(let reason): return "ended: \(reason.word), \(reason)"
        }
    }
}
