internal import WaymarkFaults
internal import WaymarkModel
internal import WaymarkProtocol
internal import WaymarkScenario
internal import WaymarkTexts

// Steps in words, for the history and the report.
extension Scenario.Step {
    /// Its name, or its place.
    func title(_ index: Int) -> String { self.name ?? "step \(index + 1)" }

    /// What it does.
    var text: String {
        var parts = self.action.map { ["\($0.actor): \($0.kind.text)"] } ?? []
        parts += self.faults.map(\.text)
        if parts.isEmpty, !self.expectations.isEmpty {
            parts.append(GuidanceText.counted(self.expectations.count, "expectation"))
        }
        let name = self.name.map { [$0] } ?? []
        return (name + parts).joined(separator: "; ")
    }
}

extension Scenario.Step.Waiting {
    /// To follow "the step begins".
    var text: String {
        switch self {
        case .nothing: ""
        case .position(let position): " at \(position.text)"
        case .time(let duration): " after \(ClockText.duration(duration))"
        case .event(let event, let duration): " when \(event.text), within \(ClockText.duration(duration))"
        }
    }
}

extension Scenario.Position {
    fileprivate var text: String {
        switch self {
        case .meters(let meters): "\(Self.number(meters)) m"
        case .percent(let percent): "\(Self.number(percent)) %"
        case .time(let duration): ClockText.duration(duration)
        }
    }

    private static func number(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}

extension Scenario.Action.Kind {
    fileprivate var text: String {
        switch self {
        case .request(let request):
            switch request.place {
            case .waypoint: "requests a stop\(request.name.isEmpty ? "" : " at \(request.name)")"
            case .destination: "requests a drive\(request.name.isEmpty ? "" : " to \(request.name)")"
            case .trip(let trip, let choice): "requests the start of \(Self.text(trip, choice))"
            }
        case .withdraw(let id): "withdraws its request\(id.isEmpty ? "" : " \(id)")"
        case .answerPrompt(let isAccepted): "answers the prompt: \(isAccepted ? "yes" : "no")"
        case .answerDestination(let isAccepted): "answers the destination: \(isAccepted ? "yes" : "no")"
        case .cancel(let reason): "cancels guidance: \(reason)"
        case .allowGuidance: "allows guidance"
        case .set: "changes settings"
        case .routeSource(let source): "route source \(source.name)"
        case .selectPreview(let trip, let choice): "selects \(Self.text(trip, choice))"
        case .routeFeedback: "tells how far it gets"
        case .wantDestination(let trip): "wants the destination\(trip.isEmpty ? "" : " of trip \(trip)")"
        case .zoom(let direction): "zooms \(direction.name)"
        case .simulateDrive(.start, let speed):
            "asks for a simulated drive\(speed == 1 ? "" : " at \(speed) times the speed")"
        case .simulateDrive: "asks for the end of the simulated drive"
        case .respondToAlert(let alert, let action):
            action.map { "answers alert \(alert): \($0)" } ?? "dismisses alert \(alert)"
        case .read(.nothing(let duration)): "reads nothing for \(ClockText.duration(duration))"
        case .read(.bytesPerSecond(let rate)):
            rate == 0 ? "reads as fast as it can" : "reads \(rate) bytes a second"
        case .leave(let how): "leaves: \(how.rawValue)"
        case .comeBack(let withToken): "comes back \(withToken ? "with its token" : "as new")"
        case .drive: "drives"
        case .end(let ending): "ends the drive: \(ending.rawValue)"
        case .pause(let reason): "pauses: \(reason.name)"
        case .resume: "resumes"
        case .standFor(let duration): "stands for \(ClockText.duration(duration))"
        case .reroute(let route, let reason): "reroutes to \(route.text): \(reason.name)"
        case .alert(let alert): "shows alert \(alert.id): \(alert.title)"
        case .dismissAlert(let id): "dismisses alert \(id)"
        case .shareDestination: "shares the destination"
        case .preview(let routes): "shows \(GuidanceText.counted(routes.count, "trip"))"
        }
    }

    private static func text(_ trip: String, _ routeChoice: UInt32?) -> String {
        "trip \(trip)" + (routeChoice.map { ", route choice \($0)" } ?? "")
    }
}
